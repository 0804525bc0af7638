package cudart

import (
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

// Streams and events are the driver's: the same handles, flags and callbacks.

// StreamCreate makes a stream.
func (t *Thread) StreamCreate() (rt.CudaStream_t, error) { return t.StreamCreateWithFlags(0) }

// StreamCreateWithFlags makes a stream that may be independent of the legacy default stream.
func (t *Thread) StreamCreateWithFlags(flags uint32) (rt.CudaStream_t, error) {
	return t.StreamCreateWithPriority(flags, 0)
}

// StreamCreateWithPriority makes a stream; a priority outside the range is moved into it.
func (t *Thread) StreamCreateWithPriority(flags uint32, priority int32) (rt.CudaStream_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	s, err := d.StreamCreateWithPriority(flags, priority)
	return rt.CudaStream_t(s), err
}

// EventCreate makes an event.
func (t *Thread) EventCreate() (rt.CudaEvent_t, error) { return t.EventCreateWithFlags(0) }

// EventCreateWithFlags makes an event that may do without times.
func (t *Thread) EventCreateWithFlags(flags uint32) (rt.CudaEvent_t, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	e, err := d.EventCreate(flags)
	return rt.CudaEvent_t(e), err
}

// EventRecord moves the event to the end of the stream's work.
func (t *Thread) EventRecord(e rt.CudaEvent_t, s rt.CudaStream_t) error {
	return t.EventRecordWithFlags(e, s, 0)
}

// EventRecordWithFlags is EventRecord; its flag is for captures.
func (t *Thread) EventRecordWithFlags(e rt.CudaEvent_t, s rt.CudaStream_t, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.EventRecordWithFlags(cu.CUevent(e), cu.CUstream(s), flags)
}
