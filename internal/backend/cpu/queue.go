package cpu

import (
	"fmt"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/trace/emit"
)

// The abilities beyond backend's plain interfaces.
var (
	_ backend.Domains      = (*Device)(nil)
	_ backend.DomainLimits = (*Device)(nil)
	_ backend.StackLimit   = (*Device)(nil)
	_ backend.Callbacks    = (*Queue)(nil)
	_ backend.InlineHost   = (*Queue)(nil)
	_ backend.Traced       = (*Queue)(nil)
	_ backend.Releaser     = (*Fence)(nil)
	_ backend.Finder       = memory{}
	_ backend.Lister       = memory{}
	_ backend.Starter      = (*Kernel)(nil)
)

// Queue is a queue of the engine.
type Queue struct {
	q  *engine.Queue
	d  *domain
	at emit.Place // for the recorder
}

// Tag says whose queue it is. See backend.Traced.
func (q *Queue) Tag(device uint32, stream uint64) {
	q.at = emit.Place{Device: device, Stream: stream}
	q.q.Tag(device, stream)
}

// Place is what Tag was told.
func (q *Queue) Place() (device uint32, stream uint64) { return q.at.Device, q.at.Stream }

// Launch runs k over the grid. If this block shape is new it compiles first, or waits in the queue where Start has begun that.
func (q *Queue) Launch(k backend.Kernel, l *backend.Launch) error {
	kk, ok := k.(*Kernel)
	if !ok {
		return fmt.Errorf("kernel %s: not of this backend", k.Name())
	}
	l = kk.inClusterOf(l)
	v, err := kk.chosen(l)
	if err != nil {
		return err
	}
	if v == nil {
		if a := kk.underway(l.Block); a != nil {
			return q.later(kk, a, l)
		}
		if v, err = kk.variant(l.Block); err != nil {
			return err
		}
	}
	if v.run != nil {
		return q.interpret(v, l)
	}
	var el engine.Launch
	if err := v.launch(l, &el); err != nil {
		return err
	}
	if v.launches {
		err = q.launching(v, &el)
	} else {
		err = q.d.fail(q.q.Launch(v.code, &el))
	}
	if err == nil {
		kk.p.dev.b.report.add(ReportLaunches, 1)
	}
	return err
}

// inClusterOf is l with the clusters that the kernel asks for, where the launch does not say.
func (k *Kernel) inClusterOf(l *backend.Launch) *backend.Launch {
	r := k.decl.ReqCluster
	if r[0] == 0 || l.Cluster != [3]uint32{} {
		return l
	}
	own := *l
	own.Cluster = [3]uint32{uint32(r[0]), uint32(r[1]), uint32(r[2])}
	return &own
}

// chosen is the variant that a launch takes, if there is one yet; those for clusters are made here.
func (k *Kernel) chosen(l *backend.Launch) (*variant, error) {
	if c := l.Cluster; c[0]|c[1]|c[2] > 1 || k.decl.ReqCluster[0] > 0 {
		if err := clusters(k, l); err != nil {
			return nil, err
		}
		if v, err := k.clustered(l); v != nil || err != nil {
			return v, err
		}
	}
	return k.find(l.Block), nil
}

// Compiled makes what a launch needs and says whether it will run compiled code; if not, it goes to the fallback.
func (k *Kernel) Compiled(l *backend.Launch) (bool, error) {
	v, err := k.chosen(k.inClusterOf(l))
	if v == nil && err == nil {
		v, err = k.variant(l.Block)
	}
	return err == nil && v.run == nil, err
}

// launch writes l for the engine.
func (v *variant) launch(l *backend.Launch, el *engine.Launch) error {
	if len(l.Params) < int(v.params) {
		return fmt.Errorf("kernel %s: %d bytes of parameters, it has %d", v.kernel.decl.Name, len(l.Params), v.params)
	}
	el.Grid, el.Block, el.Cluster, el.DynamicShared = l.Grid, l.Block, l.Cluster, l.DynamicShared
	el.Cooperative, el.Clustered, el.Vars, el.Params = l.Cooperative || v.cooperative, v.clusters, v.vars, l.Params
	return nil
}

// maxCluster is the most blocks of a cluster; the driver allows fewer.
const maxCluster = 64

// clusters refuses a grid that is not made of clusters.
func clusters(k *Kernel, l *backend.Launch) error {
	n := uint64(1)
	for i, c := range l.Cluster {
		if n *= uint64(c); c == 0 || l.Grid[i]%c != 0 || n > maxCluster {
			return fmt.Errorf("kernel %s: a grid of %v blocks has no clusters of %v", k.decl.Name, l.Grid, l.Cluster)
		}
	}
	return nil
}

// interpret runs the launch on the fallback, as a task of the queue.
func (q *Queue) interpret(v *variant, l *backend.Launch) error {
	own := *l
	own.Params = append([]byte(nil), l.Params...)
	v.kernel.p.dev.b.stats.runs.Add(1)
	v.kernel.p.dev.b.report.add(ReportInterpreted, 1)
	run := func() error {
		if v.kernel.gone.Load() { // unloaded on another thread; what is not yet is kept until this is done
			return nil
		}
		return v.run.Run(&own)
	}
	if r := emit.On(); r != nil {
		run = r.Wrap(emit.Kernel, q.at, emit.Shape(l.Grid, l.Block, l.DynamicShared, emit.Interpreted), v.kernel.decl.Name, run)
	}
	return q.d.fail(q.q.Task(run, engine.TaskInline))
}

// Copy moves n bytes.
func (q *Queue) Copy(dst, src backend.Addr, n uint64) error {
	q.d.dev.b.report.copied(n)
	return q.d.fail(q.q.Copy(uint64(dst), uint64(src), n))
}

// Copy2D moves rows.
func (q *Queue) Copy2D(dst backend.Addr, dstPitch uint64, src backend.Addr, srcPitch, width, height uint64) error {
	q.d.dev.b.report.copied(width * height)
	return q.d.fail(q.q.Copy2D(uint64(dst), dstPitch, uint64(src), srcPitch, width, height))
}

// Fill writes elements.
func (q *Queue) Fill(dst backend.Addr, value uint32, size int, count, pitch, rows uint64) error {
	q.d.dev.b.report.add(ReportFills, 1)
	q.d.dev.b.report.add(ReportFillBytes, uint64(size)*count*rows)
	return q.d.fail(q.q.Fill(uint64(dst), value, size, count, pitch, rows))
}

// Host calls fn between earlier and later work; not if the domain has a fault by then.
func (q *Queue) Host(fn func()) error {
	return q.d.fail(q.q.Task(func() error { fn(); return nil }, 0))
}

// HostInline is Host that a synchronizing thread may call. See backend.InlineHost.
func (q *Queue) HostInline(fn func()) error {
	return q.d.fail(q.q.Task(func() error { fn(); return nil }, engine.TaskInline))
}

// Callback is Host that is called in any case, with the fault if there is one. See backend.Callbacks.
func (q *Queue) Callback(fn func(error)) error {
	return q.d.fail(q.q.Task(func() error { fn(q.d.fail(q.d.Err())); return nil }, engine.TaskAlways))
}

// Mark is a fence behind all work so far.
func (q *Queue) Mark() (backend.Fence, error) {
	f, err := q.q.Mark()
	if err != nil {
		return nil, q.d.fail(err)
	}
	return &Fence{f, q.d}, nil
}

// Wait delays later work until f is reached.
func (q *Queue) Wait(f backend.Fence) error {
	ff, ok := f.(*Fence)
	if !ok {
		return fmt.Errorf("fence %T: not of this backend", f)
	}
	return q.d.fail(q.q.Wait(ff.f))
}

// Sync blocks until the queue is empty.
func (q *Queue) Sync() error { return q.d.fail(q.q.Sync()) }

// Done says whether it is.
func (q *Queue) Done() (bool, error) {
	done, err := q.q.Done()
	return done, q.d.fail(err)
}

// Close waits for the queue's work and frees it.
func (q *Queue) Close() error {
	err := q.q.Close()
	if err == engine.ErrClosed {
		return backend.ErrClosed
	}
	err = q.d.fail(err)
	q.d.release()
	return err
}

// Fence is a point in a queue.
type Fence struct {
	f *engine.Fence
	d *domain
}

// Done says whether the fence is reached.
func (f *Fence) Done() (bool, error) {
	done, err := f.f.Done()
	return done, f.d.fail(err)
}

// Sync blocks until it is.
func (f *Fence) Sync() error { return f.d.fail(f.f.Sync()) }

// Nanos is when it was.
func (f *Fence) Nanos() int64 { return f.f.Nanos() }

// Release gives the fence back early. See backend.Releaser.
func (f *Fence) Release() { f.f.Release() }
