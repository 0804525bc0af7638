package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// Diag says whether the diagonal of a triangle is stored or all ones.
type Diag = blas.CublasDiagType_t

func validDiag(d Diag) bool {
	return d == blas.CUBLAS_DIAG_UNIT || d == blas.CUBLAS_DIAG_NON_UNIT
}

// triangleOp is how a triangular matrix is packed.
func triangleOp(fill Fill, op Op, diag Diag) blas.CublasOperation_t {
	how := opTriangle
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		how |= triUpper
	}
	if diag == blas.CUBLAS_DIAG_UNIT {
		how |= triUnit
	}
	if transposes(op) {
		how |= triTurned
	}
	if op == blas.CUBLAS_OP_C || op == OpConjugate {
		how |= triConj
	}
	return how
}

// trmm is a product whose A is a triangle. Both operands are packed before anything is written, so C may be B.
func (t *Thread) trmm(h blas.CublasHandle_t, side Side, fill Fill, op Op, diag Diag, m, n int64, alpha hostmem.Ptr, o operands, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	rows := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		rows = n
	}
	if !validSide(side) || !validFill(fill) || !validOp(op) || !validDiag(diag) || m < 0 || n < 0 ||
		o.lda < max(1, rows) || o.ldb < max(1, m) || o.ldc < max(1, m) {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide {
		return notSupported
	}
	if m == 0 || n == 0 {
		return nil
	}
	a, b := View{Base: uint64(o.a), LD: o.lda, Op: triangleOp(fill, op, diag)}, View{Base: uint64(o.b), LD: o.ldb}
	p := &Product{M: m, N: n, K: rows, Batch: 1, TA: e, TC: e, Sum: e, A: a, B: b, C: View{Base: uint64(o.c), LD: o.ldc}}
	if side == blas.CUBLAS_SIDE_RIGHT {
		p.A, p.B = b, a
	}
	if p.Alpha, err = ScalarAt(alpha, e, j.mode); err != nil {
		return err
	}
	return p.Run(j.d, j.stream, &j.x.space)
}

// flipped is the operation on A in x' op(A)' = (op(A) x)': a vector as a row has any increment as its distance of columns.
func flipped(op Op) blas.CublasOperation_t {
	switch op {
	case blas.CUBLAS_OP_N:
		return blas.CUBLAS_OP_T
	case blas.CUBLAS_OP_T:
		return blas.CUBLAS_OP_N
	}
	return OpConjugate
}

// line1 checks what trmv and trsv are given, and gives the vector as a matrix of one row.
func (t *Thread) line1(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n, lda int64, x hostmem.Ptr, incx int64, e Elem) (j *job, row View, err error) {
	if j, err = t.job(h); err != nil {
		return nil, row, err
	}
	if !validFill(fill) || !validOp(op) || !validDiag(diag) || n < 0 || lda < max(1, n) || incx == 0 {
		return nil, row, invalidValue
	}
	if n >= maxSide {
		return nil, row, notSupported
	}
	v := vectorAt(x, n, incx, e)
	return j, View{Base: v.base, LD: v.inc}, nil
}

// Trmv is x = op(A) x with A triangular.
func (t *Thread) Trmv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, e Elem) error {
	j, row, err := t.line1(h, fill, op, diag, n, lda, x, incx, e)
	if err != nil || n == 0 {
		return err
	}
	p := &Product{M: 1, N: n, K: n, Batch: 1, TA: e, TC: e, Sum: e, Alpha: Scalar{Re: 1}, A: row, C: row,
		B: View{Base: uint64(a), LD: lda, Op: triangleOp(fill, flipped(op), diag)}}
	return p.Run(j.d, j.stream, &j.x.space)
}

// Trsv solves op(A) x = b in place with A triangular.
func (t *Thread) Trsv(h blas.CublasHandle_t, fill Fill, op Op, diag Diag, n int64, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, e Elem) error {
	j, row, err := t.line1(h, fill, op, diag, n, lda, x, incx, e)
	if err != nil || n == 0 {
		return err
	}
	s := &triangle{
		j: j, e: e, batch: 1, side: blas.CUBLAS_SIDE_RIGHT, count: 1, unit: diag == blas.CUBLAS_DIAG_UNIT,
		a: View{Base: uint64(a), LD: lda, Op: flipped(op)}, b: row,
	}
	s.turned = !transposes(s.a.Op)
	s.lower = (fill == blas.CUBLAS_FILL_MODE_LOWER) != s.turned
	return j.checked(func() *Sum { return s.sums("trsv", fill, 1, n, n, Scalar{Re: 1}) }, func() error { return s.solve(0, n) })
}
