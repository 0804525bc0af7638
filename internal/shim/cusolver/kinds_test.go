package cusolver

import (
	"fmt"
	"math"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// factorKinds are LAPACK's kinds of matrices for factorisations: beside random ones such as are zero in part, have equal, graded or no
// small values, and are near the ends of the type's range.
var factorKinds = []string{"random", "diagonal", "upper", "lower", "zero columns", "zero", "clustered", "graded", "singular", "tiny", "huge"}

// ends are sizes near the least and the largest number of a type, whose squares it does not hold.
func (r *rig) ends() (tiny, huge float64) {
	if realOf(r.e) == F32 {
		return 1e-30, 1e30
	}
	return 1e-280, 1e280
}

// general is a matrix of a kind, of m rows and n columns, as the type keeps it.
func (r *rig) general(kind string, m, n int) full {
	a, scale := r.random(m, n), 1.0
	switch kind {
	case "clustered", "graded", "singular":
		k := min(m, n)
		d := newFull(m, n)
		for i := range k {
			v := 1 + float64(i/5)*3*r.eps()
			if kind == "graded" {
				v = math.Pow(r.eps(), float64(i)/float64(k))
			}
			if kind == "singular" {
				v = float64(i % 3)
			}
			d.set(i, i, complex(v, 0))
		}
		a = r.unitary(m).times(d).times(r.unitary(n))
	case "tiny":
		scale, _ = r.ends()
	case "huge":
		_, scale = r.ends()
	}
	for j := range n {
		for i := range m {
			v := a.at(i, j) * complex(scale, 0)
			if kind == "zero" || kind == "diagonal" && i != j || kind == "upper" && i > j || kind == "lower" && i < j || kind == "zero columns" && (j == 0 || j >= n/2) {
				v = 0
			}
			a.set(i, j, r.round(v))
		}
	}
	return a
}

// TestFactorKinds: getrf, geqrf with orgqr, and potrf of positive definite matrices, of every kind.
func TestFactorKinds(t *testing.T) {
	onTypes(t, func(r *rig) {
		for _, kind := range factorKinds {
			for _, s := range [][2]int{{5, 5}, {20, 20}, {33, 17}, {70, 70}, {40, 101}, {140, 140}} {
				a, what := r.general(kind, s[0], s[1]), fmt.Sprint(kind, s)
				r.luOf(a, what)
				r.qrOf(a, what)
			}
		}
		for _, kind := range []string{"clustered", "tiny", "huge", "graded"} {
			for _, n := range []int{5, 20, 33, 70, 140} {
				for _, fill := range fills {
					a := r.spectrum(kind, n)
					if kind == "graded" { // so that no value is lost in rounding
						a = a.times(a)
						for i := range n {
							a.set(i, i, a.at(i, i)+complex(math.Sqrt(r.eps()), 0))
						}
						a = r.rounded(a)
					}
					pa, info := r.put(a, n), r.infoAt()
					r.ok(r.th.Potrf(r.h, fill, int64(n), pa, int64(n), 0, 0, info, r.e))
					r.good(info, "potrf %s %d", kind, n)
					r.within(r.ratio(square(r.get(pa, n, n, n), fill).minus(a), n, a.norm()), "potrf %s %d fill %d", kind, n, fill)
				}
			}
		}
	})
}

// rounded is a Hermitian matrix as the type keeps it.
func (r *rig) rounded(a full) full {
	for j := range a.n {
		for i := range j {
			a.set(i, j, r.round(a.at(i, j)))
			a.set(j, i, conj(a.at(i, j)))
		}
		a.set(j, j, r.round(complex(real(a.at(j, j)), 0)))
	}
	return a
}

// luOf: the factors make the matrix up, also where a pivot is 0. Then the info says so.
func (r *rig) luOf(a full, what string) {
	k := min(a.m, a.n)
	info, ipiv, pa := r.infoAt(), r.memory(4*k), r.put(a, a.m)
	r.ok(r.th.Getrf(r.h, int64(a.m), int64(a.n), pa, int64(a.m), 0, ipiv, info, r.e))
	f := r.get(pa, a.m, a.n, a.m)
	lower, upper, first := triangle(f, blas.CUBLAS_FILL_MODE_LOWER, true).columns(k), newFull(k, a.n), int32(0)
	for j := range a.n {
		for i := range min(j+1, k) {
			upper.set(i, j, f.at(i, j))
		}
		if j < k && f.at(j, j) == 0 && first == 0 {
			first = int32(j + 1)
		}
	}
	if got := r.info(info); got != first {
		r.t.Errorf("getrf %s: info %d, the first pivot of 0 is %d", what, got, first)
	}
	moved := a.clone()
	for i := range k {
		p := int(hostmem.Load[int32](ipiv.Index(i, 4))) - 1
		if p < i || p >= a.m {
			r.t.Fatalf("getrf %s: pivot %d is %d", what, i, p)
		}
		for j := range a.n {
			x, y := moved.at(i, j), moved.at(p, j)
			moved.set(i, j, y)
			moved.set(p, j, x)
		}
	}
	r.within(r.ratio(lower.times(upper).minus(moved), max(a.m, a.n), a.norm()), "getrf %s", what)
}

func (r *rig) qrOf(a full, what string) {
	k, info, pa := min(a.m, a.n), r.infoAt(), r.put(a, a.m)
	taus := r.memory(k * r.e.Size())
	size, err := r.th.GeqrfBufferSize(r.h, int64(a.m), int64(a.n), pa, int64(a.m), r.e)
	r.ok(err)
	work := r.memory(int(size) * r.e.Size())
	r.ok(r.th.Geqrf(r.h, int64(a.m), int64(a.n), pa, int64(a.m), taus, work, int64(size), info, r.e))
	r.good(info, "geqrf %s", what)
	f, upper := r.get(pa, a.m, a.n, a.m), newFull(k, a.n)
	for j := range a.n {
		for i := range min(j+1, k) {
			upper.set(i, j, f.at(i, j))
		}
	}
	r.ok(r.th.Orgqr(r.h, int64(a.m), int64(k), int64(k), pa, int64(a.m), taus, work, int64(size), info, r.e))
	q := r.get(pa, a.m, k, a.m)
	r.within(r.ratio(q.times(upper).minus(a), max(a.m, a.n), a.norm()), "geqrf %s", what)
	r.orthogonal(q, "orgqr %s", what)
}

// TestFactorNotFinite: a NaN or an infinity stays in the results, pivots are rows of the matrix, and what lies beside it is not touched.
func TestFactorNotFinite(t *testing.T) {
	onTypes(t, func(r *rig) {
		for i, bad := range []float64{math.NaN(), math.Inf(1), math.NaN(), math.Inf(-1)} {
			for _, n := range []int{7, 30, 70, 140} {
				a := r.positive(n)
				at := n / 3 * (i + 1) % n
				a.set(at, at, complex(bad, 0))
				info, ipiv, pa := r.infoAt(), r.memory(4*n), r.put(a, n)
				r.ok(r.th.Getrf(r.h, int64(n), int64(n), pa, int64(n), 0, ipiv, info, r.e))
				if got := r.info(info); got < 0 || got > int32(n) {
					r.t.Errorf("getrf with %v: info %d", bad, got)
				}
				for j := range n {
					if p := int(hostmem.Load[int32](ipiv.Index(j, 4))) - 1; p < j || p >= n {
						r.t.Fatalf("getrf of %d with %v at %d: pivot %d is %d", n, bad, at, j, p)
					}
				}
				if v := r.get(pa, n, n, n).norm(); !math.IsNaN(v) && !math.IsInf(v, 0) {
					r.t.Errorf("getrf of %d with %v at %d: norm %v", n, bad, at, v)
				}
				pa = r.put(a, n)
				r.ok(r.th.Potrf(r.h, fills[i%2], int64(n), pa, int64(n), 0, 0, info, r.e))
				if v := r.get(pa, n, n, n).norm(); r.info(info) == 0 && !math.IsNaN(v) && !math.IsInf(v, 0) {
					r.t.Errorf("potrf of %d with %v at %d: norm %v", n, bad, at, v)
				}
				pa = r.put(a, n)
				size, err := r.th.GeqrfBufferSize(r.h, int64(n), int64(n), pa, int64(n), r.e)
				r.ok(err)
				r.ok(r.th.Geqrf(r.h, int64(n), int64(n), pa, int64(n), r.memory(n*r.e.Size()), r.memory(int(size)*r.e.Size()), int64(size), info, r.e))
				r.good(info, "geqrf with %v", bad)
				if v := r.get(pa, n, n, n).norm(); !math.IsNaN(v) && !math.IsInf(v, 0) {
					r.t.Errorf("geqrf of %d with %v at %d: norm %v", n, bad, at, v)
				}
			}
		}
	})
}
