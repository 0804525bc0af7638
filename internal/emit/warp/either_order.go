package warp

import (
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Comparisons whose direction differs between lanes: lane l keeps the larger of a pair or the smaller, as in every step of a bitonic sort.
// Programs compare both ways and choose, and masks are chosen slowly: LLVM makes vectors of words of both and a mask of those.
// Where the choice turns the order over, the numbers are turned over instead, by their sign or all their bits, and compared once.

// eitherOrder emits c ? q : p where q compares as p does with its operands exchanged; false: in is something else.
func (e *emitter) eitherOrder(in *ir.Inst) bool {
	r := in.Results[0]
	if r.Type != ir.I1 || e.w == 1 || r.Shape.Kind != ir.Varying || r.Shape.Guess {
		return false
	}
	c, q, p := chosenMask(in)
	if c == nil || uniform(c) || q == nil || p == nil || q.Op != p.Op || q.Attr != opposed(p.Attr) && q.Attr != p.Attr {
		return false
	}
	x, y := p.Args[0], p.Args[1]
	same := q.Args[0] == x && q.Args[1] == y && q.Attr == opposed(p.Attr)
	if !same && !(q.Args[0] == y && q.Args[1] == x && q.Attr == p.Attr) || !turned(p.Attr.Cmp) {
		return false
	}
	for _, d := range []*ir.Inst{p, q} {
		if e.f.Regions != nil && d.Block != in.Block { // behind a barrier its operands are gone
			return false
		}
	}
	flip := int64(-1)
	pred := orderings[p.Cmp]
	if p.Op == ir.FCmp {
		if x.Type != ir.F32 && x.Type != ir.F64 {
			return false
		}
		flip, pred = int64(float.Formats[x.Type].Sign), float.Preds[p.Cmp]
	}
	turn := func(v *ir.Value) ll.Val {
		n := e.vector(v)
		if p.Op == ir.FCmp {
			n = e.Flushed(p, v.Type, n)
		}
		b := e.Bits(n)
		return e.Bitcast(e.Xor(b, e.Select(e.vector(c), b.Int(flip), b.Int(0))), n.T)
	}
	a, b := turn(x), turn(y)
	if p.Op == ir.FCmp {
		e.set(r, e.FCmp(pred, a, b))
	} else {
		e.set(r, e.ICmp(pred, a, b))
	}
	return true
}

// chosenMask takes c ? q : p apart, as a choice or as compilers write it of bits.
func chosenMask(in *ir.Inst) (c *ir.Value, q, p *ir.Inst) {
	both := func(v *ir.Value) []*ir.Value {
		if v.Def == nil || v.Def.Op != ir.And {
			return nil
		}
		return v.Def.Args
	}
	switch in.Op {
	case ir.Select:
		return in.Args[0], comparison(in.Args[1]), comparison(in.Args[2])
	case ir.Or:
		for i := range 2 {
			yes, no := both(in.Args[i]), both(in.Args[1-i])
			if yes == nil || no == nil {
				return nil, nil, nil
			}
			for j := range 2 {
				for k := range 2 {
					if contrary(yes[j], no[k]) {
						return yes[j], comparison(yes[1-j]), comparison(no[1-k])
					}
				}
			}
		}
	}
	return nil, nil, nil
}

// contrary reports two bits of which always one is set: one is the other's complement, or they are an equality and its opposite.
func contrary(a, b *ir.Value) bool {
	x, y := a.Def, b.Def
	switch {
	case x == nil || y == nil:
		return false
	case x.Op == ir.Not && x.Args[0] == b || y.Op == ir.Not && y.Args[0] == a:
		return true
	case x.Op != ir.ICmp || y.Op != ir.ICmp || x.Args[0] != y.Args[0]:
		return false
	case x.Args[1] != y.Args[1] && !(x.Args[1].Const && y.Args[1].Const && x.Args[1].Bits == y.Args[1].Bits && x.Args[1].Type == y.Args[1].Type):
		return false
	}
	return x.Cmp.Negated() == y.Cmp
}

func comparison(v *ir.Value) *ir.Inst {
	if d := v.Def; d != nil && (d.Op == ir.FCmp || d.Op == ir.ICmp) {
		return d
	}
	return nil
}

// turned reports an order, which is the opposite one of numbers turned over.
func turned(c ir.Cmp) bool { return c.Swapped() != c }

// opposed is the comparison that holds of a and b when this one does of b and a.
func opposed(a ir.Attr) ir.Attr {
	a.Cmp = a.Cmp.Swapped()
	return a
}
