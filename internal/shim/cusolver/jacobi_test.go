package cusolver

import (
	"math"
	"slices"
	"testing"

	"kudzu/internal/spec/solver"
)

func (r *rig) syevjInfo() solver.SyevjInfo_t {
	v, err := r.th.DnCreateSyevjInfo()
	r.ok(err)
	p := solver.SyevjInfo_t(v)
	r.t.Cleanup(func() { _ = r.th.DnDestroySyevjInfo(p) })
	return p
}

// off is the norm of what is not on a matrix's diagonal.
func off(a full) float64 {
	sum := 0.0
	for j := range a.n {
		for i := range a.m {
			if i != j {
				sum += real(a.at(i, j) * conj(a.at(i, j)))
			}
		}
	}
	return math.Sqrt(sum)
}

// TestSyevj: values and vectors, and the residual and the sweeps that were really done.
func TestSyevj(t *testing.T) {
	onTypes(t, func(r *rig) {
		p := r.syevjInfo()
		if n, err := r.th.DnXsyevjGetSweeps(r.h, p); n != 0 || err != nil {
			r.t.Errorf("sweeps before any call: %d, %v", n, err)
		}
		for _, n := range []int{1, 2, 5, 33, 70} {
			for i, kind := range kinds {
				a, fill := r.spectrum(kind, n), fills[i%2]
				pa, w, info := r.put(a, n+1), r.memory(8*n), r.infoAt()
				size, err := r.th.SyevjBufferSize(r.h, withVectors, fill, int64(n), pa, int64(n+1), w, p, r.e)
				r.ok(err)
				r.ok(r.th.Syevj(r.h, withVectors, fill, int64(n), pa, int64(n+1), w, r.memory(int(size)*r.e.Size()), int64(size), info, p, r.e))
				r.good(info, "syevj %s %d", kind, n)
				q, values := r.get(pa, n, n, n+1), r.values(w, n)
				r.within(r.ratio(a.times(q).minus(q.times(diagonal(values))), n, a.norm()), "syevj %s %d", kind, n)
				r.orthogonal(q, "syevj %s %d", kind, n)
				if !slices.IsSorted(values) {
					r.t.Errorf("%s %d: values are not in order", kind, n)
				}
				residual, err := r.th.DnXsyevjGetResidual(r.h, p)
				r.ok(err)
				if residual < 0 || residual > r.eps()*math.Sqrt(float64(n))*max(a.norm(), 1e-300) {
					r.t.Errorf("%s %d: residual %g of a matrix of norm %g", kind, n, residual, a.norm())
				}
				sweeps, err := r.th.DnXsyevjGetSweeps(r.h, p)
				r.ok(err)
				if sweeps < 0 || sweeps > 10 || n == 70 && kind == "random" && sweeps == 0 {
					r.t.Errorf("%s %d: %d sweeps", kind, n, sweeps)
				}
			}
		}
		// A tolerance that everything meets, no sweep, and values in any order.
		const n = 20
		a, info, w := r.hermitian(n), r.infoAt(), r.memory(8*n)
		r.ok(r.th.DnXsyevjSetTolerance(p, 1e-3))
		r.ok(r.th.DnXsyevjSetSortEig(p, 0))
		pa := r.put(a, n)
		size, err := r.th.SyevjBufferSize(r.h, withVectors, fills[0], n, pa, n, w, p, r.e)
		r.ok(err)
		r.ok(r.th.Syevj(r.h, withVectors, fills[0], n, pa, n, w, r.memory(int(size)*r.e.Size()), int64(size), info, p, r.e))
		r.good(info, "a large tolerance")
		left := r.get(pa, n, n, n)
		left = left.adjoint().times(a).times(left)
		residual, err := r.th.DnXsyevjGetResidual(r.h, p)
		r.ok(err)
		if sweeps, _ := r.th.DnXsyevjGetSweeps(r.h, p); sweeps != 0 {
			r.t.Errorf("%d sweeps for a large tolerance", sweeps)
		}
		if math.Abs(residual-off(left)) > 1e3*r.eps() {
			r.t.Errorf("residual %g, not %g", residual, off(left))
		}
		// One sweep is not enough for this tolerance; 0 is no limit of the program's.
		r.ok(r.th.DnXsyevjSetTolerance(p, 1e-40))
		for limit, want := range map[int32]int32{0: 0, 1: n + 1} {
			r.ok(r.th.DnXsyevjSetMaxSweeps(p, limit))
			r.ok(r.th.Syevj(r.h, withVectors, fills[0], n, r.put(a, n), n, w, r.memory(int(size)*r.e.Size()), int64(size), info, p, r.e))
			sweeps, err := r.th.DnXsyevjGetSweeps(r.h, p)
			r.ok(err)
			if v := r.info(info); v != want || (sweeps == 1) != (limit == 1) {
				r.t.Errorf("at most %d sweeps: %d, info %d", limit, sweeps, v)
			}
		}
	})
}

// TestGesvdjTells: the residual is that of the vectors, the sweeps are as many as a Jacobi method needs, and not more than allowed.
func TestGesvdjTells(t *testing.T) {
	onTypes(t, func(r *rig) {
		const m, n = 40, 25
		v, err := r.th.DnCreateGesvdjInfo()
		r.ok(err)
		p := solver.GesvdjInfo_t(v)
		defer func() { r.ok(r.th.DnDestroyGesvdjInfo(p)) }()
		a := r.random(m, n)
		run := func() (residual float64, sweeps, info int32) {
			s, u, w, at := r.memory(8*n), r.put(newFull(m, n), m), r.put(newFull(n, n), n), r.infoAt()
			pa := r.put(a, m)
			size, err := r.th.GesvdjBufferSize(r.h, withVectors, 1, m, n, pa, m, s, u, m, w, n, p, r.e)
			r.ok(err)
			r.ok(r.th.Gesvdj(r.h, withVectors, 1, m, n, pa, m, s, u, m, w, n, r.memory(int(size)*r.e.Size()), int64(size), at, p, r.e))
			residual, err = r.th.DnXgesvdjGetResidual(r.h, p)
			r.ok(err)
			sweeps, err = r.th.DnXgesvdjGetSweeps(r.h, p)
			r.ok(err)
			inner := r.get(u, m, n, m).adjoint().times(a).times(r.get(w, n, n, n))
			if d := math.Abs(residual - off(inner)); d > 1e4*r.eps() {
				r.t.Errorf("residual %g, not %g", residual, off(inner))
			}
			return residual, sweeps, r.info(at)
		}
		whole, sweeps, info := run()
		if info != 0 || sweeps < 3 || sweeps > 20 {
			r.t.Errorf("%d sweeps, info %d", sweeps, info)
		}
		r.ok(r.th.DnXgesvdjSetMaxSweeps(p, 2))
		rest, two, info := run()
		if two != 2 || info != n+1 || rest <= whole {
			r.t.Errorf("2 sweeps: %d, info %d, residual %g after %g", two, info, rest, whole)
		}
		r.ok(r.th.DnXgesvdjSetMaxSweeps(p, 100))
		r.ok(r.th.DnXgesvdjSetTolerance(p, 1e-2))
		if rest, few, info := run(); few >= sweeps || info != 0 || rest <= whole {
			r.t.Errorf("a large tolerance: %d sweeps, info %d, residual %g", few, info, rest)
		}
	})
}

// TestSytriInfo: the place of a pivot that is zero, LAPACK's of several.
func TestSytriInfo(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 40
		for i, fill := range fills {
			a := eye(n)
			a.set(6, 6, 0)
			a.set(33, 33, 0)
			pa, ipiv, info, work := r.put(a, n), r.memory(4*n), r.infoAt(), r.memory(16*n*n)
			r.ok(r.th.Sytrf(r.h, fill, n, pa, n, ipiv, work, 1, info, r.e))
			r.ok(r.th.Sytri(r.h, fill, n, pa, n, ipiv, work, n*n, info, r.e))
			if v, want := r.info(info), []int32{7, 34}[i]; v != want {
				r.t.Errorf("fill %d: info %d, not %d", i, v, want)
			}
		}
	})
}
