package cublas

import (
	"kudzu/internal/hostmem"
	"kudzu/internal/spec/blas"
	"kudzu/internal/spec/rt"
)

// Complex products that the vendor makes of three real ones, which costs digits: their rows name the ordinary
// ones, which are no less exact. Here are the complex functions that take types: f32 parts are there, s8 parts are not.

// singles checks that all types are complex f32.
func (t *Thread) singles(h blas.CublasHandle_t, types ...rt.CudaDataType) error {
	if _, err := t.handle(h); err != nil {
		return err
	}
	for _, ct := range types {
		if ct != rt.CUDA_C_32F {
			return notSupported
		}
	}
	return nil
}

// CgemmEx is Cgemm with a type for each operand.
func (t *Thread) CgemmEx(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, b hostmem.Ptr, bt rt.CudaDataType, ldb int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc int64) error {
	if at == rt.CUDA_C_8I && bt == at {
		return t.GemmEx(h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc, blas.CUBLAS_COMPUTE_32F, 0)
	}
	if err := t.singles(h, at, bt, ct); err != nil {
		return err
	}
	return t.Gemm(h, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, C32)
}

// Cgemm3mEx is Cgemm3m with a type for each operand.
func (t *Thread) Cgemm3mEx(h blas.CublasHandle_t, ta, tb Op, m, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, b hostmem.Ptr, bt rt.CudaDataType, ldb int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc int64) error {
	return t.CgemmEx(h, ta, tb, m, n, k, alpha, a, at, lda, b, bt, ldb, beta, c, ct, ldc)
}

// CsyrkEx is Csyrk with a type for each operand.
func (t *Thread) CsyrkEx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc int64) error {
	if err := t.singles(h, at, ct); err != nil {
		return err
	}
	return t.Syrk(h, fill, op, n, k, alpha, a, lda, beta, c, ldc, C32)
}

// Csyrk3mEx is CsyrkEx.
func (t *Thread) Csyrk3mEx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc int64) error {
	return t.CsyrkEx(h, fill, op, n, k, alpha, a, at, lda, beta, c, ct, ldc)
}

// CherkEx is Cherk with a type for each operand.
func (t *Thread) CherkEx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc int64) error {
	if err := t.singles(h, at, ct); err != nil {
		return err
	}
	return t.Herk(h, fill, op, n, k, alpha, a, lda, beta, c, ldc, C32)
}

// Cherk3mEx is CherkEx.
func (t *Thread) Cherk3mEx(h blas.CublasHandle_t, fill Fill, op Op, n, k int64, alpha, a hostmem.Ptr, at rt.CudaDataType, lda int64, beta, c hostmem.Ptr, ct rt.CudaDataType, ldc int64) error {
	return t.CherkEx(h, fill, op, n, k, alpha, a, at, lda, beta, c, ct, ldc)
}
