package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// small is many matrices behind lists of addresses on the device, as LAPACK's batched functions take them.
type small struct {
	n, batch int64
	a        hostmem.Ptr
	lda      int64
	pivots   hostmem.Ptr // n for each, from 1; none: rows stay where they are
	c        hostmem.Ptr
	ldc      int64
}

// begin checks what all of them have; nothing is to do if the job it gives is nil.
func (t *Thread) begin(h blas.CublasHandle_t, s *small) (*job, error) {
	j, err := t.job(h)
	if err != nil {
		return nil, err
	}
	if s.n < 0 || s.batch < 0 || s.lda < max(1, s.n) {
		return nil, invalidValue
	}
	if s.n == 0 || s.batch == 0 {
		return nil, nil
	}
	return j, nil
}

const warp = 32

// run launches a kernel with a block for each matrix and 32 of what columns counts.
func (j *job) small(name string, s *small, columns int64, e Elem, q *shim.Params) error {
	if columns > warp*maxGrid {
		return notSupported
	}
	grid := [3]uint32{uint32(s.batch), uint32((columns + warp - 1) / warp), 1}
	return lapackKernels.Launch(j.d, j.stream, name+"_"+e.String(), grid, [3]uint32{warp, 1, 1}, q)
}

func (t *Thread) getrf(h blas.CublasHandle_t, s *small, info hostmem.Ptr, e Elem) error {
	j, err := t.begin(h, s)
	if err != nil || j == nil {
		return err
	}
	if info == hostmem.Nil {
		return invalidValue
	}
	var q shim.Params
	q.U64(uint64(s.a), uint64(s.lda)).U32(uint32(s.n)).U64(uint64(s.pivots), uint64(info))
	return j.small("getrf", s, 1, e, &q)
}

// getrs answers about its arguments in a number on the host: minus the position of the first that makes no sense.
func (t *Thread) getrs(h blas.CublasHandle_t, op Op, s *small, count int64, info hostmem.Ptr, e Elem) error {
	if _, err := t.job(h); err != nil {
		return err
	}
	if info == hostmem.Nil {
		return invalidValue
	}
	bad := int32(0)
	switch {
	case !validOp(op):
		bad = -1
	case s.n < 0:
		bad = -2
	case count < 0:
		bad = -3
	case s.lda < max(1, s.n):
		bad = -5
	case s.ldc < max(1, s.n):
		bad = -8
	case s.batch < 0:
		bad = -10
	}
	hostmem.Store(info, bad)
	if bad != 0 {
		return invalidValue
	}
	j, err := t.begin(h, s)
	if err != nil || j == nil || count == 0 {
		return err
	}
	var q shim.Params
	q.U64(uint64(s.a), uint64(s.lda)).U32(uint32(s.n)).U64(uint64(s.pivots), uint64(s.c), uint64(s.ldc)).U32(uint32(count), uint32(op))
	return j.small("getrs", s, count, e, &q)
}

func (t *Thread) getri(h blas.CublasHandle_t, s *small, info hostmem.Ptr, e Elem) error {
	j, err := t.begin(h, s)
	if err != nil || j == nil {
		return err
	}
	if info == hostmem.Nil || s.ldc < s.n {
		return invalidValue
	}
	var q shim.Params
	q.U64(uint64(s.a), uint64(s.lda)).U32(uint32(s.n)).U64(uint64(s.pivots), uint64(s.c), uint64(s.ldc), uint64(info))
	return j.small("getri", s, s.n, e, &q)
}

// maxInverse is the size up to which matinv works, in cuBLAS too.
const maxInverse = 32

func (t *Thread) matinv(h blas.CublasHandle_t, s *small, info hostmem.Ptr, e Elem) error {
	j, err := t.begin(h, s)
	if err != nil || j == nil {
		return err
	}
	if info == hostmem.Nil || s.ldc < s.n || s.n > maxInverse {
		return invalidValue
	}
	var q shim.Params
	q.U64(uint64(s.a), uint64(s.lda)).U32(uint32(s.n)).U64(uint64(s.c), uint64(s.ldc), uint64(info))
	return j.small("matinv", s, 1, e, &q)
}

// packed copies a triangle out of a matrix into its columns one after the other, or back.
func (t *Thread) packed(h blas.CublasHandle_t, fill Fill, n int64, ap, a hostmem.Ptr, lda int64, e Elem, out bool) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if !validFill(fill) || n < 0 || lda < max(1, n) {
		return invalidValue
	}
	if n == 0 {
		return nil
	}
	var q shim.Params
	q.U64(uint64(ap), uint64(a), uint64(lda)).U32(uint32(n), flag(fill == blas.CUBLAS_FILL_MODE_UPPER), flag(out))
	grid := [3]uint32{uint32((n + warp - 1) / warp), uint32(min(n, maxGrid)), 1}
	return lapackKernels.Launch(j.d, j.stream, "packed_"+e.String(), grid, [3]uint32{warp, 1, 1}, &q)
}
