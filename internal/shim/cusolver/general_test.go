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
		wide := complexOf(ty)
		ce := map[Elem]Elem{F32: C32, F64: C64, C32: C32, C64: C64}[r.e]
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
				pa, w, v := r.put(a, n+1), r.memory(16*n), r.memory(16*n*n)
				work, size := r.room(r.th.DnXgeevBufferSize(r.h, 0, noVectors, withVectors, int64(n), ty, pa, int64(n+1), wide, w, ty, 0, 1, wide, v, int64(n), ty))
				r.ok(r.th.DnXgeev(r.h, 0, noVectors, withVectors, int64(n), ty, pa, int64(n+1), wide, w, ty, 0, 1, wide, v, int64(n), ty, work, size, 0, 0, info))
				r.good(info, "geev %s %d", kind, n)
				values, x := r.read(w, n, 1, n, ce), r.read(v, n, n, n, ce)
				if ce != r.e {
					r.packed(a, values, x)
				}
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
			if r.e != F64 {
				r.t.Errorf("values of another type: %v", err)
			}
		}
	})
}

// packed compares with real results: parts of values one after the other, parts of a pair's vectors in two columns.
func (r *rig) packed(a, values, x full) {
	r.t.Helper()
	n, ty, info := a.n, typeOf(r.e), r.infoAt()
	ld, w := int64(n+1), r.memory(16*n)
	pa, v := r.put(a, n+1), r.put(newFull(n, n), n+1)
	work, size := r.room(r.th.DnXgeevBufferSize(r.h, 0, noVectors, withVectors, int64(n), ty, pa, ld, ty, w, ty, 0, 1, ty, v, ld, ty))
	r.ok(r.th.DnXgeev(r.h, 0, noVectors, withVectors, int64(n), ty, pa, ld, ty, w, ty, 0, 1, ty, v, ld, ty, work, size, 0, 0, info))
	parts, columns := r.values(w, 2*n), r.get(v, n, n, n+1)
	for i := range n {
		if complex(parts[i], parts[n+i]) != values.v[i] {
			r.t.Errorf("value %d is %v %v, not %v", i, parts[i], parts[n+i], values.v[i])
		}
		im, first := imag(values.v[i]), i
		if im < 0 {
			first--
			if values.v[first] != conj(values.v[i]) {
				r.t.Errorf("values %d and %d are no pair", first, i)
			}
		}
		for k := range n {
			want := columns.at(k, first)
			if im != 0 {
				want += columns.at(k, first+1) * complex(0, math.Copysign(1, im))
			}
			if x.at(k, i) != want {
				r.t.Fatalf("element %d of vector %d is %v, not %v", k, i, x.at(k, i), want)
			}
		}
	}
}
