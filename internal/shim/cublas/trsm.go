package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// triangle is a system T X = B that trsm works on. T is A as the kernels read it: turned where op or the side asks for it.
type triangle struct {
	j      *job
	e      Elem
	a, b   View
	batch  int64
	side   Side
	count  int64 // right-hand sides
	turned bool
	lower  bool // T is lower triangular: the first unknown comes first
	unit   bool
}

// solveSide is the size of a diagonal block that one kernel solves, SIDE in kernels/level3.cu.
const solveSide = 32

func (t *Thread) trsm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag blas.CublasDiagType_t, m, n int64, alpha hostmem.Ptr, o operands, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	size, count := m, n
	if side == blas.CUBLAS_SIDE_RIGHT {
		size, count = n, m
	}
	if !validSide(side) || !validFill(fill) || !validOp(op) || (diag != blas.CUBLAS_DIAG_UNIT && diag != blas.CUBLAS_DIAG_NON_UNIT) ||
		m < 0 || n < 0 || o.batch < 0 || o.lda < max(1, size) || o.ldb < max(1, m) {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide || o.batch >= maxSide {
		return notSupported
	}
	if m == 0 || n == 0 || o.batch == 0 {
		return nil
	}
	s, err := ScalarAt(alpha, e, j.mode)
	if err != nil {
		return err
	}
	x := &triangle{
		j: j, e: e, batch: o.batch, side: side, count: count, unit: diag == blas.CUBLAS_DIAG_UNIT,
		a: View{Base: uint64(o.a), LD: o.lda, List: o.list, Op: op}, b: View{Base: uint64(o.b), LD: o.ldb, List: o.list},
		turned: transposes(op) != (side == blas.CUBLAS_SIDE_RIGHT),
	}
	x.lower = (fill == blas.CUBLAS_FILL_MODE_LOWER) != x.turned
	return j.checked(func() *Sum { return x.sums("trsm", fill, m, n, size, s) }, func() error {
		// B = alpha B first; with alpha 0 nothing of A is read.
		scaled := &Product{M: m, N: n, Batch: o.batch, TC: e, C: x.b, Beta: s}
		if err := scaled.scale(j.d, j.stream); err != nil || s.IsZero() {
			return err
		}
		return x.solve(0, size)
	})
}

// sums is the system, with m × n unknowns, done again.
func (x *triangle) sums(what string, fill Fill, m, n, size int64, alpha Scalar) *Sum {
	diag := Diag(blas.CUBLAS_DIAG_NON_UNIT)
	if x.unit {
		diag = blas.CUBLAS_DIAG_UNIT
	}
	a := x.a
	a.Op = triangleOp(fill, x.a.Op, diag)
	return solveSums(what, entriesOf(a, size, size, x.e), x.side == blas.CUBLAS_SIDE_RIGHT, x.lower, Matrix(x.b, m, n, x.e), alpha, x.batch, x.e)
}

// solve finds the unknowns lo to hi: one half, what it means for the other, the other half.
func (x *triangle) solve(lo, hi int64) error {
	if hi-lo <= solveSide {
		return x.block(lo, hi)
	}
	mid := lo + ((hi-lo)/2+solveSide-1)/solveSide*solveSide
	first, second := [2]int64{lo, mid}, [2]int64{mid, hi}
	if !x.lower {
		first, second = second, first
	}
	if err := x.solve(first[0], first[1]); err != nil {
		return err
	}
	if err := x.carry(first, second); err != nil {
		return err
	}
	return x.solve(second[0], second[1])
}

// block solves one diagonal block.
func (x *triangle) block(lo, hi int64) error {
	a := x.a.later(lo+lo*x.a.LD, x.e)
	b, step, beside := x.b.later(lo, x.e), int64(1), x.b.LD
	if x.side == blas.CUBLAS_SIDE_RIGHT {
		b, step, beside = x.b.later(lo*x.b.LD, x.e), x.b.LD, 1
	}
	for first := int64(0); first < x.batch; first += maxGrid {
		var q shim.Params
		a.From(first, 0, x.e).Put(&q)
		b.From(first, 0, x.e).Put(&q)
		q.U64(uint64(step), uint64(beside)).U32(uint32(hi-lo), uint32(x.count), flag(x.turned), flag(x.lower), flag(x.unit))
		grid := [3]uint32{uint32((x.count + 31) / 32), 1, uint32(min(x.batch-first, maxGrid))}
		if err := level3Kernels.Launch(x.j.d, x.j.stream, "solve_"+x.e.String(), grid, [3]uint32{32, 1, 1}, &q); err != nil {
			return err
		}
	}
	return nil
}

// carry takes what is known away from what is not: B[to] -= T[to, from] X[from].
func (x *triangle) carry(from, to [2]int64) error {
	rows, cols := to, from // of the piece of op(A), as op reads it
	if x.side == blas.CUBLAS_SIDE_RIGHT {
		rows, cols = from, to
	}
	r, c := rows[0], cols[0]
	if transposes(x.a.Op) {
		r, c = c, r
	}
	a := x.a.later(r+c*x.a.LD, x.e)
	p := &Product{Batch: x.batch, TA: x.e, TC: x.e, Sum: x.e, Alpha: Scalar{Re: -1}, Beta: Scalar{Re: 1}, K: from[1] - from[0]}
	if x.side == blas.CUBLAS_SIDE_LEFT {
		p.M, p.N = to[1]-to[0], x.count
		p.A, p.B, p.C = a, x.b.later(from[0], x.e), x.b.later(to[0], x.e)
	} else {
		p.M, p.N = x.count, to[1]-to[0]
		p.A, p.B, p.C = x.b.later(from[0]*x.b.LD, x.e), a, x.b.later(to[0]*x.b.LD, x.e)
	}
	return p.Run(x.j.d, x.j.stream, &x.j.x.space)
}

// later is the view whose matrices begin at an element.
func (v View) later(element int64, e Elem) View {
	if v.List {
		v.Stride += element
		return v
	}
	v.Base += uint64(element) * uint64(e.Size())
	return v
}
