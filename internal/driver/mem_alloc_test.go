package driver

import (
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

func TestAllocations(t *testing.T) {
	th, c, _, dev := withPrimary(t)
	_, err := th.MemAlloc(0)
	want(t, "0 bytes", err, 1)
	_, err = th.MemAlloc(1 << 50)
	want(t, "2^50 bytes", err, 2)
	_, err = th.MemAlloc(^uint64(0))
	want(t, "2^64-1 bytes", err, 2)
	p, err := th.MemAlloc(1000)
	want(t, "1000 bytes", err, 0)
	var small [3]cu.CUdeviceptr
	for i := range small {
		if small[i], err = th.MemAlloc(4); err != nil || small[i]%pitchAlign != 0 {
			t.Errorf("%#x (%v) is not where a texture may begin", small[i], err)
		}
	}
	for _, q := range small {
		want(t, "free", th.MemFree(q), 0)
	}
	want(t, "free junk", th.MemFree(0x1234), 1)
	want(t, "free inside", th.MemFree(p+4), 1)
	if base, size, err := th.MemGetAddressRange(p + 10); base != p || size != 1000 || err != nil {
		t.Error(base, size, err)
	}
	_, _, err = th.MemGetAddressRange(p + 1000)
	want(t, "range past the end", err, 500)
	for _, r := range []struct {
		w, h  uint64
		e     uint32
		code  int
		pitch uint64
	}{{100, 10, 4, 0, 512}, {100, 10, 16, 0, 512}, {100, 10, 3, 1, 0}, {100, 10, 0, 1, 0}, {0, 10, 4, 1, 0}, {100, 0, 4, 1, 0}, {600, 2, 4, 0, 1024}, {100, 1 << 62, 4, 2, 0}} {
		_, pitch, err := th.MemAllocPitch(r.w, r.h, r.e)
		want(t, "pitch", err, r.code)
		if err == nil && pitch != r.pitch {
			t.Errorf("pitch %d for %d", pitch, r.w)
		}
	}
	out := c.words()
	want(t, "host 0", th.MemHostAlloc(out, 0, 0), 0)
	want(t, "host flags", th.MemHostAlloc(out, 100, 8), 1)
	want(t, "host", th.MemHostAlloc(out, 100, 7), 0)
	h := hostmem.Load[hostmem.Ptr](out)
	if f, err := th.MemHostGetFlags(h); f != 7 || err != nil {
		t.Error(f, err)
	}
	if d, err := th.MemHostGetDevicePointer(h+10, 0); d != DevPtr(h+10) || err != nil {
		t.Error(d, err)
	}
	_, err = th.MemHostGetDevicePointer(h, 1)
	want(t, "device pointer flags", err, 1)
	_, err = th.MemHostGetDevicePointer(out, 0)
	want(t, "device pointer of pageable", err, 1)
	want(t, "MemFree of host memory", th.MemFree(DevPtr(h)), 1)
	want(t, "FreeHost inside", th.MemFreeHost(h+8), 1)
	want(t, "FreeHost pageable", th.MemFreeHost(out), 1)
	want(t, "FreeHost device", th.MemFreeHost(hostmem.Ptr(p)), 1)
	want(t, "FreeHost", th.MemFreeHost(h), 0)
	want(t, "FreeHost twice", th.MemFreeHost(h), 1)
	for flags, codes := range map[uint32]int{0: 1, 1: 0, 2: 0, 3: 1, 4: 1} {
		_, err := th.MemAllocManaged(100, flags)
		want(t, "managed", err, codes)
	}
	want(t, "free", th.MemFree(p), 0)
	want(t, "free twice", th.MemFree(p), 1)
	dev.mem.mu.Lock()
	live := len(dev.mem.live)
	dev.mem.mu.Unlock()
	if live != 3+2+2 { // pitched, managed, and the module's two variables
		t.Errorf("%d allocations live", live)
	}
}

func TestRegister(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	p := c.words(make([]uint64, 100)...)
	want(t, "0 bytes", th.MemHostRegister(p, 0, 0), 1)
	want(t, "NULL", th.MemHostRegister(0, 10, 0), 1)
	want(t, "flags", th.MemHostRegister(p, 80, 0x10), 1)
	want(t, "register", th.MemHostRegister(p, 80, 0), 0)
	want(t, "again", th.MemHostRegister(p, 80, 0), 712)
	want(t, "overlap", th.MemHostRegister(p+40, 80, 0), 712)
	want(t, "inside", th.MemHostRegister(p+8, 8, 0), 712)
	if f, _ := th.MemHostGetFlags(p); f != 2 {
		t.Error(f)
	}
	want(t, "unregister inside", th.MemHostUnregister(p+8), 1)
	want(t, "unregister", th.MemHostUnregister(p), 0)
	want(t, "unregister twice", th.MemHostUnregister(p), 713)
	d, _ := th.MemAlloc(100)
	want(t, "register device memory", th.MemHostRegister(hostmem.Ptr(d), 100, 0), 1)
	want(t, "unregister NULL", th.MemHostUnregister(0), 1)
}

func TestCopies(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	p, _ := th.MemAlloc(1000)
	src := make([]uint64, 512)
	for i := range src {
		src[i] = uint64(i) * 0x0101010101010101
	}
	h, back := c.words(src...), c.words(make([]uint64, 512)...)
	for _, r := range []struct {
		what string
		err  error
		code int
	}{
		{"HtoD 0", th.MemcpyHtoD(p, h, 0), 0}, {"HtoD NULL 0", th.MemcpyHtoD(p, 0, 0), 0}, {"HtoD from NULL", th.MemcpyHtoD(p, 0, 4), 1},
		{"HtoD to NULL", th.MemcpyHtoD(0, h, 4), 1}, {"HtoD to junk", th.MemcpyHtoD(0x1234, h, 4), 1}, {"HtoD 1000", th.MemcpyHtoD(p, h, 1000), 0},
		{"HtoD 1001", th.MemcpyHtoD(p, h, 1001), 1}, {"HtoD to host", th.MemcpyHtoD(DevPtr(h), h, 16), 1}, {"DtoH from junk", th.MemcpyDtoH(back, 0x1234, 4), 1},
		{"DtoH from host", th.MemcpyDtoH(back, DevPtr(h), 4), 1}, {"DtoH to NULL", th.MemcpyDtoH(0, p, 4), 1}, {"DtoD from junk", th.MemcpyDtoD(p, 0x10, 4), 1},
		{"HtoD wraps", th.MemcpyHtoD(p+8, h, ^uint64(0)-4), 1},
		{"memcpy host host", th.Memcpy(DevPtr(back), DevPtr(h), 64), 0}, {"memcpy to device", th.Memcpy(p, DevPtr(h), 64), 0}, {"memcpy from device", th.Memcpy(DevPtr(back), p, 64), 0},
		{"DtoD", th.MemcpyDtoD(p+504, p, 480), 0}, {"peer", th.MemcpyPeer(p, 0, p+504, 0, 64), 0}, {"DtoH", th.MemcpyDtoH(back, p, 1000), 0},
	} {
		want(t, r.what, r.err, r.code)
	}
	got := hostmem.Slice[uint64](back, 125)
	for i := range 60 {
		if got[i] != src[i] || got[63+i] != src[i] {
			t.Fatalf("word %d: %#x and %#x, want %#x", i, got[i], got[63+i], src[i])
		}
	}
	want(t, "free", th.MemFree(p), 0)
	want(t, "copy after free", th.MemcpyHtoD(p, h, 4), 1)
}

func TestSets(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	p, _ := th.MemAlloc(1000)
	h := c.words(make([]uint64, 200)...)
	for _, r := range []struct {
		what string
		err  error
		code int
	}{
		{"0", th.MemsetD8(p, 1, 0), 0}, {"NULL 0", th.MemsetD8(0, 1, 0), 0}, {"NULL", th.MemsetD8(0, 1, 4), 1}, {"D32 unaligned", th.MemsetD32(p+2, 1, 4), 1},
		{"D16 unaligned", th.MemsetD16(p+1, 1, 4), 1}, {"all", th.MemsetD8(p, 0x11, 1000), 0}, {"too many", th.MemsetD8(p, 1, 5000), 1}, {"overflow", th.MemsetD32(p, 1, 1<<62), 1},
		{"host", th.MemsetD8(DevPtr(h), 1, 4), 1}, {"pitch too small", th.MemsetD2D8(p, 10, 1, 20, 3), 1}, {"2D", th.MemsetD2D8(p, 100, 0x22, 20, 3), 0},
		{"pitch not aligned", th.MemsetD2D32(p, 101, 1, 4, 3), 1}, {"one row", th.MemsetD2D8(p, 0, 0x22, 20, 1), 0}, {"one row of words", th.MemsetD2D32(p, 10, 0x22222222, 4, 1), 0},
		{"rows past the end", th.MemsetD2D8(p, 100, 1, 20, 11), 1}, {"D16", th.MemsetD16Async(p+900, 0x3344, 50, 0), 0},
	} {
		want(t, r.what, r.err, r.code)
	}
	want(t, "back", th.MemcpyDtoH(h, p, 1000), 0)
	b := hostmem.Bytes(h, 1000)
	for i, v := range map[int]byte{0: 0x22, 19: 0x22, 20: 0x11, 100: 0x22, 219: 0x22, 220: 0x11, 300: 0x11, 900: 0x44, 901: 0x33, 999: 0x33} {
		if b[i] != v {
			t.Errorf("byte %d is %#x, want %#x", i, b[i], v)
		}
	}
}

func TestCopy2D(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	p, _ := th.MemAlloc(4096)
	h := c.words(make([]uint64, 512)...)
	base := cu.CUDA_MEMCPY2D{SrcMemoryType: 1, SrcHost: uint64(h), SrcPitch: 64, DstMemoryType: 2, DstDevice: p, DstPitch: 64, WidthInBytes: 32, Height: 4}
	for _, r := range []struct {
		what string
		code int
		set  func(m *cu.CUDA_MEMCPY2D)
	}{
		{"plain", 0, func(m *cu.CUDA_MEMCPY2D) {}}, {"width 0", 0, func(m *cu.CUDA_MEMCPY2D) { m.WidthInBytes = 0 }}, {"height 0", 0, func(m *cu.CUDA_MEMCPY2D) { m.Height = 0 }},
		{"src pitch 16", 1, func(m *cu.CUDA_MEMCPY2D) { m.SrcPitch = 16 }}, {"dst pitch 16", 1, func(m *cu.CUDA_MEMCPY2D) { m.DstPitch = 16 }},
		{"src pitch 0", 0, func(m *cu.CUDA_MEMCPY2D) { m.SrcPitch = 0 }}, {"type 0", 1, func(m *cu.CUDA_MEMCPY2D) { m.SrcMemoryType = 0 }}, {"type 5", 1, func(m *cu.CUDA_MEMCPY2D) { m.SrcMemoryType = 5 }},
		{"array", 1, func(m *cu.CUDA_MEMCPY2D) { m.SrcMemoryType = 3 }}, {"unified", 0, func(m *cu.CUDA_MEMCPY2D) { m.DstMemoryType = 4 }},
		{"src x 40", 1, func(m *cu.CUDA_MEMCPY2D) { m.SrcXInBytes = 40 }}, {"x 32", 0, func(m *cu.CUDA_MEMCPY2D) { m.SrcXInBytes, m.DstXInBytes = 32, 32 }},
		{"src NULL", 1, func(m *cu.CUDA_MEMCPY2D) { m.SrcHost = 0 }}, {"dst NULL", 1, func(m *cu.CUDA_MEMCPY2D) { m.DstDevice = 0 }}, {"dst junk", 1, func(m *cu.CUDA_MEMCPY2D) { m.DstDevice = 0x1234 }},
		{"height 65", 1, func(m *cu.CUDA_MEMCPY2D) { m.Height = 65 }}, {"huge pitch", 1, func(m *cu.CUDA_MEMCPY2D) { m.DstPitch = 1 << 32 }}, {"huge y", 1, func(m *cu.CUDA_MEMCPY2D) { m.DstY = 1 << 60 }},
	} {
		m := base
		r.set(&m)
		want(t, r.what, th.Memcpy2D(&m), r.code)
		want(t, r.what+" async", th.Memcpy2DAsync(&m, 0), r.code)
	}
}

func TestCopy3D(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	const pitch, height, depth = 32, 4, 3
	p, _ := th.MemAlloc(pitch * height * depth)
	words := make([]uint64, pitch*height*depth/8)
	for i := range words {
		words[i] = uint64(i)
	}
	h, back := c.words(words...), c.words(make([]uint64, len(words))...)
	up := cu.CUDA_MEMCPY3D{SrcMemoryType: 1, SrcHost: uint64(h), SrcPitch: pitch, SrcHeight: height, DstMemoryType: 2, DstDevice: p, DstPitch: pitch, DstHeight: height,
		WidthInBytes: pitch, Height: height, Depth: depth}
	want(t, "up", th.Memcpy3D(&up), 0)
	// One box of 16 bytes x 2 rows x 2 slices from (8, 1, 1), packed.
	down := cu.CUDA_MEMCPY3D{SrcMemoryType: 2, SrcDevice: p, SrcPitch: pitch, SrcHeight: height, SrcXInBytes: 8, SrcY: 1, SrcZ: 1,
		DstMemoryType: 1, DstHost: uint64(back), WidthInBytes: 16, Height: 2, Depth: 2}
	want(t, "down", th.Memcpy3DAsync(&down, 0), 0)
	want(t, "sync", th.CtxSynchronize(), 0)
	got := hostmem.Slice[uint64](back, 8)
	for i, v := range []uint64{21, 22, 25, 26, 37, 38, 41, 42} {
		if got[i] != v {
			t.Errorf("word %d is %d, want %d", i, got[i], v)
		}
	}
	for what, set := range map[string]func(*cu.CUDA_MEMCPY3D){
		"depth": func(m *cu.CUDA_MEMCPY3D) { m.Depth = depth + 1 }, "height": func(m *cu.CUDA_MEMCPY3D) { m.Height = height + 1 }, "pitch": func(m *cu.CUDA_MEMCPY3D) { m.DstPitch = 8 },
		"z": func(m *cu.CUDA_MEMCPY3D) { m.DstZ = 1 }, "huge z": func(m *cu.CUDA_MEMCPY3D) { m.DstZ = 1 << 63 }, "huge all": func(m *cu.CUDA_MEMCPY3D) { m.DstHeight, m.Depth, m.DstPitch = 1<<31, 1<<31, 1<<30 },
		"junk": func(m *cu.CUDA_MEMCPY3D) { m.DstDevice = 0x1234 }, "NULL": func(m *cu.CUDA_MEMCPY3D) { m.SrcHost = 0 }, "array": func(m *cu.CUDA_MEMCPY3D) { m.SrcMemoryType = 3 },
	} {
		bad := up
		set(&bad)
		want(t, what, th.Memcpy3D(&bad), 1)
	}
}

func TestManagedAndPeers(t *testing.T) {
	th, _, _ := newThread(t, 2)
	a, _ := th.CtxCreate(0, 0)
	b, _ := th.CtxCreate(0, 1)
	want(t, "enable", th.CtxEnablePeerAccess(a, 0), 0)
	want(t, "again", th.CtxEnablePeerAccess(a, 0), 704)
	want(t, "disable", th.CtxDisablePeerAccess(a), 0)
	want(t, "disable again", th.CtxDisablePeerAccess(a), 705)
	want(t, "itself", th.CtxEnablePeerAccess(b, 0), 217)
	if v, err := th.DeviceCanAccessPeer(0, 1); v != 1 || err != nil {
		t.Error(v, err)
	}
	if v, err := th.DeviceCanAccessPeer(0, 0); v != 0 || err != nil {
		t.Error(v, err)
	}
	p, _ := th.MemAllocManaged(100, 1)
	d, _ := th.MemAlloc(100)
	want(t, "advise", th.MemAdvise(p, 100, cu.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 0), 0)
	want(t, "advise past the end", th.MemAdvise(p, 101, 1, 0), 1)
	want(t, "advise device memory", th.MemAdvise(d, 100, 1, 0), 1)
	want(t, "advise 9", th.MemAdvise(p, 100, 9, 0), 1)
	want(t, "prefetch", th.MemPrefetchAsync(p, 100, -1, 0), 0)
	want(t, "prefetch to device 5", th.MemPrefetchAsync(p, 100, 5, 0), 101)
	want(t, "attach", th.StreamAttachMemAsync(0, p, 0, 4), 0)
	want(t, "attach flags", th.StreamAttachMemAsync(0, p, 0, 3), 1)
}

func TestPointerAttributes(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	p, _ := th.MemAlloc(1000)
	out := c.words()
	want(t, "host", th.MemHostAlloc(out, 100, 0), 0)
	host := hostmem.Load[DevPtr](out)
	man, _ := th.MemAllocManaged(100, 1)
	ctx, _ := th.CtxGetCurrent()
	buf := c.words(0, 0)
	get := func(a cu.CUpointer_attribute, q DevPtr, codes int) uint64 {
		t.Helper()
		hostmem.Store(buf, uint64(0))
		want(t, "attribute", th.PointerGetAttribute(buf, a, q), codes)
		return hostmem.Load[uint64](buf)
	}
	for _, r := range []struct {
		a    cu.CUpointer_attribute
		p    DevPtr
		v    uint64
		code int
	}{
		{1, p, uint64(ctx), 0}, {2, p, 2, 0}, {3, p + 8, uint64(p) + 8, 0}, {4, p, 0, 1}, {6, p, 0, 0}, {8, p, 0, 0}, {9, p, 0, 0}, {11, p + 8, uint64(p), 0}, {12, p, 1000, 0}, {13, p, 1, 0}, {16, p, 3, 0},
		{2, host, 1, 0}, {4, host, uint64(host), 0}, {6, host, 0, 0}, {12, host, 100, 0}, {2, man, 2, 0}, {4, man, uint64(man), 0}, {8, man, 1, 0},
		{2, 0x1234, 0, 1}, {0, p, 0, 1}, {22, p, 0, 1}, {2, DevPtr(buf), 0, 1},
	} {
		if v := get(r.a, r.p, r.code); v != r.v {
			t.Errorf("attribute %d of %#x is %#x, want %#x", r.a, r.p, v, r.v)
		}
	}
	want(t, "NULL", th.PointerGetAttribute(0, 2, p), 1)
	attrs := c.words(2|3<<32, 4|8<<32, 9|1<<32)
	o := [6]hostmem.Ptr{}
	list := make([]uint64, 6)
	for i := range o {
		o[i] = c.words(0)
		list[i] = uint64(o[i])
	}
	want(t, "attributes of junk", th.PointerGetAttributes(6, attrs, c.words(list...), 0x1234), 0)
	for i, v := range []uint64{0, 0, 0x1234, 0, 0xfffffffe, 0} {
		if got := hostmem.Load[uint64](o[i]); got != v {
			t.Errorf("attribute %d of junk is %#x, want %#x", i, got, v)
		}
	}
}

func BenchmarkAllocFree(b *testing.B) {
	th, _, _, dev := withPrimary(b)
	for range 4 {
		th.StreamCreate(0)
	}
	// The fake's own allocation is two system calls; one address given again and again leaves the driver's part.
	a, _ := dev.mem.Alloc(4096, 256)
	fixed := &fixedMemory{Memory: &dev.mem, a: a}
	current.Load().devices[0].dev = &fixedDevice{Device: dev, mem: fixed}
	b.ReportAllocs()
	for b.Loop() {
		p, err := th.MemAlloc(4096)
		if err == nil {
			err = th.MemFree(p)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

type fixedMemory struct {
	backend.Memory
	a backend.Addr
}

func (m *fixedMemory) Alloc(n, align uint64) (backend.Addr, error) { return m.a, nil }
func (m *fixedMemory) Free(backend.Addr) error                     { return nil }

type fixedDevice struct {
	backend.Device
	mem backend.Memory
}

func (d *fixedDevice) Memory() backend.Memory { return d.mem }

// TestMemGetInfo: no more is free than the machine can still give.
func TestMemGetInfo(t *testing.T) {
	th, _, _, dev := withPrimary(t)
	whole, total, err := th.MemGetInfo()
	want(t, "info", err, 0)
	for left, free := range map[uint64]uint64{0: whole, 5 << 20: 5 << 20, 1 << 40: whole} {
		dev.mem.left.Store(left)
		if f, n, err := th.MemGetInfo(); f != free || n != total || err != nil {
			t.Errorf("%d left: %d of %d free (%v), want %d of %d", left, f, n, err, free, total)
		}
	}
}
