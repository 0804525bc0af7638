package analysis

import "kudzu/internal/ir"

// Carried takes a phi of a loop's header apart: the value of the first iteration, and the one that an iteration hands to the next. One
// is nil where several edges bring different values.
func Carried(l *ir.Loop, phi *ir.Inst) (start, next *ir.Value) {
	var mixed [2]bool
	for i, from := range phi.Targets {
		at, n := &start, 0
		if l.Contains(from) {
			at, n = &next, 1
		}
		mixed[n] = mixed[n] || *at != nil && *at != phi.Args[i]
		*at = phi.Args[i]
	}
	if mixed[0] {
		start = nil
	}
	if mixed[1] {
		next = nil
	}
	return start, next
}

// Induction is the induction variables of a loop: the basic ones, header phis to which every iteration adds the same, and what is
// derived of them, sums and products of them with what the loop does not change.
type Induction struct {
	Loop  *ir.Loop
	exact Forms
	loose Forms // extensions count as if nothing wrapped
	vars  map[*ir.Inst]*InductionVar
}

// InductionVar is a basic induction variable.
type InductionVar struct {
	Start, Next *ir.Value // as Carried
	Step        Linear    // a constant, or a sum of what is computed outside of the loop
}

// NewInduction analyses l, on demand. The loop must not change meanwhile.
func NewInduction(l *ir.Loop) *Induction {
	n := &Induction{Loop: l, vars: map[*ir.Inst]*InductionVar{}}
	n.exact.Look = func(v *ir.Value) (Linear, bool) { return Whole(v), n.leaf(v) }
	n.loose.Look = func(v *ir.Value) (Linear, bool) {
		if n.leaf(v) {
			return Whole(v), true
		}
		switch d := v.Def; d.Op {
		case ir.SExt, ir.ZExt:
			return n.loose.Of(d.Args[0]).widened(), true
		}
		return Linear{}, false
	}
	return n
}

// leaf reports what strides are made of: values from outside of the loop, and phis.
func (n *Induction) leaf(v *ir.Value) bool { return n.Invariant(v) || v.Def.Op == ir.Phi }

// Invariant reports a value that the loop does not compute.
func (n *Induction) Invariant(v *ir.Value) bool { return v.Def == nil || !n.Loop.Contains(v.Def.Block) }

// Var is the basic induction variable that phi is; nil: it is none.
func (n *Induction) Var(phi *ir.Inst) *InductionVar {
	if v, ok := n.vars[phi]; ok {
		return v
	}
	v := n.basic(phi)
	n.vars[phi] = v
	return v
}

func (n *Induction) basic(phi *ir.Inst) *InductionVar {
	if phi.Op != ir.Phi || phi.Block != n.Loop.Header || !counted(phi.Results[0].Type) {
		return nil
	}
	v := &InductionVar{Step: Linear{Bits: -1}}
	v.Start, v.Next = Carried(n.Loop, phi)
	for i, from := range phi.Targets { // the same along every back edge
		if !n.Loop.Contains(from) {
			continue
		}
		step := n.exact.Of(phi.Args[i]).Plus(Whole(phi.Results[0]), -1)
		for _, t := range step.Terms {
			if !n.Invariant(t.V) {
				return nil
			}
		}
		if v.Step.Bits >= 0 && !v.Step.Equal(step) {
			return nil
		}
		v.Step = step
	}
	return v
}

// Stride is by how much an integer grows in an iteration: a constant, or with terms that are computed outside of the loop; false: not
// by the same in each. It holds as long as no counter wraps, which is enough to say what code is worth; 64 bits wide.
func (n *Induction) Stride(v *ir.Value) (Linear, bool) {
	r := Linear{Bits: 64}
	for _, t := range n.loose.Of(v).widened().Terms {
		if n.Invariant(t.V) {
			continue
		}
		x := n.Var(t.V.Def)
		if x == nil {
			return r, false
		}
		r = r.Plus(x.Step.widened(), int64(t.K))
	}
	return r, true
}

// Trips is how often the body of a loop runs that is left by one branch, at the end of an iteration, when a counter of a constant step
// hits a number that the loop does not change: the linear form is the product with the step's amount, made by forms.
func (n *Induction) Trips(exit *ir.Inst, forms *Forms) (product Linear, step int64, ok bool) {
	test := exit.Args[0].Def
	if test == nil || test.Op != ir.ICmp || !n.Invariant(test.Args[1]) {
		return product, 0, false
	}
	if stays := n.Loop.Contains(exit.Targets[0]); !(stays && test.Cmp == ir.NE || !stays && test.Cmp == ir.EQ) {
		return product, 0, false
	}
	at := n.exact.Of(test.Args[0])
	if len(at.Terms) != 1 || at.Terms[0].K != 1 || at.Terms[0].Ext != 0 || at.Terms[0].V.Def == nil {
		return product, 0, false
	}
	v := n.Var(at.Terms[0].V.Def)
	if v == nil || v.Start == nil {
		return product, 0, false
	}
	if step, ok = v.Step.Constant(); !ok {
		return product, 0, false
	}
	// start + (trips-1) × step + at.C = until
	product = forms.Of(test.Args[1]).Plus(forms.Of(v.Start), -1)
	product = product.Plus(Linear{C: uint64(step) - at.C}, 1)
	if step < 0 {
		return Linear{Bits: product.Bits}.Plus(product, -1), step, true
	}
	return product, step, true
}

// BlockStep is by how much a special register is larger in the next block of a row of blocks; false: nobody knows.
func BlockStep(s ir.SpecialReg) (int64, bool) {
	switch s {
	case ir.CtaidX:
		return 1, true
	case ir.TidX, ir.TidY, ir.TidZ, ir.LaneID, ir.WarpID, ir.CtaidY, ir.CtaidZ, ir.NctaidX, ir.NctaidY, ir.NctaidZ, ir.NtidX, ir.NtidY, ir.NtidZ:
		return 0, true
	}
	return 0, false
}
