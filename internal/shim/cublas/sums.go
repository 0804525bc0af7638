package cublas

import (
	"math"
	"math/cmplx"
	"sync/atomic"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// What calls of cuBLAS compute, number by number: the table by which they are done again.

var checkWith atomic.Pointer[Multiplier]

// CheckWith has m do the products again that it takes; nil: all are done in plain Go.
func CheckWith(m Multiplier) {
	if m == nil {
		checkWith.Store(nil)
		return
	}
	checkWith.Store(&m)
}

// Entry is element (i, j) of op of a matrix, as kernels/gemm.cu packs it.
func Entry(op Op, i, j int64, at func(i, j int64) complex128) complex128 {
	switch {
	case op == blas.CUBLAS_OP_N:
		return at(i, j)
	case op == blas.CUBLAS_OP_T:
		return at(j, i)
	case op == blas.CUBLAS_OP_C:
		return cmplx.Conj(at(j, i))
	case op == OpConjugate:
		return cmplx.Conj(at(i, j))
	case op >= opTriangle:
		row, col := i, j
		if op&triTurned != 0 {
			row, col = j, i
		}
		switch {
		case op&triUpper != 0 && row > col || op&triUpper == 0 && row < col:
			return 0
		case row == col && op&triUnit != 0:
			return 1
		case op&triConj != 0:
			return cmplx.Conj(at(row, col))
		}
		return at(row, col)
	}
	stored := i >= j
	if op&1 != 0 {
		stored = i <= j
	}
	v := complex128(0)
	if stored {
		v = at(i, j)
	} else {
		v = at(j, i)
	}
	switch {
	case op < opLower+opHermitian:
	case i == j:
		v = complex(real(v), 0)
	case stored == (op >= opLower+opHermitian+opTurned):
		v = cmplx.Conj(v)
	}
	return v
}

// Stored is the operand of op(X), which has so many rows and columns.
func (v View) Stored(rows, cols int64, e Elem) *Operand {
	if transposes(v.Op) {
		rows, cols = cols, rows
	}
	return Matrix(v, rows, cols, e)
}

// sums is the product, done again.
func (p *Product) sums() *Sum {
	a, b, c := p.A.Stored(p.M, p.K, p.TA), p.B.Stored(p.K, p.N, p.TA), Matrix(p.C, p.M, p.N, p.TC)
	alpha, beta := p.Alpha.Operand(), p.Beta.Operand()
	if p.K == 0 || p.Alpha.IsZero() { // nothing of them is read
		a.Rows, b.Rows = 0, 0
	}
	s := &Sum{What: Report("product", p.TA, p.M, p.N, p.K), Batch: p.Batch, Kind: p.Sum, Steps: float64(p.M) * float64(p.N) * float64(p.K), Operands: []*Operand{alpha, beta, a, b, c}}
	var left, right []complex128 // op(A) by rows, op(B) by columns
	steps := p.K
	s.Ready = func(n int64) {
		if steps = p.K; alpha.At(0, 0, 0) == 0 {
			steps = 0
			return
		}
		left, right = left[:0], right[:0]
		for i := range p.M {
			for l := range p.K {
				left = append(left, Entry(p.A.Op, i, l, func(i, j int64) complex128 { return a.At(n, i, j) }))
			}
		}
		for j := range p.N {
			for l := range p.K {
				right = append(right, Entry(p.B.Op, l, j, func(i, j int64) complex128 { return b.At(n, i, j) }))
			}
		}
	}
	s.Number = func(_ *Operand, n, i, j int64) Number {
		if p.Part == PartLower && i < j || p.Part == PartUpper && i > j {
			return Number{Kept: true}
		}
		x := Number{N: steps + 1}
		if steps > 0 {
			row, col := left[i*p.K:][:p.K], right[j*p.K:][:p.K]
			for l := range row {
				x.Add(Mul(row[l], col[l]))
			}
			x.Times(alpha.At(0, 0, 0))
		}
		if f := beta.At(0, 0, 0); f != 0 {
			old := c.At(n, i, j)
			if p.Real && i == j {
				old = complex(real(old), 0)
			}
			x.V += Mul(f, old)
			x.Size += sizeOf(f) * sizeOf(old)
		}
		if p.Real && i == j {
			x.V = complex(real(x.V), 0)
		}
		return x
	}
	if m := checkWith.Load(); m != nil && p.K > 0 && !p.Alpha.IsZero() && (*m).Takes(p) {
		s.With = (*m).Name()
		s.Other = func(n int64, raw []byte) {
			q := *p
			q.Batch, q.K = 1, steps
			h := &HostProduct{Product: &q, Alpha: alpha.At(0, 0, 0), Beta: beta.At(0, 0, 0)}
			at := func(b []byte) uint64 { return uint64(hostmem.Of(&b[0])) }
			h.At = [][3]uint64{{at(a.m.Before(a.memory(n))), at(b.m.Before(b.memory(n))), at(raw)}}
			if steps == 0 {
				Reference{}.Multiply(h)
				return
			}
			(*m).Multiply(h)
		}
	}
	return s
}

func gemvSums(a, x, y View, alpha, beta Scalar, m, n, batch int64, e kinds) *Sum {
	rows, cols := m, n
	if transposes(a.Op) {
		rows, cols = n, m
	}
	return matvecSums(Report("gemv", e.ab, m, n), entriesOf(a, m, n, e.ab), lineOf(x, cols, e.ab), lineOf(y, rows, e.c), alpha, beta, batch, e)
}

// Mul is a product: of real numbers one without an imaginary part, also where one of them is infinite.
func Mul(a, b complex128) complex128 {
	if imag(a) == 0 && imag(b) == 0 {
		return complex(real(a)*real(b), 0)
	}
	return a * b
}

// Add adds a number to the sum.
func (n *Number) Add(v complex128) {
	n.V += v
	n.Size += sizeOf(v)
}

// Times multiplies the sum.
func (n *Number) Times(f complex128) {
	n.V = Mul(n.V, f)
	n.Size *= sizeOf(f)
}

func gerSums(x, y vector, alpha Scalar, m, n int64, a View, e Elem, conjugate bool) *Sum {
	vx, vy, to, f := x.operand(m, e), y.operand(n, e), Matrix(a, m, n, e), alpha.Operand()
	return &Sum{What: Report("ger", e, m, n), Batch: 1, Kind: e, Steps: float64(m) * float64(n), Operands: []*Operand{f, vx, vy, to},
		Number: func(_ *Operand, b, i, j int64) Number {
			r, f := Number{N: 2}, f.At(0, 0, 0)
			if f == 0 {
				return Number{Kept: true}
			}
			other := vy.At(b, j, 0)
			if conjugate {
				other = cmplx.Conj(other)
			}
			r.Add(Mul(Mul(f, vx.At(b, i, 0)), other))
			r.Add(to.At(b, i, j))
			return r
		}}
}

// wider is what kernels on vectors of a type compute with.
func wider(e Elem) Elem {
	if e == F16 || e == BF16 {
		return F32
	}
	return e
}

func axpySums(x, y vector, alpha Scalar, n int64, e Elem) *Sum {
	vx, to, f := x.operand(n, e), y.operand(n, e), alpha.Operand()
	return &Sum{What: Report("axpy", e, n), Batch: 1, Kind: wider(e), Steps: float64(n), Operands: []*Operand{f, vx, to},
		Number: func(_ *Operand, b, i, _ int64) Number {
			r := Number{N: 2}
			if f := f.At(0, 0, 0); f != 0 {
				r.Add(Mul(f, vx.At(b, i, 0)))
			}
			r.Add(to.At(b, i, 0))
			return r
		}}
}

func scalSums(x vector, alpha Scalar, n int64, e Elem) *Sum {
	to, f := x.operand(n, e), alpha.Operand()
	return &Sum{What: Report("scal", e, n), Batch: 1, Kind: wider(e), Steps: float64(n), Operands: []*Operand{f, to},
		Number: func(_ *Operand, b, i, _ int64) Number {
			r := Number{N: 1}
			r.Add(Mul(f.At(0, 0, 0), to.At(b, i, 0)))
			return r
		}}
}

// pairSums is copy and swap.
func pairSums(what string, x, y vector, n int64, e Elem) *Sum {
	vx, vy := x.operand(n, e), y.operand(n, e)
	s := &Sum{What: Report(what, e, n), Batch: 1, Kind: e, Steps: float64(n), Operands: []*Operand{vx, vy}, Outs: 2}
	s.Number = func(o *Operand, b, i, _ int64) Number {
		switch {
		case o == vy:
			return Number{V: vx.At(b, i, 0)}
		case what == "swap":
			return Number{V: vy.At(b, i, 0)}
		}
		return Number{Kept: true}
	}
	return s
}

func rotSums(x, y vector, c, s Scalar, n int64, e Elem) *Sum {
	vx, vy, fc, fs := x.operand(n, e), y.operand(n, e), c.Operand(), s.Operand()
	return &Sum{What: Report("rot", e, n), Batch: 1, Kind: wider(e), Steps: float64(n), Operands: []*Operand{fc, fs, vx, vy}, Outs: 2,
		Number: func(o *Operand, b, i, _ int64) Number {
			r := Number{N: 2}
			cosine, sine, p, q := fc.At(0, 0, 0), fs.At(0, 0, 0), vx.At(b, i, 0), vy.At(b, i, 0)
			if o == vy {
				p, q, sine = q, p, -cmplx.Conj(sine)
			}
			r.Add(Mul(cosine, p))
			r.Add(Mul(sine, q))
			return r
		}}
}

// result is the one number that a call writes, as the pointer mode says.
func (j *job) result(p hostmem.Ptr, e Elem) *Operand {
	return &Operand{Base: uint64(p), Rows: 1, Cols: 1, Elem: e, Host: j.mode == blas.CUBLAS_POINTER_MODE_HOST}
}

func dotSums(x, y vector, n int64, to *Operand, e Elem, conjugate bool) *Sum {
	vx, vy := x.operand(n, e), y.operand(n, e)
	return &Sum{What: Report("dot", e, n), Batch: 1, Kind: wider(e), Steps: float64(n), Operands: []*Operand{vx, vy, to},
		Number: func(*Operand, int64, int64, int64) Number {
			r := Number{N: n}
			for i := range n {
				v := vx.At(0, i, 0)
				if conjugate {
					v = cmplx.Conj(v)
				}
				r.Add(Mul(v, vy.At(0, i, 0)))
			}
			return r
		}}
}

// normSums is nrm2 and asum.
func normSums(what string, x vector, n int64, to *Operand, e Elem) *Sum {
	vx := x.operand(n, e)
	return &Sum{What: Report(what, e, n), Batch: 1, Kind: wider(e.real()), Steps: float64(n), Operands: []*Operand{vx, to},
		Number: func(*Operand, int64, int64, int64) Number {
			r := Number{N: n}
			if what == "asum" {
				for i := range n {
					r.Add(complex(sizeOf(vx.At(0, i, 0)), 0))
				}
				return r
			}
			norm := 0.0 // hypot does not overflow
			for i := range n {
				norm = math.Hypot(norm, cmplx.Abs(vx.At(0, i, 0)))
			}
			return Number{V: complex(norm, 0), Size: norm, N: n}
		}}
}

// bestSums is iamax and iamin: of numbers that are as large to the last bit the first is meant.
func bestSums(x vector, n int64, to *Operand, e Elem, least bool) *Sum {
	vx := x.operand(n, e)
	what := "iamax"
	if least {
		what = "iamin"
	}
	return &Sum{What: Report(what, e, n), Batch: 1, Kind: S32, Steps: float64(n), Operands: []*Operand{vx, to},
		Number: func(*Operand, int64, int64, int64) Number {
			best, at := math.Inf(-1), int64(0)
			if least {
				best = math.Inf(1)
			}
			rounded := func(i int64) float64 { // |re| + |im| is rounded in the kernel
				return real(Decode(wider(e.real()), Encode(wider(e.real()), complex(sizeOf(vx.At(0, i, 0)), 0))))
			}
			for i := range n {
				if v := rounded(i); least && v < best || !least && v > best {
					best, at = v, i
				}
			}
			return Number{V: complex(float64(at+1), 0)}
		}}
}

func geamSums(a, b, c View, alpha, beta Scalar, m, n int64, e Elem) *Sum {
	ma, mb, to, fa, fb := a.Stored(m, n, e), b.Stored(m, n, e), Matrix(c, m, n, e), alpha.Operand(), beta.Operand()
	if alpha.IsZero() {
		ma.Rows = 0
	}
	if beta.IsZero() {
		mb.Rows = 0
	}
	return &Sum{What: Report("geam", e, m, n), Batch: 1, Kind: e, Steps: float64(m) * float64(n), Operands: []*Operand{fa, fb, ma, mb, to},
		Number: func(_ *Operand, _, i, j int64) Number {
			r := Number{N: 2}
			if f := fa.At(0, 0, 0); f != 0 {
				r.Add(Mul(f, Entry(a.Op, i, j, func(i, j int64) complex128 { return ma.At(0, i, j) })))
			}
			if f := fb.At(0, 0, 0); f != 0 {
				r.Add(Mul(f, Entry(b.Op, i, j, func(i, j int64) complex128 { return mb.At(0, i, j) })))
			}
			return r
		}}
}

func dgmmSums(x vector, left bool, a, c View, m, n int64, e Elem) *Sum {
	length := n
	if left {
		length = m
	}
	vx, ma, to := x.operand(length, e), Matrix(a, m, n, e), Matrix(c, m, n, e)
	return &Sum{What: Report("dgmm", e, m, n), Batch: 1, Kind: e, Steps: float64(m) * float64(n), Operands: []*Operand{vx, ma, to},
		Number: func(_ *Operand, _, i, j int64) Number {
			r := Number{N: 1}
			k := j
			if left {
				k = i
			}
			r.Add(Mul(vx.At(0, k, 0), ma.At(0, i, j)))
			return r
		}}
}
