package interp

import (
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// comparison is the test a .cmp word makes on operands of type t.
func (d *decoder) comparison(t isa.Type) func(a, b uint64) bool {
	word := d.in.Mod("cmp")
	if f := floatFormat(t); f != nil {
		want, ok := floatOrders[word]
		if !ok {
			d.bad("comparison %s of %s", word, t)
		}
		ftz := d.has(isa.ModFtz)
		return func(a, b uint64) bool { return f.Compare(a, b, ftz)&want != 0 }
	}
	want, ok := intOrders[word]
	if !ok {
		d.bad("comparison %s of %s", word, t)
	}
	if want.unsigned {
		t = isa.U64
	}
	return func(a, b uint64) bool {
		switch {
		case a == b:
			return want.orders&softfloat.Equal != 0
		case less(t, a, b):
			return want.orders&softfloat.Less != 0
		}
		return want.orders&softfloat.Greater != 0
	}
}

const (
	lt = softfloat.Less
	eq = softfloat.Equal
	gt = softfloat.Greater
	un = softfloat.Unordered
)

var floatOrders = map[isa.Mod]softfloat.Order{
	isa.ModEq: eq, isa.ModNe: lt | gt, isa.ModLt: lt, isa.ModLe: lt | eq, isa.ModGt: gt, isa.ModGe: gt | eq,
	isa.ModEqu: eq | un, isa.ModNeu: lt | gt | un, isa.ModLtu: lt | un, isa.ModLeu: lt | eq | un, isa.ModGtu: gt | un, isa.ModGeu: gt | eq | un,
	isa.ModNum: lt | eq | gt, isa.ModNan: un,
}

type intOrder struct {
	orders   softfloat.Order
	unsigned bool
}

var intOrders = map[isa.Mod]intOrder{
	isa.ModEq: {eq, false}, isa.ModNe: {lt | gt, false}, isa.ModLt: {lt, false}, isa.ModLe: {lt | eq, false}, isa.ModGt: {gt, false}, isa.ModGe: {gt | eq, false},
	isa.ModLo: {lt, true}, isa.ModLs: {lt | eq, true}, isa.ModHi: {gt, true}, isa.ModHs: {gt | eq, true},
}

// combine is the .bool word: how a comparison is joined with the predicate c.
func (d *decoder) combine() func(v, c uint64) uint64 {
	switch d.in.Mod("bool") {
	case isa.ModAnd:
		return func(v, c uint64) uint64 { return v & c }
	case isa.ModOr:
		return func(v, c uint64) uint64 { return v | c }
	case isa.ModXor:
		return func(v, c uint64) uint64 { return v ^ c }
	}
	return func(v, _ uint64) uint64 { return v }
}

// decodeSetp is p = cmp(a, b) BOOL c and q = !cmp(a, b) BOOL c; of packed operands p is the low half's and q the high half's.
func decodeSetp(d *decoder) step {
	p, q := d.pair("p")
	a, b, c := d.src("a"), d.src("b"), d.srcOr("c", 0)
	join := d.combine()
	one, parts := d.typ().Elem()
	cmp := d.comparison(one)
	if parts == 2 {
		return step{lane: func(t *thread) {
			x, y, z := a.get(t), b.get(t), c.get(t)
			lo, hi := bit(cmp(x&0xffff, y&0xffff)), bit(cmp(x>>16, y>>16))
			t.r[p], t.r[q] = join(lo, z), join(hi, z)
		}}
	}
	return step{lane: func(t *thread) {
		z := c.get(t)
		v := bit(cmp(a.get(t), b.get(t)))
		t.r[q] = join(v^1, z)
		t.r[p] = join(v, z)
	}}
}

// decodeSet is setp with a number as the result: all ones or 1.0 for true.
func decodeSet(d *decoder) step {
	dst, a, b, c := d.dst("d"), d.src("a"), d.src("b"), d.srcOr("c", 0)
	join := d.combine()
	one, parts := d.in.Type("atype").Elem()
	cmp := d.comparison(one)
	dt := d.in.Type("dtype")
	value := truth(dt)
	if parts == 2 {
		half := truth(dt)
		if dt.Bits() == 32 && floatFormat(dt) == nil {
			e, n := dt.Elem()
			if n == 2 {
				half = truth(e)
			} else {
				half = func(v uint64) uint64 { return -v & 0xffff }
			}
		}
		return step{lane: func(t *thread) {
			x, y, z := a.get(t), b.get(t), c.get(t)
			lo, hi := join(bit(cmp(x&0xffff, y&0xffff)), z), join(bit(cmp(x>>16, y>>16)), z)
			t.r[dst] = half(lo) | half(hi)<<16
		}}
	}
	return step{lane: func(t *thread) { t.r[dst] = value(join(bit(cmp(a.get(t), b.get(t))), c.get(t))) }}
}

// truth is how a type shows a true comparison.
func truth(t isa.Type) func(v uint64) uint64 {
	if f := floatFormat(t); f != nil {
		return func(v uint64) uint64 { return v * f.One() }
	}
	m := mask(t.Bits())
	return func(v uint64) uint64 { return -v & m }
}

func decodeSelp(d *decoder) step {
	return d.tern(func(a, b, c uint64) uint64 {
		if c != 0 {
			return a
		}
		return b
	})
}

// decodeSlct selects by the sign of c: a where c >= 0. A NaN selects b; -0 selects a.
func decodeSlct(d *decoder) step {
	ftz := d.has(isa.ModFtz)
	if d.in.Type("ctype") == isa.F32 {
		return d.tern(func(a, b, c uint64) uint64 {
			if softfloat.F32.Compare(c, 0, ftz)&(gt|eq) != 0 {
				return a
			}
			return b
		})
	}
	return d.tern(func(a, b, c uint64) uint64 {
		if signed(c, 32) >= 0 {
			return a
		}
		return b
	})
}
