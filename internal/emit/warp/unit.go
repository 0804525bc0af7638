package warp

import (
	"kudzu/internal/analysis"
	"kudzu/internal/ir"
	"kudzu/internal/ll"
)

// maxNarrow is how many numbers of 32 bits an address may differ by: sums of as many below 2^29 do not wrap.
const maxNarrow = 4

// narrowForm is the address of an access as a sum in which lanes differ by few counts of elements, of 32 bits: an index that was divided into
// coordinates. Lanes are compared by the sum of those, in half the registers that addresses take. Accesses to several planes of a picture
// differ by what is uniform, so that they are compared once.
func (e *emitter) narrowForm(a *access) (analysis.Linear, bool) {
	if a.in.Args[0].Type != ir.I64 {
		return analysis.Linear{}, false
	}
	form := e.linear(a.in.Args[0], a.in)
	n := 0
	for _, t := range form.Terms {
		if uniform(t.V) {
			continue
		}
		if n++; n > maxNarrow || t.V.Type != ir.I32 || t.Ext != ir.SExt && t.Ext != ir.ZExt || t.K != uint64(a.size) {
			return form, false
		}
	}
	return form, n > 0
}

// isUnitNarrow asks whether the sum of what lanes differ by counts them. Numbers that are negative or may wrap are for gathers.
func (e *emitter) isUnitNarrow(a *access, form analysis.Linear) ll.Val {
	const large = -1 << 29
	var sum, bits ll.Val
	for _, t := range form.Terms {
		switch {
		case uniform(t.V):
		case sum.IsZero():
			sum = e.vector(t.V)
			bits = sum
		default:
			sum, bits = e.Add(sum, e.vector(t.V)), e.Or(bits, e.vector(t.V))
		}
	}
	bits = e.And(bits, bits.Int(large))
	first := e.Extract(sum, 0)
	same := e.ICmp("eq", e.Or(e.Xor(sum, e.Add(e.splat(first), e.iota("i32"))), bits), bits.Int(0))
	if !a.all {
		same = e.Or(same, e.Not(a.mask))
	}
	all := e.ICmp("eq", e.number(same), ll.Int("i32", -1))
	if a.all {
		return all
	}
	// Lane 0 gives the address although it may not act.
	return e.And(all, e.ICmp("eq", e.Extract(bits, 0), ll.Int("i32", 0)))
}

// firstOf is the number that lane 0 has.
func (e *emitter) firstOf(form analysis.Linear) ll.Val {
	sum := ll.Int("i64", int64(form.C))
	for _, t := range form.Terms {
		x := e.laneZero(t.V)
		switch t.Ext {
		case ir.SExt:
			x = e.SExt(x, "i64")
		case ir.ZExt:
			x = e.ZExt(x, "i64")
		}
		if t.K != 1 {
			x = e.Mul(x, ll.Int("i64", int64(t.K)))
		}
		sum = e.Add(sum, x)
	}
	return sum
}

func (e *emitter) laneZero(v *ir.Value) ll.Val {
	if uniform(v) {
		return e.scalar(v)
	}
	return e.Extract(e.vector(v), 0)
}

// mayBeUnit reports an access of one element that may turn out to be contiguous: nothing says so, but nothing
// read from memory decides where they are either. The check costs a quarter of a gather.
func (e *emitter) mayBeUnit(a *access) bool {
	if a.shape.Seg > 0 && a.shape.Stride != int64(a.elem) { // neighbours are known to lie apart
		return false
	}
	if e.w != 32 || len(a.types) != 1 || a.known || a.in.Space == ir.Local || a.shape.Kind != ir.Varying {
		return false
	}
	if _, ok := e.strideForm(a.in); ok {
		return true
	}
	return !fromMemory(a.in.Args[0], 0) || e.rowed(a)
}

// rowed reports an address with a part that was loaded and one that was not: lanes with the same number of a row are
// neighbours in it. In shared memory such addresses are mostly those of counters and ranks, which lie anywhere.
func (e *emitter) rowed(a *access) bool {
	if a.in.Space == ir.Shared {
		return false
	}
	var sum func(v *ir.Value, depth int) bool
	sum = func(v *ir.Value, depth int) bool {
		d := v.Def
		if d == nil || depth > 6 || uniform(v) {
			return false
		}
		switch d.Op {
		case ir.ZExt, ir.SExt, ir.Shl:
			return sum(d.Args[0], depth+1)
		case ir.Add:
			x, y := d.Args[0], d.Args[1]
			if !uniform(x) && !uniform(y) && fromMemory(x, 0) != fromMemory(y, 0) {
				return true
			}
			return sum(x, depth+1) || sum(y, depth+1)
		}
		return false
	}
	return sum(a.in.Args[0], 0)
}

// isOne asks whether all active lanes have lane 0's address.
func (e *emitter) isOne(a *access) ll.Val {
	if s, ok := e.strideForm(a.in); ok {
		return s.one(e, a)
	}
	var differ ll.Val // bits in which lanes differ from lane 0
	add := func(v ll.Val) {
		d := e.Xor(v, e.splat(e.Extract(v, 0)))
		if !differ.IsZero() {
			d = e.Or(differ, d)
		}
		differ = d
	}
	if form, ok := e.narrowForm(a); ok {
		for _, t := range form.Terms {
			if !uniform(t.V) {
				add(e.vector(t.V))
			}
		}
	} else {
		add(e.vector(a.in.Args[0]))
	}
	same := e.ICmp("eq", differ, differ.Int(0))
	if !a.all {
		same = e.Or(same, e.Not(a.mask))
	}
	all := e.ICmp("eq", e.number(same), ll.Int("i32", -1))
	if a.all {
		return all
	}
	// Lane 0 gives the address.
	return e.And(all, e.ICmp("ne", e.And(e.number(a.mask), ll.Int("i32", 1)), ll.Int("i32", 0)))
}

// loadOne loads at lane 0's address, for all lanes that act.
func (e *emitter) loadOne(a *access) ll.Val {
	t := memType(a.types[0])
	x := e.splat(e.LoadAs(t, e.firstPointer(a), ll.Access{Align: a.elem, Volatile: watched(a.in), Meta: a.ro}))
	if a.all {
		return x
	}
	return e.Select(a.mask, x, ll.Zero(x.T))
}

// mayBeWide reports the same of vectors of several elements a lane, wherever their addresses are from: one by one they
// cost four times as much as their check.
func (e *emitter) mayBeWide(a *access) bool {
	return e.w == 32 && len(a.types) > 1 && a.same() && !a.known && a.in.Space != ir.Local && a.shape.Kind == ir.Varying && a.shape.Seg == 0
}

// fromMemory reports a value that depends on something loaded or exchanged: an index of that kind is rarely regular.
func fromMemory(v *ir.Value, depth int) bool {
	d := v.Def
	if d == nil || v.Shape.Kind >= ir.Affine { // a loop's index is regular itself
		return false
	}
	if d.Op.Row().Effects != 0 || d.Op == ir.Phi || depth > 12 {
		return true
	}
	for _, a := range d.Args {
		if !uniform(a) && fromMemory(a, depth+1) {
			return true
		}
	}
	return false
}

// isUnit asks whether all active lanes are contiguous from lane 0 on.
func (e *emitter) isUnit(a *access) ll.Val {
	if s, ok := e.strideForm(a.in); ok {
		return s.unit(e, a.size)
	}
	if form, ok := e.narrowForm(a); ok {
		return e.isUnitNarrow(a, form)
	}
	addr := e.vector(a.in.Args[0])
	first := e.Extract(addr, 0)
	want := e.Add(e.splat(first), e.offsets(ir.Shape{Stride: int64(a.size)}, "i64"))
	same := e.ICmp("eq", addr, want)
	if !a.all {
		same = e.Or(same, e.Not(a.mask))
	}
	return e.ICmp("eq", e.number(same), ll.Int("i32", -1))
}

// isWide asks whether all lanes act and their vectors are contiguous.
func (e *emitter) isWide(a *access) ll.Val {
	if a.all {
		return e.isUnit(a)
	}
	return e.And(e.isUnit(a), e.ICmp("eq", e.number(a.mask), ll.Int("i32", -1)))
}

func (e *emitter) firstPointer(a *access) ll.Val {
	if s, ok := e.strideForm(a.in); ok {
		return e.pointer(a.in.Space, s.first(e))
	}
	if form, ok := e.narrowForm(a); ok {
		return e.pointer(a.in.Space, e.firstOf(form))
	}
	return e.pointer(a.in.Space, e.Extract(e.vector(a.in.Args[0]), 0))
}

func (e *emitter) loadAtFirst(a *access) ll.Val {
	return e.maskedLoad(memType(a.types[0]), e.w, a.elem, e.firstPointer(a), a.mask, a.all, a.ro)
}

// loadScattered gathers, unless a row's number makes the address the same for all lanes.
func (e *emitter) loadScattered(a *access) []ll.Val {
	if _, ok := e.strideForm(a.in); !ok && !divided(a.in.Args[0], 0) {
		return e.gather(a)
	}
	return e.choose(e.isOne(a), "one", func() []ll.Val { return []ll.Val{e.loadOne(a)} }, func() []ll.Val { return e.gather(a) })
}

// divided reports a value made of a quotient.
func divided(v *ir.Value, depth int) bool {
	d := v.Def
	if d == nil || depth > 8 || uniform(v) {
		return false
	}
	switch d.Op {
	case ir.DivU, ir.DivS:
		return true
	case ir.Add, ir.Mul, ir.Shl, ir.ZExt, ir.SExt, ir.Sub:
		for _, a := range d.Args {
			if divided(a, depth+1) {
				return true
			}
		}
	}
	return false
}
