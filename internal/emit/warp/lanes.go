package warp

import (
	"fmt"

	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// room is memory of the function for one element a lane; slot keeps operands of one loop apart.
func (e *emitter) room(elem string, slot int) ll.Val {
	key := fmt.Sprintf("%s %d", elem, slot)
	p, ok := e.scratch[key]
	if !ok {
		p = e.o.Alloca(fmt.Sprintf("[%d x %s]", e.w, elem), 64)
		e.scratch[key] = p
	}
	return p
}

// overLanes runs body for each lane of mask, lowest first, with that lane of each operand, and collects its results
// (types out) in vectors; lanes that do not act have zero there.
func (e *emitter) overLanes(mask ll.Val, args []ll.Val, out []string, body func(lane []ll.Val) []ll.Val) []ll.Val {
	if e.w == 1 {
		return body(args)
	}
	return e.eachLane(mask, false, args, out, func(_ ll.Val, l []ll.Val) []ll.Val { return body(l) })
}

// eachLane is overLanes for several lanes; body gets the lane's number too. down: highest lane first.
func (e *emitter) eachLane(mask ll.Val, down bool, args []ll.Val, out []string, body func(number ll.Val, lane []ll.Val) []ll.Val) []ll.Val {
	o := e.o
	slot := 0
	store := func(x ll.Val) ll.Val {
		_, el := split(x.T)
		if el == "i1" {
			x, el = e.conv("zext", x, "i8"), "i8"
		}
		p := e.room(el, slot)
		slot++
		o.Do("store %s, %s, align 64", x, p)
		return p
	}
	rooms := make([]ll.Val, len(args))
	for i, x := range args {
		if n, _ := split(x.T); n > 1 && !isConstText(x) {
			rooms[i] = store(x)
		}
	}
	var results []ll.Val
	for _, t := range out {
		results = append(results, store(ll.Val{T: ll.Vec(e.w, t), S: "zeroinitializer"}))
	}
	act := e.number(mask)
	head, done := o.NewLabel("lane"), o.NewLabel("lane.out")
	pre := o.Cur()
	o.CondBr(e.cmp("ne", act, ll.Int("i32", 0)), head, done)
	e.label(head)
	bits := o.Phi("i32")
	bits.Add(act, pre)
	var number ll.Val
	if down {
		number = e.op2("sub", ll.Int("i32", 31), o.Call("i32", "llvm.ctlz.i32", bits.Val, ll.Int("i1", 1)))
	} else {
		number = o.Call("i32", "llvm.cttz.i32", bits.Val, ll.Int("i1", 1))
	}
	lane := e.conv("zext", number, "i64")
	each := make([]ll.Val, len(args))
	for i, x := range args {
		n, el := split(x.T)
		switch {
		case n == 1:
			each[i] = x
		case rooms[i].IsZero():
			each[i] = o.Op(el, "extractelement %s, %s", x, lane)
		default:
			mt := el
			if el == "i1" {
				mt = "i8"
			}
			p := o.Op("ptr", "getelementptr %s, %s, %s", mt, rooms[i], lane)
			each[i] = o.Op(mt, "load %s, %s", mt, p)
			if el == "i1" {
				each[i] = e.conv("trunc", each[i], "i1")
			}
		}
	}
	got := body(lane, each)
	for i, x := range got {
		p := o.Op("ptr", "getelementptr %s, %s, %s", out[i], results[i], lane)
		o.Do("store %s, %s", x, p)
	}
	var rest ll.Val
	if down {
		rest = e.not(e.op2("shl", ll.Int("i32", 1), number))
	} else {
		rest = e.op2("sub", bits.Val, ll.Int("i32", 1)) // without the lowest
	}
	next := e.op2("and", bits.Val, rest)
	bits.Add(next, o.Cur())
	o.CondBr(e.cmp("ne", next, ll.Int("i32", 0)), head, done)
	e.label(done)
	var vecs []ll.Val
	for i, t := range out {
		vt := ll.Vec(e.w, t)
		vecs = append(vecs, o.Op(vt, "load %s, %s, align 64", vt, results[i]))
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
	var out []string
	for _, r := range in.Results {
		out = append(out, memType(r.Type))
	}
	got := e.overLanes(mask, args, out, func(l []ll.Val) []ll.Val {
		return body(func(i int) ll.Val { return l[i] })
	})
	for i, r := range in.Results {
		x := got[i]
		if r.Type == ir.I1 {
			x = e.conv("trunc", x, "i1")
		}
		e.set(r, x)
	}
}
