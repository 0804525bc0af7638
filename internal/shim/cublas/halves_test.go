package cublas

import (
	"fmt"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
)

// halves are the functions of one type on symmetric and triangular matrices.
type halves struct {
	e          Elem
	symv, hemv func(blas.CublasHandle_t, Fill, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	syr, her   func(blas.CublasHandle_t, Fill, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	syr2, her2 func(blas.CublasHandle_t, Fill, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	syr2k      func(blas.CublasHandle_t, Fill, Op, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	her2k      func(blas.CublasHandle_t, Fill, Op, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	trmm       func(blas.CublasHandle_t, Side, Fill, Op, Diag, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	trmv, trsv func(blas.CublasHandle_t, Fill, Op, Diag, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	tpttr      func(blas.CublasHandle_t, Fill, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	trttp      func(blas.CublasHandle_t, Fill, int64, hostmem.Ptr, int64, hostmem.Ptr, Elem) error
}

func (r *rig) halves() []halves {
	t := r.th
	return []halves{
		{F32, t.Symv, nil, t.Syr, nil, t.Syr2, nil, t.Syr2k, nil, t.Trmm, t.Trmv, t.Trsv, t.Tpttr, t.Trttp},
		{F64, t.Symv, nil, t.Syr, nil, t.Syr2, nil, t.Syr2k, nil, t.Trmm, t.Trmv, t.Trsv, t.Tpttr, t.Trttp},
		{C32, t.Symv, t.Hemv, t.Syr, t.Her, t.Syr2, t.Her2, t.Syr2k, t.Her2k, t.Trmm, t.Trmv, t.Trsv, t.Tpttr, t.Trttp},
		{C64, t.Symv, t.Hemv, t.Syr, t.Her, t.Syr2, t.Her2, t.Syr2k, t.Her2k, t.Trmm, t.Trmv, t.Trsv, t.Tpttr, t.Trttp},
	}
}

func TestHalves(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, f := range r.halves() {
			for range r.times(12) {
				r.symvCase(f)
				r.rankCase(f)
				r.syr2kCase(f)
				r.trmmCase(f)
				r.lineCase(f)
				r.packedCase(f)
			}
		}
	})
}

func isStored(fill Fill, i, j int64) bool {
	return i == j || (fill == blas.CUBLAS_FILL_MODE_LOWER) == (i > j)
}

// half is a matrix of which the other triangle is NaN, and what it stands for: symmetric, Hermitian, or a triangle.
func (r *rig) half(e Elem, fill Fill, n, ld int64, complete func(mirrored complex128) complex128, diagonal func(complex128) complex128) (array, []complex128) {
	a := r.random(e, int(ld*n))
	whole := make([]complex128, n*n)
	for j := range n {
		for i := range n {
			v := a.get(int(i + j*ld))
			switch {
			case i == j:
				v = diagonal(v)
			case !isStored(fill, i, j):
				v = complete(a.get(int(j + i*ld)))
			}
			whole[i+j*n] = v
		}
	}
	for j := range n {
		for i := range n {
			if !isStored(fill, i, j) {
				a.set(int(i+j*ld), cmplx.NaN())
			}
		}
	}
	return a, whole
}

func same(v complex128) complex128     { return v }
func none(complex128) complex128       { return 0 }
func onlyReal(v complex128) complex128 { return complex(real(v), 0) }

// element is the place of an element of a vector.
func element(i, n, inc int64) int { return int(vec{n, inc}.at(i)) }

func span(n, inc int64) int { return int(max(1, n*max(inc, -inc))) }

// spread are the values of a vector in order.
func spread(a array, n, inc int64) []complex128 {
	v := make([]complex128, n)
	for i := range n {
		v[i] = a.get(element(i, n, inc))
	}
	return v
}

func (r *rig) symvCase(f halves) {
	n, fill, incx, incy := r.pick(5, 33, 0, 70), Fill(r.rng.IntN(2)), r.inc(), r.inc()
	call, complete, diagonal := f.symv, same, same
	if f.hemv != nil && r.coin() {
		call, complete, diagonal = f.hemv, cmplx.Conj, onlyReal
	}
	ld := max(1, n) + 1
	a, whole := r.half(f.e, fill, n, ld, complete, diagonal)
	x, y := r.random(f.e, span(n, incx)), r.random(f.e, span(n, incy))
	alpha, beta, device := r.number(f.e), r.number(f.e), r.coin()
	if r.coin() {
		beta = 0
	}
	vx, vy, size := spread(x, n, incx), spread(y, n, incy), make([]float64, max(1, n))
	ref.Product(n, 1, n, alpha, beta, matrix(whole, n, 0, 0), matrix(vx, n, 0, 0), vy, n, size)
	want, wide := y.values(), make([]float64, y.n)
	for i := range n {
		want[element(i, n, incy)], wide[element(i, n, incy)] = vy[i], size[i]
		if beta == 0 {
			y.set(element(i, n, incy), cmplx.NaN())
		}
	}
	r.mode(device)
	r.ok(call(r.h, fill, n, r.scalar(f.e, alpha, device), a.p, ld, x.p, incx, r.scalar(f.e, beta, device), y.p, incy, f.e))
	r.sync()
	r.near(fmt.Sprintf("%v symv n %d fill %d inc %d %d", f.e, n, fill, incx, incy), y, want, wide, f.e, int(n))
	r.is(call(r.h, fill, n, r.scalar(f.e, alpha, device), a.p, ld, x.p, 0, r.scalar(f.e, beta, device), y.p, incy, f.e), invalidValue)
}

func (r *rig) rankCase(f halves) {
	n, fill, incx, incy := r.pick(5, 33, 0, 70), Fill(r.rng.IntN(2)), r.inc(), r.inc()
	hermitian, two := f.her != nil && r.coin(), r.coin()
	ld := max(1, n) + 1
	a, x, y := r.random(f.e, int(ld*n)), r.random(f.e, span(n, incx)), r.random(f.e, span(n, incy))
	prime, scalar := same, f.e
	if hermitian {
		prime = cmplx.Conj
		if !two {
			scalar = f.e.real()
		}
		for i := range n {
			a.set(int(i+i*ld), onlyReal(a.get(int(i+i*ld))))
		}
	}
	alpha, device := r.number(scalar), r.coin()
	vx, vy := spread(x, n, incx), spread(y, n, incy)
	want, size := a.values(), make([]float64, a.n)
	for j := range n {
		for i := range n {
			if !isStored(fill, i, j) {
				continue
			}
			add := alpha * vx[i] * prime(vx[j])
			if two {
				add = alpha*vx[i]*prime(vy[j]) + prime(alpha)*vy[i]*prime(vx[j])
			}
			size[i+j*ld] = cmplx.Abs(want[i+j*ld]) + cmplx.Abs(alpha)*(cmplx.Abs(vx[i])+cmplx.Abs(vy[i]))*(cmplx.Abs(vx[j])+cmplx.Abs(vy[j]))
			want[i+j*ld] += add
			if hermitian && i == j {
				want[i+j*ld] = onlyReal(want[i+j*ld])
			}
		}
	}
	r.mode(device)
	s := r.scalar(scalar, alpha, device)
	switch {
	case hermitian && two:
		r.ok(f.her2(r.h, fill, n, s, x.p, incx, y.p, incy, a.p, ld, f.e))
	case hermitian:
		r.ok(f.her(r.h, fill, n, s, x.p, incx, a.p, ld, f.e))
	case two:
		r.ok(f.syr2(r.h, fill, n, s, x.p, incx, y.p, incy, a.p, ld, f.e))
	default:
		r.ok(f.syr(r.h, fill, n, s, x.p, incx, a.p, ld, f.e))
	}
	r.sync()
	r.near(fmt.Sprintf("%v rank n %d fill %d hermitian %v two %v", f.e, n, fill, hermitian, two), a, want, size, f.e, 4)
}

func (r *rig) syr2kCase(f halves) {
	n, k, fill := r.pick(5, 33, 0, 70), r.pick(4, 0, 20), Fill(r.rng.IntN(2))
	hermitian := f.her2k != nil && r.coin()
	call, prime, ofBeta := f.syr2k, Op(blas.CUBLAS_OP_T), f.e
	if hermitian {
		call, prime, ofBeta = f.her2k, blas.CUBLAS_OP_C, f.e.real()
	}
	op, first, second, rows, cols := Op(blas.CUBLAS_OP_N), Op(blas.CUBLAS_OP_N), prime, n, k
	if r.coin() {
		op, first, second, rows, cols = prime, prime, blas.CUBLAS_OP_N, k, n
	}
	lda, ldb, ldc := max(1, rows)+2, max(1, rows), max(1, n)+1
	a, b, c := r.random(f.e, int(lda*cols)), r.random(f.e, int(ldb*cols)), r.random(f.e, int(ldc*n))
	alpha, beta, device := r.number(f.e), r.number(ofBeta), r.coin()
	other := alpha
	if hermitian {
		other = cmplx.Conj(alpha)
		for i := range n {
			c.set(int(i+i*ldc), onlyReal(c.get(int(i+i*ldc))))
		}
	}
	va, vb := a.values(), b.values()
	full, size, want := c.values(), make([]float64, c.n), c.values()
	ref.Product(n, n, k, alpha, beta, matrix(va, lda, first, 0), matrix(vb, ldb, second, 0), full, ldc, size)
	more := make([]float64, c.n)
	ref.Product(n, n, k, other, 1, matrix(vb, ldb, first, 0), matrix(va, lda, second, 0), full, ldc, more)
	for j := range n {
		for i := range n {
			if isStored(fill, i, j) {
				want[i+j*ldc] = full[i+j*ldc]
				size[i+j*ldc] += more[i+j*ldc]
			}
		}
	}
	r.mode(device)
	r.ok(call(r.h, fill, op, n, k, r.scalar(f.e, alpha, device), a.p, lda, b.p, ldb, r.scalar(ofBeta, beta, device), c.p, ldc, f.e))
	r.sync()
	r.near(fmt.Sprintf("%v syr2k n %d k %d fill %d op %d hermitian %v", f.e, n, k, fill, op, hermitian), c, want, size, f.e, int(2*k))
}

// triangular is a random triangle, its other half NaN and, if it is all ones, its diagonal too.
func (r *rig) triangular(e Elem, fill Fill, diag Diag, n, ld int64, boost complex128) (array, []complex128) {
	a, whole := r.half(e, fill, n, ld, none, same)
	for i := range n {
		if diag == blas.CUBLAS_DIAG_UNIT {
			whole[i+i*n] = 1
			a.set(int(i+i*ld), cmplx.NaN())
		} else {
			a.set(int(i+i*ld), whole[i+i*n]+boost)
			whole[i+i*n] = a.get(int(i + i*ld))
		}
	}
	return a, whole
}

func (r *rig) trmmCase(f halves) {
	m, n, side, fill, op, diag := r.pick(5, 33, 0, 50), r.pick(4, 15, 0, 40), Side(r.rng.IntN(2)), Fill(r.rng.IntN(2)), Op(r.rng.IntN(3)), Diag(r.rng.IntN(2))
	k := m
	if side == blas.CUBLAS_SIDE_RIGHT {
		k = n
	}
	lda, ldb := max(1, k)+1, max(1, m)+2
	a, whole := r.triangular(f.e, fill, diag, k, lda, 0)
	b := r.random(f.e, int(ldb*n))
	c, ldc := b, ldb // in place
	if r.coin() {
		ldc = max(1, m)
		c = r.nan(f.e, int(ldc*n))
	}
	alpha, device := r.number(f.e), r.coin()
	left, right := matrix(whole, k, op, 0), matrix(b.values(), ldb, 0, 0)
	if side == blas.CUBLAS_SIDE_RIGHT {
		left, right = right, left
	}
	want, size := c.values(), make([]float64, c.n)
	ref.Product(m, n, k, alpha, 0, left, right, want, ldc, size)
	r.mode(device)
	r.ok(f.trmm(r.h, side, fill, op, diag, m, n, r.scalar(f.e, alpha, device), a.p, lda, b.p, ldb, c.p, ldc, f.e))
	r.sync()
	r.near(fmt.Sprintf("%v trmm m %d n %d side %d fill %d op %d diag %d", f.e, m, n, side, fill, op, diag), c, want, size, f.e, int(k))
	r.is(f.trmm(r.h, side, fill, op, 2, m, n, r.scalar(f.e, alpha, device), a.p, lda, b.p, ldb, c.p, ldc, f.e), invalidValue)
}

// lineCase: x = op(A) x, and back by solving.
func (r *rig) lineCase(f halves) {
	n, fill, op, diag, incx := r.pick(5, 33, 0, 70), Fill(r.rng.IntN(2)), Op(r.rng.IntN(3)), Diag(r.rng.IntN(2)), r.inc()
	ld := max(1, n) + 1
	a, whole := r.triangular(f.e, fill, diag, n, ld, 8)
	if diag == blas.CUBLAS_DIAG_UNIT { // small beside the ones, or the way back is lost
		for j := range n {
			for i := range n {
				if i != j && isStored(fill, i, j) {
					a.set(int(i+j*ld), whole[i+j*n]/32)
					whole[i+j*n] = a.get(int(i + j*ld))
				}
			}
		}
	}
	x := r.random(f.e, span(n, incx))
	before := spread(x, n, incx)
	check := func(what string, from, to []complex128) { // to is op(A) from
		got, size := append([]complex128(nil), to...), make([]float64, max(1, n))
		ref.Product(n, 1, n, 1, 0, matrix(whole, n, op, 0), matrix(from, n, 0, 0), got, n, size)
		for i := range n {
			if d, limit := cmplx.Abs(got[i]-to[i]), float64(n+8)*4*eps[f.e]*size[i]; !(d <= limit) {
				r.t.Fatalf("%v %s n %d fill %d op %d diag %d inc %d: element %d is %v, want %v", f.e, what, n, fill, op, diag, incx, i, to[i], got[i])
			}
		}
	}
	r.ok(f.trmv(r.h, fill, op, diag, n, a.p, ld, x.p, incx, f.e))
	r.sync()
	after := spread(x, n, incx)
	check("trmv", before, after)
	r.ok(f.trsv(r.h, fill, op, diag, n, a.p, ld, x.p, incx, f.e))
	r.sync()
	check("trsv", spread(x, n, incx), after)
	r.is(f.trsv(r.h, fill, op, diag, n, a.p, ld, x.p, 0, f.e), invalidValue)
}

func (r *rig) packedCase(f halves) {
	n, fill := r.pick(5, 33, 0, 70), Fill(r.rng.IntN(2))
	ld := max(1, n) + 1
	a, ap, back := r.random(f.e, int(ld*n)), r.nan(f.e, int(n*(n+1)/2)), r.nan(f.e, int(ld*n))
	r.ok(f.trttp(r.h, fill, n, a.p, ld, ap.p, f.e))
	r.ok(f.tpttr(r.h, fill, n, ap.p, back.p, ld, f.e))
	r.sync()
	at := 0
	for j := range n {
		for i := range n {
			v := a.get(int(i + j*ld))
			switch {
			case isStored(fill, i, j):
				if ap.get(at) != v || back.get(int(i+j*ld)) != v {
					r.t.Fatalf("%v packed n %d fill %d: %d, %d is %v and %v, want %v", f.e, n, fill, i, j, ap.get(at), back.get(int(i+j*ld)), v)
				}
				at++
			case !cmplx.IsNaN(back.get(int(i + j*ld))):
				r.t.Fatalf("%v packed n %d fill %d: %d, %d was written", f.e, n, fill, i, j)
			}
		}
	}
}
