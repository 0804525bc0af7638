package worker

import (
	"slices"
	"strings"

	"kudzu/internal/compile"
	"kudzu/internal/devrt"
	"kudzu/internal/emit/simt"
	"kudzu/internal/llvm"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// gpuLevels are LLVM's passes for GPUs. PTX comes out of an optimiser and goes into one (ptxas), so for NVIDIA little is done: what
// instcombine makes of integers that are floats' bits would not be what the program's instructions give for NaNs.
var gpuLevels = map[string]level{
	"nvptx64": {"function(sroa,early-cse,simplifycfg,adce)", 2},
	// Calls cost AMD's GPUs a stack; LLVM 19 dies on functions that nobody calls.
	"amdgcn": {"globaldce,cgscc(inline),globaldce,function(sroa,early-cse," + combine + ",simplifycfg,early-cse,adce)", 2},
}

// forGPU compiles a module, or one kernel of it, for a GPU: no image but what its driver loads, or what is linked for it.
func (p *Pipeline) forGPU(req *compile.Request, t *clock) (*compile.Result, error) {
	emitted := map[string]string{}
	m, kernels, err := threadCode(req, t, emitted)
	if err != nil {
		return nil, err
	}
	code, err := simt.Emit(kernels, simt.Config{Target: req.Target.CPU, CodeObject: req.Options.CodeObject, NoMatrix: req.Options.NoMatrix})
	if err != nil {
		return nil, stageError("emit", err)
	}
	t.done("emit")
	arch, _, _ := strings.Cut(code.Triple, "-")
	l := gpuLevels[arch]
	o := llvm.Options{Triple: code.Triple, CPU: code.CPU, Features: code.Features, Passes: l.passes, OptLevel: l.codegen}
	if req.Options.Passes != "" {
		o.Passes = req.Options.Passes
	}
	r := &compile.Result{LLVM: p.LLVM(), Emitted: emitted}
	if arch == "nvptx64" {
		text, err := p.backend.lib.Assembly(code.LLVM, o)
		if err != nil {
			return nil, &compile.Failed{Stage: "llvm", Text: err.Error()}
		}
		t.done("llvm")
		r.Image = []byte(finishPTX(m, text, req.Target.CPU))
		if slices.Contains(req.Emit, "ptx") {
			emitted["ptx"] = string(r.Image)
		}
	} else {
		if r.Image, err = p.backend.lib.Compile(code.LLVM, o); err != nil {
			return nil, &compile.Failed{Stage: "llvm", Text: err.Error()}
		}
		t.done("llvm")
	}
	r.Stages = t.stages
	return r, p.backend.texts(code.LLVM, o, req.Emit, emitted)
}

// threadCode is the IR of the kernels that a request asks for, after the passes for one thread a lane.
func threadCode(req *compile.Request, t *clock, emitted map[string]string) (*ptx.Module, []simt.Kernel, error) {
	m, err := ptx.ParseModule(req.PTX)
	if err != nil {
		return nil, nil, ptxError(err)
	}
	opts := lower.Options{GPU: true}
	if strings.HasPrefix(req.Target.Triple, "nvptx64") {
		opts.Keep, opts.NVIDIA = lower.KeepNVPTX, true
	}
	t.done("parse")
	if err := check.Module(m); err != nil {
		return nil, nil, ptxError(err)
	}
	if !opts.NVIDIA {
		opts.Approximate = true
		if text, changed := WithRuntime(m); changed { // not checked again: the functions need more than an old program says it does
			if m, err = ptx.ParseModule(text); err != nil {
				return nil, nil, ptxError(err)
			}
		}
	}
	t.done("check")
	var kernels []simt.Kernel
	var dump strings.Builder
	for _, f := range m.Funcs {
		if f.Kind != ptx.Entry || f.Body == nil || req.Kernel != "" && f.Name != req.Kernel {
			continue
		}
		k, err := lower.Kernel(m, f.Name, opts)
		if err != nil {
			return nil, nil, stageError("lower", err)
		}
		if slices.Contains(req.Emit, "ir") {
			emitted["ir"] += k.String()
		}
		if err := pass.Run(k, pass.Config{Dump: req.Dump, DumpTo: &dump, Threads: true, Lockstep: !opts.NVIDIA}); err != nil {
			return nil, nil, stageError("passes", err)
		}
		kernels = append(kernels, simt.Kernel{IR: k, Params: paramsOf(f)})
	}
	t.done("lower and passes")
	if len(kernels) == 0 {
		return nil, nil, &compile.PTXError{List: []string{"no kernel " + req.Kernel + " in the text"}}
	}
	if req.Dump != "" {
		emitted["dump"] = dump.String()
	}
	return m, kernels, nil
}

// WithRuntime is a module's text with the functions of devrt that it needs on GPUs whose driver lends none: those that it declares,
// and those that do what instructions on textures and surfaces do. Its lines keep their numbers.
func WithRuntime(m *ptx.Module) (text string, changed bool) {
	text, names := lower.CallTextures(m)
	if names = append(names, runtimeFuncs(m)...); len(names) == 0 {
		return text, false
	}
	return devrt.Define(text, names), true
}

// runtimeFuncs are the functions that a module declares, nobody defines, and devrt has.
func runtimeFuncs(m *ptx.Module) []string {
	defined := map[string]bool{}
	for _, f := range m.Funcs {
		if f.Body != nil {
			defined[f.Name] = true
		}
	}
	var names []string
	for _, f := range m.Funcs {
		if f.Body == nil && devrt.Provides(f.Name) && !defined[f.Name] {
			names = append(names, f.Name)
		}
	}
	return names
}

func paramsOf(f *ptx.Func) []simt.Param {
	var ps []simt.Param
	for _, p := range f.Params {
		ps = append(ps, simt.Param{Offset: int(p.Offset), Size: int(p.Size), Align: max(p.Align, 1)})
	}
	return ps
}
