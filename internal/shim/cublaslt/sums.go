package cublaslt

import (
	"math"

	"kudzu/internal/shim/cublas"
)

// factor is alpha or beta, which may be a vector along D.
type factor struct {
	*cublas.Operand
	vector, columns bool
}

func (f factor) at(i, j int64) complex128 {
	switch {
	case !f.vector:
		return f.At(0, 0, 0)
	case f.columns:
		return f.At(0, j, 0)
	}
	return f.At(0, i, 0)
}

// sums is a product with what follows it, done again: kernels/epilogue.cu in plain Go.
func (p *plan) sums(alpha, beta cublas.Scalar, flags uint32) *cublas.Sum {
	along := p.m
	if p.turned {
		along = p.n
	}
	factorOf := func(s cublas.Scalar, vector bool) factor {
		f := factor{s.Operand(), vector, p.turned}
		if vector {
			f.Operand = &cublas.Operand{Base: s.At, Down: 1, Rows: along, Cols: 1, Elem: s.Type}
		}
		return f
	}
	fa, fb := factorOf(alpha, flags&flagAlphaVector != 0), factorOf(beta, flags&flagBetaVector != 0)
	a, b := p.a.Stored(p.m, p.k, p.ab), p.b.Stored(p.k, p.n, p.ab)
	c, d := cublas.Matrix(p.c, p.m, p.n, p.out), cublas.Matrix(p.d, p.m, p.n, p.out)
	if p.k == 0 {
		a.Rows, b.Rows = 0, 0
	}
	if beta.IsZero() && !fb.vector {
		c.Rows = 0
	}
	s := &cublas.Sum{Library: "cuBLASLt", What: cublas.Report("matmul", p.ab, p.m, p.n, p.k), Batch: p.batch, Kind: p.sum, Steps: float64(p.m) * float64(p.n) * float64(p.k),
		Operands: []*cublas.Operand{fa.Operand, fb.Operand, a, b, c}, Outs: 1}
	if p.sum == cublas.S32 && p.out != cublas.S32 {
		s.Kind = cublas.F32
	}
	var scales [4]*cublas.Operand
	for i, at := range p.scales {
		if scales[i] = (cublas.Scalar{Re: 1}).Operand(); at != 0 && p.out != cublas.S32 { // scales are for floating point
			scales[i] = (cublas.Scalar{At: at, Type: cublas.F32}).Operand()
		}
		s.Operands = append(s.Operands, scales[i])
	}
	bias := &cublas.Operand{Base: p.bias, Stride: int64(p.biasStride), Down: 1, Rows: along, Cols: 1, Elem: p.biasType}
	if p.bias != 0 {
		s.Operands = append(s.Operands, bias)
	}
	var aux *cublas.Operand
	switch {
	case p.aux == 0:
	case p.bits: // whole words of 32 rows
		aux = &cublas.Operand{Base: p.aux, Stride: int64(p.auxStride / 8), Down: 1, Right: int64(p.auxLD / 8), Rows: (p.m + 31) / 32 * 4, Cols: p.n, Elem: cublas.S8}
	default:
		aux = &cublas.Operand{Base: p.aux, Stride: int64(p.auxStride), Down: 1, Right: int64(p.auxLD), Rows: p.m, Cols: p.n, Elem: p.out}
	}
	var grad *cublas.Operand
	switch {
	case p.act >= 3: // aux is read
		s.Operands = append(s.Operands, aux, d)
		if p.grad == gradD && (p.batch == 1 || p.biasStride != 0) {
			grad = &cublas.Operand{Base: p.gradAt, Stride: int64(p.biasStride), Down: 1, Rows: p.m, Cols: 1, Elem: p.biasType}
			s.Operands, s.Outs = append(s.Operands, grad), 2
		}
	case aux != nil:
		s.Operands, s.Outs = append(s.Operands, d, aux), 2
	default:
		s.Operands = append(s.Operands, d)
	}
	before := func(n, i, j int64) cublas.Number { // the activation
		r := cublas.Number{N: p.k + 4}
		if f := fa.at(i, j); f != 0 {
			for l := range p.k {
				r.Add(cublas.Mul(cublas.Entry(p.a.Op, i, l, func(i, j int64) complex128 { return a.At(n, i, j) }),
					cublas.Entry(p.b.Op, l, j, func(i, j int64) complex128 { return b.At(n, i, j) })))
			}
			r.Times(cublas.Mul(f, cublas.Mul(scales[0].At(0, 0, 0), scales[1].At(0, 0, 0))))
		}
		if f := fb.at(i, j); f != 0 && c.Rows > 0 {
			r.Add(cublas.Mul(cublas.Mul(f, scales[2].At(0, 0, 0)), c.At(n, i, j)))
		}
		if p.bias != 0 {
			k := i
			if p.turned {
				k = j
			}
			r.Add(bias.At(n, k, 0))
		}
		return r
	}
	after := func(n, i, j int64) cublas.Number { // what D gets, but for its scale
		r := before(n, i, j)
		switch v := real(r.V); {
		case p.act == 1 && !(v > 0 || math.IsNaN(v)):
			r.V = 0
		case p.act == 2: // its slope is at most 1.13; 16 units are those of ex2.approx and of the division
			r.V, r.Size, r.Slack = complex(v/2*(1+math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v))), 0), 1.13*r.Size, 16*0x1p-23*math.Abs(v)
		case p.act == 3 && uint8(int8(real(aux.At(n, i/8, j))))>>(i%8)&1 == 0:
			return cublas.Number{N: r.N}
		case p.act == 4:
			r.Times(complex(slope(real(aux.At(n, i, j))), 0))
			r.Slack = 64 * 0x1p-23 * math.Abs(v)
		}
		return r
	}
	s.Number = func(o *cublas.Operand, n, i, j int64) cublas.Number {
		switch {
		case o == aux && p.bits:
			return p.mask(n, i, j, before)
		case o == aux:
			return before(n, i, j)
		case o == grad:
			g := cublas.Number{N: p.k + p.n + 4}
			for j := range p.n {
				r := after(n, i, j)
				g.V, g.Size, g.Slack = g.V+r.V, g.Size+r.Size, g.Slack+r.Slack
			}
			return g
		}
		r := after(n, i, j)
		r.Times(scales[3].At(0, 0, 0))
		if p.out == cublas.S8 {
			v := real(r.V)
			if _, part := math.Modf(math.Abs(v)); math.Abs(part-0.5) < 1e-3 { // it may be rounded either way
				r.Slack = 1
			}
			r.V, r.Size = complex(min(max(math.RoundToEven(v), -128), 127), 0), 0
		}
		return r
	}
	return s
}

// mask is byte i of the bits of column j.
func (p *plan) mask(n, i, j int64, before func(n, i, j int64) cublas.Number) cublas.Number {
	bits, open := uint8(0), uint8(0)
	for k := range int64(8) {
		if row := i*8 + k; row < p.m {
			r := before(n, row, j)
			if v := real(r.V); v > 0 || math.IsNaN(v) {
				bits |= 1 << k
			}
			if math.Abs(real(r.V)) <= 2*float64(r.N)*0x1p-23*r.Size { // the order of sums decides
				open |= 1 << k
			}
		}
	}
	return cublas.Number{V: complex(float64(int8(bits)), 0), Open: open}
}
