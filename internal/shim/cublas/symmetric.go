package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// symv is y = alpha A x + beta y, of which one triangle of A is stored.
func (t *Thread) symv(h blas.CublasHandle_t, fill Fill, n int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem, hermitian bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if !validFill(fill) || n < 0 || lda < max(1, n) || incx == 0 || incy == 0 {
		return invalidValue
	}
	if n >= maxSide {
		return notSupported
	}
	if n == 0 {
		return nil
	}
	sa, err := ScalarAt(alpha, e, j.mode)
	if err != nil {
		return err
	}
	sb, err := ScalarAt(beta, e, j.mode)
	if err != nil {
		return err
	}
	vx, vy, matrix := vectorAt(x, n, incx, e), vectorAt(y, n, incy, e), View{Base: uint64(a), LD: lda}
	var q shim.Params
	matrix.Put(&q)
	vx.put(&q)
	vy.put(&q)
	sa.Put(&q)
	sb.Put(&q)
	q.U32(uint32(n), flag(fill == blas.CUBLAS_FILL_MODE_UPPER), flag(hermitian))
	return j.checked(func() *Sum {
		matrix.Op = mirrored(fill, hermitian)
		return matvecSums(Report("symv", e, n), entriesOf(matrix, n, n, e), vx.operand(n, e), vy.operand(n, e), sa, sb, 1, kinds{sum: e})
	}, func() error {
		return level2Kernels.Launch(j.d, j.stream, "symv_"+e.String(), [3]uint32{uint32((n + 31) / 32), 1, 1}, [3]uint32{32, 1, 1}, &q)
	})
}

// update says what rank adds to a triangle.
type update struct {
	hermitian bool // conjugates and a real diagonal
	two       bool // x y' and y x'
	scalar    Elem // alpha's type: real for her
}

// rank is A = alpha x y' (+ alpha' y x') + A in one triangle.
func (t *Thread) rank(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, a hostmem.Ptr, lda int64, e Elem, u update) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if !validFill(fill) || n < 0 || lda < max(1, n) || incx == 0 || incy == 0 {
		return invalidValue
	}
	if n >= maxSide {
		return notSupported
	}
	if n == 0 {
		return nil
	}
	s, err := ScalarAt(alpha, u.scalar, j.mode)
	if err != nil || s.IsZero() {
		return err
	}
	vx, vy, matrix := vectorAt(x, n, incx, e), vectorAt(y, n, incy, e), View{Base: uint64(a), LD: lda}
	run := func() error { return j.rank(vx, vy, s, n, matrix, fill, e, u) }
	return j.checked(func() *Sum {
		place := func(i, j int64) (row, col int64, in bool) {
			return i, j, i == j || (i < j) == (fill == blas.CUBLAS_FILL_MODE_UPPER)
		}
		return rankSums("syr", vx, vy, s, n, Matrix(matrix, n, n, e), place, e, u)
	}, run)
}

// rank puts the kernels in.
func (j *job) rank(vx, vy vector, s Scalar, n int64, matrix View, fill Fill, e Elem, u update) error {
	return inColumns(n, func(first, count int64) error {
		var q shim.Params
		matrix.From(0, first, e).Put(&q)
		vx.put(&q)
		vy.put(&q)
		s.Put(&q)
		q.U32(uint32(n), uint32(count), uint32(first), flag(fill == blas.CUBLAS_FILL_MODE_UPPER), flag(u.hermitian), flag(u.two))
		return level2Kernels.Launch(j.d, j.stream, "rank_"+e.String(), sheet(n, count), [3]uint32{32, 1, 1}, &q)
	})
}

// syr2k is C = alpha A B' + alpha' B A' + beta C in one triangle: two products, the second on what the first left.
func (t *Thread) syr2k(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, beta hostmem.Ptr, o operands, e Elem, hermitian bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	p, err := rankK(fill, op, n, k, o, e, hermitian)
	if err != nil || n == 0 {
		return err
	}
	ofBeta := e
	if hermitian {
		ofBeta = e.real()
	}
	if err := j.product(p, alpha, beta, e, ofBeta); err != nil {
		return err
	}
	o.a, o.b, o.lda, o.ldb = o.b, o.a, o.ldb, o.lda
	second, err := rankK(fill, op, n, k, o, e, hermitian)
	if err != nil {
		return err
	}
	second.Alpha, second.Beta = p.Alpha, Scalar{Re: 1}
	second.Alpha.Conj = hermitian
	return second.Run(j.d, j.stream, &j.x.space)
}

// herkx is the half of her2k that has alpha: what the caller knows to be Hermitian.
func (t *Thread) herkx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, beta hostmem.Ptr, o operands, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	p, err := rankK(fill, op, n, k, o, e, true)
	if err != nil || n == 0 {
		return err
	}
	return j.product(p, alpha, beta, e, e.real())
}
