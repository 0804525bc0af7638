// Shared memory whose size the launch says, and more of it than a kernel has by itself.
#include "cc.h"
extern __shared__ char raw[];
__global__ void k(int *o, int n) {
  int *s = (int *)raw;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i * 3;
  __syncthreads();
  o[threadIdx.x] = s[(threadIdx.x * 131) % n] + s[n - 1 - threadIdx.x];
}
int main() {
  Array<int> o(64);
  k<<<1, 64, 1024>>>(o, 256);
  printf("%llx ", sum(o.get()));
  OK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
  k<<<1, 64, 64 << 10>>>(o, 16 << 10);
  OK(cudaGetLastError());
  printf("%llx\n", sum(o.get()));
}
