// A product of matrices in tiles.
#include "cc.h"
constexpr int T = 16;
__global__ void product(const float *a, const float *b, float *c, int n) {
  __shared__ float s[T][T], t[T][T + 1];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < T; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
int main() {
  const int n = 64;
  std::vector<float> h(n * n);
  for (int i = 0; i < n * n; i++) h[i] = (float)(i * 37 % 11 - 5);
  Array<float> a(n * n), b(n * n), c(n * n);
  OK(cudaMemcpy(a, h.data(), n * n * 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(b, h.data(), n * n * 4, cudaMemcpyHostToDevice));
  product<<<dim3(n / T, n / T), dim3(T, T)>>>(a, b, c, n);
  std::vector<float> v = c.get();
  printf("%g %g %llx\n", v[0], v[n * n - 1], sum(v));
}
