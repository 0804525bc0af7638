package warp

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// pointer is the host address of one lane's access, given the address in its space.
func (e *emitter) pointer(sp ir.Space, a ll.Val) ll.Val {
	switch sp {
	case ir.Shared:
		return e.GEP("i8", e.ctx.shared, a)
	case ir.ParamSpace:
		return e.GEP("i8", e.ctx.params, a)
	case ir.Local:
		b := e.IntToPtr(e.base(ir.Local, 1), "ptr")
		return e.GEP("i8", b, e.inWarp(a))
	}
	return e.IntToPtr(a, "ptr")
}

// pattern is how the address of an access differs over the lanes: the address's own shape, and for local memory the
// distance between the threads' elements or stacks.
func (e *emitter) pattern(in *ir.Inst) (s ir.Shape, known bool) {
	a := in.Args[0]
	s = a.Shape
	if a.Const {
		s = ir.Shape{Kind: ir.BlockUniform}
	}
	if in.Space == ir.Local && e.w > 1 {
		if s.Kind < ir.WarpUniform {
			return s, false
		}
		return ir.Shape{Kind: ir.Affine, Stride: e.localStride()}, true
	}
	return s, (s.Kind >= ir.Affine || s.Guess) && (in.Space != ir.Shared || e.closeBy(s))
}

// closeBy reports lanes that are no further from lane 0 than the engine's reservation allows for (ir.LaneReach): what is not lies outside
// of shared memory in any case, and where the offset of each lane says.
func (e *emitter) closeBy(s ir.Shape) bool {
	for l := range e.w {
		if off := laneOffset(s, l); off > ir.LaneReach || off < -ir.LaneReach {
			return false
		}
	}
	return true
}

// parts is a varying address as base + scale × index with 32-bit indices, which gathers want.
type parts struct {
	base  ll.Val // i64
	index ll.Val // <n x i32>, signed
	scale int64
	off   int64
}

// linear is an address as a sum of values that are there where an instruction is.
func (e *emitter) linear(v *ir.Value, in *ir.Inst) analysis.Linear {
	forms := analysis.Forms{Look: func(v *ir.Value) (analysis.Linear, bool) {
		// Behind a barrier only what the passes kept is there; they keep addresses' parts near.
		return analysis.Whole(v), uniform(v) || v.Def == nil || e.f.Regions != nil && v.Def.Block != in.Block
	}}
	return forms.Of(v)
}

// takeApart finds the parts of a varying address: sums of uniform values and one widened, scaled 32-bit index.
func (e *emitter) takeApart(v *ir.Value, in *ir.Inst) (p parts, ok bool) {
	return e.takeApartAs(v, in, in.Space == ir.Shared)
}

// takeApartBiased does so too where the index is extended without a sign: less 2^31 it is one with a sign, and the base lies as much above.
func (e *emitter) takeApartBiased(v *ir.Value, in *ir.Inst) (p parts, ok bool) {
	if p, ok = e.takeApart(v, in); ok {
		return p, true
	}
	if p, ok = e.takeApartAs(v, in, true); ok {
		p.index = e.Xor(p.index, p.index.Int(-1<<31))
		p.off += p.scale << 31
	}
	return p, ok
}

// takeApartAs takes apart an address whose index is extended with its sign, or where that does not matter either way.
func (e *emitter) takeApartAs(v *ir.Value, in *ir.Inst, either bool) (p parts, ok bool) {
	form := e.linear(v, in)
	var index *ir.Value
	var uniforms []*ir.Value
	for _, t := range slices.Backward(form.Terms) {
		switch {
		case uniform(t.V) && t.Ext == ir.Invalid && t.K == 1:
			uniforms = append(uniforms, t.V)
		// An offset in shared memory is far below 2^31: its widening may as well be signed.
		case index == nil && t.V.Type == ir.I32 && (t.Ext == ir.SExt || t.Ext == ir.ZExt && either) && t.K <= 8 && t.K&(t.K-1) == 0:
			index, p.scale = t.V, int64(t.K)
		default:
			return p, false
		}
	}
	if index == nil {
		return p, false
	}
	p.off = int64(form.C)
	if s, ok := e.strideForm(in); ok {
		p.index = s.index(e)
	} else {
		p.index = e.vector(index)
	}
	p.base = ll.Int("i64", 0)
	for i, u := range uniforms {
		if i == 0 {
			p.base = e.scalar(u)
		} else {
			p.base = e.Add(p.base, e.scalar(u))
		}
	}
	return p, true
}

// pointers is the host address of each lane.
func (e *emitter) pointers(in *ir.Inst) ll.Val {
	a := in.Args[0]
	pt := ll.Vec(e.w, "ptr")
	sp := in.Space
	if s, known := e.pattern(in); known && e.w > 1 {
		b := e.pointer(sp, e.scalar(a))
		return e.GEP("i8", b, e.offsets(s, "i64"))
	}
	if sp != ir.Local && a.Shape.Kind < ir.Affine {
		if p, ok := e.takeApart(a, in); ok {
			b := e.pointer(sp, p.base)
			if p.off != 0 {
				b = e.at(b, int(p.off))
			}
			idx := e.SExt(p.index, "i64")
			return e.GEP(ll.IntType(8*int(p.scale)), b, idx)
		}
	}
	var v ll.Val
	if s, ok := e.strideForm(in); ok {
		v = s.addresses(e)
	} else {
		v = e.vector(a)
	}
	switch sp {
	case ir.Shared:
		return e.GEP("i8", e.ctx.shared, v)
	case ir.ParamSpace:
		return e.GEP("i8", e.ctx.params, v)
	case ir.Local:
		v = e.Add(e.inWarp(v), e.base(ir.Local, e.w))
	}
	return e.IntToPtr(v, pt.Elem())
}

// memType is the type a value has in memory.
func memType(t ir.Type) ll.Type {
	if t == ir.I1 {
		return "i8"
	}
	return typ(t)
}
