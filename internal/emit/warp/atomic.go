package warp

import (
	"kudzu/internal/emit"
	"kudzu/internal/emit/float"
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

var orderNames = map[ir.Order]string{ir.Weak: "monotonic", ir.Relaxed: "monotonic", ir.Acquire: "acquire", ir.Release: "release", ir.AcqRel: "acq_rel", ir.SeqCst: "seq_cst"}

// combineFloat is combine of numbers. p is where the memory is: f32 sums flush subnormals in global memory and do not in
// shared memory.
func (e *emitter) combineFloat(in *ir.Inst, t ir.Type, old, x, p ll.Val) ll.Val {
	el, _ := float.Element(t)
	a, b := e.unpair(old, t), e.unpair(x, t)
	n, _ := old.T.Split()
	var r ll.Val
	switch {
	case in.AtomOp == ir.AtomAdd && el == ir.F32:
		r = e.addF32(in, a, b, p)
	case in.AtomOp == ir.AtomAdd && el == ir.F64:
		r = e.addF64(in, a, b, p)
	case in.AtomOp == ir.AtomAdd:
		r = e.Arith(&ir.Inst{Op: ir.FAdd}, el, []ll.Val{a, b})
	case in.AtomOp == ir.AtomFMin || in.AtomOp == ir.AtomFMax:
		r = e.minMax(float.MinMax{Max: in.AtomOp == ir.AtomFMax}, a, b, el)
	default:
		e.unsupported("atomic operation %s of %s", in.AtomOp, t)
	}
	return e.canonical(e.pair(r, t, n), t, n)
}

// addF32 is the sum that an atomic leaves in memory. A sum of two normal numbers that is subnormal is exact, so flushing
// the operands and the result is all there is to flushing.
func (e *emitter) addF32(in *ir.Inst, a, b, p ll.Val) ll.Val {
	flush := func() ll.Val {
		if e.Flush {
			return e.FAdd(a, b)
		}
		return e.FlushBits(e.FAdd(e.FlushBits(a, ir.F32), e.FlushBits(b, ir.F32)), ir.F32)
	}
	switch in.Space {
	case ir.Shared, ir.Local:
		return e.FAdd(a, b)
	case ir.Generic:
		return e.Select(e.inShared(p), e.FAdd(a, b), flush())
	}
	return flush()
}

// addF64: the unit that adds in global memory does not make a NaN quiet, and keeps b's before a's. In shared memory it is an addition of a
// to b.
func (e *emitter) addF64(in *ir.Inst, a, b, p ll.Val) ll.Val {
	sum := e.FAdd(a, b)
	pick := func(first, then ll.Val) ll.Val {
		return e.Select(e.FCmp("uno", first, first), first, e.Select(e.FCmp("uno", then, then), then, sum))
	}
	switch in.Space {
	case ir.Shared, ir.Local:
		return e.quiet(pick(a, b))
	case ir.Generic:
		return e.Select(e.inShared(p), e.quiet(pick(a, b)), pick(b, a))
	}
	return pick(b, a)
}

// inShared reports whether a host address lies in the block's shared memory.
func (e *emitter) inShared(p ll.Val) ll.Val {
	at := e.PtrToInt(p)
	start := e.PtrToInt(e.ctx.shared)
	size := e.ZExt(e.load("i32", e.ctx.launch, image.LaunchSharedTotal, invariant), "i64")
	return e.ICmp("ult", e.Sub(at, start), size)
}

// combine is the operation itself: what memory at p holds after old met x.
func (e *emitter) combine(in *ir.Inst, t ir.Type, old, x, p ll.Val) ll.Val {
	op := in.AtomOp
	if t.IsFloat() && op != ir.AtomExch {
		return e.combineFloat(in, t, old, x, p)
	}
	r, ok := emit.Combine(e.Func, op, old, x)
	if !ok {
		e.unsupported("atomic operation %s", op)
	}
	return r
}

// rmw is one lane's atomic on address p. A block runs on one thread, so its shared memory needs no lock.
func (e *emitter) rmw(in *ir.Inst, t ir.Type, p, x ll.Val) ll.Val {
	mt := memType(t)
	if in.Space == ir.Shared || in.Space == ir.Local {
		old := e.Load(mt, p, bytesOf(t))
		e.Store(e.combine(in, t, old, x, p), p, bytesOf(t))
		return old
	}
	wraps := in.AtomOp == ir.AtomInc || in.AtomOp == ir.AtomDec // which LLVM does not know on arm64
	if name, ok := emit.RMW[in.AtomOp]; ok && !(wraps && e.cpu.arm64) && (!t.IsFloat() || in.AtomOp == ir.AtomExch) && t.Bits() >= 16 {
		it := ll.IntType(t.Bits())
		r := e.RMW(name, p, e.Recast(x, it), orderNames[in.Order], bytesOf(t))
		return e.Recast(r, mt)
	}
	// A loop around compare-and-swap.
	it := ll.IntType(t.Bits())
	first := e.LoadAs(it, p, ll.Access{Align: bytesOf(t), Order: "monotonic"})
	head, out := e.NewLabel("cas"), e.NewLabel("cas.out")
	pre := e.Cur()
	e.Br(head)
	e.label(head)
	cur := e.Phi(it)
	cur.Add(first, pre)
	old := e.Recast(cur.Val, mt)
	want := e.Recast(e.combine(in, t, old, x, p), it)
	fail := orderNames[in.Order]
	if fail == "release" || fail == "acq_rel" {
		fail = "monotonic"
	}
	r := e.CmpXchg(p, cur.Val, want, orderNames[in.Order]+" "+fail, bytesOf(t))
	seen := e.ExtractValue(r, 0)
	ok := e.ExtractValue(r, 1)
	cur.Add(seen, e.Cur())
	e.CondBr(ok, out, head)
	e.label(out)
	return old
}

func emitAtomic(e *emitter, in *ir.Inst) {
	t := in.Args[1].Type
	mask, all := e.mask(in)
	e.aligned(in, bytesOf(t), mask, all)
	e.bounded(in, bytesOf(t), mask, all)
	if e.warpCombined(in) {
		return
	}
	e.askForLines(in, mask, all)
	if len(in.Results) == 0 || !e.used[in.Results[0]] {
		e.reduction(in, t, mask, all)
		return
	}
	e.eachPointer(in, func(p ll.Val, l []ll.Val) []ll.Val { return []ll.Val{e.rmw(in, t, p, l[0])} })
}

// reduction is an atomic whose old values nobody reads. In shared memory, where it is no more than a load and a store, it is
// written out for all lanes, and loops over those that act only if some do not.
func (e *emitter) reduction(in *ir.Inst, t ir.Type, mask ll.Val, all bool) {
	for _, r := range in.Results {
		e.set(r, ll.Zero(ll.Vec(e.lanesOf(r), memType(t))))
	}
	if in.Space != ir.Shared || e.w == 1 || uniform(in.Args[0]) {
		silent := *in
		silent.Results = nil
		e.eachPointer(&silent, func(p ll.Val, l []ll.Val) []ll.Val { e.rmw(in, t, p, l[0]); return nil })
		return
	}
	lanes := e.w
	if uniform(in.Args[1]) {
		lanes = 1
	}
	x := e.stored(in.Args[1], lanes)
	off := e.Trunc(e.vector(in.Args[0]), "i32")
	one := func(l []ll.Val) []ll.Val {
		e.rmw(in, t, e.pointer(ir.Shared, e.ZExt(l[0], "i64")), l[1])
		return nil
	}
	unrolled := func() []ll.Val {
		n := x.T.Lanes()
		for l, at := range e.offsetsOneByOne(off, in.Args[0]) {
			v := x
			if n > 1 {
				v = e.Extract(x, l)
			}
			one([]ll.Val{at, v})
		}
		return nil
	}
	if all {
		unrolled()
		return
	}
	full := e.ICmp("eq", e.number(mask), ll.Int("i32", -1))
	e.choose(full, "every", unrolled, func() []ll.Val { return e.overLanes(mask, []ll.Val{off, x}, nil, one) })
}

// offsetsOneByOne takes the lanes' offsets in shared memory out of their vector. Whole registers of 64 bits come out of a
// vector, two, four or eight numbers each, and are taken apart by shifts: that is twice as fast as through memory.
func (e *emitter) offsetsOneByOne(off ll.Val, addr *ir.Value) []ll.Val {
	bits := 32
	place := func(x ll.Val) ll.Val { return x }
	if x, shift, base, ok := e.byteIndex(addr); ok {
		bits = 8
		off = e.Trunc(e.vector(x), "i8")
		place = func(x ll.Val) ll.Val { return e.Add(e.Shl(x, x.Int(shift)), x.Int(base)) }
	} else if e.below(addr, 1<<16) {
		bits = 16
		off = e.Trunc(off, "i16")
	}
	each := 64 / bits
	words := e.Bitcast(off, ll.Vec(e.w/each, "i64"))
	var out []ll.Val
	for i := 0; i < e.w/each; i++ {
		w := e.plain(e.Extract(words, i))
		for j := 0; j < each; j++ {
			x := w
			switch {
			case bits == 8 && j%2 == 1: // x86 reads the second byte of a register as it reads the first
				x = e.LShr(w, w.Int(8))
			case j > 0:
				w = e.plain(e.LShr(w, w.Int(int64(max(bits, 16)))))
				x = w
			}
			out = append(out, place(e.ZExt(e.Trunc(x, ll.IntType(bits)), "i32")))
		}
	}
	return out
}

// plain is x in a register of which LLVM does not know where it comes from. It would take each number out of the vector by itself, which are
// two operations, one of them at the only port that shuffles, and make one long shift of two short ones, with a mask behind it.
func (e *emitter) plain(x ll.Val) ll.Val {
	return e.Op(x.T, `call %s asm "", "=r,0"(%s) nounwind memory(none)`, x.T, x)
}

// byteIndex takes an address in shared memory apart that is a number below 256, shifted, above an address that is known now: a
// histogram of bytes.
func (e *emitter) byteIndex(v *ir.Value) (x *ir.Value, shift, base int64, ok bool) {
	for depth := 0; depth < 8 && v.Def != nil && v.Type.Bits() >= 32; depth++ { // modulo 2^32, which is all that counts
		d := v.Def
		switch {
		case d.Op == ir.Add && shift == 0 && d.Args[1].Const:
			base += d.Args[1].Int()
			v = d.Args[0]
			continue
		case d.Op == ir.Add && shift == 0:
			i := 0
			if a := d.Args[0].Def; a == nil || a.Op != ir.SharedAddr {
				i = 1
			}
			a := d.Args[i].Def
			if a == nil || a.Op != ir.SharedAddr {
				return nil, 0, 0, false
			}
			base += e.sharedOffset(a.Sym) + a.Off
			v = d.Args[1-i]
			continue
		case d.Op == ir.Shl && shift == 0 && d.Args[1].Const && d.Args[1].Bits <= 4:
			shift, v = int64(d.Args[1].Bits), d.Args[0]
			continue
		case d.Op == ir.ZExt:
			v = d.Args[0]
			continue
		}
		break
	}
	return v, shift, base, e.below(v, 256) && !uniform(v) && base >= 0 && base < 1<<24
}

// below reports a value that is less than n as an unsigned number.
func (e *emitter) below(v *ir.Value, n uint64) bool {
	return e.rangeOf(v, 9).UpperU(v.Type.Bits()) < n
}

// eachPointer runs body for each acting lane with its address and its other operands, and sets the results.
func (e *emitter) eachPointer(in *ir.Inst, body func(p ll.Val, l []ll.Val) []ll.Val) {
	mask, _ := e.mask(in)
	addr := in.Args[0]
	one := uniform(addr) && (in.Space != ir.Local || e.w == 1)
	var args []ll.Val
	if one {
		args = append(args, e.pointer(in.Space, e.scalar(addr)))
	} else {
		args = append(args, e.pointers(in))
	}
	for _, a := range in.Args[1:] {
		if uniform(a) {
			args = append(args, e.stored(a, 1))
		} else {
			args = append(args, e.stored(a, e.w))
		}
	}
	var out []ll.Type
	for _, r := range in.Results {
		out = append(out, memType(r.Type))
	}
	got := e.overLanes(mask, args, out, func(l []ll.Val) []ll.Val { return body(l[0], l[1:]) })
	for i, r := range in.Results {
		e.set(r, got[i])
	}
}

var reduceNames = map[ir.AtomOp]string{ir.AtomAdd: "add", ir.AtomMinS: "smin", ir.AtomMinU: "umin", ir.AtomMaxS: "smax", ir.AtomMaxU: "umax", ir.AtomAnd: "and", ir.AtomOr: "or", ir.AtomXor: "xor"}

// identity is what leaves the other operand as it is.
func identity(op ir.AtomOp, bits int) int64 {
	switch op {
	case ir.AtomAnd, ir.AtomMinU:
		return -1
	case ir.AtomMinS:
		return 1<<(bits-1) - 1
	case ir.AtomMaxS:
		return -1 << (bits - 1)
	}
	return 0
}

// reduceLanes combines the acting lanes of an integer vector into one number.
func (e *emitter) reduceLanes(op ir.AtomOp, x, mask ll.Val, all bool) ll.Val {
	if !all {
		x = e.Select(mask, x, x.Int(identity(op, x.T.ElemBits())))
	}
	return e.IntrOf(x.T.Elem(), "vector.reduce."+reduceNames[op], []ll.Type{x.T}, x)
}

// warpCombined does an integer operation on one address once for the warp. With results wanted only add is done so: a
// lane's old value is what was there plus the lanes before it.
func (e *emitter) warpCombined(in *ir.Inst) bool {
	t := in.Args[1].Type
	name := reduceNames[in.AtomOp]
	if name == "" || t.IsFloat() || !uniform(in.Args[0]) || in.Space == ir.Local || e.w == 1 || t.Bits() < 32 {
		return false
	}
	if len(in.Results) > 0 && (in.AtomOp != ir.AtomAdd || !uniform(in.Args[1])) {
		return false
	}
	mask, all := e.mask(in)
	it := typ(t)
	run := func() []ll.Val {
		p := e.pointer(in.Space, e.scalar(in.Args[0]))
		var x ll.Val
		switch v := in.Args[1]; {
		case uniform(v) && in.AtomOp == ir.AtomAdd:
			n := e.Call("i32", "llvm.ctpop.i32", e.active(in))
			x = e.Mul(e.scalar(v), e.ZExt(n, it))
		case uniform(v) && in.AtomOp == ir.AtomXor:
			n := e.Call("i32", "llvm.ctpop.i32", e.active(in))
			odd := e.Trunc(n, "i1")
			x = e.Select(odd, e.scalar(v), ll.Int(it, 0))
		case uniform(v):
			x = e.scalar(v)
		default:
			x = e.reduceLanes(in.AtomOp, e.vector(v), mask, all)
		}
		return []ll.Val{e.rmw(in, t, p, x)}
	}
	var old ll.Val
	if all {
		old = run()[0]
	} else {
		some := e.ICmp("ne", e.number(mask), ll.Int("i32", 0))
		old = e.choose(some, "red", run, func() []ll.Val { return []ll.Val{ll.Int(it, 0)} })[0]
	}
	if len(in.Results) > 0 {
		// The lanes before each one: count the bits below.
		below := make([]int64, e.w)
		for l := range below {
			below[l] = ll.Wrap(int64(1)<<l-1, 32)
		}
		m := e.And(e.splat(e.active(in)), ll.ConstVec("i32", below))
		rank := e.ZExt(e.Intr("ctpop", m), it)
		v := e.splat(e.scalar(in.Args[1]))
		e.set(in.Results[0], e.Add(e.splat(old), e.Mul(rank, v)))
	}
	return true
}

func emitCAS(e *emitter, in *ir.Inst) {
	t := in.Args[1].Type
	it := ll.IntType(t.Bits())
	mask, all := e.mask(in)
	e.aligned(in, bytesOf(t), mask, all)
	e.bounded(in, bytesOf(t), mask, all)
	e.askForLines(in, mask, all)
	e.eachPointer(in, func(p ll.Val, l []ll.Val) []ll.Val {
		want, val := e.Recast(l[0], it), e.Recast(l[1], it)
		if in.Space == ir.Shared || in.Space == ir.Local {
			old := e.Load(it, p, bytesOf(t))
			e.Store(e.Select(e.ICmp("eq", old, want), val, old), p, bytesOf(t))
			return []ll.Val{e.Recast(old, memType(t))}
		}
		fail := orderNames[in.Order]
		if fail == "release" || fail == "acq_rel" {
			fail = "acquire"
		}
		r := e.CmpXchg(p, want, val, orderNames[in.Order]+" "+fail, bytesOf(t))
		return []ll.Val{e.Recast(e.ExtractValue(r, 0), memType(t))}
	})
}
