package pass

import (
	"slices"

	"kudzu/internal/ir"
)

// laneStrides writes addresses whose lanes are a uniform distance apart as such: after it the part in which they differ is
// base + stride × lane, with base and stride uniform, where the stride is a number that only the launch knows.
//
// The emitter then tests one number for all lanes (is the stride the element's size, or 0?), and everything that led to the address is
// scalar. Sums and products modulo 2^n give exactly the number that was there, so nothing is assumed of their size.
func laneStrides(st *state) error {
	if st.m.Width != 32 || st.m.Jam > 1 || st.never("lane_strides") {
		return st.unchanged()
	}
	s := &strides{st: st, f: st.f, a: st.shapes(), split: map[*ir.Value][2]*ir.Value{}}
	s.candidates()
	if len(s.may) == 0 {
		return st.unchanged()
	}
	var leaves []*ir.Value
	for _, b := range s.f.Blocks {
		for _, in := range b.Insts {
			if in.Op == ir.Load && in.Space != ir.ParamSpace && in.Space != ir.Local || in.Op == ir.Store && in.Space != ir.Local {
				if l, ok := s.leaves(in.Args[0], 0); ok {
					leaves = append(leaves, l...)
				}
			}
		}
	}
	if len(leaves) == 0 {
		return st.unchanged()
	}
	is := map[*ir.Value]bool{}
	for _, v := range leaves {
		is[v] = true
	}
	with := map[*ir.Value]*ir.Value{}
	for _, v := range leaves {
		if with[v] == nil && !s.stepped(v, is) && s.scaled(v, map[*ir.Value]bool{}) {
			with[v] = s.rewritten(v)
		}
	}
	s.place(with)
	st.changed(values)
	if err := simplify(st); err != nil {
		return err
	}
	if err := cse(st); err != nil {
		return err
	}
	return dce(st)
}

// strides finds values that are base + stride × lane.
type strides struct {
	st *state
	f  *ir.Func
	a  *shapeAnalysis

	may   map[*ir.Value]bool         // such a value, with a stride that is no constant
	split map[*ir.Value][2]*ir.Value // its base and stride
	after map[*ir.Inst][]*ir.Inst    // what is computed behind an instruction
	lanes map[ir.Type]*ir.Value      // the lane's number
	heads map[*ir.Block][]*ir.Inst   // phis
	first []*ir.Inst                 // at the start of the kernel
}

// part reports a value that is uniform, affine, or a candidate.
func (s *strides) part(v *ir.Value) bool {
	f := s.a.fact(v)
	return f.kind >= ir.WarpUniform || f.kind == ir.Affine && f.pat.seg == 0 && f.pat.tab == "" || s.may[v]
}

// candidates are first all varying sums and products with uniform numbers, then those without one that depends on anything else.
func (s *strides) candidates() {
	s.may = map[*ir.Value]bool{}
	var list []*ir.Value
	for _, b := range s.a.rpo {
		for _, in := range b.Insts {
			if len(in.Results) != 1 {
				continue
			}
			v := in.Results[0]
			f := s.a.fact(v)
			if v.Type != ir.I32 && v.Type != ir.I64 || f.kind != ir.Varying || f.guess || f.seg != 0 {
				continue
			}
			switch in.Op {
			case ir.Add, ir.Sub, ir.Mul, ir.Neg, ir.Copy, ir.Trunc, ir.Shl, ir.Phi:
				s.may[v] = true
				list = append(list, v)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, v := range list {
			if s.may[v] && !s.holds(v.Def) {
				delete(s.may, v)
				changed = true
			}
		}
	}
}

// holds reports an operation that gives a candidate if its operands are some.
func (s *strides) holds(in *ir.Inst) bool {
	uniform := func(v *ir.Value) bool { return s.a.fact(v).kind >= ir.WarpUniform }
	switch in.Op {
	case ir.Mul:
		if !uniform(in.Args[0]) && !uniform(in.Args[1]) {
			return false
		}
	case ir.Shl:
		return in.Args[1].Const && in.Args[1].Bits < uint64(in.Results[0].Type.Bits()) && s.part(in.Args[0])
	case ir.Phi:
		if i := s.a.at(in.Block); s.a.varyingPhis[i] {
			return false
		}
	}
	for _, x := range in.Args {
		if !s.part(x) {
			return false
		}
	}
	return true
}

// leaves are the candidates that an address is the sum of, whatever widens them; false: it has other parts that vary.
func (s *strides) leaves(v *ir.Value, depth int) (list []*ir.Value, ok bool) {
	f := s.a.fact(v)
	switch {
	case f.kind >= ir.WarpUniform:
		return nil, true
	case s.may[v]:
		return []*ir.Value{v}, true
	case v.Def == nil || depth > 8 || f.kind == ir.Affine || f.guess || f.seg != 0:
		return nil, false
	}
	switch d := v.Def; d.Op {
	case ir.SExt, ir.ZExt:
		return s.leaves(d.Args[0], depth+1)
	case ir.Shl:
		if d.Args[1].Const {
			return s.leaves(d.Args[0], depth+1)
		}
	case ir.Mul:
		if d.Args[1].Const {
			return s.leaves(d.Args[0], depth+1)
		}
	case ir.Add:
		x, okx := s.leaves(d.Args[0], depth+1)
		y, oky := s.leaves(d.Args[1], depth+1)
		return append(x, y...), okx && oky
	}
	return nil, false
}

// stepped reports a candidate that is a uniform step from another: the emitter looks for stores in steps, and knows them by that sum.
func (s *strides) stepped(v *ir.Value, is map[*ir.Value]bool) bool {
	d := v.Def
	return d.Op == ir.Add && (is[d.Args[0]] && s.a.fact(d.Args[1]).kind >= ir.WarpUniform || is[d.Args[1]] && s.a.fact(d.Args[0]).kind >= ir.WarpUniform)
}

// scaled reports a candidate with a product of the launch in it. Without one its stride is a choice among constants, mostly of a value
// that one way does not have: the emitter's test of all lanes is better than a stride that is carried through loops.
func (s *strides) scaled(v *ir.Value, seen map[*ir.Value]bool) bool {
	if !s.may[v] || seen[v] {
		return false
	}
	seen[v] = true
	d := v.Def
	if d.Op == ir.Mul && !d.Args[0].Const && !d.Args[1].Const {
		return true
	}
	return slices.ContainsFunc(d.Args, func(x *ir.Value) bool { return s.scaled(x, seen) })
}

// put has in computed behind at.
func (s *strides) put(at *ir.Inst, op ir.Op, t ir.Type, args ...*ir.Value) *ir.Value {
	in := s.f.NewInst(op, []ir.Type{t}, args...)
	in.Line = at.Line
	if s.after == nil {
		s.after = map[*ir.Inst][]*ir.Inst{}
	}
	s.after[at] = append(s.after[at], in)
	return in.Results[0]
}

// parts is v as base and stride, both uniform.
func (s *strides) parts(v *ir.Value) (base, stride *ir.Value) {
	if p, ok := s.split[v]; ok {
		return p[0], p[1]
	}
	f := s.a.fact(v)
	t := v.Type
	switch {
	case f.kind >= ir.WarpUniform:
		return v, ir.ConstInt(t, 0)
	case f.kind == ir.Affine:
		base, stride = s.put(v.Def, ir.FirstLane, t, v), ir.ConstInt(t, uint64(f.pat.s))
		s.split[v] = [2]*ir.Value{base, stride}
		return base, stride
	}
	d := v.Def
	if d.Op == ir.Phi {
		var phis [2]*ir.Inst
		for i := range phis {
			phis[i] = s.f.NewInst(ir.Phi, []ir.Type{t})
			phis[i].Line, phis[i].Targets = d.Line, slices.Clone(d.Targets)
		}
		if s.heads == nil {
			s.heads = map[*ir.Block][]*ir.Inst{}
		}
		s.heads[d.Block] = append(s.heads[d.Block], phis[:]...)
		s.split[v] = [2]*ir.Value{phis[0].Results[0], phis[1].Results[0]} // before its arguments: they may depend on it
		for _, x := range d.Args {
			b, k := s.parts(x)
			phis[0].Args, phis[1].Args = append(phis[0].Args, b), append(phis[1].Args, k)
		}
		return phis[0].Results[0], phis[1].Results[0]
	}
	b, k := s.parts(d.Args[0])
	switch d.Op {
	case ir.Mul:
		by := d.Args[1]
		if s.a.fact(by).kind < ir.WarpUniform {
			by = d.Args[0]
			b, k = s.parts(d.Args[1])
		}
		base, stride = s.put(d, ir.Mul, t, b, by), s.put(d, ir.Mul, t, k, by)
	case ir.Shl:
		base, stride = s.put(d, ir.Shl, t, b, d.Args[1]), s.put(d, ir.Shl, t, k, d.Args[1])
	case ir.Add, ir.Sub:
		c, l := s.parts(d.Args[1])
		base, stride = s.put(d, d.Op, t, b, c), s.put(d, d.Op, t, k, l)
	default:
		base, stride = s.put(d, d.Op, t, b), s.put(d, d.Op, t, k)
	}
	s.split[v] = [2]*ir.Value{base, stride}
	return base, stride
}

// rewritten is v as base + stride × lane.
func (s *strides) rewritten(v *ir.Value) *ir.Value {
	base, stride := s.parts(v)
	return s.put(v.Def, ir.Add, v.Type, base, s.put(v.Def, ir.Mul, v.Type, stride, s.lane(v.Type)))
}

// lane is the lane's number.
func (s *strides) lane(t ir.Type) *ir.Value {
	if s.lanes == nil {
		s.lanes = map[ir.Type]*ir.Value{}
	}
	if v := s.lanes[t]; v != nil {
		return v
	}
	var in *ir.Inst
	if t == ir.I32 {
		in = s.f.NewInst(ir.SReg, []ir.Type{t})
		in.Sreg = ir.LaneID
	} else {
		in = s.f.NewInst(ir.ZExt, []ir.Type{t}, s.lane(ir.I32))
	}
	s.first = append(s.first, in)
	s.lanes[t] = in.Results[0]
	return in.Results[0]
}

// place puts the new instructions into their blocks, and has accesses use them.
func (s *strides) place(with map[*ir.Value]*ir.Value) {
	replaceAll(s.f, with)
	for i, b := range s.f.Blocks {
		n := numPhis(b)
		list := append(slices.Clone(b.Insts[:n]), s.heads[b]...)
		if i == 0 {
			list = append(list, s.first...)
		}
		for _, in := range b.Insts[:n] {
			list = append(list, s.after[in]...)
		}
		for _, in := range b.Insts[n:] {
			list = append(append(list, in), s.after[in]...)
		}
		for _, in := range list {
			in.Block = b
		}
		b.Insts = list
	}
}
