package pass

import "kudzu/internal/ir"

// rematScalars rematerialises cheap arithmetic on launch, block and warp numbers in each block that uses it, so that nothing of it
// is live across a barrier: a few scalar operations are cheaper than a slot in every warp's frame, and LLVM hoists what is
// the same for all warps.
func rematScalars(st *state) {
	f := st.f
	n := &remat{a: analyse(st), cheap: map[*ir.Value]int8{}}
	for _, b := range f.Blocks {
		copies := map[*ir.Value]*ir.Value{}
		var out []*ir.Inst
		var near func(v *ir.Value) *ir.Value
		near = func(v *ir.Value) *ir.Value {
			d := v.Def
			if d == nil || d.Block == b || again(d.Op) || !n.repeatable(v, 0) {
				return v
			}
			if c := copies[v]; c != nil {
				return c
			}
			in := f.CloneInst(d, near)
			in.Block = b
			out = append(out, in)
			copies[v] = in.Results[v.Index]
			return in.Results[v.Index]
		}
		for _, in := range b.Insts {
			if in.Op != ir.Phi {
				for i, a := range in.Args {
					in.Args[i] = near(a)
				}
			}
			out = append(out, in)
		}
		b.Insts = out
	}
}

// remat knows which values can be had again for little.
type remat struct {
	a     *shapeAnalysis
	cheap map[*ir.Value]int8 // 1: yes, -1: no
}

// repeatable reports a number that a few scalar operations make of what is there anyway.
func (n *remat) repeatable(v *ir.Value, depth int) bool {
	if v.Const {
		return true
	}
	if v.Def == nil || depth > 5 {
		return false
	}
	if again(v.Def.Op) {
		return true
	}
	if c := n.cheap[v]; c != 0 {
		return c > 0
	}
	ok := n.a.fact(v).kind >= ir.Affine
	switch v.Def.Op {
	case ir.Add, ir.Sub, ir.Shl, ir.ShrU, ir.And, ir.Or, ir.SExt, ir.ZExt, ir.Trunc, ir.Mul, ir.Copy:
	default:
		ok = false
	}
	for _, a := range v.Def.Args {
		ok = ok && n.repeatable(a, depth+1)
	}
	n.cheap[v] = -1
	if ok {
		n.cheap[v] = 1
	}
	return ok
}
