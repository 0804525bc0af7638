// Package orderlock is the lock that orders the legacy stream against the others of its context.
package orderlock

import (
	"sync"
	"sync/atomic"

	"kudzu/internal/lockrank"
)

// RWLock is a sync.RWMutex that costs half as much where nobody else wants it: the legacy stream takes it at every launch.
// While somebody waits, all go by the mutex, so that nobody passes those who wait for ever. The zero value is free.
type RWLock struct {
	state   atomic.Int32 // readers, or -1 for a writer
	waiting atomic.Int32 // written under mu

	mu      lockrank.Mutex[lockrank.DriverOrderQueue]
	changed sync.Cond // of mu, made when first needed
	writers int       // of those that wait; guarded by mu
}

// Lock is for writers: the legacy stream.
func (o *RWLock) Lock() {
	lockrank.Enter[lockrank.DriverOrder]()
	if o.waiting.Load() != 0 || !o.state.CompareAndSwap(0, -1) {
		o.slow(true)
	}
}

// Unlock gives it back.
func (o *RWLock) Unlock() {
	o.state.Store(0)
	o.wake()
	lockrank.Leave[lockrank.DriverOrder]()
}

// RLock is for readers: the streams that wait for the legacy stream.
func (o *RWLock) RLock() {
	lockrank.Enter[lockrank.DriverOrder]()
	if o.waiting.Load() != 0 || !o.read() {
		o.slow(false)
	}
}

// RUnlock gives it back.
func (o *RWLock) RUnlock() {
	if o.state.Add(-1) == 0 {
		o.wake()
	}
	lockrank.Leave[lockrank.DriverOrder]()
}

// read takes it if there is no writer.
func (o *RWLock) read() bool {
	for n := o.state.Load(); n >= 0; n = o.state.Load() {
		if o.state.CompareAndSwap(n, n+1) {
			return true
		}
	}
	return false
}

func (o *RWLock) slow(write bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.changed.L == nil {
		o.changed.L = &o.mu
	}
	o.waiting.Add(1) // before it is tried again: who gives it back afterwards sees this
	defer o.waiting.Add(-1)
	if !write {
		for o.writers > 0 || !o.read() {
			o.changed.Wait()
		}
		return
	}
	o.writers++
	for !o.state.CompareAndSwap(0, -1) {
		o.changed.Wait()
	}
	if o.writers--; o.writers == 0 {
		o.changed.Broadcast() // readers waited for that, and try when it is given back
	}
}

func (o *RWLock) wake() {
	if o.waiting.Load() == 0 {
		return
	}
	o.mu.Lock()
	o.changed.Broadcast()
	o.mu.Unlock()
}
