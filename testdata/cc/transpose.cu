// A transpose with padding, of a two-dimensional copy with a pitch.
#include "cc.h"
__global__ void transpose(const int *in, size_t pitch, int *out, int n) {
  __shared__ int t[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) t[threadIdx.y + j][threadIdx.x] = *((const int *)((const char *)in + (y + j) * pitch) + x);
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) out[(y + j) * n + x] = t[threadIdx.x][threadIdx.y + j];
}
int main() {
  const int n = 96;
  std::vector<int> h(n * n);
  for (int i = 0; i < n * n; i++) h[i] = i;
  int *p;
  size_t pitch;
  OK(cudaMallocPitch(&p, &pitch, n * 4, n));
  OK(cudaMemcpy2D(p, pitch, h.data(), n * 4, n * 4, n, cudaMemcpyHostToDevice));
  Array<int> o(n * n);
  transpose<<<dim3(3, 3), dim3(32, 8)>>>(p, pitch, o, n);
  std::vector<int> v = o.get();
  printf("%d %d %d %llx\n", v[1], v[n], v[n * n - 2], sum(v));
}
