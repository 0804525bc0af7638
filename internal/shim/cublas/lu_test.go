package cublas

import (
	"fmt"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

// systems are LAPACK's batched functions of one type.
type systems struct {
	e      Elem
	getrf  func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	getrs  func(blas.CublasHandle_t, Op, int64, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	getri  func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	matinv func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
}

func TestSystems(t *testing.T) {
	onDevice(t, func(r *rig) {
		th := r.th
		for _, f := range []systems{
			{F32, th.GetrfBatched, th.GetrsBatched, th.GetriBatched, th.MatinvBatched},
			{F64, th.GetrfBatched, th.GetrsBatched, th.GetriBatched, th.MatinvBatched},
			{C32, th.GetrfBatched, th.GetrsBatched, th.GetriBatched, th.MatinvBatched},
			{C64, th.GetrfBatched, th.GetrsBatched, th.GetriBatched, th.MatinvBatched},
		} {
			for range r.times(8) {
				r.systemCase(f)
			}
			r.singularCase(f)
		}
	})
}

// residual checks A X = B for what was computed: the residual beside the size of what was multiplied.
func (r *rig) residual(what string, e Elem, n, count int64, a, x mat, b func(i, j int64) complex128) {
	r.t.Helper()
	for j := range count {
		for i := range n {
			sum, size := complex128(0), cmplx.Abs(b(i, j))
			for l := range n {
				sum += a.At(i, l) * x.At(l, j)
				size += cmplx.Abs(a.At(i, l)) * cmplx.Abs(x.At(l, j))
			}
			if d := cmplx.Abs(sum - b(i, j)); !(d <= float64(n+8)*8*eps[e]*size) {
				r.t.Fatalf("%s: row %d of column %d is off by %.3g of %.3g", what, i, j, d, size)
			}
		}
	}
}

func identity(i, j int64) complex128 {
	if i == j {
		return 1
	}
	return 0
}

func (r *rig) systemCase(f systems) {
	n, count, batch, op := r.pick(1, 5, 33, 70), r.pick(1, 4, 40), r.pick(1, 3), Op(r.rng.IntN(3))
	pivoting := r.coin()
	lda, ldb := n+2, n+1
	a, b := r.random(f.e, int(lda*n*batch)), r.random(f.e, int(ldb*count*batch))
	if !pivoting { // without exchanges only what is strong on the diagonal can be trusted
		for i := range batch {
			for k := range n {
				at := int(i*lda*n + k*(lda+1))
				a.set(at, a.get(at)+complex(float64(4*n), 0))
			}
		}
	}
	va, vb := a.values(), b.values()
	pivots, info := r.empty(S32, int(n*batch)), r.random(S32, int(batch))
	pp := hostmem.Nil
	if pivoting {
		pp = pivots.p
	}
	what := fmt.Sprintf("%v n %d count %d batch %d op %d pivoting %v", f.e, n, count, batch, op, pivoting)
	la, lb := r.list(a, lda*n, batch), r.list(b, ldb*count, batch)
	if n <= maxInverse {
		inverse := r.nan(f.e, int(ldb*n*batch))
		r.ok(f.matinv(r.h, n, la, lda, r.list(inverse, ldb*n, batch), ldb, info.p, batch, f.e))
		r.sync()
		vi := inverse.values()
		for i := range batch {
			r.residual("matinv "+what, f.e, n, n, matrix(vi, ldb, 0, i*ldb*n), matrix(va, lda, 0, i*lda*n), identity)
		}
	}
	r.ok(f.getrf(r.h, n, la, lda, pp, info.p, batch, f.e))
	r.sync()
	for i := range int(batch) {
		if info.get(i) != 0 {
			r.t.Fatalf("%s: info %v", what, info.get(i))
		}
	}
	var host [4]byte
	hp := hostmem.Of(&host[0])
	r.ok(f.getrs(r.h, op, n, count, la, lda, pp, lb, ldb, hp, batch, f.e))
	inverse := r.nan(f.e, int(ldb*n*batch))
	r.ok(f.getri(r.h, n, la, lda, pp, r.list(inverse, ldb*n, batch), ldb, info.p, batch, f.e))
	r.sync()
	vx, vi := b.values(), inverse.values()
	for i := range batch {
		r.residual("getrs "+what, f.e, n, count, matrix(va, lda, op, i*lda*n), matrix(vx, ldb, 0, i*ldb*count), matrix(vb, ldb, 0, i*ldb*count).At)
		r.residual("getri "+what, f.e, n, n, matrix(va, lda, 0, i*lda*n), matrix(vi, ldb, 0, i*ldb*n), identity)
	}
	r.is(f.getrs(r.h, op, n, count, la, n-1, pp, lb, ldb, hp, batch, f.e), invalidValue)
	if got := hostmem.Load[int32](hp); got != -5 {
		r.t.Fatalf("%s: info %d for a leading dimension that is too small, want -5", what, got)
	}
}

// singularCase: the second row and column of three are zero.
func (r *rig) singularCase(f systems) {
	a, inverse, pivots, info := r.random(f.e, 9), r.nan(f.e, 9), r.empty(S32, 3), r.random(S32, 1)
	for i := range 3 {
		a.set(3+i, 0)
		a.set(3*i+1, 0)
	}
	la, lc := r.list(a, 9, 1), r.list(inverse, 9, 1)
	check := func(what string) {
		r.t.Helper()
		r.sync()
		if got := real(info.get(0)); got < 2 { // the zero pivot is the second or, after an exchange, the third
			r.t.Fatalf("%v %s: info %v of a singular matrix", f.e, what, got)
		}
	}
	r.ok(f.matinv(r.h, 3, la, 3, lc, 3, info.p, 1, f.e))
	check("matinv")
	r.ok(f.getrf(r.h, 3, la, 3, pivots.p, info.p, 1, f.e))
	check("getrf")
	info.set(0, 0)
	r.ok(f.getri(r.h, 3, la, 3, pivots.p, lc, 3, info.p, 1, f.e))
	check("getri")
	r.is(f.matinv(r.h, 33, la, 33, lc, 33, info.p, 1, f.e), invalidValue)
	r.is(f.getrf(r.h, 3, la, 2, pivots.p, info.p, 1, f.e), invalidValue)
	r.ok(f.getrf(r.h, 0, la, 1, pivots.p, info.p, 1, f.e))
}
