package warp

import (
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitFCmp(e *emitter, in *ir.Inst) {
	t := in.Args[0].Type
	e.each(in, func(n int, a []ll.Val) ll.Val {
		x, y := e.Flushed(in, t, a[0]), e.Flushed(in, t, a[1])
		if t == ir.BF16 {
			x, y = e.WidenBF16(x), e.WidenBF16(y)
		}
		switch at := float.Apart(in); {
		case e.cpu.arm64 && at == 0:
			x = e.fence(x)
		case e.cpu.arm64 && at == 1:
			y = e.fence(y)
		case e.cpu.arm64 || float.Orders[in.Cmp] == "":
		case t == ir.F16 && e.cpu.fp16:
			return e.orderF16(in.Cmp, x, y)
		case t == ir.F16:
			return e.orderWide(float.Preds[in.Cmp], x, y)
		default:
			x, y = e.keptWide(x, in.Args[0]), e.keptWide(y, in.Args[1])
		}
		return e.FCmp(float.Preds[in.Cmp], x, y)
	})
}

// fence keeps a number apart from LLVM's folding.
func (e *emitter) fence(x ll.Val) ll.Val { return e.Intr("arithmetic.fence", x) }

// keptWide puts a fence behind what was a half: LLVM would make comparisons of halves of these (see orderF16 and orderWide).
func (e *emitter) keptWide(x ll.Val, v *ir.Value) ll.Val {
	if wasHalf(v, map[*ir.Value]bool{}) {
		return e.fence(x)
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
		b := e.Bits(x)
		s := e.AShr(b, b.Int(15))
		return e.Sub(e.Xor(e.And(b, b.Int(0x7fff)), s), s)
	}
	r := e.ICmp(float.Orders[c], key(x), key(y))
	if c >= ir.LTU && c <= ir.GEU {
		return e.Or(r, e.FCmp("uno", x, y))
	}
	return e.And(r, e.FCmp("ord", x, y))
}

// orderWide compares halves as numbers of 32 bits, for an x86 without instructions for halves. LLVM before 22 would make a minimum
// or maximum of a choice between what it sees compared as halves, and calls fminf or fmaxf for one that is not a vector; these also
// order zeros, which the choice does not.
func (e *emitter) orderWide(name ll.Pred, x, y ll.Val) ll.Val {
	return e.FCmp(name, e.fence(e.FPExt(x, "float")), e.FPExt(y, "float"))
}

func emitSelect(e *emitter, in *ir.Inst) {
	r := in.Results[0]
	if e.eitherOrder(in) || e.fewLanes(in, func(n int, a []ll.Val) ll.Val { return e.selected(in, n, a[0], a[1], a[2]) }) {
		return
	}
	run := func(n int) ll.Val {
		c := in.Args[0]
		var cond ll.Val
		if n == 1 || uniform(c) {
			cond = e.scalar(c)
		} else {
			cond = e.vector(c)
		}
		return e.selected(in, n, cond, e.of(in.Args[1], n), e.of(in.Args[2], n))
	}
	e.set(r, run(e.lanesOf(r)))
	if r.Shape.Guess {
		e.setGuess(r, run(1))
	}
}

// selected is a choice of n lanes.
func (e *emitter) selected(in *ir.Inst, n int, cond, a, b ll.Val) ll.Val {
	if !e.dirty[in.Results[0]] { // one side's NaNs are made by arithmetic, the other's may not be touched
		a, b = e.cleaned(in.Args[1], a, n), e.cleaned(in.Args[2], b, n)
	}
	return e.Select(cond, a, b)
}

// cleaned is x with canonical NaNs if it comes from arithmetic, which may make any.
func (e *emitter) cleaned(v *ir.Value, x ll.Val, n int) ll.Val {
	if _, number := e.numbers.Of(v); number || !e.dirty[v] {
		return x
	}
	return e.canonical(x, v.Type, n)
}

func emitFTest(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.Test(in, a[0]) })
}
