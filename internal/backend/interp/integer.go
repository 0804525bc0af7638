package interp

import (
	"math"
	"math/bits"

	"kudzu/internal/ptx/isa"
)

// byClass decodes with one function for floating-point types and another for integers.
func byClass(integer, float decodeFn) decodeFn {
	return func(d *decoder) step {
		if d.anyType().OfFloats() {
			return float(d)
		}
		return integer(d)
	}
}

// anyType is the type, or the destination's where there are several.
func (d *decoder) anyType() isa.Type {
	if t := d.typ(); t != isa.TypeNone {
		return t
	}
	return d.in.Type("dtype")
}

// intBin is d = f(a, b) on integers of the instruction's type, packed or not; f's result is cut to the type.
func (d *decoder) intBin(f func(t isa.Type) func(a, b uint64) uint64) step {
	one, n := d.typ().Elem()
	g, w := f(one), one.Bits()
	m := mask(w)
	if n == 1 {
		return d.bin(func(a, b uint64) uint64 { return g(a, b) & m })
	}
	return d.bin(func(a, b uint64) uint64 {
		var r uint64
		for i := range n {
			r |= g(a>>(i*w)&m, b>>(i*w)&m) & m << (i * w)
		}
		return r
	})
}

// clamp32 saturates to s32.
func clamp32(v int64) uint64 {
	return uint64(uint32(int32(min(max(v, -1<<31), 1<<31-1))))
}

// number is a value of an integer type of at most 32 bits.
func number(t isa.Type, v uint64) int64 {
	if t.IsSigned() {
		return signed(v, t.Bits())
	}
	return int64(v)
}

// saturating is an operation whose exact result is clamped to the type.
func saturating(op func(a, b int64) int64) func(t isa.Type) func(a, b uint64) uint64 {
	return func(t isa.Type) func(a, b uint64) uint64 {
		return func(a, b uint64) uint64 {
			return uint64(clampTo(t.IsSigned(), t.Bits(), op(number(t, a), number(t, b))))
		}
	}
}

func decodeIntAdd(d *decoder) step {
	if d.has(isa.ModSat) {
		return d.intBin(saturating(addInt))
	}
	return d.intBin(func(isa.Type) func(a, b uint64) uint64 { return func(a, b uint64) uint64 { return a + b } })
}

func decodeIntSub(d *decoder) step {
	if d.has(isa.ModSat) {
		return d.intBin(saturating(subInt))
	}
	return d.intBin(func(isa.Type) func(a, b uint64) uint64 { return func(a, b uint64) uint64 { return a - b } })
}

// product is the double-width product of two values of type t: its low and high halves, each of t's width.
func product(t isa.Type, a, b uint64) (hi, lo uint64) {
	w := t.Bits()
	if w == 64 {
		hi, lo = bits.Mul64(a, b)
		if t.IsSigned() {
			if int64(a) < 0 {
				hi -= b
			}
			if int64(b) < 0 {
				hi -= a
			}
		}
		return hi, lo
	}
	var p uint64
	if t.IsSigned() {
		p = uint64(signed(a, w) * signed(b, w))
	} else {
		p = a * b
	}
	return p >> w & mask(w), p & mask(w)
}

// part picks what the mode of mul and mad asks for: .lo, .hi or .wide.
func (d *decoder) part() func(a, b uint64) uint64 {
	t := d.typ()
	w := t.Bits()
	switch {
	case d.has(isa.ModWide):
		return func(a, b uint64) uint64 { hi, lo := product(t, a, b); return hi<<w | lo }
	case d.has(isa.ModHi):
		return func(a, b uint64) uint64 { hi, _ := product(t, a, b); return hi }
	}
	return func(a, b uint64) uint64 { _, lo := product(t, a, b); return lo }
}

// resultMask is the width of d: twice the type's with .wide.
func (d *decoder) resultMask() uint64 {
	w := d.typ().Bits()
	if d.has(isa.ModWide) {
		w *= 2
	}
	return mask(w)
}

func decodeIntMul(d *decoder) step { return d.bin(d.part()) }

func decodeIntMad(d *decoder) step {
	part := d.part()
	if d.has(isa.ModSat) { // mad.hi.sat.s32
		return d.tern(func(a, b, c uint64) uint64 { return clamp32(signed(part(a, b), 32) + signed(c, 32)) })
	}
	m := d.resultMask()
	return d.tern(func(a, b, c uint64) uint64 { return (part(a, b) + c) & m })
}

// part24 is the 48-bit product of 24-bit values: its low 32 bits, or its upper 32.
func (d *decoder) part24() func(a, b uint64) uint64 {
	sign, hi := d.typ().IsSigned(), d.has(isa.ModHi)
	return func(a, b uint64) uint64 {
		a, b = a&0xffffff, b&0xffffff
		if sign {
			a, b = uint64(signed(a, 24)), uint64(signed(b, 24))
		}
		p := a * b
		if hi {
			p >>= 16
		}
		return p & 0xffffffff
	}
}

// decodeClmad is half of the product of polynomials over two elements, plus c: sums without carry.
func decodeClmad(d *decoder) step {
	high := d.has(isa.ModHi)
	return d.tern(func(a, b, c uint64) uint64 { return clmad(a, b, c, high) })
}

func clmad(a, b, c uint64, high bool) uint64 {
	for i := range 64 {
		switch {
		case b>>i&1 == 0:
		case !high:
			c ^= a << i
		case i > 0:
			c ^= a >> (64 - i)
		}
	}
	return c
}

func decodeMul24(d *decoder) step { return d.bin(d.part24()) }

func decodeMad24(d *decoder) step {
	part := d.part24()
	if d.has(isa.ModSat) {
		return d.tern(func(a, b, c uint64) uint64 { return clamp32(signed(part(a, b), 32) + signed(c, 32)) })
	}
	return d.tern(func(a, b, c uint64) uint64 { return (part(a, b) + c) & 0xffffffff })
}

// less orders two values of an integer type.
func less(t isa.Type, a, b uint64) bool {
	if t.IsSigned() {
		return signed(a, t.Bits()) < signed(b, t.Bits())
	}
	return a < b
}

func decodeSad(d *decoder) step {
	t := d.typ()
	m := mask(t.Bits())
	return d.tern(func(a, b, c uint64) uint64 {
		if less(t, a, b) {
			a, b = b, a
		}
		return (c + a - b) & m
	})
}

// divide is a/b and a%b. A zero divisor gives all ones for both (recorded; the manual leaves it open); the most negative
// value over -1 wraps.
func divide(t isa.Type, a, b uint64) (q, r uint64) {
	w := t.Bits()
	if b == 0 {
		return mask(w), mask(w)
	}
	if t.IsSigned() {
		x, y := signed(a, w), signed(b, w)
		if y == -1 {
			return uint64(-x) & mask(w), 0
		}
		return uint64(x/y) & mask(w), uint64(x%y) & mask(w)
	}
	return a / b, a % b
}

func decodeIntDiv(d *decoder) step {
	t := d.typ()
	return d.bin(func(a, b uint64) uint64 { q, _ := divide(t, a, b); return q })
}

func decodeRem(d *decoder) step {
	t := d.typ()
	return d.bin(func(a, b uint64) uint64 { _, r := divide(t, a, b); return r })
}

func decodeIntAbs(d *decoder) step {
	w := d.typ().Bits()
	return d.un(func(a uint64) uint64 {
		if signed(a, w) < 0 {
			return -a & mask(w)
		}
		return a
	})
}

func decodeIntNeg(d *decoder) step {
	one, n := d.typ().Elem()
	w := one.Bits()
	m := mask(w)
	return d.un(func(a uint64) uint64 {
		var r uint64
		for i := range n {
			r |= -(a >> (i * w)) & m << (i * w)
		}
		return r
	})
}

func decodeIntMin(d *decoder) step {
	return d.intPick(func(t isa.Type, a, b uint64) bool { return less(t, a, b) })
}
func decodeIntMax(d *decoder) step {
	return d.intPick(func(t isa.Type, a, b uint64) bool { return less(t, b, a) })
}

func (d *decoder) intPick(first func(t isa.Type, a, b uint64) bool) step {
	relu := d.has(isa.ModRelu)
	return d.intBin(func(t isa.Type) func(a, b uint64) uint64 {
		return func(a, b uint64) uint64 {
			if !first(t, a, b) {
				a = b
			}
			if relu && signed(a, t.Bits()) < 0 {
				return 0
			}
			return a
		}
	})
}

func decodePopc(d *decoder) step {
	return d.un(func(a uint64) uint64 { return uint64(bits.OnesCount64(a)) })
}

func decodeClz(d *decoder) step {
	w := d.typ().Bits()
	return d.un(func(a uint64) uint64 { return uint64(bits.LeadingZeros64(a) - (64 - w)) })
}

// decodeBfind finds the highest bit that differs from the sign.
func decodeBfind(d *decoder) step {
	t := d.typ()
	w, amount := t.Bits(), d.has(isa.ModShiftamt)
	return d.un(func(a uint64) uint64 {
		if t.IsSigned() && signed(a, w) < 0 {
			a = ^a & mask(w)
		}
		if a == 0 {
			return 0xffffffff
		}
		at := bits.Len64(a) - 1
		if amount {
			at = w - 1 - at
		}
		return uint64(at)
	})
}

// decodeFns follows the manual's loop.
func decodeFns(d *decoder) step {
	dst, set, base, offset := d.dst("d"), d.src("mask"), d.src("base"), d.src("offset")
	return step{lane: func(t *thread) {
		t.r[dst] = findNth(set.get(t), signed(base.get(t), 32), signed(offset.get(t), 32))
	}}
}

func findNth(set uint64, pos, offset int64) uint64 {
	if offset == 0 {
		if pos >= 0 && pos < 32 && set>>pos&1 == 1 {
			return uint64(pos)
		}
		return 0xffffffff
	}
	inc, count := int64(1), offset-1
	switch {
	case offset == math.MinInt32: // its negative is itself, and the assembler's search ends at the last place
		return 0
	case offset < 0:
		inc, count = -1, -offset-1
	}
	for ; pos >= 0 && pos < 32; pos += inc {
		if set>>pos&1 == 1 {
			if count == 0 {
				return uint64(pos)
			}
			count--
		}
	}
	return 0xffffffff
}

func decodeBrev(d *decoder) step {
	w := d.typ().Bits()
	return d.un(func(a uint64) uint64 { return bits.Reverse64(a) >> (64 - w) })
}

// field is a position or length of a bit field: of 32-bit values its low byte; of 64-bit values, whose instructions are
// subroutines on hardware, the whole number (recorded).
func field(w, v uint64) uint64 {
	if w == 32 {
		return v & 0xff
	}
	return v
}

// decodeBfe extracts len bits at pos, filling with the sign of the field, or of the value where the field passes its end.
func decodeBfe(d *decoder) step {
	t := d.typ()
	w := uint64(t.Bits())
	return d.tern(func(a, b, c uint64) uint64 {
		pos, length := field(w, b), field(w, c)
		var v uint64
		if pos < w {
			v = a >> pos
		}
		if length < w {
			v &= mask(int(length))
		}
		if t.IsSigned() && length > 0 && a>>min(pos+length-1, w-1)&1 == 1 {
			filled := min(length, w-min(pos, w)) // bits of v that came from a
			v |= ^uint64(0) << filled
		}
		return v & mask(int(w))
	})
}

func decodeBfi(d *decoder) step {
	w := uint64(d.typ().Bits())
	dst, a, b, c, n := d.dst("f"), d.src("a"), d.src("b"), d.src("c"), d.src("d")
	return step{lane: func(t *thread) {
		pos, length := field(w, c.get(t)), field(w, n.get(t))
		v := b.get(t)
		if pos < w {
			m := mask(int(min(length, 64))) << pos & mask(int(w))
			v = v&^m | a.get(t)<<pos&m
		}
		t.r[dst] = v
	}}
}

func decodeSzext(d *decoder) step {
	sign, wrap := d.typ().IsSigned(), d.has(isa.ModWrap)
	return d.bin(func(a, b uint64) uint64 {
		n := int(min(b, 32))
		if wrap {
			n = int(b & 31)
		}
		if n == 0 {
			return 0
		}
		if sign {
			return uint64(signed(a, n)) & 0xffffffff
		}
		return a & mask(n)
	})
}

func decodeBmsk(d *decoder) step {
	wrap := d.has(isa.ModWrap)
	return d.bin(func(a, b uint64) uint64 {
		if wrap {
			a, b = a&31, b&31
		} else {
			a, b = min(a, 32), min(b, 32)
		}
		return mask(int(b)) << a & 0xffffffff
	})
}

// lanes splits a into values of width w, signed if the type is.
func lanes(t isa.Type, v uint64, w, n int) []int64 {
	list := make([]int64, n)
	for i := range list {
		x := v >> (i * w) & mask(w)
		if t.IsSigned() {
			list[i] = signed(x, w)
		} else {
			list[i] = int64(x)
		}
	}
	return list
}

func dot(c uint64, a, b []int64) uint64 {
	for i := range a {
		c += uint64(a[i] * b[i])
	}
	return c & 0xffffffff
}

func decodeDp4a(d *decoder) step {
	at, bt := d.in.Type("atype"), d.in.Type("btype")
	return d.tern(func(a, b, c uint64) uint64 { return dot(c, lanes(at, a, 8, 4), lanes(bt, b, 8, 4)) })
}

func decodeDp2a(d *decoder) step {
	at, bt := d.in.Type("atype"), d.in.Type("btype")
	shift := 0
	if d.has(isa.ModHi) {
		shift = 16
	}
	return d.tern(func(a, b, c uint64) uint64 { return dot(c, lanes(at, a, 16, 2), lanes(bt, b>>shift, 8, 2)) })
}

// Extended precision: CC.CF is t.carry, 0 or 1, written where the op or .cc says so. A subtraction adds the complement, so that it
// leaves 1 where nothing was borrowed; the manual says the reverse, which only a sub.cc followed by an addc can see (recorded).

func (d *decoder) carryOut() bool {
	switch d.in.Op() {
	case isa.AddCC, isa.SubCC, isa.MadCC:
		return true
	}
	return d.has(isa.ModCc)
}

// addCarry is a+b+c in width w with the carry out.
func addCarry(w int, a, b, c uint64) (sum, out uint64) {
	if w == 64 {
		return bits.Add64(a, b, c)
	}
	s := a + b + c
	return s & mask(w), s >> w & 1
}

func decodeAddCarry(d *decoder) step {
	w, out, in := d.typ().Bits(), d.carryOut(), d.in.Op() == isa.Addc
	dst, a, b := d.dst("d"), d.src("a"), d.src("b")
	return step{lane: func(t *thread) {
		c := uint64(0)
		if in {
			c = t.carry
		}
		v, carry := addCarry(w, a.get(t), b.get(t), c)
		t.r[dst] = v
		if out {
			t.carry = carry
		}
	}}
}

func decodeSubBorrow(d *decoder) step {
	w, out, in := d.typ().Bits(), d.carryOut(), d.in.Op() == isa.Subc
	dst, a, b := d.dst("d"), d.src("a"), d.src("b")
	return step{lane: func(t *thread) {
		c := uint64(1)
		if in {
			c = t.carry
		}
		v, carry := addCarry(w, a.get(t), ^b.get(t)&mask(w), c)
		t.r[dst] = v
		if out {
			t.carry = carry
		}
	}}
}

func decodeMadCarry(d *decoder) step {
	w, out, in := d.typ().Bits(), d.carryOut(), d.in.Op() == isa.Madc
	part := d.part()
	dst, a, b, c := d.dst("d"), d.src("a"), d.src("b"), d.src("c")
	return step{lane: func(t *thread) {
		cf := uint64(0)
		if in {
			cf = t.carry
		}
		v, carry := addCarry(w, part(a.get(t), b.get(t)), c.get(t), cf)
		t.r[dst] = v
		if out {
			t.carry = carry
		}
	}}
}
