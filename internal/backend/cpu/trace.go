package cpu

import (
	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/trace/emit"
)

// What `kudzu trace` hears of kernels beyond what the engine tells: their names, how they were compiled, and launches that C knows
// nothing of.

// codeOf is a tier in the recorder's words.
func codeOf(t compile.Tier) int {
	if t == compile.Baseline {
		return emit.Baseline
	}
	return emit.Optimised
}

// traceName gives the engine the kernel's name, where somebody records.
func (v *variant) traceName() error {
	if emit.On() == nil {
		return nil
	}
	return v.code.Name(v.kernel.decl.Name, codeOf(v.tier))
}

func untold(*compile.Result) {}

// traceCompile begins a compilation; what it returns is called with the result.
func (k *Kernel) traceCompile(req *compile.Request) func(*compile.Result) {
	r := emit.On()
	if r == nil {
		return untold
	}
	t0, call := r.Now(), uint64(0)
	if !req.Background { // only then is a call under way that waits for it
		call = r.Current()
	}
	return func(res *compile.Result) {
		cached := uint64(0)
		if res.FromCache {
			cached = 1
		}
		r.Write(&emit.Event{
			Type: emit.Compile, Call: call, T0: t0, T1: r.Now(), Device: uint32(k.p.dev.index), Text: k.decl.Name,
			Values: [4]uint64{uint64(codeOf(req.Options.Tier)), cached, uint64(len(req.PTX)), uint64(len(res.Image))},
		})
	}
}

// traceLater tells of a launch whose kernel is being compiled. The engine tells when compiled code ran; what it gives back runs the
// other kind.
func (q *Queue) traceLater(k *Kernel, l *backend.Launch) func(func() error) error {
	r := emit.On()
	if r == nil {
		return func(run func() error) error { return run() }
	}
	values, call, now := emit.Shape(l.Grid, l.Block, l.DynamicShared, emit.Interpreted), r.Current(), r.Now()
	e := emit.Event{Type: emit.Enqueue, Call: call, T0: now, T1: now, Device: q.at.Device, Stream: q.at.Stream, Values: values, Text: k.decl.Name}
	r.Write(&e)
	return func(run func() error) error {
		ran := e
		ran.Type, ran.T0 = emit.Kernel, r.Now()
		err := run()
		ran.T1 = r.Now()
		r.Write(&ran)
		return err
	}
}
