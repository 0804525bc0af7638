// Barriers that count and vote, named ones, and divergent warps.
#include "cc.h"
__global__ void k(int *o) {
  int t = threadIdx.x;
  __shared__ int s[128];
  int c = __syncthreads_count(t % 3 == 0), a = __syncthreads_and(t < 128), b = __syncthreads_or(t == 200);
  s[t] = t;
  if (t < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    s[t] += s[63 - t] * 0 + 1;
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  __syncthreads();
  int v = 0;
  switch (t % 4) {
    case 0: v = s[(t + 1) % 128]; break;
    case 1: v = s[t] * 2; break;
    case 2: for (int i = 0; i < t % 7; i++) v += s[i]; break;
    default: v = -1;
  }
  __syncwarp();
  o[t] = v + c * 1000 + a * 100000 + b * 1000000;
}
int main() {
  Array<int> o(128);
  k<<<1, 128>>>(o);
  std::vector<int> v = o.get();
  printf("%d %d %d %d %llx\n", v[0], v[1], v[2], v[3], sum(v));
}
