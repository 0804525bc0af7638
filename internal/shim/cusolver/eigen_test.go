package cusolver

import (
	"math"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/solver"
)

const (
	withVectors = Mode(solver.CUSOLVER_EIG_MODE_VECTOR)
	noVectors   = Mode(solver.CUSOLVER_EIG_MODE_NOVECTOR)
)

// spectrum is a matrix with eigenvalues as LAPACK's tests choose them, as the type keeps it.
func (r *rig) spectrum(kind string, n int) full {
	scale, d := 1.0, make([]float64, n)
	for i := range d {
		switch kind {
		case "random":
			return r.hermitian(n)
		case "zero":
		case "clustered":
			d[i] = 1 + float64(i/5)*r.eps()*3
		case "graded":
			d[i] = math.Pow(r.eps(), float64(i)/float64(n))
		case "tiny":
			d[i], scale = 1+r.rng.Float64(), 1e-30
		case "huge":
			d[i], scale = 1+r.rng.Float64(), 1e30
		case "singular":
			d[i] = float64(i % 3)
		}
	}
	q := r.unitary(n)
	m := newFull(n, n)
	for i := range n {
		m.set(i, i, complex(d[i]*scale, 0))
	}
	a := q.times(m).times(q.adjoint())
	for j := range n {
		for i := range j {
			a.set(i, j, r.round(a.at(i, j)))
			a.set(j, i, conj(a.at(i, j)))
		}
		a.set(j, j, r.round(complex(real(a.at(j, j)), 0)))
	}
	return a
}

var kinds = []string{"random", "zero", "clustered", "graded", "tiny", "huge", "singular"}

// unitary is a product of three reflections.
func (r *rig) unitary(n int) full {
	q := eye(n)
	for range 3 {
		v := r.random(n, 1)
		s := complex128(0)
		for _, x := range v.v {
			s += x * conj(x)
		}
		w := v.adjoint().times(q)
		for j := range n {
			for i := range n {
				q.v[i+j*n] -= 2 / s * v.v[i] * w.v[j]
			}
		}
	}
	return q
}

// diagonal has numbers as a matrix.
func diagonal(d []float64) full {
	a := newFull(len(d), len(d))
	for i, v := range d {
		a.set(i, i, complex(v, 0))
	}
	return a
}

// TestSyevd: values in order, vectors, and the same values without vectors, on every kind of matrix.
func TestSyevd(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, n := range []int{1, 2, 3, 16, 17, 32, 33, 50, 97} { // from smallSide on in blocked steps
			for i, kind := range kinds {
				fill := fills[i%2]
				a := r.spectrum(kind, n)
				ld, info, w := n+1, r.infoAt(), r.memory(8*n)
				pa := r.put(a, ld)
				size, err := r.th.SyevdBufferSize(r.h, withVectors, fill, int64(n), pa, int64(ld), w, r.e)
				r.ok(err)
				work := r.memory(int(size) * r.e.Size())
				r.ok(r.th.Syevd(r.h, withVectors, fill, int64(n), pa, int64(ld), w, work, int64(size), info, r.e))
				r.good(info, "syevd %s %d", kind, n)
				values, q := r.values(w, n), r.get(pa, n, n, ld)
				if !slices.IsSorted(values) {
					r.t.Errorf("%s %d: values are not in order", kind, n)
				}
				r.within(r.ratio(a.times(q).minus(q.times(diagonal(values))), n, a.norm()), "syevd %s %d", kind, n)
				r.orthogonal(q, "syevd %s %d", kind, n)
				r.ok(r.th.Syevd(r.h, noVectors, fill, int64(n), r.put(a, ld), int64(ld), w, work, int64(size), info, r.e))
				for i, v := range r.values(w, n) {
					r.within(math.Abs(v-values[i])/max(a.norm(), 1e-300)/float64(n)/r.eps(), "value %d of %s %d", i, kind, n)
				}
			}
		}
	})
}

// TestNotFinite: a NaN or an infinity ends as NaN with an info, and soon.
func TestNotFinite(t *testing.T) {
	onTypes(t, func(r *rig) {
		for i, bad := range []float64{math.NaN(), math.Inf(1), math.NaN(), math.Inf(-1)} {
			n := []int{20, 40}[i/2]
			a := r.hermitian(n)
			a.set(9, 3, complex(bad, 0))
			a.set(3, 9, complex(bad, 0))
			w, info, size := r.memory(8*n), r.infoAt(), eigenSize(int64(n), 1)
			r.ok(r.th.Syevd(r.h, withVectors, blas.CUBLAS_FILL_MODE_LOWER, int64(n), r.put(a, n), int64(n), w, r.memory(int(size)*16), size, info, r.e))
			if v := r.info(info); v == 0 || !math.IsNaN(r.values(w, n)[0]) {
				r.t.Errorf("eigenvalues of a matrix with %v: info %d, %v", bad, v, r.values(w, n)[0])
			}
		}
	})
}

// TestSyevjBatched: many matrices.
func TestSyevjBatched(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n, batch = 9, 5
		all := newFull(n, n*batch)
		for i := range batch {
			copy(all.v[i*n*n:], r.hermitian(n).v)
		}
		pa, w, infos, p := r.put(all, n), r.memory(8*n*batch), r.memory(4*batch), r.syevjInfo()
		size, err := r.th.SyevjBatchedBufferSize(r.h, withVectors, blas.CUBLAS_FILL_MODE_UPPER, n, pa, n, w, p, batch, r.e)
		r.ok(err)
		r.ok(r.th.SyevjBatched(r.h, withVectors, blas.CUBLAS_FILL_MODE_UPPER, n, pa, n, w, r.memory(int(size)*r.e.Size()), int64(size), infos, p, batch, r.e))
		if _, err := r.th.DnXsyevjGetSweeps(r.h, p); err != notSupported {
			r.t.Errorf("sweeps of many matrices: %v", err)
		}
		q, values := r.get(pa, n, n*batch, n), r.values(w, n*batch)
		for i := range batch {
			a, x := full{n, n, all.v[i*n*n : (i+1)*n*n]}, full{n, n, q.v[i*n*n : (i+1)*n*n]}
			r.good(infos.Index(i, 4), "matrix %d", i)
			r.within(r.ratio(a.times(x).minus(x.times(diagonal(values[i*n:(i+1)*n]))), n, a.norm()), "matrix %d", i)
			r.orthogonal(x, "matrix %d", i)
		}
	})
}

// TestSygvd: the three problems with two matrices, and a B that is not positive definite.
func TestSygvd(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 37
		for kind := solver.CusolverEigType_t(1); kind <= 3; kind++ {
			for _, fill := range fills {
				a, b := r.hermitian(n), r.positive(n)
				pa, pb, w, info := r.put(a, n+1), r.put(b, n), r.memory(8*n), r.infoAt()
				size, err := r.th.SygvdBufferSize(r.h, kind, withVectors, fill, n, pa, n+1, pb, n, w, r.e)
				r.ok(err)
				r.ok(r.th.Sygvd(r.h, kind, withVectors, fill, n, pa, n+1, pb, n, w, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
				r.good(info, "sygvd %d", kind)
				x, values := r.get(pa, n, n, n+1), diagonal(r.values(w, n))
				left, right := a.times(x), b.times(x).times(values)
				switch kind {
				case 2:
					left, right = a.times(b).times(x), x.times(values)
				case 3:
					left, right = b.times(a).times(x), x.times(values)
				}
				r.within(r.ratio(left.minus(right), n, a.norm()*b.norm()*x.norm()), "sygvd %d fill %d", kind, fill)
			}
		}
		b := r.positive(n)
		b.set(11, 11, -3)
		info := r.infoAt()
		r.ok(r.th.Sygvd(r.h, 1, noVectors, blas.CUBLAS_FILL_MODE_LOWER, n, r.put(r.hermitian(n), n), n, r.put(b, n), n, r.memory(8*n), r.memory(16*int(eigenSize(n, 1)+4)), eigenSize(n, 1)+4, info, r.e))
		if v := r.info(info); v != n+12 {
			r.t.Errorf("B is not positive definite: info %d", v)
		}
	})
}

// svdCheck compares A with U S V'.
func (r *rig) svdCheck(a, u, v full, s []float64, what string, args ...any) {
	r.t.Helper()
	k := len(s)
	r.within(r.ratio(u.columns(k).times(diagonal(s)).times(v.columns(k).adjoint()).minus(a), max(a.m, a.n), a.norm()), what, args...)
	r.orthogonal(u, what+" U", args...)
	r.orthogonal(v, what+" V", args...)
	if !slices.IsSortedFunc(s, func(x, y float64) int { return cmpFloat(y, x) }) {
		r.t.Errorf(what+": values are not in order", args...)
	}
}

func cmpFloat(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// TestGesvd: every letter, on every kind of matrix.
func TestGesvd(t *testing.T) {
	onTypes(t, func(r *rig) {
		for i, kind := range kinds {
			for _, m := range []int{1, 16, 20, 33, 75, 130} { // from smallSide on in blocked steps
				n := max(1, m-i)
				if m == 130 {
					n = 40 + i
				}
				whole := r.spectrum(kind, m)
				a := whole.columns(n)
				info, s := r.infoAt(), r.memory(8*n)
				pa, u, vt := r.put(a, m+1), r.put(newFull(m, m), m+2), r.put(newFull(n, n), n+1)
				size, err := r.th.GesvdBufferSize(r.h, int64(m), int64(n), r.e)
				r.ok(err)
				work := r.memory(int(size) * r.e.Size())
				r.ok(r.th.Gesvd(r.h, 'A', 'A', int64(m), int64(n), pa, int64(m+1), s, u, int64(m+2), vt, int64(n+1), work, int64(size), 0, info, r.e))
				r.good(info, "gesvd %s %d %d", kind, m, n)
				values := r.values(s, n)
				r.svdCheck(a, r.get(u, m, m, m+2), r.get(vt, n, n, n+1).adjoint(), values, "gesvd %s %d %d", kind, m, n)
				pa = r.put(a, m+1)
				r.ok(r.th.Gesvd(r.h, 'O', 'S', int64(m), int64(n), pa, int64(m+1), s, 0, 1, vt, int64(n+1), work, int64(size), 0, info, r.e))
				r.svdCheck(a, r.get(pa, m, n, m+1), r.get(vt, n, n, n+1).adjoint(), r.values(s, n), "gesvd O S %s %d %d", kind, m, n)
				r.ok(r.th.Gesvd(r.h, 'N', 'N', int64(m), int64(n), r.put(a, m+1), int64(m+1), s, 0, 1, 0, 1, work, int64(size), 0, info, r.e))
				for i, v := range r.values(s, n) {
					r.within(math.Abs(v-values[i])/max(a.norm(), 1e-300)/float64(m)/r.eps(), "value %d of %s", i, kind)
				}
			}
		}
	})
}

// TestGesvdj: wide and tall, all columns and few.
func TestGesvdj(t *testing.T) {
	onTypes(t, func(r *rig) {
		params, err := r.th.DnCreateGesvdjInfo()
		r.ok(err)
		p := solver.GesvdjInfo_t(params)
		for _, shape := range [][2]int{{20, 31}, {31, 20}, {7, 7}} {
			for econ := range int32(2) {
				m, n := shape[0], shape[1]
				k := min(m, n)
				a := r.random(m, n)
				cu, cv := m, n
				if econ == 1 {
					cu, cv = k, k
				}
				pa, s, u, v, info := r.put(a, m), r.memory(8*k), r.put(newFull(m, cu), m+1), r.put(newFull(n, cv), n), r.infoAt()
				size, err := r.th.GesvdjBufferSize(r.h, withVectors, econ, int64(m), int64(n), pa, int64(m), s, u, int64(m+1), v, int64(n), p, r.e)
				r.ok(err)
				r.ok(r.th.Gesvdj(r.h, withVectors, econ, int64(m), int64(n), pa, int64(m), s, u, int64(m+1), v, int64(n), r.memory(int(size)*r.e.Size()), int64(size), info, p, r.e))
				r.good(info, "gesvdj")
				r.svdCheck(a, r.get(u, m, cu, m+1), r.get(v, n, cv, n), r.values(s, k), "gesvdj %d %d econ %d", m, n, econ)
			}
		}
		const m, n, batch, rank = 12, 8, 3, 5
		all := r.random(m, n*batch)
		pa, s, u, v, infos := r.put(all, m), r.memory(8*n*batch), r.put(newFull(m, m*batch), m), r.put(newFull(n, n*batch), n), r.memory(4*batch)
		size, err := r.th.GesvdjBatchedBufferSize(r.h, withVectors, m, n, pa, m, s, u, m, v, n, p, batch, r.e)
		r.ok(err)
		work := r.memory(int(size) * r.e.Size())
		r.ok(r.th.GesvdjBatched(r.h, withVectors, m, n, pa, m, s, u, m, v, n, work, int64(size), infos, p, batch, r.e))
		gu, gv, gs := r.get(u, m, m*batch, m), r.get(v, n, n*batch, n), r.values(s, n*batch)
		for i := range batch {
			r.svdCheck(full{m, n, all.v[i*m*n : (i+1)*m*n]}, full{m, m, gu.v[i*m*m : (i+1)*m*m]}, full{n, n, gv.v[i*n*n : (i+1)*n*n]}, gs[i*n:(i+1)*n], "gesvdjBatched %d", i)
		}
		norms := r.memory(8 * batch)
		size, err = r.th.GesvdaStridedBatchedBufferSize(r.h, withVectors, rank, m, n, pa, m, m*n, s, rank, u, m, m*rank, v, n, n*rank, batch, r.e)
		r.ok(err)
		work = r.memory(int(size) * r.e.Size())
		r.ok(r.th.GesvdaStridedBatched(r.h, withVectors, rank, m, n, r.put(all, m), m, m*n, s, rank, u, m, m*rank, v, n, n*rank, work, int64(size), infos, norms, batch, r.e))
		for i, x := range r.values(s, rank*batch) {
			r.within(math.Abs(x-gs[i/rank*n+i%rank])/gs[0]/r.eps()/m, "gesvda value %d", i)
		}
		r.good(hostmem.Ptr(infos), "gesvda")
		for i := range batch { // what the values that were left out make
			left := 0.0
			for _, x := range gs[i*n+rank : (i+1)*n] {
				left += x * x
			}
			if v := hostmem.Load[float64](norms.Index(i, 8)); math.Abs(v-math.Sqrt(left)) > 1e3*r.eps()*gs[0] {
				r.t.Errorf("gesvda: residual %d is %g, not %g", i, v, math.Sqrt(left))
			}
		}
	})
}
