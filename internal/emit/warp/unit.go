package warp

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// maxNarrow is how many numbers of 32 bits an address may differ by: sums of as many below 2^29 do not wrap.
const maxNarrow = 4

// narrowForm is the address of an access as a sum in which lanes differ by few counts of elements, of 32 bits: an index that was divided into
// coordinates. Lanes are compared by the sum of those, in half the registers that addresses take. Accesses to several planes of a picture
// differ by what is uniform, so that they are compared once.
func (e *emitter) narrowForm(a *access) (analysis.Linear, bool) {
	if a.in.Args[0].Type != ir.I64 {
		return analysis.Linear{}, false
	}
	form := e.linear(a.in.Args[0], a.in)
	n := 0
	for _, t := range form.Terms {
		if uniform(t.V) {
			continue
		}
		if n++; n > maxNarrow || t.V.Type != ir.I32 || t.Ext != ir.SExt && t.Ext != ir.ZExt || t.K != uint64(a.elem) {
			return form, false
		}
	}
	return form, n > 0
}

// isUnitNarrow asks whether the sum of what lanes differ by counts them. Numbers that are negative or may wrap are for gathers.
func (e *emitter) isUnitNarrow(a *access, form analysis.Linear) ll.Val {
	const large = -1 << 29
	var sum, bits ll.Val
	for _, t := range form.Terms {
		switch {
		case uniform(t.V):
		case sum.IsZero():
			sum = e.vector(t.V)
			bits = sum
		default:
			sum, bits = e.Add(sum, e.vector(t.V)), e.Or(bits, e.vector(t.V))
		}
	}
	bits = e.And(bits, bits.Int(large))
	first := e.Extract(sum, 0)
	same := e.ICmp("eq", e.Or(e.Xor(sum, e.Add(e.splat(first), e.iota("i32"))), bits), bits.Int(0))
	if !a.all {
		same = e.Or(same, e.Not(a.mask))
	}
	all := e.ICmp("eq", e.number(same), ll.Int("i32", -1))
	if a.all {
		return all
	}
	// Lane 0 gives the address although it may not act.
	return e.And(all, e.ICmp("eq", e.Extract(bits, 0), ll.Int("i32", 0)))
}

// firstOf is the number that lane 0 has.
func (e *emitter) firstOf(form analysis.Linear) ll.Val {
	sum := ll.Int("i64", int64(form.C))
	for _, t := range form.Terms {
		x := e.laneZero(t.V)
		switch t.Ext {
		case ir.SExt:
			x = e.SExt(x, "i64")
		case ir.ZExt:
			x = e.ZExt(x, "i64")
		}
		if t.K != 1 {
			x = e.Mul(x, ll.Int("i64", int64(t.K)))
		}
		sum = e.Add(sum, x)
	}
	return sum
}

func (e *emitter) laneZero(v *ir.Value) ll.Val {
	if uniform(v) {
		return e.scalar(v)
	}
	return e.Extract(e.vector(v), 0)
}
