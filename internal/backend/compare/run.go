package compare

import (
	"errors"
	"fmt"
	"time"

	"lukechampine.com/blake3"

	"kudzu/internal/backend"
	"kudzu/internal/logx"
)

// patience is how long a launch waits for other work before it goes on without being compared: a queue may wait for something
// that the program does only after this launch.
const patience = 30 * time.Second

// compare runs a launch on the reference and on the device.
func (q *queue) compare(k *kernel, l *backend.Launch) error {
	b := q.d.b
	line := k.line(l)
	launch := func() error { return q.callbacks.Launch(k.started, l) }
	run, why := k.ready(l)
	if run == nil {
		b.skip(line, why)
		return q.put(launch)
	}
	b.quiet.Lock()
	defer b.quiet.Unlock()
	if !b.drained() {
		b.skip(line, "other work does not end")
		return launch()
	}
	im, ok := take(q.d.mem.extents(), b.cfg.Limits.Memory, &b.before)
	if !ok {
		b.skip(line, "memory")
		return launch()
	}
	q.d.space.outside.Store(false)
	begin := time.Now()
	refErr := run.RunFor(l, b.cfg.Limits.Time)
	took := time.Since(begin)
	k.took(l, took)
	line.Seconds = took.Seconds()
	ref := im.undo()
	var fault *backend.Fault
	switch {
	case errors.Is(refErr, backend.ErrTime):
		why = "time"
	case q.d.space.outside.Load():
		why = "memory of the program"
	case refErr != nil && !errors.As(refErr, &fault):
		why = "reference: " + refErr.Error()
	}
	if why != "" {
		b.skip(line, why)
		return launch()
	}
	if err := launch(); err != nil {
		return err
	}
	b.finish(k, l, line, im, ref, fault, q.Sync())
	return nil
}

// finish judges what the two left. A fault is the program's to hear of when it synchronizes.
func (b *Backend) finish(k *kernel, l *backend.Launch, line *Line, im image, ref changes, fault *backend.Fault, err error) {
	var own *backend.Fault
	if err != nil && !errors.As(err, &own) {
		b.skip(line, "device: "+err.Error())
		return
	}
	if own != nil || fault != nil {
		line.Outcome = Same
		if own == nil || fault == nil || own.Kind != fault.Kind {
			line.Outcome, line.Why = Different, fmt.Sprintf("fault: %v, reference %v", faultText(own), faultText(fault))
			line.Params = im.params(k.decl, l)
			if b.cfg.Dump != "" {
				b.dump(k, l, line, im)
			}
		}
		b.report.add(line)
		return
	}
	all, touched := im.deltas(ref)
	line.Touched = touched * chunk
	if len(all) > 0 {
		line.Params, line.Where = im.params(k.decl, l), im.where(all)
	}
	line.Outcome, line.Why = judge(all, traitsOf(k.slice()))
	if line.Outcome == Different && b.cfg.Dump != "" {
		b.dump(k, l, line, im)
	}
	b.report.add(line)
}

func faultText(f *backend.Fault) string {
	if f == nil {
		return "none"
	}
	return f.Error()
}

func (b *Backend) skip(line *Line, why string) {
	line.Outcome, line.Why = Skipped, why
	b.report.add(line)
}

// ready has both executors prepared; nil if there is nothing to compare, and why.
func (k *kernel) ready(l *backend.Launch) (Runner, string) {
	compiled, err := k.Compiled(l)
	if err != nil {
		return nil, "device: " + err.Error()
	}
	if !compiled {
		return nil, "not compiled"
	}
	if traitsOf(k.slice()).heap {
		return nil, "device heap"
	}
	ref, err := k.p.runner(k.Name())
	if err == nil {
		err = ref.Prepare(l.Block)
	}
	if err != nil {
		return nil, "reference: " + err.Error()
	}
	r, ok := ref.(Runner)
	if !ok {
		return nil, fmt.Sprintf("BUG: %T cannot run", ref)
	}
	return r, ""
}

// slice is the kernel's text.
func (k *kernel) slice() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.text == "" {
		text, _, err := k.p.m.Slice(k.Name())
		if err != nil {
			logx.Debugf("kernel %s: %v", k.Name(), err)
			text = k.p.m.Text
		}
		sum := blake3.Sum256([]byte(text))
		k.text, k.hash = text, fmt.Sprintf("%x", sum[:8])
	}
	return k.text
}

func (k *kernel) line(l *backend.Launch) *Line {
	k.slice()
	return &Line{Kernel: k.Name(), Text: k.hash, Grid: l.Grid, Block: l.Block, Shared: l.DynamicShared}
}

// drained waits until every queue is empty. Preconditions: b.quiet is held.
func (b *Backend) drained() bool {
	b.mu.Lock()
	var all []*queue
	for q := range b.queues {
		all = append(all, q)
	}
	b.mu.Unlock()
	end := time.Now().Add(patience)
	for _, q := range all {
		for pause := 10 * time.Microsecond; ; pause = min(2*pause, time.Millisecond) {
			if done, err := q.Done(); done || err != nil { // with a fault there is nothing under way either
				break
			}
			if time.Now().After(end) {
				return false
			}
			time.Sleep(pause)
		}
	}
	return true
}
