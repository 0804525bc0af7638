package interp

import (
	"kudzu/internal/ptx"
	"kudzu/internal/ptx/isa"
	"kudzu/internal/softfloat"
)

// atomicOp is old, b, c → new, where shared tells the memory it is in.
type atomicOp func(old, b, c uint64, shared bool) uint64

// atomicOf is the operation of atom, red and their relatives on one element of type t.
func (d *decoder) atomicOf(word isa.Mod, t isa.Type) atomicOp {
	if f := floatFormat(t); f != nil {
		return d.atomicFloat(word, f)
	}
	if one, n := t.Elem(); n == 2 && floatFormat(one) != nil {
		half := d.atomicFloat(word, floatFormat(one))
		return func(old, b, _ uint64, shared bool) uint64 {
			return halves2(func(x, y uint64) uint64 { return half(x, y, 0, shared) })(old, b)
		}
	}
	m := mask(t.Bits())
	switch word {
	case isa.ModAnd:
		return func(old, b, _ uint64, _ bool) uint64 { return old & b }
	case isa.ModOr:
		return func(old, b, _ uint64, _ bool) uint64 { return old | b }
	case isa.ModXor:
		return func(old, b, _ uint64, _ bool) uint64 { return old ^ b }
	case isa.ModExch:
		return func(_, b, _ uint64, _ bool) uint64 { return b }
	case isa.ModAdd:
		return func(old, b, _ uint64, _ bool) uint64 { return (old + b) & m }
	case isa.ModInc:
		return func(old, b, _ uint64, _ bool) uint64 {
			if old >= b {
				return 0
			}
			return old + 1
		}
	case isa.ModDec:
		return func(old, b, _ uint64, _ bool) uint64 {
			if old == 0 || old > b {
				return b
			}
			return old - 1
		}
	case isa.ModMin, isa.ModMax:
		return func(old, b, _ uint64, _ bool) uint64 {
			if less(t, b, old) == (word == isa.ModMin) {
				return b
			}
			return old
		}
	case isa.ModCas:
		return func(old, b, c uint64, _ bool) uint64 {
			if old == b {
				return c
			}
			return old
		}
	}
	d.bad("atomic operation %s of %s", word, t)
	return nil
}

// atomicFloat: f32 addition in global memory flushes subnormals, in shared memory it does not (PTX ISA, "atom").
func (d *decoder) atomicFloat(word isa.Mod, f *softfloat.Format) atomicOp {
	switch word {
	case isa.ModAdd:
		return func(old, b, _ uint64, shared bool) uint64 {
			if f.Propagates() && shared { // no unit of the memory, but an addition and a compare-and-swap
				return f.Add(b, old, softfloat.Env{})
			}
			if f.Propagates() { // the memory's unit does not make a NaN quiet: recorded
				for _, x := range [2]uint64{b, old} {
					if f.IsNaN(x) {
						return x
					}
				}
			}
			return f.Add(old, b, softfloat.Env{FTZ: f == softfloat.F32 && !shared})
		}
	case isa.ModMin:
		return func(old, b, _ uint64, _ bool) uint64 { return f.Min(old, b, softfloat.MinMax{}) }
	case isa.ModMax:
		return func(old, b, _ uint64, _ bool) uint64 { return f.Max(old, b, softfloat.MinMax{}) }
	case isa.ModExch:
		return func(_, b, _ uint64, _ bool) uint64 { return b }
	}
	d.bad("atomic operation %s of %s", word, f.Name)
	return nil
}

// atomic replaces a value in memory and returns the old one.
func (t *thread) atomic(space ptx.Space, addr, size uint64, op func(old uint64, shared bool) uint64) uint64 {
	if space == ptx.SpaceGeneric {
		space, addr = generic(addr)
		if space == ptx.SpaceShared {
			addr &= windowSize - 1
		}
	}
	m := t.mem(space, addr, size, size)
	if space == ptx.SpaceGlobal {
		return atomicHost(m, func(old uint64) uint64 { return op(old, false) })
	}
	old := load(m)
	store(m, op(old, true))
	return old
}

// decodeAtom is atom and red: scalars, packed pairs and vectors, whose elements are atomic each on its own.
func decodeAtom(d *decoder) step {
	t := d.typ()
	p := d.place("a", "space")
	if t == isa.B128 {
		return d.atom128(p)
	}
	n := d.vec()
	// The old value, and rounding, tell the order of blocks; integer reductions do not.
	if p.space != ptx.SpaceShared && (d.present("d") || floatFormat(t) != nil || n > 1) {
		d.u.ordered = true
	}
	op := d.atomicOf(d.in.Mod("op"), t)
	b := d.srcs("b")
	c := d.srcOr("c", 0)
	dst := make([]int32, n) // scratch where there is no d
	if d.present("d") {
		dst = d.dests("d")
	}
	size := uint64(t.Bytes())
	one, _ := t.Elem()
	rounds := d.in.Mod("op") == isa.ModAdd && floatFormat(one) != nil // what is too small to change the sum has a part in it
	return step{lane: func(t *thread) {
		at := p.at(t)
		if n > 1 {
			t.mem(p.space, at, size*uint64(n), size*uint64(n))
		}
		x := c.get(t)
		var vals [8]uint64
		for i := range b {
			vals[i] = b[i].get(t)
		}
		for i := range b {
			y, is := vals[i], uint64(0)
			was := t.atomic(p.space, at+uint64(i)*size, size, func(old uint64, shared bool) uint64 {
				is = op(old, y, x, shared)
				return is
			})
			if f := t.w.b.g.changed; f != nil && (rounds || was != is) {
				f(at+uint64(i)*size, size)
			}
			t.r[dst[i]] = was
		}
	}}
}

func (d *decoder) atom128(p place) step {
	d.u.ordered = true
	dst, b, c := d.dst("d"), d.src("b"), d.srcOr("c", 0)
	swap := d.in.Mod("op") == isa.ModExch
	return step{lane: func(t *thread) {
		x, y := b.get2(t), c.get2(t)
		old := atomicHost128(t.mem(p.space, p.at(t), 16, 16), func(old [2]uint64) [2]uint64 {
			switch {
			case swap:
				return x
			case old == x:
				return y
			}
			return old
		})
		t.r[dst], t.r[dst+1] = old[0], old[1]
	}}
}
