package worker

import (
	"errors"
	"slices"

	"kudzu/internal/baseline"
	"kudzu/internal/compile"
	"kudzu/internal/image"
	"kudzu/internal/llvm"
)

// baselineForce are the passes that baseline code goes without.
var baselineForce = map[string]bool{}

// atBaseline compiles a kernel without libLLVM.
func (p *Pipeline) atBaseline(req *compile.Request, t *clock) (*compile.Result, error) {
	triple, features, err := baselineTarget(req.Target)
	if err != nil {
		return nil, err
	}
	own := *req
	if own.Options.Force == nil {
		own.Options.Force = baselineForce
	}
	r := &compile.Result{Emitted: map[string]string{}}
	src, err := p.front(&own, llvm.Options{Triple: triple, Features: features}, t, r.Emitted)
	if err != nil {
		return nil, err
	}
	if slices.Contains(req.Emit, "ll") {
		r.Emitted["ll"] = src.text
	}
	code, err := p.translate(src.text, src.entry, baseline.TargetOf(features))
	if err != nil {
		var cannot *baseline.Unsupported
		if errors.As(err, &cannot) {
			return nil, &compile.Unsupported{What: "baseline code: " + cannot.What}
		}
		return nil, &compile.Failed{Stage: "baseline", Text: err.Error()}
	}
	t.done("baseline")
	meta := src.meta
	meta.Lines = code.Lines
	if r.Image, err = image.Assemble(image.X86_64, code.Bytes, code.Text, code.Entry, meta); err != nil {
		return nil, &compile.Failed{Stage: "image", Text: err.Error()}
	}
	t.done("image")
	r.Stages = t.stages
	return r, nil
}
