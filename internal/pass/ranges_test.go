package pass

import (
	"math/rand/v2"
	"testing"

	"kudzu/internal/analysis"
	"kudzu/internal/ir"
)

// ranged are the operations that have a transfer function, with the widths of operands and result; 0: any.
var ranged = []struct {
	op       ir.Op
	args     int
	from, to ir.Type
}{
	{op: ir.Copy, args: 1}, {op: ir.Neg, args: 1}, {op: ir.Not, args: 1},
	{op: ir.Add, args: 2}, {op: ir.Sub, args: 2}, {op: ir.Mul, args: 2}, {op: ir.DivU, args: 2}, {op: ir.RemU, args: 2},
	{op: ir.And, args: 2}, {op: ir.Or, args: 2}, {op: ir.Xor, args: 2},
	{op: ir.MinS, args: 2}, {op: ir.MaxS, args: 2}, {op: ir.MinU, args: 2}, {op: ir.MaxU, args: 2},
	{op: ir.Shl, args: 2}, {op: ir.ShrU, args: 2}, {op: ir.ShrS, args: 2},
	{op: ir.SExt, args: 1, from: ir.I8, to: ir.I32}, {op: ir.ZExt, args: 1, from: ir.I8, to: ir.I32}, {op: ir.Trunc, args: 1, from: ir.I16, to: ir.I8},
	{op: ir.SExt, args: 1, from: ir.I32, to: ir.I64}, {op: ir.ZExt, args: 1, from: ir.I32, to: ir.I64}, {op: ir.Trunc, args: 1, from: ir.I64, to: ir.I32},
	{op: ir.ZExt, args: 1, from: ir.I1, to: ir.I32}, {op: ir.SExt, args: 1, from: ir.I1, to: ir.I32}, {op: ir.Popc, args: 1, to: ir.I32},
}

// TestRanges holds the transfer functions against the values that the operations give: random intervals, and all or some numbers
// of them.
func TestRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 14))
	types := []ir.Type{ir.I8, ir.I16, ir.I32, ir.I64}
	bounded := map[ir.Op]int{}
	for _, c := range ranged {
		for range 4000 {
			from, to := c.from, c.to
			if from == 0 {
				from = types[r.IntN(len(types))]
			}
			if to == 0 {
				to = from
			}
			checkRange(t, r, c.op, c.args, from, to, bounded)
		}
		if bounded[c.op] == 0 {
			t.Errorf("%s: never anything but all numbers", c.op)
		}
	}
}

func checkRange(t *testing.T, r *rand.Rand, op ir.Op, args int, from, to ir.Type, bounded map[ir.Op]int) {
	t.Helper()
	f := &ir.Func{}
	in := f.NewInst(op, []ir.Type{to})
	var within []analysis.Range
	for i := range args {
		x := interval(r, from)
		at, typ := x, from
		if i == 1 && (op == ir.Shl || op == ir.ShrU || op == ir.ShrS) {
			n := int64(r.IntN(from.Bits() + 3))
			at, typ = analysis.Range{Lo: n, Hi: n}, ir.I32
		}
		within = append(within, at)
		in.Args = append(in.Args, f.NewValue(typ))
		if at.Lo == at.Hi {
			in.Args[i] = ir.ConstInt(typ, uint64(at.Lo))
		}
	}
	got := analysis.Transfer(in.Results[0], func(i int) analysis.Range { return within[i] })
	if got != analysis.RangeOf(to) {
		bounded[op]++
	}
	for range 12 {
		at := &ir.Inst{Op: op}
		for i := range args {
			x := within[i]
			n := []int64{x.Lo, x.Hi, x.Lo + int64(r.Uint64()%(uint64(x.Hi-x.Lo)|1)), 0}[r.IntN(4)]
			n = min(max(n, x.Lo), x.Hi)
			at.Args = append(at.Args, ir.ConstInt(in.Args[i].Type, uint64(n)))
		}
		bits, ok := at.Args[0].Bits, true
		if op != ir.Copy {
			bits, ok = evaluate(at, to)
		}
		if n := ir.ConstInt(to, bits).Int(); ok && (n < got.Lo || n > got.Hi) {
			t.Fatalf("%s %s of %v is %d for %v, not in %v", op, to, within, n, at.Args, got)
		}
	}
}

// interval is a random one, often near zero or near the ends of the type.
func interval(r *rand.Rand, t ir.Type) analysis.Range {
	all := analysis.RangeOf(t)
	pick := func() int64 {
		n := r.Int64() >> r.IntN(63)
		switch r.IntN(4) {
		case 0:
			n = -n
		case 1:
			n = all.Hi - n
		case 2:
			n = all.Lo + n
		}
		return min(max(n, all.Lo), all.Hi)
	}
	x, y := pick(), pick()
	return analysis.Range{Lo: min(x, y), Hi: max(x, y)}
}
