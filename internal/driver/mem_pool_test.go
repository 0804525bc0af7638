package driver

import (
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

func poolWord(t *testing.T, th *Thread, c *cmem, p cu.CUmemoryPool, attr cu.CUmemPool_attribute) uint64 {
	t.Helper()
	at := c.words(0)
	want(t, "attribute", th.MemPoolGetAttribute(p, attr, at), 0)
	return hostmem.Load[uint64](at)
}

func TestPoolReuseFollowsStreamOrder(t *testing.T) {
	th, c, m, _ := withPrimary(t)
	spin := mustFn(t, th, m, "spin")
	pool, err := th.DeviceGetDefaultMemPool(0)
	want(t, "pool", err, 0)
	want(t, "threshold", th.MemPoolSetAttribute(pool, cu.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, c.words(^uint64(0))), 0)
	s1, _ := th.StreamCreate(1)
	s2, _ := th.StreamCreate(1)
	a, err := th.MemAllocAsync(1000, s1)
	want(t, "alloc", err, 0)
	want(t, "set", th.MemsetD8Async(a, 7, 1000, s1), 0)
	want(t, "spin", th.LaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s1, 0, 0), 0)
	want(t, "free", th.MemFreeAsync(a, s1), 0)
	want(t, "twice", th.MemFreeAsync(a, s1), 1)
	other, err := th.MemAllocAsync(1000, s2)
	want(t, "other stream", err, 0)
	if other == a {
		t.Error("memory given to another stream before the free was reached")
	}
	same, err := th.MemAllocAsync(900, s1) // the same class
	want(t, "same stream", err, 0)
	if same != a {
		t.Errorf("the stream's own block %#x was not reused: %#x", a, same)
	}
	want(t, "free", th.MemFreeAsync(same, s1), 0)
	close(*gate.Load())
	want(t, "sync", th.StreamSynchronize(s1), 0)
	late, err := th.MemAllocAsync(1000, s2)
	want(t, "after the free", err, 0)
	if late != a {
		t.Errorf("a reached free is not reused: %#x, want %#x", late, a)
	}
	if n := poolWord(t, th, c, pool, cu.CU_MEMPOOL_ATTR_USED_MEM_CURRENT); n != 2000 {
		t.Errorf("used %d", n)
	}
	at := c.words(0)
	want(t, "pointer", th.PointerGetAttribute(at, cu.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, late), 0)
	if hostmem.Load[cu.CUmemoryPool](at) != pool {
		t.Error("pointer attribute names another pool")
	}
}

func TestPoolThresholdAndMarks(t *testing.T) {
	th, c, _, dev := withPrimary(t)
	pool, _ := th.DeviceGetDefaultMemPool(0)
	before, _ := dev.mem.Usage()
	p, err := th.MemAllocAsync(1<<20, 0)
	want(t, "alloc", err, 0)
	if n := poolWord(t, th, c, pool, cu.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT); n != 32<<20 {
		t.Errorf("reserved %d", n)
	}
	want(t, "free", th.MemFreeAsync(p, 0), 0)
	want(t, "sync", th.StreamSynchronize(0), 0)
	if now, _ := dev.mem.Usage(); now != before {
		t.Errorf("a threshold of 0 kept %d bytes after a synchronize", before-now)
	}
	if n := poolWord(t, th, c, pool, cu.CU_MEMPOOL_ATTR_USED_MEM_HIGH); n != 1<<20 {
		t.Errorf("high %d", n)
	}
	want(t, "reset", th.MemPoolSetAttribute(pool, cu.CU_MEMPOOL_ATTR_USED_MEM_HIGH, c.words(0)), 0)
	want(t, "not a mark", th.MemPoolSetAttribute(pool, cu.CU_MEMPOOL_ATTR_USED_MEM_HIGH, c.words(5)), 1)
	if n := poolWord(t, th, c, pool, cu.CU_MEMPOOL_ATTR_USED_MEM_HIGH); n != 0 {
		t.Errorf("high after reset %d", n)
	}
	// A full device takes back what pools hold for nobody.
	want(t, "threshold", th.MemPoolSetAttribute(pool, cu.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, c.words(^uint64(0))), 0)
	p, err = th.MemAllocAsync(900<<20, 0)
	want(t, "large", err, 0)
	want(t, "free", th.MemFreeAsync(p, 0), 0)
	want(t, "sync", th.CtxSynchronize(), 0)
	q, err := th.MemAlloc(800 << 20)
	want(t, "alloc where the pool is", err, 0)
	want(t, "free", th.MemFree(q), 0)
	// cuMemFree of pool memory, and cuMemFreeAsync of plain memory.
	p, _ = th.MemAllocAsync(4096, 0)
	want(t, "free now", th.MemFree(p), 0)
	q, _ = th.MemAlloc(4096)
	want(t, "free later", th.MemFreeAsync(q, 0), 0)
	want(t, "trim", th.MemPoolTrimTo(pool, 0), 0)
	want(t, "sync", th.CtxSynchronize(), 0)
	want(t, "trim", th.MemPoolTrimTo(pool, 0), 0)
	if now, _ := dev.mem.Usage(); now != before {
		t.Errorf("%d bytes lost", before-now)
	}
}

func TestPoolObjects(t *testing.T) {
	th, _, c := newThread(t, 2)
	ctx, _ := th.DevicePrimaryCtxRetain(0)
	want(t, "current", th.CtxSetCurrent(ctx), 0)
	props := cu.CUmemPoolProps{AllocType: cu.CU_MEM_ALLOCATION_TYPE_PINNED, MaxSize: 8192}
	props.Location.Type = cu.CU_MEM_LOCATION_TYPE_DEVICE
	p, err := th.MemPoolCreate(&props)
	want(t, "create", err, 0)
	if cur, _ := th.DeviceGetMemPool(0); cur == p {
		t.Error("a new pool is current")
	}
	want(t, "other device's", th.DeviceSetMemPool(1, p), 1)
	want(t, "set", th.DeviceSetMemPool(0, p), 0)
	a, err := th.MemAllocAsync(8000, 0)
	want(t, "from the current pool", err, 0)
	_, err = th.MemAllocFromPoolAsync(1000, p, 0)
	want(t, "over the pool's size", err, 2)
	loc := cu.CUmemLocation{Type: cu.CU_MEM_LOCATION_TYPE_DEVICE}
	*loc.Id() = 1
	lp := c.words(0)
	hostmem.Store(lp, loc)
	f, err := th.MemPoolGetAccess(p, lp)
	want(t, "access", err, 0)
	if f != 0 {
		t.Errorf("a peer's access before it was given: %d", f)
	}
	desc := c.words(0, 0)
	hostmem.Store(desc, cu.CUmemAccessDesc{Location: loc, Flags: cu.CU_MEM_ACCESS_FLAGS_PROT_READWRITE})
	want(t, "set access", th.MemPoolSetAccess(p, desc, 1), 0)
	if f, _ = th.MemPoolGetAccess(p, lp); f != 3 {
		t.Errorf("access %d", f)
	}
	def, _ := th.DeviceGetDefaultMemPool(0)
	want(t, "destroy the default", th.MemPoolDestroy(def), 1)
	want(t, "destroy", th.MemPoolDestroy(p), 0)
	want(t, "destroy twice", th.MemPoolDestroy(p), 1)
	if cur, _ := th.DeviceGetMemPool(0); cur != def {
		t.Error("the default pool is not current after the current one was destroyed")
	}
	want(t, "free after destroy", th.MemFreeAsync(a, 0), 0)
	_, err = th.MemAllocAsync(0, 0)
	want(t, "nothing", err, 0)
	props.HandleTypes = cu.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
	_, err = th.MemPoolCreate(&props)
	want(t, "shared pool", err, 0)
	want(t, "reset", th.DevicePrimaryCtxReset(0), 0)
}

// TestPoolPlaces has pools of host and of managed memory, which belong to places and not to a device.
func TestPoolPlaces(t *testing.T) {
	th, c, _, _ := withPrimary(t)
	s, _ := th.StreamCreate(1)
	at := func(kind cu.CUmemLocationType, id int32) hostmem.Ptr {
		l := cu.CUmemLocation{Type: kind}
		*l.Id() = id
		p := c.words(0, 0)
		hostmem.Store(p, l)
		return p
	}
	const pinned, managed = cu.CU_MEM_ALLOCATION_TYPE_PINNED, cu.CU_MEM_ALLOCATION_TYPE_MANAGED
	attribute := func(p DevPtr, a cu.CUpointer_attribute) uint32 {
		out := c.words(0)
		want(t, "attribute", th.PointerGetAttribute(out, a, p), 0)
		return hostmem.Load[uint32](out)
	}
	for _, r := range []struct {
		what    string
		kind    cu.CUmemLocationType
		id      int32
		typ     cu.CUmemAllocationType
		code    int
		memory  cu.CUmemorytype
		managed uint32
	}{
		{"host", cu.CU_MEM_LOCATION_TYPE_HOST, 0, pinned, 0, cu.CU_MEMORYTYPE_HOST, 0},
		{"node", cu.CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, pinned, 0, cu.CU_MEMORYTYPE_HOST, 0},
		{"no such node", cu.CU_MEM_LOCATION_TYPE_HOST_NUMA, 7, pinned, 1, 0, 0},
		{"pinned nowhere", cu.CU_MEM_LOCATION_TYPE_NONE, 0, pinned, 1, 0, 0},
		{"managed", cu.CU_MEM_LOCATION_TYPE_NONE, 0, managed, 0, cu.CU_MEMORYTYPE_DEVICE, 1},
		{"managed here", cu.CU_MEM_LOCATION_TYPE_DEVICE, 0, managed, 0, cu.CU_MEMORYTYPE_DEVICE, 1},
		{"device", cu.CU_MEM_LOCATION_TYPE_DEVICE, 0, pinned, 0, cu.CU_MEMORYTYPE_DEVICE, 0},
	} {
		l := at(r.kind, r.id)
		def, err := th.MemGetDefaultMemPool(l, r.typ)
		want(t, r.what, err, r.code)
		props := &cu.CUmemPoolProps{AllocType: r.typ, Location: hostmem.Load[cu.CUmemLocation](l)}
		own, err := th.MemPoolCreate(props)
		want(t, r.what+": create", err, r.code)
		if r.code != 0 {
			continue
		}
		want(t, r.what+": set", th.MemSetMemPool(l, r.typ, own), 0)
		if cur, err := th.MemGetMemPool(l, r.typ); cur != own || err != nil {
			t.Errorf("%s: the current pool is %x, not %x (%v)", r.what, cur, own, err)
		}
		for _, pool := range []cu.CUmemoryPool{def, own} {
			p, err := th.MemAllocFromPoolAsync(4096, pool, s)
			want(t, r.what+": alloc", err, 0)
			want(t, r.what+": use", th.MemsetD8Async(p, 7, 4096, s), 0)
			want(t, r.what+": sync", th.StreamSynchronize(s), 0)
			if v := hostmem.Load[uint32](hostmem.Ptr(p)); v != 0x07070707 {
				t.Errorf("%s: the host reads %#x", r.what, v)
			}
			if m := attribute(p, cu.CU_POINTER_ATTRIBUTE_MEMORY_TYPE); m != uint32(r.memory) {
				t.Errorf("%s: memory type %d", r.what, m)
			}
			if m := attribute(p, cu.CU_POINTER_ATTRIBUTE_IS_MANAGED); m != r.managed {
				t.Errorf("%s: managed %d", r.what, m)
			}
			if r.memory == cu.CU_MEMORYTYPE_HOST {
				want(t, r.what+": is not of cuMemHostAlloc", th.MemFreeHost(hostmem.Ptr(p)), 1)
			}
			want(t, r.what+": free", th.MemFreeAsync(p, s), 0)
			q, err := th.MemAllocFromPoolAsync(64, pool, s)
			want(t, r.what+": alloc", err, 0)
			want(t, r.what+": free at once", th.MemFree(q), 0)
		}
		want(t, r.what+": destroy", th.MemPoolDestroy(own), 0)
		if cur, _ := th.MemGetMemPool(l, r.typ); cur != def {
			t.Errorf("%s: after the end of the current pool it is %x, not the default", r.what, cur)
		}
		if r.memory == cu.CU_MEMORYTYPE_HOST || r.managed != 0 {
			want(t, r.what+": is no device's own", th.DeviceSetMemPool(0, def), 1)
			want(t, r.what+": the default stays", th.MemPoolDestroy(def), 1)
		}
	}
}
