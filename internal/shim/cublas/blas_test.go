package cublas

import (
	"fmt"
	"math"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

var nanValue = math.NaN()

// the functions of one type.
type family struct {
	e                          Elem
	axpy                       func(blas.CublasHandle_t, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	scal                       func(blas.CublasHandle_t, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem, Elem) error
	copy, swap                 func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	rot                        func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, Elem, Elem) error
	dot, dotc                  func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, Elem) error
	nrm2, asum                 func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, Elem) error
	amax, amin, amax64, amin64 func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, Elem) error
	gemv                       func(blas.CublasHandle_t, Op, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	ger, gerc                  func(blas.CublasHandle_t, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	syrk                       func(blas.CublasHandle_t, Fill, Op, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	herk                       func(blas.CublasHandle_t, Fill, Op, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	symm, hemm                 func(blas.CublasHandle_t, Side, Fill, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, Elem) error
	trsm                       func(blas.CublasHandle_t, Side, Fill, Op, blas.CublasDiagType_t, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	trsmBatched                func(blas.CublasHandle_t, Side, Fill, Op, blas.CublasDiagType_t, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, int64, Elem) error
	geam                       func(blas.CublasHandle_t, Op, Op, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	dgmm                       func(blas.CublasHandle_t, Side, int64, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, int64, Elem) error
	gemvBatched                func(blas.CublasHandle_t, Op, int64, int64, hostmem.Ptr, hostmem.Ptr, int64, hostmem.Ptr, int64, hostmem.Ptr, hostmem.Ptr, int64, int64, Elem) error
}

func (r *rig) families() []family {
	t := r.th
	return []family{
		{F32, t.Axpy, t.Scal, t.Copy, t.Swap, t.Rot, t.Dot, nil, t.Nrm2, t.Asum, t.Iamax, t.Iamin, t.Iamax64, t.Iamin64, t.Gemv, t.Ger, nil, t.Syrk, nil, t.Symm, nil, t.Trsm, t.TrsmBatched, t.Geam, t.Dgmm, t.GemvBatched},
		{F64, t.Axpy, t.Scal, t.Copy, t.Swap, t.Rot, t.Dot, nil, t.Nrm2, t.Asum, t.Iamax, t.Iamin, t.Iamax64, t.Iamin64, t.Gemv, t.Ger, nil, t.Syrk, nil, t.Symm, nil, t.Trsm, t.TrsmBatched, t.Geam, t.Dgmm, t.GemvBatched},
		{C32, t.Axpy, t.Scal, t.Copy, t.Swap, t.Rot, t.Dot, t.Dotc, t.Nrm2, t.Asum, t.Iamax, t.Iamin, t.Iamax64, t.Iamin64, t.Gemv, t.Ger, t.Gerc, t.Syrk, t.Herk, t.Symm, t.Hemm, t.Trsm, t.TrsmBatched, t.Geam, t.Dgmm, t.GemvBatched},
		{C64, t.Axpy, t.Scal, t.Copy, t.Swap, t.Rot, t.Dot, t.Dotc, t.Nrm2, t.Asum, t.Iamax, t.Iamin, t.Iamax64, t.Iamin64, t.Gemv, t.Ger, t.Gerc, t.Syrk, t.Herk, t.Symm, t.Hemm, t.Trsm, t.TrsmBatched, t.Geam, t.Dgmm, t.GemvBatched},
	}
}

// vec reads a vector in BLAS's order.
type vec struct {
	n, inc int64
}

func (v vec) len() int { return int(1 + (v.n-1)*max(v.inc, -v.inc)) }

func (v vec) at(i int64) int64 {
	if v.inc < 0 {
		return (1-v.n)*v.inc + i*v.inc
	}
	return i * v.inc
}

func (r *rig) inc() int64 { return []int64{1, 1, 2, -1, -3}[r.rng.IntN(5)] }

func TestVectors(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, f := range r.families() {
			for range r.times(10) {
				r.elementwise(f)
				r.sums(f)
			}
			r.extremes(f)
		}
	})
}

func ones(n int) []float64 {
	s := make([]float64, n)
	for i := range s {
		s[i] = 16
	}
	return s
}

func (r *rig) elementwise(f family) {
	n := r.pick(1, 40, 300, 5000)
	vx, vy := vec{n, r.inc()}, vec{n, r.inc()}
	x, y := r.random(f.e, vx.len()), r.random(f.e, vy.len())
	device := r.coin()
	r.mode(device)
	alpha, c, s := r.number(f.e), complex(0.6, 0), r.number(f.e)
	wx, wy := x.values(), y.values()
	for i := range n {
		wy[vy.at(i)] += alpha * wx[vx.at(i)]
	}
	r.ok(f.axpy(r.h, n, r.scalar(f.e, alpha, device), x.p, vx.inc, y.p, vy.inc, f.e))
	r.sync()
	r.near(fmt.Sprintf("%v axpy %v %v", f.e, vx, vy), y, wy, ones(y.n), f.e, 4)
	for i := range n {
		a, b := x.get(int(vx.at(i))), y.get(int(vy.at(i)))
		wx[vx.at(i)], wy[vy.at(i)] = c*a+s*b, c*b-cmplx.Conj(s)*a
	}
	r.ok(f.rot(r.h, n, x.p, vx.inc, y.p, vy.inc, r.scalar(f.e.real(), c, device), r.scalar(f.e, s, device), f.e, f.e))
	r.sync()
	r.near(f.e.String()+" rot x", x, wx, ones(x.n), f.e, 8)
	r.near(f.e.String()+" rot y", y, wy, ones(y.n), f.e, 8)
	wx, wy = x.values(), y.values()
	for i := range n {
		wx[vx.at(i)], wy[vy.at(i)] = wy[vy.at(i)], wx[vx.at(i)]
	}
	r.ok(f.swap(r.h, n, x.p, vx.inc, y.p, vy.inc, f.e))
	r.sync()
	r.near("swap", x, wx, make([]float64, x.n), f.e, 0)
	r.near("swap", y, wy, make([]float64, y.n), f.e, 0)
	for i := range n {
		wy[vy.at(i)] = wx[vx.at(i)]
	}
	r.ok(f.copy(r.h, n, x.p, vx.inc, y.p, vy.inc, f.e))
	r.sync()
	r.near("copy", y, wy, make([]float64, y.n), f.e, 0)
	if vx.inc > 0 {
		for i := range n {
			wx[vx.at(i)] *= alpha
		}
		r.ok(f.scal(r.h, n, r.scalar(f.e, alpha, device), x.p, vx.inc, f.e, f.e))
		r.sync()
		r.near("scal", x, wx, ones(x.n), f.e, 4)
	}
	r.ok(f.axpy(r.h, n, r.scalar(f.e, 0, device), r.nan(f.e, vx.len()).p, vx.inc, x.p, vx.inc, f.e))
	r.ok(f.axpy(r.h, 0, r.scalar(f.e, 1, device), x.p, 1, x.p, 1, f.e))
	r.sync()
	r.near("axpy with alpha 0", x, x.values(), make([]float64, x.n), f.e, 0)
	if cmplx.IsNaN(x.get(0)) {
		r.t.Fatal("axpy with alpha 0 looked at x")
	}
}

// result is a place for a result in either mode.
func (r *rig) result(e Elem, device bool) array {
	a := r.empty(e, 1)
	a.set(0, -7)
	if !device { // host memory: a Go value
		b := new([16]byte)
		a.p = hostmem.Of(b)
		kept = append(kept, b[:]) // on the heap, where nothing moves
	}
	return a
}

func (r *rig) sums(f family) {
	n := r.pick(1, 70, 0, 5000, 20000)
	vx, vy := vec{n, r.inc()}, vec{n, r.inc()}
	x, y := r.random(f.e, max(1, vx.len())), r.random(f.e, max(1, vy.len()))
	device := r.coin()
	r.mode(device)
	var dot, dotc complex128
	var size, asum, squares float64
	for i := range n {
		a, b := x.get(int(vx.at(i))), y.get(int(vy.at(i)))
		dot += a * b
		dotc += cmplx.Conj(a) * b
		size += cmplx.Abs(a) * cmplx.Abs(b)
		asum += math.Abs(real(a)) + math.Abs(imag(a))
		squares += real(a)*real(a) + imag(a)*imag(a)
	}
	steps := int(n)/32 + 8
	d := r.result(f.e, device)
	r.ok(f.dot(r.h, n, x.p, vx.inc, y.p, vy.inc, d.p, f.e))
	r.sync()
	r.near("dot", d, []complex128{dot}, []float64{size}, f.e, steps)
	if f.dotc != nil {
		r.ok(f.dotc(r.h, n, x.p, vx.inc, y.p, vy.inc, d.p, f.e))
		r.sync()
		r.near("dotc", d, []complex128{dotc}, []float64{size}, f.e, steps)
	}
	if vx.inc < 0 {
		asum, squares = 0, 0
	}
	s := r.result(f.e.real(), device)
	r.ok(f.asum(r.h, n, x.p, vx.inc, s.p, f.e))
	r.sync()
	r.near("asum", s, []complex128{complex(asum, 0)}, []float64{asum}, s.e, steps)
	r.ok(f.nrm2(r.h, n, x.p, vx.inc, s.p, f.e))
	r.sync()
	r.near("nrm2", s, []complex128{complex(math.Sqrt(squares), 0)}, []float64{math.Sqrt(squares)}, s.e, steps)
}

// extremes: indices with equal sizes and NaN, norms of numbers whose squares overflow or vanish.
func (r *rig) extremes(f family) {
	r.mode(false)
	index := func(find func(blas.CublasHandle_t, int64, hostmem.Ptr, int64, hostmem.Ptr, Elem) error, n int64, a array, inc int64) int64 {
		v := r.result(F64, false) // eight bytes that do not move
		r.ok(find(r.h, n, a.p, inc, v.p, f.e))
		return hostmem.Load[int64](v.p)
	}
	n := r.pick(40, 9000)
	x := r.empty(f.e, int(n))
	for i := range x.n {
		x.set(i, complex(2+float64(i%7), 0))
	}
	x.set(0, cmplx.NaN())
	x.set(17, -20)
	x.set(30, 20)
	x.set(21, 1)
	x.set(33, -1)
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"amax", index(f.amax, n, x, 1), 18}, {"amin", index(f.amin, n, x, 1), 22}, {"amax of none", index(f.amax, 0, x, 1), 0},
		{"amax backwards", index(f.amax, n, x, -1), 0}, {"amax64", index(f.amax64, n, x, 1), 18}, {"amin64", index(f.amin64, n, x, 1), 22},
		{"amax of NaN", index(f.amax, 1, x, 1), 1}, {"amax by twos", index(f.amax, n/2, x, 2), 16},
	} {
		if c.got != c.want {
			r.t.Fatalf("%v %s is %d, want %d", f.e, c.what, c.got, c.want)
		}
	}
	big, tiny := 1e30, 1e-30
	if f.e.real() == F64 {
		big, tiny = 1e300, 1e-300
	}
	for _, v := range []float64{big, tiny, 0} {
		for i := range 4 {
			x.set(i, complex(v, 0))
		}
		s := r.result(f.e.real(), false)
		r.ok(f.nrm2(r.h, 4, x.p, 1, s.p, f.e))
		r.near("nrm2 of extremes", s, []complex128{complex(2*v, 0)}, []float64{2 * v}, s.e, 4)
	}
	var inf = r.result(f.e.real(), false)
	x.set(2, complex(math.Inf(-1), 0))
	r.ok(f.nrm2(r.h, 4, x.p, 1, inf.p, f.e))
	if !math.IsInf(real(inf.get(0)), 1) {
		r.t.Fatalf("nrm2 with an infinite element is %v", inf.get(0))
	}
	r.is(f.nrm2(r.h, 4, x.p, 1, 0, f.e), invalidValue)
}

func TestMatrixVector(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, f := range r.families() {
			for range r.times(16) {
				r.gemvCase(f)
				r.gerCase(f)
			}
		}
	})
}

func (r *rig) gemvCase(f family) {
	m, n, op := r.pick(1, 33, 0, 100), r.pick(1, 9, 0, 70), ops[r.rng.IntN(3)]
	lx, ly := n, m
	if op != blas.CUBLAS_OP_N {
		lx, ly = m, n
	}
	lda := max(1, m) + r.pick(0, 3)
	vx, vy := vec{lx, r.inc()}, vec{ly, r.inc()}
	a, x, y := r.random(f.e, int(lda*n)), r.random(f.e, max(1, vx.len())), r.random(f.e, max(1, vy.len()))
	alpha, beta := r.number(f.e), r.number(f.e)
	if r.coin() {
		beta = 0
	}
	if r.rng.IntN(4) == 0 {
		alpha, a = 0, r.nan(f.e, a.n)
	}
	want, size := y.values(), make([]float64, y.n)
	if m > 0 && n > 0 {
		c, s := make([]complex128, ly), make([]float64, ly)
		xs := make([]complex128, lx)
		for i := range ly {
			c[i] = want[vy.at(i)]
		}
		for i := range lx {
			xs[i] = x.get(int(vx.at(i)))
		}
		ref.Product(ly, 1, lx, alpha, beta, matrix(a.values(), lda, op, 0), matrix(xs, max(1, lx), 0, 0), c, ly, s)
		for i := range ly {
			want[vy.at(i)], size[vy.at(i)] = c[i], s[i]
			if beta == 0 {
				y.set(int(vy.at(i)), cmplx.NaN())
			}
		}
	}
	device := r.coin()
	r.mode(device)
	pa, pb := r.scalar(f.e, alpha, device), r.scalar(f.e, beta, device)
	if r.coin() {
		r.ok(f.gemv(r.h, op, m, n, pa, a.p, lda, x.p, vx.inc, pb, y.p, vy.inc, f.e))
	} else {
		r.ok(f.gemvBatched(r.h, op, m, n, pa, r.list(a, 0, 1), lda, r.list(x, 0, 1), vx.inc, pb, r.list(y, 0, 1), vy.inc, 1, f.e))
	}
	r.sync()
	r.near(fmt.Sprintf("%v gemv op %d m %d n %d alpha %v beta %v x %v y %v", f.e, op, m, n, alpha, beta, vx, vy), y, want, size, f.e, int(lx))
	r.is(f.gemv(r.h, op, m, n, pa, a.p, lda, x.p, 0, pb, y.p, 1, f.e), invalidValue)
}

func (r *rig) gerCase(f family) {
	m, n := r.pick(1, 33, 0, 100), r.pick(1, 40, 0, 70)
	lda := max(1, m) + r.pick(0, 3)
	vx, vy := vec{m, r.inc()}, vec{n, r.inc()}
	a, x, y := r.random(f.e, int(lda*n)), r.random(f.e, max(1, vx.len())), r.random(f.e, max(1, vy.len()))
	alpha := r.number(f.e)
	call, conj := f.ger, false
	if f.gerc != nil && r.coin() {
		call, conj = f.gerc, true
	}
	want, size := a.values(), make([]float64, a.n)
	for j := range n {
		for i := range m {
			w := y.get(int(vy.at(j)))
			if conj {
				w = cmplx.Conj(w)
			}
			p := alpha * x.get(int(vx.at(i))) * w
			want[i+j*lda] += p
			size[i+j*lda] = cmplx.Abs(p) + cmplx.Abs(want[i+j*lda])
		}
	}
	device := r.coin()
	r.mode(device)
	r.ok(call(r.h, m, n, r.scalar(f.e, alpha, device), x.p, vx.inc, y.p, vy.inc, a.p, lda, f.e))
	r.sync()
	r.near(fmt.Sprintf("%v ger m %d n %d", f.e, m, n), a, want, size, f.e, 4)
}

func TestTransfers(t *testing.T) {
	onDevice(t, func(r *rig) {
		host := r.random(F64, 200) // any memory serves as the host's
		dev, back := r.nan(F64, 200), r.random(F64, 200)
		r.ok(r.th.SetMatrix(5, 7, 8, host.p, 6, dev.p, 9))
		r.ok(r.th.GetMatrix(5, 7, 8, dev.p, 9, back.p, 6))
		for j := range 7 {
			for i := range 5 {
				if back.get(j*6+i) != host.get(j*6+i) {
					r.t.Fatal("a matrix changed on its way")
				}
			}
		}
		r.ok(r.th.SetVectorAsync(20, 8, host.p, 3, dev.p, 2, 0))
		r.ok(r.th.GetVectorAsync(20, 8, dev.p, 2, back.p, 1, 0))
		r.sync()
		for i := range 20 {
			if back.get(i) != host.get(3*i) {
				r.t.Fatal("a vector changed on its way")
			}
		}
		r.ok(r.th.SetVector(50, 8, host.p, 1, dev.p, 1))
		if dev.get(49) != host.get(49) {
			r.t.Fatal("a plain vector changed on its way")
		}
		r.is(r.th.SetVector(1, 8, host.p, 0, dev.p, 1), invalidValue)
		r.is(r.th.SetMatrix(5, 7, 8, host.p, 4, dev.p, 9), mappingError)
		r.is(r.th.SetMatrix(5, 7, 0, host.p, 5, dev.p, 9), invalidValue)
	})
}

// TestExVectors: the functions that take types as arguments, with half types.
func TestExVectors(t *testing.T) {
	onDevice(t, func(r *rig) {
		r.mode(false)
		for e, ct := range map[Elem]rt.CudaDataType{F16: rt.CUDA_R_16F, BF16: rt.CUDA_R_16BF, F32: rt.CUDA_R_32F} {
			const n = 100
			x, y := r.random(e, n), r.random(e, n)
			var dot complex128
			var squares float64
			for i := range n {
				dot += x.get(i) * y.get(i)
				squares += real(x.get(i)) * real(x.get(i))
			}
			s := r.result(e, false)
			r.ok(r.th.DotEx(r.h, n, x.p, ct, 1, y.p, ct, 1, s.p, ct, rt.CUDA_R_32F))
			r.near("DotEx", s, []complex128{dot}, []float64{100}, F32, 8)
			r.ok(r.th.Nrm2Ex(r.h, n, x.p, ct, 1, s.p, ct, rt.CUDA_R_32F))
			r.near("Nrm2Ex", s, []complex128{complex(math.Sqrt(squares), 0)}, []float64{10}, F32, 8)
			want := y.values()
			for i := range n {
				want[i] = (want[i] + 0.5*x.get(i)) * 2
			}
			r.ok(r.th.AxpyEx(r.h, n, r.scalar(F32, 0.5, false), rt.CUDA_R_32F, x.p, ct, 1, y.p, ct, 1, rt.CUDA_R_32F))
			r.ok(r.th.ScalEx(r.h, n, r.scalar(F32, 2, false), rt.CUDA_R_32F, y.p, ct, 1, rt.CUDA_R_32F))
			r.sync()
			r.near("AxpyEx, ScalEx", y, want, ones(n), e, 4)
			r.is(r.th.DotEx(r.h, n, x.p, ct, 1, y.p, rt.CUDA_R_64F, 1, s.p, ct, rt.CUDA_R_32F), notSupported)
		}
	})
}
