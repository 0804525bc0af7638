package driver

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/cu"
)

// The double: a backend whose memory is the process's and whose kernels are Go functions found by name.

type fakeBackend struct {
	devs []backend.Device
	err  error
}

func (b *fakeBackend) Name() string                    { return "fake" }
func (b *fakeBackend) Open() ([]backend.Device, error) { return b.devs, b.err }

type fakeDevice struct {
	info     backend.Info
	mem      fakeMemory
	open     atomic.Int32 // queues
	progs    atomic.Int32
	textures atomic.Uint64
}

func newFake(n int) *fakeBackend {
	b := &fakeBackend{}
	for i := range n {
		d := &fakeDevice{info: backend.Info{
			Name: fmt.Sprintf("Fake %d", i), UUID: [16]byte{1, 2, 3, byte(i)}, PCI: [3]int{0, 6 + i, 0}, Major: 9, Memory: 1 << 30,
			Processors: 132, WarpSize: 32, ClockKHz: 1980000, MemoryKHz: 3201000, BusWidth: 6016, L2Bytes: 60 << 20,
			MaxThreads: 1024, MaxBlock: [3]int{1024, 1024, 64}, MaxGrid: [3]int{1<<31 - 1, 65535, 65535},
			SharedBlock: 49152, SharedOptin: 232448, SharedSM: 233472, ConstBytes: 65536, Registers: 65536,
			ThreadsPerSM: 2048, BlocksPerSM: 32, HostPointers: true, HostVisible: true, Peers: true, Cooperative: true,
		}}
		d.mem.limit, d.mem.live = 1<<30, map[backend.Addr]uint64{}
		b.devs = append(b.devs, d)
	}
	return b
}

func (d *fakeDevice) Info() *backend.Info    { return &d.info }
func (d *fakeDevice) Memory() backend.Memory { return &d.mem }

// NewTexture and its like number textures and keep nothing of them: no kernel here samples.
func (d *fakeDevice) NewTexture(*backend.Texture) (uint64, error) { return d.textures.Add(1), nil }
func (d *fakeDevice) SetTexture(uint64, *backend.Texture) error   { return nil }
func (d *fakeDevice) FreeTexture(uint64) error                    { return nil }

type fakeMemory struct {
	mu    sync.Mutex
	live  map[backend.Addr]uint64
	used  uint64
	limit uint64
	left  atomic.Uint64 // in the machine; 0: enough
}

func (m *fakeMemory) Alloc(n, align uint64) (backend.Addr, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.limit-m.used {
		return 0, backend.ErrNoMemory
	}
	a, length, err := mapHost(n)
	if err != nil {
		return 0, backend.ErrNoMemory
	}
	m.live[backend.Addr(a)] = length
	m.used += length
	return backend.Addr(a), nil
}

func (m *fakeMemory) Free(a backend.Addr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, ok := m.live[a]
	if !ok {
		return backend.ErrNotFound
	}
	delete(m.live, a)
	m.used -= n
	unmapHost(uint64(a), n)
	return nil
}

func (m *fakeMemory) Available() uint64 { return m.left.Load() }

func (m *fakeMemory) Usage() (free, total uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.limit - m.used, m.limit
}

func bytesAt(a backend.Addr, n uint64) []byte { return hostmem.Bytes(hostmem.Ptr(a), n) }

// fakeQueue runs its work on one goroutine.
type fakeQueue struct {
	dev   *fakeDevice
	mu    sync.Mutex
	cond  *sync.Cond
	work  []func() error
	busy  bool
	err   error
	close bool
}

func (d *fakeDevice) NewQueue(int) (backend.Queue, error) {
	q := &fakeQueue{dev: d}
	q.cond = sync.NewCond(&q.mu)
	d.open.Add(1)
	go q.run()
	return q, nil
}

func (q *fakeQueue) run() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.work) == 0 && !q.close {
			q.cond.Wait()
		}
		if len(q.work) == 0 {
			return
		}
		w := q.work[0]
		q.work, q.busy = q.work[1:], true
		q.mu.Unlock()
		err := w()
		q.mu.Lock()
		q.busy = false
		if err != nil && q.err == nil {
			q.err = err
			q.work = nil
		}
		q.cond.Broadcast()
	}
}

func (q *fakeQueue) add(w func() error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.close {
		return backend.ErrClosed
	}
	if q.err != nil {
		return q.err
	}
	q.work = append(q.work, w)
	q.cond.Broadcast()
	return nil
}

func (q *fakeQueue) Launch(k backend.Kernel, l *backend.Launch) error {
	c := *l
	c.Params = append([]byte(nil), l.Params...)
	return q.add(func() error { return fakeKernels[k.Name()](&c) })
}

func (q *fakeQueue) Copy(dst, src backend.Addr, n uint64) error {
	return q.add(func() error { copy(bytesAt(dst, n), bytesAt(src, n)); return nil })
}

func (q *fakeQueue) Copy2D(dst backend.Addr, dp uint64, src backend.Addr, sp, w, h uint64) error {
	return q.add(func() error {
		for y := range h {
			copy(bytesAt(dst+backend.Addr(y*dp), w), bytesAt(src+backend.Addr(y*sp), w))
		}
		return nil
	})
}

func (q *fakeQueue) Fill(dst backend.Addr, v uint32, size int, count, pitch, rows uint64) error {
	var word [4]byte
	binary.LittleEndian.PutUint32(word[:], v)
	return q.add(func() error {
		for y := range rows {
			row := bytesAt(dst+backend.Addr(y*pitch), count*uint64(size))
			for i := range row {
				row[i] = word[i%size]
			}
		}
		return nil
	})
}

func (q *fakeQueue) Host(fn func()) error { return q.add(func() error { fn(); return nil }) }

type fakeFence struct {
	q    *fakeQueue
	done chan struct{}
	at   atomic.Int64
}

func (q *fakeQueue) Mark() (backend.Fence, error) {
	f := &fakeFence{q: q, done: make(chan struct{})}
	return f, q.add(func() error { f.at.Store(time.Now().UnixNano()); close(f.done); return nil })
}

func (q *fakeQueue) Wait(f backend.Fence) error {
	return q.add(func() error { return f.Sync() })
}

func (q *fakeQueue) Sync() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.work) > 0 || q.busy {
		q.cond.Wait()
	}
	if q.close {
		return backend.ErrClosed
	}
	return q.err
}

func (q *fakeQueue) Done() (bool, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.close {
		return true, backend.ErrClosed
	}
	return len(q.work) == 0 && !q.busy, q.err
}

func (q *fakeQueue) Close() error {
	err := q.Sync()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.close {
		return errors.New("closed twice")
	}
	q.close = true
	q.dev.open.Add(-1)
	q.cond.Broadcast()
	return err
}

func (f *fakeFence) Done() (bool, error) {
	select {
	case <-f.done:
		return true, nil
	default:
	}
	f.q.mu.Lock()
	defer f.q.mu.Unlock()
	return f.q.err != nil, f.q.err
}

func (f *fakeFence) Sync() error {
	for {
		select {
		case <-f.done:
			return nil
		case <-time.After(time.Millisecond):
			if _, err := f.Done(); err != nil {
				return err
			}
		}
	}
}

func (f *fakeFence) Nanos() int64 { return f.at.Load() }

type fakeProgram struct {
	dev  *fakeDevice
	mod  *backend.Module
	vars map[string]backend.Addr
}

func (d *fakeDevice) Load(m *backend.Module) (backend.Program, error) {
	p := &fakeProgram{dev: d, mod: m, vars: map[string]backend.Addr{}}
	for _, v := range m.Vars {
		a, err := d.mem.Alloc(max(1, v.Size), 256)
		if err != nil {
			return nil, err
		}
		copy(bytesAt(a, v.Size), v.Init)
		p.vars[v.Name] = a
	}
	d.progs.Add(1)
	return p, nil
}

func (p *fakeProgram) Kernel(name string) (backend.Kernel, error) { return fakeKernel(name), nil }

func (p *fakeProgram) Var(name string) (backend.Addr, uint64, error) {
	for _, v := range p.mod.Vars {
		if v.Name == name {
			return p.vars[name], v.Size, nil
		}
	}
	return 0, 0, backend.ErrNotFound
}

func (p *fakeProgram) Unload() error {
	for _, a := range p.vars {
		if err := p.dev.mem.Free(a); err != nil {
			return err
		}
	}
	p.dev.progs.Add(-1)
	return nil
}

type fakeKernel string

func (k fakeKernel) Name() string            { return string(k) }
func (k fakeKernel) Prepare([3]uint32) error { return nil }
func (k fakeKernel) Info() (*backend.KernelInfo, error) {
	i := &backend.KernelInfo{Registers: 8, PTXVersion: 80, BinaryVersion: 90, MaxThreads: 1024}
	if k == "k" {
		i.StaticShared = 1024
	}
	return i, nil
}

// gate holds kernels "spin" until it is opened.
var gate atomic.Pointer[chan struct{}]

var fakeKernels = map[string]func(l *backend.Launch) error{
	"k": func(l *backend.Launch) error { // (u64 a, u32 n): *a = n
		p := backend.Addr(binary.LittleEndian.Uint64(l.Params))
		copy(bytesAt(p, 4), l.Params[8:12])
		return nil
	},
	"add": func(l *backend.Launch) error { // (u64 a, u32 n): *a = *a * 10 + n
		p := hostmem.Ptr(binary.LittleEndian.Uint64(l.Params))
		hostmem.Store(p, hostmem.Load[uint32](p)*10+binary.LittleEndian.Uint32(l.Params[8:]))
		return nil
	},
	"bad": func(l *backend.Launch) error {
		return &backend.Fault{Kind: backend.FaultAddress, Kernel: "bad", Addr: 16, Line: 12}
	},
	"trp":   func(l *backend.Launch) error { return &backend.Fault{Kind: backend.FaultTrap, Kernel: "trp"} },
	"mis":   func(l *backend.Launch) error { return &backend.Fault{Kind: backend.FaultMisaligned, Kernel: "mis"} },
	"empty": func(l *backend.Launch) error { return nil },
	"req":   func(l *backend.Launch) error { return nil },
	"spin":  func(l *backend.Launch) error { <-*gate.Load(); return nil },
}

const fakePTX = `
.version 7.8
.target sm_80
.address_size 64
.visible .global .align 4 .u32 gv[4] = {1, 2, 3, 4};
.visible .const .align 4 .f32 cv;
.visible .entry k(.param .u64 a, .param .u32 n) .maxntid 512, 1, 1 { ret; }
.visible .entry add(.param .u64 a, .param .u32 n) { ret; }
.visible .entry bad() { ret; }
.visible .entry mis() { ret; }
.visible .entry trp() { ret; }
.visible .entry empty() { ret; }
.visible .entry spin() { ret; }
.visible .entry req() .reqntid 32, 2 { ret; }
`

// cmem plays the calling program: memory that calls write to and read from. It is not Go memory, as in life.
type cmem struct {
	free, left uint64
}

func (c *cmem) words(v ...uint64) hostmem.Ptr {
	n := uint64(max(1, len(v))) * 8
	if n > c.left {
		var err error
		if c.free, c.left, err = mapHost(max(n, 1<<20)); err != nil {
			panic(err)
		}
	}
	p := hostmem.Ptr(c.free)
	c.free, c.left = c.free+n, c.left-n
	copy(hostmem.Slice[uint64](p, len(v)), v)
	return p
}

func (c *cmem) str(s string) hostmem.Ptr {
	p := c.words(make([]uint64, len(s)/8+1)...)
	hostmem.PutString(p, len(s)+1, s)
	return p
}

// params makes a kernelParams list of 64-bit slots.
func (c *cmem) params(v ...uint64) hostmem.Ptr {
	list := make([]uint64, len(v))
	for i, x := range v {
		list[i] = uint64(c.words(x))
	}
	return c.words(list...)
}

// newThread is a thread of a fresh driver over n fake devices.
func newThread(t testing.TB, n int) (*Thread, *fakeBackend, *cmem) {
	t.Helper()
	b := newFake(n)
	Start([]backend.Backend{b}, func(fn, a, bb, c, _ uint64) uint64 { return fakeCall(fn, a, bb, c) })
	th := &Thread{ID: threadIDs.Add(1)}
	if err := th.Init(0); err != nil {
		t.Fatal(err)
	}
	ch := make(chan struct{})
	gate.Store(&ch)
	return th, b, &cmem{}
}

var (
	threadIDs atomic.Uint64
	callMu    sync.Mutex
	calls     [][4]uint64
)

// fakeCall is the program's functions: 1 doubles its argument, others record the call.
func fakeCall(fn, a, b, c uint64) uint64 {
	callMu.Lock()
	defer callMu.Unlock()
	calls = append(calls, [4]uint64{fn, a, b, c})
	return a * 2
}

// withPrimary is newThread with the primary context current and fakePTX loaded.
func withPrimary(t testing.TB) (*Thread, *cmem, cu.CUmodule, *fakeDevice) {
	t.Helper()
	th, b, c := newThread(t, 1)
	ctx, err := th.DevicePrimaryCtxRetain(0)
	if err == nil {
		err = th.CtxSetCurrent(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := th.ModuleLoadData(c.str(fakePTX))
	if err != nil {
		t.Fatal(err)
	}
	return th, c, m, b.devs[0].(*fakeDevice)
}

func mustFn(t testing.TB, th *Thread, m cu.CUmodule, name string) cu.CUfunction {
	t.Helper()
	f, err := th.ModuleGetFunction(m, name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f
}

// code is the number a C caller would see.
func code(err error) int {
	if err == nil {
		return 0
	}
	return int(err.(Result))
}

// want checks the code of a call.
func want(t testing.TB, what string, err error, codes int) {
	t.Helper()
	if got := code(err); got != codes {
		t.Errorf("%s: %d, want %d", what, got, codes)
	}
}
