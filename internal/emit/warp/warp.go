package warp

import (
	"math"
	"math/bits"

	"kudzu/internal/analysis"
	"kudzu/internal/emit/float"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// members is the acting lanes that the instruction's member mask names, where all lanes name the same.
func (e *emitter) members(in *ir.Inst, arg int) ll.Val {
	act := e.active(in)
	if m := in.Args[arg]; !m.Const || m.Int() != -1 {
		return e.And(act, e.scalar(m))
	}
	return act
}

// amongMembers sets the results of an instruction from what f makes of a member mask. Lanes that name different masks,
// as the tiles of a partitioned warp do, are served one mask after the other.
func (e *emitter) amongMembers(in *ir.Inst, arg int, f func(members ll.Val) []ll.Val) {
	e.needLanes(in)
	if uniform(in.Args[arg]) {
		for i, r := range f(e.members(in, arg)) {
			e.set(in.Results[i], r)
		}
		return
	}
	o, act, masks := e.Func, e.active(in), e.vector(in.Args[arg])
	head, out := o.NewLabel("members"), o.NewLabel("members.out")
	pre := o.Cur()
	o.CondBr(e.ICmp("ne", act, ll.Int("i32", 0)), head, out)
	e.label(head)
	left := o.Phi("i32")
	left.Add(act, pre)
	types := make([]ll.Type, len(in.Results))
	acc := make([]*ll.Phi, len(in.Results))
	for i, r := range in.Results {
		types[i] = ll.Vec(e.w, typ(r.Type))
		acc[i] = o.Phi(types[i])
		acc[i].Add(ll.Zero(types[i]), pre)
	}
	lane := o.Call("i32", "llvm.cttz.i32", left.Val, ll.Int("i1", 1))
	own := e.Shl(ll.Int("i32", 1), lane) // a mask without the lane itself must not go round for ever
	m := e.Or(own, e.And(act, o.ExtractAt(masks, lane)))
	served := e.fromNumber(m)
	next := make([]ll.Val, len(in.Results))
	for i, r := range f(m) {
		if r.T != types[i] {
			r = e.splat(r)
		}
		next[i] = e.Select(served, r, acc[i].Val)
	}
	rest := e.And(left.Val, e.Xor(m, ll.Int("i32", -1)))
	here := o.Cur()
	left.Add(rest, here)
	for i := range acc {
		acc[i].Add(next[i], here)
	}
	o.CondBr(e.ICmp("ne", rest, ll.Int("i32", 0)), head, out)
	e.label(out)
	for i := range acc {
		acc[i] = o.Phi(types[i])
		acc[i].Add(ll.Zero(types[i]), pre)
		acc[i].Add(next[i], here)
	}
	for i, r := range in.Results { // setting may store to the frame, and phis come first
		e.set(r, acc[i].Val)
	}
}

func (e *emitter) needLanes(in *ir.Inst) {
	if e.w == 1 {
		e.unsupported("%s among lanes that wait on each other", in.Op)
	}
}

// emitActiveMask: a thread that runs by itself is the only one that is there.
func emitActiveMask(e *emitter, in *ir.Inst) {
	if e.w == 1 {
		e.set(in.Results[0], e.Shl(ll.Int("i32", 1), e.And(e.ctx.first, ll.Int("i32", 31))))
		return
	}
	e.set(in.Results[0], e.active(in))
}

func emitVote(e *emitter, in *ir.Inst) {
	e.amongMembers(in, 1, func(m ll.Val) []ll.Val {
		p := e.And(e.ballot(in.Args[0]), m)
		switch in.Op {
		case ir.VoteAny:
			return []ll.Val{e.ICmp("ne", p, ll.Int("i32", 0))}
		case ir.VoteAll:
			return []ll.Val{e.ICmp("eq", p, m)}
		case ir.VoteUni:
			return []ll.Val{e.Or(e.ICmp("eq", p, m), e.ICmp("eq", p, ll.Int("i32", 0)))}
		}
		return []ll.Val{p} // the ballot
	})
}

func emitElect(e *emitter, in *ir.Inst) {
	e.amongMembers(in, 0, func(m ll.Val) []ll.Val {
		leader := e.Call("i32", "llvm.cttz.i32", m, ll.Int("i1", 0))
		return []ll.Val{leader, e.ICmp("eq", e.iota("i32"), e.splat(leader))}
	})
}

func emitRedux(e *emitter, in *ir.Inst) {
	e.amongMembers(in, 1, func(m ll.Val) []ll.Val {
		members := e.fromNumber(m)
		if in.Args[0].Type.IsFloat() {
			return []ll.Val{e.reduxFloat(in, members)}
		}
		return []ll.Val{e.reduceLanes(in.AtomOp, e.vector(in.Args[0]), members, false)}
	})
}

// reduxFloat is min or max over lanes: a NaN loses unless it is to win.
func (e *emitter) reduxFloat(in *ir.Inst, members ll.Val) ll.Val {
	if in.Args[0].Type != ir.F32 || in.AtomOp != ir.AtomFMin && in.AtomOp != ir.AtomFMax {
		e.unsupported("redux of %s", in.Args[0].Type)
	}
	kind := float.MinMax{Max: in.AtomOp == ir.AtomFMax, NaN: in.NaN}
	x := e.vector(in.Args[0])
	// Lanes that do not take part repeat the first that does.
	first := e.Call("i32", "llvm.cttz.i32", e.number(members), ll.Int("i1", 0))
	first = e.And(first, ll.Int("i32", 31))
	v := e.ExtractAt(x, first)
	x = e.Select(members, x, e.splat(v))
	for n := e.w / 2; n >= 1; n /= 2 {
		y := e.Shuffle(x, x, rangeInts(0, e.w, func(l int) int { return l ^ n }))
		x = e.MinMax(kind, x, y, ir.F32)
	}
	x = e.canonical(x, ir.F32, e.w)
	return e.Extract(x, 0)
}

func emitMatchAll(e *emitter, in *ir.Inst) {
	e.amongMembers(in, 1, func(m ll.Val) []ll.Val {
		x := e.vector(in.Args[0])
		first := e.And(e.Call("i32", "llvm.cttz.i32", m, ll.Int("i1", 0)), ll.Int("i32", 31))
		v := e.ExtractAt(x, first)
		same := e.And(e.number(e.ICmp("eq", x, e.splat(v))), m)
		all := e.ICmp("eq", same, m)
		return []ll.Val{e.Select(all, m, ll.Int("i32", 0)), all}[:len(in.Results)]
	})
}

// matchBits is how many bits of a value are compared one by one: a step of the loop that compares lanes waits for the one before it, about as
// long as three of these steps take.
const matchBits = 12

// emitMatch finds the lanes with the same value, of those that a lane names.
func emitMatch(e *emitter, in *ir.Inst) {
	e.needLanes(in)
	v := in.Args[0]
	have := ^analysis.Zeros(v) & (math.MaxUint64 >> (64 - v.Type.Bits()))
	same := e.matchLanes
	if bits.OnesCount64(have) <= matchBits {
		same = func(x, act ll.Val) ll.Val { return e.matchBits(x, act, have) }
	}
	e.set(in.Results[0], e.And(same(e.vector(v), e.active(in)), e.vector(in.Args[1])))
}

// matchBits drops the lanes that differ in a bit, for each of the few bits that values have: the digits of a radix sort.
func (e *emitter) matchBits(x, act ll.Val, have uint64) ll.Val {
	peers := e.splat(act)
	for ; have != 0; have &= have - 1 {
		set := e.ICmp("ne", e.And(x, x.Int(int64(have&-have))), x.Int(0))
		n := e.number(set)
		peers = e.And(peers, e.Select(set, e.splat(n), e.splat(e.Xor(n, ll.Int("i32", -1)))))
	}
	return peers
}

// matchLanes compares every lane with every other: for each acting lane in turn, the lanes with the same value.
func (e *emitter) matchLanes(x, act ll.Val) ll.Val {
	o := e.Func
	vt := ll.Vec(e.w, "i32")
	head, out := o.NewLabel("match"), o.NewLabel("match.out")
	pre := o.Cur()
	o.CondBr(e.ICmp("ne", act, ll.Int("i32", 0)), head, out)
	e.label(head)
	left := o.Phi("i32")
	left.Add(act, pre)
	acc := o.Phi(vt)
	acc.Add(ll.Zero(vt), pre)
	lane := o.Call("i32", "llvm.cttz.i32", left.Val, ll.Int("i1", 1))
	v := o.ExtractAt(x, lane)
	same := e.And(e.number(e.ICmp("eq", x, e.splat(v))), act)
	next := e.Select(e.fromNumber(same), e.splat(same), acc.Val)
	rest := e.And(left.Val, e.Xor(same, ll.Int("i32", -1)))
	left.Add(rest, o.Cur())
	acc.Add(next, o.Cur())
	here := o.Cur()
	o.CondBr(e.ICmp("ne", rest, ll.Int("i32", 0)), head, out)
	e.label(out)
	r := o.Phi(vt)
	r.Add(ll.Zero(vt), pre)
	r.Add(next, here)
	return r.Val
}

// emitShfl exchanges values between lanes. The third operand holds the clamp in its low bits and the segment mask above:
// a lane reads lane j of its own segment if that is in range, its own value otherwise. A lane that does not act gives
// what it holds, which PTX leaves undefined.
func emitShfl(e *emitter, in *ir.Inst) {
	e.needLanes(in)
	lanes, inside, known := analysis.ShuffleFrom(in)
	switch {
	case uniform(in.Results[0]) && e.w > 1 && in.Args[0].Shape.Kind != ir.Affine:
		e.broadcast(in)
		return
	case known:
		e.shflConst(in, lanes, inside)
		return
	}
	lane, c := in.Args[1], in.Args[2]
	me := e.iota("i32")
	cv := e.vector(c)
	b := e.And(e.vector(lane), me.Int(31))
	seg := e.And(e.LShr(cv, me.Int(8)), me.Int(31))
	clamp := e.And(cv, me.Int(31))
	notSeg := e.Xor(seg, me.Int(31))
	lowest := e.And(me, seg)
	highest := e.Or(lowest, e.And(clamp, notSeg))
	var j, ok ll.Val
	switch in.Shuf {
	case ir.ShufUp:
		j = e.Sub(me, b)
		ok = e.ICmp("sge", j, highest)
	case ir.ShufDown:
		j = e.Add(me, b)
		ok = e.ICmp("sle", j, highest)
	case ir.ShufBfly:
		j = e.Xor(me, b)
		ok = e.ICmp("sle", j, highest)
	case ir.ShufIdx:
		j = e.Or(lowest, e.And(b, notSeg))
		ok = e.ICmp("sle", j, highest)
	}
	from := e.And(e.Select(ok, j, me), me.Int(31))
	e.set(in.Results[0], e.permute(e.exchange(in), from))
	if len(in.Results) > 1 {
		e.set(in.Results[1], ok)
	}
}

// broadcast is a shuffle that gives all lanes the same.
func (e *emitter) broadcast(in *ir.Inst) {
	v := in.Args[0]
	if uniform(v) {
		e.set(in.Results[0], e.clean(v, 1))
		return
	}
	e.set(in.Results[0], e.Extract(e.clean(v, e.w), int(in.Args[1].Bits)&31))
}

// shflConst is a shuffle whose pattern is known now. Of numbers that differ by known distances it is an addition: lane 0's of the
// result is that of the lane it reads.
func (e *emitter) shflConst(in *ir.Inst, from [32]int, inside [32]bool) {
	v, r := in.Args[0], in.Results[0]
	if r.Shape.Kind >= ir.Affine {
		x := e.scalar(v)
		e.set(r, e.Add(x, x.Int(laneOffset(v.Shape, from[0]))))
	} else if !e.shflFew(in, from) {
		x := e.exchange(in)
		e.set(r, e.Shuffle(x, x, from[:]))
	}
	if len(in.Results) > 1 {
		ok := make([]int64, e.w)
		for l := range ok {
			if inside[l] {
				ok[l] = 1
			}
		}
		e.set(in.Results[1], ll.ConstVec("i1", ok))
	}
}

// exchange is what lanes hand to each other in a shuffle.
func (e *emitter) exchange(in *ir.Inst) ll.Val {
	if e.dirty[in.Results[0]] {
		return e.of(in.Args[0], e.w)
	}
	return e.clean(in.Args[0], e.w)
}

// permute gives lane l the value of lane from[l].
func (e *emitter) permute(x, from ll.Val) ll.Val {
	_, el := x.T.Split()
	if el == "i1" {
		return e.Trunc(e.permute(e.ZExt(x, "i32"), from), "i1")
	}
	switch bits := el.ElemBits(); {
	case bits < 32:
		it := ll.IntType(bits)
		r := e.permute(e.ZExt(e.Recast(x, it), "i32"), from)
		return e.Recast(e.Trunc(r, it), el)
	case bits == 64 && e.cpu.avx512:
		y := e.Recast(x, "i64")
		lo := e.permute(e.Trunc(y, "i32"), from)
		hi := e.permute(e.Trunc(e.LShr(y, y.Int(32)), "i32"), from)
		r := e.Or(e.ZExt(lo, "i64"), e.Shl(e.ZExt(hi, "i64"), y.Int(32)))
		return e.Recast(r, el)
	case bits == 32 && e.cpu.avx512:
		y := e.Recast(x, "i32")
		a, b := e.slice(y, 0, 16), e.slice(y, 16, 16)
		var out []ll.Val
		for h := 0; h < 2; h++ {
			idx := e.slice(from, 16*h, 16)
			out = append(out, e.Call("<16 x i32>", "llvm.x86.avx512.vpermi2var.d.512", a, idx, b))
		}
		return e.Recast(e.concat(out), el)
	}
	// Through memory.
	p := e.room(el, 0)
	e.Store(x, p, 64)
	q := e.room(el, 1)
	idx := e.ZExt(from, "i64")
	for l := 0; l < e.w; l++ {
		i := e.Extract(idx, l)
		y := e.Load(el, e.GEP(el, p, i), 0)
		e.Store(y, e.GEP(el, q, ll.Int("i64", int64(l))), 0)
	}
	vt := ll.Vec(e.w, el)
	return e.Load(vt, q, 64)
}
