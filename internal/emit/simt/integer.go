package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// binary is an operation that LLVM has under a name.
func binary(name ll.Bin) emitFn {
	return func(e *emitter, in *ir.Inst) { e.result(in, e.Binary(name, e.val(in.Args[0]), e.val(in.Args[1]))) }
}

func intrinsic2(name string) emitFn {
	return func(e *emitter, in *ir.Inst) { e.result(in, e.Intr(name, e.val(in.Args[0]), e.val(in.Args[1]))) }
}

func emitMulHi(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	bits := a[0].T.Bits()
	ext, shift := ll.Conv("zext"), ll.Bin("lshr")
	if in.Op == ir.MulHiS {
		ext, shift = "sext", "ashr"
	}
	wide := ll.IntType(2 * bits)
	p := e.Mul(e.Convert(ext, a[0], wide), e.Convert(ext, a[1], wide))
	e.result(in, e.Trunc(e.Binary(shift, p, ll.Int(wide, int64(bits))), ll.IntType(bits)))
}

var divNames = map[ir.Op]ll.Bin{ir.DivS: "sdiv", ir.DivU: "udiv", ir.RemS: "srem", ir.RemU: "urem"}

// emitDiv divides as NVIDIA's hardware does: by zero gives all ones, a remainder too; the smallest number by -1 wraps. LLVM's division is
// undefined there, so the divisor is replaced first.
func emitDiv(e *emitter, in *ir.Inst) {
	x, y := e.val(in.Args[0]), e.val(in.Args[1])
	if plainDivisor(in) {
		e.result(in, e.Binary(divNames[in.Op], x, y))
		return
	}
	y = e.Freeze(y)
	zero := e.ICmp("eq", y, y.Int(0))
	d := e.Select(zero, y.Int(1), y)
	var minus ll.Val
	if in.Op == ir.DivS || in.Op == ir.RemS {
		minus = e.ICmp("eq", y, y.Int(-1))
		d = e.Select(minus, y.Int(1), d)
	}
	r := e.Binary(divNames[in.Op], x, d)
	switch in.Op {
	case ir.DivS:
		r = e.Select(minus, e.Sub(x.Int(0), x), r)
	case ir.RemS:
		r = e.Select(minus, x.Int(0), r)
	}
	e.result(in, e.Select(zero, x.Int(-1), r))
}

// plainDivisor reports a constant that LLVM's division is defined for.
func plainDivisor(in *ir.Inst) bool {
	c := in.Args[1]
	return c.Const && c.Bits != 0 && c.Type != ir.I128 && c.Int() != -1
}

func emitNeg(e *emitter, in *ir.Inst) {
	a := e.val(in.Args[0])
	e.result(in, e.Sub(a.Int(0), a))
}

func emitAbsS(e *emitter, in *ir.Inst) {
	a := e.val(in.Args[0])
	e.result(in, e.Intr("abs", a, ll.Int("i1", 0)))
}

func emitCarry(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	s := e.Add(a[0], a[1])
	t := e.Add(s, e.ZExt(a[2], s.T))
	e.result(in, e.Or(e.ICmp("ult", s, a[0]), e.ICmp("ult", t, s)))
}

func emitBorrow(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	d := e.Sub(a[0], a[1])
	e.result(in, e.Or(e.ICmp("ult", a[0], a[1]), e.ICmp("ult", d, e.ZExt(a[2], d.T))))
}

func emitPopc(e *emitter, in *ir.Inst) {
	e.result(in, e.Resize(e.Intr("ctpop", e.val(in.Args[0])), 32))
}

func (e *emitter) clz(x ll.Val) ll.Val {
	return e.Intr("ctlz", x, ll.Int("i1", 0))
}

func emitClz(e *emitter, in *ir.Inst) { e.result(in, e.Resize(e.clz(e.val(in.Args[0])), 32)) }

func emitBrev(e *emitter, in *ir.Inst) { e.result(in, e.Intr("bitreverse", e.val(in.Args[0]))) }

// shift clamps the amount as PTX does.
func (e *emitter) shift(name ll.Bin, x, amount ll.Val) ll.Val {
	w := x.T.Bits()
	if name == "ashr" {
		return e.Binary(name, x, e.Resize(e.Intr("umin", amount, amount.Int(int64(w-1))), w))
	}
	big := e.ICmp("ugt", amount, amount.Int(int64(w-1)))
	s := e.Binary(name, x, e.Resize(e.Select(big, amount.Int(0), amount), w))
	return e.Select(big, x.Int(0), s)
}

var shiftNames = map[ir.Op]ll.Bin{ir.Shl: "shl", ir.ShrU: "lshr", ir.ShrS: "ashr"}

// constShift is a shift by a constant, which needs no clamping at run time.
func (e *emitter) constShift(in *ir.Inst) ll.Val {
	x, n := e.val(in.Args[0]), in.Args[1].Bits
	w := uint64(x.T.Bits())
	switch {
	case n < w:
		return e.Binary(shiftNames[in.Op], x, x.Int(int64(n)))
	case in.Op == ir.ShrS:
		return e.AShr(x, x.Int(int64(w)-1))
	}
	return x.Int(0)
}

func emitShift(e *emitter, in *ir.Inst) {
	if in.Args[1].Const {
		e.result(in, e.constShift(in))
		return
	}
	e.result(in, e.shift(shiftNames[in.Op], e.val(in.Args[0]), e.val(in.Args[1])))
}

// emitDp4a adds the products of four bytes.
func emitDp4a(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	r := a[2]
	for i := range 4 {
		r = e.Add(r, e.Mul(e.part(a[0], 8, i, in.Dot&ir.DotSignedA != 0), e.part(a[1], 8, i, in.Dot&ir.DotSignedB != 0)))
	}
	e.result(in, r)
}

// emitDp2a adds the products of two halves of a with two bytes of b, the high ones with DotHigh.
func emitDp2a(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	r := a[2]
	for i := range 2 {
		j := i
		if in.Dot&ir.DotHigh != 0 {
			j += 2
		}
		r = e.Add(r, e.Mul(e.part(a[0], 16, i, in.Dot&ir.DotSignedA != 0), e.part(a[1], 8, j, in.Dot&ir.DotSignedB != 0)))
	}
	e.result(in, r)
}

// part is piece i of so many bits of an i32, extended.
func (e *emitter) part(x ll.Val, bits, i int, signed bool) ll.Val {
	if signed {
		return e.AShr(e.Shl(x, x.Int(int64(32-bits*(i+1)))), x.Int(int64(32-bits)))
	}
	return e.And(e.LShr(x, x.Int(int64(bits*i))), x.Int(1<<bits-1))
}
