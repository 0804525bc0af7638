package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// clean is v with the bits that others may see: where the target's NaNs are not NVIDIA's, arithmetic's are made so.
func (e *emitter) clean(v *ir.Value) ll.Val {
	x := e.val(v)
	if !e.dirty[v] {
		return x
	}
	el, packed := element(v.Type)
	if !packed {
		return e.canonical(x, el)
	}
	return e.halves(v.Type, []ll.Val{x}, func(el ir.Type, a []ll.Val) ll.Val { return e.canonical(a[0], el) })
}

// makesNaN reports arithmetic, whose NaNs may have any bits on other hardware.
func makesNaN(in *ir.Inst) bool {
	switch in.Op {
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp, ir.FRound:
		return true
	case ir.FExt, ir.FTrunc:
		return in.Args[0].Type != ir.F64 // which keeps the payload
	}
	return false
}

// nanSources finds the values whose NaNs need canonical bits where they are seen. Phis and selects of such values are such
// values.
func (e *emitter) nanSources(f *ir.Func) {
	canon := func(t ir.Type) bool { return t == ir.F16 || t == ir.F32 || t == ir.F16x2 }
	e.dirty = map[*ir.Value]bool{}
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, in := range b.Insts {
				if len(in.Results) != 1 || !canon(in.Results[0].Type) || e.dirty[in.Results[0]] {
					continue
				}
				if makesNaN(in) || (in.Op == ir.Phi || in.Op == ir.Select) && e.anyDirty(in.Args) {
					e.dirty[in.Results[0]], changed = true, true
				}
			}
		}
	}
}

func (e *emitter) anyDirty(vs []*ir.Value) bool {
	for _, v := range vs {
		if e.dirty[v] {
			return true
		}
	}
	return false
}

// allFlushed reports kernels that may run with the machine's flush mode: every f32 operation asks for flushing or does not mind, and
// some asks.
func allFlushed(kernels []Kernel) bool {
	some := false
	for i := range kernels {
		for _, f := range kernels[i].IR.Funcs {
			for _, b := range f.Blocks {
				for _, in := range b.Insts {
					if !flushSensitive(in) {
						continue
					}
					if !in.FTZ {
						return false
					}
					some = some || !in.Flag
				}
			}
		}
	}
	return some
}

// flushSensitive reports an operation whose result may depend on f32's flush mode. bf16 is computed in f32.
func flushSensitive(in *ir.Inst) bool {
	wide := func(vs []*ir.Value) bool {
		for _, v := range vs {
			switch v.Type {
			case ir.F32, ir.BF16, ir.BF16x2:
				return true
			}
		}
		return false
	}
	switch in.Op {
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp, ir.FCmp, ir.FRound, ir.FToS, ir.FToU:
		return wide(in.Args)
	case ir.FExt, ir.FTrunc:
		return wide(in.Args) || wide(in.Results)
	case ir.Atomic:
		return in.AtomOp != ir.AtomExch && wide(in.Args[1:])
	}
	return false
}
