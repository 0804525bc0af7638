package cusolver

import (
	"kudzu/internal/driver"
	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/solver"
)

// DnXsygvdBufferSize is what DnXsygvd needs.
func (t *Thread) DnXsygvdBufferSize(h Handle, p Params, kind solver.CusolverEigType_t, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tb Type, b hostmem.Ptr, ldb int64, tw Type, w hostmem.Ptr, tc Type) (device, host uint64, err error) {
	e, err := typedValues(ta, tw, tc)
	if err != nil || tb != ta {
		return 0, 0, invalidValue
	}
	size, err := t.SygvdBufferSize(h, kind, mode, fill, n, a, lda, b, ldb, w, e)
	return uint64(size) * uint64(e.Size()), 0, err
}

// DnXsygvd is Sygvd.
func (t *Thread) DnXsygvd(h Handle, p Params, kind solver.CusolverEigType_t, mode Mode, fill Fill, n int64, ta Type, a hostmem.Ptr, lda int64, tb Type, b hostmem.Ptr, ldb int64, tw Type, w hostmem.Ptr, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	e, err := typedValues(ta, tw, tc)
	if err != nil || tb != ta {
		return invalidValue
	}
	return t.Sygvd(h, kind, mode, fill, n, a, lda, b, ldb, w, work, int64(lwork)/int64(e.Size()), info, e)
}

// stedc is the tridiagonal matrix with diagonal d and e beside it. Its vectors are multiplied into z, or are z.
type stedc struct {
	d, e  hostmem.Ptr
	n     int64
	real  Elem
	z     mat
	parts int64 // numbers of an element of z
	comp  solver.CusolverEigComp_t
}

// rooms are the full matrix, what z was, and the workspace of syev, in bytes.
func (p *stedc) rooms() (full, before, work int64) {
	size := int64(p.real.Size())
	full = (p.n*p.n*size + 255) &^ 255
	if p.comp == solver.CUSOLVER_EIG_COMP_V {
		before = (p.n*p.n*p.parts*size + 255) &^ 255
	}
	return full, before, eigenSize(p.n, 1) * size
}

// stedcOf checks the arguments.
func (t *Thread) stedcOf(h Handle, comp solver.CusolverEigComp_t, n int64, td Type, d, e hostmem.Ptr, tz Type, z hostmem.Ptr, ldz int64, tc Type) (*stedc, error) {
	if err := t.live(h); err != nil {
		return nil, err
	}
	of, ok := cublas.ElemOf(tz)
	if !ok || comp < solver.CUSOLVER_EIG_COMP_N || comp > solver.CUSOLVER_EIG_COMP_V || n < 0 || typedReal(td, of) != nil || tc != td && tc != tz {
		return nil, invalidValue
	}
	if _, err := typed(tz, tz); err != nil {
		return nil, err
	}
	p := &stedc{d: d, e: e, n: n, real: realOf(of), z: matAt(z, ldz, of), parts: int64(of.Size() / realOf(of).Size()), comp: comp}
	if comp != solver.CUSOLVER_EIG_COMP_N && ldz < max(1, n) {
		return nil, invalidValue
	}
	return p, fits(n, 1)
}

// DnXstedcBufferSize is what DnXstedc needs.
func (t *Thread) DnXstedcBufferSize(h Handle, ps Params, comp solver.CusolverEigComp_t, n int64, td Type, d, e hostmem.Ptr, tz Type, z hostmem.Ptr, ldz int64, tc Type) (device, host uint64, err error) {
	p, err := t.stedcOf(h, comp, n, td, d, e, tz, z, ldz, tc)
	if err != nil {
		return 0, 0, err
	}
	full, before, work := p.rooms()
	return uint64(full + before + work), 0, nil
}

// DnXstedc finds the eigenvalues of a symmetric tridiagonal matrix, in the place of its diagonal, and the vectors: of the matrix itself (I), or
// of the one that Z made tridiagonal (V). The matrix is written out and given to syev.
func (t *Thread) DnXstedc(h Handle, ps Params, comp solver.CusolverEigComp_t, n int64, td Type, d, e hostmem.Ptr, tz Type, z hostmem.Ptr, ldz int64, tc Type, work hostmem.Ptr, lwork uint64, host hostmem.Ptr, lhost uint64, info hostmem.Ptr) error {
	p, err := t.stedcOf(h, comp, n, td, d, e, tz, z, ldz, tc)
	if err != nil {
		return err
	}
	full, before, rest := p.rooms()
	if info == hostmem.Nil {
		return invalidValue
	}
	if err := enough(work, int64(lwork), full+before+rest); err != nil {
		return err
	}
	j, err := t.job(h)
	if err != nil {
		return err
	}
	if n == 0 {
		return j.tell(info, 0, 1)
	}
	size := p.real.Size()
	a := matAt(work, n, p.real)
	if err := j.d.MemsetD8Async(driver.DevPtr(work), 0, uint64(n*n)*uint64(size), j.stream); err != nil {
		return err
	}
	for i, from := range []hostmem.Ptr{d, e} {
		if err := j.deal(from, a.at(int64(i), 0), n-int64(i)); err != nil {
			return err
		}
	}
	q := &eigen{a: a, n: n, fill: blas.CUBLAS_FILL_MODE_LOWER, vectors: comp != solver.CUSOLVER_EIG_COMP_N, w: d,
		work: hostmem.Ptr(uint64(work) + uint64(full+before)), lwork: rest / int64(size), info: info}
	if err := j.syev(q); err != nil || !q.vectors {
		return err
	}
	return j.multiplied(p, a, hostmem.Ptr(uint64(work)+uint64(full)))
}

// deal writes n numbers down a diagonal.
func (j *job) deal(from hostmem.Ptr, to mat, n int64) error {
	size := uint64(to.e.Size())
	if n <= 0 {
		return nil
	}
	return j.d.Memcpy2DAsync(&cu.CUDA_MEMCPY2D{SrcMemoryType: cu.CU_MEMORYTYPE_UNIFIED, SrcDevice: uint64(from), SrcPitch: size,
		DstMemoryType: cu.CU_MEMORYTYPE_UNIFIED, DstDevice: to.Base, DstPitch: uint64(to.LD+1) * size, WidthInBytes: size, Height: uint64(n)}, j.stream)
}

// multiplied makes Z of the vectors: a column of complex numbers is one of twice as many real ones.
func (j *job) multiplied(p *stedc, vectors mat, room hostmem.Ptr) error {
	rows := p.n * p.parts
	z := matAt(hostmem.Ptr(p.z.Base), p.z.LD*p.parts, p.real)
	switch {
	case p.comp == solver.CUSOLVER_EIG_COMP_I && p.parts == 1:
		return j.copy(vectors, z, p.n, p.n, copyAll)
	case p.comp == solver.CUSOLVER_EIG_COMP_I: // the imaginary parts are 0
		if err := j.clear(z, rows, p.n); err != nil {
			return err
		}
		for c := range p.n {
			size := uint64(p.real.Size())
			if err := j.d.Memcpy2DAsync(&cu.CUDA_MEMCPY2D{SrcMemoryType: cu.CU_MEMORYTYPE_UNIFIED, SrcDevice: vectors.at(0, c).Base, SrcPitch: size,
				DstMemoryType: cu.CU_MEMORYTYPE_UNIFIED, DstDevice: z.at(0, c).Base, DstPitch: 2 * size, WidthInBytes: size, Height: uint64(p.n)}, j.stream); err != nil {
				return err
			}
		}
		return nil
	}
	was := matAt(room, rows, p.real)
	if err := j.copy(z, was, rows, p.n, copyAll); err != nil {
		return err
	}
	return j.product(&cublas.Product{M: rows, N: p.n, K: p.n, A: was.View, B: vectors.View, C: z.View, Alpha: plus}, p.real)
}

// clear is a matrix of zeros.
func (j *job) clear(a mat, m, n int64) error {
	return j.product(&cublas.Product{M: m, N: n, C: a.View}, a.e)
}
