package warp

import (
	"slices"

	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Which bits a NaN has: f32, f16 and bf16 have one NaN on the card and any here until they are seen; f64 keeps an operand's.

// makesNaN reports arithmetic, whose NaNs may have any bits here while the hardware's are canonical.
func makesNaN(in *ir.Inst) bool {
	switch in.Op {
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp, ir.FMin, ir.FMax, ir.FRound, ir.FRelu, ir.FNeg, ir.FAbs, ir.Mma:
		return true
	case ir.FExt, ir.FTrunc:
		return in.Args[0].Type != ir.F64 // which keeps the payload, as x86 does
	}
	return false
}

// nanSources finds the values whose NaNs need canonical bits where they are seen. Phis and selects of such values are such
// values; where arithmetic meets values that came from memory, the arithmetic is cleaned at the meeting.
func (e *emitter) nanSources(product bool) {
	var meetings []*ir.Inst
	for _, b := range e.f.Blocks {
		for _, in := range b.Insts {
			makes := makesNaN(in)
			e.uses(in, makes)
			meets := in.Op == ir.Phi || in.Op == ir.Select
			if len(in.Results) == 0 || !float.OneNaN(in.Results[0].Type) || !makes && !meets {
				continue
			}
			for _, r := range in.Results {
				e.dirty[r] = true
			}
			if meets {
				meetings = append(meetings, in)
			}
		}
	}
	e.keptNaNs(product)
	float.MeetNaNs(e.seen(meetings), e.dirty)
	e.exchangedNaNs()
}

// seen are the meetings whose bits something may see. Those of f32 that only arithmetic takes, at once or behind others of them, may
// have NaNs of any bits, though some come from memory: a sum that begins with what was loaded is not looked at in each turn of its loop.
func (e *emitter) seen(meetings []*ir.Inst) []*ir.Inst {
	users := map[*ir.Value][]*ir.Inst{}
	for _, in := range meetings {
		if in.Results[0].Type == ir.F32 {
			users[in.Results[0]] = nil
		}
	}
	for _, b := range e.f.Blocks {
		for _, in := range b.Insts {
			for _, a := range in.Args {
				if list, ok := users[a]; ok {
					users[a] = append(list, in)
				}
			}
		}
	}
	hidden := func(in *ir.Inst) bool {
		if len(in.Results) != 1 {
			return false
		}
		_, ok := users[in.Results[0]]
		return ok
	}
	for changed := true; changed; {
		changed = false
		for v, list := range users {
			if slices.ContainsFunc(list, func(in *ir.Inst) bool { return !takesAnyNaN(in) && !hidden(in) }) {
				delete(users, v)
				changed = true
			}
		}
	}
	return slices.DeleteFunc(meetings, hidden)
}

// takesAnyNaN reports arithmetic of f32 for which a NaN operand is a NaN, whatever its bits.
func takesAnyNaN(in *ir.Inst) bool {
	switch in.Op {
	case ir.FAdd, ir.FSub, ir.FMul, ir.FDiv, ir.FFma, ir.FSqrt, ir.FRcp:
		return in.Results[0].Type == ir.F32
	}
	return false
}

// uses notes what in reads, and what it computes with.
func (e *emitter) uses(in *ir.Inst, computes bool) {
	for _, a := range in.Args {
		e.used[a] = true
		if computes {
			e.computed[a] = true
		}
	}
	if in.Mask != nil {
		e.used[in.Mask] = true
	}
}

// exchangedNaNs leaves f32 numbers as they are that lanes only hand to each other, as numbers or as bits: sums over a warp are shuffles
// between additions.
func (e *emitter) exchangedNaNs() {
	users := map[*ir.Value][]*ir.Inst{}
	for _, b := range e.f.Blocks {
		for _, in := range b.Insts {
			for _, a := range in.Args {
				users[a] = append(users[a], in)
			}
		}
	}
	for _, b := range e.f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.Shfl && e.w > 1 && in.Results[0].Type == ir.F32 && e.dirty[in.Args[0]] {
				e.dirty[in.Results[0]] = true
			}
			if in.Op != ir.Bitcast || in.Args[0].Type != ir.F32 || !e.dirty[in.Args[0]] {
				continue
			}
			if back, ok := exchanged(users, in.Results[0]); ok {
				e.asIs[in] = true
				for _, x := range back {
					e.dirty[x.Results[0]] = true
				}
			}
		}
	}
}

// exchanged are the numbers that lanes get of bits that they give; false if the bits go elsewhere too.
func exchanged(users map[*ir.Value][]*ir.Inst, bits *ir.Value) (back []*ir.Inst, ok bool) {
	for _, x := range users[bits] {
		if x.Op != ir.Shfl || x.Args[1] == bits || x.Args[2] == bits || x.Args[3] == bits {
			return nil, false
		}
		for _, y := range users[x.Results[0]] {
			if y.Op != ir.Bitcast || y.Results[0].Type != ir.F32 {
				return nil, false
			}
			back = append(back, y)
		}
	}
	return back, true
}

// canonical gives NaNs the bits that the hardware gives them.
func (e *emitter) canonical(x ll.Val, t ir.Type, n int) ll.Val {
	el, _ := float.Element(t)
	if el != ir.F16 && el != ir.F32 {
		return x
	}
	return e.pair(e.Canonical(e.unpair(x, t), el), t, n)
}

// keptNaNs leaves in computed the f64 values that need not have the payload of the card's choice where several operands are
// NaNs: those of loops and of matrix products that are computed with further, be it behind phis and selects. Everywhere else the choice costs little.
func (e *emitter) keptNaNs(product bool) {
	switch wide := float.ComputedFurther(e.f, e.computed); {
	case !wide || product:
	case e.cfg.ExactNaN:
		clear(e.computed)
	default:
		float.OnlyInLoops(e.f, e.computed)
	}
}

// pickNaN gives r the payload of the right operand where several are NaNs. x86 gives the first's, of operands that LLVM may have changed over.
func (e *emitter) pickNaN(in *ir.Inst, r ll.Val, a []ll.Val) ll.Val {
	order := float.NaNOrder(in.Op, a)
	if e.cpu.arm64 { // whose own NaN is positive, and which prefers signalling ones
		r = e.Select(e.FCmp("uno", r, r), r.Float(float.Formats[ir.F64].NaN), r)
	} else {
		order = order[1:] // alone, it is what r has
	}
	for _, x := range order {
		r = e.Select(e.FCmp("uno", x, x.Float(0)), e.quiet(x), r)
	}
	return r
}

// quiet makes signalling NaNs of f64 quiet.
func (e *emitter) quiet(x ll.Val) ll.Val {
	b := e.Bits(x)
	return e.Select(e.FCmp("uno", x, x.Float(0)), e.Recast(e.Or(b, b.Int(1<<51)), typ(ir.F64)), x)
}
