package interp

import (
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// decodeCvt dispatches on the kinds of the two types.
func decodeCvt(d *decoder) step {
	dt, at := d.in.Type("dtype"), d.in.Type("atype")
	if dt == isa.S2F6x2 || at == isa.S2F6x2 || d.has(isa.ModScaledN2Ue8m0) {
		return d.cvtScaled(dt, at)
	}
	if _, n := dt.Elem(); n > 1 {
		return d.cvtPacked(dt, at)
	}
	to, from := floatFormat(dt), floatFormat(at)
	var f func(x uint64) uint64
	switch {
	case to == nil && from == nil:
		f = d.cvtInt(dt, at)
	case to == nil:
		f = d.cvtToInt(dt, from)
	case from == nil:
		e := d.floatEnv()
		bits, sign := uint(at.Bits()), at.IsSigned()
		f = func(x uint64) uint64 { return to.FromInt(x, bits, sign, e) }
	default:
		f = d.cvtFloat(to, from)
	}
	dst, a := d.dst("d"), d.src("a")
	widen, m := d.widen("d", dt), mask(at.Bits())
	return step{lane: func(t *thread) { t.r[dst] = widen(f(a.get(t) & m)) }}
}

// cvtInt extends or cuts; .sat clamps to the range of the destination.
func (d *decoder) cvtInt(dt, at isa.Type) func(x uint64) uint64 {
	w, m := at.Bits(), mask(dt.Bits())
	value := func(x uint64) uint64 { return x }
	if at.IsSigned() {
		value = func(x uint64) uint64 { return uint64(signed(x, w)) }
	}
	if !d.has(isa.ModSat) {
		return func(x uint64) uint64 { return value(x) & m }
	}
	return func(x uint64) uint64 { return saturateInt(dt, at, x) }
}

// saturateInt clamps x of type at to the range of dt.
func saturateInt(dt, at isa.Type, x uint64) uint64 {
	w := dt.Bits()
	if at.IsSigned() && signed(x, at.Bits()) < 0 {
		if !dt.IsSigned() {
			return 0
		}
		lo := int64(-1) << (w - 1)
		return uint64(max(signed(x, at.Bits()), lo)) & mask(w)
	}
	hi := mask(w)
	if dt.IsSigned() {
		hi >>= 1
	}
	return min(x, hi)
}

// cvtToInt rounds as .rni, .rzi, .rmi or .rpi say and clamps.
func (d *decoder) cvtToInt(dt isa.Type, from *softfloat.Format) func(x uint64) uint64 {
	e := softfloat.Env{Mode: roundMode(d.in.Mod("rnd")), FTZ: d.has(isa.ModFtz)}
	to := softfloat.Int{Width: uint(dt.Bits()), Signed: dt.IsSigned()}
	return func(x uint64) uint64 { return from.ToInt(x, to, e) }
}

// cvtFloat converts between formats; with an integer rounding and one format it rounds to an integral value.
func (d *decoder) cvtFloat(to, from *softfloat.Format) func(x uint64) uint64 {
	e := d.floatEnv()
	e.SatFinite = d.has(isa.ModSatfinite)
	relu := d.has(isa.ModRelu)
	if d.has(isa.ModRna) {
		e.Mode = softfloat.RNA
	}
	var integral bool
	switch d.in.Mod("rnd") {
	case isa.ModRni, isa.ModRzi, isa.ModRmi, isa.ModRpi:
		integral = true
	}
	if to == from && to.Bits() >= 32 && !integral && !e.FTZ && !e.Sat {
		return func(x uint64) uint64 { return x } // the assembler makes a copy of it, NaN payloads and all; of f16 and bf16 an addition
	}
	return func(x uint64) uint64 {
		if integral {
			x = from.RoundInt(x, e)
		}
		r := from.Convert(to, x, e)
		if relu {
			r = to.Relu(r)
		}
		return r
	}
}

// cvtPacked makes a packed value: of two (or four) scalars, or of another packed value.
func (d *decoder) cvtPacked(dt, at isa.Type) step {
	one, n := dt.Elem()
	to := floatFormat(one)
	src, m := at.Elem()
	from := floatFormat(src)
	if to == nil || from == nil {
		d.bad("%s", d.spelling())
	}
	e := softfloat.Env{Mode: roundMode(d.in.Mod("rnd")), SatFinite: d.has(isa.ModSatfinite)}
	if d.has(isa.ModRs) {
		e.Mode = softfloat.RS
	}
	relu := d.has(isa.ModRelu)
	width := one.Bits()
	conv := func(x uint64, e softfloat.Env) uint64 {
		r := from.Convert(to, x, e)
		if relu {
			r = to.Relu(r)
		}
		return r
	}
	dst := d.dst("d")
	if m > 1 { // packed to packed
		a, fw := d.src("a"), src.Bits()
		return step{lane: func(t *thread) {
			v, r := a.get(t), uint64(0)
			for i := range n {
				r |= conv(v>>(i*fw)&mask(fw), e) << (i * width)
			}
			t.r[dst] = r
		}}
	}
	// Scalars: the first operand goes to the upper place.
	var elems []operand
	if n == 4 {
		elems = d.srcs("a")
	} else {
		elems = []operand{d.src("a"), d.src("b")}
	}
	rbits := d.srcOr("rbits", 0)
	return step{lane: func(t *thread) {
		var r uint64
		random := rbits.get(t)
		for i := range elems {
			place := n - 1 - i
			ev := e
			if e.Mode == softfloat.RS {
				ev.Rand, ev.RandBits = randomPart(to, random, place, n)
			}
			r |= conv(elems[i].get(t), ev) << (place * width)
		}
		t.r[dst] = r
	}}
}

// randomPart is which of the 32 random bits an element of a .rs conversion uses, and how many.
// unrecorded: pairs of 16-bit results take 13 (f16) or 16 (bf16) bits from each half; quadruples share one half for two.
func randomPart(to *softfloat.Format, random uint64, place, n int) (uint32, uint) {
	half := uint32(random >> (16 * (place & 1)) & 0xffff)
	if n == 4 {
		half = uint32(random >> (16 * (place >> 1)) & 0xffff)
	}
	used := uint(23) - to.Frac
	if used > 16 {
		used = 16
	}
	return half & uint32(mask(int(used))), used
}

// decodeCvtPack saturates two integers and packs them, above c shifted up where there is a c.
func decodeCvtPack(d *decoder) step {
	dt, at := d.in.Type("dtype"), d.in.Type("atype")
	w := dt.Bits()
	dst, a, b, c := d.dst("d"), d.src("a"), d.src("b"), d.srcOr("c", 0)
	return step{lane: func(t *thread) {
		lo, hi := saturateInt(dt, at, b.get(t)), saturateInt(dt, at, a.get(t))
		t.r[dst] = (c.get(t)<<(2*w) | hi<<w | lo) & 0xffffffff
	}}
}
