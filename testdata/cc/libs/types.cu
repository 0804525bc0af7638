// Headers of libraries in C++: products that name a type of data for the computation, types of cuFFT's callbacks.
#include "../cc.h"
#include <cublas_v2.h>
#include <cufftXt.h>

__device__ cufftComplex twice(void *in, size_t at, void *, void *) {
  cufftComplex c = ((cufftComplex *)in)[at];
  return cufftComplex{2 * c.x, 2 * c.y};
}
__device__ void put(void *out, size_t at, cufftReal r, void *, void *) { ((float *)out)[at] = r; }
__device__ cufftCallbackLoadC load = twice;
__device__ cufftCallbackStoreR store = put;

__global__ void call(cufftComplex *in, float *out) { store(out, 1, load(in, 1, nullptr, nullptr).y, nullptr, nullptr); }

int main() {
  cufftComplex pair[2] = {{1, 2}, {3, 4}}, *in;
  float got[4] = {}, *out;
  OK(cudaMalloc(&in, sizeof pair));
  OK(cudaMalloc(&out, sizeof got));
  OK(cudaMemcpy(in, pair, sizeof pair, cudaMemcpyHostToDevice));
  call<<<1, 1>>>(in, out);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  printf("callback %g\n", got[1]);

  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0, *m = (const float *)in; // 1 2 3 4, by columns
  int s = cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, m, CUDA_R_32F, 2, m, CUDA_R_32F, 2, &zero, out, CUDA_R_32F, 2, CUDA_R_32F,
                       CUBLAS_GEMM_DEFAULT);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  printf("product %d: %g %g %g %g\n", s, got[0], got[1], got[2], got[3]);
  s = cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 2, &one, m, CUDA_R_32F, 1, 2, m, CUDA_R_32F, 1, 2, &zero, out, CUDA_R_32F, 1, 1,
                                 2, CUDA_R_32F, CUBLAS_GEMM_DEFAULT);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  printf("batch %d: %g %g\n", s, got[0], got[1]);
  const float *ab[1] = {m}, **list;
  float *c[1] = {out}, **to;
  OK(cudaMalloc(&list, sizeof ab));
  OK(cudaMalloc(&to, sizeof c));
  OK(cudaMemcpy(list, ab, sizeof ab, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(to, c, sizeof c, cudaMemcpyHostToDevice));
  s = cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, 1, 1, 4, &one, (const void *const *)list, CUDA_R_32F, 1, (const void *const *)list, CUDA_R_32F, 1,
                          &zero, (void *const *)to, CUDA_R_32F, 1, 1, CUDA_R_32F, CUBLAS_GEMM_DEFAULT);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  printf("pointers %d: %g\n", s, got[0]);
  printf("other %d\n", cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, m, CUDA_R_32F, 1, m, CUDA_R_32F, 1, &zero, out, CUDA_R_32F, 1,
                                    CUDA_R_8I, CUBLAS_GEMM_DEFAULT));
}
