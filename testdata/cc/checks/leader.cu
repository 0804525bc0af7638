// One lane computes and a shuffle gives it to the others, which have not set their variable: no undefined behaviour may come of it.
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void shuffled(int *out, int n) {
  int lane = threadIdx.x & 31;
  bool more;
  int v;
  float x;
  if (lane == 3) {
    more = n > 2;
    v = n * 3;
    x = v * .5f;
  }
  more = __shfl_sync(~0u, more, 3);
  v = __shfl_sync(~0u, v, 3);
  x = __shfl_sync(~0u, x, 3);
  out[threadIdx.x] = more * 1000 + v + (int)x + lane;
}

__global__ void compact(int *count, const int *in, int *out) {
  int lane = threadIdx.x & 31;
  unsigned mask = __ballot_sync(~0u, in[threadIdx.x] > 5);
  int leader = __ffs(mask) - 1, base;
  if (lane == leader) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(~0u, base, leader);
  if (in[threadIdx.x] > 5) out[base + __popc(mask & ((1u << lane) - 1))] = threadIdx.x;
}

__device__ int slot(int *count) {
  auto group = cg::coalesced_threads();
  int first;
  if (group.thread_rank() == 0) first = atomicAdd(count, group.size());
  return group.shfl(first, 0) + group.thread_rank();
}

__global__ void third(int *count, int *out) {
  if (threadIdx.x % 3 == 0) out[slot(count)] = threadIdx.x;
}

int main() {
  int *out = shared<int>(256), *in = shared<int>(64), *count = shared<int>(2);
  shuffled<<<1, 64>>>(out, 10);
  CK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) EXPECT(out[i] == 1000 + 30 + 15 + i % 32);
  for (int i = 0; i < 64; i++) in[i] = i % 10;
  compact<<<1, 64>>>(count, in, out);
  CK(cudaDeviceSynchronize());
  EXPECT(count[0] == 24);
  for (int i = 0; i < 24; i++) EXPECT(in[out[i]] > 5);
  third<<<1, 64>>>(count + 1, out);
  CK(cudaDeviceSynchronize());
  EXPECT(count[1] == 22);
  bool seen[64] = {};
  for (int i = 0; i < 22; i++) {
    EXPECT(out[i] % 3 == 0 && !seen[out[i]]);
    seen[out[i]] = true;
  }
  return 0;
}
