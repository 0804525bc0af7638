package rocblas

import (
	"math"

	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rocblas"
)

// byHand converts the arguments of the functions whose parameters are not cuBLAS's one by one.
var byHand = map[rocblas.Func]func([]uint64) ([]uintptr, bool){
	rocblas.Rocblas_gemm_ex: gemmEx, rocblas.Rocblas_gemm_batched_ex: gemmBatchedEx, rocblas.Rocblas_gemm_strided_batched_ex: gemmStridedBatchedEx,
}

// kinds of the arguments of cublasGemmEx and its like, up to C: handle, operations, sizes and alpha; then for each matrix
// address, type, leading dimension and, in a strided batch, the stride; beta before C.
const (
	operation = rocblas.KindRocblas_operation
	datatype  = rocblas.KindRocblas_datatype
	number    = rocblas.Int32
	long      = rocblas.Int64
	pointer   = rocblas.Pointer
)

var (
	gemmHead = []rocblas.Kind{rocblas.Handle, operation, operation, number, number, number, pointer}
	gemmEach = []rocblas.Kind{pointer, datatype, number}
)

// gemm lays out a call: rocBLAS writes D where cuBLAS writes C, so C is given twice; then comes the size of the batch if there
// is one, the type of sums, and which algorithm: the library's choice.
func gemm(args []uint64, strided, batched bool) ([]uintptr, bool) {
	each := gemmEach
	if strided {
		each = append(each[:len(each):len(each)], long)
	}
	var kinds []rocblas.Kind
	kinds = append(kinds, gemmHead...)
	kinds = append(kinds, each...)
	kinds = append(kinds, each...)
	kinds = append(kinds, pointer) // beta
	c := len(kinds)
	kinds = append(kinds, each...)
	if batched {
		kinds = append(kinds, number)
	}
	if len(args) != len(kinds)+2 { // compute type, algorithm
		return nil, false
	}
	words := make([]uintptr, 0, 32)
	for i, k := range kinds {
		v, ok := k.From(int64(args[i]))
		if !ok || k == number && (v < math.MinInt32 || v > math.MaxInt32) {
			return nil, false
		}
		words = append(words, uintptr(v))
		if i == c+len(each)-1 {
			words = append(words, words[c:c+len(each)]...)
		}
	}
	compute, ok := computeType(blas.CublasComputeType_t(int32(args[len(kinds)])), int64(words[len(gemmHead)+1]))
	if !ok {
		return nil, false
	}
	return append(words, uintptr(compute), rocblas.Rocblas_gemm_algo_standard, 0, 0), true
}

func gemmEx(args []uint64) ([]uintptr, bool)               { return gemm(args, false, false) }
func gemmBatchedEx(args []uint64) ([]uintptr, bool)        { return gemm(args, false, true) }
func gemmStridedBatchedEx(args []uint64) ([]uintptr, bool) { return gemm(args, true, true) }

// computeType is rocBLAS's type of sums, a data type; of complex matrices it is complex. Modes that let cuBLAS be less exact
// become the exact type.
func computeType(c blas.CublasComputeType_t, a int64) (int64, bool) {
	complex := a == rocblas.Rocblas_datatype_f32_c || a == rocblas.Rocblas_datatype_f64_c
	pick := func(real, cplx int64) (int64, bool) {
		if complex {
			return cplx, true
		}
		return real, true
	}
	switch c {
	case blas.CUBLAS_COMPUTE_16F, blas.CUBLAS_COMPUTE_16F_PEDANTIC:
		return rocblas.Rocblas_datatype_f16_r, !complex
	case blas.CUBLAS_COMPUTE_32F, blas.CUBLAS_COMPUTE_32F_PEDANTIC, blas.CUBLAS_COMPUTE_32F_FAST_16F, blas.CUBLAS_COMPUTE_32F_FAST_16BF,
		blas.CUBLAS_COMPUTE_32F_FAST_TF32, blas.CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
		return pick(rocblas.Rocblas_datatype_f32_r, rocblas.Rocblas_datatype_f32_c)
	case blas.CUBLAS_COMPUTE_64F, blas.CUBLAS_COMPUTE_64F_PEDANTIC, blas.CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
		return pick(rocblas.Rocblas_datatype_f64_r, rocblas.Rocblas_datatype_f64_c)
	case blas.CUBLAS_COMPUTE_32I, blas.CUBLAS_COMPUTE_32I_PEDANTIC:
		return rocblas.Rocblas_datatype_i32_r, !complex
	}
	return 0, false
}
