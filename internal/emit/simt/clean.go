package simt

import (
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// clean is v with the bits that others may see: where the target's NaNs are not NVIDIA's, arithmetic's are made so.
func (e *emitter) clean(v *ir.Value) ll.Val {
	x := e.val(v)
	if !e.dirty[v] {
		return x
	}
	el, packed := float.Element(v.Type)
	if !packed {
		return e.Canonical(x, el)
	}
	return e.halves(v.Type, []ll.Val{x}, func(el ir.Type, a []ll.Val) ll.Val { return e.Canonical(a[0], el) })
}

// makesNaN reports arithmetic, whose NaNs may have any bits on other hardware.
func makesNaN(in *ir.Inst) bool {
	switch in.Op {
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp, ir.FExp2, ir.FLog2, ir.FRound:
		return true
	case ir.FMin, ir.FMax:
		return plainMinMax(in)
	case ir.FNeg, ir.FAbs:
		return plainSign(in)
	case ir.FExt, ir.FTrunc:
		return in.Args[0].Type != ir.F64 // which keeps the payload
	}
	return false
}

// nanSources finds the values whose NaNs need canonical bits where they are seen. Phis, selects and shuffles of such values are such
// values; where arithmetic meets values that came from memory, the arithmetic is cleaned at the meeting.
func (e *emitter) nanSources(f *ir.Func) {
	e.dirty, e.computed = map[*ir.Value]bool{}, map[*ir.Value]bool{}
	var meetings []*ir.Inst
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			makes, meets := makesNaN(in), in.Op == ir.Phi || in.Op == ir.Select || in.Op == ir.Shfl
			if makes {
				for _, a := range in.Args {
					e.computed[a] = true
				}
			}
			if e.hasUnit(in) {
				for _, r := range in.Results {
					e.dirty[r] = r.Type == ir.F32
				}
			}
			if (len(in.Results) == 1 || in.Op == ir.Shfl) && float.OneNaN(in.Results[0].Type) && (makes || meets) {
				e.dirty[in.Results[0]] = true
				if meets {
					meetings = append(meetings, in)
				}
			}
		}
	}
	e.keptNaNs(f)
	float.MeetNaNs(meetings, e.dirty)
}

// keptNaNs leaves in computed the f64 values that need not have the payload of NVIDIA's choice where several operands are NaNs: those of
// loops that are computed with further, be it behind phis and selects. Code for the CPU (emit/warp) draws the same line.
func (e *emitter) keptNaNs(f *ir.Func) {
	if float.ComputedFurther(f, e.computed) {
		float.OnlyInLoops(f, e.computed)
	}
}

// meet cleans what the phis behind b take from it, where they also take values that may not be touched.
func (e *emitter) meet(b *ir.Block) {
	if e.dirty == nil {
		return
	}
	for _, s := range b.Succs() {
		for _, phi := range s.Insts {
			if phi.Op != ir.Phi {
				break
			}
			for i, from := range phi.Targets {
				if from == b && e.dirty[phi.Args[i]] && !e.dirty[phi.Results[0]] {
					e.met[meeting{phi, b}] = e.clean(phi.Args[i])
				}
			}
		}
	}
}

// meeting is a phi and one of its ways in.
type meeting struct {
	phi  *ir.Inst
	from *ir.Block
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
					some = some || !in.EitherFTZ
				}
			}
		}
	}
	return some
}

// flushSensitive reports an operation whose result may depend on f32's flush mode. bf16 is computed in f32, and converted on its bits.
// An f16 number is no subnormal f32 number, and a subnormal f32 number rounds to the same zero of f16 as the zero that it would be.
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
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp, ir.FExp2, ir.FLog2, ir.FCmp:
		return wide(in.Args)
	case ir.FRound, ir.FToS, ir.FToU:
		return wide(in.Args) && in.Rnd != ir.RN && in.Rnd != ir.RZ
	case ir.FExt:
		return in.Args[0].Type == ir.F32
	case ir.FTrunc:
		from, to := in.Args[0].Type, in.Results[0].Type
		nearest := in.Rnd == ir.RN || in.Rnd == ir.RZ
		return from == ir.F64 || from == ir.F32 && to == ir.F16 && !nearest
	case ir.Atomic:
		return in.AtomOp != ir.AtomExch && wide(in.Args[1:])
	}
	return false
}
