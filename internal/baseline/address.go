package baseline

import "kudzu/internal/baseline/x86"

// addresses are pointers that are known relative to another one: what only loads and stores look at needs no code.
type addresses struct {
	from   []operand // by value: where a pointer starts from
	disp   []int32   // how far it is from there
	folded []bool    // without code and slot
	locals []int32   // by value: an alloca's place in the frame; -1: none
}

// findAddresses gives allocas their places and finds the pointers at known distances.
func (m *module) findAddresses(f *function, fr *frame) {
	n := len(f.types)
	a := &fr.addr
	a.from, a.disp, a.folded, a.locals = make([]operand, n), make([]int32, n), make([]bool, n), make([]int32, n)
	for i := range a.locals {
		a.locals[i] = -1
	}
	other := make([]bool, n) // by value: it is not only the address of loads and stores
	for _, b := range f.order {
		for _, in := range f.blocks[b].insts {
			m.use(in, fr, other)
		}
	}
	for k := len(f.order) - 1; k >= 0; k-- {
		insts := f.blocks[f.order[k]].insts
		for i := len(insts) - 1; i >= 0; i-- {
			in := insts[i]
			switch in.op {
			case "getelementptr":
				if disp, ok := m.distance(in); ok && !other[in.res] {
					a.from[in.res], a.disp[in.res], a.folded[in.res] = in.args[0], disp, true
				} else if p := in.args[0]; !p.isConst() {
					other[p.val] = true
				}
			case "alloca":
				a.folded[in.res] = !other[in.res]
			}
		}
	}
}

// use notes values that an instruction uses otherwise than as the address that it loads from or stores to. Chains of
// pointers are looked at later.
func (m *module) use(in *inst, fr *frame, other []bool) {
	address := -1
	switch in.op {
	case "load", "getelementptr":
		address = 0
	case "store":
		address = 1
	case "alloca":
		size := m.size(in.mem) * in.list[0]
		if size > 8 {
			size = (size + 63) &^ 63
		} else {
			size = 8
		}
		fr.addr.locals[in.res] = fr.take(size)
	}
	for i, o := range in.args {
		if !o.isConst() && i != address {
			other[o.val] = true
		}
	}
}

// distance is how far a pointer is from the one that it is computed from, if that is known.
func (m *module) distance(in *inst) (int32, bool) {
	p, i := in.args[0], in.args[1]
	if in.t.vector || p.isConst() || !i.isConst() || m.size(i.t) > 8 {
		return 0, false
	}
	n := m.numberOf(i) * int64(m.stride(in))
	return int32(n), n >= -1<<24 && n <= 1<<24
}

// stride is the size of what getelementptr counts.
func (m *module) stride(in *inst) int {
	if in.mem.vector && !in.mem.isMask() {
		return in.mem.elem() * int(in.mem.lanes)
	}
	return m.size(in.mem)
}

// start follows a folded pointer to the one that it starts from.
func (a *addresses) start(p operand) (from operand, disp int32) {
	for !p.isConst() && a.folded[p.val] && a.locals[p.val] < 0 {
		disp += a.disp[p.val]
		p = a.from[p.val]
	}
	return p, disp
}

// pointerIn is the memory that a pointer operand points to; r is free for the pointer if no register has it.
func (g *gen) pointerIn(r x86.Reg, p operand) x86.Mem {
	p, disp := g.fr.addr.start(p)
	if !p.isConst() {
		if at := g.fr.addr.locals[p.val]; at >= 0 {
			return x86.At(framePtr, at+disp)
		}
	}
	if c, ok := g.scalarOf(p); ok {
		return x86.At(c, disp)
	}
	g.load(r, p)
	return x86.At(r, disp)
}

func alloca(g *gen, in *inst) {
	g.Lea(x86.RAX, x86.At(framePtr, g.fr.addr.locals[in.res]))
	g.store(in.res, x86.RAX)
}
