package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// Offsets in shared memory are numbers of 64 bits to the program and of 32 to gathers and scatters. Sums and products of their low halves
// are the low halves of sums and products, and take half as many vectors: LLVM narrows them by itself only where an address is used once,
// and one that is counted up is read and written.

// offset32 is the low half of v, an address that is used by in.
func (e *emitter) offset32(v *ir.Value, in *ir.Inst) ll.Val {
	if v.Type != ir.I64 {
		return e.vector(v)
	}
	if e.where != e.Cur() {
		clear(e.cache)
		clear(e.halves)
		e.where = e.Cur()
	}
	if x, ok := e.halves[v]; ok {
		return x
	}
	x := e.lowHalf(v, in)
	e.halves[v] = x
	return x
}

func (e *emitter) lowHalf(v *ir.Value, in *ir.Inst) ll.Val {
	low := func(x ll.Val) ll.Val { return e.Trunc(x, "i32") }
	if v.Const || v.Shape.Kind >= ir.Affine {
		x := e.splat(low(e.scalar(v)))
		if s := v.Shape; !v.Const && s.Kind < ir.WarpUniform {
			x = e.Add(x, e.offsets(s, "i32"))
		}
		return x
	}
	d := v.Def
	if d == nil || e.f.Regions != nil && d.Block != in.Block { // behind a barrier its operands are gone
		return low(e.vector(v))
	}
	half := func(i int) ll.Val { return e.offset32(d.Args[i], in) }
	switch d.Op {
	case ir.Add:
		return e.Add(half(0), half(1))
	case ir.Sub:
		return e.Sub(half(0), half(1))
	case ir.Mul:
		return e.Mul(half(0), half(1))
	case ir.And:
		return e.And(half(0), half(1))
	case ir.Or:
		return e.Or(half(0), half(1))
	case ir.Shl:
		if n := d.Args[1]; n.Const && n.Bits < 32 {
			x := half(0)
			return e.Shl(x, x.Int(int64(n.Bits)))
		}
	case ir.ZExt, ir.SExt:
		if d.Args[0].Type == ir.I32 {
			return e.vector(d.Args[0])
		}
	}
	return low(e.vector(v))
}
