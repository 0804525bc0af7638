package warp

import (
	"slices"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// strided is an address whose lanes are a distance apart that only the launch knows (pass/lane_strides.go): one number is tested for all of
// them.
type strided struct {
	form   analysis.Linear
	at     int       // the term that differs
	base   *ir.Value // nil: 0
	stride *ir.Value
}

// strideForm finds the form; its parts must be there where the access is.
func (e *emitter) strideForm(in *ir.Inst) (s strided, ok bool) {
	if v := in.Args[0]; e.w != 32 || v.Const || in.Space == ir.Local || v.Shape.Kind != ir.Varying || v.Shape.Guess || v.Shape.Seg > 0 {
		return s, false
	}
	s.form = e.linear(in.Args[0], in)
	n := 0
	for i, t := range s.form.Terms {
		if uniform(t.V) {
			continue
		}
		n++
		s.at = i
		s.base, s.stride, ok = laneMultiple(t.V)
		ok = ok && e.reachable(s.stride, in) && (s.base == nil || e.reachable(s.base, in))
	}
	return s, ok && n == 1
}

// laneMultiple takes base + stride × lane apart.
func laneMultiple(v *ir.Value) (base, stride *ir.Value, ok bool) {
	d := v.Def
	if d != nil && d.Op == ir.Add {
		x, y := d.Args[0], d.Args[1]
		if uniform(y) {
			x, y = y, x
		}
		if !uniform(x) {
			return nil, nil, false
		}
		base, d = x, y.Def
	}
	if d == nil || d.Op != ir.Mul {
		return nil, nil, false
	}
	x, y := d.Args[0], d.Args[1]
	if uniform(y) {
		x, y = y, x
	}
	return base, x, uniform(x) && isLane(y)
}

// isLane reports the number of the lane.
func isLane(v *ir.Value) bool {
	d := v.Def
	if d != nil && d.Op == ir.ZExt {
		d = d.Args[0].Def
	}
	return d != nil && d.Op == ir.SReg && d.Sreg == ir.LaneID
}

// widen is a number of the term that differs, as it is added to the address.
func (s strided) widen(e *emitter, v *ir.Value) ll.Val {
	if v == nil {
		return ll.Int("i64", 0)
	}
	x := e.scalar(v)
	switch s.form.Terms[s.at].Ext {
	case ir.SExt:
		x = e.SExt(x, "i64")
	case ir.ZExt:
		x = e.ZExt(x, "i64")
	}
	return x
}

// step is the distance between lanes, where no lane wraps.
func (s strided) step(e *emitter) ll.Val {
	k := e.scalar(s.stride)
	if k.T != "i64" { // a step back is one, whichever way the number is widened
		k = e.SExt(k, "i64")
	}
	return e.Mul(k, ll.Int("i64", int64(s.form.Terms[s.at].K)))
}

// first is lane 0's address.
func (s strided) first(e *emitter) ll.Val {
	rest := s.form
	rest.Terms = slices.Delete(slices.Clone(rest.Terms), s.at, s.at+1)
	return e.Add(e.firstOf(rest), e.Mul(s.widen(e, s.base), ll.Int("i64", int64(s.form.Terms[s.at].K))))
}

// unit asks whether lanes follow each other in elements of size bytes. A number of 32 bits must not wrap between them.
func (s strided) unit(e *emitter, size int) ll.Val {
	is := e.ICmp("eq", s.step(e), ll.Int("i64", int64(size)))
	t := s.form.Terms[s.at]
	if t.Ext != ir.SExt && t.Ext != ir.ZExt {
		return is
	}
	// The stride is size / K, which is small, if the first test holds.
	b, k := ll.Int("i32", 0), e.scalar(s.stride)
	if s.base != nil {
		b = e.scalar(s.base)
	}
	last := e.Add(b, e.Mul(k, k.Int(31)))
	name := ll.Pred("ule")
	if t.Ext == ir.SExt {
		name = "sle"
	}
	return e.And(is, e.ICmp(name, b, last))
}

// one asks whether all lanes have one address, and one of them acts.
func (s strided) one(e *emitter, a *access) ll.Val {
	k := e.scalar(s.stride)
	is := e.ICmp("eq", k, k.Int(0))
	if a.all {
		return is
	}
	return e.And(is, e.ICmp("ne", e.number(a.mask), ll.Int("i32", 0)))
}

// index is the number of each lane that is added to the address, before it is widened.
func (s strided) index(e *emitter) ll.Val {
	x := e.Mul(e.splat(e.scalar(s.stride)), e.iota(typ(s.stride.Type)))
	if s.base == nil {
		return x
	}
	return e.Add(e.splat(e.scalar(s.base)), x)
}

// addresses is the address of each lane, made here: where lanes follow each other nobody asks for it.
func (s strided) addresses(e *emitter) ll.Val {
	t := s.form.Terms[s.at]
	x := s.index(e)
	switch t.Ext {
	case ir.SExt:
		x = e.SExt(x, "i64")
	case ir.ZExt:
		x = e.ZExt(x, "i64")
	}
	if t.K != 1 {
		x = e.Mul(x, x.Int(int64(t.K)))
	}
	rest := s.form
	rest.Terms = slices.Delete(slices.Clone(rest.Terms), s.at, s.at+1)
	return e.Add(e.splat(e.firstOf(rest)), x)
}
