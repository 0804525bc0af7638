package cublaslt

import (
	"fmt"
	"math"
	"math/cmplx"
	"os"
	"testing"

	"kudzu/internal/hostmem"
	"kudzu/internal/shim/cublas"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/lt"
	"kudzu/internal/spec/rt"
)

// ordered is a matrix of some order: where its elements lie is found by walking memory as the manual draws it.
type ordered struct {
	numbers
	desc          hostmem.Ptr
	rows, cols    int
	stride, batch int
	at            map[[2]int]int
}

// number is element i, complex ones as pairs.
func (a numbers) number(i int) complex128 {
	switch a.e {
	case cublas.C32:
		v := hostmem.Load[[2]float32](a.p.Index(i, 8))
		return complex(float64(v[0]), float64(v[1]))
	case cublas.C64:
		v := hostmem.Load[[2]float64](a.p.Index(i, 16))
		return complex(v[0], v[1])
	}
	return complex(a.get(i), 0)
}

func (a numbers) setNumber(i int, v complex128) {
	switch a.e {
	case cublas.C32:
		hostmem.Store(a.p.Index(i, 8), [2]float32{float32(real(v)), float32(imag(v))})
	case cublas.C64:
		hostmem.Store(a.p.Index(i, 16), [2]float64{real(v), imag(v)})
	default:
		a.set(i, real(v))
	}
}

// walk lists rows and columns of a group of 32 columns in the order of memory.
func walk(order lt.CublasLtOrder_t, rows int) (list [][2]int) {
	switch order {
	case lt.CUBLASLT_ORDER_COL32:
		for i := range rows {
			for j := range 32 {
				list = append(list, [2]int{i, j})
			}
		}
	case lt.CUBLASLT_ORDER_COL4_4R2_8C:
		for top := 0; top < rows; top += 8 {
			for odd := range 2 {
				for left := 0; left < 32; left += 4 {
					for r := range 4 {
						for c := range 4 {
							list = append(list, [2]int{top + 2*r + odd, left + c})
						}
					}
				}
			}
		}
	case lt.CUBLASLT_ORDER_COL32_2R_4R4:
		for top := 0; top < rows; top += 32 {
			for two := range 4 {
				for eight := range 4 {
					for odd := range 2 {
						for j := range 32 {
							list = append(list, [2]int{top + 8*eight + 2*two + odd, j})
						}
					}
				}
			}
		}
	}
	return list
}

var complexKinds = map[cublas.Elem]rt.CudaDataType{cublas.C32: rt.CUDA_C_32F, cublas.C64: rt.CUDA_C_64F}

func (x *bench) ordered(e cublas.Elem, order lt.CublasLtOrder_t, rows, cols, batch int) ordered {
	m := ordered{rows: rows, cols: cols, batch: batch, at: map[[2]int]int{}}
	ld, all := 0, 0
	switch order {
	case lt.CUBLASLT_ORDER_COL, lt.CUBLASLT_ORDER_ROW:
		down, across, n := 1, 0, cols
		ld = rows + x.rng.IntN(3)
		across = ld
		if order == lt.CUBLASLT_ORDER_ROW {
			ld = cols + x.rng.IntN(3)
			down, across, n = ld, 1, rows
		}
		for i := range rows {
			for j := range cols {
				m.at[[2]int{i, j}] = i*down + j*across
			}
		}
		all = ld * n
	default:
		list := walk(order, rows)
		ld = len(list) + 32*x.rng.IntN(2)
		for left := 0; left < cols; left += 32 {
			for n, p := range list {
				m.at[[2]int{p[0], p[1] + left}] = left/32*ld + n
			}
			all += ld
		}
	}
	m.stride = all + x.rng.IntN(5)
	m.numbers = x.numbers(e, m.stride*batch)
	for i := range m.n {
		if e == cublas.C32 || e == cublas.C64 {
			m.setNumber(i, complex(x.rng.NormFloat64(), x.rng.NormFloat64()))
		}
	}
	kind, ok := kinds[e]
	if !ok {
		kind = complexKinds[e]
	}
	at, err := x.th.MatrixLayoutCreate(kind, uint64(rows), uint64(cols), int64(ld))
	x.ok(err)
	m.desc = hostmem.Ptr(at)
	x.ok(x.th.MatrixLayoutSetAttribute(m.desc, lt.CUBLASLT_MATRIX_LAYOUT_ORDER, word(order), 4))
	x.ok(x.th.MatrixLayoutSetAttribute(m.desc, lt.CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, word(int32(batch)), 4))
	x.ok(x.th.MatrixLayoutSetAttribute(m.desc, lt.CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, word(int64(m.stride)), 8))
	x.t.Cleanup(func() { x.ok(x.th.MatrixLayoutDestroy(m.desc)) })
	return m
}

func (m ordered) get(q, i, j int, op cublas.Op) complex128 {
	if op != blas.CUBLAS_OP_N {
		i, j = j, i
	}
	v := m.number(q*m.stride + m.at[[2]int{i, j}])
	if op == blas.CUBLAS_OP_C {
		return cmplx.Conj(v)
	}
	return v
}

// TestTransform: every scale type with every type that it joins, every order from and to every other.
func TestTransform(t *testing.T) {
	x := newBench(t)
	rounds := 150
	if os.Getenv(interpreted) != "" {
		rounds = 30
	}
	types := [][4]cublas.Elem{ // of the scale, A, B and C
		{cublas.F32, cublas.F32, cublas.F32, cublas.F32}, {cublas.F32, cublas.S8, cublas.S8, cublas.S8}, {cublas.F64, cublas.F64, cublas.F64, cublas.F64},
		{cublas.S32, cublas.S8, cublas.S32, cublas.S32}, {cublas.C32, cublas.C32, cublas.C32, cublas.C32}, {cublas.F32, cublas.F16, cublas.BF16, cublas.F16},
		{cublas.C64, cublas.C64, cublas.C32, cublas.C64}, {cublas.F32, cublas.S32, cublas.F32, cublas.S8}, {cublas.F16, cublas.F16, cublas.F16, cublas.F16},
		{cublas.F32, cublas.F32, cublas.F16, cublas.BF16}, {cublas.S32, cublas.S32, cublas.S8, cublas.S8}, {cublas.F64, cublas.F32, cublas.F64, cublas.S32},
	}
	for i := range rounds {
		x.transformRound(i, types[i%len(types)])
	}
}

func (x *bench) transformRound(i int, ty [4]cublas.Elem) {
	rows, cols, batch := 1+x.rng.IntN(70), 1+x.rng.IntN(70), 1+x.rng.IntN(3)
	order := func() lt.CublasLtOrder_t { return lt.CublasLtOrder_t(x.rng.IntN(5)) }
	ops := [2]cublas.Op{cublas.Op(x.rng.IntN(3)), cublas.Op(x.rng.IntN(3))}
	from := func(e cublas.Elem, op cublas.Op) ordered {
		if op != blas.CUBLAS_OP_N {
			return x.ordered(e, order(), cols, rows, batch)
		}
		return x.ordered(e, order(), rows, cols, batch)
	}
	a, b, c := from(ty[1], ops[0]), from(ty[2], ops[1]), x.ordered(ty[3], order(), rows, cols, batch)
	factors := [2]complex128{complex(0.5, 0.25), complex(-1.5, 2)}
	switch ty[0] {
	case cublas.S32:
		factors = [2]complex128{3, -2}
	case cublas.C32, cublas.C64:
	default:
		factors = [2]complex128{0.75, -1.5}
	}
	missing := x.rng.IntN(3) // B, with 1
	if missing == 1 {
		factors[1] = 0
	}
	kind, ok := kinds[ty[0]]
	if !ok {
		kind = complexKinds[ty[0]]
	}
	at, err := x.th.MatrixTransformDescCreate(kind)
	x.ok(err)
	desc := hostmem.Ptr(at)
	x.ok(x.th.MatrixTransformDescSetAttribute(desc, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, word(int32(ops[0])), 4))
	x.ok(x.th.MatrixTransformDescSetAttribute(desc, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, word(int32(ops[1])), 4))
	var scalars [2]hostmem.Ptr
	for k, f := range factors { // these devices share the program's memory
		s := x.numbers(ty[0], 1)
		s.setNumber(0, f)
		scalars[k] = s.p
	}
	if x.rng.IntN(2) == 0 {
		x.ok(x.th.MatrixTransformDescSetAttribute(desc, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, word(lt.CUBLASLT_POINTER_MODE_DEVICE), 4))
		missing = 0
	}
	before := make([]complex128, c.n)
	for k := range before {
		before[k] = c.number(k)
	}
	bp, bd := b.p, b.desc
	if missing == 1 {
		bp, bd = 0, 0
	}
	x.ok(x.th.MatrixTransform(x.h, desc, scalars[0], a.p, a.desc, scalars[1], bp, bd, c.p, c.desc, 0))
	x.ok(x.th.driver().CtxSynchronize())
	x.ok(x.th.MatrixTransformDescDestroy(desc))
	eps := map[cublas.Elem]float64{cublas.F32: 0x1p-22, cublas.F64: 0x1p-51, cublas.F16: 0x1p-10, cublas.BF16: 0x1p-7, cublas.C32: 0x1p-21, cublas.C64: 0x1p-21}[ty[3]]
	for q := range batch {
		for r := range rows {
			for j := range cols {
				va := a.get(q, r, j, ops[0])
				w := factors[0] * va
				if factors[1] != 0 {
					w += factors[1] * b.get(q, r, j, ops[1])
				}
				switch ty[3] {
				case cublas.S8:
					w = complex(min(max(math.Trunc(real(w)), -128), 127), 0)
				case cublas.S32:
					w = complex(math.Trunc(real(w)), 0)
				}
				n := q*c.stride + c.at[[2]int{r, j}]
				if g := c.number(n); !(cmplx.Abs(g-w) <= eps*(8+cmplx.Abs(w))) {
					x.t.Fatalf("round %d %v, %d × %d × %d, ops %v: C[%d][%d,%d] is %v, want %v", i, ty, rows, cols, batch, ops, q, r, j, g, w)
				}
				before[n] = c.number(n)
			}
		}
	}
	for k, v := range before { // what is outside of C is as it was
		if c.number(k) != v {
			x.t.Fatalf("round %d %v: number %d of C's memory was written", i, ty, k)
		}
	}
}

// TestTransformMisuse: what the manual refuses, and descriptors.
func TestTransformMisuse(t *testing.T) {
	x := newBench(t)
	m := x.ordered(cublas.F32, lt.CUBLASLT_ORDER_COL, 4, 5, 1)
	turned := x.ordered(cublas.F32, lt.CUBLASLT_ORDER_COL, 5, 4, 1)
	z := x.ordered(cublas.C32, lt.CUBLASLT_ORDER_COL, 4, 5, 1)
	own := x.numbers(cublas.F64, 8)
	x.is(x.th.MatrixTransformDescInit_internal(own.p, 8, rt.CUDA_R_32F), invalidValue)
	x.ok(x.th.MatrixTransformDescInit_internal(own.p, 64, rt.CUDA_R_32F))
	one, zero := word(float32(1)), word(float32(0))
	call := func(desc, a, ad, b, bd, c, cd, beta hostmem.Ptr) error {
		return x.th.MatrixTransform(x.h, desc, one, a, ad, beta, b, bd, c, cd, 0)
	}
	x.ok(call(own.p, m.p, m.desc, 0, 0, m.p, m.desc, zero))
	x.is(call(own.p, m.p, 0, 0, 0, m.p, m.desc, zero), invalidValue)       // A without a layout
	x.is(call(own.p, m.p, m.desc, 0, 0, m.p, m.desc, one), invalidValue)   // beta without B
	x.is(call(own.p, m.p, m.desc, 0, 0, 0, m.desc, zero), invalidValue)    // no C
	x.is(call(m.desc, m.p, m.desc, 0, 0, m.p, m.desc, zero), invalidValue) // a layout is no transform
	x.is(call(own.p, turned.p, turned.desc, 0, 0, m.p, m.desc, zero), invalidValue)
	x.is(call(own.p, z.p, z.desc, 0, 0, m.p, m.desc, zero), notSupported)
	x.is(x.th.MatrixTransform(77, own.p, one, m.p, m.desc, zero, 0, 0, m.p, m.desc, 0), notInitialized)
	size, got := word(uint64(0)), word(int32(7))
	x.ok(x.th.MatrixTransformDescSetAttribute(own.p, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, word(int32(1)), 4))
	x.ok(x.th.MatrixTransformDescGetAttribute(own.p, lt.CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, got, 4, size))
	if hostmem.Load[int32](got) != 1 || hostmem.Load[uint64](size) != 4 {
		t.Fatalf("the operation is %d", hostmem.Load[int32](got))
	}
	x.ok(call(own.p, turned.p, turned.desc, 0, 0, m.p, m.desc, zero))
	x.ok(x.th.MatrixLayoutSetAttribute(m.desc, lt.CUBLASLT_MATRIX_LAYOUT_ORDER, word(lt.CUBLASLT_ORDER_COL32), 4))
	x.is(call(own.p, turned.p, turned.desc, 0, 0, m.p, m.desc, zero), invalidValue) // 32 × 4 to the next columns
	x.is(x.th.MatrixTransformDescSetAttribute(own.p, 9, got, 4), invalidValue)
}

// TestCapabilities: what the algorithm says of itself is what it takes.
func TestCapabilities(t *testing.T) {
	x := newBench(t)
	algo := make([]lt.CublasLtMatmulAlgo_t, 1)
	at := hostmem.Of(&algo[0])
	value, size := word(uint64(0)), word(uint64(0))
	x.is(x.th.MatmulAlgoCapGetAttribute(at, lt.CUBLASLT_ALGO_CAP_EPILOGUE_MASK, value, 4, size), invalidValue)
	x.ok(x.th.MatmulAlgoInit(x.h, blas.CUBLAS_COMPUTE_32F, rt.CUDA_R_32F, rt.CUDA_R_32F, rt.CUDA_R_32F, rt.CUDA_R_32F, rt.CUDA_R_32F, 0, at))
	for attr, want := range map[lt.CublasLtMatmulAlgoCapAttributes_t]string{
		lt.CUBLASLT_ALGO_CAP_STRIDED_BATCH_SUPPORT: "1 of 4", lt.CUBLASLT_ALGO_CAP_SPLITK_SUPPORT: "0 of 4", lt.CUBLASLT_ALGO_CAP_TILE_IDS: "0 of 4",
		lt.CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS: "0 of 8", lt.CUBLASLT_ALGO_CAP_POINTER_MODE_MASK: "31 of 4",
	} {
		hostmem.Store(value, uint64(0))
		x.ok(x.th.MatmulAlgoCapGetAttribute(at, attr, value, 8, size))
		if got := fmt.Sprintf("%d of %d", hostmem.Load[uint64](value), hostmem.Load[uint64](size)); got != want {
			t.Errorf("capability %d is %s, want %s", attr, got, want)
		}
	}
	x.ok(x.th.MatmulAlgoCapGetAttribute(at, lt.CUBLASLT_ALGO_CAP_STAGES_IDS, 0, 0, size))
	x.is(x.th.MatmulAlgoCapGetAttribute(at, lt.CUBLASLT_ALGO_CAP_STAGES_IDS, 0, 0, 0), invalidValue)
	x.is(x.th.MatmulAlgoCapGetAttribute(at, lt.CUBLASLT_ALGO_CAP_NUMERICAL_IMPL_FLAGS, value, 4, size), invalidValue)
	x.is(x.th.MatmulAlgoCapGetAttribute(at, 99, value, 8, size), invalidValue)
}
