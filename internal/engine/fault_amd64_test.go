package engine

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// fault runs one launch in a domain of its own and returns what ended it.
func (r *rig) fault(k *Kernel, l *Launch) *Fault {
	r.Helper()
	d, q := r.domain()
	defer d.Close()
	defer q.Close()
	r.ok(q.Launch(k, l))
	err := q.Sync()
	var f *Fault
	if !errors.As(err, &f) {
		r.Fatalf("sync: %v, want a fault", err)
	}
	if err := q.Launch(k, l); err != error(f) {
		r.Errorf("launch after the fault: %v", err)
	}
	if err := q.Sync(); err != error(f) {
		r.Errorf("second sync: %v", err)
	}
	return f
}

func TestFaultKinds(t *testing.T) {
	r := newRig(t, 2)
	free, err := r.m.Alloc(8<<20, 0)
	r.ok(err)
	r.ok(r.m.Free(free))
	base, size := r.m.Range()
	rows := []struct {
		name, code string
		params     []uint64
		kind       FaultKind
		signal     syscall.Signal
		addr       uint64
		offset     uint64
	}{
		{"null", kNullRead, nil, FaultAddress, syscall.SIGSEGV, 0, 2},
		{"freed", kBadWrite, []uint64{free + 100}, FaultAddress, syscall.SIGSEGV, free + 100, 17},
		{"never committed", kBadWrite, []uint64{base + size - 4096}, FaultAddress, syscall.SIGSEGV, base + size - 4096, 17},
		{"not canonical", kBadWrite, []uint64{1 << 62}, FaultAddress, syscall.SIGSEGV, 0, 17},
		{"illegal instruction", kIllegal, nil, FaultInstruction, syscall.SIGILL, 0, 0},
		{"division", kDivide, nil, FaultInstruction, syscall.SIGFPE, 0, 9},
		{"stack", kRecurse, nil, FaultStack, syscall.SIGSEGV, 0, 0},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			f := (&rig{t, r.e, r.m, r.d, r.q}).fault(kernel(t, row.code), grid(1, row.params...))
			if f.Kind != row.kind || f.Signal != int(row.signal) || f.Cookie != 99 {
				t.Errorf("got %v", f)
			}
			if f.Kind == FaultAddress && f.Addr != row.addr {
				t.Errorf("address %#x, want %#x", f.Addr, row.addr)
			}
			if f.PCOffset != row.offset {
				t.Errorf("code offset %d, want %d", f.PCOffset, row.offset)
			}
		})
	}
	f := r.fault(kernel(t, kStop), grid(5, 4))
	if f.Kind != FaultStop || f.Stop != 4 || f.Line != 77 || f.Lanes != 5 {
		t.Errorf("stop: %v", f)
	}
	f = r.fault(kernel(t, kBadWrite), grid(1, 64))
	if f.Block != 0 || f.Warp != 3 || f.Grid != [3]uint32{1, 1, 1} || f.Shape != [3]uint32{32, 1, 1} {
		t.Errorf("where: %+v", f)
	}
}

func TestCopyFault(t *testing.T) {
	r := newRig(t, 2)
	a, _ := r.alloc(1)
	d, q := r.domain()
	defer d.Close()
	defer q.Close()
	r.ok(q.Copy(a, 8, 8))
	var f *Fault
	if err := q.Sync(); !errors.As(err, &f) || f.Kind != FaultCopy {
		t.Errorf("got %v", err)
	}
}

// A fault poisons its domain, on every queue of it, and no other.
func TestPoisonedDomain(t *testing.T) {
	r := newRig(t, 2)
	bad, count, spin := kernel(t, kNullRead), kernel(t, kCount), kernel(t, kYieldSpin)
	a, v := r.alloc(2)
	d, q := r.domain()
	q2 := r.queue(d)
	r.ok(q2.Launch(spin, grid(4, a))) // for ever, were it not for the fault
	r.ok(q2.Launch(count, grid(10, a+8)))
	fence, err := q2.Mark()
	r.ok(err)
	r.ok(r.q.Wait(fence))
	r.ok(q.Launch(bad, grid(1)))
	_ = q.Launch(count, grid(10, a+8))
	e1, e2 := q.Sync(), q2.Sync()
	if e1 == nil || e1 != e2 {
		t.Errorf("sync: %v and %v", e1, e2)
	}
	if done, err := fence.Done(); !done || err != e1 {
		t.Errorf("fence: %v, %v", done, err)
	}
	if v[1] != 0 {
		t.Errorf("%d blocks ran after the fault", v[1])
	}
	r.ok(r.q.Launch(count, grid(10, a+8)))
	r.ok(r.q.Sync())
	if v[1] != 10 {
		t.Errorf("other domain: %d blocks ran, want 10", v[1])
	}
	q.Close()
	q2.Close()
	d.Close()
}

func Test200Faults(t *testing.T) {
	r := newRig(t, 3)
	ks := []*Kernel{kernel(t, kNullRead), kernel(t, kRecurse), kernel(t, kIllegal), kernel(t, kDivide)}
	count := kernel(t, kCount)
	a, v := r.alloc(1)
	start := time.Now()
	for i := range 200 {
		d, q := r.domain()
		r.ok(q.Launch(ks[i%4], grid(uint32(1+i%9))))
		if i%2 == 0 { // by a worker
			for done := false; !done; done, _ = q.Done() {
			}
		}
		if q.Sync() == nil {
			t.Fatalf("no fault in turn %d", i)
		}
		q.Close()
		d.Close()
		r.ok(r.q.Launch(count, grid(7, a)))
	}
	r.ok(r.q.Sync())
	if v[0] != 1400 {
		t.Errorf("%d blocks, want 1400", v[0])
	}
	t.Logf("%v per fault", time.Since(start)/200)
}

// Go's own recovery from a nil pointer must go on working with our handlers installed.
func TestGoFaultsStayGo(t *testing.T) {
	r := newRig(t, 1)
	r.fault(kernel(t, kNullRead), grid(1))
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var p *int
	*p = 1
}

func TestFloatMode(t *testing.T) {
	r := newRig(t, 2)
	a, v := r.alloc(2)
	r.ok(r.q.Launch(kernel(t, kMXCSR), grid(1, a)))
	r.ok(r.q.Launch(kernel(t, kMXCSR, func(c *KernelConfig) { c.FTZ = true }), grid(1, a+8)))
	r.ok(r.q.Sync())
	if v[0]&0xffc0 != 0x1f80 || v[1]&0xffc0 != 0x9fc0 {
		t.Errorf("mxcsr %#x and %#x", v[0], v[1])
	}
}

func TestAreas(t *testing.T) {
	r := newRig(t, 2)
	l := &Launch{Grid: [3]uint32{3, 1, 1}, Block: [3]uint32{32, 8, 4}, DynamicShared: 1000}
	k := kernel(t, kAreas, func(c *KernelConfig) {
		c.FrameWarp, c.FrameBlock, c.LocalThread, c.SharedStatic = 6400, 192, 4096, 200<<10
	})
	l.Params = words(0, 6400*32+192, 4096*1024)
	r.ok(r.q.Launch(k, l))
	r.ok(r.q.Sync())
	for _, big := range []func(*KernelConfig){
		func(c *KernelConfig) { c.LocalThread = 8 << 20 },
		func(c *KernelConfig) { c.FrameWarp = 1 << 30 },
		func(c *KernelConfig) { c.SharedStatic = 1 << 20 },
	} {
		if err := r.q.Launch(kernel(t, kEmpty, big), l); err != ErrLimit {
			t.Errorf("absurd size: %v", err)
		}
	}
}

func TestBackpressure(t *testing.T) {
	r := newRig(t, 1)
	a, v := r.alloc(2)
	r.ok(r.q.Launch(kernel(t, kSpin), grid(1, a)))
	count := kernel(t, kCount)
	time.AfterFunc(100*time.Millisecond, func() { atomic.StoreUint64(&v[0], 1) })
	for range 100000 { // more than a queue holds: waits for the spinning kernel
		r.ok(r.q.Launch(count, grid(1, a+8)))
	}
	r.ok(r.q.Sync())
	if v[1] != 100000 {
		t.Errorf("%d ran", v[1])
	}
}

// child runs this test binary again with KUDZU_CHILD set to the test's name.
func child(t *testing.T) (string, bool) {
	t.Helper()
	if os.Getenv("KUDZU_CHILD") == t.Name() {
		return "", true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), "KUDZU_CHILD="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out), false
}

func TestExitWithWorkInFlight(t *testing.T) {
	out, here := child(t)
	if !here {
		if strings.Contains(out, "SIG") {
			t.Error(out)
		}
		return
	}
	e, _ := Start(2)
	m, _ := NewMemory(1 << 20 * 16)
	d, _ := e.NewDomain(m)
	a, _ := m.Alloc(4096, 0)
	b, _ := m.Bytes(a, 4096)
	clear(b)
	for range 4 {
		q, _ := d.NewQueue(0)
		q.Launch(kernel(t, kSpin), grid(8, a))
		q.Task(func() error { select {} }, 0)
	}
	time.Sleep(5 * time.Millisecond)
	os.Exit(0)
}
