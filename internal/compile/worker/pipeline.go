package worker

import (
	"kudzu/internal/baseline"
	"kudzu/internal/compile"
	"kudzu/internal/image"
	"kudzu/internal/llvm"
)

// Pipeline compiles kernels: PTX, syntax tree, checked, IR, passes, LLVM text, object, image.
type Pipeline struct {
	backend backend
	front   front
	// translate is baseline.Compile; tests put others in its place.
	translate func(text, entry string, t baseline.Target) (*baseline.Code, error)
}

// front is the first half: a request to LLVM text. It notes the time of its stages and what req.Emit asks for.
type front func(req *compile.Request, o llvm.Options, t *clock, emitted map[string]string) (*source, error)

// source is a kernel in LLVM's language.
type source struct {
	text  string
	entry string // name of the kernel's function in text
	meta  image.Meta
}

// New loads libLLVM (path, or the machine's) and makes a pipeline of it.
func New(path string) (*Pipeline, error) {
	lib, err := llvm.Open(path)
	if err != nil {
		return nil, err
	}
	return &Pipeline{backend: backend{lib: lib}, front: fromPTX, translate: baseline.Compile}, nil
}

// NewBaseline makes a pipeline without libLLVM: it gives baseline code and facts.
func NewBaseline() *Pipeline { return &Pipeline{front: fromPTX, translate: baseline.Compile} }

// LLVM is the library's version, "" without one.
func (p *Pipeline) LLVM() string {
	if p.backend.lib == nil {
		return ""
	}
	return p.backend.lib.Version()
}

// Run compiles one request.
func (p *Pipeline) Run(req *compile.Request) (*compile.Result, error) {
	t := newClock()
	switch {
	case req.FactsOnly:
		return facts(req, t)
	case req.Options.Tier == compile.Baseline:
		return p.atBaseline(req, t)
	case p.backend.lib == nil:
		return nil, &compile.NoCompiler{Why: "libLLVM is not loaded"}
	}
	if req.NVVM != nil {
		return p.fromNVVM(req, t)
	}
	if req.Target.GPU() {
		return p.forGPU(req, t)
	}
	emitted := map[string]string{}
	o := p.backend.options(req)
	src, err := p.front(req, o, t, emitted)
	if err != nil {
		return nil, err
	}
	r := &compile.Result{LLVM: p.LLVM(), Emitted: emitted}
	if r.Image, err = p.backend.FromLLVM(src.text, src.entry, src.meta, req, t); err != nil {
		return nil, err
	}
	r.Stages = t.stages
	return r, p.backend.texts(src.text, o, req.Emit, emitted)
}

// texts adds what LLVM can show of the kernel.
func (b *backend) texts(text string, o llvm.Options, emit []string, emitted map[string]string) error {
	o = suited(o, text)
	for _, e := range emit {
		var out string
		var err error
		switch e {
		case "ll":
			out = text
		case "opt":
			out, err = b.lib.Optimised(text, o)
		case "asm":
			out, err = b.lib.Assembly(text, o)
		default: // the front half's, or unknown: the caller sees what is missing
			continue
		}
		if err != nil {
			return &compile.Failed{Stage: e, Text: err.Error()}
		}
		emitted[e] = out
	}
	return nil
}
