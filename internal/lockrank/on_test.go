//go:build race || lockrank

package lockrank

import "testing"

func panics(f func()) (said any) {
	defer func() { said = recover() }()
	f()
	return nil
}

func TestOrder(t *testing.T) {
	var device Mutex[DriverDevice]
	var ctx, other Mutex[DriverContext]
	var ranges RWMutex[DriverRanges]
	var calls, inner Mutex[ShimCalls]
	device.Lock()
	ctx.Lock()
	ranges.RLock()
	ranges.RUnlock()
	if panics(func() { other.Lock() }) == nil {
		t.Error("two of a place")
	}
	if panics(Wait) == nil {
		t.Error("a wait under a context's lock")
	}
	device.Unlock() // in any order
	if panics(func() { device.Lock() }) == nil {
		t.Error("a device's lock under a context's")
	}
	done := make(chan any)
	go func() { // which holds nothing
		done <- panics(func() {
			device.Lock()
			Wait()
			device.Unlock()
		})
	}()
	if said := <-done; said != nil {
		t.Error(said)
	}
	ctx.Unlock()
	if panics(func() { ctx.Unlock() }) == nil {
		t.Error("given back twice")
	}
	calls.Lock()
	inner.Lock()
	Wait()
	inner.Unlock()
	calls.Unlock()
}
