package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// stored is a triangle that is not stored as a whole matrix: a band of it, or packed.
type stored struct {
	a      hostmem.Ptr
	lda, k int64 // of a band: its column's length, and how many diagonals beside the main one
	packed bool
	fill   Fill
	op     Op
	diag   Diag
	mirror bool // the other triangle is the conjugate: hermitian
}

// The numbers of Half.how in kernels/stored.cu.
const (
	howUpper uint32 = 1 << iota
	howPacked
	howHermitian
	howUnit
	howTurned
	howConj
)

// check answers what cuBLAS answers for a triangle of n rows that makes no sense.
func (s *stored) check(n int64) error {
	if !validFill(s.fill) || !validOp(s.op) || !validDiag(s.diag) || n < 0 || s.k < 0 || (!s.packed && s.lda < s.k+1) {
		return invalidValue
	}
	if n >= maxSide || s.k >= maxSide {
		return notSupported
	}
	return nil
}

func (s *stored) put(n int64, q *shim.Params) {
	reach := s.k
	if s.packed {
		reach = n
	}
	how := flag(s.fill == blas.CUBLAS_FILL_MODE_UPPER)*howUpper | flag(s.packed)*howPacked | flag(s.mirror)*howHermitian |
		flag(s.diag == blas.CUBLAS_DIAG_UNIT)*howUnit | flag(transposes(s.op))*howTurned | flag(s.op == blas.CUBLAS_OP_C)*howConj
	q.U64(uint64(s.a), uint64(s.lda), uint64(reach)).U32(uint32(n), how)
}

// rows launches a kernel in which a lane takes a row.
func (j *job) rows(name string, n int64, e Elem, q *shim.Params) error {
	return storedKernels.Launch(j.d, j.stream, name+e.String(), [3]uint32{uint32((n + 31) / 32), 1, 1}, [3]uint32{32, 1, 1}, q)
}

// Gbmv is y = alpha op(A) x + beta y with below diagonals of A stored under the main one and above over it.
func (t *Thread) Gbmv(h blas.CublasHandle_t, op Op, m, n, below, above int64, alpha, a hostmem.Ptr, lda int64, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if !validOp(op) || m < 0 || n < 0 || below < 0 || above < 0 || incx == 0 || incy == 0 {
		return invalidValue
	}
	if m >= maxSide || n >= maxSide || below >= maxSide || above >= maxSide {
		return notSupported
	}
	if lda < below+above+1 {
		return invalidValue
	}
	if m == 0 || n == 0 {
		return nil
	}
	sa, sb, err := j.scalars(alpha, beta, e)
	if err != nil {
		return err
	}
	lx, ly := n, m
	if op != blas.CUBLAS_OP_N {
		lx, ly = m, n
	}
	vx, vy, band := vectorAt(x, lx, incx, e), vectorAt(y, ly, incy, e), View{Base: uint64(a), LD: lda, Op: op}
	var q shim.Params
	band.Put(&q)
	vx.put(&q)
	vy.put(&q)
	sa.Put(&q)
	sb.Put(&q)
	q.U32(uint32(m), uint32(n), uint32(below), uint32(above))
	return j.checked(func() *Sum {
		return matvecSums(Report("gbmv", e, m, n), bandOf(band, m, n, below, above, e), vx.operand(lx, e), vy.operand(ly, e), sa, sb, 1, kinds{sum: e})
	}, func() error { return j.rows("gbmv_", ly, e, &q) })
}

// scalars are alpha and beta of one type.
func (j *job) scalars(alpha, beta hostmem.Ptr, e Elem) (a, b Scalar, err error) {
	if a, err = ScalarAt(alpha, e, j.mode); err == nil {
		b, err = ScalarAt(beta, e, j.mode)
	}
	return a, b, err
}

// halfmv is y = alpha A x + beta y with A symmetric or Hermitian.
func (t *Thread) halfmv(h blas.CublasHandle_t, s *stored, n int64, alpha, x hostmem.Ptr, incx int64, beta, y hostmem.Ptr, incy int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if incx == 0 || incy == 0 {
		return invalidValue
	}
	if err := s.check(n); err != nil || n == 0 {
		return err
	}
	sa, sb, err := j.scalars(alpha, beta, e)
	if err != nil {
		return err
	}
	vx, vy := vectorAt(x, n, incx, e), vectorAt(y, n, incy, e)
	var q shim.Params
	s.put(n, &q)
	vx.put(&q)
	vy.put(&q)
	sa.Put(&q)
	sb.Put(&q)
	return j.checked(func() *Sum {
		what := Report(s.called("spmv", "sbmv"), e, n)
		return matvecSums(what, s.entries(n, mirrored(s.fill, s.mirror), e), vx.operand(n, e), vy.operand(n, e), sa, sb, 1, kinds{sum: e})
	}, func() error { return j.rows("halfmv_", n, e, &q) })
}

// trimv is x = op(A) x with A triangular. Every element of the result needs many of x, so it is made from a copy.
func (t *Thread) trimv(h blas.CublasHandle_t, s *stored, n int64, x hostmem.Ptr, incx int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if incx == 0 {
		return invalidValue
	}
	if err := s.check(n); err != nil || n == 0 {
		return err
	}
	v := vectorAt(x, n, incx, e)
	return j.checked(func() *Sum {
		return trimvSums(s.called("tpmv", "tbmv"), s.entries(n, triangleOp(s.fill, s.op, s.diag), e), v.operand(n, e), e)
	}, func() error { return j.trimv(s, n, v, e) })
}

// trimv puts the kernels in.
func (j *job) trimv(s *stored, n int64, v vector, e Elem) error {
	j.x.space.Hold() // until both kernels are in the stream
	defer j.x.space.Release()
	at, err := j.x.space.Take(j.d, j.stream, uint64(n)*uint64(e.Size()))
	if err != nil {
		return err
	}
	kept := vector{uint64(at), 1}
	var c, q shim.Params
	v.put(&c)
	kept.put(&c)
	if err := j.each("copy_"+e.String(), n, c.U64(uint64(n))); err != nil {
		return err
	}
	s.put(n, &q)
	kept.put(&q)
	v.put(&q)
	return j.rows("trimv_", n, e, &q)
}

// trisv solves op(A) x = b in place with A triangular.
func (t *Thread) trisv(h blas.CublasHandle_t, s *stored, n int64, x hostmem.Ptr, incx int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if incx == 0 {
		return invalidValue
	}
	if err := s.check(n); err != nil || n == 0 {
		return err
	}
	v := vectorAt(x, n, incx, e)
	var q shim.Params
	s.put(n, &q)
	v.put(&q)
	return j.checked(func() *Sum {
		forward := (s.fill == blas.CUBLAS_FILL_MODE_LOWER) != transposes(s.op)
		return solveSums(s.called("tpsv", "tbsv"), s.entries(n, triangleOp(s.fill, s.op, s.diag), e), false, forward, v.operand(n, e), Scalar{Re: 1}, 1, e)
	}, func() error { return j.rows("trisv_", 1, e, &q) })
}

// halfrank is A = alpha x y' (+ alpha' y x') + A in a packed triangle.
func (t *Thread) halfrank(h blas.CublasHandle_t, fill Fill, n int64, alpha, x hostmem.Ptr, incx int64, y hostmem.Ptr, incy int64, ap hostmem.Ptr, e Elem, u update) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	s := &stored{a: ap, packed: true, fill: fill, mirror: u.hermitian}
	if incx == 0 || incy == 0 {
		return invalidValue
	}
	if err := s.check(n); err != nil || n == 0 {
		return err
	}
	sa, err := ScalarAt(alpha, u.scalar, j.mode)
	if err != nil || sa.IsZero() {
		return err
	}
	vx, vy := vectorAt(x, n, incx, e), vectorAt(y, n, incy, e)
	run := func() error { return j.halfrank(s, n, vx, vy, sa, e, u) }
	return j.checked(func() *Sum {
		return rankSums("spr", vx, vy, sa, n, s.entries(n, 0, e).Operand, packedPlaces(fill, n), e, u)
	}, run)
}

// halfrank puts the kernels in.
func (j *job) halfrank(s *stored, n int64, vx, vy vector, sa Scalar, e Elem, u update) error {
	return inColumns(n, func(first, count int64) error {
		var q shim.Params
		s.put(n, &q)
		vx.put(&q)
		vy.put(&q)
		sa.Put(&q)
		q.U32(uint32(count), uint32(first), flag(u.two))
		return storedKernels.Launch(j.d, j.stream, "halfrank_"+e.String(), sheet(n, count), [3]uint32{32, 1, 1}, &q)
	})
}
