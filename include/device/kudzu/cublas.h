// cuBLAS in C++: the products whose type of computation is named as a type of data, as it was before cuBLAS 11.
#ifndef KUDZU_CUBLAS_CXX_H
#define KUDZU_CUBLAS_CXX_H

// The type of computation for a type of data; false where there is none.
static inline bool kudzu_compute_type(cudaDataType type, cublasComputeType_t *compute) {
  switch (type) {
  case CUDA_R_16F: *compute = CUBLAS_COMPUTE_16F; return true;
  case CUDA_R_32F:
  case CUDA_C_32F: *compute = CUBLAS_COMPUTE_32F; return true;
  case CUDA_R_64F:
  case CUDA_C_64F: *compute = CUBLAS_COMPUTE_64F; return true;
  case CUDA_R_32I: *compute = CUBLAS_COMPUTE_32I; return true;
  default: return false;
  }
}

static inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                          const void *alpha, const void *A, cudaDataType Atype, int lda, const void *B, cudaDataType Btype,
                                          int ldb, const void *beta, void *C, cudaDataType Ctype, int ldc, cudaDataType computeType,
                                          cublasGemmAlgo_t algo) {
  cublasComputeType_t compute;
  if (!kudzu_compute_type(computeType, &compute)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc, compute, algo);
}

static inline cublasStatus_t cublasGemmBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                                                 const void *alpha, const void *const Aarray[], cudaDataType Atype, int lda,
                                                 const void *const Barray[], cudaDataType Btype, int ldb, const void *beta,
                                                 void *const Carray[], cudaDataType Ctype, int ldc, int batchCount, cudaDataType computeType,
                                                 cublasGemmAlgo_t algo) {
  cublasComputeType_t compute;
  if (!kudzu_compute_type(computeType, &compute)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return cublasGemmBatchedEx(handle, transa, transb, m, n, k, alpha, Aarray, Atype, lda, Barray, Btype, ldb, beta, Carray, Ctype, ldc,
                             batchCount, compute, algo);
}

static inline cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                                                        int k, const void *alpha, const void *A, cudaDataType Atype, int lda,
                                                        long long int strideA, const void *B, cudaDataType Btype, int ldb,
                                                        long long int strideB, const void *beta, void *C, cudaDataType Ctype, int ldc,
                                                        long long int strideC, int batchCount, cudaDataType computeType,
                                                        cublasGemmAlgo_t algo) {
  cublasComputeType_t compute;
  if (!kudzu_compute_type(computeType, &compute)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return cublasGemmStridedBatchedEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, strideA, B, Btype, ldb, strideB, beta, C, Ctype,
                                    ldc, strideC, batchCount, compute, algo);
}

#endif
