package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

// Op is cuBLAS's name for a way to read a matrix.
type Op = blas.CublasOperation_t

// operands are A, B and C of one call as C passes them.
type operands struct {
	a, b, c       hostmem.Ptr
	lda, ldb, ldc int64
	sa, sb, sc    int64 // strides of a strided batch
	list          bool  // a, b and c are device addresses of lists of addresses
	batch         int64
}

// kinds are the types of one call.
type kinds struct {
	ab, c, sum, scalar Elem
}

func (t *Thread) multiply(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, beta hostmem.Ptr, o operands, e kinds) error {
	j, err := t.job(h)
	if err != nil {
		return err
	}
	p := &Product{
		M: m, N: n, K: k, Batch: o.batch, TA: e.ab, TC: e.c, Sum: e.sum,
		A: View{Base: uint64(o.a), Stride: o.sa, LD: o.lda, List: o.list, Op: ta},
		B: View{Base: uint64(o.b), Stride: o.sb, LD: o.ldb, List: o.list, Op: tb},
		C: View{Base: uint64(o.c), Stride: o.sc, LD: o.ldc, List: o.list},
	}
	if err := p.Check(); err != nil {
		return err
	}
	if m == 0 || n == 0 || o.batch == 0 {
		return nil
	}
	p.Template = j.productTemplate(h, alpha, beta, &o, e.scalar)
	return j.product(p, alpha, beta, e.scalar, e.scalar)
}

// single are the types of a function whose operands, sums and scalars are all of one type.
func single(e Elem) kinds {
	if e == F16 {
		return kinds{F16, F16, F32, F16}
	}
	return kinds{e, e, e, e}
}

// Gemm is C = alpha op(A) op(B) + beta C, everything of one type.
func (t *Thread) Gemm(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, lda int64, b hostmem.Ptr, ldb int64, beta, c hostmem.Ptr, ldc int64, e Elem) error {
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, single(e))
}

// typed is the kernels' types for the types of an Ex call; a handle that is none is answered first.
func (t *Thread) typed(h blas.CublasHandle_t, at, bt, ct rt.CudaDataType, compute blas.CublasComputeType_t) (kinds, error) {
	if _, err := t.handle(h); err != nil {
		return kinds{}, err
	}
	return typed(at, bt, ct, compute)
}

// typedBy is typed for calls that name an algorithm: which does not matter here, but one must be there, and C of a type that cuBLAS knows.
func (t *Thread) typedBy(algo blas.CublasGemmAlgo_t, h blas.CublasHandle_t, at, bt, ct rt.CudaDataType, compute blas.CublasComputeType_t) (kinds, error) {
	e, err := t.typed(h, at, bt, ct, compute)
	if _, known := OperandOf(ct); err == notSupported && !known {
		return kinds{}, invalidValue
	}
	plain := algo >= blas.CUBLAS_GEMM_DEFAULT && algo <= blas.CUBLAS_GEMM_ALGO23
	if err == nil && !plain && (algo < blas.CUBLAS_GEMM_DEFAULT_TENSOR_OP || algo > blas.CUBLAS_GEMM_ALGO15_TENSOR_OP) {
		return kinds{}, invalidValue
	}
	return e, err
}

func typed(at, bt, ct rt.CudaDataType, compute blas.CublasComputeType_t) (kinds, error) {
	a, ok1 := OperandOf(at)
	b, ok2 := OperandOf(bt)
	c, ok3 := ElemOf(ct)
	if !ok1 || !ok2 || !ok3 || a != b {
		return kinds{}, notSupported
	}
	e := kinds{ab: a, c: c}
	switch compute {
	case blas.CUBLAS_COMPUTE_16F, blas.CUBLAS_COMPUTE_16F_PEDANTIC:
		e.sum, e.scalar = F32, F16
		if a != F16 || c != F16 {
			return kinds{}, notSupported
		}
	case blas.CUBLAS_COMPUTE_32F, blas.CUBLAS_COMPUTE_32F_PEDANTIC, blas.CUBLAS_COMPUTE_32F_FAST_16F,
		blas.CUBLAS_COMPUTE_32F_FAST_16BF, blas.CUBLAS_COMPUTE_32F_FAST_TF32, blas.CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
		e.sum, e.scalar = F32, F32
		if a == C32 || a == C8 {
			e.sum, e.scalar = C32, C32
		}
		if (a == S8 || a == C8) && compute != blas.CUBLAS_COMPUTE_32F && compute != blas.CUBLAS_COMPUTE_32F_PEDANTIC {
			return kinds{}, notSupported
		}
	case blas.CUBLAS_COMPUTE_64F, blas.CUBLAS_COMPUTE_64F_PEDANTIC, blas.CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
		e.sum, e.scalar = F64, F64
		if a == C64 {
			e.sum, e.scalar = C64, C64
		}
	case blas.CUBLAS_COMPUTE_32I, blas.CUBLAS_COMPUTE_32I_PEDANTIC:
		e.sum, e.scalar = S32, S32
	default: // an H200 says so too
		return kinds{}, notSupported
	}
	if !combinations[e] {
		return kinds{}, notSupported
	}
	return e, nil
}

// combinations are the ones kernels/gemm.cu has: packed type, type of sums, type of C.
var combinations = map[kinds]bool{
	{F32, F32, F32, F32}: true, {F16, F16, F32, F32}: true, {F16, F32, F32, F32}: true, {F16, F16, F32, F16}: true,
	{BF16, BF16, F32, F32}: true, {BF16, F32, F32, F32}: true, {F64, F64, F64, F64}: true,
	{C32, C32, C32, C32}: true, {C64, C64, C64, C64}: true, {S8, S32, S32, S32}: true,
	{S8, F32, F32, F32}: true, {C8, C32, C32, C32}: true,
}

// OperandOf is ElemOf for what products also read.
func OperandOf(t rt.CudaDataType) (Elem, bool) {
	if t == rt.CUDA_C_8I {
		return C8, true
	}
	return ElemOf(t)
}

// GemmEx multiplies with a type for each operand.
func (t *Thread) GemmEx(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, b hostmem.Ptr, bt rt.CudaDataType, ldb int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc int64, compute blas.CublasComputeType_t, algo blas.CublasGemmAlgo_t) error {
	e, err := t.typedBy(algo, h, at, bt, ct, compute)
	if err != nil {
		return err
	}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e)
}

// SgemmEx is GemmEx with f32 sums and scalars.
func (t *Thread) SgemmEx(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, b hostmem.Ptr, bt rt.CudaDataType, ldb int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc int64) error {
	e, err := t.typed(h, at, bt, ct, blas.CUBLAS_COMPUTE_32F)
	if err != nil {
		return err
	}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, batch: 1}, e)
}

// GemmStridedBatchedEx is GemmEx for matrices at equal distances.
func (t *Thread) GemmStridedBatchedEx(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda, sa int64, b hostmem.Ptr, bt rt.CudaDataType, ldb, sb int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc, sc, batch int64, compute blas.CublasComputeType_t, algo blas.CublasGemmAlgo_t) error {
	e, err := t.typedBy(algo, h, at, bt, ct, compute)
	if err != nil {
		return err
	}
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, sa: sa, sb: sb, sc: sc, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, e)
}

// GemmBatchedEx is GemmEx for matrices whose addresses lie in lists on the device.
func (t *Thread) GemmBatchedEx(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, b hostmem.Ptr, bt rt.CudaDataType, ldb int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc, batch int64, compute blas.CublasComputeType_t, algo blas.CublasGemmAlgo_t) error {
	e, err := t.typedBy(algo, h, at, bt, ct, compute)
	if err != nil {
		return err
	}
	o := operands{a: a, b: b, c: c, lda: lda, ldb: ldb, ldc: ldc, list: true, batch: batch}
	return t.multiply(h, ta, tb, m, n, k, alpha, beta, o, e)
}
