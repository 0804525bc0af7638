package abi

/*
#cgo noescape kz_trace_now
#cgo nocallback kz_trace_now
#cgo noescape kz_trace_current
#cgo nocallback kz_trace_current
#cgo noescape kz_trace_event
#cgo nocallback kz_trace_event
#include "door.h"
*/
import "C"

import "unsafe"

// Recorder is the recorder of `kudzu trace`, which is the base's: events of the Go image stand in its file between the calls.
// Its methods may be called on any thread.
type Recorder struct{ address uint64 }

// Trace returns the recorder, nil when the process is not traced. It is known when the house starts.
func Trace() *Recorder {
	host := C.kz_host_trace()
	if host == nil {
		return nil
	}
	return &Recorder{uint64(uintptr(unsafe.Pointer(host)))}
}

// Address is that of the C structure kz_trace_host of c/base/host.h, for C that records without Go.
func (r *Recorder) Address() uint64 { return r.address }

// Now is the time in the ticks of the trace.
func (r *Recorder) Now() uint64 { return uint64(C.kz_trace_now()) }

// Current is the call that is under way on this thread, 0 for none. Only code that runs on the thread of a call, as everything
// below a handler does, has one.
func (r *Recorder) Current() uint64 { return uint64(C.kz_trace_current()) }

// Event is one record. Times are ticks; what its values and text are is the type's business.
type Event struct {
	Type   uint16
	Call   uint64 // that caused it, 0 for none
	T0, T1 uint64
	Device uint32
	Stream uint64
	Values [4]uint64
	Text   string
}

// maxText is longer than what the recorder keeps of a text.
const maxText = 4096

// Event writes a record.
func (r *Recorder) Event(e *Event) {
	var short [256]byte
	text := short[:]
	if len(e.Text) >= len(short) {
		text = make([]byte, min(len(e.Text), maxText)+1)
	}
	copy(text[:len(text)-1], e.Text) // a NUL stays
	C.kz_trace_event(C.uint16_t(e.Type), C.uint64_t(e.Call), C.uint64_t(e.T0), C.uint64_t(e.T1), C.uint32_t(e.Device), C.uint64_t(e.Stream),
		(*C.uint64_t)(&e.Values[0]), (*C.char)(unsafe.Pointer(&text[0])))
}
