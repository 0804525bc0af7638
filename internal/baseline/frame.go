package baseline

import (
	"container/heap"
	"slices"
)

// place is where a value is: in the slot of a value, or among the constants, so many bytes in.
type place struct {
	base int32 // -1: constant con
	con  int32
	off  int32
}

// interval is the instructions between which a slot is taken, by their numbers in the text's order.
type interval struct {
	from, to int32
	defined  int32
}

// frame assigns the slots of a function's values.
type frame struct {
	places []place
	slots  []int32 // by value: offset in the frame; -1: none
	live   []interval
	beyond []bool  // values that are read outside the block that makes them, or by phis
	first  []int32 // by block: the number of its first instruction
	addr   addresses
	size   int32
}

// alias reports a value that is part of another one: no code is needed for it.
func (m *module) alias(in *inst) (from operand, off int, ok bool) {
	if in.res < 0 || len(in.args) == 0 {
		return
	}
	a := in.args[0]
	switch in.op {
	case "bitcast", "freeze", "ptrtoint", "inttoptr":
		return a, 0, true
	case "trunc":
		return a, 0, !in.t.vector && (in.t.bits == 8 || in.t.bits == 16 || in.t.bits == 32 || in.t.bits == 64)
	case "extractvalue":
		return a, m.field(a.t, in.list[0]), true
	case "extractelement":
		if i := in.args[1]; i.isConst() && a.t.bits != 1 {
			return a, int(m.numberOf(i)) * a.t.elem(), true
		}
	case "shufflevector":
		return m.slice(in)
	case "call":
		return a, 0, isCopy(in.sub)
	}
	return operand{}, 0, false
}

// slice reports a shuffle whose lanes are consecutive ones of one operand.
func (m *module) slice(in *inst) (from operand, off int, ok bool) {
	if in.t.bits == 1 {
		return
	}
	n := int(in.args[0].t.lanes)
	start, found := 0, false
	for i, l := range in.list {
		if l < 0 {
			continue
		}
		if !found {
			start, found = l-i, true
		}
		if l-i != start {
			return operand{}, 0, false
		}
	}
	from = in.args[0]
	if start >= n {
		from, start = in.args[1], start-n
	}
	if !found || start < 0 || start+len(in.list) > n {
		return operand{}, 0, false
	}
	return from, start * in.t.elem(), true
}

// newFrame finds aliases and gives every other value a slot that it has to itself while it is live.
func (m *module) newFrame(f *function) *frame {
	fr := &frame{places: make([]place, len(f.types)), slots: make([]int32, len(f.types))}
	for i := range fr.places {
		fr.places[i] = place{base: int32(i)}
		fr.slots[i] = -1
	}
	for _, b := range f.order {
		for _, in := range f.blocks[b].insts {
			if from, off, ok := m.alias(in); ok {
				fr.places[in.res] = place{base: from.val, con: from.con, off: int32(off)}
			}
		}
	}
	for i := range fr.places {
		fr.places[i] = fr.resolve(fr.places[i])
	}
	m.findAddresses(f, fr)
	fr.beyond = make([]bool, len(f.types))
	fr.live = fr.intervals(f)
	fr.assign(m, f, fr.live)
	return fr
}

// resolve follows a chain of aliases.
func (fr *frame) resolve(p place) place {
	for p.base >= 0 && fr.places[p.base].base != p.base {
		q := fr.places[p.base]
		q.off += p.off
		p = q
	}
	return p
}

// intervals are the live ranges of the bases.
func (fr *frame) intervals(f *function) []interval {
	r := &ranges{fr: fr, live: make([]interval, len(f.types)), home: make([]int32, len(f.types)), last: make([]int32, len(f.blocks))}
	for i := range r.live {
		r.live[i] = interval{-1, -1, -1}
	}
	for _, p := range f.params {
		r.define(p, 0)
		fr.beyond[p] = true
	}
	fr.first = make([]int32, len(f.blocks))
	at := int32(1)
	for _, b := range f.order {
		fr.first[b] = at
		at += int32(len(f.blocks[b].insts)) + 1
		r.last[b] = at - 1
		for _, in := range f.blocks[b].insts {
			if in.res >= 0 {
				r.home[in.res] = b
			}
		}
	}
	for _, b := range f.order {
		for i, in := range f.blocks[b].insts {
			r.inst(in, b, fr.first[b]+int32(i))
		}
	}
	fr.backEdges(f, r.live, fr.first, r.last)
	return r.live
}

// ranges finds the intervals.
type ranges struct {
	fr   *frame
	live []interval
	home []int32 // by value: the block that makes it
	last []int32 // by block: the number behind its last instruction
}

// touch says that a value is there at an instruction.
func (r *ranges) touch(v, at int32) {
	l := &r.live[v]
	if l.from < 0 || at < l.from {
		l.from = at
	}
	l.to = max(l.to, at)
}

func (r *ranges) define(v, at int32) {
	r.touch(v, at)
	r.live[v].defined = at
}

// use says that an operand is read at an instruction of a block; -1: on the way to another block.
func (r *ranges) use(o operand, at, block int32) {
	o, _ = r.fr.addr.start(o)
	if o.isConst() || r.fr.addr.folded[o.val] {
		return
	}
	if p := r.fr.places[o.val]; p.base >= 0 {
		r.touch(p.base, at)
		if r.home[p.base] != block {
			r.fr.beyond[p.base] = true
		}
	}
}

// inst takes what an instruction reads and makes. A phi is written at the end of the blocks that lead to it.
func (r *ranges) inst(in *inst, b, at int32) {
	if in.op == "phi" {
		r.define(in.res, r.fr.first[b])
		r.fr.beyond[in.res] = true
		for k, a := range in.args {
			end := r.last[in.labels[k]]
			r.touch(in.res, end)
			r.use(a, end, -1)
		}
		return
	}
	if in.res >= 0 && r.fr.addr.folded[in.res] {
		return
	}
	for _, a := range in.args {
		r.use(a, at, b)
	}
	if in.res >= 0 && r.fr.places[in.res].base == in.res {
		r.define(in.res, at)
	}
}

// backEdges keeps what is live where a jump goes back alive until that jump.
func (fr *frame) backEdges(f *function, live []interval, first, last []int32) {
	type edge struct{ head, tail int32 }
	var back []edge
	for _, b := range f.order {
		for _, l := range f.successors(b) {
			if first[l] <= first[b] {
				back = append(back, edge{first[l], last[b]})
			}
		}
	}
	if len(back) == 0 {
		return
	}
	slices.SortFunc(back, func(a, b edge) int { return int(a.tail - b.tail) })
	end := last[f.order[len(f.order)-1]]
	for i := range live {
		l := &live[i]
		if l.from >= 0 && l.from < l.defined { // used by code that stands before it
			l.from, l.to = 0, end
			continue
		}
		for changed := true; changed; {
			changed = false
			for _, e := range back {
				if l.from < e.head && l.to >= e.head && l.to < e.tail {
					l.to, changed = e.tail, true
				}
			}
		}
	}
}

// taken is a slot in use until an instruction.
type taken struct {
	to, slot int32
	class    int
}

// ends is a heap of slots in use by the end of their intervals.
type ends []taken

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].to < e[j].to }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(taken)) }
func (e *ends) Pop() any {
	x := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return x
}

// assign gives slots in the order of the intervals' starts; a slot is free again behind its interval.
func (fr *frame) assign(m *module, f *function, live []interval) {
	var order []int32
	for i, l := range live {
		if l.from >= 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(live[a].from - live[b].from) })
	free := map[int][]int32{}
	var used ends
	for _, v := range order {
		for len(used) > 0 && used[0].to < live[v].from {
			e := heap.Pop(&used).(taken)
			free[e.class] = append(free[e.class], e.slot)
		}
		class := m.size(f.types[v])
		if class = (class + 63) &^ 63; m.size(f.types[v]) <= 8 {
			class = 8
		}
		var slot int32
		if list := free[class]; len(list) > 0 {
			slot = list[len(list)-1]
			free[class] = list[:len(list)-1]
		} else {
			slot = fr.take(class)
		}
		fr.slots[v] = slot
		heap.Push(&used, taken{live[v].to, slot, class})
	}
}

// take is fresh room in the frame.
func (fr *frame) take(bytes int) int32 {
	if bytes >= 64 {
		fr.size = (fr.size + 63) &^ 63
	}
	at := fr.size
	fr.size += int32(bytes)
	if fr.size > maxFrame {
		fail("a frame of %d bytes", fr.size)
	}
	return at
}
