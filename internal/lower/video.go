package lower

import (
	"kudzu/internal/ir"
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
)

// The scalar video instructions are 64-bit arithmetic, as the vendor's assembler expands them for sm_90 and every recorded row
// has it; backend/interp/video.go says where that differs from the manual.

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
		o.Elem, o.Imm = -1, 0
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

// clampTo limits a signed 64-bit v to the range of a 32-bit integer.
func (x *inst) clampTo(v *ir.Value, signed bool) *ir.Value {
	if signed {
		return x.op(ir.MaxS, x.op(ir.MinS, v, i64(1<<31-1)), i64(-1<<31))
	}
	return x.op(ir.MaxS, x.op(ir.MinS, v, i64(1<<32-1)), i64(0))
}

// sext extends the lowest bits of a 64-bit v.
func (x *inst) sext(v *ir.Value, bits int64) *ir.Value {
	return x.op(ir.ShrS, x.op(ir.Shl, v, i32(64-bits)), i32(64-bits))
}

// videoSum and videoShifted tell the operations whose results are cut before they are used.
func (x *inst) videoSum() bool     { return x.Op() == isa.Vadd || x.Op() == isa.Vsub }
func (x *inst) videoShifted() bool { return x.Op() == isa.Vshl || x.Op() == isa.Vshr }

// finishVideo saturates v, a signed number, applies the second operation or merges into c, and writes d.
func (x *inst) finishVideo(v *ir.Value) {
	d, dt := x.Args[0], x.opType(0)
	pos, width := selector(&d)
	signed := dt.IsSigned()
	if x.Op() == isa.Vset {
		signed = x.Type("atype").IsSigned()
	}
	switch {
	case x.Has(isa.ModSat):
		v = x.saturateVideo(v, signed, width)
	case x.videoSum():
		v = x.sext(v, 32)
	}
	r := x.resize(v, 32, false)
	switch {
	case d.Elem == ptx.ElemSel:
		if pos == 16 && width == 16 { // the upper half goes there
			r = x.op(ir.ShrU, r, i32(16))
		}
		d.Elem, d.Imm = -1, 0
		r = x.op(ir.Bfi, r, x.arg("c"), i32(int64(pos)), i32(int64(width)))
	case x.has("c") && x.Mod("op2") == isa.ModAdd:
		r = x.op(ir.Add, r, x.arg("c"))
	case x.has("c"):
		r = x.resize(x.op(secondOp(x.Mod("op2"), signed), v, x.resize(x.arg("c"), 64, signed)), 32, false)
	}
	x.setOperand(&d, dt, r)
}

// saturateVideo is .sat of a result that goes to a part of so many bits.
func (x *inst) saturateVideo(v *ir.Value, signed bool, width int) *ir.Value {
	switch {
	case x.videoShifted():
		return x.sext(x.clampTo(x.sext(v, 34), signed), 32)
	case width < 32: // a negative result is a large one
		limit := int64(1)<<width - 1
		if signed {
			limit >>= 1
		}
		return x.op(ir.MinU, v, i64(limit))
	case signed:
		return x.clampTo(v, true)
	}
	v = x.op(ir.MaxS, v, i64(0))
	if x.videoSum() {
		v = x.sext(v, 32)
	}
	return v
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

func lowerVideo(x *inst) { x.finishVideo(x.videoBase(x.selected("a"), x.selected("b"))) }

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
	x.finishVideo(x.op(op, a, n))
}

// lowerVmad is ±(a×b) ± c, scaled. Negation is by complement and one more, as the manual writes it. sm_90 reads whole words
// and c as signed, whatever their types say; the types decide how the sum is scaled and saturated.
func lowerVmad(x *inst) {
	ao, bo := &x.Args[x.index("a")], &x.Args[x.index("b")]
	ci := x.index("c")
	co := x.Args[ci]
	neg, cneg := ao.Minus != bo.Minus, co.Minus
	signed := x.Type("atype").IsSigned() || x.Type("btype").IsSigned() || neg || cneg
	scale := map[string]int64{"shr7": 7, "shr15": 15}[x.word("scale", "")]
	p := x.op(ir.Mul, x.sext(x.selected("a"), 32), x.sext(x.selected("b"), 32))
	co.Minus = false
	c := x.resize(x.value(&co, isa.S32), 64, true)
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
	switch {
	case scale != 0 && signed:
		r = x.op(ir.ShrS, r, i32(scale))
	case scale != 0:
		r = x.op(ir.ShrU, r, i32(scale))
	}
	if x.Has(isa.ModSat) {
		r = x.clampTo(r, signed)
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
				o.Elem, o.Imm = -1, 0
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
			d.Elem, d.Imm = -1, 0
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
