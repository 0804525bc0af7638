package cublas

import (
	"math/cmplx"

	"kudzu/internal/spec/blas"
)

// What calls on triangles, bands and packed matrices compute, number by number, as sums.go has it for the others.

// entries is a matrix as a call reads it: where it lies, and its numbers.
type entries struct {
	*Operand
	at func(b, i, j int64) complex128
}

// entriesOf is op of a matrix that lies as a view says; rows and cols are those that are stored.
func entriesOf(v View, rows, cols int64, e Elem) entries {
	o := Matrix(v, rows, cols, e)
	return entries{o, func(b, i, j int64) complex128 {
		return Entry(v.Op, i, j, func(i, j int64) complex128 { return o.At(b, i, j) })
	}}
}

// mirrored is how a symmetric or Hermitian matrix is read from one triangle.
func mirrored(fill Fill, hermitian bool) Op {
	op := opLower
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		op = opUpper
	}
	if hermitian {
		op += opHermitian
	}
	return op
}

// entries is op of the triangle.
func (s *stored) entries(n int64, op Op, e Elem) entries {
	o := &Operand{Base: uint64(s.a), Down: 1, Right: s.lda, Rows: s.k + 1, Cols: n, Elem: e}
	if s.packed {
		o = &Operand{Base: uint64(s.a), Down: 1, Rows: n * (n + 1) / 2, Cols: 1, Elem: e}
	}
	upper := s.fill == blas.CUBLAS_FILL_MODE_UPPER
	return entries{o, func(b, i, j int64) complex128 {
		return Entry(op, i, j, func(i, j int64) complex128 {
			switch {
			case s.packed && upper:
				return o.At(b, i+j*(j+1)/2, 0)
			case s.packed:
				return o.At(b, i+j*(2*n-j-1)/2, 0)
			case max(i-j, j-i) > s.k:
				return 0
			case upper:
				return o.At(b, s.k+i-j, j)
			}
			return o.At(b, i-j, j)
		})
	}}
}

// bandOf is op of a band.
func bandOf(v View, m, n, below, above int64, e Elem) entries {
	o := Matrix(v, below+above+1, n, e)
	return entries{o, func(b, i, j int64) complex128 {
		return Entry(v.Op, i, j, func(i, j int64) complex128 {
			if i >= m || i-j > below || j-i > above {
				return 0
			}
			return o.At(b, above+i-j, j)
		})
	}}
}

// called is what a call on a triangle is called: the word for a packed one, or for a band.
func (s *stored) called(packed, band string) string {
	if s.packed {
		return packed
	}
	return band
}

// matvecSums is y = alpha op(A) x + beta y.
func matvecSums(what string, a entries, x, y *Operand, alpha, beta Scalar, batch int64, e kinds) *Sum {
	fa, fb := alpha.Operand(), beta.Operand()
	cols := x.Rows
	if alpha.IsZero() { // nothing of them is read
		a.Rows, x.Rows = 0, 0
	}
	return &Sum{What: what, Batch: batch, Kind: e.sum, Steps: float64(y.Rows) * float64(cols), Operands: []*Operand{fa, fb, a.Operand, x, y},
		Number: func(_ *Operand, b, i, _ int64) Number {
			r := Number{N: cols + 1}
			if f := fa.At(0, 0, 0); f != 0 {
				for l := range cols {
					r.Add(Mul(a.at(b, i, l), x.At(b, l, 0)))
				}
				r.Times(f)
			}
			if f := fb.At(0, 0, 0); f != 0 {
				r.Add(Mul(f, y.At(b, i, 0)))
			}
			return r
		}}
}

// trimvSums is x = op(A) x with A triangular.
func trimvSums(what string, a entries, x *Operand, e Elem) *Sum {
	n := x.Rows
	return &Sum{What: Report(what, e, n), Batch: 1, Kind: e, Steps: float64(n) * float64(n), Operands: []*Operand{a.Operand, x},
		Number: func(_ *Operand, b, i, _ int64) Number {
			r := Number{N: n}
			for l := range n {
				r.Add(Mul(a.at(b, i, l), x.At(b, l, 0)))
			}
			return r
		}}
}

// solveSums is op(A) X = alpha B, or with right X op(A) = alpha B, with X in the place of B. An unknown is compared with what its own equation
// makes of the others as the call left them: that holds however ill the system is. forward: those before it are in it, else those after.
func solveSums(what string, a entries, right, forward bool, b *Operand, alpha Scalar, batch int64, e Elem) *Sum {
	f, size := alpha.Operand(), b.Rows
	if right {
		size = b.Cols
	}
	if alpha.IsZero() { // nothing of it is read
		a.Rows = 0
	}
	var now []complex128
	s := &Sum{What: Report(what, e, b.Rows, b.Cols), Batch: batch, Kind: e, Steps: float64(b.Rows) * float64(b.Cols) * float64(size), Operands: []*Operand{f, a.Operand, b}}
	s.Ready = func(n int64) { now = b.decode(b.m.Now(b.memory(n))) }
	s.Number = func(_ *Operand, n, i, j int64) Number {
		r := Number{N: size + 2}
		if alpha.IsZero() {
			return r
		}
		r.Add(Mul(f.At(0, 0, 0), b.At(n, i, j)))
		own := i
		if right {
			own = j
		}
		from, to := int64(0), own
		if !forward {
			from, to = own+1, size
		}
		for l := from; l < to; l++ {
			if right {
				r.Add(-Mul(a.at(n, l, own), now[i+l*b.Rows]))
			} else {
				r.Add(-Mul(a.at(n, own, l), now[l+j*b.Rows]))
			}
		}
		d := a.at(n, own, own)
		v, size := r.V/d, cmplx.Abs(d)
		if imag(r.V) == 0 && imag(d) == 0 {
			v = complex(real(r.V)/real(d), 0)
		}
		if cmplx.IsNaN(v) || cmplx.IsInf(v) { // of a singular matrix, or an equation with what is no number: it says nothing
			return Number{V: now[i+j*b.Rows]}
		}
		return Number{V: v, Size: r.Size / size, N: r.N, Slack: float64(r.N) * leastOf(e) / size}
	}
	return s
}

// rankSums is A = alpha x y' (+ alpha' y x') + A in one triangle.
func rankSums(what string, x, y vector, alpha Scalar, n int64, to *Operand, place func(i, j int64) (row, col int64, in bool), e Elem, u update) *Sum {
	vx, vy, f := x.operand(n, e), y.operand(n, e), alpha.Operand()
	if u.two {
		what += "2"
	}
	prime := func(v complex128) complex128 {
		if u.hermitian {
			return cmplx.Conj(v)
		}
		return v
	}
	return &Sum{What: Report(what, e, n), Batch: 1, Kind: e, Steps: float64(n) * float64(n), Operands: []*Operand{f, vx, vy, to},
		Number: func(_ *Operand, b, i, j int64) Number {
			row, col, in := place(i, j)
			f := f.At(0, 0, 0)
			if !in || f == 0 {
				return Number{Kept: true}
			}
			r := Number{N: 3}
			r.Add(Mul(Mul(f, vx.At(b, row, 0)), prime(vy.At(b, col, 0))))
			if u.two {
				r.Add(Mul(Mul(prime(f), vy.At(b, row, 0)), prime(vx.At(b, col, 0))))
			}
			r.Add(to.At(b, i, j))
			if u.hermitian && row == col {
				r.V = complex(real(r.V), 0)
			}
			return r
		}}
}

// packedPlaces says which number of a triangle each of a packed one is.
func packedPlaces(fill Fill, n int64) func(i, j int64) (row, col int64, in bool) {
	var all [][2]int64
	return func(i, _ int64) (row, col int64, in bool) {
		if all == nil {
			for c := range n {
				from, to := c, n
				if fill == blas.CUBLAS_FILL_MODE_UPPER {
					from, to = 0, c+1
				}
				for r := from; r < to; r++ {
					all = append(all, [2]int64{r, c})
				}
			}
		}
		return all[i][0], all[i][1], true
	}
}

// rotmSums turns the pairs of x and y by a modified rotation: m, or what lies at an address of the device.
func rotmSums(x, y vector, m modified, at uint64, n int64, e Elem) *Sum {
	vx, vy, param := x.operand(n, e), y.operand(n, e), &Operand{Base: at, Down: 1, Rows: 5, Cols: 1, Elem: e}
	if at == 0 {
		param.Rows = 0
	}
	return &Sum{What: Report("rotm", e, n), Batch: 1, Kind: wider(e), Steps: float64(n), Operands: []*Operand{param, vx, vy}, Outs: 2,
		Number: func(o *Operand, b, i, _ int64) Number {
			h := m
			if p := param.All(0); len(p) == 5 {
				h = modified{real(p[0]), real(p[1]), real(p[2]), real(p[3]), real(p[4])}
			}
			switch h.flag {
			case -2:
				return Number{Kept: true}
			case 0:
				h.h11, h.h22 = 1, 1
			case 1:
				h.h12, h.h21 = 1, -1
			}
			r, left, right := Number{N: 2}, h.h11, h.h12
			if o == vy {
				left, right = h.h21, h.h22
			}
			r.Add(Mul(complex(left, 0), vx.At(b, i, 0)))
			r.Add(Mul(complex(right, 0), vy.At(b, i, 0)))
			return r
		}}
}
