package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/solver"
)

// geevElements are what the eigenvalues of a matrix need: itself, its Schur vectors, the eigenvectors, and vectors.
func geevElements(n int64) int64 { return 3*n*n + 3*n }

// geevType is the type of A if all others are right. Complex matrices only, yet.
func geevType(ta, tw, tl, tr, tc Type) (Elem, error) {
	e, err := typed(ta, tc)
	if err != nil {
		return 0, err
	}
	if e != C32 && e != C64 {
		return 0, notSupported
	}
	if tw != ta || tl != ta || tr != ta {
		return 0, invalidValue
	}
	return e, nil
}

// DnXgeevBufferSize is what DnXgeev needs.
func (t *Thread) DnXgeevBufferSize(h Handle, p Params, left, right Mode, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tl Type, vl hostmem.Ptr, ldvl int64, tr Type, vr hostmem.Ptr, ldvr int64, tc Type) (device, host uint64, err error) {
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	e, err := geevType(ta, tw, tl, tr, tc)
	if err != nil {
		return 0, 0, err
	}
	return uint64(geevElements(max(n, 0))) * uint64(e.Size()), 0, nil
}

// DnXgeev finds eigenvalues of any complex matrix, and right eigenvectors of length 1; left ones are not to be had, as in the
// vendor's library.
func (t *Thread) DnXgeev(h Handle, p Params, left, right Mode, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tl Type, vl hostmem.Ptr, ldvl int64, tr Type, vr hostmem.Ptr, ldvr int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	e, err := geevType(ta, tw, tl, tr, tc)
	if err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	vectors := right == solver.CUSOLVER_EIG_MODE_VECTOR
	if left != solver.CUSOLVER_EIG_MODE_NOVECTOR || !validMode(right) || info == hostmem.Nil || vectors && ldvr < max(1, n) {
		return invalidValue
	}
	if err := sized(n, n, lda); err != nil {
		return err
	}
	if err := enough(work, int64(lwork), geevElements(n)*int64(e.Size())); err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, 1)
	}
	if !vectors {
		vr = hostmem.Nil
	}
	var q shim.Params
	q.U64(uint64(a), uint64(lda)).U32(uint32(n)).U64(uint64(w), uint64(vr), uint64(ldvr), uint64(work), uint64(info))
	return j.one(generalKernels, "geev_"+e.String(), 1, &q)
}
