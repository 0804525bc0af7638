package driver

import "sync/atomic"

// firstUse is told once that a program has device memory or launches a kernel: it does not only look at what is there.
var firstUse atomic.Pointer[func()]

// OnUse has fn called at the first use of a device, on the thread that uses it.
func OnUse(fn func()) { firstUse.Store(&fn) }

// touched is that use. After the first one it costs a load.
func touched() {
	if firstUse.Load() == nil {
		return
	}
	if fn := firstUse.Swap(nil); fn != nil {
		(*fn)()
	}
}
