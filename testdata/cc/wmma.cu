// flags: -arch=sm_80
// A product of matrices by a warp.
#include "cc.h"
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
__global__ void k(const __half *a, const __half *b, float *c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
  wmma::fill_fragment(z, 1.0f);
  wmma::load_matrix_sync(x, a, 16);
  wmma::load_matrix_sync(y, b, 16);
  wmma::mma_sync(z, x, y, z);
  wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
}
int main() {
  std::vector<__half> h(256);
  for (int i = 0; i < 256; i++) h[i] = __float2half((float)(i * 7 % 13 - 6));
  __half *a, *b;
  OK(cudaMalloc(&a, 512));
  OK(cudaMalloc(&b, 512));
  OK(cudaMemcpy(a, h.data(), 512, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(b, h.data(), 512, cudaMemcpyHostToDevice));
  Array<float> c(256);
  k<<<1, 32>>>(a, b, c);
  std::vector<float> v = c.get();
  printf("%g %g %g %llx\n", v[0], v[17], v[255], sum(v));
}
