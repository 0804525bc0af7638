package cudart

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
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

// StreamDestroy gives a stream back; work still in it goes on.
func (t *Thread) StreamDestroy(s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamDestroy(cu.CUstream(s))
}

// StreamQuery is NotReady while there is work.
func (t *Thread) StreamQuery(s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamQuery(cu.CUstream(s))
}

// StreamSynchronize waits for a stream's work.
func (t *Thread) StreamSynchronize(s rt.CudaStream_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamSynchronize(cu.CUstream(s))
}

// StreamWaitEvent delays the stream's later work until the event is reached.
func (t *Thread) StreamWaitEvent(s rt.CudaStream_t, e rt.CudaEvent_t, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamWaitEvent(cu.CUstream(s), cu.CUevent(e), flags)
}

// StreamAddCallback calls fn(stream, status, user) when the stream gets there.
func (t *Thread) StreamAddCallback(s rt.CudaStream_t, fn rt.CudaStreamCallback_t, user hostmem.Ptr, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamAddCallback(cu.CUstream(s), cu.CUstreamCallback(fn), user, flags)
}

// StreamAttachMemAsync restricts managed memory to a stream.
func (t *Thread) StreamAttachMemAsync(s rt.CudaStream_t, p hostmem.Ptr, n uint64, flags uint32) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.StreamAttachMemAsync(cu.CUstream(s), driver.DevPtr(p), n, flags)
}

// StreamGetFlags is the flags a stream was made with.
func (t *Thread) StreamGetFlags(s rt.CudaStream_t) (uint32, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.StreamGetFlags(cu.CUstream(s))
}

// StreamGetPriority is the priority a stream got.
func (t *Thread) StreamGetPriority(s rt.CudaStream_t) (int32, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.StreamGetPriority(cu.CUstream(s))
}

// StreamGetId is unique in the process.
func (t *Thread) StreamGetId(s rt.CudaStream_t) (uint64, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.StreamGetId(cu.CUstream(s))
}

// StreamGetDevice is the stream's device.
func (t *Thread) StreamGetDevice(s rt.CudaStream_t) (int32, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.StreamGetDevice(cu.CUstream(s))
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

// EventDestroy gives an event back.
func (t *Thread) EventDestroy(e rt.CudaEvent_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.EventDestroy(cu.CUevent(e))
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

// EventQuery is NotReady until the last record is reached.
func (t *Thread) EventQuery(e rt.CudaEvent_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.EventQuery(cu.CUevent(e))
}

// EventSynchronize waits until the last record is reached.
func (t *Thread) EventSynchronize(e rt.CudaEvent_t) error {
	d, err := t.ready()
	if err != nil {
		return err
	}
	return d.EventSynchronize(cu.CUevent(e))
}

// EventElapsedTime is milliseconds between two events.
func (t *Thread) EventElapsedTime(start, end rt.CudaEvent_t) (float32, error) {
	d, err := t.ready()
	if err != nil {
		return 0, err
	}
	return d.Elapsed(cu.CUevent(start), cu.CUevent(end))
}
