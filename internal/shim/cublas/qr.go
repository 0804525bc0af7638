package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/blas"
)

// judge writes the position of the first argument that makes no sense, negative, to the host; bad are those that do not.
func judge(info hostmem.Ptr, bad ...bool) error {
	if info == hostmem.Nil {
		return invalidValue
	}
	hostmem.Store(info, int32(0))
	for i, b := range bad {
		if b {
			hostmem.Store(info, int32(-1-i))
			return invalidValue
		}
	}
	return nil
}

// GeqrfBatched factors matrices into Q R by reflections, in place.
func (t *Thread) GeqrfBatched(h blas.CublasHandle_t, m, n int64, a hostmem.Ptr, lda int64, taus, info hostmem.Ptr, batch int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if err := judge(info, m < 0, n < 0, a == hostmem.Nil && batch > 0, lda < max(1, m), taus == hostmem.Nil && batch > 0, false, batch < 0); err != nil {
		return err
	}
	if m == 0 || n == 0 || batch == 0 {
		return nil
	}
	var q shim.Params
	q.U64(uint64(a), uint64(lda)).U32(uint32(m), uint32(n)).U64(uint64(taus))
	return qrKernels.Launch(j.d, j.stream, "geqrf_"+e.String(), [3]uint32{uint32(batch), 1, 1}, [3]uint32{warp, 1, 1}, &q)
}

// GelsBatched finds the X for which A X is nearest to C, in the place of C. cuBLAS takes no transposes and no
// more unknowns than rows.
func (t *Thread) GelsBatched(h blas.CublasHandle_t, op Op, m, n, count int64, a hostmem.Ptr, lda int64, c hostmem.Ptr, ldc int64, info, devInfo hostmem.Ptr, batch int64, e Elem) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if op != blas.CUBLAS_OP_N || m > 0 && m < n {
		return notSupported
	}
	none := batch > 0 && a == hostmem.Nil
	if err := judge(info, false, m < 0, n < 0, count < 0, none, lda < max(1, m), batch > 0 && c == hostmem.Nil, ldc < max(1, m), false, false, batch < 0); err != nil {
		return err
	}
	if m == 0 || n == 0 || batch == 0 {
		return nil
	}
	var q shim.Params
	q.U64(uint64(a), uint64(lda)).U32(uint32(m), uint32(n)).U64(uint64(c), uint64(ldc)).U32(uint32(count)).U64(uint64(devInfo))
	return qrKernels.Launch(j.d, j.stream, "gels_"+e.String(), [3]uint32{uint32(batch), 1, 1}, [3]uint32{warp, 1, 1}, &q)
}
