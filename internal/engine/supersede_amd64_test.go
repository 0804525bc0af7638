package engine

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

const (
	kCountAndWait = "48 8b 07 48 8b 10 f0 48 01 0a 48 8b 50 08 f3 90 48 83 3a 00 74 f8 31 c0 c3" // atomic *p0 += count; wait until *p1
	kCountThird   = "48 8b 07 48 8b 50 10 f0 48 01 0a 31 c0 c3"                                  // atomic *p2 += count
)

// A launch that is under way goes on with better code, and every block runs once. Its faults are the better code's.
func TestSupersede(t *testing.T) {
	r := newRig(t, 2)
	const blocks = 1000
	old, better := kernel(t, kCountAndWait), kernel(t, kCountThird, func(c *KernelConfig) { c.FrameWarp, c.LocalThread = 1<<16, 64 })
	a, v := r.alloc(3)
	r.ok(r.q.Launch(old, grid(blocks, a, a+8, a+16)))
	for end := time.Now().Add(time.Minute); atomic.LoadUint64(&v[0]) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it never begins")
		}
	}
	if !old.Supersede(better) {
		t.Fatal("refused")
	}
	atomic.StoreUint64(&v[1], 1)
	r.ok(r.q.Sync())
	if v[0]+v[2] != blocks || v[2] == 0 {
		t.Errorf("%d and %d blocks", v[0], v[2])
	}
	first := v[0]
	r.ok(r.q.Launch(old, grid(blocks, a, a+8, a+16))) // who still has the old one
	r.ok(r.q.Sync())
	if v[0] != first || v[2] != 2*blocks-first {
		t.Errorf("%d and %d blocks", v[0], v[2])
	}
	bad := kernel(t, kNullRead, func(c *KernelConfig) { c.Cookie = 7 })
	if !old.Supersede(bad) {
		t.Fatal("refused")
	}
	r.ok(r.q.Launch(old, grid(1, a, a+8, a+16)))
	var f *Fault
	if err := r.q.Sync(); !errors.As(err, &f) || f.Cookie != 7 || f.PCOffset == NoOffset {
		t.Errorf("%v: %+v", err, f)
	}
}

// Code whose blocks are left and taken up again, or that wants other memory of a launch, takes no launch over.
func TestSupersedeRefused(t *testing.T) {
	for _, change := range []func(*KernelConfig){
		func(c *KernelConfig) { c.Resumable = true }, func(c *KernelConfig) { c.Spins = true },
		func(c *KernelConfig) { c.SharedStatic = 64 }, func(c *KernelConfig) { c.SharedAlign = 256 },
	} {
		if a, b := kernel(t, kAffine), kernel(t, kAffine, change); a.Supersede(b) || b.Supersede(a) {
			t.Error("taken over")
		}
	}
}
