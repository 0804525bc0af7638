package engine

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// gate counts the calls that are in a C object, so that it goes with the last of them and never under one. The zero value is open.
type gate struct{ n atomic.Int64 }

// closing makes the count negative for good; the call that brings it back to exactly closing is the last, and makes it closed,
// so that a call which comes later, finds the gate closed and leaves does not take itself for the last again.
const (
	closing = math.MinInt64 / 2
	closed  = closing + closing/2
)

// enter says whether the gate is open; where not, leave must be called all the same.
func (g *gate) enter() bool { return g.n.Add(1) >= 0 }

// leave ends a call, and says whether it was the last: its caller ends the object.
func (g *gate) leave() bool { return g.n.Add(-1) == closing && g.n.CompareAndSwap(closing, closed) }

// shut closes the gate, once; its caller must call leave.
func (g *gate) shut() { g.n.Add(closing + 1) }

// alone waits for the calls under way other than the one that shut the gate. Not for ever: one of them may run a function of the
// program that waits for whoever closes. The object is safe all the same.
func (g *gate) alone() {
	const turns, nap = 1000, time.Millisecond
	for i := range 2 * turns {
		if g.n.Load() <= closing+1 {
			return
		}
		if i < turns {
			runtime.Gosched()
		} else {
			time.Sleep(nap)
		}
	}
}
