package cuda

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/dl"
)

// queue is a CUstream.
type queue struct {
	dev    *device
	stream uintptr
	last   string // kernel launched last, for fault messages
	closed atomic.Bool
}

// streamNonBlocking keeps our queues apart from the legacy default stream.
const streamNonBlocking = 1

// NewQueue makes a stream.
func (d *device) NewQueue(priority int) (backend.Queue, error) {
	q := &queue{dev: d}
	err := d.do(func() (err error) {
		q.stream, err = d.api.getPtr("cuStreamCreateWithPriority", streamNonBlocking, uintptr(int32(-priority)))
		return err
	})
	if err != nil {
		return nil, err
	}
	return q, nil
}

func (q *queue) call(name string, args ...uintptr) error {
	if q.closed.Load() {
		return backend.ErrClosed
	}
	return q.fault(q.dev.do(func() error { return q.dev.api.call(name, args...) }))
}

// launchEx is a launch with attributes: a CUlaunchConfig of 56 bytes, and 72 for each attribute behind it.
func (q *queue) launchEx(fn uintptr, l *backend.Launch, params, extra uintptr) error {
	const config, each = 56, 72
	const clusterDimension, cooperative = 4, 2
	buf := dl.Alloc(config + 2*each)
	defer buf.Free()
	b := buf.Bytes()
	for i, v := range []uint32{l.Grid[0], l.Grid[1], l.Grid[2], l.Block[0], l.Block[1], l.Block[2], l.DynamicShared} {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	put(b, 32, uint64(q.stream))
	put(b, 40, uint64(buf.Addr()+config))
	n := 0
	attribute := func(id uint32, values ...uint32) {
		at := b[config+n*each:]
		binary.LittleEndian.PutUint32(at, id)
		for i, v := range values {
			binary.LittleEndian.PutUint32(at[8+4*i:], v)
		}
		n++
	}
	if l.Cooperative {
		attribute(cooperative, 1)
	}
	if l.Cluster != [3]uint32{} {
		attribute(clusterDimension, max(1, l.Cluster[0]), max(1, l.Cluster[1]), max(1, l.Cluster[2]))
	}
	binary.LittleEndian.PutUint32(b[48:], uint32(n))
	return q.call("cuLaunchKernelEx", buf.Addr(), fn, params, extra)
}

// fault turns a sticky code into what backends report.
func (q *queue) fault(err error) error {
	var r Result
	if errors.As(err, &r) {
		if k, ok := faults[r]; ok {
			return &backend.Fault{Kind: k, Kernel: q.last, Detail: err.Error()}
		}
	}
	return err
}

// arguments are pointers to the parameters, or, where they are not known, the block as it is: its beginning has another alignment on
// the card, so that a parameter aligned to 64 bytes (a tensor map) would lie elsewhere in it than in ours.
func (k *kernel) arguments(l *backend.Launch) *dl.Buffer {
	n := len(l.Params)
	if k.decl != nil && len(k.decl.Params) > 0 {
		list := k.decl.Params
		buf := dl.Alloc(8*len(list) + k.decl.ParamBytes + n)
		copy(buf.Bytes()[8*len(list):], l.Params)
		for i := range list {
			put(buf.Bytes(), 8*i, uint64(buf.Addr())+uint64(8*len(list)+list[i].Offset))
		}
		return buf
	}
	// CU_LAUNCH_PARAM_BUFFER_POINTER 1, _SIZE 2, _END 0.
	buf := dl.Alloc(8*6 + n)
	b := buf.Bytes()
	copy(b[48:], l.Params)
	put(b, 0, 1)
	put(b, 8, uint64(buf.Addr()+48))
	put(b, 16, 2)
	put(b, 24, uint64(buf.Addr()+40))
	put(b, 32, 0)
	put(b, 40, uint64(n))
	return buf
}

// Launch passes the parameters.
func (q *queue) Launch(k backend.Kernel, l *backend.Launch) error {
	kn, ok := k.(*kernel)
	if !ok {
		return fmt.Errorf("kernel %s: not of the cuda backend", k.Name())
	}
	q.last = kn.name
	if l.DynamicShared > 48<<10 {
		const maxDynamicShared = 8
		if err := q.call("cuFuncSetAttribute", kn.fn, maxDynamicShared, uintptr(l.DynamicShared)); err != nil {
			return err
		}
	}
	args := kn.arguments(l)
	defer args.Free()
	var params, extra uintptr
	if kn.decl != nil && len(kn.decl.Params) > 0 {
		params = args.Addr()
	} else if len(l.Params) > 0 {
		extra = args.Addr()
	}
	return q.around(func() error {
		if l.Cooperative || l.Cluster != [3]uint32{} {
			return q.launchEx(kn.fn, l, params, extra)
		}
		return q.launchPlain(kn.fn, l, params, extra)
	})
}

func (q *queue) launchPlain(fn uintptr, l *backend.Launch, params, extra uintptr) error {
	return q.call("cuLaunchKernel", fn, uintptr(l.Grid[0]), uintptr(l.Grid[1]), uintptr(l.Grid[2]),
		uintptr(l.Block[0]), uintptr(l.Block[1]), uintptr(l.Block[2]), uintptr(l.DynamicShared), q.stream, params, extra)
}

// Copy relies on unified addressing: the driver knows host from device.
func (q *queue) Copy(dst, src backend.Addr, n uint64) error {
	return q.call("cuMemcpyAsync", uintptr(dst), uintptr(src), uintptr(n), q.stream)
}

// Copy2D is row by row: this backend is a reference, not a product.
func (q *queue) Copy2D(dst backend.Addr, dstPitch uint64, src backend.Addr, srcPitch, width, height uint64) error {
	for y := range height {
		if err := q.Copy(dst+backend.Addr(y*dstPitch), src+backend.Addr(y*srcPitch), width); err != nil {
			return err
		}
	}
	return nil
}

var fillNames = map[int]string{1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}

// Fill is one memset a row.
func (q *queue) Fill(dst backend.Addr, value uint32, size int, count, pitch, rows uint64) error {
	for y := range rows {
		if err := q.call(fillNames[size], uintptr(dst)+uintptr(y*pitch), uintptr(value), uintptr(count), q.stream); err != nil {
			return err
		}
	}
	return nil
}

// Host has the stream meet a goroutine of ours, which calls fn while the stream waits.
func (q *queue) Host(fn func()) error {
	m := dl.NewMeeting()
	if err := q.call("cuLaunchHostFunc", q.stream, m.Func(), m.Data()); err != nil {
		m.Abandon()
		return err
	}
	go func() {
		m.Wait()
		defer m.Release()
		fn()
	}()
	return nil
}

// Mark records an event.
func (q *queue) Mark() (backend.Fence, error) {
	if q.closed.Load() {
		return nil, backend.ErrClosed
	}
	var event uintptr
	err := q.dev.do(func() (err error) {
		if event, err = q.dev.api.getPtr("cuEventCreate", 0); err != nil {
			return err
		}
		return q.dev.api.call("cuEventRecord", event, q.stream)
	})
	if event == 0 {
		return nil, q.fault(err)
	}
	f := &fence{q: q}
	f.event.Store(event)
	f.drop = runtime.AddCleanup(f, q.dev.destroy, event)
	if err != nil {
		return nil, q.fault(err)
	}
	return f, nil
}

// Wait makes the stream wait for the event.
func (q *queue) Wait(f backend.Fence) error {
	ff, ok := f.(*fence)
	if !ok {
		return fmt.Errorf("fence %T: not of this backend", f)
	}
	defer runtime.KeepAlive(ff)
	e := ff.event.Load()
	if e == 0 {
		return backend.ErrClosed
	}
	return q.call("cuStreamWaitEvent", q.stream, e, 0)
}

// Sync waits for the stream.
func (q *queue) Sync() error { return q.call("cuStreamSynchronize", q.stream) }

// Done asks the stream.
func (q *queue) Done() (bool, error) { return ready(q.call("cuStreamQuery", q.stream)) }

func ready(err error) (bool, error) { return backend.Polled(err, resultNotReady) }

// Close waits and destroys the stream.
func (q *queue) Close() error {
	err := q.Sync()
	if q.closed.Swap(true) {
		return backend.ErrClosed
	}
	if e := q.dev.do(func() error { return q.dev.api.call("cuStreamDestroy_v2", q.stream) }); err == nil {
		err = q.fault(e)
	}
	return err
}

// fence is a CUevent. Who does not release it leaves that to the garbage collector.
type fence struct {
	q     *queue
	event atomic.Uintptr
	drop  runtime.Cleanup
	seen  atomic.Int64
}

var _ backend.Releaser = (*fence)(nil)

// call asks about the event, which outlives its stream.
func (f *fence) call(name string) error {
	defer runtime.KeepAlive(f)
	e := f.event.Load()
	if e == 0 {
		return backend.ErrClosed
	}
	return f.q.fault(f.q.dev.do(func() error { return f.q.dev.api.call(name, e) }))
}

// Done asks the event.
func (f *fence) Done() (bool, error) {
	ok, err := ready(f.call("cuEventQuery"))
	if ok {
		f.stamp()
	}
	return ok, err
}

// Sync waits for the event.
func (f *fence) Sync() error {
	err := f.call("cuEventSynchronize")
	if err == nil {
		f.stamp()
	}
	return err
}

// Release destroys the event. See backend.Releaser.
func (f *fence) Release() {
	if e := f.event.Swap(0); e != 0 {
		f.drop.Stop()
		f.q.dev.destroy(e)
	}
}

// destroy ends an event, whose work may still be under way.
func (d *device) destroy(event uintptr) {
	_ = d.do(func() error { return d.api.call("cuEventDestroy_v2", event) }) // nobody is left to hear
}

// stamp notes when the event was first seen done.
func (f *fence) stamp() { f.seen.CompareAndSwap(0, time.Now().UnixNano()) }

// Nanos is when the host saw the event done; the driver tells differences only.
func (f *fence) Nanos() int64 { return f.seen.Load() }
