package warp

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func emitCopy(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return a[0] })
}

// emitUndef is zero: an undefined value in LLVM could make a branch on it undefined behaviour.
func emitUndef(e *emitter, in *ir.Inst) {
	v := in.Results[0]
	t := ll.Vec(e.lanesOf(v), typ(v.Type))
	e.rep(v).scalar = ll.Zero(t)
}

// emitParam was done at the start of the function.
func emitParam(*emitter, *ir.Inst) {}

// emitSReg was done at the start of the warp.
func emitSReg(*emitter, *ir.Inst) {}

// widenSReg gives in its register, in the width it wants.
func (e *emitter) widenSReg(in *ir.Inst, r *rep) {
	x := e.rep(in.Results[0])
	*x = *r
	if in.Results[0].Type != ir.I64 {
		return
	}
	if !x.scalar.IsZero() && x.scalar.T == "i32" {
		x.scalar = e.ZExt(x.scalar, "i64")
	}
	if !x.vec.IsZero() {
		x.vec = e.ZExt(x.vec, "i64")
	}
}

func emitEntryMask(e *emitter, in *ir.Inst) {
	if e.w == 1 {
		e.rep(in.Results[0]).scalar = ll.Int("i1", 1)
		return
	}
	e.rep(in.Results[0]).vec = e.ctx.entryMask
}

// emitVarAddr was done at the start of the function.
func emitVarAddr(*emitter, *ir.Inst) {}

func (e *emitter) varAddr(in *ir.Inst) {
	for i, name := range e.m.Vars {
		if name == in.Sym {
			p := e.load("i64", e.ctx.vars, 8*i, invariant)
			e.rep(in.Results[0]).scalar = e.Add(p, ll.Int("i64", in.Off))
			return
		}
	}
	panic("BUG: variable " + in.Sym + " is not in the module")
}

// sharedOffset is the offset of a shared variable; "" is the dynamic area behind the static ones.
func (e *emitter) sharedOffset(sym string) int64 {
	if sym == "" {
		a := max(e.m.DynamicAlign, 1)
		return int64((e.m.SharedBytes + a - 1) / a * a)
	}
	for _, s := range e.m.Shared {
		if s.Name == sym {
			return int64(s.Offset) + image.SharedFirst
		}
	}
	panic("BUG: shared variable " + sym + " is not in the module")
}

func emitSharedAddr(e *emitter, in *ir.Inst) {
	e.rep(in.Results[0]).scalar = ll.Int("i64", e.sharedOffset(in.Sym)+in.Off)
}

// localOffset is the offset in the thread's local memory that a LocalAddr names.
func (e *emitter) localOffset(in *ir.Inst) int64 {
	off := in.Off
	for _, s := range e.f.Slots {
		if s.Name == in.Sym {
			off += int64(s.Offset)
		}
	}
	return off
}

func emitLocalAddr(e *emitter, in *ir.Inst) {
	e.rep(in.Results[0]).scalar = ll.Int("i64", e.localOffset(in))
}

func emitParamAddr(e *emitter, in *ir.Inst) { e.rep(in.Results[0]).scalar = ll.Int("i64", in.Off) }

func emitFuncAddr(e *emitter, in *ir.Inst) { e.unsupported("the address of a function") }

// base is the host address where a space begins: for lane 0 (n 1) or for each lane.
func (e *emitter) base(sp ir.Space, n int) ll.Val {
	c, o := &e.ctx, e.Func
	switch sp {
	case ir.Shared:
		return e.splatN(o.PtrToInt(c.shared), n)
	case ir.ParamSpace:
		return e.splatN(o.PtrToInt(c.params), n)
	case ir.Local:
		b := o.PtrToInt(c.local)
		t := o.ZExt(c.first, "i64")
		b = e.Add(b, e.Mul(t, ll.Int("i64", int64(e.meta.LocalThread))))
		if n == 1 {
			return b
		}
		v := e.splat(b)
		return e.Add(v, e.offsets(ir.Shape{Stride: e.localStride()}, "i64"))
	}
	return ll.Splat(n, ll.Int("i64", 0))
}

func emitToGeneric(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.Add(a[0], e.base(in.Space, n)) })
}

func emitFromGeneric(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val { return e.Sub(a[0], e.base(in.Space, n)) })
}

// emitIsSpace compares with where the worker's shared and local memory lie; all else is global.
func emitIsSpace(e *emitter, in *ir.Inst) {
	e.each(in, func(n int, a []ll.Val) ll.Val {
		within := func(start, size ll.Val) ll.Val {
			return e.ICmp("ult", e.Sub(a[0], e.splatN(start, n)), e.splatN(size, n))
		}
		c, o := &e.ctx, e.Func
		shared := func() ll.Val {
			size := e.ZExt(e.load("i32", c.launch, image.LaunchSharedTotal, invariant), "i64")
			return within(o.PtrToInt(c.shared), size)
		}
		local := func() ll.Val {
			size := e.Mul(e.ZExt(c.threads, "i64"), ll.Int("i64", int64(e.meta.LocalThread)))
			return within(o.PtrToInt(c.local), size)
		}
		param := func() ll.Val {
			return within(o.PtrToInt(c.params), ll.Int("i64", int64(e.m.ParamBytes)))
		}
		switch in.Space {
		case ir.Shared:
			return shared()
		case ir.Local:
			return local()
		case ir.ParamSpace:
			return param()
		case ir.Global:
			return e.Not(e.Or(e.Or(shared(), local()), param()))
		}
		return ll.Splat(n, ll.Int("i1", 0)) // constant memory is global memory here
	})
}
