package fuse

import "math"

// reduction writes the loops over all that is reduced. Afterwards the values of the reductions are known, and what was computed in the
// loops is not.
func (w *writer) reduction() {
	known := make([]bool, len(w.value))
	for v, r := range w.value {
		known[v] = r != ""
	}
	totals := make([]string, len(w.p.reduced))
	for i, v := range w.p.reduced {
		n := &w.p.nodes[v]
		totals[i] = w.constant(n.kind, identity(n.op, n.kind))
	}
	before := append([]string(nil), w.offset...)
	w.loop(w.s.reduced-1, totals)
	for v := range w.value {
		if !known[v] {
			w.value[v] = ""
		}
	}
	w.offset = before
	if w.s.lanes {
		w.gather(totals)
	}
	for i, v := range w.p.reduced {
		w.value[v] = totals[i]
	}
}

// identity is what a reduction begins with.
func identity(op Op, k Kind) float64 {
	switch op {
	case Mul:
		return 1
	case Min, MinNaN:
		if !kinds[k].floating {
			return map[Kind]float64{S32: math.MaxInt32, S64: 1 << 62}[k]
		}
		return math.Inf(1)
	case Max, MaxNaN:
		if !kinds[k].floating {
			return map[Kind]float64{S32: math.MinInt32, S64: -1 << 62}[k]
		}
		return math.Inf(-1)
	}
	return 0
}

// loop goes through axis k of those that are reduced, and through those before it inside.
func (w *writer) loop(k int, totals []string) {
	axis := w.s.axes + k
	n := w.param("u32", fact{what: size, axis: axis})
	at := w.moving()
	if k == 0 && w.s.lanes {
		w.warpLoop(n, totals)
		return
	}
	count, again, more := w.reg("r"), w.label(), w.reg("p")
	by := make([]string, len(at))
	for i := range at {
		by[i] = w.param("u64", fact{what: stride, slot: i, axis: axis})
	}
	w.line("mov.u32 %s, 0;", count)
	w.line("%s:", again)
	if k == 0 {
		w.fold(totals)
	} else {
		w.loop(k-1, totals)
		w.offset = at
	}
	for i := range at {
		w.line("add.s64 %s, %s, %s;", at[i], at[i], by[i])
	}
	w.line("add.u32 %s, %s, 1;", count, count)
	w.line("setp.lt.u32 %s, %s, %s;", more, count, n)
	w.line("@%s bra %s;", more, again)
}

// moving gives the offsets registers of their own, which a loop advances.
func (w *writer) moving() []string {
	at := make([]string, len(w.offset))
	for i, from := range w.offset {
		at[i] = w.reg("l")
		w.line("mov.u64 %s, %s;", at[i], from)
	}
	w.offset = at
	return at
}

// warpLoop lets the lanes of a warp take every 32nd element of the first axis: whole warps first, then what is left.
func (w *writer) warpLoop(n string, totals []string) {
	at := w.offset
	by := make([]string, len(at))
	for i := range at {
		f := fact{what: stride, slot: i, axis: w.s.axes}
		if w.s.steps[i] == far {
			by[i] = w.param("u64", f)
			wide, lane := w.reg("l"), w.reg("l")
			w.line("cvt.u64.u32 %s, %s;", wide, w.tid)
			w.line("mul.lo.s64 %s, %s, %s;", lane, wide, by[i])
			w.line("add.s64 %s, %s, %s;", at[i], at[i], lane)
			w.line("shl.b64 %s, %s, 5;", by[i], by[i])
		} else if w.s.steps[i] == next {
			to := w.stepped(at[i], w.tid, next, f)
			w.line("mov.u64 %s, %s;", at[i], to)
		}
	}
	left, again, tail, end := w.reg("r"), w.label(), w.label(), w.label()
	p := w.reg("p")
	w.line("mov.u32 %s, %s;", left, n)
	w.line("setp.lt.u32 %s, %s, 32;", p, left)
	w.line("@%s bra %s;", p, tail)
	w.line("%s:", again)
	w.fold(totals)
	for i, st := range w.s.steps {
		switch st {
		case next:
			w.line("add.s64 %s, %s, %d;", at[i], at[i], 32*w.p.slots[i].size())
		case far:
			w.line("add.s64 %s, %s, %s;", at[i], at[i], by[i])
		case still:
		}
	}
	w.line("sub.u32 %s, %s, 32;", left, left)
	w.line("setp.ge.u32 %s, %s, 32;", p, left)
	w.line("@%s bra %s;", p, again)
	w.line("%s:", tail)
	w.line("setp.ge.u32 %s, %s, %s;", p, w.tid, left)
	w.line("@%s bra %s;", p, end)
	w.fold(totals)
	w.line("%s:", end)
}

// fold computes what is reduced at the offsets, and adds it to the totals.
func (w *writer) fold(totals []string) {
	before := append([]string(nil), w.value...)
	for i, v := range w.p.reduced {
		n := &w.p.nodes[v]
		r := w.apply(n.op, n.kind, n.kind, []string{totals[i], w.eval(n.args[0])})
		w.line("mov.%s %s, %s;", bitsOf[n.kind], totals[i], r)
	}
	w.value = before
}

var bitsOf = map[Kind]string{F32: "b32", F64: "b64", S32: "b32", S64: "b64"}

// gather makes one total of those of a warp's lanes. The first lane goes on.
func (w *writer) gather(totals []string) {
	for distance := 16; distance > 0; distance /= 2 {
		for i, v := range w.p.reduced {
			n := &w.p.nodes[v]
			r := w.apply(n.op, n.kind, n.kind, []string{totals[i], w.other(n.kind, totals[i], distance)})
			w.line("mov.%s %s, %s;", bitsOf[n.kind], totals[i], r)
		}
	}
	p := w.reg("p")
	w.line("setp.ne.u32 %s, %s, 0;", p, w.tid)
	w.line("@%s bra Done;", p)
}

// other is the value of the lane at a distance.
func (w *writer) other(k Kind, v string, distance int) string {
	r := w.reg(kinds[k].reg)
	if kinds[k].size == 4 {
		a, b := w.reg("r"), w.reg("r")
		w.line("mov.b32 %s, %s;", a, v)
		w.line("shfl.sync.bfly.b32 %s, %s, %d, 31, -1;", b, a, distance)
		w.line("mov.b32 %s, %s;", r, b)
		return r
	}
	low, high, l2, h2 := w.reg("r"), w.reg("r"), w.reg("r"), w.reg("r")
	w.line("mov.b64 {%s, %s}, %s;", low, high, v)
	w.line("shfl.sync.bfly.b32 %s, %s, %d, 31, -1;", l2, low, distance)
	w.line("shfl.sync.bfly.b32 %s, %s, %d, 31, -1;", h2, high, distance)
	w.line("mov.b64 %s, {%s, %s};", r, l2, h2)
	return r
}
