package pass

import "kudzu/internal/ir"

// onlyAddresses takes guesses for granted where nothing but addresses in global memory is made of them: an index of 32 bits that wraps
// between two lanes names addresses gigabytes apart, which no program means (guessable). Lane 0's number is all that is kept of such a
// value, while one that may be data is there for each lane as well: in a loop four vectors, which are counted up and spilled.
func onlyAddresses(f *ir.Func) {
	only, guesses := map[*ir.Value]bool{}, false
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			if indexing(in) && in.Results[0].Shape.Kind == ir.Varying && in.Results[0].Type != ir.I1 && !in.Results[0].Type.IsFloat() {
				only[in.Results[0]] = true
				guesses = guesses || in.Results[0].Shape.Guess
			}
		}
	}
	for changed := guesses; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, in := range b.Insts {
				for i, v := range in.Args {
					if only[v] && !addressed(in, i) && !(indexing(in) && only[in.Results[0]] && (in.Op != ir.Select || i > 0)) {
						only[v] = false
						changed = true
					}
				}
				if in.Mask != nil && only[in.Mask] {
					only[in.Mask] = false
					changed = true
				}
			}
		}
	}
	for v, ok := range only {
		if ok && v.Shape.Guess {
			v.Shape.Kind = ir.Affine
		}
	}
}

// indexing reports an operation that addresses are computed with.
func indexing(in *ir.Inst) bool {
	switch in.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Shl, ir.SExt, ir.ZExt, ir.Phi, ir.Select:
		return true
	}
	return false
}

// addressed reports that argument i is an address in global memory.
func addressed(in *ir.Inst, i int) bool {
	return i == 0 && in.Space == ir.Global && (in.Op == ir.Load || in.Op == ir.Store || in.Op == ir.Prefetch)
}
