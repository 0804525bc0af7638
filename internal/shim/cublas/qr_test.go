package cublas

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
)

type squares struct {
	e     Elem
	geqrf func(blas.CublasHandle_t, int64, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	gels  func(blas.CublasHandle_t, Op, int64, int64, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
}

func TestLeastSquares(t *testing.T) {
	onDevice(t, func(r *rig) {
		th := r.th
		for _, f := range []squares{
			{F32, th.GeqrfBatched, th.GelsBatched}, {F64, th.GeqrfBatched, th.GelsBatched},
			{C32, th.GeqrfBatched, th.GelsBatched}, {C64, th.GeqrfBatched, th.GelsBatched},
		} {
			for range r.times(8) {
				r.geqrfCase(f)
				r.gelsCase(f)
			}
		}
	})
}

// geqrfCase multiplies the reflections back: H1 H2 … R is A.
func (r *rig) geqrfCase(f squares) {
	m, n, batch := r.pick(5, 33, 1, 50), r.pick(4, 35, 1, 20), r.pick(1, 3)
	ld, k := m+1, min(m, n)
	a, taus := r.random(f.e, int(ld*n*batch)), r.nan(f.e, int(k*batch))
	scale := complex(math.Ldexp(1, r.rng.IntN(60)-30), 0)
	if r.coin() { // a column that is zero below its head
		for i := int64(1); i < m; i++ {
			a.set(int(i), 0)
		}
	}
	for i := range a.n {
		a.set(i, a.get(i)*scale)
	}
	before := a.values()
	var host [4]byte
	info := hostmem.Of(&host[0])
	r.ok(f.geqrf(r.h, m, n, r.list(a, ld*n, batch), ld, r.list(taus, k, batch), info, batch, f.e))
	r.sync()
	after, vt := a.values(), taus.values()
	for b := range batch {
		at := func(i, j int64) complex128 { return after[b*ld*n+i+j*ld] }
		for j := range n {
			x, size := make([]complex128, m), 0.0
			for i := range m {
				size += cmplx.Abs(before[b*ld*n+i+j*ld])
				if i <= j {
					x[i] = at(i, j)
				}
			}
			for q := k - 1; q >= 0; q-- {
				w := x[q]
				for i := q + 1; i < m; i++ {
					w += cmplx.Conj(at(i, q)) * x[i]
				}
				w *= vt[b*k+q]
				x[q] -= w
				for i := q + 1; i < m; i++ {
					x[i] -= at(i, q) * w
				}
			}
			for i := range m {
				if d := cmplx.Abs(x[i] - before[b*ld*n+i+j*ld]); !(d <= float64(m+8)*8*eps[f.e]*size) {
					r.t.Fatalf("%v geqrf m %d n %d batch %d: element %d, %d is off by %.3g of %.3g", f.e, m, n, batch, i, j, d, size)
				}
			}
		}
	}
	r.is(f.geqrf(r.h, m, n, r.list(a, ld*n, batch), m-1, r.list(taus, k, batch), info, batch, f.e), invalidValue)
	if got := hostmem.Load[int32](info); got != -4 {
		r.t.Fatalf("info %d for a leading dimension that is too small, want -4", got)
	}
}

// gelsCase: what is left over stands upright on the columns of A.
func (r *rig) gelsCase(f squares) {
	n, count, batch := r.pick(1, 5, 33), r.pick(1, 3, 40), r.pick(1, 3)
	m := n + r.pick(0, 7, 20)
	lda, ldc := m+1, m+2
	a, c := r.random(f.e, int(lda*n*batch)), r.random(f.e, int(ldc*count*batch))
	for b := range batch { // columns that are far from each other
		for j := range n {
			i := int(b*lda*n + j*(lda+1))
			a.set(i, a.get(i)+complex(float64(2*m), 0))
		}
	}
	va, vc, dev := a.values(), c.values(), r.random(S32, int(batch))
	var host [4]byte
	info := hostmem.Of(&host[0])
	la, lc := r.list(a, lda*n, batch), r.list(c, ldc*count, batch)
	r.ok(f.gels(r.h, blas.CUBLAS_OP_N, m, n, count, la, lda, lc, ldc, info, dev.p, batch, f.e))
	r.sync()
	x := c.values()
	for b := range batch {
		if dev.get(int(b)) != 0 {
			r.t.Fatalf("%v gels: info %v", f.e, dev.get(int(b)))
		}
		for j := range count {
			left, size := make([]complex128, m), 0.0
			for i := range m {
				left[i] = vc[b*ldc*count+i+j*ldc]
				size += cmplx.Abs(left[i])
				for l := range n {
					p := va[b*lda*n+i+l*lda] * x[b*ldc*count+l+j*ldc]
					left[i] -= p
					size += cmplx.Abs(p)
				}
			}
			for l := range n {
				sum, column := complex128(0), 0.0
				for i := range m {
					v := va[b*lda*n+i+l*lda]
					sum += cmplx.Conj(v) * left[i]
					column += cmplx.Abs(v)
				}
				if d := cmplx.Abs(sum); !(d <= float64(m+8)*8*eps[f.e]*size*column) {
					r.t.Fatalf("%s: column %d leans on what is left by %.3g of %.3g", fmt.Sprintf("%v gels m %d n %d count %d batch %d", f.e, m, n, count, batch), l, d, size*column)
				}
			}
		}
	}
	r.is(f.gels(r.h, blas.CUBLAS_OP_T, m, n, count, la, lda, lc, ldc, info, dev.p, batch, f.e), notSupported)
	r.is(f.gels(r.h, blas.CUBLAS_OP_N, m, n, -1, la, lda, lc, ldc, info, dev.p, batch, f.e), invalidValue)
}
