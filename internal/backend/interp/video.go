package interp

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// part is the byte or half word a selector picks; the zero value is the whole word.
type part struct{ shift, bits int }

// selected is the part of an operand's selector.
func (d *decoder) selected(name string) part {
	o, _ := d.arg(name)
	if o.Elem != ptx.ElemSel {
		return part{0, 32}
	}
	kind, parts := o.Selector()
	if kind == 'h' {
		return part{16 * parts[0], 16}
	}
	return part{8 * parts[0], 8}
}

// take is the part of v, extended as the type says.
func (p part) take(t isa.Type, v uint64) int64 {
	v = v >> p.shift & mask(p.bits)
	if t.IsSigned() {
		return signed(v, p.bits)
	}
	return int64(v)
}

// put replaces the part of c by v.
func (p part) put(c, v uint64) uint64 {
	m := mask(p.bits) << p.shift
	return c&^m | v<<p.shift&m
}

// clampTo saturates to a type of so many bits.
func clampTo(sign bool, bits int, v int64) int64 {
	if sign {
		return min(max(v, -1<<(bits-1)), 1<<(bits-1)-1)
	}
	return min(max(v, 0), 1<<bits-1)
}

func absDiff(a, b int64) int64 {
	if a < b {
		return b - a
	}
	return a - b
}

// On sm_90 the assembler expands the scalar video instructions into 64-bit arithmetic, and what comes out differs from the
// manual's 34-bit definition. The expansion (read off the assembler's output, and agreeing with every recorded row) is followed:
//
//   - sums and differences are cut to 32 bits and sign-extended; the other results keep all bits, shifts with .sat 34;
//   - .sat to u32 makes negative results zero; only shifts are also limited from above, sums wrap;
//   - min and max with c compare 64 bits: signed ones for s32 (for vset: a signed a), unsigned ones for u32, where a result that
//     was sign-extended is very large;
//   - .sat into a part of d takes the 64 bits as unsigned, so that a negative result gives the part's largest value, but shifts
//     saturate to the whole word; a part gets the low bits of the result, .h1 the upper half (assemblers after CUDA 13.0 give it
//     the lower one).

// videoKind says how an operation's result is cut and saturated.
type videoKind uint8

const (
	videoWide    videoKind = iota // keeps its bits
	videoSum                      // vadd, vsub
	videoShifted                  // vshl, vshr
)

var videoKinds = map[isa.Op]videoKind{isa.Vadd: videoSum, isa.Vsub: videoSum, isa.Vshl: videoShifted, isa.Vshr: videoShifted}

// videoScalar is the shape of the scalar video instructions: an operation on parts, saturation, then a second operation with c
// or a merge into c.
func videoScalar(op func(d *decoder) func(a, b int64) int64) decodeFn {
	return func(d *decoder) step {
		f, kind := op(d), videoKinds[d.in.Op()]
		at, bt := d.in.Type("atype"), d.in.Type("btype")
		dt := d.typeOr("dtype", isa.U32)
		sign := dt.IsSigned()
		if d.in.Op() == isa.Vset {
			sign = at.IsSigned()
		}
		pa, pb, pd := d.selected("a"), d.selected("b"), d.selected("d")
		dst, a, b, c := d.dst("d"), d.src("a"), d.src("b"), d.srcOr("c", 0)
		sat, second := d.has(isa.ModSat), d.in.Mod("op2")
		return step{lane: func(t *thread) {
			v := f(pa.take(at, a.get(t)), pb.take(bt, b.get(t)))
			switch {
			case sat:
				v = videoSaturate(kind, sign, pd, v)
			case kind == videoSum:
				v = int64(int32(v))
			}
			x, z := uint64(v)&0xffffffff, c.get(t)
			switch {
			case second == isa.ModAdd:
				x = (x + z) & 0xffffffff
			case second == isa.ModMin && atMost(sign, z, v), second == isa.ModMax && !atMost(sign, z, v):
				x = z
			case second != 0:
			case pd == part{16, 16}:
				x = pd.put(z, x>>16)
			case pd.bits < 32:
				x = pd.put(z, x)
			}
			t.r[dst] = x
		}}
	}
}

// atMost is whether c is at most the result, as the second operations compare.
func atMost(sign bool, c uint64, v int64) bool {
	if sign {
		return signed(c, 32) <= v
	}
	return c <= uint64(v)
}

// videoSaturate is .sat of a result that goes to part p.
func videoSaturate(kind videoKind, sign bool, p part, v int64) int64 {
	switch {
	case kind == videoShifted:
		return int64(int32(clampTo(sign, 32, v<<30>>30)))
	case p.bits < 32:
		most := mask(p.bits)
		if sign {
			most >>= 1
		}
		return int64(min(uint64(v), most))
	case sign:
		return clampTo(true, 32, v)
	case kind == videoSum:
		return int64(int32(max(v, 0)))
	}
	return max(v, 0)
}

// plain is an operation that needs nothing of the instruction.
func plain(f func(a, b int64) int64) func(*decoder) func(a, b int64) int64 {
	return func(*decoder) func(a, b int64) int64 { return f }
}

func addInt(a, b int64) int64 { return a + b }
func subInt(a, b int64) int64 { return a - b }
func minInt(a, b int64) int64 { return min(a, b) }
func maxInt(a, b int64) int64 { return max(a, b) }

// average rounds half away from minus infinity for sums that are not negative.
func average(a, b int64) int64 {
	if a+b >= 0 {
		return (a + b + 1) >> 1
	}
	return (a + b) >> 1
}

func videoShift(left bool) func(d *decoder) func(a, b int64) int64 {
	return func(d *decoder) func(a, b int64) int64 {
		wrap := d.has(isa.ModWrap)
		return func(a, b int64) int64 {
			n := uint64(min(b, 32))
			if wrap {
				n = uint64(b) & 31
			}
			if left {
				return a << n
			}
			return a >> n
		}
	}
}

func videoCompare(d *decoder) func(a, b int64) int64 {
	want := intOrders[d.in.Mod("cmp")].orders
	return func(a, b int64) int64 {
		switch {
		case a < b:
			return int64(bit(want&softfloat.Less != 0))
		case a > b:
			return int64(bit(want&softfloat.Greater != 0))
		}
		return int64(bit(want&softfloat.Equal != 0))
	}
}

// decodeVmad is a×b + c with at most one of product and c negated, or with .po plus one, shifted and saturated. As it is
// expanded, whole words and c are signed whatever their types say; the types decide how the 64-bit sum is shifted and saturated.
func decodeVmad(d *decoder) step {
	at, bt := d.in.Type("atype"), d.in.Type("btype")
	pa, pb := d.selected("a"), d.selected("b")
	dst, a, b, c := d.dst("d"), d.src("a"), d.src("b"), d.src("c")
	oa, _ := d.arg("a")
	ob, _ := d.arg("b")
	oc, _ := d.arg("c")
	negP, negC, po := oa.Minus != ob.Minus, oc.Minus, d.has(isa.ModPo)
	sign := at.IsSigned() || bt.IsSigned() || negP || negC
	sat := d.has(isa.ModSat)
	shift := uint(0)
	switch d.in.Mod("scale") {
	case isa.ModShr7:
		shift = 7
	case isa.ModShr15:
		shift = 15
	}
	return step{lane: func(t *thread) {
		v := int64(int32(pa.take(at, a.get(t)))) * int64(int32(pb.take(bt, b.get(t))))
		w := signed(c.get(t), 32)
		switch {
		case po:
			v++
		case negP:
			v = -v
		case negC:
			w = -w
		}
		v += w
		if sign {
			v >>= shift
		} else {
			v = int64(uint64(v) >> shift)
		}
		if sat {
			v = clampTo(sign, 32, v)
		}
		t.r[dst] = uint64(v) & 0xffffffff
	}}
}

// picks are the places in b:a that a SIMD selector names, lowest lane first.
func (d *decoder) picks(name string, lanes, from int) []int {
	list := make([]int, lanes)
	for i := range list {
		list[i] = from + i
	}
	if o, _ := d.arg(name); o.Elem == ptx.ElemSel {
		_, parts := o.Selector()
		for i := range list {
			if i < len(parts) {
				list[i] = parts[len(parts)-1-i]
			}
		}
	}
	return list
}

// written is which lanes of d are written.
func (d *decoder) written(lanes int) []bool {
	list := make([]bool, lanes)
	o, _ := d.arg("d")
	if o.Elem != ptx.ElemSel {
		for i := range list {
			list[i] = true
		}
		return list
	}
	_, parts := o.Selector()
	for _, p := range parts {
		if p < lanes {
			list[p] = true
		}
	}
	return list
}

// videoSIMD is the shape of the SIMD video instructions on 2 or 4 lanes: lanes that are not written come from c; with .add the
// lanes are summed onto c.
func videoSIMD(lanes int, op func(d *decoder) func(a, b int64) int64) decodeFn {
	return func(d *decoder) step {
		f := op(d)
		width := 32 / lanes
		at, bt := d.in.Type("atype"), d.in.Type("btype")
		dt := d.typeOr("dtype", isa.U32)
		pa, pb, on := d.picks("a", lanes, 0), d.picks("b", lanes, lanes), d.written(lanes)
		dst, a, b, c := d.dst("d"), d.src("a"), d.src("b"), d.src("c")
		sat, sum := d.has(isa.ModSat), d.has(isa.ModAdd)
		return step{lane: func(t *thread) {
			words := a.get(t) | b.get(t)<<32
			r := c.get(t)
			for i := range lanes {
				if !on[i] {
					continue
				}
				v := f(part{pa[i] * width, width}.take(at, words), part{pb[i] * width, width}.take(bt, words))
				if sat {
					v = clampTo(dt.IsSigned(), width, v)
				}
				if sum {
					r += uint64(v)
				} else {
					r = part{i * width, width}.put(r, uint64(v))
				}
			}
			t.r[dst] = r & 0xffffffff
		}}
	}
}
