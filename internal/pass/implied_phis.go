package pass

import "kudzu/internal/ir"

// impliedPhis makes phis what they are on all ways. After it no phi takes a number on some ways and a constant on those where a branch has
// found out that the number is just that constant.
//
// Compilers replace a number by the constant that it was compared with, where they know it: `first ? keys[first - 1] : 0` makes the address
// of keys[first] a phi of 0 and first, of which nobody sees that its lanes are neighbours.
func impliedPhis(st *state) error {
	with := map[*ir.Value]*ir.Value{}
	for _, b := range st.f.Blocks {
		for _, phi := range b.Insts[:numPhis(b)] {
			if v := st.implied(phi); v != nil {
				with[phi.Results[0]] = v
			}
		}
	}
	if len(with) == 0 {
		return st.unchanged()
	}
	for _, b := range st.f.Blocks {
		kept := b.Insts[:0]
		for _, in := range b.Insts {
			if in.Op != ir.Phi || with[in.Results[0]] == nil {
				kept = append(kept, in)
			}
		}
		b.Insts = kept
	}
	replaceAll(st.f, with)
	return nil
}

// implied is the number that phi is on all ways, or nil.
func (st *state) implied(phi *ir.Inst) *ir.Value {
	t := phi.Results[0].Type
	if t.IsFloat() || t == ir.I1 || t.Bits() > 64 {
		return nil
	}
	var v *ir.Value
	constants := false
	for _, a := range phi.Args {
		switch {
		case a.Const:
			constants = true
		case v != nil && v != a:
			return nil
		default:
			v = a
		}
	}
	if !constants || v == nil || v.Def == nil || v.Def.Block == phi.Block || !st.dominators().Dominates(v.Def.Block, phi.Block) {
		return nil
	}
	for i, a := range phi.Args {
		if a.Const && !equalsOn(v, a.Bits, phi.Targets[i], phi.Block) {
			return nil
		}
	}
	return v
}

// equalsOn reports that v is c wherever control goes from one block to the next, since branches that lead only there say so.
func equalsOn(v *ir.Value, c uint64, from, to *ir.Block) bool {
	for range 4 {
		t := from.Term()
		if t.Op == ir.CondBr && t.Targets[0] != t.Targets[1] && t.Args[0].Def != nil {
			d := t.Args[0].Def
			if d.Op == ir.ICmp && d.Args[1].Const && (d.Cmp == ir.EQ && t.Targets[0] == to || d.Cmp == ir.NE && t.Targets[1] == to) {
				if got, ok := valueWhere(v, d.Args[0], d.Args[1].Bits, 6); ok && got == c {
					return true
				}
			}
		}
		if len(from.Preds) != 1 {
			return false
		}
		from, to = from.Preds[0], from
	}
	return false
}

// valueWhere is v where x is c.
func valueWhere(v, x *ir.Value, c uint64, depth int) (uint64, bool) {
	switch {
	case v == x:
		return c & lowBits(v.Type), true
	case v.Const:
		return v.Bits, v.Type.Bits() <= 64
	case v.Def == nil || depth == 0 || v.Type.IsFloat() || v.Type.Bits() > 64:
		return 0, false
	case len(v.Def.Args) == 0 || len(v.Def.Results) != 1 || v.Def.Op == ir.Phi || v.Def.Op.Row().Effects != 0:
		return 0, false
	}
	in := ir.Inst{Op: v.Def.Op, Attr: v.Def.Attr, Results: v.Def.Results}
	for _, a := range v.Def.Args {
		n, ok := valueWhere(a, x, c, depth-1)
		if !ok || a.Type.IsFloat() {
			return 0, false
		}
		in.Args = append(in.Args, ir.ConstInt(a.Type, n))
	}
	n, ok := evaluate(&in, v.Type)
	return n & lowBits(v.Type), ok
}
