package warp

import (
	"math/bits"

	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitDiv divides vectors as doubles: processors divide no vectors of integers.
func emitDiv(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		switch width := a[0].T.ElemBits(); {
		case n == 32 && width == 32 && !emit.PlainDivisor(in) && uniform(in.Args[1]) && !fromMemory(in.Args[0], 0):
			return e.rowDiv(in, a[0], a[1])
		case n > 1 && width <= 32 && !emit.PlainDivisor(in):
			return e.floatDiv(in.Op, a[0], a[1])
		case n > 1 && width == 64 && e.cpu.avx512 && !powerOfTwo(in.Args[1]):
			return e.longDiv(in.Op, a[0], a[1])
		}
		return emit.Div(e.Func, in, a)
	})
}

// powerOfTwo reports a constant that divides by shifts, whatever its sign.
func powerOfTwo(v *ir.Value) bool {
	n := v.Int()
	return v.Const && bits.OnesCount64(uint64(max(n, -n))) == 1 && n != -1
}

// floatDiv divides integers of up to 32 bits as doubles: both are exact there, the quotient is off by less than one, and
// truncation gives the right integer because a quotient below an integer by less than 2^-53 of it cannot occur.
func (e *emitter) floatDiv(op ir.Op, x, y ll.Val) ll.Val {
	const elem = "i32"
	signed := op == ir.DivS || op == ir.RemS
	to, from, ext := ll.Conv("uitofp"), ll.Conv("fptoui"), ll.Conv("zext")
	if signed {
		to, from, ext = "sitofp", "fptosi", "sext"
	}
	_, orig := x.T.Split()
	xw, yw := e.Convert(ext, x, elem), e.Convert(ext, y, elem)
	zero := e.ICmp("eq", y, y.Int(0))
	d := e.Select(e.ICmp("eq", yw, yw.Int(0)), yw.Int(1), yw)
	q := e.FDiv(e.Convert(to, xw, "double"), e.Convert(to, d, "double"))
	qi := e.Convert(from, q, elem)
	if signed { // the only quotient outside i32 is -2^31 / -1
		const above = 0x41e0000000000000 // 2^31
		qi = e.Select(e.FCmp("oge", q, q.Float(above)), qi.Int(-1<<31), e.Freeze(qi))
	}
	if op == ir.DivS || op == ir.DivU {
		r := e.Trunc(qi, orig)
		return e.Select(zero, r.Int(-1), r)
	}
	r := e.Sub(xw, e.Mul(qi, d))
	r = e.Trunc(r, orig)
	return e.Select(zero, x.Int(-1), r)
}

// rowDiv divides an index by the length of a row: neighbours are mostly in one row, and lane 0's quotient, a scalar's,
// is that of all. It is if no lane is less than its row's start, or a row's length beyond; the row must end before
// numbers wrap.
func (e *emitter) rowDiv(in *ir.Inst, x, y ll.Val) ll.Val {
	signed := in.Op == ir.DivS || in.Op == ir.RemS
	most := int64(-1)
	d, first := e.scalar(in.Args[1]), e.Freeze(e.Extract(x, 0))
	usable := e.ICmp("ne", d, ll.Int("i32", 0))
	if signed {
		most = 1<<31 - 1
		usable = e.And(e.ICmp("sgt", d, ll.Int("i32", 0)), e.ICmp("sge", first, ll.Int("i32", 0)))
	}
	by := e.Freeze(e.Select(usable, d, ll.Int("i32", 1)))
	q := e.Binary("udiv", first, by)
	start := e.Mul(q, by)
	usable = e.And(usable, e.ICmp("ule", e.Sub(by, ll.Int("i32", 1)), e.Sub(ll.Int("i32", most), start)))
	off := e.Sub(x, e.splat(start))
	inRow := e.ICmp("eq", e.number(e.ICmp("ult", off, e.splat(by))), ll.Int("i32", -1))
	return e.choose(e.And(usable, inRow), "row", func() []ll.Val {
		if in.Op == ir.RemS || in.Op == ir.RemU {
			return []ll.Val{off}
		}
		return []ll.Val{e.splat(q)}
	}, func() []ll.Val { return []ll.Val{e.floatDiv(in.Op, x, y)} })[0]
}

// longDiv divides integers of 64 bits by the reciprocal of the divisor as a double, in two steps. The reciprocal is too small by
// 2^-51 to 2^-49 of it, which is more than all roundings, so that no step takes too much: remainders are never negative, and quotients
// fit. What the first step leaves is less than 2^15 divisors, what the second leaves less than two.
func (e *emitter) longDiv(op ir.Op, x, y ll.Val) ll.Val {
	const below = 0x3feffffffffffff8 // 1 - 2^-50
	signed := op == ir.DivS || op == ir.RemS
	n, d := x, y
	if signed {
		n, d = e.Intr("abs", x, ll.Int("i1", 0)), e.Intr("abs", y, ll.Int("i1", 0))
	}
	zero := e.ICmp("eq", y, y.Int(0))
	d = e.Select(zero, d.Int(1), d)
	fd := e.UIToFP(d, "double")
	inverse := e.FDiv(fd.Float(below), fd)
	part := func(n ll.Val) ll.Val { return e.Convert("fptoui", e.FMul(e.UIToFP(n, "double"), inverse), "i64") }
	first := part(n)
	rest := e.Sub(n, e.Mul(first, d))
	second := part(rest)
	rest = e.Sub(rest, e.Mul(second, d))
	more := e.ICmp("uge", rest, d)
	var r, sign ll.Val
	if op == ir.DivS || op == ir.DivU {
		r = e.Add(e.Add(first, second), e.ZExt(more, "i64"))
		sign = e.Xor(x, y)
	} else {
		r, sign = e.Select(more, e.Sub(rest, d), rest), x
	}
	if signed {
		r = e.Select(e.ICmp("slt", sign, sign.Int(0)), e.Sub(r.Int(0), r), r)
	}
	return e.Select(zero, r.Int(-1), r)
}
