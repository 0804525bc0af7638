// Atomics in shared and global memory.
#include "cc.h"
__global__ void count(const unsigned *in, int n, unsigned *out) {
  __shared__ unsigned h[64];
  if (threadIdx.x < 64) h[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&h[in[i] * 2654435761u >> 26], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(out + threadIdx.x, h[threadIdx.x]);
}
int main() {
  Array<unsigned> a(10000), h(64, 0, 0);
  count<<<5, 128>>>(a, 10000, h);
  std::vector<unsigned> v = h.get();
  for (int i = 0; i < 64; i += 9) printf("%u ", v[i]);
  printf("%llx\n", sum(v));
}
