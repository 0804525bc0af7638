package cusolver

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/rt"
)

// geevKinds are the matrices of TestGeev.
var geevKinds = []string{"random", "triangular", "defective", "normal", "graded", "tiny", "huge", "zero", "singular", "jordan", "cluster", "cyclic", "scaled"}

// mirrored is H a H of a random reflection H: the same eigenvalues.
func (r *rig) mirrored(a full) full {
	v := r.random(a.n, 1)
	length := 0.0
	for _, x := range v.v {
		length += real(x * conj(x))
	}
	h := v.times(v.adjoint())
	for i := range h.v {
		h.v[i] *= complex(-2/length, 0)
	}
	for i := range a.n {
		h.set(i, i, h.at(i, i)+1)
	}
	a = h.times(a).times(h)
	for i := range a.v {
		a.v[i] = r.round(a.v[i])
	}
	return a
}

// TestGeev: A v = w v with v of length 1, for matrices that one warp has, that one window has, and larger ones.
func TestGeev(t *testing.T) {
	onTypes(t, func(r *rig) {
		ty, info := typeOf(r.e), r.infoAt()
		wide := complexOf(ty)
		ce := map[Elem]Elem{F32: C32, F64: C64, C32: C32, C64: C64}[r.e]
		for _, n := range []int{1, 2, 3, 10, 16, 17, 33, 60, 150} {
			for _, kind := range geevKinds {
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
						case kind == "singular" && j%2 == 1:
							a.set(i, j, a.at(i, j-1))
						case kind == "jordan", kind == "cyclic", kind == "cluster":
							a.set(i, j, 0)
						case kind == "scaled": // rows and columns of very different size, balanced by nobody
							a.set(i, j, r.round(a.at(i, j)*complex(math.Pow(10, float64(i%7-j%7)), 0)))
						}
					}
				}
				switch kind {
				case "normal":
					a = r.hermitian(n)
				case "cyclic": // all shifts of a QR step are the same: values are roots of 1
					for i := range n {
						a.set((i+1)%n, i, 1)
					}
				case "jordan", "cluster":
					for i := range n {
						a.set(i, i, complex(1+float64(i/20), 0))
						if kind == "cluster" {
							a.set(i, i, complex(1+1e-5*r.rng.Float64(), 0))
						} else if i%20 > 0 {
							a.set(i-1, i, 1)
						}
					}
					a = r.mirrored(r.mirrored(a))
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
				// Each of n elements of the diagonal may be off by what the whole matrix may be.
				r.within(cmplx.Abs(trace)/max(a.norm(), 1e-300)/float64(n*n)/r.eps(), "trace of %s %d", kind, n)
			}
		}
		if _, _, err := r.th.DnXgeevBufferSize(r.h, 0, noVectors, withVectors, 3, ty, 0, 3, rt.CUDA_R_64F, 0, ty, 0, 3, ty, 0, 3, ty); err != invalidValue {
			if r.e != F64 {
				r.t.Errorf("values of another type: %v", err)
			}
		}
	})
}

// TestGeevAgain: two calls give the same bits, values without vectors are those with them, and NaN or an infinity is told.
func TestGeevAgain(t *testing.T) {
	onTypes(t, func(r *rig) {
		const n = 150
		ty, info := typeOf(r.e), r.infoAt()
		wide := complexOf(ty)
		bytes := n * n * 2 * r.e.Size()
		call := func(a full, right Mode) (w, v []byte) {
			pa, pw, pv := r.put(a, n), r.memory(2*n*r.e.Size()), r.memory(bytes)
			work, size := r.room(r.th.DnXgeevBufferSize(r.h, 0, noVectors, right, n, ty, pa, n, wide, pw, ty, 0, 1, wide, pv, n, ty))
			r.ok(r.th.DnXgeev(r.h, 0, noVectors, right, n, ty, pa, n, wide, pw, ty, 0, 1, wide, pv, n, ty, work, size, 0, 0, info))
			r.ok(r.th.driver().CtxSynchronize())
			return hostmem.Bytes(pw, uint64(2*n*realOf(r.e).Size())), hostmem.Bytes(pv, uint64(2*n*n*realOf(r.e).Size()))
		}
		a := r.random(n, n)
		w, v := call(a, withVectors)
		w2, v2 := call(a, withVectors)
		w3, _ := call(a, noVectors)
		if !slices.Equal(w, w2) || !slices.Equal(v, v2) {
			r.t.Error("two calls differ")
		}
		if !slices.Equal(w, w3) {
			r.t.Error("values without vectors differ from those with them")
		}
		for _, bad := range []complex128{complex(math.NaN(), 0), complex(math.Inf(1), 0)} {
			b := a.clone()
			b.set(70, 3, bad)
			call(b, withVectors)
			if got := r.info(info); got != n {
				r.t.Errorf("info of %v is %d", bad, got)
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
