package cusolver

import (
	"errors"

	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// leafSide is what one warp factors, SIDE in kernels/factor.cu.
const leafSide = 32

// Fill, Op and Diag are cuBLAS's.
type (
	Fill = blas.CublasFillMode_t
	Op   = blas.CublasOperation_t
	Diag = blas.CublasDiagType_t
	Side = blas.CublasSideMode_t
)

// cholesky factors by halves: the first, what it means for the second, the second. info counts from at.
func (j *job) cholesky(a mat, fill Fill, n, at int64, info hostmem.Ptr) error {
	upper := fill == blas.CUBLAS_FILL_MODE_UPPER
	if n <= leafSide {
		var q shim.Params
		a.Put(&q)
		q.U32(uint32(n), flag(upper)).U64(uint64(info)).U32(uint32(at))
		return j.one(factorKernels, "potf2_"+a.e.String(), a.batch, &q)
	}
	half := (n/2 + leafSide - 1) / leafSide * leafSide
	rest := n - half
	if err := j.cholesky(a, fill, half, at, info); err != nil {
		return err
	}
	between, second := a.at(half, 0), a.at(half, half)
	s := &cublas.System{Fill: fill, Op: blas.CUBLAS_OP_C, Batch: a.batch, A: a.View, Type: a.e, Side: blas.CUBLAS_SIDE_RIGHT, M: rest, N: half}
	p := &cublas.Product{M: rest, N: rest, K: half, Batch: a.batch, C: second.View, Alpha: minus, Beta: plus, Part: cublas.PartLower, Real: true}
	p.A, p.B = between.op(blas.CUBLAS_OP_N), between.op(blas.CUBLAS_OP_C)
	if upper {
		between = a.at(0, half)
		s.Side, s.M, s.N = blas.CUBLAS_SIDE_LEFT, half, rest
		p.A, p.B, p.Part = between.op(blas.CUBLAS_OP_C), between.op(blas.CUBLAS_OP_N), cublas.PartUpper
	}
	s.B = between.View
	if err := j.solve(s); err != nil {
		return err
	}
	if err := j.product(p, a.e); err != nil {
		return err
	}
	return j.cholesky(second, fill, rest, at+half, info)
}

func (j *job) potrf(a mat, fill Fill, n int64, info hostmem.Ptr) error {
	if err := fits(n, a.batch); err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, a.batch)
	}
	if done, err := j.potrfElsewhere(a, fill, n, info); done {
		return err
	}
	return j.cholesky(a, fill, n, 0, info)
}

// potrs solves A X = B with what potrf made of A.
func (j *job) potrs(a, b mat, fill Fill, n, count int64) error {
	if done, err := j.potrsElsewhere(a, b, fill, n, count); done {
		return err
	}
	first, second := Op(blas.CUBLAS_OP_N), Op(blas.CUBLAS_OP_C)
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		first, second = second, first
	}
	s := cublas.System{Fill: fill, Op: first, M: n, N: count, Batch: a.batch, A: a.View, B: b.View, Type: a.e}
	if err := j.solve(&s); err != nil {
		return err
	}
	s.Op = second
	return j.solve(&s)
}

// PotrfBufferSize is what Potrf needs.
func (t *Thread) PotrfBufferSize(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, e Elem) (int32, error) {
	if err := t.live(h); err != nil {
		return 0, err
	}
	if !validFill(fill) {
		return 0, invalidValue
	}
	return 1, nil
}

// Potrf factors a positive definite matrix: A = L L' or U' U.
func (t *Thread) Potrf(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if info == hostmem.Nil {
		return invalidValue
	}
	if err := j.judge(info, !validFill(fill), n < 0, false, lda < max(1, n)); err != nil {
		return err
	}
	if n <= leafSide {
		j.only(h, driver.Argument(a, 0), driver.Unused(work), driver.Argument(info, 40))
	}
	return j.potrf(matAt(a, lda, e), fill, n, info)
}

// PotrfBatched is Potrf for a list of matrices.
func (t *Thread) PotrfBatched(h Handle, fill Fill, n int64, list hostmem.Ptr, lda int64, info hostmem.Ptr, batch int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if batch < 1 || !validFill(fill) || n < 0 || lda < max(1, n) || info == hostmem.Nil {
		return invalidValue
	}
	a := matAt(list, lda, e)
	a.List, a.batch = true, batch
	if n <= leafSide {
		j.only(h, driver.Argument(list, 0), driver.Argument(info, 40))
	}
	return j.potrf(a, fill, n, info)
}

// Potrs solves with what Potrf made.
func (t *Thread) Potrs(h Handle, fill Fill, n, count int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if err := j.judge(info, !validFill(fill), n < 0, count < 0, false, lda < max(1, n), false, ldb < max(1, n)); err != nil {
		return err
	}
	if err := j.potrs(matAt(a, lda, e), matAt(b, ldb, e), fill, n, count); err != nil {
		return err
	}
	return j.tell(info, 0, 1)
}

// PotrsBatched is Potrs for lists of matrices. As in the vendor's library there is one info, in which the position of an argument is
// not negative, and one right-hand side a matrix.
func (t *Thread) PotrsBatched(h Handle, fill Fill, n, count int64, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, info hostmem.Ptr, batch int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	for i, bad := range []bool{!validFill(fill), n < 0, count != 1 && batch > 0, false, lda < max(1, n), false, ldb < max(1, n), false, batch < 1} {
		if bad {
			return errors.Join(invalidValue, j.tell(info, int32(i+1), 1))
		}
	}
	x, y := matAt(a, lda, e), matAt(b, ldb, e)
	x.List, x.batch, y.List, y.batch = true, batch, true, batch
	if err := j.potrs(x, y, fill, n, count); err != nil {
		return err
	}
	return j.tell(info, 0, 1)
}

// PotriBufferSize: the inverse is made beside the factor.
func (t *Thread) PotriBufferSize(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, e Elem) (int32, error) {
	if _, err := t.PotrfBufferSize(h, fill, n, a, lda, e); err != nil {
		return 0, err
	}
	return asked(n, n, area)
}

// area is for functions that make something beside the matrix.
func area(m, n int64) int64 { return m * n }

// Potri is the inverse, from what Potrf made: a triangle of it in the place of the factor.
func (t *Thread) Potri(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if info == hostmem.Nil {
		return invalidValue
	}
	if err := j.judge(info, !validFill(fill), n < 0, false, lda < max(1, n)); err != nil {
		return err
	}
	if err := enough(work, lwork, n*n); err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, 1)
	}
	if done, err := j.elsewhere("potri", e, uint64(fill), uint64(n), uint64(a), uint64(lda), uint64(info)); done {
		return err
	}
	x, inverse := matAt(a, lda, e), matAt(work, n, e)
	if err := j.diagonal(x, n, info); err != nil {
		return err
	}
	if err := j.eye(inverse, n, n, 0); err != nil {
		return err
	}
	if err := j.potrs(x, inverse, fill, n, n); err != nil {
		return err
	}
	return j.copy(inverse, x, n, n, partOf(fill))
}

// partOf is the triangle as copy names it.
func partOf(fill Fill) uint32 {
	if fill == blas.CUBLAS_FILL_MODE_UPPER {
		return copyUpper
	}
	return copyLower
}

// diagonal tells the first zero on the diagonal.
func (j *job) diagonal(a mat, n int64, info hostmem.Ptr) error {
	var q shim.Params
	a.Put(&q)
	q.U32(uint32(n)).U64(uint64(info))
	return j.one(factorKernels, "diagonal_"+a.e.String(), a.batch, &q)
}

// trtri is the inverse of a triangle, made in work.
func (j *job) trtri(a mat, fill Fill, diag Diag, n int64, work, info hostmem.Ptr) error {
	if done, err := j.elsewhere("trtri", a.e, uint64(fill), uint64(diag), uint64(n), a.Base, uint64(a.LD), uint64(info)); done {
		return err
	}
	inverse := matAt(work, n, a.e)
	if diag == blas.CUBLAS_DIAG_UNIT {
		if err := j.tell(info, 0, 1); err != nil {
			return err
		}
	} else if err := j.diagonal(a, n, info); err != nil {
		return err
	}
	if err := j.eye(inverse, n, n, 0); err != nil {
		return err
	}
	if err := j.solve(&cublas.System{Fill: fill, Diag: diag, M: n, N: n, Batch: 1, A: a.View, B: inverse.View, Type: a.e}); err != nil {
		return err
	}
	from, to := inverse, a
	if diag == blas.CUBLAS_DIAG_UNIT && n > 1 { // the diagonal is not A's to hold
		if fill == blas.CUBLAS_FILL_MODE_UPPER {
			return j.copy(from.at(0, 1), to.at(0, 1), n-1, n-1, copyUpper)
		}
		return j.copy(from.at(1, 0), to.at(1, 0), n-1, n-1, copyLower)
	}
	if diag == blas.CUBLAS_DIAG_UNIT {
		return nil
	}
	return j.copy(from, to, n, n, partOf(fill))
}

// LauumBufferSize: the product is made beside the factor.
func (t *Thread) LauumBufferSize(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, e Elem) (int32, error) {
	return t.PotriBufferSize(h, fill, n, a, lda, e)
}

// Lauum is U U' or L' L, in the place of the triangle. As in LAPACK, of the diagonal only real parts count.
func (t *Thread) Lauum(h Handle, fill Fill, n int64, a hostmem.Ptr, lda int64, work hostmem.Ptr, lwork int64, info hostmem.Ptr, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if err := j.judge(info, !validFill(fill), n < 0, false, lda < max(1, n)); err != nil {
		return err
	}
	if err := enough(work, lwork, n*n); err != nil {
		return err
	}
	if err := j.tell(info, 0, 1); err != nil || n == 0 {
		return err
	}
	if done, err := j.elsewhere("lauum", e, uint64(fill), uint64(n), uint64(a), uint64(lda)); done {
		return err
	}
	x, square := matAt(a, lda, e), matAt(work, n, e)
	if e == C32 || e == C64 {
		var q shim.Params
		x.Put(&q)
		q.U32(uint32(n))
		if err := j.one(factorKernels, "realDiagonal_"+e.String(), (n+warp-1)/warp, &q); err != nil {
			return err
		}
	}
	ops := [2]Op{blas.CUBLAS_OP_N, blas.CUBLAS_OP_C}
	if fill == blas.CUBLAS_FILL_MODE_LOWER {
		ops[0], ops[1] = ops[1], ops[0]
	}
	p := &cublas.Product{M: n, N: n, K: n, C: square.View, Alpha: plus}
	p.A = x.op(cublas.Triangular(fill, ops[0], blas.CUBLAS_DIAG_NON_UNIT))
	p.B = x.op(cublas.Triangular(fill, ops[1], blas.CUBLAS_DIAG_NON_UNIT))
	if err := j.product(p, e); err != nil {
		return err
	}
	return j.copy(square, x, n, n, partOf(fill))
}
