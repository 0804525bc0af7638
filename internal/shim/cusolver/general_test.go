package cusolver

import (
	"math"
	"math/cmplx"
	"testing"

	"kudzu/internal/spec/rt"
)

// TestGeev: A v = w v with v of length 1, for random, triangular, defective, normal and graded matrices.
func TestGeev(t *testing.T) {
	onTypes(t, func(r *rig) {
		ty, info := typeOf(r.e), r.infoAt()
		if r.e == F32 || r.e == F64 {
			if _, _, err := r.th.DnXgeevBufferSize(r.h, 0, noVectors, withVectors, 3, ty, 0, 3, ty, 0, ty, 0, 3, ty, 0, 3, ty); err != notSupported {
				r.t.Errorf("a real matrix: %v", err)
			}
			return
		}
		for _, n := range []int{1, 2, 3, 10, 33, 60} {
			for _, kind := range []string{"random", "triangular", "defective", "normal", "graded", "tiny", "huge", "zero"} {
				a := r.random(n, n)
				for j := range n {
					for i := range n {
						switch {
						case kind == "triangular" && i > j, kind == "zero":
							a.set(i, j, 0)
						case kind == "defective":
							a.set(i, j, complex(float64(max(0, 2-max(i-j, j-i))*max(0, 1-max(0, i-j))), 0))
						case kind == "graded":
							a.set(i, j, r.round(a.at(i, j)*complex(math.Pow(0.3, float64(i+j)), 0)))
						case kind == "tiny":
							a.set(i, j, r.round(a.at(i, j)*1e-30))
						case kind == "huge":
							a.set(i, j, r.round(a.at(i, j)*1e30))
						}
					}
				}
				if kind == "normal" {
					a = r.hermitian(n)
				}
				pa, w, v := r.put(a, n+1), r.memory(16*n), r.put(newFull(n, n), n+2)
				work, size := r.room(r.th.DnXgeevBufferSize(r.h, 0, noVectors, withVectors, int64(n), ty, pa, int64(n+1), ty, w, ty, 0, 1, ty, v, int64(n+2), ty))
				r.ok(r.th.DnXgeev(r.h, 0, noVectors, withVectors, int64(n), ty, pa, int64(n+1), ty, w, ty, 0, 1, ty, v, int64(n+2), ty, work, size, 0, 0, info))
				r.good(info, "geev %s %d", kind, n)
				values, x := r.get(w, n, 1, n), r.get(v, n, n, n+2)
				d, trace := newFull(n, n), complex128(0)
				for i := range n {
					d.set(i, i, values.v[i])
					trace += a.at(i, i) - values.v[i]
					length := 0.0
					for k := range n {
						length += real(x.at(k, i) * conj(x.at(k, i)))
					}
					r.within(math.Abs(length-1)/r.eps()/float64(n), "length of vector %d of %s %d", i, kind, n)
				}
				r.within(r.ratio(a.times(x).minus(x.times(d)), n, a.norm()), "geev %s %d", kind, n)
				r.within(cmplx.Abs(trace)/max(a.norm(), 1e-300)/float64(n)/r.eps(), "trace of %s %d", kind, n)
			}
		}
		if _, _, err := r.th.DnXgeevBufferSize(r.h, 0, noVectors, withVectors, 3, ty, 0, 3, rt.CUDA_R_64F, 0, ty, 0, 3, ty, 0, 3, ty); err != invalidValue {
			r.t.Errorf("values of another type: %v", err)
		}
	})
}
