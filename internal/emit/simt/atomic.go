package simt

import (
	"kudzu/internal/emit"
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// emitAtomic is LLVM's atomicrmw for integers, a loop around compare-and-swap for the rest.
func emitAtomic(e *emitter, in *ir.Inst) {
	v := in.Args[1]
	p := e.pointer(in.Space, e.val(in.Args[0]))
	x := e.Bits(e.clean(v))
	var old ll.Val
	name := emit.RMW[in.AtomOp]
	switch bits := v.Type.Bits(); {
	case in.Space == ir.Local: // nobody else sees it
		old = e.Load(x.T, p, bits/8)
		e.Store(e.combine(in, old, x, p), p, bits/8)
	case name != "" && (!v.Type.IsFloat() || in.AtomOp == ir.AtomExch) && (bits == 32 || bits == 64) && e.t.crosses(in):
		old = e.RMW(name, p, x, e.scope(in.Scope)+orderNames[in.Order], bits/8)
	case bits < 32:
		old = e.narrowAtomic(in, x)
	default:
		old = e.casLoop(in, p, bits, func(cur ll.Val) ll.Val { return e.combine(in, cur, x, p) })
	}
	if len(in.Results) > 0 {
		e.result(in, e.Bitcast(old, typ(v.Type)))
	}
}

// casLoop replaces what memory holds by what next makes of it, and gives what it held.
func (e *emitter) casLoop(in *ir.Inst, p ll.Val, bits int, next func(cur ll.Val) ll.Val) ll.Val {
	t := ll.IntType(bits)
	if bits > 64 {
		e.fail("an atomic operation on %d bits", bits)
	}
	scope := e.scope(in.Scope)
	first := e.LoadAs(t, p, ll.Access{Align: bits / 8, Order: scope + "monotonic"})
	pre, head, out := e.Cur(), e.NewLabel("cas"), e.NewLabel("cas.out")
	e.Br(head)
	e.Label(head)
	cur := e.Phi(t)
	cur.Add(first, pre)
	want := next(cur.Val)
	r := e.CmpXchg(p, cur.Val, want, scope+orderNames[in.Order]+" "+failOrder(in.Order), bits/8)
	cur.Add(e.ExtractValue(r, 0), e.Cur())
	e.CondBr(e.ExtractValue(r, 1), out, head)
	e.Label(out)
	return cur.Val
}

// failOrder is the order of a compare-and-swap that found something else.
func failOrder(o ir.Order) string {
	switch o {
	case ir.Acquire, ir.AcqRel:
		return "acquire"
	case ir.SeqCst:
		return "seq_cst"
	}
	return "monotonic"
}

// narrowAtomic is an atomic on less than a word: on the word that it is part of.
func (e *emitter) narrowAtomic(in *ir.Inst, x ll.Val) ll.Val {
	bits := x.T.Bits()
	word, shift, mask := e.wordOf(in, bits)
	old := e.casLoop(in, word, 32, func(cur ll.Val) ll.Val {
		have := e.Trunc(e.LShr(cur, shift), x.T)
		next := e.ZExt(e.combine(in, have, x, word), "i32")
		return e.Or(e.And(cur, e.Not(mask)), e.Shl(next, shift))
	})
	return e.Trunc(e.LShr(old, shift), x.T)
}

// wordOf is the word around a narrow value, the place of its lowest bit there, and its bits.
func (e *emitter) wordOf(in *ir.Inst, bits int) (word, shift, mask ll.Val) {
	a := e.val(in.Args[0])
	word = e.pointer(in.Space, e.And(a, ll.Int("i64", -4)))
	shift = e.Shl(e.Trunc(e.And(a, ll.Int("i64", 3)), "i32"), ll.Int("i32", 3))
	return word, shift, e.Shl(ll.Int("i32", 1<<bits-1), shift)
}

// combine is the operation itself, on integers of the value's width: what memory at p holds after old met x.
func (e *emitter) combine(in *ir.Inst, old, x, p ll.Val) ll.Val {
	t := in.Args[1].Type
	if t.IsFloat() && in.AtomOp != ir.AtomExch {
		r := e.halves(t, []ll.Val{e.Bitcast(old, typ(t)), e.Bitcast(x, typ(t))}, func(el ir.Type, a []ll.Val) ll.Val { return e.combineFloat(in, el, a[0], a[1]) })
		return e.Bits(r)
	}
	r, ok := emit.Combine(e.Func, in.AtomOp, old, x)
	if !ok {
		e.fail("atomic operation %s", in.AtomOp)
	}
	return r
}

// combineFloat: f32 sums flush subnormals in global memory and do not in shared memory, and the unit that adds f64
// in global memory does not make a NaN quiet.
func (e *emitter) combineFloat(in *ir.Inst, t ir.Type, a, b ll.Val) ll.Val {
	switch in.AtomOp {
	case ir.AtomFMin, ir.AtomFMax:
		return e.MinMaxBits(float.MinMax{Max: in.AtomOp == ir.AtomFMax}, a, b, t)
	case ir.AtomAdd:
	default:
		e.fail("atomic operation %s of %s", in.AtomOp, t)
	}
	switch t {
	case ir.F32:
		if in.Space == ir.Global || in.Space == ir.Generic {
			return e.Canonical(e.FlushBits(e.FAdd(e.FlushBits(a, t), e.FlushBits(b, t)), t), t)
		}
		return e.Canonical(e.FAdd(a, b), t)
	case ir.F64:
		r := e.FAdd(a, b)
		if in.Space == ir.Global || in.Space == ir.Generic {
			r = e.Select(e.FCmp("uno", a, a), a, r)
			return e.Select(e.FCmp("uno", b, b), b, r)
		}
		return e.pickNaN(&ir.Inst{Op: ir.FAdd}, r, []ll.Val{b, a}) // an addition of a to b
	case ir.BF16:
		return e.ArithBF16(&ir.Inst{Op: ir.FAdd}, []ll.Val{a, b})
	}
	return e.Canonical(e.FAdd(a, b), t)
}

func emitCAS(e *emitter, in *ir.Inst) {
	t := in.Args[1].Type
	bits := t.Bits()
	want, val := e.Bits(e.clean(in.Args[1])), e.Bits(e.clean(in.Args[2]))
	p := e.pointer(in.Space, e.val(in.Args[0]))
	switch {
	case in.Space == ir.Local:
		old := e.Load(want.T, p, bits/8)
		e.Store(e.Select(e.ICmp("eq", old, want), val, old), p, bits/8)
		e.result(in, e.Bitcast(old, typ(t)))
	case bits < 32:
		word, shift, mask := e.wordOf(in, bits)
		old := e.casLoop(in, word, 32, func(cur ll.Val) ll.Val {
			have := e.Trunc(e.LShr(cur, shift), want.T)
			next := e.Or(e.And(cur, e.Not(mask)), e.Shl(e.ZExt(val, "i32"), shift))
			return e.Select(e.ICmp("eq", have, want), next, cur)
		})
		e.result(in, e.Bitcast(e.Trunc(e.LShr(old, shift), want.T), typ(t)))
	case bits > 64:
		e.fail("compare-and-swap of %d bits", bits)
	default:
		r := e.CmpXchg(p, want, val, e.scope(in.Scope)+orderNames[in.Order]+" "+failOrder(in.Order), bits/8)
		e.result(in, e.Bitcast(e.ExtractValue(r, 0), typ(t)))
	}
}
