package cublas

import (
	"fmt"
	"math/cmplx"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

// integers is an array of the host.
func integers[T int32 | int64](vs ...int64) hostmem.Ptr {
	a := make([]T, len(vs)+1)
	for i, v := range vs {
		a[i] = T(v)
	}
	integerArrays = append(integerArrays, a)
	return hostmem.Of(&a[0])
}

var integerArrays []any // kept, as scalars are

// TestGrouped multiplies groups of different shapes, empty ones among them, in one call.
func TestGrouped(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, e := range allKinds() {
			if e.scalar == F16 {
				continue
			}
			for _, wide := range []bool{false, true} {
				r.groupedCase(e, wide)
			}
		}
		r.groupedErrors()
	})
}

func (r *rig) groupedCase(e kinds, wide bool) {
	r.mode(false)
	const count = 4
	var ta, tb, m, n, k, lda, ldb, ldc, sizes []int64
	var alpha, beta []complex128
	var addrs [3][]uint64
	var outs []array
	var wants [][]complex128
	var scales [][]float64
	for i := range count {
		oa, ob := ops[r.rng.IntN(3)], ops[r.rng.IntN(3)]
		mi, ni, ki, batch := r.pick(1, 33, 0, 40), r.pick(2, 13, 30), r.pick(3, 0, 70), r.pick(1, 2, 3)
		if i == 1 {
			batch = 0
		}
		p := &Product{M: mi, N: ni, K: ki, A: View{Op: oa}, B: View{Op: ob}}
		rowsA, colsA, rowsB, colsB := p.sides()
		la, lb, lc := max(1, rowsA)+1, max(1, rowsB), max(1, mi)+2
		al, be := r.number(e.scalar), r.number(e.scalar)
		if i == 2 {
			be = 0
		}
		for range batch {
			a, b, c := r.random(e.ab, int(la*colsA)), r.random(e.ab, int(lb*colsB)), r.random(e.c, int(lc*ni))
			want, size := c.values(), make([]float64, c.n)
			ref.Product(mi, ni, ki, al, be, matrix(a.values(), la, oa, 0), matrix(b.values(), lb, ob, 0), want, lc, size)
			for at := range c.n {
				if be == 0 && e.c != S32 && int64(at)%lc < mi {
					c.set(at, cmplx.NaN())
				}
			}
			for side, x := range []array{a, b, c} {
				addrs[side] = append(addrs[side], uint64(x.p))
			}
			outs, wants, scales = append(outs, c), append(wants, want), append(scales, size)
		}
		ta, tb, m, n, k = append(ta, int64(oa)), append(tb, int64(ob)), append(m, mi), append(n, ni), append(k, ki)
		lda, ldb, ldc, sizes = append(lda, la), append(ldb, lb), append(ldc, lc), append(sizes, batch)
		alpha, beta = append(alpha, al), append(beta, be)
	}
	var lists [3]hostmem.Ptr
	for side := range lists {
		p := r.empty(F64, len(addrs[side]))
		for i, at := range addrs[side] {
			hostmem.Store(p.p.Index(i, 8), at)
		}
		lists[side] = p.p
	}
	num := integers[int32]
	if wide {
		num = integers[int64]
	}
	g := &groups{ta: integers[int32](ta...), tb: integers[int32](tb...), m: num(m...), n: num(n...), k: num(k...), lda: num(lda...), ldb: num(ldb...), ldc: num(ldc...),
		a: lists[0], b: lists[1], c: lists[2], alpha: r.numbers(e.scalar, false, alpha...).p, beta: r.numbers(e.scalar, false, beta...).p, sizes: num(sizes...), count: count}
	at, ct, comp := dataTypes[e.ab], dataTypes[e.c], computes[e.sum]
	call, own := r.th.GemmGroupedBatchedEx, r.th.GemmGroupedBatched
	if wide {
		call, own = r.th.GemmGroupedBatchedEx64, r.th.GemmGroupedBatched64
	}
	var err error
	if e == single(F32) || e == single(F64) {
		err = own(r.h, g.ta, g.tb, g.m, g.n, g.k, g.alpha, g.a, g.lda, g.b, g.ldb, g.beta, g.c, g.ldc, g.count, g.sizes, e.ab)
	} else {
		err = call(r.h, g.ta, g.tb, g.m, g.n, g.k, g.alpha, g.a, at, g.lda, g.b, at, g.ldb, g.beta, g.c, ct, g.ldc, g.count, g.sizes, comp)
	}
	r.ok(err)
	r.sync()
	for i, c := range outs {
		r.near(fmt.Sprintf("%v grouped, wide %v, matrix %d", e, wide, i), c, wants[i], scales[i], e.sum, 70)
	}
}

func (r *rig) groupedErrors() {
	r.mode(false)
	a := r.random(F64, 16)
	list := r.list(a, 0, 1)
	i := func(v int64) hostmem.Ptr { return integers[int32](v) }
	one := r.scalar(F64, 1, false)
	call := func(h blas.CublasHandle_t, op, m, lda, size, count int64) error {
		return r.th.GemmGroupedBatched(h, i(op), i(0), i(m), i(2), i(2), one, list, i(lda), list, i(2), one, list, i(4), count, i(size), F64)
	}
	r.is(call(99, 0, 2, 2, 1, 1), notInitialized)
	r.is(call(r.h, 0, 2, 2, 1, -1), invalidValue)
	r.is(call(r.h, 4, 2, 2, 1, 1), invalidValue)
	r.is(call(r.h, 0, -2, 2, 1, 1), invalidValue)
	r.is(call(r.h, 0, 2, 1, 1, 1), invalidValue)
	r.is(call(r.h, 0, 2, 2, -1, 1), invalidValue)
	r.ok(call(r.h, 0, 2, 2, 0, 1))
	r.ok(call(r.h, 9, 9, 9, 9, 0))
	r.is(r.th.GemmGroupedBatched(r.h, 0, i(0), i(2), i(2), i(2), one, list, i(2), list, i(2), one, list, i(4), 1, i(1), F64), invalidValue)
	r.is(r.th.GemmGroupedBatchedEx(r.h, i(0), i(0), i(2), i(2), i(2), one, list, rt.CUDA_R_64F, i(2), list, rt.CUDA_R_32F, i(2), one, list, rt.CUDA_R_64F, i(4), 1, i(1), blas.CUBLAS_COMPUTE_64F), notSupported)
	r.mode(true)
	r.is(call(r.h, 0, 2, 2, 1, 1), notSupported)
	r.mode(false)
}

// TestThreeM: the complex functions with other names give what the ordinary ones give, to the bit.
func TestThreeM(t *testing.T) {
	onDevice(t, func(r *rig) {
		r.mode(false)
		const m, n, k, batch = 9, 5, 6, 2
		th, c32 := r.th, rt.CudaDataType(rt.CUDA_C_32F)
		a, b := r.random(C32, m*k*batch), r.random(C32, k*n*batch)
		start := r.random(C32, m*m*batch)
		alpha, beta, ra, rb := r.scalar(C32, 1.5-1i, false), r.scalar(C32, 0.5+2i, false), r.scalar(F32, 1.5, false), r.scalar(F32, -0.5, false)
		N, T, C, L := Op(blas.CUBLAS_OP_N), Op(blas.CUBLAS_OP_T), Op(blas.CUBLAS_OP_C), Fill(blas.CUBLAS_FILL_MODE_LOWER)
		for name, f := range map[string][2]func(c array) error{
			"gemm3m": {func(c array) error { return th.Gemm(r.h, N, C, m, n, k, alpha, a.p, m, b.p, n, beta, c.p, m, C32) },
				func(c array) error { return th.Gemm(r.h, N, C, m, n, k, alpha, a.p, m, b.p, n, beta, c.p, m, C32) }},
			"gemmEx": {func(c array) error { return th.Gemm(r.h, N, T, m, n, k, alpha, a.p, m, b.p, n, beta, c.p, m, C32) },
				func(c array) error {
					return th.CgemmEx(r.h, N, T, m, n, k, alpha, a.p, c32, m, b.p, c32, n, beta, c.p, c32, m)
				}},
			"gemm3mEx": {func(c array) error { return th.Gemm(r.h, N, T, m, n, k, alpha, a.p, m, b.p, n, beta, c.p, m, C32) },
				func(c array) error {
					return th.Cgemm3mEx(r.h, N, T, m, n, k, alpha, a.p, c32, m, b.p, c32, n, beta, c.p, c32, m)
				}},
			"gemm3mBatched": {func(c array) error {
				return th.GemmBatched(r.h, N, T, m, n, k, alpha, r.list(a, m*k, batch), m, r.list(b, k*n, batch), n, beta, r.list(c, m*m, batch), m, batch, C32)
			}, func(c array) error {
				return th.GemmBatched(r.h, N, T, m, n, k, alpha, r.list(a, m*k, batch), m, r.list(b, k*n, batch), n, beta, r.list(c, m*m, batch), m, batch, C32)
			}},
			"gemm3mStridedBatched": {func(c array) error {
				return th.GemmStridedBatched(r.h, N, T, m, n, k, alpha, a.p, m, m*k, b.p, n, k*n, beta, c.p, m, m*m, batch, C32)
			}, func(c array) error {
				return th.GemmStridedBatched(r.h, N, T, m, n, k, alpha, a.p, m, m*k, b.p, n, k*n, beta, c.p, m, m*m, batch, C32)
			}},
			"syrkEx": {func(c array) error { return th.Syrk(r.h, L, N, m, k, alpha, a.p, m, beta, c.p, m, C32) },
				func(c array) error { return th.CsyrkEx(r.h, L, N, m, k, alpha, a.p, c32, m, beta, c.p, c32, m) }},
			"syrk3mEx": {func(c array) error { return th.Syrk(r.h, L, T, m, k, alpha, a.p, m, beta, c.p, m, C32) },
				func(c array) error { return th.Csyrk3mEx(r.h, L, T, m, k, alpha, a.p, c32, m, beta, c.p, c32, m) }},
			"herkEx": {func(c array) error { return th.Herk(r.h, L, N, m, k, ra, a.p, m, rb, c.p, m, C32) },
				func(c array) error { return th.CherkEx(r.h, L, N, m, k, ra, a.p, c32, m, rb, c.p, c32, m) }},
			"herk3mEx": {func(c array) error { return th.Herk(r.h, L, C, m, k, ra, a.p, m, rb, c.p, m, C32) },
				func(c array) error { return th.Cherk3mEx(r.h, L, C, m, k, ra, a.p, c32, m, rb, c.p, c32, m) }},
		} {
			want, got := r.copyOf(start), r.copyOf(start)
			r.ok(f[0](want))
			r.ok(f[1](got))
			r.sync()
			changed := false
			for i := range got.n {
				changed = changed || got.get(i) != start.get(i)
				if got.get(i) != want.get(i) {
					r.t.Fatalf("%s: element %d is %v, want %v", name, i, got.get(i), want.get(i))
				}
			}
			if !changed {
				r.t.Errorf("%s did nothing", name)
			}
		}
		za, zb, zc := r.random(C64, m*k), r.random(C64, k*n), r.random(C64, m*n)
		want, size := zc.values(), make([]float64, m*n)
		ref.Product(m, n, k, 2i, 1, matrix(za.values(), m, N, 0), matrix(zb.values(), k, N, 0), want, m, size)
		r.ok(th.Gemm(r.h, N, N, m, n, k, r.scalar(C64, 2i, false), za.p, m, zb.p, k, r.scalar(C64, 1, false), zc.p, m, C64))
		r.sync()
		r.near("Zgemm3m", zc, want, size, C64, k)
		ba, bb, bc := r.random(C8, m*k), r.random(C8, k*n), r.random(C32, m*n)
		want, size = bc.values(), make([]float64, m*n)
		ref.Product(m, n, k, 2i, 1, matrix(ba.values(), m, N, 0), matrix(bb.values(), k, N, 0), want, m, size)
		r.ok(th.CgemmEx(r.h, N, N, m, n, k, r.scalar(C32, 2i, false), ba.p, rt.CUDA_C_8I, m, bb.p, rt.CUDA_C_8I, k, r.scalar(C32, 1, false), bc.p, c32, m))
		r.sync()
		r.near("CgemmEx of bytes", bc, want, size, C32, k)
		r.is(th.CgemmEx(r.h, N, N, m, n, k, alpha, a.p, rt.CUDA_C_8I, m, b.p, rt.CUDA_C_8I, k, beta, start.p, rt.CUDA_C_8I, m), notSupported)
		r.is(th.CherkEx(99, L, N, m, k, ra, a.p, rt.CUDA_C_8I, m, rb, start.p, c32, m), notInitialized)
	})
}

// TestHalfMatrixVector: gemv of half types, batched.
func TestHalfMatrixVector(t *testing.T) {
	onDevice(t, func(r *rig) {
		th := r.th
		for _, f := range []struct{ ab, c Elem }{{F16, F16}, {F16, F32}, {BF16, BF16}, {BF16, F32}} {
			for range r.times(10) {
				m, n, op, batch, device := r.pick(1, 33, 100), r.pick(1, 9, 70), ops[r.rng.IntN(3)], r.pick(1, 2, 0), r.coin()
				lx, ly := n, m
				if op != blas.CUBLAS_OP_N {
					lx, ly = m, n
				}
				vx, vy, lda := vec{lx, r.inc()}, vec{ly, r.inc()}, m+2
				sa, sx, sy := lda*n, int64(span(lx, vx.inc)), int64(span(ly, vy.inc))
				a, x, y := r.random(f.ab, int(sa*batch)), r.random(f.ab, int(sx*batch)), r.random(f.c, int(sy*batch))
				alpha, beta := r.weights(F32)
				want, size := y.values(), make([]float64, y.n)
				for b := range batch {
					part := func(v array, stride int64) array {
						return array{v.e, v.p.Index(int(b*stride), v.e.Size()), int(stride)}
					}
					w, s := r.refMatVec(ly, lx, alpha, beta, matrix(part(a, sa).values(), lda, op, 0), part(x, sx), part(y, sy), vx, vy)
					copy(want[b*sy:], w)
					copy(size[b*sy:], s)
				}
				if alpha == 0 {
					a = r.nan(f.ab, a.n)
				}
				r.mode(device)
				pa, pb := r.scalar(F32, alpha, device), r.scalar(F32, beta, device)
				if r.coin() {
					r.ok(th.HalfGemvStridedBatched(r.h, op, m, n, pa, a.p, lda, sa, x.p, vx.inc, sx, pb, y.p, vy.inc, sy, batch, f.ab, f.c))
				} else {
					r.ok(th.HalfGemvBatched(r.h, op, m, n, pa, r.list(a, sa, batch), lda, r.list(x, sx, batch), vx.inc, pb, r.list(y, sy, batch), vy.inc, batch, f.ab, f.c))
				}
				r.sync()
				r.near(fmt.Sprintf("%v %v gemv op %d m %d n %d batch %d alpha %v beta %v", f.ab, f.c, op, m, n, batch, alpha, beta), y, want, size, F32, int(lx))
			}
		}
	})
}
