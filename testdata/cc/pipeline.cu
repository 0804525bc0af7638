// flags: -arch=sm_80
// Copies to shared memory that run beside the computation.
#include "cc.h"
#include <cuda_pipeline.h>
__global__ void k(const int *in, int *out, int n) {
  __shared__ int s[2][64];
  int t = threadIdx.x, acc = 0;
  __pipeline_memcpy_async(&s[0][t], in + t, 4);
  __pipeline_commit();
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) __pipeline_memcpy_async(&s[(i + 1) % 2][t], in + (i + 1) * 64 + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    acc = acc * 3 + s[i % 2][63 - t];
    __syncthreads();
  }
  out[t] = acc;
}
int main() {
  Array<int> in(640), out(64);
  k<<<1, 64>>>(in, out, 10);
  std::vector<int> v = out.get();
  printf("%d %d %llx\n", v[0], v[63], sum(v));
}
