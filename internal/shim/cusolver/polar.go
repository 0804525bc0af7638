package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
)

// A = U H is made of A = X S V': U is X V' and H is V S V'.

// polarRoom is its workspace.
type polarRoom struct {
	x, up, v, vs, h hostmem.Ptr // X, U, V, V S, H; X is what is left of A afterwards
	s               hostmem.Ptr
	svd             hostmem.Ptr
	end             uint64
}

func polarAt(work hostmem.Ptr, m, n int64, e Elem) polarRoom {
	l := layout{uint64(work), uint64(e.Size())}
	r := polarRoom{x: l.take(m * n), up: l.take(m * n), v: l.take(n * n), vs: l.take(n * n), h: l.take(n * n)}
	l.size = uint64(realOf(e).Size())
	r.s = l.take(n)
	r.svd = hostmem.Ptr(l.at)
	r.end = l.at + uint64(singularBytes(m, n, false, e))
	return r
}

// polarTypes is the type of A, if H's is the same.
func polarTypes(ta, th, tc Type) (Elem, error) {
	e, err := typed(ta, tc)
	if err != nil || th != ta {
		return 0, invalidValue
	}
	return e, nil
}

// DnXpolarBufferSize is what DnXpolar needs.
func (t *Thread) DnXpolarBufferSize(h Handle, p Params, fill Fill, m, n int64, ta Type, a hostmem.Ptr, lda int64, th Type, hh hostmem.Ptr, ldh int64, tc Type) (device, host uint64, err error) {
	e, err := polarTypes(ta, th, tc)
	if err != nil {
		return 0, 0, err
	}
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	if err := fits(m, n); err != nil {
		return 0, 0, err
	}
	if m < 0 || n < 0 {
		return 0, 0, invalidValue
	}
	return polarAt(0, max(m, n), min(m, n), e).end, 0, nil // whichever of the two is called m
}

// DnXpolar is A = U H: U, whose columns are orthonormal, takes A's place, and H is positive semidefinite. fill says which part of H
// is written. Unlike the vendor's method this one disturbs no matrix.
func (t *Thread) DnXpolar(h Handle, p Params, fill Fill, m, n int64, ta Type, a hostmem.Ptr, lda int64, th Type, hh hostmem.Ptr, ldh int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, residual, norm, rcond, info hostmem.Ptr) error {
	e, err := polarTypes(ta, th, tc)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if info == hostmem.Nil || n > m || !validFill(fill) && fill != blas.CUBLAS_FILL_MODE_FULL || ldh < max(1, n) {
		return invalidValue
	}
	if err := sized(m, n, lda); err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, 1)
	}
	if err := enough(work, int64(lwork), int64(polarAt(0, m, n, e).end)); err != nil {
		return err
	}
	r := polarAt(work, m, n, e)
	if err := j.polar(matAt(a, lda, e), matAt(hh, ldh, e), fill, m, n, &r, info); err != nil {
		return err
	}
	var q shim.Params
	q.U64(uint64(a), uint64(lda)).U32(uint32(m), uint32(n)).U64(uint64(r.x), uint64(r.s), uint64(residual), uint64(norm), uint64(rcond))
	if err := j.one(polarKernels, "measures_"+e.String(), 1, &q); err != nil {
		return err
	}
	return j.copy(matAt(r.up, m, e), matAt(a, lda, e), m, n, copyAll)
}

// polar makes U in workspace, what A - U H leaves, and H.
func (j *job) polar(a, out mat, fill Fill, m, n int64, r *polarRoom, info hostmem.Ptr) error {
	e := a.e
	x, up, v, vs, h := matAt(r.x, m, e), matAt(r.up, m, e), matAt(r.v, n, e), matAt(r.vs, n, e), matAt(r.h, n, e)
	s := &singular{a: a, m: m, n: n, s: r.s, values: n, sweeps: maxSweeps, work: r.svd, info: info, left: vectorsOf{to: x.View, columns: n}, right: vectorsOf{to: v.View, columns: n}}
	if err := j.svd(s); err != nil {
		return err
	}
	var q shim.Params
	q.U64(v.Base).U32(uint32(n)).U64(uint64(r.s), vs.Base)
	if err := j.one(polarKernels, "stretch_"+e.String(), min(n, 64), &q); err != nil {
		return err
	}
	turned := v.op(blas.CUBLAS_OP_C)
	if err := j.product(&cublas.Product{M: m, N: n, K: n, A: x.View, B: turned, C: up.View, Alpha: plus}, e); err != nil {
		return err
	}
	if err := j.product(&cublas.Product{M: n, N: n, K: n, A: vs.View, B: turned, C: h.View, Alpha: plus, Part: cublas.PartLower, Real: true}, e); err != nil {
		return err
	}
	var f shim.Params
	h.Put(&f)
	f.U32(uint32(n), 0)
	if err := j.sheet("fill_"+e.String(), n, n, 1, &f); err != nil {
		return err
	}
	part := uint32(copyAll)
	if fill != blas.CUBLAS_FILL_MODE_FULL {
		part = partOf(fill)
	}
	if err := j.copy(h, out, n, n, part); err != nil {
		return err
	}
	if err := j.copy(a, x, m, n, copyAll); err != nil {
		return err
	}
	return j.product(&cublas.Product{M: m, N: n, K: n, A: up.View, B: h.View, C: x.View, Alpha: minus, Beta: plus}, e)
}
