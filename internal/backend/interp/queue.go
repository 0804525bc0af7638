package interp

import (
	"errors"
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/trace/emit"
)

// queue is a queue of the engine; kernels are tasks of it. It has a domain of its own, so that a fault ends this queue, and
// the driver decides what else it ends.
type queue struct {
	q  *engine.Queue
	d  *engine.Domain
	at emit.Place // for the recorder
}

var _ backend.Traced = (*queue)(nil)

func (q *queue) Tag(device uint32, stream uint64) {
	q.at = emit.Place{Device: device, Stream: stream}
	q.q.Tag(device, stream)
}

func (q *queue) Place() (device uint32, stream uint64) { return q.at.Device, q.at.Stream }

func (d *device) NewQueue(priority int) (backend.Queue, error) {
	if d.engine == nil {
		return nil, errors.New("this device has no queues of its own")
	}
	m, _ := d.mem.(*memory)
	dom, err := d.engine.NewDomain(m.Memory)
	if err != nil {
		return nil, err
	}
	q, err := dom.NewQueue(priority)
	if err != nil {
		dom.Close()
		return nil, err
	}
	return &queue{q: q, d: dom}, nil
}

// Launch decodes the kernel if this is its first launch, so that what cannot run fails here and not the context.
func (q *queue) Launch(k backend.Kernel, l *backend.Launch) error {
	own, ok := k.(*kernel)
	if !ok {
		return fmt.Errorf("kernel %s is not the interpreter's", k.Name())
	}
	g, err := own.prepare(l)
	if err != nil {
		return err
	}
	run := func() error {
		if own.prog.gone.Load() { // unloaded on another thread before this was its queue's turn; from here on it is waited for
			return nil
		}
		return g.run()
	}
	if r := emit.On(); r != nil {
		run = r.Wrap(emit.Kernel, q.at, emit.Shape(l.Grid, l.Block, l.DynamicShared, emit.Interpreted), k.Name(), run)
	}
	return fault(q.q.Task(run, 0))
}

func (q *queue) Copy(dst, src backend.Addr, n uint64) error {
	return fault(q.q.Copy(uint64(dst), uint64(src), n))
}

func (q *queue) Copy2D(dst backend.Addr, dstPitch uint64, src backend.Addr, srcPitch, width, height uint64) error {
	return fault(q.q.Copy2D(uint64(dst), dstPitch, uint64(src), srcPitch, width, height))
}

func (q *queue) Fill(dst backend.Addr, value uint32, size int, count, pitch, rows uint64) error {
	return fault(q.q.Fill(uint64(dst), value, size, count, pitch, rows))
}

func (q *queue) Host(fn func()) error {
	return fault(q.q.Task(func() error { fn(); return nil }, engine.TaskAlways))
}

func (q *queue) Mark() (backend.Fence, error) {
	f, err := q.q.Mark()
	if err != nil {
		return nil, fault(err)
	}
	return fence{f}, nil
}

func (q *queue) Wait(f backend.Fence) error {
	own, ok := f.(fence)
	if !ok {
		return errors.New("a fence of another backend")
	}
	return fault(q.q.Wait(own.f))
}

func (q *queue) Sync() error { return fault(q.q.Sync()) }

func (q *queue) Done() (bool, error) {
	done, err := q.q.Done()
	return done, fault(err)
}

func (q *queue) Close() error {
	err := fault(q.q.Close())
	if !errors.Is(err, backend.ErrClosed) { // closed before: the domain is gone with it
		q.d.Close()
	}
	return err
}

type fence struct{ f *engine.Fence }

func (f fence) Done() (bool, error) {
	done, err := f.f.Done()
	return done, fault(err)
}

func (f fence) Sync() error  { return fault(f.f.Sync()) }
func (f fence) Nanos() int64 { return f.f.Nanos() }

// fault turns the engine's faults of copies and fills, and what it says of a closed queue, into the backend's; a kernel's is
// one already.
func fault(err error) error {
	if errors.Is(err, engine.ErrClosed) {
		return backend.ErrClosed
	}
	var f *engine.Fault
	if !errors.As(err, &f) {
		return err
	}
	kind := backend.FaultAddress
	switch f.Kind {
	case engine.FaultMisaligned:
		kind = backend.FaultMisaligned
	case engine.FaultInstruction:
		kind = backend.FaultInstruction
	}
	return &backend.Fault{Kind: kind, Addr: backend.Addr(f.Addr), Detail: f.Text}
}
