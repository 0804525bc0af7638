package cusolver

import (
	"math"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

// TestXpolar: A = U H of square and tall matrices, singular, tiny and huge ones, with every part of H.
func TestXpolar(t *testing.T) {
	onTypes(t, func(r *rig) {
		ty := typeOf(r.e)
		small := 1e-30
		if realOf(r.e) == F64 {
			small = 1e-250
		}
		for _, s := range [][2]int{{1, 1}, {5, 3}, {30, 30}, {41, 20}, {70, 66}} {
			for _, kind := range []string{"random", "singular", "tiny", "huge"} {
				m, n := s[0], s[1]
				a := r.random(m, n)
				for i := range a.v {
					switch kind {
					case "tiny":
						a.v[i] = r.round(a.v[i] * complex(small, 0))
					case "huge":
						a.v[i] = r.round(a.v[i] / complex(small, 0))
					case "singular": // all columns but the first are of three kinds
						if j := i / m; j > 3 {
							a.v[i] = a.v[i%m+m*(1+j%3)]
						}
					}
				}
				for _, fill := range []Fill{blas.CUBLAS_FILL_MODE_LOWER, blas.CUBLAS_FILL_MODE_UPPER, blas.CUBLAS_FILL_MODE_FULL} {
					r.polarCheck(a, fill, ty, kind)
				}
			}
		}
		nan := r.random(6, 5)
		nan.set(2, 1, cmplx.NaN())
		info, pa, ph := r.infoAt(), r.put(nan, 6), r.put(newFull(5, 5), 5)
		work, size := r.room(r.th.DnXpolarBufferSize(r.h, 0, fills[0], 6, 5, ty, pa, 6, ty, ph, 5, ty))
		r.ok(r.th.DnXpolar(r.h, 0, fills[0], 6, 5, ty, pa, 6, ty, ph, 5, ty, work, size, 0, 0, 0, 0, 0, info))
		if r.info(info) == 0 {
			r.t.Error("a NaN went unseen")
		}
		if err := r.th.DnXpolar(r.h, 0, fills[0], 5, 6, ty, pa, 6, ty, ph, 6, ty, work, size, 0, 0, 0, 0, 0, info); err != invalidValue {
			r.t.Errorf("more columns than rows: %v", err)
		}
		if err := r.th.DnXpolar(r.h, 0, fills[0], 6, 5, ty, pa, 6, ty, ph, 5, ty, work, size-1, 0, 0, 0, 0, 0, info); err != invalidValue {
			r.t.Errorf("a workspace too small: %v", err)
		}
		if _, _, err := r.th.DnXpolarBufferSize(r.h, 0, fills[0], 6, 5, ty, pa, 6, rt.CUDA_R_16F, ph, 5, ty); err != invalidValue {
			r.t.Errorf("H of another type: %v", err)
		}
	})
}

func (r *rig) polarCheck(a full, fill Fill, ty Type, kind string) {
	m, n := a.m, a.n
	before := newFull(n, n)
	for i := range before.v {
		before.v[i] = gap
	}
	pa, ph, told, info := r.put(a, m+1), r.put(before, n+2), r.memory(24), r.infoAt()
	work, size := r.room(r.th.DnXpolarBufferSize(r.h, 0, fill, int64(m), int64(n), ty, pa, int64(m+1), ty, ph, int64(n+2), ty))
	r.ok(r.th.DnXpolar(r.h, 0, fill, int64(m), int64(n), ty, pa, int64(m+1), ty, ph, int64(n+2), ty, work, size, 0, 0, told, told.Index(1, 8), told.Index(2, 8), info))
	r.good(info, "%s %d %d", kind, m, n)
	u, h := r.get(pa, m, n, m+1), r.get(ph, n, n, n+2)
	for j := range n {
		for i := range n {
			switch in := fill == blas.CUBLAS_FILL_MODE_FULL || i == j || (fill == blas.CUBLAS_FILL_MODE_LOWER) == (i > j); {
			case !in && h.at(i, j) != gap:
				r.t.Fatalf("%s: fill %d: element %d, %d was written", kind, fill, i, j)
			case in && fill == blas.CUBLAS_FILL_MODE_FULL && h.at(i, j) != cmplx.Conj(h.at(j, i)):
				r.t.Fatalf("%s: H is not Hermitian at %d, %d", kind, i, j)
			}
		}
	}
	for j := range n { // what was not written is known from the other triangle
		for i := range j {
			if fill == blas.CUBLAS_FILL_MODE_LOWER {
				h.set(i, j, cmplx.Conj(h.at(j, i)))
			} else {
				h.set(j, i, cmplx.Conj(h.at(i, j)))
			}
		}
	}
	left := a.minus(u.times(h))
	r.within(r.ratio(left, m, a.norm()), "%s %d %d: A - U H", kind, m, n)
	r.orthogonal(u, "%s %d %d", kind, m, n)
	sum := func(x full) float64 {
		s, most := 0.0, 0.0
		for _, v := range x.v {
			most = max(most, cmplx.Abs(v))
		}
		for _, v := range x.v {
			s += math.Pow(cmplx.Abs(v)/most, 2)
		}
		return most * math.Sqrt(s)
	}
	norm, residual, rcond := hostmem.Load[float64](told.Index(1, 8)), hostmem.Load[float64](told), hostmem.Load[float64](told.Index(2, 8))
	if want := sum(a); !(math.Abs(norm-want) <= 1e-6*want) {
		r.t.Errorf("%s: the norm is %g, not %g", kind, norm, want)
	}
	if !(residual >= 0 && residual <= 100*float64(m)*r.eps()*norm) {
		r.t.Errorf("%s: the residual is %g", kind, residual)
	}
	switch {
	case !(rcond >= 0 && rcond <= 1), kind == "singular" && n > 4 && rcond > 100*r.eps(), kind == "random" && n > 1 && rcond < r.eps(), n == 1 && rcond != 1:
		r.t.Errorf("%s %d: the reciprocal condition is %g", kind, n, rcond)
	}
	// H is positive semidefinite: its eigenvalues are A's singular values
	w, pw := r.memory(8*n), r.put(h, n)
	lwork, err := r.th.SyevdBufferSize(r.h, noVectors, fills[0], int64(n), pw, int64(n), w, r.e)
	r.ok(err)
	r.ok(r.th.Syevd(r.h, noVectors, fills[0], int64(n), pw, int64(n), w, r.memory(int(lwork)*r.e.Size()), int64(lwork), info, r.e))
	if low := r.values(w, n)[0]; low < -100*float64(n)*r.eps()*norm {
		r.t.Errorf("%s: H has the eigenvalue %g", kind, low)
	}
}
