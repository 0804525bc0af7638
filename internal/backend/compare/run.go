package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/backend/tap"
	"kudzu/internal/config"
	"kudzu/internal/lazyre"
	"kudzu/internal/logx"
)

// compare runs a launch on the reference and on the device.
func (c *comparer) compare(q *tap.Queue, k *kernel, l *backend.Launch) error {
	line := k.line(l)
	launch := func() error { return q.Direct(k.Kernel, l) }
	busy := func() error {
		c.skip(line, "other work does not end")
		return launch()
	}
	if c.cfg.Other != nil {
		return q.Quiet(func() error { return c.elsewhere(q, k, l, line) }, busy)
	}
	run, space, why := c.ready(q, k, l)
	if run == nil {
		c.skip(line, why)
		return q.Put(launch)
	}
	return q.Quiet(func() error { return c.here(q, k, l, line, run, space) }, busy)
}

// here compares with a reference in this process. Preconditions: the device is quiet.
func (c *comparer) here(q *tap.Queue, k *kernel, l *backend.Launch, line *Line, run Runner, space *tap.Space) error {
	launch := func() error { return q.Direct(k.Kernel, l) }
	im, ok := q.Device().Take(c.cfg.Limits.Memory, &c.before)
	if !ok {
		c.skip(line, "memory")
		return launch()
	}
	space.Begin()
	begin := time.Now()
	var sums *addends
	text, _ := k.Text()
	if traitsOf(text).sums {
		sums = newAddends()
	}
	refErr := run.RunFor(l, c.cfg.Limits.Time, sums.counter())
	took := time.Since(begin)
	k.took(l, took)
	line.Seconds = took.Seconds()
	ref := im.Undo(space)
	outside := space.Outside()
	why := ""
	var fault *backend.Fault
	switch {
	case errors.Is(refErr, backend.ErrTime):
		why = "time"
	case outside:
		why = "memory of the program"
	case refErr != nil && !errors.As(refErr, &fault):
		why = "reference: " + refErr.Error()
	}
	if why != "" {
		c.skip(line, why)
		return launch()
	}
	if err := launch(); err != nil {
		return err
	}
	c.finish(q, k, l, line, outcome{im, ref, fault, sums}, q.Sync())
	return nil
}

// outcome is what a reference in this process left.
type outcome struct {
	im    tap.Image
	ref   tap.Changes
	fault *backend.Fault
	sums  *addends // nil: the kernel has no sums
}

// finish judges what the two left. A fault is the program's to hear of when it synchronizes.
func (c *comparer) finish(q *tap.Queue, k *kernel, l *backend.Launch, line *Line, o outcome, err error) {
	im, fault := o.im, o.fault
	var own *backend.Fault
	if err != nil && !errors.As(err, &own) {
		c.skip(line, "device: "+err.Error())
		return
	}
	save := func() {
		if line.Outcome != Different || c.cfg.Dump == "" {
			return
		}
		cap, failed := q.CaptureFrom(im, k.Kernel, l, false, c.cfg.Limits.Memory)
		if failed == nil {
			failed = cap.Finish(err)
		}
		c.save(k, l, line, cap, failed)
	}
	if own != nil || fault != nil {
		c.faults(line, own, fault)
		line.Params = params(im, k.Decl, l)
		save()
		c.report.add(line)
		return
	}
	all, touched := im.Deltas(o.ref)
	line.Touched = touched * tap.Chunk
	if len(all) > 0 {
		line.Params, line.Where = params(im, k.Decl, l), where(im, all)
	}
	c.judge(k, line, all, o.sums.in(im))
	save()
	c.report.add(line)
}

// judge sets the outcome; count is of atomics, nil where nobody counted.
func (c *comparer) judge(k *kernel, line *Line, all []tap.Delta, count counts) {
	text, _ := k.Text()
	line.Outcome, line.Why = judge(all, traitsOf(text), count)
	if t := c.cfg.Tolerances.Of(k.Name()); line.Outcome == Different && len(t) > 0 {
		for i := range all {
			if !t.Within(all[i].Device, all[i].Reference) {
				return
			}
		}
		line.Outcome, line.Why = Explained, "within the tolerance "+t.String()
	}
}

// faults compares how the two ended.
func (c *comparer) faults(line *Line, own, fault *backend.Fault) {
	line.Outcome = Same
	if own == nil || fault == nil || own.Kind != fault.Kind {
		line.Outcome, line.Why = Different, fmt.Sprintf("fault: %v, reference %v", faultText(own), faultText(fault))
	}
}

// elsewhere compares with a reference in another process. Preconditions: the device is quiet.
func (c *comparer) elsewhere(q *tap.Queue, k *kernel, l *backend.Launch, line *Line) error {
	launch := func() error { return q.Direct(k.Kernel, l) }
	text, _ := k.Text()
	if traitsOf(text).heap {
		c.skip(line, "device heap")
		return launch()
	}
	cap, err := q.Capture(k.Kernel, l, false, c.cfg.Limits.Memory)
	if err != nil {
		c.skip(line, "memory: "+err.Error())
		return launch()
	}
	if err := launch(); err != nil {
		return err
	}
	if err := cap.Finish(q.Sync()); err != nil {
		c.skip(line, "device: "+err.Error())
		return nil
	}
	begin := time.Now()
	after, fault, err := c.cfg.Other.Replay(cap.File, c.cfg.Limits.Time)
	took := time.Since(begin)
	k.took(l, took)
	line.Seconds = took.Seconds()
	if err != nil {
		why := "reference: " + err.Error()
		if errors.Is(err, backend.ErrTime) {
			why = "time"
		}
		c.skip(line, why)
		return nil
	}
	im, ref := make(tap.Image, len(cap.Regions)), tap.Changes{}
	for i := range im {
		im[i] = tap.Region{Base: cap.Regions[i].Base, Live: cap.After[i], Before: cap.Before[i]}
	}
	if cap.Fault != "" || fault != nil {
		var own *backend.Fault
		if cap.Fault != "" {
			own = &backend.Fault{Kind: backend.FaultKind(cap.Kind), Kernel: cap.Kernel, Detail: cap.Fault}
		}
		c.faults(line, own, fault)
		line.Params = params(im, k.Decl, l)
	} else {
		ref = im.Against(after)
		all, touched := im.Deltas(ref)
		line.Touched = touched * tap.Chunk
		if len(all) > 0 {
			line.Params, line.Where = params(im, k.Decl, l), where(im, all)
		}
		c.judge(k, line, all, nil)
	}
	if line.Outcome == Different && c.cfg.Dump != "" {
		c.save(k, l, line, cap, nil)
	}
	c.report.add(line)
	return nil
}

var unusual = lazyre.New(`[^\w.-]+`)

// save writes a launch that differs.
func (c *comparer) save(k *kernel, l *backend.Launch, line *Line, cap *tap.Capture, err error) {
	if err == nil {
		err = os.MkdirAll(c.cfg.Dump, 0o755)
	}
	_, hash := k.Text()
	name := fmt.Sprintf("%.60s-%s-%dx%dx%d.kzd", unusual().ReplaceAllString(k.Name(), "_"), hash, l.Block[0], l.Block[1], l.Block[2])
	path := filepath.Join(c.cfg.Dump, name)
	if err == nil {
		err = cap.Write(path, false)
	}
	if err != nil {
		logx.Warnf(config.CompareDump+": %v", err)
		return
	}
	line.Dump = path
}

func faultText(f *backend.Fault) string {
	if f == nil {
		return "none"
	}
	return f.Error()
}

func (c *comparer) skip(line *Line, why string) {
	line.Outcome, line.Why = Skipped, why
	c.report.add(line)
}

// ready has both executors prepared; nil if there is nothing to compare, and why.
func (c *comparer) ready(q *tap.Queue, k *kernel, l *backend.Launch) (Runner, *tap.Space, string) {
	if own, ok := k.Kernel.Kernel.(Compiled); ok {
		compiled, err := own.Compiled(l)
		if err != nil {
			return nil, nil, "device: " + err.Error()
		}
		if !compiled {
			return nil, nil, "not compiled"
		}
	}
	if text, _ := k.Text(); traitsOf(text).heap {
		return nil, nil, "device heap"
	}
	r, err := c.reference(q.Device())
	if err != nil {
		return nil, nil, err.Error()
	}
	p := k.Program()
	prog, err := p.Reference(func() (backend.Program, error) { return r.loader.LoadWith(p.Module(), p.Var) })
	if err != nil {
		return nil, nil, "reference: " + err.Error()
	}
	ref, err := prog.Kernel(k.Name())
	if err == nil {
		err = ref.Prepare(l.Block)
	}
	if err != nil {
		return nil, nil, "reference: " + err.Error()
	}
	run, ok := ref.(Runner)
	if !ok {
		return nil, nil, fmt.Sprintf("BUG: %T cannot run", ref)
	}
	return run, r.space, ""
}

func (k *kernel) line(l *backend.Launch) *Line {
	_, hash := k.Text()
	return &Line{Kernel: k.Name(), Text: hash, Grid: l.Grid, Block: l.Block, Shared: l.DynamicShared}
}
