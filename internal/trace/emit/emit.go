// Package emit is where the driver and the backends tell the recorder of `kudzu trace` what they do. It knows neither the
// recorder nor C: the wiring of the image hands it three functions. Where nobody records, On is nil, and that look is all it costs.
package emit

import "sync/atomic"

// Type tells what an event is; internal/trace has the same numbers, and c/base's README what the values are.
type Type uint16

// The types that the image writes.
const (
	Kernel       Type = 1
	Copy         Type = 2
	Fill         Type = 3
	HostFunction Type = 4
	Compile      Type = 5
	Memory       Type = 6
	Queue        Type = 7
	Fault        Type = 8
	Enqueue      Type = 13
)

// What code a kernel is, in events.
const (
	Interpreted = iota
	Baseline
	Optimised
	Vendor // of a GPU: its driver compiled it
)

// Event is one thing that happened. Times are ticks of the recorder.
type Event struct {
	Type   Type
	Call   uint64 // that caused it, 0: none
	T0, T1 uint64
	Device uint32
	Stream uint64 // handle; 0: none
	Values [4]uint64
	Text   string
}

// Recorder is how events get into the file. All functions may be called on any thread.
type Recorder struct {
	Now     func() uint64 // the time
	Current func() uint64 // the call that is under way on this thread; 0: none
	Write   func(e *Event)
}

var recorder atomic.Pointer[Recorder]

// Start has events recorded from now on; nil: no more.
func Start(r *Recorder) { recorder.Store(r) }

// On is the recorder, or nil.
func On() *Recorder { return recorder.Load() }

// Shape are the values of a launch.
func Shape(grid, block [3]uint32, shared uint32, code int) [4]uint64 {
	pair := func(a, b uint32) uint64 { return uint64(a) | uint64(b)<<32 }
	return [4]uint64{pair(grid[0], grid[1]), pair(grid[2], block[0]), pair(block[1], block[2]), pair(shared, uint32(code))}
}

// Place is where work runs: a device and a stream of it.
type Place struct {
	Device uint32
	Stream uint64
}

// Wrap is fn, whose run is recorded as an event of the call under way, and the enqueuing as another.
func (r *Recorder) Wrap(what Type, at Place, values [4]uint64, text string, fn func() error) func() error {
	call, now := r.Current(), r.Now()
	r.Write(&Event{Type: Enqueue, Call: call, T0: now, T1: now, Device: at.Device, Stream: at.Stream, Values: values, Text: text})
	return func() error {
		t0 := r.Now()
		err := fn()
		r.Write(&Event{Type: what, Call: call, T0: t0, T1: r.Now(), Device: at.Device, Stream: at.Stream, Values: values, Text: text})
		return err
	}
}
