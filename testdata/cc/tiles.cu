// Groups of a warp: tiles, coalesced threads, reductions.
#include "cc.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void k(int *o) {
  cg::thread_block b = cg::this_thread_block();
  auto t = cg::tiled_partition<8>(b);
  int v = b.thread_rank() * 3;
  int s = cg::reduce(t, v, cg::plus<int>());
  int m = cg::reduce(t, v % 10, cg::greater<int>());
  int up = t.shfl_xor(v, 1);
  int c = 0;
  if (b.thread_rank() % 3 == 0) {
    cg::coalesced_group g = cg::coalesced_threads();
    c = g.size() * 100 + g.thread_rank();
  }
  o[b.thread_rank()] = s * 7 + m * 5 + up + c + (t.any(v == 9) ? 10000 : 0);
}
int main() {
  Array<int> o(32);
  k<<<1, 32>>>(o);
  for (int v : o.get()) printf("%d ", v);
  printf("\n");
}
