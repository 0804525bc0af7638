package cusolver

import (
	"math"
	"math/bits"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
)

// hadamard has pivots that are powers of two: LU of it is exact, and every column is full of ties.
func (r *rig) hadamard(n int) full {
	a := newFull(n, n)
	for i, row := range r.rng.Perm(n) {
		for j := range n {
			a.set(i, j, complex(float64(1-2*(bits.OnesCount(uint(row&j))%2)), 0))
		}
	}
	return a
}

// pivoted is LU of the host: of the largest elements of a column the first is taken.
func pivoted(a full) (full, []int32) {
	f, rows := a.clone(), make([]int32, a.n)
	for k := range a.n {
		p := k
		for i := k + 1; i < a.m; i++ {
			if cmplx.Abs(f.at(i, k)) > cmplx.Abs(f.at(p, k)) {
				p = i
			}
		}
		rows[k] = int32(p + 1)
		for j := range a.n {
			x, y := f.at(k, j), f.at(p, j)
			f.set(k, j, y)
			f.set(p, j, x)
		}
		for i := k + 1; i < a.m; i++ {
			f.set(i, k, f.at(i, k)/f.at(k, k))
			for j := k + 1; j < a.n; j++ {
				f.set(i, j, f.at(i, j)-f.at(i, k)*f.at(k, j))
			}
		}
	}
	return f, rows
}

// TestTies: of several largest elements the first becomes the pivot, within panels and behind them.
func TestTies(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, n := range []int{8, 32, 64} {
			a := r.hadamard(n)
			want, rows := pivoted(a)
			pa, ipiv, info := r.put(a, n+1), r.memory(4*n), r.infoAt()
			r.ok(r.th.Getrf(r.h, int64(n), int64(n), pa, int64(n+1), 0, ipiv, info, r.e))
			r.good(info, "getrf %d", n)
			if d := r.get(pa, n, n, n+1).minus(want).norm(); d != 0 {
				r.t.Errorf("getrf %d is off by %g", n, d)
			}
			for i, p := range rows {
				if got := hostmem.Load[int32](ipiv.Index(i, 4)); got != p {
					r.t.Errorf("getrf %d: pivot %d is %d, want %d", n, i, got, p)
				}
			}
		}
	})
}

// TestScaled: QR of matrices near the ends of the type's range.
func TestScaled(t *testing.T) {
	onTypes(t, func(r *rig) {
		exponent := 1000
		if realOf(r.e) == F32 {
			exponent = 110
		}
		for _, s := range []int{exponent, -exponent} {
			const m, n = 70, 45
			a := r.random(m, n)
			for i := range a.v {
				a.v[i] *= complex(math.Ldexp(1, s), 0)
			}
			pa, taus, info := r.put(a, m), r.memory(n*r.e.Size()), r.infoAt()
			size, err := r.th.GeqrfBufferSize(r.h, m, n, pa, m, r.e)
			r.ok(err)
			work := r.memory(int(size) * r.e.Size())
			r.ok(r.th.Geqrf(r.h, m, n, pa, m, taus, work, int64(size), info, r.e))
			r.good(info, "geqrf")
			upper := newFull(n, n)
			f := r.get(pa, m, n, m)
			for j := range n {
				for i := range j + 1 {
					upper.set(i, j, f.at(i, j)*complex(math.Ldexp(1, -s), 0))
				}
			}
			r.ok(r.th.Orgqr(r.h, m, n, n, pa, m, taus, work, int64(size), info, r.e))
			q := r.get(pa, m, n, m)
			r.orthogonal(q, "2^%d", s)
			for i := range a.v {
				a.v[i] *= complex(math.Ldexp(1, -s), 0)
			}
			r.within(r.ratio(q.times(upper).minus(a), m, a.norm()), "QR of 2^%d", s)
		}
	})
}

// TestFactorsNotFinite: what stands left of a NaN or an infinity is what it is without, and Cholesky tells it on the diagonal.
func TestFactorsNotFinite(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 75
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for _, at := range []int{3, 37, 70} {
				a := r.random(n, n)
				b := a.clone()
				b.set(at, at, complex(bad, 0))
				var first [2]full
				for i, x := range []full{a, b} {
					pa, taus, info := r.put(x, n), r.memory(n*r.e.Size()), r.infoAt()
					size, err := r.th.GeqrfBufferSize(r.h, n, n, pa, n, r.e)
					r.ok(err)
					r.ok(r.th.Geqrf(r.h, n, n, pa, n, taus, r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
					r.good(info, "geqrf")
					first[i] = r.get(pa, n, n, n).columns(at)
				}
				if d := first[0].minus(first[1]).norm(); d != 0 {
					r.t.Errorf("geqrf: %v in column %d changes columns before it by %g", bad, at, d)
				}
				var rows [2][]int32
				for i, x := range []full{a, b} {
					ipiv, info := r.memory(4*n), r.infoAt()
					r.ok(r.th.Getrf(r.h, n, n, r.put(x, n), n, 0, ipiv, info, r.e))
					if v := r.info(info); v < 0 || v > n {
						r.t.Errorf("getrf: info %d", v)
					}
					for k := range at {
						rows[i] = append(rows[i], hostmem.Load[int32](ipiv.Index(k, 4)))
					}
				}
				for k := range rows[0] {
					if rows[0][k] != rows[1][k] {
						r.t.Errorf("getrf: %v in column %d changes pivot %d", bad, at, k)
					}
				}
				if bad > 0 {
					continue // an infinity is positive
				}
				c := r.positive(n)
				c.set(at, at, complex(bad, 0))
				info := r.infoAt()
				r.ok(r.th.Potrf(r.h, fills[at%2], n, r.put(c, n), n, 0, 0, info, r.e))
				if v := r.info(info); v != int32(at+1) {
					r.t.Errorf("potrf: %v at %d: info %d", bad, at, v)
				}
			}
		}
	})
}
