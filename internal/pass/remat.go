package pass

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// rematScalars rematerialises cheap arithmetic on launch, block and warp numbers in each block that uses it, so that nothing of it
// is live across a barrier: a few scalar operations are cheaper than a slot in every warp's frame, and LLVM hoists what is
// the same for all warps.
func rematScalars(st *state) {
	n := &scalars{a: st.shapes(), cheap: map[*ir.Value]bool{}}
	for _, b := range st.f.Blocks {
		repeatIn(st.f, b, func(v *ir.Value, _ int) bool { return !analysis.Anywhere(v) && n.repeatable(v, 0) }, func(in *ir.Inst) []*ir.Value {
			if in.Op == ir.Phi {
				return nil
			}
			return in.Args
		})
	}
}

// rematAddresses repeats the arithmetic of an address in the block that uses it, so that across a barrier lives the 32-bit
// index or the pointer it is made of, which is smaller, and the emitter sees how it is made.
func rematAddresses(f *ir.Func) {
	any := func(*ir.Value) bool { return true }
	for _, b := range f.Blocks {
		repeatIn(f, b, func(v *ir.Value, depth int) bool {
			return depth <= 8 && v.Type == ir.I64 && !analysis.Anywhere(v) && analysis.Remat(v.Def, analysis.RematFolded, any)
		}, func(in *ir.Inst) []*ir.Value {
			switch in.Op {
			case ir.Load, ir.Store, ir.Atomic, ir.AtomicCAS:
				return in.Args[:1]
			}
			return nil
		})
	}
}

// rematExtensions repeats extensions to 64 bits in the block that uses them, so that across a barrier lives the number that was extended, in
// half the registers or less.
func rematExtensions(f *ir.Func) {
	for _, b := range f.Blocks {
		repeatIn(f, b, func(v *ir.Value, depth int) bool {
			return depth == 0 && v.Type == ir.I64 && (v.Def.Op == ir.ZExt || v.Def.Op == ir.SExt) && !analysis.Anywhere(v)
		}, func(in *ir.Inst) []*ir.Value {
			if in.Op == ir.Phi {
				return nil
			}
			return in.Args
		})
	}
}

// repeatIn computes values again in b, before those of its instructions that use them: of the arguments that uses gives, and of what
// they are made of, those that again reports. depth is how many operations lie between. What lies between keep.begin and keep is passed
// over by blocks that have its results: what is used there is computed before it, for the code behind uses it too.
func repeatIn(f *ir.Func, b *ir.Block, again func(v *ir.Value, depth int) bool, uses func(*ir.Inst) []*ir.Value) {
	copies := map[*ir.Value]*ir.Value{}
	var out []*ir.Inst
	keep := -1 // where the keep.begin is whose keep has not come
	var near func(v *ir.Value, depth int) *ir.Value
	near = func(v *ir.Value, depth int) *ir.Value {
		d := v.Def
		if d == nil || d.Block == b || !again(v, depth) {
			return v
		}
		if c := copies[v]; c != nil {
			return c
		}
		in := f.CloneInst(d, func(a *ir.Value) *ir.Value { return near(a, depth+1) })
		in.Block = b
		if keep >= 0 {
			out = slices.Insert(out, keep, in)
			keep++
		} else {
			out = append(out, in)
		}
		copies[v] = in.Results[v.Index]
		return in.Results[v.Index]
	}
	for _, in := range b.Insts {
		args := uses(in)
		for i, a := range args {
			args[i] = near(a, 0)
		}
		switch in.Op {
		case ir.KeepBegin:
			keep = len(out)
		case ir.Keep:
			keep = -1
		}
		out = append(out, in)
	}
	b.Insts = out
}

// scalars knows which numbers a few scalar operations make of what is there anyway.
type scalars struct {
	a     *shapeAnalysis
	cheap map[*ir.Value]bool
}

func (n *scalars) repeatable(v *ir.Value, depth int) bool {
	if v.Const || v.Def == nil || depth > 5 {
		return v.Const
	}
	if analysis.Anywhere(v) {
		return true
	}
	ok, known := n.cheap[v]
	if !known {
		ok = n.a.fact(v).kind >= ir.Affine && analysis.Remat(v.Def, analysis.RematScalar, func(a *ir.Value) bool { return n.repeatable(a, depth+1) })
		n.cheap[v] = ok
	}
	return ok
}
