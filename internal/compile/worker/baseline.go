package worker

import (
	"errors"
	"slices"

	"kudzu/internal/baseline"
	"kudzu/internal/compile"
	"kudzu/internal/image"
	"kudzu/internal/llvm"
)

// baselineForce are the passes that baseline code goes without. Processor time to compile the bench kernels, of 907 ms with all of them:
// 826 without prefetch, 758 without warp_jam, between 900 and 990 without one of the others. But code without warp_jam is slow: a third
// of the speed in reduce_shuffle, half in sgemm_tiled16. Without prefetch no row is slower.
var baselineForce = map[string]bool{"prefetch": false, "full_block_versioning": false}

// atBaseline compiles a kernel without libLLVM.
func (p *Pipeline) atBaseline(req *compile.Request, t *clock) (*compile.Result, error) {
	triple, features, err := baselineTarget(req.Target)
	if err != nil {
		return nil, err
	}
	target := baseline.TargetOf(features)
	if !target.Has("avx2") { // known before the front half has worked for nothing
		return nil, &compile.Unsupported{What: "baseline code without AVX2"}
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
	code, err := p.translate(src.text, src.entry, target)
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
