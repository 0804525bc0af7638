// flags: -arch=sm_90
// Blocks of a cluster that read each other's shared memory.
#include "cc.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) k(int *o) {
  __shared__ int s[32];
  cg::cluster_group c = cg::this_cluster();
  s[threadIdx.x] = c.block_rank() * 100 + threadIdx.x;
  c.sync();
  int *other = c.map_shared_rank(s, (c.block_rank() + 1) % 4);
  o[blockIdx.x * 32 + threadIdx.x] = other[31 - threadIdx.x];
  c.sync();
}
int main() {
  Array<int> o(256);
  k<<<8, 32>>>(o);
  OK(cudaGetLastError());
  std::vector<int> v = o.get();
  printf("%d %d %d %llx\n", v[0], v[33], v[255], sum(v));
}
