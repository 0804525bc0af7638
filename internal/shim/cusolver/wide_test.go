package cusolver

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
	"kudzu/internal/spec/solver"
)

// typeOf is CUDA's name for a type.
func typeOf(e Elem) Type {
	return map[Elem]Type{F32: rt.CUDA_R_32F, F64: rt.CUDA_R_64F, C32: rt.CUDA_C_32F, C64: rt.CUDA_C_64F}[e]
}

// room is the workspace that a bufferSize of the 64-bit interface asks for.
func (r *rig) room(device, host uint64, err error) (hostmem.Ptr, uint64) {
	r.t.Helper()
	r.ok(err)
	if host != 0 {
		r.t.Errorf("%d bytes on the host", host)
	}
	return r.memory(int(device)), device
}

// TestWideFactors: Cholesky, LU and QR of the 64-bit interface, and the inverse of a triangle.
func TestWideFactors(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 41
		ty, info := typeOf(r.e), r.infoAt()
		a, b := r.positive(n), r.random(n, 2)
		pa, pb := r.put(a, n), r.put(b, n)
		work, size := r.room(r.th.DnXpotrfBufferSize(r.h, 0, blas.CUBLAS_FILL_MODE_LOWER, n, ty, pa, n, ty))
		r.ok(r.th.DnXpotrf(r.h, 0, blas.CUBLAS_FILL_MODE_LOWER, n, ty, pa, n, ty, work, size, 0, 0, info))
		r.ok(r.th.DnXpotrs(r.h, 0, blas.CUBLAS_FILL_MODE_LOWER, n, 2, ty, pa, n, ty, pb, n, info))
		r.good(info, "Xpotrs")
		x := r.get(pb, n, 2, n)
		r.within(r.ratio(a.times(x).minus(b), n, a.norm()*x.norm()), "Xpotrs")

		a, pb = r.random(n, n), r.put(b, n)
		pa = r.put(a, n)
		ipiv := r.memory(8 * n)
		work, size = r.room(r.th.DnXgetrfBufferSize(r.h, 0, n, n, ty, pa, n, ty))
		r.ok(r.th.DnXgetrf(r.h, 0, n, n, ty, pa, n, ipiv, ty, work, size, 0, 0, info))
		r.ok(r.th.DnXgetrs(r.h, 0, blas.CUBLAS_OP_C, n, 2, ty, pa, n, ipiv, ty, pb, n, info))
		x = r.get(pb, n, 2, n)
		r.within(r.ratio(a.adjoint().times(x).minus(b), n, a.norm()*x.norm()), "Xgetrs")

		pa = r.put(a, n)
		taus := r.memory(16 * n)
		work, size = r.room(r.th.DnXgeqrfBufferSize(r.h, 0, n, n, ty, pa, n, ty, taus, ty))
		r.ok(r.th.DnXgeqrf(r.h, 0, n, n, ty, pa, n, ty, taus, ty, work, size, 0, 0, info))
		upper := triangle(r.get(pa, n, n, n), blas.CUBLAS_FILL_MODE_UPPER, false)
		r.within(r.ratio(upper.adjoint().times(upper).minus(a.adjoint().times(a)), n, a.norm()*a.norm()), "Xgeqrf: R'R - A'A")

		for _, fill := range fills {
			for _, diag := range []Diag{blas.CUBLAS_DIAG_UNIT, blas.CUBLAS_DIAG_NON_UNIT} {
				m := r.random(n, n)
				for i := range m.v {
					m.v[i] = r.round(m.v[i] / n)
				}
				for i := range n {
					m.set(i, i, 2)
				}
				pa = r.put(m, n)
				work, size = r.room(r.th.DnXtrtriBufferSize(r.h, fill, diag, n, ty, pa, n))
				r.ok(r.th.DnXtrtri(r.h, fill, diag, n, ty, pa, n, work, size, 0, 0, info))
				r.good(info, "Xtrtri")
				unit := diag == blas.CUBLAS_DIAG_UNIT
				whole, inverse := triangle(m, fill, unit), triangle(r.get(pa, n, n, n), fill, unit)
				r.within(r.ratio(whole.times(inverse).minus(eye(n)), n, whole.norm()*inverse.norm()), "Xtrtri fill %d diag %d", fill, diag)
			}
		}
		m := r.positive(n)
		m.set(7, 7, 0)
		r.ok(r.th.DnXtrtri(r.h, fills[0], blas.CUBLAS_DIAG_NON_UNIT, n, ty, r.put(m, n), n, work, size, 0, 0, info))
		if v := r.info(info); v != 8 {
			r.t.Errorf("Xtrtri with a zero on the diagonal: info %d", v)
		}
	})
}

// TestWideValues: eigenvalues and singular values of the 64-bit interface.
func TestWideValues(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n, m, k = 21, 30, 4
		ty, real, info := typeOf(r.e), typeOf(realOf(r.e)), r.infoAt()
		a, w := r.hermitian(n), r.memory(8*m)
		pa := r.put(a, n)
		work, size := r.room(r.th.DnXsyevdBufferSize(r.h, 0, withVectors, fills[1], n, ty, pa, n, real, w, ty))
		r.ok(r.th.DnXsyevd(r.h, 0, withVectors, fills[1], n, ty, pa, n, real, w, ty, work, size, 0, 0, info))
		q := r.get(pa, n, n, n)
		r.within(r.ratio(a.times(q).minus(q.times(diagonal(r.values(w, n)))), n, a.norm()), "Xsyevd")

		b := r.random(m, n)
		pb, u, v := r.put(b, m), r.put(newFull(m, m), m), r.put(newFull(n, n), n)
		work, size = r.room(r.th.DnXgesvdBufferSize(r.h, 0, 'S', 'A', m, n, ty, pb, m, real, w, ty, u, m, ty, v, n, ty))
		r.ok(r.th.DnXgesvd(r.h, 0, 'S', 'A', m, n, ty, pb, m, real, w, ty, u, m, ty, v, n, ty, work, size, 0, 0, info))
		all := r.values(w, n)
		r.svdCheck(b, r.get(u, m, n, m), r.get(v, n, n, n).adjoint(), all, "Xgesvd")

		c := b.adjoint() // more columns than rows
		pc, sigma := r.put(c, n), r.memory(8)
		work, size = r.room(r.th.DnXgesvdpBufferSize(r.h, 0, withVectors, 1, n, m, ty, pc, n, real, w, ty, v, n, ty, u, m, ty))
		r.ok(r.th.DnXgesvdp(r.h, 0, withVectors, 1, n, m, ty, pc, n, real, w, ty, v, n, ty, u, m, ty, work, size, 0, 0, info, sigma))
		r.svdCheck(c, r.get(v, n, n, n), r.get(u, m, n, m), r.values(w, n), "Xgesvdp")

		pb = r.put(b, m)
		work, size = r.room(r.th.DnXgesvdrBufferSize(r.h, 0, 'S', 'S', m, n, k, 2, 2, ty, pb, m, real, w, ty, u, m, ty, v, n, ty))
		r.ok(r.th.DnXgesvdr(r.h, 0, 'S', 'S', m, n, k, 2, 2, ty, pb, m, real, w, ty, u, m, ty, v, n, ty, work, size, 0, 0, info))
		r.good(info, "Xgesvdr")
		for i, x := range r.values(w, k) {
			r.within(math.Abs(x-all[i])/all[0]/m/r.eps(), "Xgesvdr value %d", i)
		}
		r.orthogonal(r.get(u, m, k, m), "Xgesvdr")
		if _, _, err := r.th.DnXsyevdBufferSize(r.h, 0, withVectors, fills[1], n, ty, pa, n, rt.CUDA_R_16F, w, ty); err != invalidValue {
			r.t.Errorf("values of another type: %v", err)
		}
	})
}

// TestRefined: the solvers with refinement, by their names and with parameters.
func TestRefined(t *testing.T) {
	onTypes(t, func(r *rig) {
		const m, n = 50, 37
		info, iter, ipiv := r.infoAt(), r.memory(4), r.memory(4*n)
		a, b := r.random(n, n), r.random(n, 3)
		pa, pb, px := r.put(a, n), r.put(b, n), r.put(newFull(n, 3), n+1)
		size, err := r.th.IrsGesvBufferSize(r.h, n, 3, pa, n, ipiv, pb, n, px, n+1, 0, r.e)
		r.ok(err)
		r.ok(r.th.IrsGesv(r.h, n, 3, pa, n, ipiv, pb, n, px, n+1, r.memory(int(size)), size, iter, info, r.e))
		r.good(info, "gesv")
		x := r.get(px, n, 3, n+1)
		r.within(r.ratio(a.times(x).minus(b), n, a.norm()*x.norm()), "gesv")
		if r.get(pa, n, n, n).minus(a).norm() != 0 {
			r.t.Error("gesv changed A")
		}

		v, err := r.th.DnIRSParamsCreate()
		r.ok(err)
		w, err := r.th.DnIRSInfosCreate()
		r.ok(err)
		p, told := solver.CusolverDnIRSParams_t(v), solver.CusolverDnIRSInfos_t(w)
		if _, err := r.th.DnIRSXgelsBufferSize(r.h, p, m, n, 2); err != badParams {
			r.t.Error(err)
		}
		main := map[Elem]solver.CusolverPrecType_t{F32: solver.CUSOLVER_R_32F, F64: solver.CUSOLVER_R_64F, C32: solver.CUSOLVER_C_32F, C64: solver.CUSOLVER_C_64F}[r.e]
		r.ok(r.th.DnIRSParamsSetSolverPrecisions(p, main, main))
		r.ok(r.th.DnIRSParamsSetRefinementSolver(p, solver.CUSOLVER_IRS_REFINE_GMRES))
		if _, err := r.th.DnIRSXgesvBufferSize(r.h, p, n, 2); err != oneRightSide {
			r.t.Errorf("GMRES with two right-hand sides: %v", err)
		}
		r.ok(r.th.DnIRSParamsSetRefinementSolver(p, solver.CUSOLVER_IRS_REFINE_CLASSICAL))
		c, d := r.random(m, n), r.random(m, 2)
		size, err = r.th.DnIRSXgelsBufferSize(r.h, p, m, n, 2)
		r.ok(err)
		r.ok(r.th.DnIRSXgels(r.h, p, told, m, n, 2, r.put(c, m), m, r.put(d, m), m, px, n+1, r.memory(int(size)), size, iter, info))
		r.good(info, "gels")
		x = r.get(px, n, 2, n+1)
		left := c.adjoint().times(c.times(x).minus(d)) // what is left is orthogonal to all columns
		r.within(r.ratio(left, m, c.norm()*c.norm()*x.norm()), "gels")
		size, err = r.th.DnIRSXgesvBufferSize(r.h, p, n, 3)
		r.ok(err)
		r.ok(r.th.DnIRSXgesv(r.h, p, told, n, 3, pa, n, pb, n, px, n+1, r.memory(int(size)), size, iter, info))
		x = r.get(px, n, 3, n+1)
		r.within(r.ratio(a.times(x).minus(b), n, a.norm()*x.norm()), "IRSXgesv")
	})
}

// TestIndefinite: sytrf, its solutions and inverse, of symmetric matrices with zeros on the diagonal.
func TestIndefinite(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, n := range []int{1, 2, 5, 33, 60} {
			for _, fill := range fills {
				a := r.random(n, n)
				for j := range n {
					for i := range j {
						a.set(j, i, a.at(i, j))
					}
					if j%3 == 0 && n > 1 {
						a.set(j, j, 0)
					}
				}
				info, ld, ipiv, wide := r.infoAt(), n+1, r.memory(4*n), r.memory(8*n)
				pa := r.put(a, ld)
				r.ok(r.th.Sytrf(r.h, fill, int64(n), pa, int64(ld), ipiv, 0, 1, info, r.e))
				r.good(info, "sytrf %d", n)
				for i := range n {
					hostmem.Store(wide.Index(i, 8), int64(hostmem.Load[int32](ipiv.Index(i, 4))))
				}
				b := r.random(n, 35)
				pb, ty := r.put(b, n), typeOf(r.e)
				r.ok(r.th.DnXsytrs(r.h, fill, int64(n), 35, ty, pa, int64(ld), wide, ty, pb, int64(n), 0, 0, 0, 0, info))
				x := r.get(pb, n, 35, n)
				r.within(r.ratio(a.times(x).minus(b), n, a.norm()*x.norm()), "sytrs %d fill %d", n, fill)
				r.ok(r.th.Sytri(r.h, fill, int64(n), pa, int64(ld), ipiv, r.memory(n*n*r.e.Size()), int64(n*n), info, r.e))
				inverse := r.get(pa, n, n, ld)
				for j := range n {
					for i := range n {
						if i != j && (i > j) != (fill == blas.CUBLAS_FILL_MODE_LOWER) {
							inverse.set(i, j, inverse.at(j, i))
						}
					}
				}
				r.within(r.ratio(a.times(inverse).minus(eye(n)), n, a.norm()*inverse.norm()), "sytri %d fill %d", n, fill)
			}
		}
		info := r.infoAt()
		r.ok(r.th.Sytrf(r.h, fills[0], 9, r.put(newFull(9, 9), 9), 9, r.memory(36), 0, 1, info, r.e))
		if v := r.info(info); v != 1 {
			r.t.Errorf("a matrix of zeros: info %d", v)
		}
	})
}
