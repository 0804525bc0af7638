package pass

import (
	"encoding/binary"

	"kudzu/internal/ir"
)

// pattern is how an affine value differs from lane 0: s × (lane mod seg) + ss × (lane div seg); seg 0: s × lane. What cannot be said so
// is a table: 32 numbers of 8 bytes, in a string so that patterns compare.
type pattern struct {
	s   int64
	seg int
	ss  int64
	tab string
}

func (p pattern) at(lane int) int64 {
	switch {
	case p.tab != "":
		return int64(binary.LittleEndian.Uint64([]byte(p.tab[8*lane : 8*lane+8])))
	case p.seg == 0:
		return p.s * int64(lane)
	}
	return p.s*int64(lane%p.seg) + p.ss*int64(lane/p.seg)
}

func (p pattern) zero() bool { return p.s == 0 && p.ss == 0 && p.tab == "" }

// norm writes one pattern one way.
func (p pattern) norm(width int) pattern {
	if p.tab != "" {
		return p // made by tabled, which has looked
	}
	if p.seg >= width {
		p.seg, p.ss = 0, 0
	}
	if p.seg != 0 && p.ss == p.s*int64(p.seg) {
		p.seg, p.ss = 0, 0
	}
	if p.zero() {
		return pattern{}
	}
	return p
}

// tabled is the pattern that gives lane l what f does, in the simplest form there is. f(0) is 0.
func tabled(f func(lane int) int64) pattern {
	for seg := 32; seg >= 2; seg /= 2 {
		p := pattern{s: f(1), seg: seg}
		if seg < 32 {
			p.ss = f(seg)
		}
		same := true
		for l := 0; l < 32 && same; l++ {
			same = p.at(l) == f(l)
		}
		if same {
			return p.norm(32)
		}
	}
	b := make([]byte, 0, 256)
	for l := 0; l < 32; l++ {
		b = binary.LittleEndian.AppendUint64(b, uint64(f(l)))
	}
	return pattern{tab: string(b)}
}

func (p pattern) widen(seg int) pattern {
	if p.seg == 0 && seg != 0 {
		return pattern{s: p.s, seg: seg, ss: p.s * int64(seg)}
	}
	return p
}

// add is p + k × q.
func (p pattern) add(q pattern, k int64) pattern {
	if p.tab == "" && q.tab == "" {
		x, y := p.widen(q.seg), q.widen(p.seg)
		if x.seg == y.seg {
			return pattern{s: x.s + k*y.s, seg: x.seg, ss: x.ss + k*y.ss}
		}
	}
	return tabled(func(l int) int64 { return p.at(l) + k*q.at(l) })
}

// wrapped is a pattern of values of w bits, which differ by its steps modulo 2^w.
func (p pattern) wrapped(w int) pattern {
	if w >= 64 {
		return p
	}
	cut := func(n int64) int64 { return n << (64 - w) >> (64 - w) }
	if p.tab != "" {
		return tabled(func(l int) int64 { return cut(p.at(l)) })
	}
	p.s, p.ss = cut(p.s), cut(p.ss)
	return p
}

func (p pattern) bounds(width int) (lo, hi int64) {
	for l := 0; l < width; l++ {
		lo, hi = min(lo, p.at(l)), max(hi, p.at(l))
	}
	return lo, hi
}

// step is the largest power of two that all lanes differ from lane 0 by multiples of; 0: they do not differ.
func (p pattern) step(width int) int64 {
	var all int64
	for l := 0; l < width; l++ {
		all |= p.at(l)
	}
	return all & -all
}

// table is the pattern as the emitter reads it where it is one.
func (p pattern) table() *[32]int64 {
	if p.tab == "" {
		return nil
	}
	var t [32]int64
	for l := range t {
		t[l] = p.at(l)
	}
	return &t
}

// bitwise is the pattern of an operation with a constant that works on each bit, or shifts right, where lane 0 starts an aligned
// stretch that all lanes lie in: the bits above are the same in all lanes, those below are what the pattern says.
func (a *shapeAnalysis) bitwise(in *ir.Inst, x fact, c int64) (p pattern, ok bool) {
	lo, hi := x.pat.bounds(32)
	if a.width != 32 || x.kind != ir.Affine || lo < 0 || hi >= int64(x.align) {
		return pattern{}, false
	}
	low := int64(x.align) - 1
	f := func(t int64) int64 { return 0 }
	switch in.Op {
	case ir.And:
		f = func(t int64) int64 { return t & c }
	case ir.Or:
		f = func(t int64) int64 { return t | c&low }
	case ir.Xor:
		f = func(t int64) int64 { return t ^ c&low }
	case ir.ShrU, ir.ShrS:
		if c < 0 || c > 62 {
			return pattern{}, false
		}
		f = func(t int64) int64 { return t >> c }
	default:
		return pattern{}, false
	}
	return tabled(func(l int) int64 { return f(x.pat.at(l)) - f(0) }), true
}
