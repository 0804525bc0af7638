package cufft

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/cmplx"

	"kudzu/internal/shim/again"
	"kudzu/internal/softfloat"
)

// stored is how numbers lie in memory.
type stored struct {
	bytes             int
	unit, least, most float64
	decode            func(b []byte) float64
	round             func(v float64) float64
}

func half16(f *softfloat.Format, unit, least, most float64) stored {
	decode := func(bits uint64) float64 {
		return math.Float64frombits(f.Convert(softfloat.F64, bits, softfloat.Env{}))
	}
	return stored{2, unit, least, most, func(b []byte) float64 { return decode(uint64(binary.LittleEndian.Uint16(b))) },
		func(v float64) float64 { return decode(softfloat.F64.Convert(f, math.Float64bits(v), softfloat.Env{})) }}
}

var storedAs = map[string]stored{
	"f16": half16(softfloat.F16, 0x1p-10, 0x1p-24, 65504), "bf16": half16(softfloat.BF16, 0x1p-7, 0x1p-133, math.MaxFloat32),
	"f32": {4, 0x1p-23, 0x1p-149, math.MaxFloat32, func(b []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))) },
		func(v float64) float64 { return float64(float32(v)) }},
	"f64": {8, 0x1p-52, 0x1p-1074, math.MaxFloat64, func(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) },
		func(v float64) float64 { return v }},
}

// visit calls f for every number of a batch's transform: its place in rows without gaps, and where the layout has it.
func (l *layout) visit(extents []uint64, b uint64, f func(i uint64, at int64)) {
	total := uint64(1)
	for _, n := range extents {
		total *= n
	}
	for i := range total {
		at, rest := int64(b)*l.dist, i
		for a := len(extents) - 1; a >= 0; a-- {
			at += int64(rest%extents[a]) * l.strides[a]
			rest /= extents[a]
		}
		f(i, at)
	}
}

// span is the memory that numbers of a layout take.
func (l *layout) span(base uint64, extents []uint64, batch uint64, width int) (at, bytes uint64) {
	low, high := int64(0), int64(0)
	reach := func(d int64) { low, high = low+min(d, 0), high+max(d, 0) }
	for i, n := range extents {
		reach(int64(n-1) * l.strides[i])
	}
	reach(int64(batch-1) * l.dist)
	return base + uint64(low*int64(width)), uint64(high-low+1) * uint64(width)
}

// again is a transform, done again by its definition.
func (p *plan) again(f form, in, out uint64, inverse bool) *again.Call {
	g, kind, as := &p.geometry, p.types.kind, storedAs[p.types.storage]
	if f.inPlace {
		g = g.inPlace(kind == toRealKind)
	}
	from, to, widthIn, widthOut := g.n, g.n, 2*as.bytes, 2*as.bytes
	switch kind {
	case fromRealKind:
		to, widthIn = g.half(), as.bytes
	case toRealKind:
		from, widthOut = g.half(), as.bytes
	}
	total, _ := g.total()
	c := &again.Call{Library: "cuFFT", What: fmt.Sprintf("exec %s kind %d %v × %d", p.types.storage, kind, g.n, g.batch), Axes: "transform number", Steps: float64(total)}
	for _, n := range g.n {
		c.Steps += float64(total) * float64(radixes(n))
	}
	c.Spans = func(*again.Lists) []again.Span {
		list := make([]again.Span, 2)
		list[0].At, list[0].Bytes = g.in.span(in, from, g.batch, widthIn)
		list[1].At, list[1].Bytes = g.out.span(out, to, g.batch, widthOut)
		list[0].Unit, list[1].Unit, list[1].Out = as.bytes, as.bytes, true
		return list
	}
	number := func(b []byte, width int) complex128 {
		if width == as.bytes {
			return complex(as.decode(b), 0)
		}
		return complex(as.decode(b), as.decode(b[as.bytes:]))
	}
	c.Check = func(m *again.Memory) {
		for b := range g.batch {
			x := make([]complex128, count(from))
			norm := 0.0
			g.in.visit(from, b, func(i uint64, at int64) {
				x[i] = number(m.Before(in+uint64(at*int64(widthIn)), uint64(widthIn)), widthIn)
				norm = math.Hypot(norm, cmplx.Abs(x[i]))
			})
			y := defined(x, g.n, from, to, kind, inverse)
			bound := 8 * 0x1p-23 * (math.Log2(float64(count(g.n)))/2 + 4) * norm
			if p.types.storage == "f64" {
				bound *= 0x1p-29
			}
			g.out.visit(to, b, func(i uint64, at int64) {
				got := number(m.Now(out+uint64(at*int64(widthOut)), uint64(widthOut)), widthOut)
				want := y[i]
				if widthOut == as.bytes {
					want = complex(real(want), 0)
				}
				want = complex(as.round(real(want)), as.round(imag(want)))
				m.Compare(got, want, bound+2*as.unit*(math.Abs(real(want))+math.Abs(imag(want)))+as.least, as.most, int64(b), int64(i))
			})
		}
	}
	return c
}

func count(n []uint64) uint64 {
	t := uint64(1)
	for _, v := range n {
		t *= v
	}
	return t
}

// defined is the transform of a tensor by its definition. Half a spectrum stands for the whole: other axes first, then rows whose other half is
// the mirrored one.
func defined(x []complex128, full, from, to []uint64, kind kind, inverse bool) []complex128 {
	last := len(full) - 1
	for a := range last {
		along(x, from, a, inverse)
	}
	rows := count(full[:last])
	out := make([]complex128, rows*to[last])
	line := make([]complex128, full[last])
	for r := range rows {
		row := x[r*from[last]:][:from[last]]
		for k := range line {
			switch j := uint64(k); {
			case j < from[last]:
				line[k] = row[j]
			default:
				line[k] = cmplx.Conj(row[full[last]-j])
			}
			if kind == toRealKind && (k == 0 || 2*uint64(k) == full[last]) {
				line[k] = complex(real(line[k]), 0)
			}
		}
		copy(out[r*to[last]:][:to[last]], dft(line, inverse))
	}
	return out
}

// along transforms one axis in place.
func along(x []complex128, extents []uint64, axis int, inverse bool) {
	n, inner := extents[axis], count(extents[axis+1:])
	line := make([]complex128, n)
	for o := range count(extents[:axis]) {
		for i := range inner {
			for k := range n {
				line[k] = x[(o*n+k)*inner+i]
			}
			for k, v := range dft(line, inverse) {
				x[(o*n+uint64(k))*inner+i] = v
			}
		}
	}
}

// radixes is the sum of the prime factors.
func radixes(n uint64) (s uint64) {
	for r := uint64(2); n > 1; r++ {
		for ; n%r == 0; n /= r {
			s += r
		}
	}
	return s
}

// dft is the sum over exp(∓2πi jk/n), split by the least factor.
func dft(x []complex128, inverse bool) []complex128 {
	n := uint64(len(x))
	if n == 1 {
		return []complex128{x[0]}
	}
	r := uint64(2)
	for n%r != 0 {
		r++
	}
	parts := make([][]complex128, r)
	for q := range r {
		parts[q] = make([]complex128, n/r)
		for i := range parts[q] {
			parts[q][i] = x[uint64(i)*r+q]
		}
		if r < n {
			parts[q] = dft(parts[q], inverse)
		}
	}
	sign := -2 * math.Pi
	if inverse {
		sign = -sign
	}
	roots := make([]complex128, n)
	for i := range roots {
		s, c := math.Sincos(sign * float64(i) / float64(n))
		roots[i] = complex(c, s)
	}
	out := make([]complex128, n)
	for k := range n {
		for q := range r {
			out[k] += parts[q][k%(n/r)] * roots[q*k%n]
		}
	}
	return out
}
