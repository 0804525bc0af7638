package warp

import (
	"fmt"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// binary is an operation that LLVM has under a name.
func binary(name string) emitFn {
	return func(e *emitter, in *ir.Inst) {
		e.each(in, func(n int, a []ll.Val) ll.Val { return e.o.Op(a[0].T, "%s %s, %s", name, a[0], a[1].S) })
	}
}

// suffix is the type as intrinsics' names spell it: v32i32, f32.
func suffix(t string) string {
	n, elem := split(t)
	s := elem
	switch elem {
	case "float":
		s = "f32"
	case "double":
		s = "f64"
	case "half":
		s = "f16"
	case "ptr":
		s = "p0"
	}
	if n > 1 {
		return fmt.Sprintf("v%d%s", n, s)
	}
	return s
}

// split takes a type apart.
func split(t string) (lanes int, elem string) {
	if t[0] != '<' {
		return 1, t
	}
	if _, err := fmt.Sscanf(t, "<%d x %s", &lanes, &elem); err != nil {
		panic("BUG: type " + t)
	}
	return lanes, elem[:len(elem)-1]
}

// intr calls an overloaded intrinsic on operands of one type.
func (e *emitter) intr(name string, args ...ll.Val) ll.Val {
	return e.o.Call(args[0].T, "llvm."+name+"."+suffix(args[0].T), args...)
}

func intrinsic2(name string) emitFn {
	return func(e *emitter, in *ir.Inst) {
		e.each(in, func(n int, a []ll.Val) ll.Val { return e.intr(name, a[0], a[1]) })
	}
}

// k is the integer constant c in the type of x.
func k(x ll.Val, c int64) ll.Val {
	n, elem := split(x.T)
	return ll.Splat(n, ll.Int(elem, wrapTo(c, elem)))
}

// withElem is the type t with other elements.
func withElem(t, elem string) string {
	n, _ := split(t)
	return ll.Vec(n, elem)
}

func intBits(t string) int {
	_, elem := split(t)
	var n int
	fmt.Sscanf(elem, "i%d", &n)
	return n
}

func (e *emitter) op2(name string, a, b ll.Val) ll.Val {
	return e.o.Op(a.T, "%s %s, %s", name, a, b.S)
}

func (e *emitter) cmp(name string, a, b ll.Val) ll.Val {
	return e.o.Op(withElem(a.T, "i1"), "icmp %s %s, %s", name, a, b.S)
}

func (e *emitter) sel(c, a, b ll.Val) ll.Val {
	return e.o.Op(a.T, "select %s, %s, %s", c, a, b)
}

func (e *emitter) conv(name string, a ll.Val, elem string) ll.Val {
	t := withElem(a.T, elem)
	if t == a.T {
		return a
	}
	return e.o.Op(t, "%s %s to %s", name, a, t)
}

func emitMulHi(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		bits := intBits(a[0].T)
		wide := fmt.Sprintf("i%d", 2*bits)
		ext, shift := "zext", "lshr"
		if in.Op == ir.MulHiS {
			ext, shift = "sext", "ashr"
		}
		if bits == 64 && n > 1 {
			return e.mulHi64(a[0], a[1], in.Op == ir.MulHiS)
		}
		p := e.op2("mul", e.conv(ext, a[0], wide), e.conv(ext, a[1], wide))
		return e.conv("trunc", e.op2(shift, p, k(p, int64(bits))), fmt.Sprintf("i%d", bits))
	})
}

// mulHi64 is the high half of a 64×64 product from 32-bit parts: vectors of i128 would be taken apart lane by lane.
func (e *emitter) mulHi64(a, b ll.Val, signed bool) ll.Val {
	low := func(x ll.Val) ll.Val { return e.op2("and", x, k(x, 0xffffffff)) }
	high := func(x ll.Val) ll.Val { return e.op2("lshr", x, k(x, 32)) }
	al, ah, bl, bh := low(a), high(a), low(b), high(b)
	ll_, lh, hl, hh := e.op2("mul", al, bl), e.op2("mul", al, bh), e.op2("mul", ah, bl), e.op2("mul", ah, bh)
	mid := e.op2("add", e.op2("add", high(ll_), low(lh)), low(hl))
	r := e.op2("add", e.op2("add", hh, high(lh)), e.op2("add", high(hl), high(mid)))
	if signed {
		za := e.op2("and", e.op2("ashr", a, k(a, 63)), b)
		zb := e.op2("and", e.op2("ashr", b, k(b, 63)), a)
		r = e.op2("sub", e.op2("sub", r, za), zb)
	}
	return r
}

// emitDiv divides as the hardware does: by zero gives all ones, a remainder too; the smallest number by -1 wraps. LLVM's division is undefined there, so the divisor is replaced first.
func emitDiv(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x, y := a[0], a[1]
		c := in.Args[1]
		if c.Const && c.Bits != 0 && c.Int() != -1 {
			return e.op2(map[ir.Op]string{ir.DivS: "sdiv", ir.DivU: "udiv", ir.RemS: "srem", ir.RemU: "urem"}[in.Op], x, y)
		}
		if n > 1 && intBits(x.T) <= 32 {
			return e.floatDiv(in.Op, x, y)
		}
		y = e.o.Op(y.T, "freeze %s", y)
		zero := e.cmp("eq", y, k(y, 0))
		d := e.sel(zero, k(y, 1), y)
		signed := in.Op == ir.DivS || in.Op == ir.RemS
		var minus ll.Val
		if signed {
			minus = e.cmp("eq", y, k(y, -1))
			d = e.sel(minus, k(y, 1), d)
		}
		switch in.Op {
		case ir.DivS:
			q := e.op2("sdiv", x, d)
			q = e.sel(minus, e.op2("sub", k(x, 0), x), q)
			return e.sel(zero, k(x, -1), q)
		case ir.DivU:
			return e.sel(zero, k(x, -1), e.op2("udiv", x, d))
		case ir.RemS:
			r := e.op2("srem", x, d)
			r = e.sel(minus, k(x, 0), r)
			return e.sel(zero, k(x, -1), r)
		}
		return e.sel(zero, k(x, -1), e.op2("urem", x, d))
	})
}

// floatDiv divides integers of up to 32 bits as doubles: both are exact there, the quotient is off by less than one, and
// truncation gives the right integer because a quotient below an integer by less than 2^-53 of it cannot occur.
func (e *emitter) floatDiv(op ir.Op, x, y ll.Val) ll.Val {
	elem := withElem("i1", "i32")
	signed := op == ir.DivS || op == ir.RemS
	to, ext := "uitofp", "zext"
	if signed {
		to, ext = "sitofp", "sext"
	}
	_, orig := split(x.T)
	xw, yw := e.conv(ext, x, elem), e.conv(ext, y, elem)
	zero := e.cmp("eq", y, k(y, 0))
	d := e.sel(e.cmp("eq", yw, k(yw, 0)), k(yw, 1), yw)
	fx, fy := e.conv(to, xw, "double"), e.conv(to, d, "double")
	q := e.o.Op(fx.T, "fdiv %s, %s", fx, fy.S)
	// The only quotient outside i32 is -2^31 / -1; 64 bits hold it.
	back := "fptosi"
	qi := e.conv("trunc", e.conv(back, q, "i64"), elem)
	if op == ir.DivS || op == ir.DivU {
		r := e.conv("trunc", qi, orig)
		return e.sel(zero, k(r, -1), r)
	}
	r := e.op2("sub", xw, e.op2("mul", qi, d))
	r = e.conv("trunc", r, orig)
	return e.sel(zero, k(x, -1), r)
}

func emitNeg(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.op2("sub", k(a[0], 0), a[0]) })
}

func emitAbsS(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		return e.o.Call(a[0].T, "llvm.abs."+suffix(a[0].T), a[0], ll.Int("i1", 0))
	})
}

func emitCarry(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		s := e.op2("add", a[0], a[1])
		c1 := e.cmp("ult", s, a[0])
		_, elem := split(s.T)
		t := e.op2("add", s, e.conv("zext", a[2], elem))
		return e.op2("or", c1, e.cmp("ult", t, s))
	})
}

func emitBorrow(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		b1 := e.cmp("ult", a[0], a[1])
		d := e.op2("sub", a[0], a[1])
		_, elem := split(d.T)
		return e.op2("or", b1, e.cmp("ult", d, e.conv("zext", a[2], elem)))
	})
}

func emitPopc(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.toI32(e.intr("ctpop", a[0])) })
}

func emitClz(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.toI32(e.clz(a[0])) })
}

func (e *emitter) clz(x ll.Val) ll.Val {
	return e.o.Call(x.T, "llvm.ctlz."+suffix(x.T), x, ll.Int("i1", 0))
}

// toI32 makes a small non-negative number 32 bits wide.
func (e *emitter) toI32(x ll.Val) ll.Val {
	switch b := intBits(x.T); {
	case b < 32:
		return e.conv("zext", x, "i32")
	case b > 32:
		return e.conv("trunc", x, "i32")
	}
	return x
}

func emitBrev(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.intr("bitreverse", a[0]) })
}

// resize makes an i32 operand as wide as x.
func (e *emitter) resize(v, x ll.Val) ll.Val {
	_, elem := split(x.T)
	switch b := intBits(x.T); {
	case b < 32:
		return e.conv("trunc", v, elem)
	case b > 32:
		return e.conv("zext", v, elem)
	}
	return v
}

// shl, lshr and ashr clamp the amount as PTX does.
func (e *emitter) shift(name string, x, amount ll.Val) ll.Val {
	w := int64(intBits(x.T))
	if name == "ashr" {
		return e.op2(name, x, e.resize(e.intr("umin", amount, k(amount, w-1)), x))
	}
	big := e.cmp("ugt", amount, k(amount, w-1))
	s := e.op2(name, x, e.resize(e.sel(big, k(amount, 0), amount), x))
	return e.sel(big, k(x, 0), s)
}

var shiftNames = map[ir.Op]string{ir.Shl: "shl", ir.ShrU: "lshr", ir.ShrS: "ashr"}

func emitShift(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		name := shiftNames[in.Op]
		if c := in.Args[1]; c.Const {
			w := uint64(intBits(a[0].T))
			switch {
			case c.Bits < w:
				return e.op2(name, a[0], k(a[0], int64(c.Bits)))
			case in.Op == ir.ShrS:
				return e.op2(name, a[0], k(a[0], int64(w)-1))
			}
			return k(a[0], 0)
		}
		return e.shift(name, a[0], a[1])
	})
}
