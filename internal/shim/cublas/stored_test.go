package cublas

import (
	"fmt"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
)

// parts are the functions of one type on bands and packed triangles; sbmv, spmv, spr and spr2 are the Hermitian ones where the type is complex.
type parts struct {
	e          Elem
	gbmv       func(blas.CublasHandle_t, Op, int64, int64, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	sbmv       func(blas.CublasHandle_t, Fill, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	spmv       func(blas.CublasHandle_t, Fill, int64, hostmem.Ptr, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	tbmv, tbsv func(blas.CublasHandle_t, Fill, Op, Diag, int64, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	tpmv, tpsv func(blas.CublasHandle_t, Fill, Op, Diag, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	spr        func(blas.CublasHandle_t, Fill, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, Elem) error
	spr2       func(blas.CublasHandle_t, Fill, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, Elem) error
}

func (r *rig) parts() []parts {
	t := r.th
	return []parts{
		{F32, t.Gbmv, t.Sbmv, t.Spmv, t.Tbmv, t.Tbsv, t.Tpmv, t.Tpsv, t.Spr, t.Spr2},
		{F64, t.Gbmv, t.Sbmv, t.Spmv, t.Tbmv, t.Tbsv, t.Tpmv, t.Tpsv, t.Spr, t.Spr2},
		{C32, t.Gbmv, t.Hbmv, t.Hpmv, t.Tbmv, t.Tbsv, t.Tpmv, t.Tpsv, t.Hpr, t.Hpr2},
		{C64, t.Gbmv, t.Hbmv, t.Hpmv, t.Tbmv, t.Tbsv, t.Tpmv, t.Tpsv, t.Hpr, t.Hpr2},
	}
}

func TestStored(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, f := range r.parts() {
			for range r.times(12) {
				r.gbmvCase(f)
				r.halfmvCase(f)
				r.triCase(f)
				r.halfrankCase(f)
			}
			r.storedErrors(f)
		}
	})
}

// layout says where a triangle's elements lie: packed, or a band of k diagonals with columns ld apart.
type layout struct {
	packed   bool
	fill     Fill
	n, k, ld int64
}

func (r *rig) layout() layout {
	l := layout{packed: r.coin(), fill: Fill(r.rng.IntN(2)), n: r.pick(1, 33, 0, 70)}
	l.k = r.pick(0, 3, 40, 80)
	l.ld = l.k + 1 + r.pick(0, 2)
	if l.packed {
		l.k = l.n
	}
	return l
}

// has reports an element that is stored.
func (l layout) has(i, j int64) bool {
	return isStored(l.fill, i, j) && max(i-j, j-i) <= l.k
}

func (l layout) len() int64 {
	if l.packed {
		return l.n * (l.n + 1) / 2
	}
	return l.ld * l.n
}

// each calls f for every stored element with its place, found by counting or by the band's own rule.
func (l layout) each(f func(i, j int64, at int)) {
	next := 0
	for j := range l.n {
		for i := range l.n {
			if !l.has(i, j) {
				continue
			}
			at := next
			if !l.packed {
				at = int(i - j + j*l.ld)
				if l.fill == blas.CUBLAS_FILL_MODE_UPPER {
					at += int(l.k)
				}
			}
			f(i, j, at)
			next++
		}
	}
}

// fillIn makes the stored elements random, the rest of the memory NaN.
func (r *rig) fillIn(l layout, e Elem) array {
	a := r.nan(e, int(l.len()))
	l.each(func(_, _ int64, at int) { a.set(at, r.number(e)) })
	return a
}

// refMatVec is the reference's y = alpha M x + beta y for an n × m matrix, spread over y's memory.
func (r *rig) refMatVec(rows, cols int64, alpha, beta complex128, m mat, x, y array, vx, vy vec) ([]complex128, []float64) {
	xs, c, s := spread(x, cols, vx.inc), spread(y, rows, vy.inc), make([]float64, max(1, rows))
	ref.Product(rows, 1, cols, alpha, beta, m, matrix(xs, max(1, cols), 0, 0), c, rows, s)
	want, size := y.values(), make([]float64, y.n)
	for i := range rows {
		want[vy.at(i)], size[vy.at(i)] = c[i], s[i]
		if beta == 0 { // must not be looked at
			y.set(int(vy.at(i)), cmplx.NaN())
		}
	}
	return want, size
}

// weights are alpha and beta, each zero now and then.
func (r *rig) weights(e Elem) (alpha, beta complex128) {
	alpha, beta = r.number(e), r.number(e)
	if r.rng.IntN(4) == 0 {
		alpha = 0
	}
	if r.coin() {
		beta = 0
	}
	return alpha, beta
}

func (r *rig) gbmvCase(f parts) {
	m, n, below, above, op := r.pick(1, 33, 0, 90), r.pick(1, 40, 0, 70), r.pick(0, 2, 50), r.pick(0, 5, 100), ops[r.rng.IntN(3)]
	lda := below + above + 1 + r.pick(0, 2)
	a, whole := r.nan(f.e, int(lda*n)), make([]complex128, m*n)
	for j := range n {
		for i := max(0, j-above); i < min(m, j+below+1); i++ {
			a.set(int(above+i-j+j*lda), r.number(f.e))
			whole[i+j*m] = a.get(int(above + i - j + j*lda))
		}
	}
	lx, ly := n, m
	if op != blas.CUBLAS_OP_N {
		lx, ly = m, n
	}
	vx, vy := vec{lx, r.inc()}, vec{ly, r.inc()}
	x, y := r.random(f.e, span(lx, vx.inc)), r.random(f.e, span(ly, vy.inc))
	alpha, beta := r.weights(f.e)
	want, size := y.values(), make([]float64, y.n)
	if m > 0 && n > 0 {
		want, size = r.refMatVec(ly, lx, alpha, beta, matrix(whole, m, op, 0), x, y, vx, vy)
	}
	if alpha == 0 {
		a = r.nan(f.e, a.n)
	}
	device := r.coin()
	r.mode(device)
	r.ok(f.gbmv(r.h, op, m, n, below, above, r.scalar(f.e, alpha, device), a.p, lda, x.p, vx.inc, r.scalar(f.e, beta, device), y.p, vy.inc, f.e))
	r.sync()
	r.near(fmt.Sprintf("%v gbmv op %d m %d n %d band %d %d alpha %v beta %v x %v y %v", f.e, op, m, n, below, above, alpha, beta, vx, vy), y, want, size, f.e, int(lx))
}

func (r *rig) halfmvCase(f parts) {
	l := r.layout()
	n := l.n
	hermitian := f.e.real() != f.e
	a, whole := r.fillIn(l, f.e), make([]complex128, n*n)
	l.each(func(i, j int64, at int) {
		v := a.get(at)
		switch {
		case !hermitian:
			whole[j+i*n] = v
		case i == j: // the imaginary part of the diagonal does not count
			v = onlyReal(v)
		default:
			whole[j+i*n] = cmplx.Conj(v)
		}
		whole[i+j*n] = v
	})
	vx, vy := vec{n, r.inc()}, vec{n, r.inc()}
	x, y := r.random(f.e, span(n, vx.inc)), r.random(f.e, span(n, vy.inc))
	alpha, beta := r.weights(f.e)
	want, size := r.refMatVec(n, n, alpha, beta, matrix(whole, n, 0, 0), x, y, vx, vy)
	if alpha == 0 {
		a = r.nan(f.e, a.n)
	}
	device := r.coin()
	r.mode(device)
	pa, pb := r.scalar(f.e, alpha, device), r.scalar(f.e, beta, device)
	if l.packed {
		r.ok(f.spmv(r.h, l.fill, n, pa, a.p, x.p, vx.inc, pb, y.p, vy.inc, f.e))
	} else {
		r.ok(f.sbmv(r.h, l.fill, n, l.k, pa, a.p, l.ld, x.p, vx.inc, pb, y.p, vy.inc, f.e))
	}
	r.sync()
	r.near(fmt.Sprintf("%v halfmv %+v alpha %v beta %v x %v y %v", f.e, l, alpha, beta, vx, vy), y, want, size, f.e, int(n))
}

// triCase: x = op(A) x, and solving, each against the reference.
func (r *rig) triCase(f parts) {
	l := r.layout()
	n, op, diag, incx := l.n, Op(r.rng.IntN(3)), Diag(r.rng.IntN(2)), r.inc()
	a, whole := r.fillIn(l, f.e), make([]complex128, n*n)
	l.each(func(i, j int64, at int) {
		switch { // far from singular
		case i != j:
			a.set(at, a.get(at)/complex(float64(n), 0))
		case diag == blas.CUBLAS_DIAG_UNIT:
			a.set(at, cmplx.NaN())
			whole[i+j*n] = 1
			return
		default:
			a.set(at, a.get(at)/4+2)
		}
		whole[i+j*n] = a.get(at)
	})
	multiply, solve := func(x array) error { return f.tbmv(r.h, l.fill, op, diag, n, l.k, a.p, l.ld, x.p, incx, f.e) }, func(x array) error {
		return f.tbsv(r.h, l.fill, op, diag, n, l.k, a.p, l.ld, x.p, incx, f.e)
	}
	if l.packed {
		multiply, solve = func(x array) error { return f.tpmv(r.h, l.fill, op, diag, n, a.p, x.p, incx, f.e) }, func(x array) error {
			return f.tpsv(r.h, l.fill, op, diag, n, a.p, x.p, incx, f.e)
		}
	}
	what := fmt.Sprintf("%v %+v op %d diag %d inc %d", f.e, l, op, diag, incx)
	m, v := matrix(whole, n, op, 0), vec{n, incx}
	x, y := r.random(f.e, span(n, incx)), r.random(f.e, span(n, incx))
	product, size := r.refMatVec(n, n, 1, 0, m, x, r.copyOf(x), v, v)
	r.ok(multiply(x))
	r.sync()
	r.near("multiply "+what, x, product, size, f.e, int(n))

	b := spread(y, n, incx)
	ref.Solve(n, 1, b, n, m.At, (l.fill == blas.CUBLAS_FILL_MODE_LOWER) == (op == blas.CUBLAS_OP_N), false)
	want, wide := y.values(), make([]float64, y.n)
	for i := range n {
		want[v.at(i)], wide[v.at(i)] = b[i], 16
	}
	r.ok(solve(y))
	r.sync()
	r.near("solve "+what, y, want, wide, f.e, int(n))
}

func (r *rig) copyOf(a array) array {
	c := r.empty(a.e, a.n)
	for i := range a.n {
		c.set(i, a.get(i))
	}
	return c
}

func (r *rig) halfrankCase(f parts) {
	l := r.layout()
	l.packed, l.k = true, l.n
	n, two, hermitian := l.n, r.coin(), f.e.real() != f.e
	vx, vy := vec{n, r.inc()}, vec{n, r.inc()}
	a, x, y := r.fillIn(l, f.e), r.random(f.e, span(n, vx.inc)), r.random(f.e, span(n, vy.inc))
	prime, scalar := same, f.e
	if hermitian {
		prime = cmplx.Conj
		if !two {
			scalar = f.e.real()
		}
	}
	alpha, device := r.number(scalar), r.coin()
	xs, ys, want, size := spread(x, n, vx.inc), spread(y, n, vy.inc), a.values(), make([]float64, a.n)
	l.each(func(i, j int64, at int) {
		size[at] = cmplx.Abs(want[at]) + cmplx.Abs(alpha)*(cmplx.Abs(xs[i])+cmplx.Abs(ys[i]))*(cmplx.Abs(xs[j])+cmplx.Abs(ys[j]))
		if two {
			want[at] += alpha*xs[i]*prime(ys[j]) + prime(alpha)*ys[i]*prime(xs[j])
		} else {
			want[at] += alpha * xs[i] * prime(xs[j])
		}
		if hermitian && i == j {
			want[at] = onlyReal(want[at])
		}
	})
	r.mode(device)
	s := r.scalar(scalar, alpha, device)
	if two {
		r.ok(f.spr2(r.h, l.fill, n, s, x.p, vx.inc, y.p, vy.inc, a.p, f.e))
	} else {
		r.ok(f.spr(r.h, l.fill, n, s, x.p, vx.inc, a.p, f.e))
	}
	r.sync()
	r.near(fmt.Sprintf("%v halfrank %+v two %v", f.e, l, two), a, want, size, f.e, 4)

	before := a.values() // with alpha 0 nothing of x is read and nothing written
	bad, zero := r.nan(f.e, x.n), r.scalar(scalar, 0, device)
	r.ok(f.spr(r.h, l.fill, n, zero, bad.p, vx.inc, a.p, f.e))
	r.sync()
	r.near("halfrank with alpha 0", a, before, make([]float64, a.n), f.e, 0)
}

// storedErrors: what makes no sense is refused, whatever else there is; a handle that is none comes first.
func (r *rig) storedErrors(f parts) {
	r.mode(false)
	a, x, one := r.random(f.e, 100), r.random(f.e, 10), r.scalar(f.e, 1, false)
	N, L, D := Op(blas.CUBLAS_OP_N), Fill(blas.CUBLAS_FILL_MODE_LOWER), Diag(blas.CUBLAS_DIAG_UNIT)
	const huge = 1 << 40
	for i, c := range []struct {
		err  error
		want Status
	}{
		{f.gbmv(r.h, 3, 5, 5, 1, 1, one, a.p, 3, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, -1, 5, 1, 1, one, a.p, 3, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, -1, 1, 1, one, a.p, 3, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, 5, -1, 1, one, a.p, 3, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, 5, 1, -1, one, a.p, 3, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, 5, 1, 1, one, a.p, 2, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, 5, 1, 1, one, a.p, 3, x.p, 0, one, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, 5, 1, 1, one, a.p, 3, x.p, 1, one, x.p, 0, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, 5, 1, 1, 0, a.p, 3, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, 5, 1, 1, one, a.p, 3, x.p, 1, 0, x.p, 1, f.e), invalidValue},
		{f.gbmv(r.h, N, 5, 5, huge, huge, one, a.p, 2*huge, x.p, 1, one, x.p, 1, f.e), notSupported},
		{f.gbmv(99, 9, -5, 5, 1, 1, one, a.p, 3, x.p, 1, one, x.p, 1, f.e), notInitialized},
		{f.sbmv(r.h, 2, 5, 1, one, a.p, 2, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.sbmv(r.h, L, 5, 1, one, a.p, 1, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.sbmv(r.h, L, 5, -1, one, a.p, 1, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.spmv(r.h, L, -1, one, a.p, x.p, 1, one, x.p, 1, f.e), invalidValue},
		{f.spmv(r.h, L, 5, one, a.p, x.p, 0, one, x.p, 1, f.e), invalidValue},
		{f.spmv(r.h, L, huge, one, a.p, x.p, 1, one, x.p, 1, f.e), notSupported},
		{f.tbmv(r.h, L, 4, D, 5, 1, a.p, 2, x.p, 1, f.e), invalidValue},
		{f.tbmv(r.h, L, N, 2, 5, 1, a.p, 2, x.p, 1, f.e), invalidValue},
		{f.tbsv(r.h, L, N, D, 5, 1, a.p, 1, x.p, 1, f.e), invalidValue},
		{f.tpmv(r.h, 2, N, D, 5, a.p, x.p, 1, f.e), invalidValue},
		{f.tpsv(r.h, L, N, D, 5, a.p, x.p, 0, f.e), invalidValue},
		{f.tpsv(99, L, N, D, 5, a.p, x.p, 0, f.e), notInitialized},
		{f.spr(r.h, 2, 5, one, x.p, 1, a.p, f.e), invalidValue},
		{f.spr(r.h, L, 5, one, x.p, 0, a.p, f.e), invalidValue},
		{f.spr2(r.h, L, 5, one, x.p, 1, x.p, 0, a.p, f.e), invalidValue},
		{f.spr2(r.h, L, 5, 0, x.p, 1, x.p, 1, a.p, f.e), invalidValue},
	} {
		if c.err == nil || StatusOf(c.err) != c.want {
			r.t.Errorf("%v: call %d: %v, want %v", f.e, i, c.err, c.want)
		}
	}
}
