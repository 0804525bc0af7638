package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/solver"
)

// The first 64-bit interface, of cuSOLVER 11: that of wide.go with one workspace.

// DnPotrfBufferSize is what DnPotrf needs.
func (t *Thread) DnPotrfBufferSize(h Handle, p Params, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tc Type) (uint64, error) {
	size, _, err := t.DnXpotrfBufferSize(h, p, fill, n, ta, a, lda, tc)
	return size, err
}

// DnPotrf is Potrf.
func (t *Thread) DnPotrf(h Handle, p Params, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tc Type, work hostmem.Ptr, lwork uint64, info hostmem.Ptr) error {
	return t.DnXpotrf(h, p, fill, n, ta, a, lda, tc, work, lwork, 0, 0, info)
}

// DnPotrs is Potrs.
func (t *Thread) DnPotrs(h Handle, p Params, fill Fill, n, count int64, ta Type, a hostmem.Ptr, lda int64, tb Type, b hostmem.Ptr, ldb int64, info hostmem.Ptr) error {
	return t.DnXpotrs(h, p, fill, n, count, ta, a, lda, tb, b, ldb, info)
}

// DnGeqrfBufferSize is what DnGeqrf needs.
func (t *Thread) DnGeqrfBufferSize(h Handle, p Params, m, n int64, ta Type, a hostmem.Ptr, lda int64, tt Type, taus hostmem.Ptr, tc Type) (uint64, error) {
	size, _, err := t.DnXgeqrfBufferSize(h, p, m, n, ta, a, lda, tt, taus, tc)
	return size, err
}

// DnGeqrf is Geqrf.
func (t *Thread) DnGeqrf(h Handle, p Params, m, n int64, ta Type, a hostmem.Ptr, lda int64, tt Type, taus hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, info hostmem.Ptr) error {
	return t.DnXgeqrf(h, p, m, n, ta, a, lda, tt, taus, tc, work, lwork, 0, 0, info)
}

// DnGetrfBufferSize is what DnGetrf needs.
func (t *Thread) DnGetrfBufferSize(h Handle, p Params, m, n int64, ta Type, a hostmem.Ptr, lda int64, tc Type) (uint64, error) {
	size, _, err := t.DnXgetrfBufferSize(h, p, m, n, ta, a, lda, tc)
	return size, err
}

// DnGetrf is Getrf with 64-bit pivots.
func (t *Thread) DnGetrf(h Handle, p Params, m, n int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, info hostmem.Ptr) error {
	return t.DnXgetrf(h, p, m, n, ta, a, lda, ipiv, tc, work, lwork, 0, 0, info)
}

// DnGetrs is Getrs with 64-bit pivots.
func (t *Thread) DnGetrs(h Handle, p Params, op Op, n, count int64, ta Type, a hostmem.Ptr, lda int64, ipiv hostmem.Ptr, tb Type, b hostmem.Ptr, ldb int64, info hostmem.Ptr) error {
	return t.DnXgetrs(h, p, op, n, count, ta, a, lda, ipiv, tb, b, ldb, info)
}

// DnSyevdBufferSize is what DnSyevd needs.
func (t *Thread) DnSyevdBufferSize(h Handle, p Params, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tc Type) (uint64, error) {
	size, _, err := t.DnXsyevdBufferSize(h, p, mode, fill, n, ta, a, lda, tw, w, tc)
	return size, err
}

// DnSyevd is Syevd.
func (t *Thread) DnSyevd(h Handle, p Params, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, info hostmem.Ptr) error {
	return t.DnXsyevd(h, p, mode, fill, n, ta, a, lda, tw, w, tc, work, lwork, 0, 0, info)
}

// DnSyevdxBufferSize is what DnSyevdx needs.
func (t *Thread) DnSyevdxBufferSize(h Handle, p Params, mode Mode, what Range, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, low, high hostmem.Ptr, first, last int64, meig hostmem.Ptr, tw Type, w hostmem.Ptr, tc Type) (uint64, error) {
	size, _, err := t.DnXsyevdxBufferSize(h, p, mode, what, fill, n, ta, a, lda, low, high, first, last, meig, tw, w, tc)
	return size, err
}

// DnSyevdx is Syevdx.
func (t *Thread) DnSyevdx(h Handle, p Params, mode Mode, what Range, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, low, high hostmem.Ptr, first, last int64, meig hostmem.Ptr, tw Type, w hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, info hostmem.Ptr) error {
	return t.DnXsyevdx(h, p, mode, what, fill, n, ta, a, lda, low, high, first, last, meig, tw, w, tc, work, lwork, 0, 0, info)
}

// DnGesvdBufferSize is what DnGesvd needs.
func (t *Thread) DnGesvdBufferSize(h Handle, p Params, jobu, jobvt int8, m, n int64, ta Type, a hostmem.Ptr, lda int64, ts Type, s hostmem.Ptr, tu Type, u hostmem.Ptr, ldu int64, tv Type, v hostmem.Ptr, ldv int64, tc Type) (uint64, error) {
	size, _, err := t.DnXgesvdBufferSize(h, p, jobu, jobvt, m, n, ta, a, lda, ts, s, tu, u, ldu, tv, v, ldv, tc)
	return size, err
}

// DnGesvd is Gesvd.
func (t *Thread) DnGesvd(h Handle, p Params, jobu, jobvt int8, m, n int64, ta Type, a hostmem.Ptr, lda int64, ts Type, s hostmem.Ptr, tu Type, u hostmem.Ptr, ldu int64, tv Type, v hostmem.Ptr, ldv int64, tc Type, work hostmem.Ptr, lwork uint64, info hostmem.Ptr) error {
	return t.DnXgesvd(h, p, jobu, jobvt, m, n, ta, a, lda, ts, s, tu, u, ldu, tv, v, ldv, tc, work, lwork, 0, 0, info)
}

// larftElements: a block of reflections with its ones and zeros, and two products.
func larftElements(n, k int64) int64 { return panel * (n + 2*k) }

// DnXlarftBufferSize is what DnXlarft needs.
func (t *Thread) DnXlarftBufferSize(h Handle, p Params, direct solver.CusolverDirectMode_t, storev solver.CusolverStorevMode_t, n, k int64, tv Type, v hostmem.Ptr, ldv int64, tt Type, taus hostmem.Ptr, to Type, at hostmem.Ptr, ldt int64, tc Type) (device, host uint64, err error) {
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	e, err := typed(tv, tc)
	if err != nil || tt != tv || to != tv {
		return 0, 0, invalidValue
	}
	if direct != solver.CUBLAS_DIRECT_FORWARD || storev != solver.CUBLAS_STOREV_COLUMNWISE {
		return 0, 0, notSupported
	}
	if k < 0 || k > n || ldt < max(1, k) {
		return 0, 0, invalidValue
	}
	return uint64(larftElements(n, k)) * uint64(e.Size()), 0, sized(n, k, ldv)
}

// DnXlarft makes the triangle T of I - V T V', the product of k reflections that lie in columns, as Geqrf leaves them.
func (t *Thread) DnXlarft(h Handle, p Params, direct solver.CusolverDirectMode_t, storev solver.CusolverStorevMode_t, n, k int64, tv Type, v hostmem.Ptr, ldv int64, tt Type, taus hostmem.Ptr, to Type, at hostmem.Ptr, ldt int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64) error {
	need, _, err := t.DnXlarftBufferSize(h, p, direct, storev, n, k, tv, v, ldv, tt, taus, to, at, ldt, tc)
	if err != nil {
		return err
	}
	if err := enough(work, int64(lwork), int64(need)); err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	e, _ := cublas.ElemOf(tv)
	return j.larft(matAt(v, ldv, e), matAt(at, ldt, e), n, k, taus, work)
}

// larft goes panel by panel: what is above a panel's own triangle is -T V'W S, of T and V before it, W and S its own.
func (j *job) larft(v, t mat, n, k int64, taus, work hostmem.Ptr) error {
	e := v.e
	size := int64(e.Size())
	at := func(elements int64) hostmem.Ptr { return hostmem.Ptr(int64(work) + elements*size) }
	for i := int64(0); i < k; i += panel {
		wide := min(panel, k-i)
		own := t.at(i, i)
		b := &block{v: matAt(work, n-i, e), t: own}
		if err := j.gather(b, v.at(i, i), n-i, wide, uint64(taus)+uint64(i*size)); err != nil {
			return err
		}
		if i == 0 {
			continue
		}
		first, second := matAt(at(panel*n), i, e), matAt(at(panel*(n+k)), i, e)
		before := t.op(cublas.Triangular(blas.CUBLAS_FILL_MODE_UPPER, blas.CUBLAS_OP_N, blas.CUBLAS_DIAG_NON_UNIT))
		for _, p := range []*cublas.Product{
			{M: i, N: wide, K: n - i, A: v.at(i, 0).op(blas.CUBLAS_OP_C), B: b.v.View, C: first.View, Alpha: plus},
			{M: i, N: wide, K: wide, A: first.View, B: own.View, C: second.View, Alpha: plus},
			{M: i, N: wide, K: i, A: before, B: second.View, C: t.at(0, i).View, Alpha: minus},
		} {
			if err := j.product(p, e); err != nil {
				return err
			}
		}
	}
	return nil
}
