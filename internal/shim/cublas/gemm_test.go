package cublas

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas/ref"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/cu"
	"kudzu/internal/spec/rt"
)

var ops = []Op{blas.CUBLAS_OP_N, blas.CUBLAS_OP_T, blas.CUBLAS_OP_C}

var dataTypes = map[Elem]rt.CudaDataType{F32: rt.CUDA_R_32F, F64: rt.CUDA_R_64F, F16: rt.CUDA_R_16F, BF16: rt.CUDA_R_16BF, C32: rt.CUDA_C_32F, C64: rt.CUDA_C_64F, S8: rt.CUDA_R_8I, S32: rt.CUDA_R_32I, C8: rt.CUDA_C_8I}

var computes = map[Elem]blas.CublasComputeType_t{F32: blas.CUBLAS_COMPUTE_32F, C32: blas.CUBLAS_COMPUTE_32F, F64: blas.CUBLAS_COMPUTE_64F, C64: blas.CUBLAS_COMPUTE_64F, S32: blas.CUBLAS_COMPUTE_32I}

// allKinds are the combinations in one order: the random numbers of a case are the same every time.
func allKinds() []kinds {
	return slices.SortedFunc(maps.Keys(combinations), func(a, b kinds) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
}

// TestProducts multiplies random shapes, degenerate ones too, in every combination of types, as single matrices, at equal
// distances (0 too) and behind lists.
func TestProducts(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, e := range allKinds() {
			for i := range r.times(24) {
				if e.scalar == F16 || e.sum == S32 && i%3 == 0 {
					continue
				}
				m, n, k := r.pick(1, 5, 0, 33, 70, 2, 64), r.pick(1, 3, 13, 0, 40, 25), r.pick(1, 7, 0, 65, 33, 128)
				switch {
				case i == 0:
					m, n, k = 33, 13, 40 // one that fills and overhangs every tile
				case i%6 == 1 && !r.tiny: // past what small products are
					m, n, k = r.pick(35, 129, 150), r.pick(13, 131), r.pick(129, 140, 300)
				}
				r.gemm(e, m, n, k)
			}
		}
	})
}

// TestLongSums multiplies what is added up in C piece by piece.
func TestLongSums(t *testing.T) {
	onDevice(t, func(r *rig) {
		rounds := 12
		if r.tiny {
			rounds = 1
		}
		for _, e := range allKinds() {
			if e.c != e.sum || e.scalar == F16 {
				continue
			}
			for range rounds {
				r.gemm(e, r.pick(3, 34, 70), r.pick(13, 131), deepest+r.pick(1, deepest-1, deepest+9))
			}
		}
	})
}

// counted is a multiplier that is counted, and how often it was asked to multiply by 0: OpenBLAS, for one, looks at A then in some shapes.
type counted struct {
	Reference
	n, zero *atomic.Int64
}

func (c counted) Multiply(p *HostProduct) {
	c.n.Add(1)
	if p.Alpha == 0 {
		c.zero.Add(1)
	}
	c.Reference.Multiply(p)
}

// TestReference makes the products of TestProducts with the reference, which must have done those that are no lists.
func TestReference(t *testing.T) {
	onDevice(t, func(r *rig) {
		var n, zero atomic.Int64
		UseMultiplier(counted{n: &n, zero: &zero})
		defer UseMultiplier(nil)
		for _, e := range allKinds() {
			for range r.times(16) {
				if e.scalar != F16 {
					r.gemm(e, r.pick(1, 5, 0, 33), r.pick(1, 3, 13, 0, 25), r.pick(1, 7, 0, 65, 33))
				}
			}
		}
		if n.Load() == 0 {
			t.Error("the reference was not asked")
		}
		if zero.Load() != 0 {
			t.Errorf("it was asked to multiply by 0 %d times", zero.Load())
		}
	})
}

// gemm is one random product of a shape.
func (r *rig) gemm(e kinds, m, n, k int64) {
	ta, tb := ops[r.rng.IntN(3)], ops[r.rng.IntN(3)]
	rows := func(op Op, plain, turned int64) int64 {
		if op == blas.CUBLAS_OP_N {
			return plain
		}
		return turned
	}
	rowsA, colsA := rows(ta, m, k), rows(ta, k, m)
	rowsB, colsB := rows(tb, k, n), rows(tb, n, k)
	lda, ldb, ldc := max(1, rowsA)+r.pick(0, 3), max(1, rowsB)+r.pick(0, 5), max(1, m)+r.pick(0, 2)
	batch, list := r.pick(1, 2, 3), r.coin()
	sa, sb, sc := lda*colsA, ldb*colsB, ldc*n+3
	if !list && r.coin() {
		sa = 0
	}
	alpha, beta := r.number(e.scalar), r.number(e.scalar)
	switch r.rng.IntN(4) {
	case 0:
		alpha = 0
	case 1, 2:
		beta = 0
	}
	device := r.coin()
	a, b, c := r.random(e.ab, int(lda*colsA*batch)), r.random(e.ab, int(ldb*colsB*batch)), r.random(e.c, int(sc*batch))
	if alpha == 0 && e.ab != S8 {
		a = r.nan(e.ab, a.n)
	}
	want := c.values()
	if beta == 0 && e.c != S32 {
		for i := range c.n {
			j := int64(i) % sc
			if j < ldc*n && j%ldc < m {
				c.set(i, complex(nanValue, nanValue))
			}
		}
	}
	size := make([]float64, c.n)
	va, vb := a.values(), b.values()
	for i := range batch {
		ref.Product(m, n, k, alpha, beta, matrix(va, lda, ta, i*sa), matrix(vb, ldb, tb, i*sb), want[i*sc:], ldc, size[i*sc:])
	}
	r.mode(device)
	pa, pb := r.scalar(e.scalar, alpha, device), r.scalar(e.scalar, beta, device)
	at, ct, comp := dataTypes[e.ab], dataTypes[e.c], computes[e.sum]
	what := fmt.Sprintf("%v ops %d%d m %d n %d k %d batch %d list %v alpha %v beta %v device %v", e, ta, tb, m, n, k, batch, list, alpha, beta, device)
	var err error
	if list {
		err = r.th.GemmBatchedEx(r.h, ta, tb, m, n, k, pa, r.list(a, sa, batch), at, lda, r.list(b, sb, batch), at, ldb, pb, r.list(c, sc, batch), ct, ldc, batch, comp, 0)
	} else {
		err = r.th.GemmStridedBatchedEx(r.h, ta, tb, m, n, k, pa, a.p, at, lda, sa, b.p, at, ldb, sb, pb, c.p, ct, ldc, sc, batch, comp, 0)
	}
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
	r.sync()
	r.near(what, c, want, size, e.sum, int(k))
}

// list is device memory with the addresses of a batch.
func (r *rig) list(a array, stride, n int64) hostmem.Ptr {
	p := r.empty(F64, int(n))
	for i := range n {
		hostmem.Store(p.p.Index(int(i), 8), uint64(a.p)+uint64(i*stride)*uint64(a.e.Size()))
	}
	return p.p
}

// TestPlainProducts calls the plain product with each of its types once.
func TestPlainProducts(t *testing.T) {
	onDevice(t, func(r *rig) {
		for _, e := range []Elem{F32, F64, C32, C64, F16} {
			const m, n, k = 35, 14, 9
			a, b, c := r.random(e, m*k), r.random(e, n*k), r.random(e, m*n)
			want, size := c.values(), make([]float64, m*n)
			alpha, beta := r.number(e), r.number(e)
			ref.Product(m, n, k, alpha, beta, matrix(a.values(), k, blas.CUBLAS_OP_T, 0), matrix(b.values(), n, blas.CUBLAS_OP_C, 0), want, m, size)
			r.mode(false)
			r.ok(r.th.Gemm(r.h, blas.CUBLAS_OP_T, blas.CUBLAS_OP_C, m, n, k, r.scalar(e, alpha, false), a.p, k, b.p, n, r.scalar(e, beta, false), c.p, m, e))
			r.sync()
			sum := e
			if e == F16 {
				sum = F32
			}
			r.near(e.String()+" gemm", c, want, size, sum, k)
		}
		one := r.scalar(F32, 1, false)
		a := r.random(F32, 64)
		r.is(r.th.Gemm(r.h, 0, 0, -1, 1, 1, one, a.p, 1, a.p, 1, one, a.p, 1, F32), invalidValue)
		r.is(r.th.Gemm(r.h, 0, 0, 4, 1, 1, one, a.p, 3, a.p, 1, one, a.p, 4, F32), invalidValue)
		r.is(r.th.Gemm(r.h, 7, 0, 4, 1, 1, one, a.p, 4, a.p, 1, one, a.p, 4, F32), invalidValue)
		r.is(r.th.Gemm(r.h, 0, 0, 1, 1, 1, 0, a.p, 1, a.p, 1, one, a.p, 1, F32), invalidValue)
		r.is(r.th.Gemm(1234, 0, 0, 1, 1, 1, one, a.p, 1, a.p, 1, one, a.p, 1, F32), notInitialized)
		r.is(r.th.GemmEx(r.h, 0, 0, 1, 1, 1, one, a.p, rt.CUDA_R_8F_E4M3, 1, a.p, rt.CUDA_R_8F_E4M3, 1, one, a.p, rt.CUDA_R_32F, 1, blas.CUBLAS_COMPUTE_32F, 0), notSupported)
	})
}

// TestCapture captures a product, a system and a sum into a graph and runs it twice.
func TestCapture(t *testing.T) {
	onDevice(t, func(r *rig) {
		d := r.th.driver()
		const n = 40
		a, b, c, sum := r.random(F32, n*n), r.random(F32, n*n), r.random(F32, n*n), r.empty(F32, 1)
		for i := range n {
			a.set(i*n+i, 40)
		}
		s, err := d.StreamCreate(uint32(cu.CU_STREAM_NON_BLOCKING))
		r.ok(err)
		r.ok(r.th.SetStream(r.h, rt.CudaStream_t(s)))
		r.mode(true)
		half, one := r.scalar(F32, 0.5, true), r.scalar(F32, 1, true)
		r.ok(d.StreamBeginCapture(s, cu.CU_STREAM_CAPTURE_MODE_GLOBAL))
		r.ok(r.th.Gemm(r.h, 0, 1, n, n, n, half, a.p, n, b.p, n, half, c.p, n, F32))
		r.ok(r.th.Trsm(r.h, 0, 0, 0, 0, n, n, one, a.p, n, c.p, n, F32))
		r.ok(r.th.Dot(r.h, n*n, c.p, 1, b.p, 1, sum.p, F32))
		var g cu.CUgraph
		r.ok(d.StreamEndCapture(s, hostmem.Of(&g)))
		x, err := d.GraphInstantiateWithFlags(g, 0)
		r.ok(err)
		want, size := c.values(), make([]float64, n*n)
		for range 2 {
			ref.Product(n, n, n, 0.5, 0.5, matrix(a.values(), n, 0, 0), matrix(b.values(), n, blas.CUBLAS_OP_T, 0), want, n, size)
			ref.Solve(n, n, want, n, func(i, l int64) complex128 { return a.get(int(i + l*n)) }, true, false)
			r.ok(d.GraphLaunch(x, s))
			r.ok(d.StreamSynchronize(s))
			var dot complex128
			var w float64
			for i := range n * n {
				dot += want[i] * b.get(i)
				w += 1
			}
			for i := range size {
				size[i] += 10
			}
			r.near("captured", c, want, size, F32, 4*n)
			r.near("captured dot", sum, []complex128{dot}, []float64{10 * w}, F32, 4*n)
		}
		r.ok(r.th.SetStream(r.h, 0))
		r.ok(d.GraphExecDestroy(x))
		r.ok(d.GraphDestroy(g))
		r.ok(d.StreamDestroy(s))
	})
}
