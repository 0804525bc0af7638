package contract

import (
	"encoding/binary"
	"errors"
	"sync"
	"testing"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/testkit"
)

func addOne(p backend.Addr, n uint32) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(p)), n)
}

func pointer(p backend.Addr) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(p)) }

func line(grid, block uint32, params []byte) *backend.Launch {
	return &backend.Launch{Grid: [3]uint32{grid, 1, 1}, Block: [3]uint32{block, 1, 1}, Params: params}
}

// words copies n words from the device.
func (b *bench) words(q backend.Queue, a backend.Addr, n int) []uint32 {
	b.t.Helper()
	h := testkit.NewHostPage(b.t, 4*n)
	b.ok(q.Copy(h.Addr(), a, uint64(4*n)))
	b.ok(q.Sync())
	w := make([]uint32, n)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(h[4*i:])
	}
	return w
}

func lookups(t *testing.T, b *bench) {
	p := b.program()
	if k := b.kernel(p, "add_one"); k.Name() != "add_one" {
		t.Errorf("kernel %q", k.Name())
	}
	if _, err := p.Kernel("no_such"); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("a kernel that is not there: %v", err)
	}
	if _, _, err := p.Var("no_such"); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("a variable that is not there: %v", err)
	}
	for name, want := range map[string]uint64{"counter": 8, "factor": 8, "where": 8, "room": 100} {
		a, n, err := p.Var(name)
		if err != nil || n != want || a == 0 {
			t.Errorf("%s: %d bytes at %#x, %v", name, n, uint64(a), err)
		}
	}
}

func variables(t *testing.T, b *bench) {
	p, q := b.program(), b.queue()
	at := func(name string) backend.Addr {
		a, _, err := p.Var(name)
		b.ok(err)
		return a
	}
	if w := b.words(q, at("counter"), 2); w[0] != 5 || w[1] != 0 {
		t.Errorf("counter %v", w)
	}
	if w := b.words(q, at("factor"), 2); w[0] != 3 || w[1] != 7 {
		t.Errorf("factor %v", w)
	}
	if w := b.words(q, at("where"), 2); uint64(w[0])|uint64(w[1])<<32 != uint64(at("counter")) {
		t.Errorf("where %#x, counter is at %#x", w, uint64(at("counter")))
	}
	for i, w := range b.words(q, at("room"), 25) {
		if w != 0 {
			t.Fatalf("room[%d] is %#x", i, w)
		}
	}
}

func ownVariables(t *testing.T, b *bench) {
	p, o, q := b.program(), b.program(), b.queue()
	a, _, err := p.Var("counter")
	b.ok(err)
	c, _, err := o.Var("counter")
	b.ok(err)
	if a == c {
		t.Fatal("two programs, one variable")
	}
	b.ok(q.Launch(b.kernel(p, "bump"), line(1, 1, nil)))
	if x, y := b.words(q, a, 1), b.words(q, c, 1); x[0] != 6 || y[0] != 5 {
		t.Errorf("%d and %d", x[0], y[0])
	}
}

func managedVariables(t *testing.T, b *bench) {
	p, q := b.program(), b.queue()
	a, n, err := p.Var("both")
	b.ok(err)
	if n != 4 {
		t.Fatalf("%d bytes", n)
	}
	word := hostmem.At[uint32](hostmem.Ptr(a))
	if *word != 7 {
		t.Errorf("begins as %d", *word)
	}
	*word = 20
	b.ok(q.Launch(b.kernel(p, "twice"), line(1, 1, nil)))
	b.ok(q.Sync())
	if *word != 40 {
		t.Errorf("the kernel left %d", *word)
	}
}

func parameters(t *testing.T, b *bench) {
	p, q := b.program(), b.queue()
	out := b.memory(20)
	block := make([]byte, 52) // a at 0, out at 8, b at 16, c at 20, d at 32
	le := binary.LittleEndian
	block[0] = 0x81
	le.PutUint64(block[8:], uint64(out))
	le.PutUint16(block[16:], 0x9234)
	le.PutUint32(block[20:], 0xabcd1234)
	le.PutUint32(block[32:], 0x11223344)
	le.PutUint32(block[48:], 0x55667788)
	b.ok(q.Launch(b.kernel(p, "params"), line(1, 1, block)))
	want := []uint32{0x81, 0x9234, 0xabcd1234, 0x11223344, 0x55667788}
	for i, w := range b.words(q, out, 5) {
		if w != want[i] {
			t.Errorf("parameter %d: %#x, want %#x", i, w, want[i])
		}
	}
}

func parametersCopied(t *testing.T, b *bench) {
	p, q := b.program(), b.queue()
	out := b.memory(256)
	k := b.kernel(p, "add_one")
	b.ok(k.Prepare([3]uint32{64, 1, 1}))
	b.ok(q.Fill(out, 0, 4, 64, 0, 1))
	g := b.gate(q)
	block := addOne(out, 64)
	b.ok(q.Launch(k, line(1, 64, block)))
	clear(block)
	g.let()
	if w := b.words(q, out, 64); w[0] != 1 || w[63] != 1 {
		t.Errorf("%v", w)
	}
}

func shapes(t *testing.T, b *bench) {
	p, q := b.program(), b.queue()
	k := b.kernel(p, "shape")
	for _, s := range []struct{ grid, block [3]uint32 }{
		{[3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}}, {[3]uint32{3, 2, 2}, [3]uint32{5, 3, 2}}, {[3]uint32{7, 1, 1}, [3]uint32{33, 1, 1}}, {[3]uint32{1, 4, 1}, [3]uint32{1, 1, 64}},
	} {
		n := int(s.grid[0] * s.grid[1] * s.grid[2] * s.block[0] * s.block[1] * s.block[2])
		out := b.memory(uint64(4 * n))
		b.ok(q.Fill(out, 0xffffffff, 4, uint64(n), 0, 1))
		b.ok(q.Launch(k, &backend.Launch{Grid: s.grid, Block: s.block, Params: pointer(out)}))
		for i, w := range b.words(q, out, n) {
			if w != uint32(i) {
				t.Fatalf("grid %v, block %v: thread %d wrote %d", s.grid, s.block, i, w)
			}
		}
	}
}

func shared(t *testing.T, b *bench) {
	p, q := b.program(), b.queue()
	const blocks, threads = 5, 96
	out := b.memory(4 * blocks * threads)
	l := line(blocks, threads, pointer(out))
	l.DynamicShared = 4 * threads
	b.ok(q.Launch(b.kernel(p, "reverse"), l))
	for i, w := range b.words(q, out, blocks*threads) {
		from := uint32(i/threads)*1000 + uint32(threads-1-i%threads)
		if w != from+from<<8 {
			t.Fatalf("thread %d read %#x, want %#x", i, w, from+from<<8)
		}
	}
}

func sharing(t *testing.T, b *bench) {
	p, q := b.program(), b.queue()
	out := b.memory(16)
	b.ok(q.Launch(b.kernel(p, "bump"), line(3, 64, nil)))
	b.ok(q.Launch(b.kernel(p, "read"), line(1, 1, pointer(out))))
	if w := b.words(q, out, 4); w[0] != (5+192)*7 || w[2] != 5+192 {
		t.Errorf("%v", w)
	}
	a, _, err := p.Var("counter")
	b.ok(err)
	b.ok(q.Fill(a, 100, 4, 1, 0, 1)) // what the host writes, kernels see
	b.ok(q.Launch(b.kernel(p, "read"), line(1, 1, pointer(out))))
	if w := b.words(q, out, 4); w[0] != 700 || w[2] != 100 {
		t.Errorf("%v", w)
	}
}

func kernelInfo(t *testing.T, b *bench) {
	p := b.program()
	in, err := b.kernel(p, "reverse").Info()
	b.ok(err)
	if in.StaticShared != 512 || in.MaxThreads < 96 || in.MaxThreads > b.d.Info().MaxThreads || in.Registers < 1 || in.PTXVersion != 80 {
		t.Errorf("%+v", in)
	}
	if in, err = b.kernel(p, "add_one").Info(); err != nil || in.StaticShared != 0 || in.Local != 0 {
		t.Errorf("%+v, %v", in, err)
	}
}

// resident: as many blocks as a multiprocessor has threads for, fewer of those that want more shared memory, none of those that want
// more than there is.
func resident(t *testing.T, b *bench) {
	r, ok := b.kernel(b.program(), "add_one").(backend.Resident)
	if !ok {
		t.Skip("the driver counts by itself")
	}
	in := b.d.Info()
	last := in.ThreadsPerSM/64 + 1
	for _, shared := range []int{0, in.SharedOptin / 4, in.SharedOptin / 2, in.SharedOptin} {
		n, err := r.Resident(64, uint64(shared))
		b.ok(err)
		if n < 1 || n > last || shared > 0 && n > in.SharedSM/shared {
			t.Errorf("%d blocks of 64 threads and %d bytes of shared memory, %d before", n, shared, last)
		}
		last = n
	}
	few, err := r.Resident(in.MaxThreads, 0)
	b.ok(err)
	if few < 1 || few*in.MaxThreads > in.ThreadsPerSM {
		t.Errorf("%d blocks of %d threads", few, in.MaxThreads)
	}
}

func threads(t *testing.T, b *bench) {
	p := b.program()
	k := b.kernel(p, "add_one")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			if err := one(b.d, k, uint32(i)); err != nil {
				t.Errorf("thread %d: %v", i, err)
			}
		})
	}
	wg.Wait()
}

// one is a queue's life: memory, fills, launches, and what came out of them.
func one(d backend.Device, k backend.Kernel, seed uint32) error {
	const n, times = 1000, 5
	q, err := d.NewQueue(0)
	if err != nil {
		return err
	}
	a, err := d.Memory().Alloc(4*n, 256)
	if err != nil {
		return errors.Join(err, q.Close())
	}
	err = q.Fill(a, seed, 4, n, 0, 1)
	for range times {
		err = errors.Join(err, q.Launch(k, line((n+127)/128, 128, addOne(a, n))))
	}
	h, e := testkit.NewHost(4 * n)
	if err = errors.Join(err, e); err == nil {
		err = errors.Join(q.Copy(h.Addr(), a, 4*n), q.Sync())
		for i := 0; err == nil && i < n; i++ {
			if w := binary.LittleEndian.Uint32(h[4*i:]); w != seed+times {
				err = errors.New("a word is wrong")
			}
		}
		h.Free()
	}
	return errors.Join(err, q.Close(), d.Memory().Free(a))
}

func unloading(t *testing.T, b *bench) {
	before := uint64(0)
	for i := range 40 {
		p := b.load()
		b.ok(b.kernel(p, "add_one").Prepare([3]uint32{}))
		b.ok(p.Unload())
		free, _ := b.d.Memory().Usage()
		if i == 0 {
			before = free // the first may keep what the device needs anyway
		} else if free < before {
			t.Fatalf("%d bytes free after the first load, %d after %d", before, free, i+1)
		}
	}
}

func faults(t *testing.T, b *bench) {
	p := b.load()
	q, err := b.d.NewQueue(0)
	b.ok(err)
	err = q.Launch(b.kernel(p, "bad"), line(1, 1, pointer(8)))
	if err == nil {
		err = q.Sync()
	}
	var f *backend.Fault
	if !errors.As(err, &f) || f.Kind != backend.FaultAddress || f.Kernel != "bad" {
		t.Fatalf("a bad address: %v", err)
	}
	if err := q.Sync(); !errors.As(err, &f) {
		t.Errorf("after the fault: %v", err)
	}
	_ = q.Close() // what it answers after a fault is the fault
}
