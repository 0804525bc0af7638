package warp

import (
	"fmt"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// room is memory of the function for one element a lane; slot keeps operands of one loop apart.
func (e *emitter) room(elem ll.Type, slot int) ll.Val {
	key := fmt.Sprintf("%s %d", elem, slot)
	p, ok := e.scratch[key]
	if !ok {
		p = e.Alloca(ll.Array(e.w, elem), 64)
		e.scratch[key] = p
	}
	return p
}

// overLanes runs body for each lane of mask, lowest first, with that lane of each operand, and collects its results
// (types out) in vectors; lanes that do not act have zero there.
func (e *emitter) overLanes(mask ll.Val, args []ll.Val, out []ll.Type, body func(lane []ll.Val) []ll.Val) []ll.Val {
	if e.w == 1 {
		return body(args)
	}
	return e.eachLane(mask, false, args, out, func(_ ll.Val, l []ll.Val) []ll.Val { return body(l) })
}

// eachLane is overLanes for several lanes; body gets the lane's number too. down: highest lane first.
func (e *emitter) eachLane(mask ll.Val, down bool, args []ll.Val, out []ll.Type, body func(number ll.Val, lane []ll.Val) []ll.Val) []ll.Val {
	o := e.Func
	slot := 0
	store := func(x ll.Val) ll.Val {
		_, el := x.T.Split()
		if el == "i1" {
			x, el = e.ZExt(x, "i8"), "i8"
		}
		p := e.room(el, slot)
		slot++
		o.Store(x, p, 64)
		return p
	}
	rooms := make([]ll.Val, len(args))
	for i, x := range args {
		if n, _ := x.T.Split(); n > 1 && !x.IsConst() {
			rooms[i] = store(x)
		}
	}
	var results []ll.Val
	for _, t := range out {
		results = append(results, store(ll.Zero(ll.Vec(e.w, t))))
	}
	act := e.number(mask)
	head, done := o.NewLabel("lane"), o.NewLabel("lane.out")
	pre := o.Cur()
	o.CondBr(e.ICmp("ne", act, ll.Int("i32", 0)), head, done)
	e.label(head)
	bits := o.Phi("i32")
	bits.Add(act, pre)
	var number ll.Val
	if down {
		number = e.Sub(ll.Int("i32", 31), o.Call("i32", "llvm.ctlz.i32", bits.Val, ll.Int("i1", 1)))
	} else {
		number = o.Call("i32", "llvm.cttz.i32", bits.Val, ll.Int("i1", 1))
	}
	lane := e.ZExt(number, "i64")
	each := make([]ll.Val, len(args))
	for i, x := range args {
		n, el := x.T.Split()
		switch {
		case n == 1:
			each[i] = x
		case rooms[i].IsZero():
			each[i] = o.ExtractAt(x, lane)
		default:
			mt := el
			if el == "i1" {
				mt = "i8"
			}
			p := o.GEP(mt, rooms[i], lane)
			each[i] = o.Load(mt, p, 0)
			if el == "i1" {
				each[i] = e.Trunc(each[i], "i1")
			}
		}
	}
	got := body(lane, each)
	for i, x := range got {
		p := o.GEP(out[i], results[i], lane)
		o.Store(x, p, 0)
	}
	var rest ll.Val
	if down {
		rest = e.Not(e.Shl(ll.Int("i32", 1), number))
	} else {
		rest = e.Sub(bits.Val, ll.Int("i32", 1)) // without the lowest
	}
	next := e.And(bits.Val, rest)
	bits.Add(next, o.Cur())
	o.CondBr(e.ICmp("ne", next, ll.Int("i32", 0)), head, done)
	e.label(done)
	var vecs []ll.Val
	for i, t := range out {
		vt := ll.Vec(e.w, t)
		vecs = append(vecs, o.Load(vt, results[i], 64))
	}
	return vecs
}

// lanes runs body for each lane that executes in, and sets in's results.
func (e *emitter) lanes(in *ir.Inst, body func(lane func(i int) ll.Val) []ll.Val) {
	mask, _ := e.mask(in)
	var args []ll.Val
	for _, a := range in.Args {
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
	got := e.overLanes(mask, args, out, func(l []ll.Val) []ll.Val {
		return body(func(i int) ll.Val { return l[i] })
	})
	for i, r := range in.Results {
		x := got[i]
		if r.Type == ir.I1 {
			x = e.Trunc(x, "i1")
		}
		e.set(r, x)
	}
}
