package analysis

import "kudzu/internal/ir"

// RematCost is what it costs to rematerialise a value: to compute it again where its operands are there, instead of keeping it.
type RematCost uint8

const (
	RematFree   RematCost = iota // it depends on the launch, the block and the warp only: any program point has it
	RematFolded                  // a sum, shift or extension, which the addressing of an access takes in
	RematScalar                  // an operation or two on one number for all lanes; on vectors more than a slot to keep it
	RematNever                   // effects, phis, and what is dear
)

var rematCosts = func() (t [ir.NumOps]RematCost) {
	for op := range t {
		t[op] = RematNever
	}
	for _, op := range []ir.Op{ir.Param, ir.SReg, ir.VarAddr, ir.SharedAddr, ir.LocalAddr, ir.ParamAddr, ir.FuncAddr, ir.EntryMask, ir.Undef} {
		t[op] = RematFree
	}
	for _, op := range []ir.Op{ir.Add, ir.Sub, ir.Shl, ir.SExt, ir.ZExt} {
		t[op] = RematFolded
	}
	for _, op := range []ir.Op{ir.ShrU, ir.And, ir.Or, ir.Trunc, ir.Mul, ir.Copy} {
		t[op] = RematScalar
	}
	return t
}()

// Remat reports that d can be computed again for at most cost at a program point where the operands are for which there is true; constants are
// everywhere.
func Remat(d *ir.Inst, cost RematCost, there func(*ir.Value) bool) bool {
	if c := rematCosts[d.Op]; c == RematFree || c > cost {
		return c == RematFree
	}
	for _, a := range d.Args {
		if !a.Const && !there(a) {
			return false
		}
	}
	return true
}

// Anywhere reports a value that needs no register to live in: the emitter has it anywhere.
func Anywhere(v *ir.Value) bool {
	return v.Const || v.Def != nil && rematCosts[v.Def.Op] == RematFree
}
