package interp

import "kudzu/internal/ptx/isa"

func decodeAnd(d *decoder) step { return d.bin(func(a, b uint64) uint64 { return a & b }) }
func decodeOr(d *decoder) step  { return d.bin(func(a, b uint64) uint64 { return a | b }) }
func decodeXor(d *decoder) step { return d.bin(func(a, b uint64) uint64 { return a ^ b }) }

func decodeNot(d *decoder) step {
	m := mask(d.typ().Bits())
	return d.un(func(a uint64) uint64 { return ^a & m })
}

func decodeCnot(d *decoder) step { return d.un(func(a uint64) uint64 { return bit(a == 0) }) }

// lop3 evaluates the table: bit (a,b,c) of it for every bit position.
func lop3(a, b, c uint64, lut uint64) uint64 {
	var r uint64
	for i := range 8 {
		if lut>>i&1 == 0 {
			continue
		}
		x, y, z := a, b, c
		if i&4 == 0 {
			x = ^x
		}
		if i&2 == 0 {
			y = ^y
		}
		if i&1 == 0 {
			z = ^z
		}
		r |= x & y & z
	}
	return r & 0xffffffff
}

// decodeLop3 is lop3; with .and/.or it also gives (d != 0) BOOL q.
func decodeLop3(d *decoder) step {
	dst, p := d.pair("d")
	a, b, c, lut := d.src("a"), d.src("b"), d.src("c"), d.src("immLut")
	if !d.present("q") {
		return step{lane: func(t *thread) { t.r[dst] = lop3(a.get(t), b.get(t), c.get(t), lut.get(t)) }}
	}
	q, join := d.src("q"), d.combine()
	return step{lane: func(t *thread) {
		z := q.get(t)
		v := lop3(a.get(t), b.get(t), c.get(t), lut.get(t))
		t.r[dst] = v
		t.r[p] = join(bit(v != 0), z)
	}}
}

// decodeShf shifts the pair b:a and keeps the upper (left) or lower (right) half.
func decodeShf(d *decoder) step {
	wrap, left := d.has(isa.ModWrap), d.has(isa.ModL)
	return d.tern(func(a, b, c uint64) uint64 {
		n := min(c, 32)
		if wrap {
			n = c & 31
		}
		v := b<<32 | a
		if left {
			return v << n >> 32
		}
		return v >> n & 0xffffffff
	})
}

// decodeShl: amounts past the width clamp to it.
func decodeShl(d *decoder) step {
	w := uint64(d.typ().Bits())
	m := mask(int(w))
	return d.bin(func(a, b uint64) uint64 { return a << min(b, w) & m })
}

func decodeShr(d *decoder) step {
	t := d.typ()
	w := t.Bits()
	if t.IsSigned() {
		return d.bin(func(a, b uint64) uint64 { return uint64(signed(a, w)>>min(b, 63)) & mask(w) })
	}
	return d.bin(func(a, b uint64) uint64 { return a >> min(b, 64) })
}

// decodePrmt picks bytes of b:a.
func decodePrmt(d *decoder) step {
	mode := d.in.Mod("mode")
	return d.tern(func(a, b, c uint64) uint64 {
		bytes := b<<32 | a
		if mode == 0 {
			var r uint64
			for i := range 4 {
				sel := c >> (4 * i) & 0xf
				v := bytes >> (8 * (sel & 7)) & 0xff
				if sel&8 != 0 { // replicate the sign
					v = uint64(signed(v, 8)>>7) & 0xff
				}
				r |= v << (8 * i)
			}
			return r
		}
		var r uint64
		for i, sel := range permute(mode, int(c&3)) {
			r |= bytes >> (8 * sel) & 0xff << (8 * i)
		}
		return r
	})
}

// permute is the manual's table of prmt's modes: which byte goes to each place, lowest first.
func permute(mode isa.Mod, c int) [4]int {
	switch mode {
	case isa.ModF4e:
		return [4]int{c, c + 1, c + 2, c + 3}
	case isa.ModB4e:
		return [4]int{c, (c + 7) & 7, (c + 6) & 7, (c + 5) & 7}
	case isa.ModRc8:
		return [4]int{c, c, c, c}
	case isa.ModEcl:
		return [4]int{max(0, c), max(1, c), max(2, c), 3}
	case isa.ModEcr:
		return [4]int{0, min(1, c), min(2, c), min(3, c)}
	default: // .rc16
		h := c & 1 * 2
		return [4]int{h, h + 1, h, h + 1}
	}
}
