package cpu

import (
	"errors"
	"slices"

	"kudzu/internal/backend"
	"kudzu/internal/engine"
	"kudzu/internal/image"
)

// Dynamic parallelism. A compiled kernel only writes down what it launches (engine/children.c). Behind each launch of such a kernel stands a
// task: when the blocks have ended it takes the list and launches the children on a queue of their own, each with its own children, and
// the tails behind them. Whatever comes later in the stream waits for it. No worker ever waits for a child: a kernel cannot.

// family is the children of one grid.
type family struct {
	p      *Program
	parent string
	depth  int
	list   *engine.Children
}

// family makes the list for a launch of a kernel that may launch others.
func (k *Kernel) family(depth int) (*family, error) {
	i := &k.p.dev.info
	r := &engine.ChildRules{MaxThreads: uint32(i.MaxThreads), MaxShared: uint32(i.SharedOptin), Depth: depth, Kernels: k.p.pointers()}
	for d := range 3 {
		r.MaxGrid[d], r.MaxBlock[d] = uint32(i.MaxGrid[d]), uint32(i.MaxBlock[d])
	}
	list, err := engine.NewChildren(r)
	if err != nil {
		return nil, plain(err)
	}
	return &family{p: k.p, parent: k.decl.Name, depth: depth, list: list}, nil
}

// pointers are what device pointers to the program's kernels are, with the bytes of their parameters, for the engine.
func (p *Program) pointers() *engine.Words {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byPointer != nil {
		return p.words
	}
	p.byPointer = map[uint64]*Kernel{}
	var ids []uint64
	for name, k := range p.kernels {
		id := image.FuncID(name)
		p.byPointer[id] = k
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var words []uint64
	for _, id := range ids {
		words = append(words, id, uint64(p.byPointer[id].decl.ParamBytes))
	}
	p.words = engine.NewWords(words)
	return p.words
}

// launching puts in a launch of a kernel that may launch others, and the task behind it.
func (q *Queue) launching(v *variant, el *engine.Launch) error {
	f, err := v.kernel.family(0)
	if err != nil {
		return err
	}
	el.Children = f.list
	if err := q.q.LaunchThen(v.code, el, func() error { return f.over(q.d) }); err != nil {
		f.list.Free()
		return q.d.fail(err)
	}
	return nil
}

// over is called when the grid's blocks have ended, or a fault has ended the domain.
func (f *family) over(d *domain) error {
	defer f.list.Free()
	if d.Err() != nil {
		return nil
	}
	list := f.list.Take()
	if len(list) == 0 {
		return nil
	}
	q, err := d.NewQueue(0)
	if err != nil {
		return plain(err)
	}
	err = f.run(q, list)
	if e := q.Close(); err == nil {
		err = e
	}
	return err
}

// run launches children one after the other. Those that launch nothing themselves are not waited for: the queue keeps their order.
func (f *family) run(q *engine.Queue, list []engine.Child) error {
	for i := range list {
		c := &list[i]
		k := f.p.byPointer[c.Function]
		if err := f.child(q, k, &backend.Launch{Grid: c.Grid, Block: c.Block, DynamicShared: c.DynamicShared, Params: c.Params}); err != nil {
			var fault *backend.Fault
			switch {
			case errors.Is(err, backend.ErrClosed): // the program was unloaded: nothing is left to run, and nobody to tell
				return nil
			case errors.As(err, &fault), q.Domain().Err() != nil:
				return err
			}
			return &backend.Fault{Kind: backend.FaultInstruction, Kernel: k.decl.Name, Detail: "launched by " + f.parent + ": " + err.Error()}
		}
	}
	return q.Sync()
}

// child runs one launch with all that it launches.
func (f *family) child(q *engine.Queue, k *Kernel, l *backend.Launch) error {
	l = k.inClusterOf(l)
	v, err := k.chosen(l)
	if v == nil && err == nil {
		v, err = k.variant(l.Block)
	}
	if err != nil {
		return err
	}
	b := f.p.dev.b
	if v.run != nil {
		if err := q.Sync(); err != nil { // it runs here, behind what came before it
			return err
		}
		b.stats.runs.Add(1)
		b.report.add(ReportInterpreted, 1)
		return v.run.Run(l)
	}
	var el engine.Launch
	if err := v.launch(l, &el); err != nil {
		return err
	}
	b.report.add(ReportLaunches, 1)
	if !v.launches {
		return plain(q.Launch(v.code, &el))
	}
	next, err := k.family(f.depth + 1)
	if err != nil {
		return err
	}
	defer next.list.Free()
	el.Children = next.list
	if err := q.Launch(v.code, &el); err != nil {
		return plain(err)
	}
	if err := q.Sync(); err != nil {
		return err
	}
	return next.run(q, next.list.Take())
}
