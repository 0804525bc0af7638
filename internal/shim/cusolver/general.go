package cusolver

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/shim"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// loneRows are the most of a complex matrix whose eigenvalues one thread finds: from there on a warp is as fast.
const loneRows = 16

// geevElements are what the eigenvalues of a matrix need: itself, its Schur vectors, the eigenvectors, and vectors.
func geevElements(n int64, e Elem) int64 {
	if n < geevRows {
		return 3*n*n + 3*n
	}
	return int64(schurAt(0, n, e).end/uint64(e.Size())) + 1
}

// geevForm is the type of A, and how values and vectors of a real one are written, as kernels/real.cu has it.
type geevForm struct {
	e                       Elem
	complexValues, complexV bool
}

// complexOf is the complex type of a real one.
func complexOf(t Type) Type {
	switch t {
	case rt.CUDA_R_32F:
		return rt.CUDA_C_32F
	case rt.CUDA_R_64F:
		return rt.CUDA_C_64F
	}
	return t
}

func geevType(ta, tw, tl, tr, tc Type) (f geevForm, err error) {
	if f.e, err = typed(ta, tc); err != nil {
		return f, err
	}
	c := complexOf(ta)
	if tw != ta && tw != c || tl != ta && tl != c || tr != ta && tr != c {
		return f, invalidValue
	}
	f.complexValues, f.complexV = tw == c, tr == c
	return f, nil
}

// DnXgeevBufferSize is what DnXgeev needs.
func (t *Thread) DnXgeevBufferSize(h Handle, p Params, left, right Mode, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tl Type, vl hostmem.Ptr, ldvl int64, tr Type, vr hostmem.Ptr, ldvr int64, tc Type) (device, host uint64, err error) {
	if err := t.live(h); err != nil {
		return 0, 0, err
	}
	f, err := geevType(ta, tw, tl, tr, tc)
	if err != nil {
		return 0, 0, err
	}
	return uint64(geevElements(max(n, 0), f.e)) * uint64(f.e.Size()), 0, nil
}

// DnXgeev finds eigenvalues of any matrix, and right eigenvectors of length 1; left ones are not to be had, as in the vendor's
// library. Of a real matrix the values are complex numbers, or real parts and then imaginary ones, as W's type says; of a pair
// the vectors are a column of real parts and one of imaginary ones, unless their type is complex.
func (t *Thread) DnXgeev(h Handle, p Params, left, right Mode, n int64, ta Type, a hostmem.Ptr, lda int64, tw Type, w hostmem.Ptr, tl Type, vl hostmem.Ptr, ldvl int64, tr Type, vr hostmem.Ptr, ldvr int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	f, err := geevType(ta, tw, tl, tr, tc)
	if err != nil {
		return err
	}
	e := f.e
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
	if err := enough(work, int64(lwork), geevElements(n, e)*int64(e.Size())); err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, 1)
	}
	if !vectors {
		vr = hostmem.Nil
	}
	if (e == C32 || e == C64) && n <= loneRows {
		return j.geevLone(matAt(a, lda, e), n, w, vr, ldvr, work, info)
	}
	if n >= geevRows {
		return j.geevLarge(matAt(a, lda, e), n, f, w, vr, ldvr, work, info)
	}
	var q shim.Params
	q.U64(uint64(a), uint64(lda)).U32(uint32(n)).U64(uint64(w), uint64(vr), uint64(ldvr), uint64(work), uint64(info))
	q.U32(flag(f.complexValues) | flag(f.complexV)<<1)
	return j.one(realKernels, "geev_"+e.String(), 1, &q)
}

// geevLone has one thread do all (kernels/lone.cu).
func (j *job) geevLone(a mat, n int64, w, vr hostmem.Ptr, ldvr int64, work, info hostmem.Ptr) error {
	var q shim.Params
	q.U64(a.Base, uint64(a.LD)).U32(uint32(n)).U64(uint64(w), uint64(vr), uint64(ldvr), uint64(work), uint64(info))
	return loneKernels.Launch(j.d, j.stream, "geevLone_"+a.e.String(), [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, &q)
}
