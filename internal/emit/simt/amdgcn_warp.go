package simt

import (
	"kudzu/internal/image"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

func functionID(name string) uint64 { return image.FuncID(name) }

// ballot is the lanes of the warp that are here and for which p holds.
func (e *emitter) ballot(p ll.Val) ll.Val {
	if e.wave() == 32 {
		return e.Call("i32", "llvm.amdgcn.ballot.i32", p)
	}
	b := e.Call("i64", "llvm.amdgcn.ballot.i64", p)
	half := e.ZExt(e.And(e.laneInWave(), ll.Int("i32", 32)), "i64")
	return e.Trunc(e.LShr(b, half), "i32")
}

func (e *emitter) active() ll.Val { return e.ballot(ll.Int("i1", 1)) }

// fromLane is the value that a lane of the warp holds, for a value of 32 bits.
func (e *emitter) fromLane(v, lane ll.Val) ll.Val {
	if e.wave() == 64 {
		lane = e.Or(lane, e.And(e.laneInWave(), ll.Int("i32", 32)))
	}
	return e.Call("i32", "llvm.amdgcn.ds.bpermute", e.Shl(lane, ll.Int("i32", 2)), v)
}

// wordsOf takes a value apart into words; whole is the way back.
func (e *emitter) wordsOf(x ll.Val) []ll.Val {
	b := e.Bits(x)
	if b.T.Bits() <= 32 {
		return []ll.Val{e.Resize(b, 32)}
	}
	lo := e.Trunc(b, "i32")
	hi := e.Trunc(e.LShr(b, b.Int(32)), "i32")
	return []ll.Val{lo, hi}
}

func (e *emitter) whole(words []ll.Val, t ll.Type) ll.Val {
	if len(words) == 1 {
		return e.Bitcast(e.Resize(words[0], t.Bits()), t)
	}
	return e.Bitcast(e.join(words), t)
}

// exchanged is the value of the lane whose number differs in the bits of m, of a warp: on its way through an instruction's operand or between
// rows of 16 lanes, where the processor has that, which is faster than the permute unit.
func (e *emitter) exchanged(v ll.Val, m int64) ll.Val {
	dpp := func(control int64) ll.Val {
		return e.Call("i32", "llvm.amdgcn.mov.dpp.i32", v, ll.Int("i32", control), ll.Int("i32", 15), ll.Int("i32", 15), ll.Int("i1", 1))
	}
	const quad, crossed = 0x000, 0x160 // quad_perm, row_xmask
	switch {
	case m == 0:
		return v
	case m < 4:
		return dpp(quad | m | (1^m)<<2 | (2^m)<<4 | (3^m)<<6)
	case e.wave() == 64:
		return e.fromLane(v, e.Xor(e.lane(), ll.Int("i32", m)))
	case m < 16:
		return dpp(crossed | m)
	}
	var lanes uint64
	for i := range int64(16) {
		lanes |= uint64(i^m&15) << (4 * i)
	}
	no := ll.Int("i1", 0)
	return e.Call("i32", "llvm.amdgcn.permlanex16.i32", v, v, ll.Int("i32", int64(int32(lanes))), ll.Int("i32", int64(int32(lanes>>32))), no, no)
}

// handed is what a shuffle hands over: with NaNs as they are, where what comes is cleaned by those who see it.
func (e *emitter) handed(in *ir.Inst) ll.Val {
	if e.dirty[in.Results[0]] {
		return e.val(in.Args[0])
	}
	return e.clean(in.Args[0])
}

// gcnShfl computes the lane to read as PTX says, and reads it through the permute unit.
func gcnShfl(e *emitter, in *ir.Inst) {
	if b, c := in.Args[1], in.Args[2]; in.Shuf == ir.ShufBfly && b.Const && c.Const && c.Bits&0x1f1f == 0x1f { // of the whole warp: nobody is out of range
		words := e.wordsOf(e.handed(in))
		for i, w := range words {
			words[i] = e.exchanged(w, int64(b.Bits&31))
		}
		e.set(in.Results[0], e.whole(words, typ(in.Results[0].Type)))
		if len(in.Results) > 1 {
			e.set(in.Results[1], ll.Int("i1", 1))
		}
		return
	}
	a := e.operands(in)
	me := e.lane()
	b := e.And(a[1], me.Int(31))
	seg := e.And(e.LShr(a[2], me.Int(8)), me.Int(31))
	clamp := e.And(a[2], me.Int(31))
	notSeg := e.Xor(seg, me.Int(31))
	lowest := e.And(me, seg)
	highest := e.Or(lowest, e.And(clamp, notSeg))
	var j ll.Val
	cmp := ll.Pred("sle")
	switch in.Shuf {
	case ir.ShufUp:
		j, cmp = e.Sub(me, b), "sge"
	case ir.ShufDown:
		j = e.Add(me, b)
	case ir.ShufBfly:
		j = e.Xor(me, b)
	case ir.ShufIdx:
		j = e.Or(lowest, e.And(b, notSeg))
	}
	ok := e.ICmp(cmp, j, highest)
	from := e.And(e.Select(ok, j, me), me.Int(31))
	words := e.wordsOf(e.handed(in))
	for i, w := range words {
		words[i] = e.fromLane(w, from)
	}
	e.set(in.Results[0], e.whole(words, typ(in.Results[0].Type)))
	if len(in.Results) > 1 {
		e.set(in.Results[1], ok)
	}
}

func gcnVote(e *emitter, in *ir.Inst) {
	p, m := e.val(in.Args[0]), e.val(in.Args[1])
	zero := ll.Int("i32", 0)
	none := func(p ll.Val) ll.Val { return e.ICmp("eq", e.And(e.ballot(p), m), zero) }
	switch in.Op {
	case ir.VoteAny:
		e.result(in, e.Not(none(p)))
	case ir.VoteAll:
		e.result(in, none(e.Not(p)))
	case ir.VoteUni:
		e.result(in, e.Or(none(p), none(e.Not(p))))
	default:
		e.result(in, e.And(e.ballot(p), m))
	}
}

// gcnMatchAny takes the first lane's value, serves the lanes that hold it, and goes on with the rest.
func gcnMatchAny(e *emitter, in *ir.Inst) {
	v, m := e.val(in.Args[0]), e.val(in.Args[1])
	head, out := e.NewLabel("match"), e.NewLabel("match.out")
	e.Br(head)
	e.Label(head)
	same := ll.Int("i1", 1)
	for _, w := range e.wordsOf(v) {
		first := e.Call("i32", "llvm.amdgcn.readfirstlane.i32", w)
		same = e.And(same, e.ICmp("eq", w, first))
	}
	found := e.And(e.ballot(same), m)
	e.CondBr(same, out, head)
	e.Label(out)
	e.result(in, found)
}

// gcnMatchAll compares with the value of the first member.
func gcnMatchAll(e *emitter, in *ir.Inst) {
	v, m := e.val(in.Args[0]), e.val(in.Args[1])
	members := e.And(e.active(), m)
	first := e.And(e.Call("i32", "llvm.cttz.i32", members, ll.Int("i1", 0)), ll.Int("i32", 31))
	same := ll.Int("i1", 1)
	for _, w := range e.wordsOf(v) {
		same = e.And(same, e.ICmp("eq", w, e.fromLane(w, first)))
	}
	all := e.ICmp("eq", e.And(e.ballot(same), members), members)
	e.set(in.Results[0], e.Select(all, members, ll.Int("i32", 0)))
	if len(in.Results) > 1 {
		e.set(in.Results[1], all)
	}
}

var gcnIdentity = map[ir.AtomOp]int64{ir.AtomAdd: 0, ir.AtomMinS: 1<<31 - 1, ir.AtomMinU: -1, ir.AtomMaxS: -1 << 31, ir.AtomMaxU: 0, ir.AtomAnd: -1, ir.AtomOr: 0, ir.AtomXor: 0}

// gcnRedux goes over the lanes of the warp; each takes what its own mask names.
func gcnRedux(e *emitter, in *ir.Inst) {
	start, ok := gcnIdentity[in.AtomOp]
	if !ok || in.Args[0].Type != ir.I32 {
		e.fail("redux %s of %s", in.AtomOp, in.Args[0].Type)
	}
	v := e.val(in.Args[0])
	members := e.And(e.active(), e.val(in.Args[1]))
	pre, head, out := e.Cur(), e.NewLabel("redux"), e.NewLabel("redux.out")
	e.Br(head)
	e.Label(head)
	i, acc := e.Phi("i32"), e.Phi("i32")
	i.Add(ll.Int("i32", 0), pre)
	acc.Add(ll.Int("i32", start), pre)
	x := e.fromLane(v, i.Val)
	here := e.ICmp("ne", e.And(e.LShr(members, i.Val), ll.Int("i32", 1)), ll.Int("i32", 0))
	next := e.Select(here, e.combine(&ir.Inst{Args: []*ir.Value{nil, in.Args[0]}, Attr: ir.Attr{AtomOp: in.AtomOp}}, acc.Val, x, ll.Val{}), acc.Val)
	up := e.Add(i.Val, ll.Int("i32", 1))
	i.Add(up, head)
	acc.Add(next, head)
	e.CondBr(e.ICmp("eq", up, ll.Int("i32", 32)), out, head)
	e.Label(out)
	e.result(in, next)
}

func gcnActiveMask(e *emitter, in *ir.Inst) { e.result(in, e.active()) }

func gcnElect(e *emitter, in *ir.Inst) {
	m := e.And(e.active(), e.val(in.Args[0]))
	leader := e.Call("i32", "llvm.cttz.i32", m, ll.Int("i1", 0))
	e.set(in.Results[0], leader)
	e.set(in.Results[1], e.ICmp("eq", e.lane(), leader))
}

// gcnWarpSync: the lanes of a wave run in step, so that only memory must be in order; for no lane at all (pass/unify_loop_exits.go) not even that.
func gcnWarpSync(e *emitter, in *ir.Inst) {
	if m := in.Args[0]; m.Const && m.Bits == 0 {
		e.Call("void", "llvm.amdgcn.wave.barrier")
		return
	}
	e.Fence(`syncscope("wavefront") acq_rel`)
	e.Call("void", "llvm.amdgcn.wave.barrier")
}
