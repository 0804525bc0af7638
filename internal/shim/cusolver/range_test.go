package cusolver

import (
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/solver"
)

// choices are ranges of n eigenvalues, and how many of `values` each has from which one on.
func choices(values []float64) []struct {
	chosen
	from, count int
} {
	n := len(values)
	mid := func(i int) float64 { return (values[i-1] + values[i]) / 2 }
	return []struct {
		chosen
		from, count int
	}{
		{chosen{what: solver.CUSOLVER_EIG_RANGE_ALL}, 0, n},
		{chosen{what: solver.CUSOLVER_EIG_RANGE_I, first: 1, last: 4}, 0, 4},
		{chosen{what: solver.CUSOLVER_EIG_RANGE_I, first: 5, last: int64(n)}, 4, n - 4},
		{chosen{what: solver.CUSOLVER_EIG_RANGE_V, low: mid(3), high: mid(9)}, 3, 6},
		{chosen{what: solver.CUSOLVER_EIG_RANGE_V, low: values[0] - 1, high: values[n-1] + 1}, 0, n},
		{chosen{what: solver.CUSOLVER_EIG_RANGE_V, low: values[n-1] + 1, high: values[n-1] + 2}, n, 0},
	}
}

// TestSyevdx: values by number and by interval, of all interfaces.
func TestSyevdx(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 34
		a, info, w, meig := r.hermitian(n), r.infoAt(), r.memory(8*n), r.memory(8)
		ty, real := typeOf(r.e), typeOf(realOf(r.e))
		r.ok(r.th.Syevd(r.h, noVectors, fills[0], n, r.put(a, n), n, w, r.memory(16*int(eigenSize(n, 1))), eigenSize(n, 1), info, r.e))
		for i, c := range choices(r.values(w, n)) {
			check := func(pa hostmem.Ptr, got int64, what string) {
				r.t.Helper()
				r.good(info, "%s %d", what, i)
				if got != int64(c.count) {
					r.t.Fatalf("%s %d: %d values, not %d", what, i, got, c.count)
				}
				q := r.get(pa, n, n, n+1).columns(c.count)
				r.within(r.ratio(a.times(q).minus(q.times(diagonal(r.values(w, c.count)))), n, a.norm()), "%s %d", what, i)
				r.orthogonal(q, what)
			}
			fill := fills[i%2]
			pa := r.put(a, n+1)
			size, err := r.th.SyevdxBufferSize(r.h, withVectors, c.what, fill, n, pa, n+1, c.low, c.high, c.first, c.last, meig, w, r.e)
			r.ok(err)
			work := r.memory(int(size) * r.e.Size())
			r.ok(r.th.Syevdx(r.h, withVectors, c.what, fill, n, pa, n+1, c.low, c.high, c.first, c.last, meig, w, work, int64(size), info, r.e))
			check(pa, int64(hostmem.Load[int32](meig)), "syevdx")
			low, high := r.memory(8), r.memory(8)
			if realOf(r.e) == F32 {
				hostmem.Store(low, float32(c.low))
				hostmem.Store(high, float32(c.high))
			} else {
				hostmem.Store(low, c.low)
				hostmem.Store(high, c.high)
			}
			pa = r.put(a, n+1)
			at, bytes := r.room(r.th.DnXsyevdxBufferSize(r.h, 0, withVectors, c.what, fill, n, ty, pa, n+1, low, high, c.first, c.last, meig, real, w, ty))
			r.ok(r.th.DnXsyevdx(r.h, 0, withVectors, c.what, fill, n, ty, pa, n+1, low, high, c.first, c.last, meig, real, w, ty, at, bytes, 0, 0, info))
			check(pa, hostmem.Load[int64](meig), "Xsyevdx")
			pa = r.put(a, n+1)
			bytes, err = r.th.DnSyevdxBufferSize(r.h, 0, withVectors, c.what, fill, n, ty, pa, n+1, low, high, c.first, c.last, meig, real, w, ty)
			r.ok(err)
			r.ok(r.th.DnSyevdx(r.h, 0, withVectors, c.what, fill, n, ty, pa, n+1, low, high, c.first, c.last, meig, real, w, ty, at, bytes, info))
			check(pa, hostmem.Load[int64](meig), "Syevdx of cuSOLVER 11")
		}
		// The numbers are those of an H200.
		for c, number := range map[chosen]int32{{what: 7}: -2, {what: solver.CUSOLVER_EIG_RANGE_I, first: 0, last: 2}: -9, {what: solver.CUSOLVER_EIG_RANGE_I, first: 3, last: 2}: -10, {what: solver.CUSOLVER_EIG_RANGE_V, low: 2, high: 1}: -8} {
			err := r.th.Syevdx(r.h, withVectors, c.what, fills[0], n, r.put(a, n), n, c.low, c.high, c.first, c.last, meig, w, r.memory(16*8*n), 8*n, info, r.e)
			if got := r.info(info); err != invalidValue || got != number {
				r.t.Errorf("range %v that makes no sense: %v, info %d, want %d", c, err, got, number)
			}
		}
	})
}

// TestSygvdx: the same of problems with two matrices.
func TestSygvdx(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 20
		a, b, info, w, meig := r.hermitian(n), r.positive(n), r.infoAt(), r.memory(8*n), r.memory(8)
		ty, real := typeOf(r.e), typeOf(realOf(r.e))
		r.ok(r.th.Sygvd(r.h, 1, noVectors, fills[0], n, r.put(a, n), n, r.put(b, n), n, w, r.memory(16*int(eigenSize(n, 1)+4)), eigenSize(n, 1)+4, info, r.e))
		for i, c := range choices(r.values(w, n)) {
			check := func(pa hostmem.Ptr, got int64) {
				r.t.Helper()
				r.good(info, "sygvdx %d", i)
				if got != int64(c.count) {
					r.t.Fatalf("%d: %d values, not %d", i, got, c.count)
				}
				x := r.get(pa, n, n, n).columns(c.count)
				r.within(r.ratio(a.times(x).minus(b.times(x).times(diagonal(r.values(w, c.count)))), n, a.norm()*b.norm()*max(x.norm(), 1)), "sygvdx %d", i)
			}
			pa, pb := r.put(a, n), r.put(b, n)
			size, err := r.th.SygvdxBufferSize(r.h, 1, withVectors, c.what, fills[1], n, pa, n, pb, n, c.low, c.high, c.first, c.last, meig, w, r.e)
			r.ok(err)
			r.ok(r.th.Sygvdx(r.h, 1, withVectors, c.what, fills[1], n, pa, n, pb, n, c.low, c.high, c.first, c.last, meig, w, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
			check(pa, int64(hostmem.Load[int32](meig)))
			if c.what == solver.CUSOLVER_EIG_RANGE_V {
				continue
			}
			pa, pb = r.put(a, n), r.put(b, n)
			at, bytes := r.room(r.th.DnXsygvdxBufferSize(r.h, 0, 1, withVectors, fills[0], n, ty, pa, n, ty, pb, n, 0, 0, c.first, c.last, meig, real, w, ty))
			r.ok(r.th.DnXsygvdx(r.h, 0, 1, withVectors, c.what, fills[0], n, ty, pa, n, ty, pb, n, 0, 0, c.first, c.last, meig, real, w, ty, at, bytes, 0, 0, info))
			check(pa, hostmem.Load[int64](meig))
		}
	})
}

// TestXlarft: I - V T V' is the product of the reflections of a QR, of more columns than a panel has.
func TestXlarft(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n, k = 90, 70
		ty, info := typeOf(r.e), r.infoAt()
		pa, taus, pt := r.put(r.random(n, k), n+1), r.memory(16*k), r.put(newFull(k, k), k)
		at, bytes := r.room(r.th.DnXgeqrfBufferSize(r.h, 0, n, k, ty, pa, n+1, ty, taus, ty))
		r.ok(r.th.DnGeqrf(r.h, 0, n, k, ty, pa, n+1, ty, taus, ty, at, bytes, info))
		room, size := r.room(r.th.DnXlarftBufferSize(r.h, 0, 0, 0, n, k, ty, pa, n+1, ty, taus, ty, pt, k, ty))
		r.ok(r.th.DnXlarft(r.h, 0, 0, 0, n, k, ty, pa, n+1, ty, taus, ty, pt, k, ty, room, size, 0, 0))
		v, top := triangle(r.get(pa, n, k, n+1), blas.CUBLAS_FILL_MODE_LOWER, true), triangle(r.get(pt, k, k, k), blas.CUBLAS_FILL_MODE_UPPER, false)
		whole := eye(n)
		for i, tau := range r.get(taus, k, 1, k).v {
			x := full{n, 1, v.v[i*n : (i+1)*n]}
			w := whole.times(x).times(x.adjoint())
			for j := range w.v {
				w.v[j] *= tau
			}
			whole = whole.minus(w)
		}
		r.within(r.ratio(eye(n).minus(v.times(top).times(v.adjoint())).minus(whole), n, 1), "Xlarft")
		if _, _, err := r.th.DnXlarftBufferSize(r.h, 0, 1, 0, n, k, ty, pa, n+1, ty, taus, ty, pt, k, ty); err != notSupported {
			r.t.Errorf("backwards: %v", err)
		}
	})
}

// TestGeneric: the names of cuSOLVER 11 do what those of today do.
func TestGeneric(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 33
		ty, real, info := typeOf(r.e), typeOf(realOf(r.e)), r.infoAt()
		a, b := r.positive(n), r.random(n, 2)
		room := func(size uint64, err error) (hostmem.Ptr, uint64) {
			r.t.Helper()
			r.ok(err)
			return r.memory(int(size)), size
		}
		solved := func(pb hostmem.Ptr, what string) {
			r.t.Helper()
			r.good(info, what)
			x := r.get(pb, n, 2, n)
			r.within(r.ratio(a.times(x).minus(b), n, a.norm()*x.norm()), what)
		}
		pa, pb := r.put(a, n), r.put(b, n)
		work, size := room(r.th.DnPotrfBufferSize(r.h, 0, fills[0], n, ty, pa, n, ty))
		r.ok(r.th.DnPotrf(r.h, 0, fills[0], n, ty, pa, n, ty, work, size, info))
		r.ok(r.th.DnPotrs(r.h, 0, fills[0], n, 2, ty, pa, n, ty, pb, n, info))
		solved(pb, "Potrs")
		pa, pb = r.put(a, n), r.put(b, n)
		ipiv := r.memory(8 * n)
		work, size = room(r.th.DnGetrfBufferSize(r.h, 0, n, n, ty, pa, n, ty))
		r.ok(r.th.DnGetrf(r.h, 0, n, n, ty, pa, n, ipiv, ty, work, size, info))
		r.ok(r.th.DnGetrs(r.h, 0, blas.CUBLAS_OP_N, n, 2, ty, pa, n, ipiv, ty, pb, n, info))
		solved(pb, "Getrs")
		pa = r.put(a, n)
		taus := r.memory(16 * n)
		work, size = room(r.th.DnGeqrfBufferSize(r.h, 0, n, n, ty, pa, n, ty, taus, ty))
		r.ok(r.th.DnGeqrf(r.h, 0, n, n, ty, pa, n, ty, taus, ty, work, size, info))
		upper := triangle(r.get(pa, n, n, n), blas.CUBLAS_FILL_MODE_UPPER, false)
		r.within(r.ratio(upper.adjoint().times(upper).minus(a.adjoint().times(a)), n, a.norm()*a.norm()), "Geqrf")
		pa = r.put(a, n)
		w := r.memory(8 * n)
		work, size = room(r.th.DnSyevdBufferSize(r.h, 0, withVectors, fills[0], n, ty, pa, n, real, w, ty))
		r.ok(r.th.DnSyevd(r.h, 0, withVectors, fills[0], n, ty, pa, n, real, w, ty, work, size, info))
		q, values := r.get(pa, n, n, n), r.values(w, n)
		r.within(r.ratio(a.times(q).minus(q.times(diagonal(values))), n, a.norm()), "Syevd")
		pa = r.put(a, n)
		work, size = room(r.th.DnGesvdBufferSize(r.h, 0, 'N', 'N', n, n, ty, pa, n, real, w, ty, 0, 1, ty, 0, 1, ty))
		r.ok(r.th.DnGesvd(r.h, 0, 'N', 'N', n, n, ty, pa, n, real, w, ty, 0, 1, ty, 0, 1, ty, work, size, info))
		for i, v := range r.values(w, n) { // of a positive definite matrix: the eigenvalues
			r.within(math.Abs(v-values[n-1-i])/a.norm()/n/r.eps(), "Gesvd value %d", i)
		}
	})
}
