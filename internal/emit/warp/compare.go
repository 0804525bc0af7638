package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

var intCmps = map[ir.Cmp]string{ir.EQ: "eq", ir.NE: "ne", ir.LT: "slt", ir.LE: "sle", ir.GT: "sgt", ir.GE: "sge", ir.LO: "ult", ir.LS: "ule", ir.HI: "ugt", ir.HS: "uge"}

// Ordered comparisons are false for a NaN, but PTX's plain ne is ordered too.
var floatCmps = map[ir.Cmp]string{ir.EQ: "oeq", ir.NE: "one", ir.LT: "olt", ir.LE: "ole", ir.GT: "ogt", ir.GE: "oge",
	ir.EQU: "ueq", ir.NEU: "une", ir.LTU: "ult", ir.LEU: "ule", ir.GTU: "ugt", ir.GEU: "uge", ir.NUM: "ord", ir.NAN: "uno"}

func emitICmp(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.cmp(intCmps[in.Cmp], a[0], a[1]) })
}

func emitFCmp(e *emitter, in *ir.Inst) {
	t := in.Args[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x, y := e.flushed(in, t, a[0]), e.flushed(in, t, a[1])
		if t == ir.BF16 {
			x, y = e.widenBF16(x), e.widenBF16(y)
		}
		switch at := emit.Apart(in); {
		case e.cpu.arm64 && at == 0:
			x = e.intr("arithmetic.fence", x)
		case e.cpu.arm64 && at == 1:
			y = e.intr("arithmetic.fence", y)
		case e.cpu.arm64 || emit.Orders[in.Cmp] == "":
		case t == ir.F16 && e.cpu.fp16:
			return e.orderF16(in.Cmp, x, y)
		case t == ir.F16:
			return e.orderWide(floatCmps[in.Cmp], x, y)
		default:
			x, y = e.keptWide(x, in.Args[0]), e.keptWide(y, in.Args[1])
		}
		return e.fcmp(floatCmps[in.Cmp], x, y)
	})
}

// keptWide puts a fence behind what was a half: LLVM would make comparisons of halves of these (see orderF16 and orderWide).
func (e *emitter) keptWide(x ll.Val, v *ir.Value) ll.Val {
	if wasHalf(v, map[*ir.Value]bool{}) {
		return e.intr("arithmetic.fence", x)
	}
	return x
}

// movable are the operations that LLVM may do in the narrow format, before it extends.
var movable = map[ir.Op]bool{ir.FNeg: true, ir.FAbs: true, ir.FMin: true, ir.FMax: true, ir.FCopysign: true, ir.FRound: true, ir.FRelu: true, ir.Select: true, ir.Phi: true, ir.Copy: true}

// wasHalf says that v may be an extended half, whatever of movable was done to it since.
func wasHalf(v *ir.Value, seen map[*ir.Value]bool) bool {
	d := v.Def
	if d == nil || seen[v] {
		return false
	}
	seen[v] = true
	if d.Op == ir.FExt {
		return d.Args[0].Type == ir.F16
	}
	if !movable[d.Op] {
		return false
	}
	for _, a := range d.Args {
		if a.Type == v.Type && wasHalf(a, seen) {
			return true
		}
	}
	return false
}

// orderF16 compares halves as numbers of sign and magnitude: LLVM before 22 may swap the operands of a vcmpph under a mask
// and leave its predicate (llvm/llvm-project 159723).
func (e *emitter) orderF16(c ir.Cmp, x, y ll.Val) ll.Val {
	key := func(x ll.Val) ll.Val {
		b := e.bits(x, ir.F16)
		s := e.op2("ashr", b, k(b, 15))
		return e.op2("sub", e.op2("xor", e.op2("and", b, k(b, 0x7fff)), s), s)
	}
	r := e.cmp(emit.Orders[c], key(x), key(y))
	if c >= ir.LTU && c <= ir.GEU {
		return e.op2("or", r, e.fcmp("uno", x, y))
	}
	return e.op2("and", r, e.fcmp("ord", x, y))
}

// orderWide compares halves as numbers of 32 bits, for an x86 without instructions for halves. LLVM before 22 would make a minimum
// or maximum of a choice between what it sees compared as halves, and calls fminf or fmaxf for one that is not a vector; these also
// order zeros, which the choice does not.
func (e *emitter) orderWide(name string, x, y ll.Val) ll.Val {
	return e.fcmp(name, e.intr("arithmetic.fence", e.conv("fpext", x, "float")), e.conv("fpext", y, "float"))
}

func (e *emitter) fcmp(name string, a, b ll.Val) ll.Val {
	return e.o.Op(withElem(a.T, "i1"), "fcmp %s %s, %s", name, a, b.S)
}

func emitSelect(e *emitter, in *ir.Inst) {
	r := in.Results[0]
	run := func(n int) ll.Val {
		c := in.Args[0]
		var cond ll.Val
		if n == 1 || uniform(c) {
			cond = e.scalar(c)
		} else {
			cond = e.vector(c)
		}
		a, b := e.of(in.Args[1], n), e.of(in.Args[2], n)
		if !e.dirty[r] { // one side's NaNs are made by arithmetic, the other's may not be touched
			a, b = e.cleaned(in.Args[1], a, n), e.cleaned(in.Args[2], b, n)
		}
		return e.sel(cond, a, b)
	}
	e.set(r, run(e.lanesOf(r)))
	if r.Shape.Guess {
		e.setGuess(r, run(1))
	}
}

// cleaned is x with canonical NaNs if it comes from arithmetic.
func (e *emitter) cleaned(v *ir.Value, x ll.Val, n int) ll.Val {
	if e.dirty[v] {
		return e.canonical(x, v.Type, n)
	}
	return x
}

// emitFTest looks at the bits.
func emitFTest(e *emitter, in *ir.Inst) {
	t := in.Args[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		f := emit.Formats[t]
		b := e.bits(a[0], t)
		mag := e.op2("and", b, k(b, int64(f.Sign-1)))
		inf, least := k(b, int64(f.Inf)), k(b, int64(f.Least))
		switch in.Test {
		case ir.TestFinite:
			return e.cmp("ult", mag, inf)
		case ir.TestInfinite:
			return e.cmp("eq", mag, inf)
		case ir.TestNumber:
			return e.cmp("ule", mag, inf)
		case ir.TestNaN:
			return e.cmp("ugt", mag, inf)
		case ir.TestNormal:
			// Zero counts as normal (recorded on sm_90).
			return e.op2("or", e.op2("and", e.cmp("uge", mag, least), e.cmp("ult", mag, inf)), e.cmp("eq", mag, k(b, 0)))
		case ir.TestSubnormal:
			return e.op2("and", e.cmp("ult", mag, least), e.cmp("ne", mag, k(b, 0)))
		}
		e.unsupported("testp %s", in.Test)
		return ll.Val{}
	})
}
