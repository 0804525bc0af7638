package cpu

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kudzu/internal/backend"
	"kudzu/internal/compile"
	"kudzu/internal/image"
	"kudzu/internal/logx"
)

var errNoCompiler = &compile.NoCompiler{Why: "none is configured"}

// compile makes the code that a launch waits for.
func (k *Kernel) compile(s shape, at *found) (*variant, error) {
	b := k.p.dev.b
	if b.cfg.Compiler == nil {
		return nil, errNoCompiler
	}
	if at == nil {
		var err error
		if at, err = k.slice(); err != nil {
			return nil, err
		}
	}
	if b.policy == compile.OptimisedOnly || b.policy == compile.BothTiers && k.optimised(s, at) {
		return k.code(s, at, compile.Optimised)
	}
	v, err := k.code(s, at, compile.Baseline)
	var invalid *compile.PTXError
	switch {
	case err == nil:
		if b.policy == compile.BothTiers {
			v.promotion = &promotion{k, v, &found{text: at.text, line: at.line, background: true}, time.Now()}
		}
		return v, nil
	case errors.As(err, &invalid):
		return nil, err
	}
	b.report.line("no baseline\t%s\t%s", k.decl.Name, err)
	logx.Debugf("no baseline code: %v", err)
	return k.code(s, at, compile.Optimised)
}

// optimised says that the cache has optimised code; at gets it.
func (k *Kernel) optimised(s shape, at *found) bool {
	if at.image != nil && at.shape == s {
		return at.tier == compile.Optimised
	}
	c, ok := k.p.dev.b.cfg.Compiler.(Cacher)
	if !ok {
		return false
	}
	r, ok := c.Cached(k.request(at.text, s, compile.Optimised))
	if ok {
		at.shape, at.tier, at.image = s, compile.Optimised, r
	}
	return ok
}

// code compiles in one tier, and places the code.
func (k *Kernel) code(s shape, at *found, tier compile.Tier) (*variant, error) {
	b := k.p.dev.b
	var err error
	req := k.request(at.text, s, tier)
	req.Background = at.background
	if k.stacked.Load() {
		req.Options.Stack = k.p.dev.stack.Load()
	}
	res := at.image
	told := k.traceCompile(req)
	if res == nil || at.shape != s || at.tier != tier || req.Options.Stack != 0 {
		if res, err = b.cfg.Compiler.Compile(req); err != nil {
			return nil, k.compileError(err, at.line)
		}
	}
	told(res)
	compiled := k.note(req, res)
	im := res.Parsed
	if im == nil {
		if im, err = image.Parse(res.Image); err != nil {
			return nil, fmt.Errorf("kernel %s: %w", k.decl.Name, err)
		}
	}
	stack := max(req.Options.Stack, usualStack)
	if im.Meta.LocalThread < usualStack { // there is none: any limit will do
		stack = maxStack
	} else if !k.stacked.Load() && k.p.dev.stack.Load() > usualStack {
		k.stacked.Store(true)
		return k.code(s, &found{text: at.text, line: at.line, background: at.background}, tier)
	}
	k.stacked.Store(im.Meta.LocalThread >= usualStack)
	v, err := k.place(im, at, s, tier)
	if err != nil {
		return nil, err
	}
	v.stack = stack
	b.report.ran(v, compiled)
	return v, nil
}

// note counts a compilation and says how long it took; none from the cache.
func (k *Kernel) note(req *compile.Request, res *compile.Result) time.Duration {
	b := k.p.dev.b
	if res.FromCache {
		b.stats.cached.Add(1)
		b.report.add(ReportCached, 1)
		logx.Debugf("cache hit %s (%s)", k.decl.Name, req.Options.Tier)
		return 0
	}
	count, nanos := ReportCompiled, ReportCompileNs
	if req.Background {
		count, nanos = ReportBehind, ReportBehindNs
	}
	b.stats.compiled.Add(1)
	b.report.add(count, 1)
	b.report.add(nanos, uint64(res.Nanos))
	if res.Plain != "" {
		logx.Warnf("kernel %s is compiled without optional passes, because of a mistake of ours: %s", k.decl.Name, res.Plain)
		b.report.line("plain\t%s\t%s", k.decl.Name, res.Plain)
	}
	block := shape{block: req.Block}
	b.report.line("compiled\t%s\t%s, %.1f ms for blocks of %s, %d KB of PTX%s", k.decl.Name, req.Options.Tier, float64(res.Nanos)/1e6, block, len(req.PTX)>>10, stages(res))
	logx.Debugf("compile %s (%s) %.1f ms (%s)%s", k.decl.Name, req.Options.Tier, float64(res.Nanos)/1e6, block, stages(res))
	return time.Duration(res.Nanos)
}

// slice cuts the kernel's text out of the module.
func (k *Kernel) slice() (*found, error) {
	text, line, err := k.sliced()
	if line == nil {
		line = func(n int) int { return n }
	}
	return &found{text: text, line: line}, err
}

// request asks for the kernel with the compiler's own choice of stack.
func (k *Kernel) request(text string, s shape, tier compile.Tier) *compile.Request {
	req := &compile.Request{PTX: text, Kernel: k.decl.Name, Block: s.block, Options: options(k.p.m.Options)}
	req.Options.Tier, req.Options.Clusters = tier, s.clusters
	req.Options.ExactNaN, req.Options.Bounds = k.p.dev.b.exactNaN, k.p.dev.e.Narrow()
	return req
}

// A thread's stack for calls whose depth the compiler does not know: what it gives by itself, and the most.
const usualStack, maxStack = 64 << 10, 512 << 10

// stages says where the time went.
func stages(r *compile.Result) string {
	var s strings.Builder
	for _, st := range r.Stages {
		fmt.Fprintf(&s, ", %s %.1f", st.Name, float64(st.Nanos)/1e6)
	}
	return s.String()
}

// compileError gives lines of the module, not of the slice.
func (k *Kernel) compileError(err error, line func(int) int) error {
	var cannot *compile.Unsupported
	if errors.As(err, &cannot) && cannot.Line > 0 {
		return &compile.Unsupported{What: cannot.What, Line: line(cannot.Line)}
	}
	var crash *compile.Crash
	if errors.As(err, &crash) { // names the kernel itself
		return err
	}
	return fmt.Errorf("kernel %s: %w", k.decl.Name, err)
}

func options(o backend.Options) compile.Options {
	var c compile.Options
	switch {
	case o.FastCompile, o.OptLevel == 0, o.OptLevel == 1:
		c.Level = 1
	case o.OptLevel == 2, o.OptLevel == 3:
		c.Level = o.OptLevel
	}
	return c
}
