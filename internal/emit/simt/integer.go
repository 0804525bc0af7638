package simt

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// binary is an operation that LLVM has under a name.
func binary(name string) emitFn {
	return func(e *emitter, in *ir.Inst) { e.result(in, e.op2(name, e.val(in.Args[0]), e.val(in.Args[1]))) }
}

func intrinsic2(name string) emitFn {
	return func(e *emitter, in *ir.Inst) { e.result(in, e.intr(name, e.val(in.Args[0]), e.val(in.Args[1]))) }
}

func emitMulHi(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	bits := bitsOf(a[0].T)
	ext, shift := "zext", "lshr"
	if in.Op == ir.MulHiS {
		ext, shift = "sext", "ashr"
	}
	wide := intType(2 * bits)
	p := e.op2("mul", e.conv(ext, a[0], wide), e.conv(ext, a[1], wide))
	e.result(in, e.conv("trunc", e.op2(shift, p, ll.Int(wide, int64(bits))), intType(bits)))
}

var divNames = map[ir.Op]string{ir.DivS: "sdiv", ir.DivU: "udiv", ir.RemS: "srem", ir.RemU: "urem"}

// emitDiv divides as NVIDIA's hardware does: by zero gives all ones, a remainder too; the smallest number by -1 wraps. LLVM's division is
// undefined there, so the divisor is replaced first.
func emitDiv(e *emitter, in *ir.Inst) {
	x, y := e.val(in.Args[0]), e.val(in.Args[1])
	if plainDivisor(in) {
		e.result(in, e.op2(divNames[in.Op], x, y))
		return
	}
	y = e.o.Op(y.T, "freeze %s", y)
	zero := e.cmp("eq", y, k(y, 0))
	d := e.sel(zero, k(y, 1), y)
	var minus ll.Val
	if in.Op == ir.DivS || in.Op == ir.RemS {
		minus = e.cmp("eq", y, k(y, -1))
		d = e.sel(minus, k(y, 1), d)
	}
	r := e.op2(divNames[in.Op], x, d)
	switch in.Op {
	case ir.DivS:
		r = e.sel(minus, e.op2("sub", k(x, 0), x), r)
	case ir.RemS:
		r = e.sel(minus, k(x, 0), r)
	}
	e.result(in, e.sel(zero, k(x, -1), r))
}

// plainDivisor reports a constant that LLVM's division is defined for.
func plainDivisor(in *ir.Inst) bool {
	c := in.Args[1]
	return c.Const && c.Bits != 0 && c.Type != ir.I128 && c.Int() != -1
}

func emitNeg(e *emitter, in *ir.Inst) {
	a := e.val(in.Args[0])
	e.result(in, e.op2("sub", k(a, 0), a))
}

func emitAbsS(e *emitter, in *ir.Inst) {
	a := e.val(in.Args[0])
	e.result(in, e.o.Call(a.T, "llvm.abs."+suffix(a.T), a, ll.Int("i1", 0)))
}

func emitCarry(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	s := e.op2("add", a[0], a[1])
	t := e.op2("add", s, e.conv("zext", a[2], s.T))
	e.result(in, e.op2("or", e.cmp("ult", s, a[0]), e.cmp("ult", t, s)))
}

func emitBorrow(e *emitter, in *ir.Inst) {
	a := e.operands(in)
	d := e.op2("sub", a[0], a[1])
	e.result(in, e.op2("or", e.cmp("ult", a[0], a[1]), e.cmp("ult", d, e.conv("zext", a[2], d.T))))
}

func emitPopc(e *emitter, in *ir.Inst) {
	e.result(in, e.toBits(e.intr("ctpop", e.val(in.Args[0])), 32))
}

func (e *emitter) clz(x ll.Val) ll.Val {
	return e.o.Call(x.T, "llvm.ctlz."+suffix(x.T), x, ll.Int("i1", 0))
}

func emitClz(e *emitter, in *ir.Inst) { e.result(in, e.toBits(e.clz(e.val(in.Args[0])), 32)) }

func emitBrev(e *emitter, in *ir.Inst) { e.result(in, e.intr("bitreverse", e.val(in.Args[0]))) }

// shift clamps the amount as PTX does.
func (e *emitter) shift(name string, x, amount ll.Val) ll.Val {
	w := bitsOf(x.T)
	if name == "ashr" {
		return e.op2(name, x, e.toBits(e.intr("umin", amount, k(amount, int64(w-1))), w))
	}
	big := e.cmp("ugt", amount, k(amount, int64(w-1)))
	s := e.op2(name, x, e.toBits(e.sel(big, k(amount, 0), amount), w))
	return e.sel(big, k(x, 0), s)
}

var shiftNames = map[ir.Op]string{ir.Shl: "shl", ir.ShrU: "lshr", ir.ShrS: "ashr"}

// constShift is a shift by a constant, which needs no clamping at run time.
func (e *emitter) constShift(in *ir.Inst) ll.Val {
	x, n := e.val(in.Args[0]), in.Args[1].Bits
	w := uint64(bitsOf(x.T))
	switch {
	case n < w:
		return e.op2(shiftNames[in.Op], x, k(x, int64(n)))
	case in.Op == ir.ShrS:
		return e.op2("ashr", x, k(x, int64(w)-1))
	}
	return k(x, 0)
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
		r = e.op2("add", r, e.op2("mul", e.part(a[0], 8, i, in.Dot&ir.DotSignedA != 0), e.part(a[1], 8, i, in.Dot&ir.DotSignedB != 0)))
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
		r = e.op2("add", r, e.op2("mul", e.part(a[0], 16, i, in.Dot&ir.DotSignedA != 0), e.part(a[1], 8, j, in.Dot&ir.DotSignedB != 0)))
	}
	e.result(in, r)
}

// part is piece i of so many bits of an i32, extended.
func (e *emitter) part(x ll.Val, bits, i int, signed bool) ll.Val {
	if signed {
		return e.op2("ashr", e.op2("shl", x, k(x, int64(32-bits*(i+1)))), k(x, int64(32-bits)))
	}
	return e.op2("and", e.op2("lshr", x, k(x, int64(bits*i))), k(x, 1<<bits-1))
}
