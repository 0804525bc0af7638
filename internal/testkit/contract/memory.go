package contract

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/testkit"
)

func info(t *testing.T, b *bench) {
	in := b.d.Info()
	if in.Name == "" || in.WarpSize != 32 || in.Processors < 1 || in.Major < 5 || in.Memory == 0 || in.MaxThreads < 256 {
		t.Errorf("%+v", in)
	}
	if in.SharedBlock < 16<<10 || in.SharedOptin < in.SharedBlock || in.SharedSM < in.SharedOptin || in.ThreadsPerSM < in.MaxThreads || in.BlocksPerSM < 1 {
		t.Errorf("shared memory %d, %d, %d; %d threads and %d blocks a multiprocessor", in.SharedBlock, in.SharedOptin, in.SharedSM, in.ThreadsPerSM, in.BlocksPerSM)
	}
	for i := range 3 {
		if in.MaxBlock[i] < 1 || in.MaxGrid[i] < 1 || in.MaxBlock[i] > in.MaxThreads {
			t.Errorf("blocks %v, grids %v", in.MaxBlock, in.MaxGrid)
		}
	}
	ids := map[[16]byte]bool{}
	for _, d := range b.Devices {
		if ids[d.Info().UUID] {
			t.Errorf("two devices are %x", d.Info().UUID)
		}
		ids[d.Info().UUID] = true
	}
}

func memoryBasics(t *testing.T, b *bench) {
	m := b.d.Memory()
	before, total := m.Usage()
	if total == 0 || before > total {
		t.Fatalf("%d of %d bytes free", before, total)
	}
	type span struct{ at, n uint64 }
	var spans []span
	for i, n := range []uint64{1, 255, 4096, 1 << 20, 3<<20 + 7} {
		align := uint64(256) << (i % 3)
		a, err := m.Alloc(n, align)
		b.ok(err)
		if uint64(a)%max(align, 256) != 0 {
			t.Errorf("%d bytes at %#x, wanted alignment %d", n, uint64(a), align)
		}
		for _, s := range spans {
			if uint64(a) < s.at+s.n && s.at < uint64(a)+n {
				t.Errorf("%#x+%d overlaps %#x+%d", uint64(a), n, s.at, s.n)
			}
		}
		spans = append(spans, span{uint64(a), n})
	}
	if now, _ := m.Usage(); now > before {
		t.Errorf("%d bytes free before, %d now", before, now)
	}
	for _, s := range spans {
		b.ok(m.Free(backend.Addr(s.at)))
	}
}

func memoryLimit(t *testing.T, b *bench) {
	m := b.d.Memory()
	_, total := m.Usage()
	if a, err := m.Alloc(total+1<<20, 256); !errors.Is(err, backend.ErrNoMemory) {
		t.Errorf("more than there is: %#x, %v", uint64(a), err)
	}
	a, err := m.Alloc(4096, 256) // the refusal left nothing behind
	b.ok(err)
	b.ok(m.Free(a))
}

// pattern is bytes that tell their place.
func pattern(n int, seed byte) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i)*31 + byte(i>>8) + seed
	}
	return p
}

func copies(t *testing.T, b *bench) {
	q := b.queue()
	const n = 100_003
	src, dst := testkit.NewHostPage(t, n), testkit.NewHostPage(t, n)
	copy(src, pattern(n, 1))
	x, y := b.memory(n), b.memory(n)
	b.ok(q.Copy(x, src.Addr(), n))
	b.ok(q.Copy(y, x, n))
	b.ok(q.Copy(y+7, y+7, 100)) // equal ranges
	b.ok(q.Copy(dst.Addr(), y, n))
	b.ok(q.Sync())
	if !bytes.Equal(src, dst) {
		t.Error("bytes differ")
	}
	clear(dst)
	b.ok(q.Copy(dst.Addr()+1, y+2, 5)) // odd places and lengths
	b.ok(q.Sync())
	if !bytes.Equal(dst[1:6], src[2:7]) || dst[0] != 0 || dst[6] != 0 {
		t.Errorf("% x of % x", dst[:8], src[:8])
	}
	b.ok(q.Copy(dst.Addr(), src.Addr(), n)) // host to host
	b.ok(q.Sync())
	if !bytes.Equal(src, dst) {
		t.Error("host to host: bytes differ")
	}
}

func copies2D(t *testing.T, b *bench) {
	q := b.queue()
	const width, height, hostPitch, devPitch = 37, 11, 64, 512
	src, dst := testkit.NewHostPage(t, hostPitch*height), testkit.NewHostPage(t, hostPitch*height)
	copy(src, pattern(hostPitch*height, 9))
	x := b.memory(devPitch * height)
	b.ok(q.Copy2D(x, devPitch, src.Addr(), hostPitch, width, height))
	b.ok(q.Copy2D(dst.Addr(), hostPitch, x, devPitch, width, height))
	b.ok(q.Sync())
	for y := range height {
		row := dst[y*hostPitch : (y+1)*hostPitch]
		if !bytes.Equal(row[:width], src[y*hostPitch:y*hostPitch+width]) || !bytes.Equal(row[width:], make([]byte, hostPitch-width)) {
			t.Fatalf("row %d: % x", y, row)
		}
	}
}

func fills(t *testing.T, b *bench) {
	q := b.queue()
	const pitch, rows, count = 128, 5, 20
	dst := testkit.NewHostPage(t, pitch*rows)
	x := b.memory(pitch * rows)
	for _, size := range []int{1, 2, 4} {
		const value = 0x89abcdef
		b.ok(q.Fill(x, 0x11, 1, pitch*rows, 0, 1))
		b.ok(q.Fill(x, value&(1<<(8*size)-1), size, count, pitch, rows))
		b.ok(q.Copy(dst.Addr(), x, pitch*rows))
		b.ok(q.Sync())
		want := make([]byte, pitch*rows)
		for i := range want {
			want[i] = 0x11
		}
		for y := range rows {
			for i := range count {
				var e [4]byte
				binary.LittleEndian.PutUint32(e[:], value)
				copy(want[y*pitch+i*size:], e[:size])
			}
		}
		if !bytes.Equal(dst, want) {
			t.Errorf("elements of %d bytes: % x", size, dst[:96])
		}
	}
}

func hostMemory(t *testing.T, b *bench) {
	h, ok := b.d.Memory().(backend.HostMemory)
	if !ok {
		if !b.d.Info().HostPointers {
			t.Error("device code touches no memory of the program, and there is none that it can touch")
		}
		return
	}
	a, err := h.AllocHost(4096)
	b.ok(err)
	if uint64(a)%4096 != 0 {
		t.Errorf("host memory at %#x", uint64(a))
	}
	q, p := b.queue(), b.program()
	b.ok(q.Fill(a, 41, 4, 64, 0, 1))
	b.ok(q.Launch(b.kernel(p, "add_one"), &backend.Launch{Grid: [3]uint32{1, 1, 1}, Block: [3]uint32{64, 1, 1}, Params: addOne(a, 64)}))
	dst := testkit.NewHostPage(t, 256)
	b.ok(q.Copy(dst.Addr(), a, 256))
	b.ok(q.Sync())
	if n := binary.LittleEndian.Uint32(dst[252:]); n != 42 {
		t.Errorf("%d", n)
	}
	b.ok(h.FreeHost(a))
}

// commonMemory is memory that host code may touch, too: what moves, what is the process's anyway, or what is pinned.
func (b *bench) commonMemory(n uint64) backend.Addr {
	b.t.Helper()
	m := b.d.Memory()
	alloc, free := m.Alloc, m.Free
	managed, moves := m.(backend.Managed)
	host, pins := m.(backend.HostMemory)
	switch in := b.d.Info(); {
	case moves && in.Managed:
		alloc = func(n, _ uint64) (backend.Addr, error) { return managed.AllocManaged(n) }
	case in.HostVisible:
	case pins:
		alloc = func(n, _ uint64) (backend.Addr, error) { return host.AllocHost(n) }
		free = host.FreeHost
	default:
		b.t.Skip("nothing of the device's can be touched by the host")
	}
	a, err := alloc(n, 4096)
	b.ok(err)
	b.t.Cleanup(func() {
		if err := free(a); err != nil {
			b.t.Errorf("free: %v", err)
		}
	})
	return a
}

// common has host code and kernels take turns in memory without a copy. Moving it ahead changes nothing but the time.
func common(t *testing.T, b *bench) {
	const n = 3000
	a := b.commonMemory(4 * n)
	if uint64(a)%4096 != 0 {
		t.Errorf("memory at %#x", uint64(a))
	}
	p, q := b.program(), b.queue()
	words := hostmem.Slice[uint32](hostmem.Ptr(a), n)
	for i := range words {
		words[i] = uint32(i)
	}
	if m, ok := b.d.Memory().(backend.Managed); ok && b.d.Info().Managed {
		for advice := backend.AdviseReadMostly; advice <= backend.AdviseNotAccessedBy; advice++ {
			b.ok(m.Advise(a, 4*n, advice, b.d))
		}
		b.ok(m.Advise(a, 4096, backend.AdvisePreferred, nil))
	}
	fetch := func(to backend.Device) {
		if f, ok := q.(backend.Prefetcher); ok && b.d.Info().Managed {
			b.ok(f.Prefetch(a, 4*n, to))
		}
	}
	for turn := range uint32(3) {
		fetch(b.d)
		b.ok(q.Launch(b.kernel(p, "add_one"), line((n+127)/128, 128, addOne(a, n))))
		fetch(nil)
		b.ok(q.Sync())
		for i := range words {
			if words[i] != uint32(i)+11*turn+1 {
				t.Fatalf("turn %d: word %d is %d", turn, i, words[i])
			}
			words[i] += 10
		}
	}
}

// apart puts two pieces of memory at reserved addresses, works across both, and has them change places: what was written goes with the
// memory, not with the address.
func apart(t *testing.T, b *bench) {
	v, ok := b.d.Memory().(backend.Virtual)
	if !ok {
		t.Skip("the device's memory and addresses are one")
	}
	q, p, unit := b.queue(), b.program(), v.Unit()
	free, _ := b.d.Memory().Usage()
	base, err := v.Reserve(3*unit, 4*unit)
	b.ok(err)
	if uint64(base)%(4*unit) != 0 {
		t.Errorf("addresses at %#x, wanted alignment %d", uint64(base), 4*unit)
	}
	var mem [2]int
	for i := range mem {
		mem[i], err = v.NewFile(unit)
		b.ok(err)
	}
	if now, _ := b.d.Memory().Usage(); now > free-2*unit {
		t.Errorf("%d bytes free before, %d now", free, now)
	}
	place := func(first int) {
		for i := range 2 {
			at := base + backend.Addr(uint64(i)*unit)
			b.ok(v.Map(at, unit, mem[(first+i)%2], 0))
			b.ok(v.SetAccess(at, unit, true))
		}
	}
	take := func() {
		b.ok(q.Sync())
		for i := range 2 {
			b.ok(v.Unmap(base+backend.Addr(uint64(i)*unit), unit))
		}
	}
	const words = 8
	edge := base + backend.Addr(unit) - 4*words/2 // half in the first, half in the second
	place(0)
	b.ok(q.Fill(base, 7, 4, unit/4, 0, 1))
	b.ok(q.Fill(base+backend.Addr(unit), 100, 4, unit/4, 0, 1))
	b.ok(q.Launch(b.kernel(p, "add_one"), line(1, 32, addOne(edge+4*words/2, words)))) // in the second
	take()
	place(1)
	got := b.words(q, base, words)
	if got[0] != 101 || got[words-1] != 101 {
		t.Errorf("what was second is first now, and holds %v", got)
	}
	if got = b.words(q, base+backend.Addr(unit)+4*words, words); got[0] != 7 {
		t.Errorf("what was first is second now, and holds %v", got)
	}
	take()
	for i := range mem {
		v.CloseFile(mem[i], unit)
	}
	b.ok(v.Unreserve(base, 3*unit))
	if now, _ := b.d.Memory().Usage(); now < free {
		t.Errorf("%d bytes free before, %d in the end", free, now)
	}
}
