package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// The video instructions compute in 34 bits; 64 hold that.

// selector is the part of a register that .b2 or .h1 names: first bit and width; the whole register without one.
func selector(o *ptx.Operand) (pos, width int) {
	if o.Elem != ptx.ElemSel {
		return 0, 32
	}
	kind, parts := o.Selector()
	width = 8
	if kind == 'h' {
		width = 16
	}
	return parts[0] * width, width
}

// selected reads an operand's selected part, extended to 64 bits as its type says.
func (x *inst) selected(name string) *ir.Value {
	i := x.index(name)
	o, t := x.Args[i], x.opType(i)
	pos, width := selector(&o)
	o.Minus = false // vmad looks at it itself
	if o.Elem == ptx.ElemSel {
		o.Elem = -1
	}
	v := x.value(&o, t)
	if width < 32 {
		v = x.field(v, pos, width, t.IsSigned())
	}
	return x.resize(v, 64, t.IsSigned())
}

func (x *inst) field(v *ir.Value, pos, width int, signed bool) *ir.Value {
	op := ir.BfeU
	if signed {
		op = ir.BfeS
	}
	return x.op(op, v, i32(int64(pos)), i32(int64(width)))
}

// clampTo limits a 64-bit v to the range of a width-bit integer. wide says how to read v.
func (x *inst) clampTo(v *ir.Value, width int, signed, wide bool) *ir.Value {
	if !wide { // v is unsigned
		limit := int64(1)<<width - 1
		if signed {
			limit = int64(1)<<(width-1) - 1
		}
		return x.op(ir.MinU, v, i64(limit))
	}
	if signed {
		return x.op(ir.MaxS, x.op(ir.MinS, v, i64(1<<(width-1)-1)), i64(-1<<(width-1)))
	}
	return x.op(ir.MaxS, x.op(ir.MinS, v, i64(1<<width-1)), i64(0))
}

// finishVideo saturates, applies the second operation or merges into c, and writes d.
func (x *inst) finishVideo(v *ir.Value, wide bool) {
	d := &x.Args[0]
	dt := x.opType(0)
	pos, width := selector(d)
	if x.Has(isa.ModSat) {
		v = x.clampTo(v, width, dt.IsSigned(), wide)
	}
	r := x.resize(v, 32, false)
	if x.has("c") {
		c := x.arg("c")
		if d.Elem == ptx.ElemSel {
			r = x.op(ir.Bfi, r, c, i32(int64(pos)), i32(int64(width)))
		} else {
			r = x.op(secondOp(x.Mod("op2"), dt.IsSigned()), r, c)
		}
	}
	o := *d
	if o.Elem == ptx.ElemSel {
		o.Elem = -1
	}
	x.setOperand(&o, dt, r)
}

func secondOp(m isa.Mod, signed bool) ir.Op {
	switch {
	case m == isa.ModMin && signed:
		return ir.MinS
	case m == isa.ModMin:
		return ir.MinU
	case m == isa.ModMax && signed:
		return ir.MaxS
	case m == isa.ModMax:
		return ir.MaxU
	}
	return ir.Add
}

// videoBase is the operation of the scalar and SIMD forms on extended values.
func (x *inst) videoBase(a, b *ir.Value) *ir.Value {
	switch x.Op() {
	case isa.Vadd, isa.Vadd2, isa.Vadd4:
		return x.op(ir.Add, a, b)
	case isa.Vsub, isa.Vsub2, isa.Vsub4:
		return x.op(ir.Sub, a, b)
	case isa.Vabsdiff, isa.Vabsdiff2, isa.Vabsdiff4:
		return x.absDiff(true, a, b)
	case isa.Vmin, isa.Vmin2, isa.Vmin4:
		return x.op(ir.MinS, a, b)
	case isa.Vmax, isa.Vmax2, isa.Vmax4:
		return x.op(ir.MaxS, a, b)
	case isa.Vavrg2, isa.Vavrg4:
		// Rounds a half away from zero: up where the sum is not negative.
		sum := x.op(ir.Add, a, b)
		up := x.resize(x.icmp(ir.GE, sum, constOf(sum.Type, 0)), sum.Type.Bits(), false)
		return x.op(ir.ShrS, x.op(ir.Add, sum, up), i32(1))
	case isa.Vset, isa.Vset2, isa.Vset4:
		c := comparisons[x.Mod("cmp")]
		return x.resize(x.icmp(c, a, b), a.Type.Bits(), false)
	}
	panic("BUG: no video operation for " + x.spelling())
}

func lowerVideo(x *inst) { x.finishVideo(x.videoBase(x.selected("a"), x.selected("b")), true) }

func lowerVideoShift(x *inst) {
	a, n := x.selected("a"), x.resize(x.selected("b"), 32, false)
	if x.Mod("mode") == isa.ModWrap {
		n = x.op(ir.And, n, i32(31))
	} else {
		n = x.op(ir.MinU, n, i32(32))
	}
	signed := x.Type("atype").IsSigned()
	op := ir.Shl
	if x.Op() == isa.Vshr {
		op = ir.ShrU
		if signed {
			op = ir.ShrS
		}
	}
	x.finishVideo(x.op(op, a, n), signed)
}

// lowerVmad is ±(a×b) ± c, scaled. Negation is by complement and one more, as the manual writes it.
func lowerVmad(x *inst) {
	neg := x.Args[x.index("a")].Minus != x.Args[x.index("b")].Minus
	ci := x.index("c")
	co := x.Args[ci]
	signed := x.Type("atype").IsSigned() || x.Type("btype").IsSigned() || neg || co.Minus
	p := x.op(ir.Mul, x.selected("a"), x.selected("b"))
	cneg := co.Minus
	co.Minus = false
	c := x.resize(x.value(&co, x.opType(ci)), 64, signed)
	one := x.Mod("po") != 0
	switch {
	case one:
	case neg:
		p, one = x.not(p), true
	case cneg:
		c, one = x.not(c), true
	}
	r := x.op(ir.Add, p, c)
	if one {
		r = x.op(ir.Add, r, i64(1))
	}
	if n := map[string]int64{"shr7": 7, "shr15": 15}[x.word("scale", "")]; n != 0 {
		op := ir.ShrU
		if signed {
			op = ir.ShrS
		}
		r = x.op(op, r, i32(n))
	}
	if x.Has(isa.ModSat) {
		r = x.clampTo(r, 32, signed, signed)
	}
	x.result(x.resize(r, 32, false))
}

// pieces are the parts of {a, b} that a SIMD operand names, lowest lane first, extended to 32 bits.
func (x *inst) pieces(name string, n int, a, b *ir.Value) []*ir.Value {
	i := x.index(name)
	o, signed := &x.Args[i], x.opType(i).IsSigned()
	width := 32 / n
	which := make([]int, n)
	for l := range which {
		which[l] = l
		if name == "b" {
			which[l] = l + n
		}
	}
	if o.Elem == ptx.ElemSel {
		_, parts := o.Selector()
		for l := range which {
			if j := len(parts) - 1 - l; j >= 0 {
				which[l] = parts[j]
			}
		}
	}
	var vs []*ir.Value
	for _, w := range which {
		src := a
		if w >= n {
			src, w = b, w-n
		}
		vs = append(vs, x.field(src, w*width, width, signed))
	}
	return vs
}

func simdVideo(n int) func(*inst) {
	return func(x *inst) {
		width := 32 / n
		plain := func(name string) *ir.Value {
			o := x.Args[x.index(name)]
			if o.Elem == ptx.ElemSel {
				o.Elem = -1
			}
			return x.value(&o, isa.B32)
		}
		a, b, c := plain("a"), plain("b"), plain("c")
		va, vb := x.pieces("a", n, a, b), x.pieces("b", n, a, b)
		d := x.Args[0]
		mask := make([]bool, n)
		for l := range mask {
			mask[l] = d.Elem != ptx.ElemSel
		}
		if d.Elem == ptx.ElemSel {
			_, parts := d.Selector()
			for _, p := range parts {
				mask[p%n] = true
			}
			d.Elem = -1
		}
		signed := x.opType(0).IsSigned()
		r := c
		for l := range n {
			if !mask[l] {
				continue
			}
			t := x.videoBase(va[l], vb[l])
			if x.Has(isa.ModSat) {
				t = x.clamp32(t, width, signed)
			}
			if x.Has(isa.ModAdd) {
				r = x.op(ir.Add, r, t)
			} else {
				r = x.op(ir.Bfi, t, r, i32(int64(l*width)), i32(int64(width)))
			}
		}
		x.setOperand(&d, x.opType(0), r)
	}
}

func (x *inst) clamp32(v *ir.Value, width int, signed bool) *ir.Value {
	lo, hi := int64(0), int64(1)<<width-1
	if signed {
		lo, hi = -1<<(width-1), 1<<(width-1)-1
	}
	return x.op(ir.MaxS, x.op(ir.MinS, v, i32(hi)), i32(lo))
}
