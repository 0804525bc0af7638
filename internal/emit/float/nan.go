package float

import "kudzu/internal/ir"

// OneNaN reports a type whose arithmetic gives one NaN on the card, whatever its operands were.
func OneNaN(t ir.Type) bool { return t == ir.F16 || t == ir.F32 || t == ir.F16x2 }

// MeetNaNs settles which phis, selects and shuffles have NaNs of any bits: those all of whose operands may be touched. Of the others
// the mark in dirty is taken away, and what arithmetic gives to them is made canonical there.
func MeetNaNs(meetings []*ir.Inst, dirty map[*ir.Value]bool) {
	for changed := true; changed; {
		changed = false
		for _, in := range meetings {
			if dirty[in.Results[0]] && !allDirty(met(in), dirty) {
				dirty[in.Results[0]], changed = false, true
			}
		}
	}
}

// met are the operands that the result of a meeting may be.
func met(in *ir.Inst) []*ir.Value {
	switch in.Op {
	case ir.Select:
		return in.Args[1:]
	case ir.Shfl:
		return in.Args[:1]
	}
	return in.Args
}

func allDirty(list []*ir.Value, dirty map[*ir.Value]bool) bool {
	for _, a := range list {
		if !dirty[a] && !Tame(a) {
			return false
		}
	}
	return true
}

// ComputedFurther adds to computed, the operands of arithmetic, what reaches them through phis and selects. It reports whether f
// has numbers of 64 bits, whose NaNs keep a payload.
func ComputedFurther(f *ir.Func, computed map[*ir.Value]bool) (wide bool) {
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, in := range b.Insts {
				wide = wide || len(in.Results) == 1 && in.Results[0].Type == ir.F64
				if in.Op != ir.Phi && in.Op != ir.Select || !computed[in.Results[0]] {
					continue
				}
				for _, a := range in.Args {
					if !computed[a] {
						computed[a], changed = true, true
					}
				}
			}
		}
	}
	return wide
}

// OnlyInLoops leaves in computed what loops compute; of an irreducible graph everything.
func OnlyInLoops(f *ir.Func, computed map[*ir.Value]bool) {
	loops := ir.Loops(f, ir.Dominators(f))
	if loops.Irreducible {
		return
	}
	for _, b := range f.Blocks {
		if loops.Innermost(b) != nil {
			continue
		}
		for _, in := range b.Insts {
			for _, r := range in.Results {
				delete(computed, r)
			}
		}
	}
}
