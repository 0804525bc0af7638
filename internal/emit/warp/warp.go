package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// members is the acting lanes that the instruction's member mask names, where all lanes name the same.
func (e *emitter) members(in *ir.Inst, arg int) ll.Val {
	act := e.active(in)
	if m := in.Args[arg]; !m.Const || m.Int() != -1 {
		return e.op2("and", act, e.scalar(m))
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
	o, act, masks := e.o, e.active(in), e.vector(in.Args[arg])
	head, out := o.NewLabel("members"), o.NewLabel("members.out")
	pre := o.Cur()
	o.CondBr(e.cmp("ne", act, ll.Int("i32", 0)), head, out)
	e.label(head)
	left := o.Phi("i32")
	left.Add(act, pre)
	types := make([]string, len(in.Results))
	acc := make([]*ll.Phi, len(in.Results))
	for i, r := range in.Results {
		types[i] = ll.Vec(e.w, typ(r.Type))
		acc[i] = o.Phi(types[i])
		acc[i].Add(ll.Val{T: types[i], S: "zeroinitializer"}, pre)
	}
	lane := o.Call("i32", "llvm.cttz.i32", left.Val, ll.Int("i1", 1))
	own := e.op2("shl", ll.Int("i32", 1), lane) // a mask without the lane itself must not go round for ever
	m := e.op2("or", own, e.op2("and", act, o.Op("i32", "extractelement %s, %s", masks, lane)))
	served := e.fromNumber(m)
	next := make([]ll.Val, len(in.Results))
	for i, r := range f(m) {
		if r.T != types[i] {
			r = e.splat(r)
		}
		next[i] = e.sel(served, r, acc[i].Val)
	}
	rest := e.op2("and", left.Val, e.op2("xor", m, ll.Int("i32", -1)))
	here := o.Cur()
	left.Add(rest, here)
	for i := range acc {
		acc[i].Add(next[i], here)
	}
	o.CondBr(e.cmp("ne", rest, ll.Int("i32", 0)), head, out)
	e.label(out)
	for i := range acc {
		acc[i] = o.Phi(types[i])
		acc[i].Add(ll.Val{T: types[i], S: "zeroinitializer"}, pre)
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
		e.set(in.Results[0], e.op2("shl", ll.Int("i32", 1), e.op2("and", e.ctx.first, ll.Int("i32", 31))))
		return
	}
	e.set(in.Results[0], e.active(in))
}

func emitVote(e *emitter, in *ir.Inst) {
	e.amongMembers(in, 1, func(m ll.Val) []ll.Val {
		p := e.op2("and", e.ballot(in.Args[0]), m)
		switch in.Op {
		case ir.VoteAny:
			return []ll.Val{e.cmp("ne", p, ll.Int("i32", 0))}
		case ir.VoteAll:
			return []ll.Val{e.cmp("eq", p, m)}
		case ir.VoteUni:
			return []ll.Val{e.op2("or", e.cmp("eq", p, m), e.cmp("eq", p, ll.Int("i32", 0)))}
		}
		return []ll.Val{p} // the ballot
	})
}

func emitElect(e *emitter, in *ir.Inst) {
	e.amongMembers(in, 0, func(m ll.Val) []ll.Val {
		leader := e.o.Call("i32", "llvm.cttz.i32", m, ll.Int("i1", 0))
		return []ll.Val{leader, e.cmp("eq", e.iota("i32"), e.splat(leader))}
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
	fake := &ir.Inst{Op: ir.FMin, Attr: ir.Attr{NaN: in.NaN}}
	if in.AtomOp == ir.AtomFMax {
		fake.Op = ir.FMax
	}
	x := e.vector(in.Args[0])
	// Lanes that do not take part repeat the first that does.
	first := e.o.Call("i32", "llvm.cttz.i32", e.number(members), ll.Int("i1", 0))
	first = e.op2("and", first, ll.Int("i32", 31))
	v := e.o.Op("float", "extractelement %s, %s", x, first)
	x = e.sel(members, x, e.splat(v))
	for n := e.w / 2; n >= 1; n /= 2 {
		y := e.shuffle(x, x, rangeInts(0, e.w, func(l int) int { return l ^ n }))
		x = e.minMax(fake, x, y, ir.F32)
	}
	x = e.canonical(x, ir.F32, e.w)
	return e.o.Op("float", "extractelement %s, i64 0", x)
}

func emitMatchAll(e *emitter, in *ir.Inst) {
	e.amongMembers(in, 1, func(m ll.Val) []ll.Val {
		x := e.vector(in.Args[0])
		_, el := split(x.T)
		first := e.op2("and", e.o.Call("i32", "llvm.cttz.i32", m, ll.Int("i1", 0)), ll.Int("i32", 31))
		v := e.o.Op(el, "extractelement %s, %s", x, first)
		same := e.op2("and", e.number(e.cmp("eq", x, e.splat(v))), m)
		all := e.cmp("eq", same, m)
		return []ll.Val{e.sel(all, m, ll.Int("i32", 0)), all}[:len(in.Results)]
	})
}

// emitMatch compares every lane with every other: for each acting lane in turn, the lanes with the same value.
func emitMatch(e *emitter, in *ir.Inst) {
	e.needLanes(in)
	act := e.active(in)
	x := e.vector(in.Args[0])
	_, el := split(x.T)
	o := e.o
	vt := ll.Vec(e.w, "i32")
	head, out := o.NewLabel("match"), o.NewLabel("match.out")
	pre := o.Cur()
	o.CondBr(e.cmp("ne", act, ll.Int("i32", 0)), head, out)
	e.label(head)
	left := o.Phi("i32")
	left.Add(act, pre)
	acc := o.Phi(vt)
	acc.Add(ll.Val{T: vt, S: "zeroinitializer"}, pre)
	lane := o.Call("i32", "llvm.cttz.i32", left.Val, ll.Int("i1", 1))
	v := o.Op(el, "extractelement %s, %s", x, lane)
	same := e.op2("and", e.number(e.cmp("eq", x, e.splat(v))), act)
	next := e.sel(e.fromNumber(same), e.splat(same), acc.Val)
	rest := e.op2("and", left.Val, e.op2("xor", same, ll.Int("i32", -1)))
	left.Add(rest, o.Cur())
	acc.Add(next, o.Cur())
	here := o.Cur()
	o.CondBr(e.cmp("ne", rest, ll.Int("i32", 0)), head, out)
	e.label(out)
	r := o.Phi(vt)
	r.Add(ll.Val{T: vt, S: "zeroinitializer"}, pre)
	r.Add(next, here)
	e.set(in.Results[0], e.op2("and", r.Val, e.vector(in.Args[1]))) // of the lanes that a lane names
}

// emitShfl exchanges values between lanes. The third operand holds the clamp in its low bits and the segment mask above:
// a lane reads lane j of its own segment if that is in range, its own value otherwise. A lane that does not act gives
// what it holds, which PTX leaves undefined.
func emitShfl(e *emitter, in *ir.Inst) {
	e.needLanes(in)
	v, lane, c := in.Args[0], in.Args[1], in.Args[2]
	if lane.Const && c.Const {
		e.shflConst(in, int(lane.Bits), uint32(c.Bits))
		return
	}
	o := e.o
	me := e.iota("i32")
	cv := e.vector(c)
	b := e.op2("and", e.vector(lane), k(me, 31))
	seg := e.op2("and", e.op2("lshr", cv, k(me, 8)), k(me, 31))
	clamp := e.op2("and", cv, k(me, 31))
	notSeg := e.op2("xor", seg, k(me, 31))
	lowest := e.op2("and", me, seg)
	highest := e.op2("or", lowest, e.op2("and", clamp, notSeg))
	var j, ok ll.Val
	switch in.Shuf {
	case ir.ShufUp:
		j = e.op2("sub", me, b)
		ok = e.cmp("sge", j, highest)
	case ir.ShufDown:
		j = e.op2("add", me, b)
		ok = e.cmp("sle", j, highest)
	case ir.ShufBfly:
		j = e.op2("xor", me, b)
		ok = e.cmp("sle", j, highest)
	case ir.ShufIdx:
		j = e.op2("or", lowest, e.op2("and", b, notSeg))
		ok = e.cmp("sle", j, highest)
	}
	from := e.op2("and", e.sel(ok, j, me), k(me, 31))
	_ = o
	x := e.clean(v, e.w)
	e.set(in.Results[0], e.permute(x, from))
	if len(in.Results) > 1 {
		e.set(in.Results[1], ok)
	}
}

// shflConst is a shuffle whose pattern is known now.
func (e *emitter) shflConst(in *ir.Inst, b int, c uint32) {
	b &= 31
	seg, clamp := int(c>>8)&31, int(c)&31
	from, ok := make([]int, e.w), make([]int64, e.w)
	for l := range from {
		lowest := l & seg
		highest := lowest | clamp&^seg
		j, in_ := 0, false
		switch in.Shuf {
		case ir.ShufUp:
			j = l - b
			in_ = j >= highest
		case ir.ShufDown:
			j = l + b
			in_ = j <= highest
		case ir.ShufBfly:
			j = l ^ b
			in_ = j <= highest
		case ir.ShufIdx:
			j = lowest | b&^seg
			in_ = j <= highest
		}
		if !in_ {
			j = l
		}
		from[l] = j & 31
		if in_ {
			ok[l] = 1
		}
	}
	x := e.clean(in.Args[0], e.w)
	e.set(in.Results[0], e.shuffle(x, x, from))
	if len(in.Results) > 1 {
		e.set(in.Results[1], ll.ConstVec("i1", ok))
	}
}

// permute gives lane l the value of lane from[l].
func (e *emitter) permute(x, from ll.Val) ll.Val {
	_, el := split(x.T)
	if el == "i1" {
		return e.conv("trunc", e.permute(e.conv("zext", x, "i32"), from), "i1")
	}
	bits := map[string]int{"float": 32, "double": 64, "half": 16}[el]
	if bits == 0 {
		bits = intBits(x.T)
	}
	switch {
	case bits < 32:
		it := map[int]string{8: "i8", 16: "i16"}[bits]
		r := e.permute(e.conv("zext", e.conv("bitcast", x, it), "i32"), from)
		return e.conv("bitcast", e.conv("trunc", r, it), el)
	case bits == 64 && e.cpu.avx512:
		y := e.conv("bitcast", x, "i64")
		lo := e.permute(e.conv("trunc", y, "i32"), from)
		hi := e.permute(e.conv("trunc", e.op2("lshr", y, k(y, 32)), "i32"), from)
		r := e.op2("or", e.conv("zext", lo, "i64"), e.op2("shl", e.conv("zext", hi, "i64"), k(y, 32)))
		return e.conv("bitcast", r, el)
	case bits == 32 && e.cpu.avx512:
		y := e.conv("bitcast", x, "i32")
		a, b := e.slice(y, 0, 16), e.slice(y, 16, 16)
		var out []ll.Val
		for h := 0; h < 2; h++ {
			idx := e.slice(from, 16*h, 16)
			out = append(out, e.o.Call("<16 x i32>", "llvm.x86.avx512.vpermi2var.d.512", a, idx, b))
		}
		return e.conv("bitcast", e.concat(out), el)
	}
	// Through memory.
	p := e.room(el, 0)
	e.o.Do("store %s, %s, align 64", x, p)
	q := e.room(el, 1)
	idx := e.conv("zext", from, "i64")
	for l := 0; l < e.w; l++ {
		i := e.o.Op("i64", "extractelement %s, i64 %d", idx, l)
		y := e.o.Op(el, "load %s, %s", el, e.o.Op("ptr", "getelementptr %s, %s, %s", el, p, i))
		e.o.Do("store %s, %s", y, e.o.Op("ptr", "getelementptr %s, %s, i64 %d", el, q, l))
	}
	vt := ll.Vec(e.w, el)
	return e.o.Op(vt, "load %s, %s, align 64", vt, q)
}
