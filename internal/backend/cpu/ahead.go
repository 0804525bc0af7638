package cpu

import (
	"errors"
	"fmt"
	"runtime"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/engine"
	"kudzu/internal/logx"
)

// Kernels are compiled while the program goes on: a launch whose kernel is not there yet goes into its queue, waits there, and the
// program launches the next one, whose compilation begins beside the first. So as many are compiled at a time as there are
// processors, and errors still come where the program expects them: what a kernel's text tells is asked first, and only a
// kernel that passes is compiled in the background.

// ahead is a compilation in the background.
type ahead struct {
	done chan struct{}
	v    *variant // or
	err  error    // why there is none
}

// aheadMax bounds the compilations that wait for their turn: each holds its kernel's text.
const aheadMax = 64

// turns is how many of them the compiler gets at a time: as many as it works on, so that the others can still be called off.
func turns() int { return min(max(runtime.NumCPU(), 1), 8) }

// Cacher is a Compiler that tells whether an image is at hand; compile.Client is one.
type Cacher interface {
	Cached(*compile.Request) (*compile.Result, bool)
}

// Start begins to compile for a block shape. See backend.Starter.
func (k *Kernel) Start(block [3]uint32) error {
	if k.find(block) != nil {
		return nil
	}
	if k.decl.ReqCluster[0] > 0 { // compiled in another way, which clusters ask for when they are launched
		return k.Prepare(block)
	}
	k.aheadMu.Lock()
	_, under := k.ahead[block]
	k.aheadMu.Unlock()
	if under {
		return nil
	}
	at, missing := k.missing(block)
	if !missing {
		_, err := k.variantFrom(block, at) // at hand, or without a compiler, or refused: there and then
		return err
	}
	k.begin(block, at)
	return nil
}

// missing says that the kernel is not in the cache, and that nothing in its text speaks against compiling it.
func (k *Kernel) missing(block [3]uint32) (*found, bool) {
	c, ok := k.p.dev.b.cfg.Compiler.(Cacher)
	if !ok {
		return nil, false
	}
	at, err := k.slice()
	if err != nil {
		return nil, false
	}
	for _, tier := range k.p.dev.b.policy.Tiers() {
		if r, ok := c.Cached(k.request(at.text, shape{block: block}, tier)); ok {
			at.shape, at.tier, at.image = shape{block: block}, tier, r
			return at, false
		}
	}
	_, err = k.facts()
	return at, err == nil
}

// begin compiles in the background. It waits while too many others do.
func (k *Kernel) begin(block [3]uint32, at *found) {
	b := k.p.dev.b
	b.aheads <- struct{}{}
	k.aheadMu.Lock()
	defer k.aheadMu.Unlock()
	if _, under := k.ahead[block]; under || k.gone.Load() {
		<-b.aheads
		return
	}
	a := &ahead{done: make(chan struct{})}
	if k.ahead == nil {
		k.ahead = map[[3]uint32]*ahead{}
	}
	k.ahead[block] = a
	k.aheads.Go(func() {
		defer func() {
			k.aheadMu.Lock()
			delete(k.ahead, block)
			k.aheadMu.Unlock()
			close(a.done)
			<-b.aheads
		}()
		select {
		case b.turns <- struct{}{}:
			select {
			case <-k.p.gone: // both were ready
				a.err = backend.ErrClosed
			default:
				a.v, a.err = k.variantFrom(block, at)
			}
			<-b.turns
		case <-k.p.gone:
			a.err = backend.ErrClosed
		}
	})
}

// underway is the compilation that a launch has to wait for, if there is one.
func (k *Kernel) underway(block [3]uint32) *ahead {
	k.aheadMu.Lock()
	defer k.aheadMu.Unlock()
	return k.ahead[block]
}

// rescue is for a launch that is in its queue already, whose kernel passed but did not compile. The program can no longer be told at
// the launch, and the alternative is to end its context: what the compiler died of is interpreted, too.
func (k *Kernel) rescue(v *variant, err error) (*variant, error) {
	var crash *compile.Crash
	if !errors.As(err, &crash) {
		return v, err
	}
	return k.fallBack(err, func() { logx.Once("fallback "+k.decl.Name, "%s; it is interpreted", crash) })
}

// later puts in a launch whose kernel is being compiled.
func (q *Queue) later(k *Kernel, a *ahead, l *backend.Launch) error {
	own := *l
	own.Params = append([]byte(nil), l.Params...)
	var f *family
	if k.told != nil && k.told.Launches { // facts was asked before the compiler was
		var err error
		if f, err = k.family(0); err != nil {
			return err
		}
	}
	interpret := q.traceLater(k, &own)
	err := q.q.Later(own.Params, func() (*engine.Kernel, *engine.Launch, error) {
		<-a.done
		v, err := k.rescue(a.v, a.err)
		if errors.Is(err, backend.ErrClosed) { // the program was unloaded: nothing is left to run, and nobody to tell
			return nil, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		if v.run != nil {
			k.p.dev.b.stats.runs.Add(1)
			k.p.dev.b.report.add(ReportInterpreted, 1)
			return nil, nil, interpret(func() error { return v.run.Run(&own) })
		}
		var el engine.Launch
		if err := v.launch(&own, &el); err != nil {
			return nil, nil, err
		}
		if f != nil {
			el.Children = f.list
		} else if v.launches {
			return nil, nil, fmt.Errorf("BUG: kernel %s: launches kernels, of which its text told nothing", k.decl.Name)
		}
		k.p.dev.b.report.add(ReportLaunches, 1)
		return v.code, &el, nil
	})
	switch {
	case f == nil:
	case err != nil:
		f.list.Free()
	default:
		err = q.q.Task(func() error { return f.over(q.d) }, engine.TaskInline|engine.TaskAlways)
	}
	return q.d.fail(err)
}
