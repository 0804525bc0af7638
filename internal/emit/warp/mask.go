package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// mask is the lanes that act: a vector of bits. all says that it is every lane.
func (e *emitter) mask(in *ir.Inst) (m ll.Val, all bool) {
	if in.Mask == nil {
		return ll.Splat(e.w, ll.Int("i1", 1)), true
	}
	return e.vector(in.Mask), false
}

// active is the mask as a number, bit i for lane i.
func (e *emitter) active(in *ir.Inst) ll.Val {
	m, all := e.mask(in)
	if all {
		if e.w == 1 {
			return ll.Int("i32", 1)
		}
		return ll.Int("i32", -1)
	}
	return e.number(m)
}

// number turns a vector of bits into an i32.
func (e *emitter) number(m ll.Val) ll.Val {
	if e.w == 1 {
		return e.ZExt(m, "i32")
	}
	return e.Bitcast(m, "i32")
}

// fromNumber is the way back.
func (e *emitter) fromNumber(x ll.Val) ll.Val {
	if e.w == 1 {
		return e.Trunc(x, "i1")
	}
	t := ll.Vec(e.w, "i1")
	return e.Bitcast(x, t)
}

// ballot is the lanes in which v is true, acting or not.
func (e *emitter) ballot(v *ir.Value) ll.Val {
	if uniform(v) && e.w > 1 {
		return e.SExt(e.scalar(v), "i32")
	}
	return e.number(e.vector(v))
}

// ifAny runs then only if some lane of mask acts.
func (e *emitter) ifAny(m ll.Val, then func()) {
	some := e.ICmp("ne", e.number(m), ll.Int("i32", 0))
	yes, out := e.NewLabel("any"), e.NewLabel("go")
	e.CondBr(some, yes, out)
	e.label(yes)
	then()
	e.Br(out)
	e.label(out)
}

// choose is an if with a value.
func (e *emitter) choose(c ll.Val, hint string, yes, no func() []ll.Val) []ll.Val {
	a, b, out := e.NewLabel(hint), e.NewLabel(hint+".not"), e.NewLabel(hint+".out")
	e.CondBr(c, a, b)
	e.label(a)
	x := yes()
	from1 := e.Cur()
	e.Br(out)
	e.label(b)
	y := no()
	from2 := e.Cur()
	e.Br(out)
	e.label(out)
	r := make([]ll.Val, len(x))
	for i := range x {
		p := e.Phi(x[i].T)
		p.Add(x[i], from1)
		p.Add(y[i], from2)
		r[i] = p.Val
	}
	return r
}

func emitAnyLane(e *emitter, in *ir.Inst) {
	v := in.Args[0]
	if uniform(v) {
		e.set(in.Results[0], e.scalar(v))
		return
	}
	if c, ok := e.orderedOf(v, in, false); ok {
		e.set(in.Results[0], c)
		return
	}
	e.set(in.Results[0], e.ICmp("ne", e.number(e.vector(v)), ll.Int("i32", 0)))
}

// orderings are LLVM's names of comparisons that are orders.
var orderings = map[ir.Cmp]ll.Pred{ir.LT: "slt", ir.LE: "sle", ir.GT: "sgt", ir.GE: "sge", ir.LO: "ult", ir.LS: "ule", ir.HI: "ugt", ir.HS: "uge"}

// orderedOf is whether a comparison of growing numbers with one number holds in any lane, or in all: whether it does in the first, or
// the last.
func (e *emitter) orderedOf(v *ir.Value, in *ir.Inst, all bool) (ll.Val, bool) {
	d, not := v.Def, false
	if d != nil && d.Op == ir.Not {
		d, not = d.Args[0].Def, true
	}
	if d == nil || d.Op != ir.ICmp || e.w != 32 || e.f.Regions != nil && d.Block != in.Block { // behind a barrier its operands are gone
		return ll.Val{}, false
	}
	cmp := d.Cmp
	if not {
		cmp = cmp.Negated()
	}
	x, y := d.Args[0], d.Args[1]
	s := x.Shape
	name := orderings[cmp]
	if name == "" || x.Const || s.Kind != ir.Affine || s.Seg != 0 || s.Stride <= 0 || !uniform(y) {
		return ll.Val{}, false
	}
	if signed := name[0] == 's'; signed && !s.NoWrap || !signed && !s.NoWrapU {
		return ll.Val{}, false
	}
	lane := e.scalar(x)
	if (name[1] == 'g') != all {
		lane = e.Add(lane, lane.Int(s.Stride*31))
	}
	return e.ICmp(name, lane, e.scalar(y)), true
}

func emitAllLanes(e *emitter, in *ir.Inst) {
	v := in.Args[0]
	if uniform(v) {
		e.set(in.Results[0], e.scalar(v))
		return
	}
	if c, ok := e.orderedOf(v, in, true); ok {
		e.set(in.Results[0], c)
		return
	}
	e.set(in.Results[0], e.ICmp("eq", e.number(e.vector(v)), ll.Int("i32", -1)))
}

func emitFirstLane(e *emitter, in *ir.Inst) { e.set(in.Results[0], e.scalar(in.Args[0])) }
