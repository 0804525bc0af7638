package lower

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// Functions that are called and not inlined take and give integers of 1 to 8 bytes: the bytes of each parameter and
// result in pieces at multiples of their size, so that caller, callee and prototype agree whatever types they use. The
// first parameter is where the stack is free.

// passed is a variable whose cells are the pieces that travel.
func (l *lowerer) passed(v *ptx.Var) *paramVar {
	pv := &paramVar{v: v}
	for off := 0; off < int(v.Size); {
		size := 8
		for off%size != 0 || off+size > int(v.Size) {
			size /= 2
		}
		pv.cells = append(pv.cells, cell{off, size, l.newVar(intOf(size * 8))})
		off += size
	}
	return pv
}

// want notes that fn is called.
func (l *lowerer) want(fn *ptx.Func) {
	if !l.queued[fn] {
		l.queued[fn] = true
		l.queue = append(l.queue, fn)
	}
}

// callFunction calls fn as a function of the IR.
func (x *inst) callFunction(fn *ptx.Func) {
	x.want(fn)
	x.callWith(ir.Call, fn.Name, fn.Params, fn.Results, nil)
}

// functionAddr is the address of a function, which is then there.
func (x *inst) functionAddr(name string) *ir.Value {
	name = x.plan.resolve(name)
	fn := x.m.Func(name)
	if fn == nil || fn.Body == nil || fn.Kind == ptx.Entry {
		x.fail("the address of %s", name)
	}
	x.want(fn)
	return x.b.Emit(ir.FuncAddr, ir.I64, ir.Attr{Sym: name})
}

// callPointer calls through a pointer: one of the functions that the pointer may stand for.
func (x *inst) callPointer() {
	if x.plan.lazy {
		x.callLazy()
		return
	}
	names := x.plan.targets(x.fr.body, x.Inst)
	for _, n := range names {
		x.want(x.m.Func(x.plan.resolve(n)))
	}
	id := x.resize(x.value(&x.Args[1], isa.B64), 64, false)
	if len(names) == 0 { // whatever it points at is no function
		x.stop(ir.Trap, ir.Attr{Stop: image.StopCall})
		return
	}
	like := x.m.Func(x.plan.resolve(names[0]))
	if len(x.Args[2].Elems) != len(like.Params) || len(x.Args[0].Elems) != len(like.Results) {
		x.fail("a call through a pointer with a different number of parameters")
	}
	x.callWith(ir.CallInd, x.plan.pointerList(names), like.Params, like.Results, id)
}

// callLazy calls a function that is compiled by itself, as the whole block: every thread says which function it calls, and when all
// have come the first one has the engine run it, which is a kernel there. It is left where it waits for other blocks.
func (x *inst) callLazy() {
	if len(x.Args[2].Elems)+len(x.Args[0].Elems) > 0 {
		x.fail("a call with parameters of a function that is compiled by itself")
	}
	id := x.resize(x.value(&x.Args[1], isa.B64), 64, false)
	all := func() { x.b.EmitN(ir.Bar, nil, ir.Attr{BarKind: ir.BarSync}, i32(0), i32(0)) }
	x.b.EmitN(ir.CallRt, nil, ir.Attr{Entry: image.RtCome, Sym: "come"}, id)
	all()
	run, wait, out := x.newBlock(""), x.newBlock(""), x.newBlock("")
	x.condBr(x.icmp(ir.EQ, x.threadNumber(), i32(0)), run, out, false)
	x.b.Block = run
	left := x.b.Emit(ir.CallRt, ir.I32, ir.Attr{Entry: image.RtCalled, Sym: "called"}, id)
	x.condBr(x.icmp(ir.EQ, left, i32(0)), out, wait, false)
	x.seal(wait)
	x.b.Block = wait
	x.b.EmitN(ir.CallRt, nil, ir.Attr{Entry: image.RtYield, Sym: "yield"})
	x.br(run)
	x.seal(run)
	x.seal(out)
	x.b.Block = out
	all()
}

func (x *inst) callWith(op ir.Op, sym string, params, results []*ptx.Var, id *ir.Value) {
	var args []*ir.Value
	if id != nil {
		args = append(args, id)
	}
	args = append(args, x.read(x.fr.sp))
	for i, p := range params {
		if p.Space == ptx.SpaceReg && p.Type == isa.Pred {
			x.fail("a predicate as a parameter of a call that is not inlined")
		}
		from := x.reader(&x.Args[2].Elems[i], p.Type)
		for _, c := range x.passed(p).cells {
			args = append(args, from(c.off, intOf(c.size*8)))
		}
	}
	var types []ir.Type
	var got []*paramVar
	for _, r := range results {
		pv := x.passed(r)
		got = append(got, pv)
		for _, c := range pv.cells {
			types = append(types, intOf(c.size*8))
		}
	}
	in := x.b.EmitN(op, types, ir.Attr{Sym: sym, NoInline: op == ir.Call}, args...)
	n := 0
	for i, r := range results {
		pv := got[i]
		for _, c := range pv.cells {
			x.write(c.v, in.Results[n])
			n++
		}
		x.fetch(pv, r, &x.Args[0].Elems[i])
	}
}

// fetch moves a result to where the caller wants it.
func (x *inst) fetch(pv *paramVar, r *ptx.Var, o *ptx.Operand) {
	if to := x.bytesOf(o); to != nil {
		x.copyParam(to, func(off int, t ir.Type) *ir.Value { return x.readParam(pv, off, t) })
		return
	}
	t := r.Type
	if r.Vec > 1 && o.Kind == ptx.OpReg { // the bits of a vector, in a register as wide
		n := r.Type.Bits() * r.Vec
		if t = isa.BitsType(n); t == isa.TypeNone || n > 64 {
			x.fail("a vector of %d bits in one register", n)
		}
	}
	x.setOperand(o, t, x.readParam(pv, 0, irTypes[t]))
}

// function lowers fn as a function of the IR.
func (l *lowerer) function(fn *ptx.Func) {
	kernel := l.ssa
	f := &ir.Func{Name: fn.Name}
	l.out.Funcs = append(l.out.Funcs, f)
	l.ssa = ssa{}
	l.ssa.init(f)
	l.names = copyShared(l.names)
	entry := l.newBlock("")
	l.seal(entry)
	l.b.Block = entry
	fr := l.newFrame(fn, nil)
	fr.real = true
	x := &inst{lowerer: l, fr: fr, Inst: &ptx.Inst{}}
	param := func(t ir.Type) *ir.Value {
		v := f.NewValue(t)
		f.Params = append(f.Params, v)
		return v
	}
	base := param(ir.I64)
	_ = base // the frame begins there: LocalAddr and the spills know
	l.write(fr.sp, l.b.Emit(ir.LocalAddr, ir.I64, ir.Attr{}))
	for _, p := range fn.Params {
		pv := l.passed(p)
		for _, c := range pv.cells {
			l.write(c.v, param(intOf(c.size*8)))
		}
		if to := l.formal(fr, p); to != nil {
			x.copyParam(to, func(off int, t ir.Type) *ir.Value { return x.readParam(pv, off, t) })
		}
	}
	for _, r := range fn.Results {
		for _, c := range l.passed(r).cells {
			f.Results = append(f.Results, intOf(c.size*8))
		}
	}
	l.body(fr)
	l.finish()
	l.ssa = kernel
}

// copyShared drops the names of local slots: they belong to the function before.
func copyShared(names map[*ptx.Var]string) map[*ptx.Var]string {
	out := map[*ptx.Var]string{}
	for v, n := range names {
		if spaceOfVar(v) == ir.Shared {
			out[v] = n
		}
	}
	return out
}

// returns is ret of a function that is called.
func (l *lowerer) returns(fr *frame) {
	x := &inst{lowerer: l, fr: fr, Inst: &ptx.Inst{}}
	var vals []*ir.Value
	for _, r := range fr.fn.Results {
		pv := l.formal(fr, r)
		for _, c := range l.passed(r).cells {
			t := intOf(c.size * 8)
			if pv == nil {
				vals = append(vals, l.undef(t)) // never written
			} else {
				vals = append(vals, x.readParam(pv, c.off, t))
			}
		}
	}
	l.b.Terminate(ir.Ret, ir.Attr{}, vals)
	l.b.Block = nil
}

// Dynamic allocation: the stack grows upwards in the thread's local memory, from where the frame ends.

func lowerStacksave(x *inst) { x.result(x.asType(x.read(x.fr.sp), x.opType(0))) }

func lowerStackrestore(x *inst) {
	x.write(x.fr.sp, x.resize(x.arg("a"), 64, false))
}

func lowerAlloca(x *inst) {
	align := uint64(8)
	if x.has("align") {
		align = min(max(x.Args[x.index("align")].Imm, 1), 1<<16)
	}
	n := x.resize(x.arg("a"), 64, false)
	at := x.read(x.fr.sp)
	at = x.op(ir.And, x.op(ir.Add, at, ir.ConstInt(ir.I64, align-1)), ir.ConstInt(ir.I64, -align))
	end := x.b.Emit(ir.LocalAddr, ir.I64, ir.Attr{StackEnd: true})
	room := x.op(ir.Sub, end, at)
	over := x.op(ir.Or, x.icmp(ir.HI, n, room), x.icmp(ir.HI, at, end))
	full, fits := x.newBlock(""), x.newBlock("")
	x.condBr(over, full, fits, false)
	x.seal(full)
	x.seal(fits)
	x.b.Block = full
	x.stop(ir.Trap, ir.Attr{Stop: image.StopStack})
	x.b.Block = fits
	x.write(x.fr.sp, x.op(ir.Add, at, n))
	x.result(x.asType(at, x.opType(0)))
}
