// Macros by which programs ask for headers, and for versions of libraries.
#include <cstdio>
#include <cublas_v2.h>
#include <cuda.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <memory>
#include <nvrtc.h>

#if !defined(__CUDA_RUNTIME_H__) || !defined(__CUDA_RUNTIME_API_H__) || !defined(__DRIVER_TYPES_H__) || !defined(__HOST_DEFINES_H__) || \
    !defined(__VECTOR_TYPES_H__) || !defined(__LIBRARY_TYPES_H__) || !defined(__cuda_cuda_h__) || !defined(CU_COMPLEX_H_)
#error "CUDA's guards"
#endif
#if !defined(CUBLAS_API_H_) || !defined(CUBLAS_V2_H_) || !defined(_CUFFT_H_) || !defined(CUSPARSEAPI) || !defined(CUSOLVER_COMMON_H_) || \
    !defined(CUSOLVERDN_H_) || !defined(CURAND_H_) || !defined(__NVRTC_H__)
#error "guards of libraries"
#endif
#if CUBLAS_VERSION < 12000 || CUFFT_VERSION < 11000 || CUSPARSE_VERSION < 12000 || CUSOLVER_VERSION < 11000 || CURAND_VERSION < 10300
#error "versions"
#endif

static cublasStatus_t CUBLASAPI version(cublasHandle_t h, int *v) { return cublasGetVersion(h, v); }

int main() {
  std::unique_ptr<int, decltype(&cudaFree)> memory(nullptr, &cudaFree);
  int blas = 0, fft = 0, sparse = 0, solver = 0, rand = 0;
  cublasHandle_t b;
  cusparseHandle_t s;
  if (cublasCreate(&b) || version(b, &blas) || cufftGetVersion(&fft) || cusparseCreate(&s) || cusparseGetVersion(s, &sparse) ||
      cusolverGetVersion(&solver) || curandGetVersion(&rand))
    return 1;
  printf("%d %d %d %d %d\n", blas == CUBLAS_VERSION, fft == CUFFT_VERSION, sparse == CUSPARSE_VERSION, solver == CUSOLVER_VERSION,
         rand == CURAND_VERSION);
}
