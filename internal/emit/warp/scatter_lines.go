package warp

import (
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// askForLines asks for the lines that lanes are about to write at addresses of their own, before the first of them is written. Stores leave
// a processor in order and locked operations wait for each other, so that 32 lanes' lines would come one after the other; asked for, they
// come together. It pays where memory decides which lines these are: a position that was computed, or counted in shared memory as a sort
// does, is mostly in a line that was written just before. Locked operations cost so much that asking is nothing beside them.
func (e *emitter) askForLines(in *ir.Inst, mask ll.Val, all bool) {
	if e.w != 32 || in.Space != ir.Global && in.Space != ir.Generic || uniform(in.Args[0]) {
		return
	}
	if _, known := e.pattern(in); known {
		return
	}
	if in.Op == ir.Store && (watched(in) || in.Space != ir.Global || !fromIndex(in.Args[0])) {
		return
	}
	ptrs := e.pointers(in)
	if all {
		e.askAll(ptrs)
		return
	}
	e.choose(e.ICmp("eq", e.number(mask), ll.Int("i32", -1)), "every", func() []ll.Val { e.askAll(ptrs); return nil }, func() []ll.Val {
		return e.overLanes(mask, []ll.Val{ptrs}, nil, func(l []ll.Val) []ll.Val { e.fetch(l[0], true); return nil })
	})
}

// askAll asks for the lines of all lanes, in a loop: 32 addresses taken out of their vectors one by one are no faster, and more to compile.
func (e *emitter) askAll(ptrs ll.Val) {
	const each = 8
	o := e.Func
	at := e.room("ptr", 0)
	o.Store(ptrs, at, 64)
	fresh := e.where == o.Cur()
	pre, head, out := o.Cur(), o.NewLabel("ask"), o.NewLabel("ask.out")
	o.Br(head)
	o.Label(head)
	lane := o.Phi("i64")
	lane.Add(ll.Int("i64", 0), pre)
	p := o.GEP("ptr", at, lane.Val)
	for l := range each {
		e.fetch(o.Load("ptr", e.at(p, 8*l), 8), true)
	}
	next := o.Add(lane.Val, ll.Int("i64", each))
	lane.Add(next, head)
	o.CondBr(o.ICmp("ult", next, ll.Int("i64", int64(e.w))), head, out)
	o.Label(out)
	if fresh { // nothing else leads here: what was known of vectors stays known
		e.where = out
	}
}

// fromIndex reports an address that depends on numbers that lanes loaded from global memory, and on nothing else that differs between lanes
// in a way that is not known.
func fromIndex(v *ir.Value) bool {
	loaded := false
	var walk func(v *ir.Value, depth int) bool
	walk = func(v *ir.Value, depth int) bool {
		d := v.Def
		switch {
		case d == nil || v.Const || v.Shape.Kind >= ir.Affine:
			return true
		case d.Op == ir.Load && d.Space == ir.Global:
			loaded = true
			return true
		case d.Op.Row().Effects != 0 || d.Op == ir.Phi || depth > 12:
			return false
		}
		for _, a := range d.Args {
			if !uniform(a) && !walk(a, depth+1) {
				return false
			}
		}
		return true
	}
	return walk(v, 0) && loaded
}
