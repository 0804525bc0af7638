// A prefix sum by shuffles.
#include "cc.h"
__global__ void scan(int *p) {
  __shared__ int warps[32];
  int t = threadIdx.x, lane = t % 32, v = p[t];
  for (int d = 1; d < 32; d *= 2) {
    int o = __shfl_up_sync(~0u, v, d);
    if (lane >= d) v += o;
  }
  if (lane == 31) warps[t / 32] = v;
  __syncthreads();
  if (t < 32) {
    int w = warps[t];
    for (int d = 1; d < 32; d *= 2) {
      int o = __shfl_up_sync(~0u, w, d);
      if (t >= d) w += o;
    }
    warps[t] = w;
  }
  __syncthreads();
  p[t] = v + (t >= 32 ? warps[t / 32 - 1] : 0);
}
int main() {
  Array<int> a(1024, 1, 7);
  scan<<<1, 1024>>>(a);
  std::vector<int> v = a.get();
  printf("%d %d %d %llx\n", v[0], v[31], v[1023], sum(v));
}
