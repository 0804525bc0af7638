package analysis

import (
	"testing"

	"kudzu/internal/ir"
)

// Every operation that can be had again has no effects, and no operand decides for one that any place has.
func TestRematCosts(t *testing.T) {
	for op, c := range rematCosts {
		if c != RematNever && (ir.Op(op).Row().Effects != 0 || ir.Op(op) == ir.Phi || ir.Op(op).IsTerm()) {
			t.Errorf("%v has effects", ir.Op(op))
		}
	}
}

func TestRemat(t *testing.T) {
	f := read(t, loop)
	def := map[int]*ir.Inst{}
	for _, b := range f.Blocks {
		for _, in := range b.Insts {
			for _, r := range in.Results {
				def[r.ID] = in
			}
		}
	}
	none := func(*ir.Value) bool { return false }
	all := func(*ir.Value) bool { return true }
	for _, c := range []struct {
		value int
		cost  RematCost
		there func(*ir.Value) bool
		want  bool
	}{
		{0, RematFree, none, true},   // a parameter
		{2, RematFree, none, true},   // tid.x
		{4, RematScalar, all, false}, // a phi
		{6, RematScalar, all, false}, // a comparison: a mask of its own
		{7, RematFolded, all, false}, // a shift down is no part of an address
		{7, RematScalar, all, true},
		{7, RematScalar, none, false},
		{8, RematFolded, all, true},
		{13, RematFolded, func(v *ir.Value) bool { return v.Def.Op == ir.Param }, false}, // one of two operands
	} {
		if got := Remat(def[c.value], c.cost, c.there); got != c.want {
			t.Errorf("%%%d for %d: %v", c.value, c.cost, got)
		}
	}
	if !Anywhere(ir.ConstInt(ir.I32, 1)) || !Anywhere(def[2].Results[0]) || Anywhere(def[8].Results[0]) {
		t.Error("anywhere")
	}
}
