package worker

import (
	"errors"
	"slices"
	"strings"

	"kudzu/internal/analysis"
	"kudzu/internal/compile"
	"kudzu/internal/emit/warp"
	"kudzu/internal/ir"
	"kudzu/internal/llvm"
	"kudzu/internal/lower"
	"kudzu/internal/pass"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/check"
)

// fromPTX is the first half for CPUs.
func fromPTX(req *compile.Request, o llvm.Options, t *clock, emitted map[string]string) (*source, error) {
	k, err := toIR(req, t, emitted)
	if err != nil {
		return nil, err
	}
	code, err := warp.Emit(k, warp.Config{Block: req.Block, Triple: o.Triple, CPU: o.CPU, Features: o.Features, ExactNaN: req.Options.ExactNaN, Bounds: req.Options.Bounds})
	if err != nil {
		return nil, stageError("emit", err)
	}
	t.done("emit")
	return &source{text: code.LLVM, entry: code.Entry, meta: code.Meta}, nil
}

// maxStack bounds what a request may ask for.
const maxStack = 1 << 20

// facts answers a request for them: as far as the IR, which has the sizes.
func facts(req *compile.Request, t *clock) (*compile.Result, error) {
	k, err := lowered(req, t, nil)
	if err != nil {
		return nil, err
	}
	m := warp.Facts(k)
	b, err := compile.EncodeFacts(&compile.Facts{
		SharedStatic: m.SharedStatic, LocalThread: m.LocalThread, Registers: m.Registers, PTXVersion: m.PTXVersion, Vars: m.Vars, Launches: m.Launches,
	})
	if err != nil {
		return nil, stageError("facts", err)
	}
	return &compile.Result{Image: b, Stages: t.stages}, nil
}

// Planted is for tests of tools that must find a wrong compiler: it changes a kernel's IR before the passes, and after them. Nothing but a
// test that is its own compiler process sets it.
var Planted struct{ Before, After func(*ir.Module) }

// lowered gives the kernel's IR before any pass.
func lowered(req *compile.Request, t *clock, emitted map[string]string) (*ir.Module, error) {
	m, err := ptx.ParseModule(req.PTX)
	if err != nil {
		return nil, ptxError(err)
	}
	t.done("parse")
	if err := check.Module(m); err != nil {
		return nil, ptxError(err)
	}
	t.done("check")
	if f := m.Func(req.Kernel); f == nil || f.Kind != ptx.Entry || f.Body == nil {
		return nil, &compile.PTXError{List: []string{"no kernel " + req.Kernel + " in the text"}}
	}
	if slices.Contains(req.Emit, "ptx") {
		emitted["ptx"] = m.String()
	}
	k, err := lower.Kernel(m, req.Kernel, lower.Options{Clusters: req.Options.Clusters})
	if err != nil {
		return nil, stageError("lower", err)
	}
	if Planted.Before != nil {
		Planted.Before(k)
	}
	k.Registers = registers(k)
	t.done("lower")
	return k, nil
}

// registers is what programs are told that a thread needs: the kernel's own, and of the functions it calls the largest's. As an
// assembler would, it fits the largest block that the kernel is made for into the register file, whatever that would spill.
func registers(k *ir.Module) int {
	const file, least, most, usualBlock = 64 << 10, 16, 255, 1024
	called := 0
	for _, f := range k.Funcs[1:] {
		called = max(called, analysis.Pressure(f))
	}
	block := uint64(usualBlock)
	for _, b := range [][3]uint32{k.MaxBlock, k.ReqBlock} {
		if n := uint64(b[0]) * uint64(b[1]) * uint64(b[2]); n > 0 && n < usualBlock {
			block = n
		}
	}
	return min(max(analysis.Pressure(k.Funcs[0])+called, least), most, int(file/((block+31)/32*32))&^7)
}

// toIR gives the kernel's IR after all passes.
func toIR(req *compile.Request, t *clock, emitted map[string]string) (*ir.Module, error) {
	k, err := lowered(req, t, emitted)
	if err != nil {
		return nil, err
	}
	if slices.Contains(req.Emit, "ir") {
		emitted["ir"] = k.String()
	}
	force := req.Options.Force
	if req.Options.Plain != "" {
		force = pass.Plain()
	}
	var dump strings.Builder
	if err := pass.Run(k, pass.Config{Block: req.Block, Stack: int(min(req.Options.Stack, maxStack)), Force: force, Dump: req.Dump, DumpTo: &dump}); err != nil {
		return nil, stageError("passes", err)
	}
	if err := ir.Verify(k); err != nil {
		return nil, stageError("passes", err)
	}
	if Planted.After != nil {
		Planted.After(k)
	}
	t.done("passes")
	if req.Dump != "" {
		if dump.Len() == 0 {
			return nil, &compile.Failed{Stage: "dump", Text: "no pass is called " + req.Dump + "; there are: " + strings.Join(pass.Names(), ", ")}
		}
		emitted["dump"] = dump.String()
	}
	return k, nil
}

// ptxError lists the faults of a module one by one.
func ptxError(err error) error {
	var list ptx.ErrorList
	if !errors.As(err, &list) {
		return &compile.PTXError{List: []string{err.Error()}}
	}
	e := &compile.PTXError{}
	for _, one := range list {
		e.List = append(e.List, one.Error())
	}
	return e
}

// stageError keeps what the compiler cannot do apart from what it did wrong.
func stageError(stage string, err error) error {
	var u *ir.Unsupported
	if errors.As(err, &u) {
		return &compile.Unsupported{What: u.What, Line: u.Line}
	}
	return &compile.Failed{Stage: stage, Text: err.Error()}
}
