package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// The 64-bit interface: types are arguments, workspaces are in bytes, on the device and on the host, where nothing is needed.

// Type is CUDA's name for a type.
type Type = rt.CudaDataType

// Params are the interface's; none are needed.
type Params = solver.CusolverDnParams_t

// DnXpotrfBufferSize is what DnXpotrf needs.
func (t *Thread) DnXpotrfBufferSize(h Handle, p Params, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tc Type) (device, host uint64, err error) {
	e, err := typed(ta, tc)
	if err != nil {
		return 0, 0, err
	}
	_, err = t.PotrfBufferSize(h, fill, n, a, lda, e)
	return 0, 0, err
}

// DnXpotrf is Potrf.
func (t *Thread) DnXpotrf(h Handle, p Params, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	e, err := typed(ta, tc)
	if err != nil {
		return err
	}
	return t.Potrf(h, fill, n, a, lda, work, int64(lwork), info, e)
}

// DnXpotrs is Potrs.
func (t *Thread) DnXpotrs(h Handle, p Params, fill Fill, n, count int64, ta Type, a hostmem.Ptr, lda int64, tb Type, b hostmem.Ptr, ldb int64, info hostmem.Ptr) error {
	e, err := typed(ta, tb)
	if err != nil {
		return err
	}
	return t.Potrs(h, fill, n, count, a, lda, b, ldb, info, e)
}

// DnXgetrfBufferSize is what DnXgetrf needs.
func (t *Thread) DnXgetrfBufferSize(h Handle, p Params, m, n int64, ta Type, a hostmem.Ptr, lda int64, tc Type) (device, host uint64, err error) {
	e, err := typed(ta, tc)
	if err != nil {
		return 0, 0, err
	}
	_, err = t.GetrfBufferSize(h, m, n, a, lda, e)
	return 0, 0, err
}

// DnXgetrf is Getrf with 64-bit pivots.
func (t *Thread) DnXgetrf(h Handle, p Params, m, n int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	e, err := typed(ta, tc)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.getrf(matAt(a, lda, e), m, n, pivots{uint64(ipiv), true}, info)
}

// DnXgetrs is Getrs with 64-bit pivots.
func (t *Thread) DnXgetrs(h Handle, p Params, op Op, n, count int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tb Type, b hostmem.Ptr, ldb int64, info hostmem.Ptr) error {
	e, err := typed(ta, tb)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.getrs(matAt(a, lda, e), matAt(b, ldb, e), op, n, count, pivots{uint64(ipiv), true}, info)
}

// DnXgeqrfBufferSize is what DnXgeqrf needs.
func (t *Thread) DnXgeqrfBufferSize(h Handle, p Params, m, n int64, ta Type, a hostmem.Ptr, lda int64, tt Type, taus hostmem.Ptr, tc Type) (device, host uint64, err error) {
	e, err := typed(ta, tc)
	if err != nil || tt != ta {
		return 0, 0, invalidValue
	}
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	return uint64(blockSize(m, n)) * uint64(e.Size()), 0, sized(m, n, lda)
}

// DnXgeqrf is Geqrf.
func (t *Thread) DnXgeqrf(h Handle, p Params, m, n int64, ta Type, a hostmem.Ptr, lda int64, tt Type, taus hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	e, err := typed(ta, tc)
	if err != nil || tt != ta {
		return invalidValue
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.geqrfCall(matAt(a, lda, e), m, n, taus, work, int64(lwork)/int64(e.Size()), info)
}

// DnXtrtriBufferSize is what DnXtrtri needs.
func (t *Thread) DnXtrtriBufferSize(h Handle, fill Fill, diag Diag, n int64, ta Type, a hostmem.Ptr, lda int64) (device, host uint64, err error) {
	e, err := typed(ta, ta)
	if err != nil {
		return 0, 0, err
	}
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	if !validFill(fill) || diag != blas.CUBLAS_DIAG_UNIT && diag != blas.CUBLAS_DIAG_NON_UNIT {
		return 0, 0, invalidValue
	}
	return uint64(n*n) * uint64(e.Size()), 0, sized(n, n, lda)
}

// DnXtrtri is the inverse of a triangle, in its place.
func (t *Thread) DnXtrtri(h Handle, fill Fill, diag Diag, n int64, ta Type, a hostmem.Ptr, lda int64, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	need, _, err := t.DnXtrtriBufferSize(h, fill, diag, n, ta, a, lda)
	if err != nil {
		return err
	}
	if info == hostmem.Nil {
		return invalidValue
	}
	if err := enough(work, int64(lwork), int64(need)); err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, 1)
	}
	e, _ := cublas.ElemOf(ta)
	return j.trtri(matAt(a, lda, e), fill, diag, n, work, info)
}

// DnXsyevdBufferSize is what DnXsyevd needs.
func (t *Thread) DnXsyevdBufferSize(h Handle, p Params, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tc Type) (device, host uint64, err error) {
	return t.DnXsyevBatchedBufferSize(h, p, mode, fill, n, ta, a, lda, tw, w, tc, 1)
}

// DnXsyevd is Syevd.
func (t *Thread) DnXsyevd(h Handle, p Params, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	return t.DnXsyevBatched(h, p, mode, fill, n, ta, a, lda, tw, w, tc, work, lwork, host, lhost, info, 1)
}

// DnXsyevBatchedBufferSize is what DnXsyevBatched needs.
func (t *Thread) DnXsyevBatchedBufferSize(h Handle, p Params, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tc Type, batch int64) (device, host uint64, err error) {
	e, err := typed(ta, tc)
	if err != nil {
		return 0, 0, err
	}
	if err := typedReal(tw, e); err != nil {
		return 0, 0, err
	}
	size, err := t.syevSize(h, mode, fill, n, lda, batch)
	return uint64(size) * uint64(e.Size()), 0, err
}

// DnXsyevBatched is Syevd for matrices one behind the other.
func (t *Thread) DnXsyevBatched(h Handle, p Params, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr, batch int64) error {
	e, err := typed(ta, tc)
	if err != nil {
		return err
	}
	if err := typedReal(tw, e); err != nil {
		return err
	}
	return t.syev(h, mode, &eigen{a: stacked(a, lda, n, batch, e), n: n, fill: fill, w: w, work: work, lwork: int64(lwork) / int64(e.Size()), info: info})
}

// svdTypes are the type of A, if the others belong to it.
func svdTypes(ta, ts, tu, tv, tc Type) (Elem, error) {
	e, err := typed(ta, tc)
	if err != nil || tu != ta || tv != ta {
		return 0, invalidValue
	}
	return e, typedReal(ts, e)
}

// DnXgesvdBufferSize is what DnXgesvd needs.
func (t *Thread) DnXgesvdBufferSize(h Handle, p Params, jobu, jobvt int8, m, n int64, ta Type, a hostmem.Ptr, lda int64, ts Type, s hostmem.Ptr, tu Type, u hostmem.Ptr, ldu int64, tv Type, v hostmem.Ptr, ldv int64, tc Type) (device, host uint64, err error) {
	e, err := svdTypes(ta, ts, tu, tv, tc)
	if err != nil {
		return 0, 0, err
	}
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	if m < n {
		return 0, 0, invalidValue
	}
	return uint64(singularBytes(m, n, jobu == 'A', e)), 0, sized(m, n, lda)
}

// DnXgesvd is Gesvd.
func (t *Thread) DnXgesvd(h Handle, p Params, jobu, jobvt int8, m, n int64, ta Type, a hostmem.Ptr, lda int64, ts Type, s hostmem.Ptr, tu Type, u hostmem.Ptr, ldu int64, tv Type, vt hostmem.Ptr, ldvt int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	e, err := svdTypes(ta, ts, tu, tv, tc)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	return j.gesvdCall(matAt(a, lda, e), jobu, jobvt, m, n, s, cublas.View{Base: uint64(u), LD: ldu}, cublas.View{Base: uint64(vt), LD: ldvt}, work, int64(lwork), info)
}

// DnXgesvdpBufferSize is what DnXgesvdp needs.
func (t *Thread) DnXgesvdpBufferSize(h Handle, p Params, mode Mode, econ int32, m, n int64, ta Type, a hostmem.Ptr, lda int64, ts Type, s hostmem.Ptr, tu Type, u hostmem.Ptr, ldu int64, tv Type, v hostmem.Ptr, ldv int64, tc Type) (device, host uint64, err error) {
	e, err := svdTypes(ta, ts, tu, tv, tc)
	if err != nil {
		return 0, 0, err
	}
	bytes, err := t.gesvdjSize(h, mode, econ != 0, m, n, lda, 1, e)
	return uint64(bytes), 0, err
}

// DnXgesvdp is A = U S V' of any shape. The error that the vendor's method may make, by disturbing the matrix, is none here.
func (t *Thread) DnXgesvdp(h Handle, p Params, mode Mode, econ int32, m, n int64, ta Type, a hostmem.Ptr, lda int64, ts Type, s hostmem.Ptr, tu Type, u hostmem.Ptr, ldu int64, tv Type, v hostmem.Ptr, ldv int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info, sigma hostmem.Ptr) error {
	e, err := svdTypes(ta, ts, tu, tv, tc)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if sigma != hostmem.Nil {
		hostmem.Store(sigma, 0.0)
	}
	return j.gesvdjCall(matAt(a, lda, e), mode, econ != 0, m, n, s, cublas.View{Base: uint64(u), LD: ldu}, cublas.View{Base: uint64(v), LD: ldv}, work, int64(lwork), info, method{sweeps: maxSweeps})
}

// DnXgesvdrBufferSize is what DnXgesvdr needs.
func (t *Thread) DnXgesvdrBufferSize(h Handle, p Params, jobu, jobv int8, m, n, k, over, iterations int64, ta Type, a hostmem.Ptr, lda int64, ts Type, s hostmem.Ptr, tu Type, u hostmem.Ptr, ldu int64, tv Type, v hostmem.Ptr, ldv int64, tc Type) (device, host uint64, err error) {
	e, err := svdTypes(ta, ts, tu, tv, tc)
	if err != nil {
		return 0, 0, err
	}
	if k < 0 || over < 0 || k+over > min(m, n) {
		return 0, 0, invalidValue
	}
	bytes, err := t.gesvdjSize(h, solver.CUSOLVER_EIG_MODE_NOVECTOR, true, m, n, lda, 1, e)
	return uint64(bytes), 0, err
}

// DnXgesvdr finds the k largest values and their vectors: not by chance, as the vendor's method, but exactly.
func (t *Thread) DnXgesvdr(h Handle, p Params, jobu, jobv int8, m, n, k, over, iterations int64, ta Type, a hostmem.Ptr, lda int64, ts Type, s hostmem.Ptr, tu Type, u hostmem.Ptr, ldu int64, tv Type, v hostmem.Ptr, ldv int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	need, _, err := t.DnXgesvdrBufferSize(h, p, jobu, jobv, m, n, k, over, iterations, ta, a, lda, ts, s, tu, u, ldu, tv, v, ldv, tc)
	if err != nil {
		return err
	}
	if err := enough(work, int64(lwork), int64(need)); err != nil {
		return err
	}
	if jobu != 'S' && jobu != 'N' || jobv != 'S' && jobv != 'N' || info == hostmem.Nil {
		return invalidValue
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	e, _ := cublas.ElemOf(ta)
	x := &singular{a: matAt(a, lda, e), m: m, n: n, s: s, values: k, sweeps: maxSweeps, work: work, info: info}
	x.left.to, x.right.to = cublas.View{Base: uint64(u), LD: ldu}, cublas.View{Base: uint64(v), LD: ldv}
	if jobu == 'S' {
		x.left.columns = k
	}
	if jobv == 'S' {
		x.right.columns = k
	}
	if jobu == 'S' && ldu < max(1, m) || jobv == 'S' && ldv < max(1, n) {
		return invalidValue
	}
	return j.svd(x)
}
