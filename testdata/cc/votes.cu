// flags: -arch=sm_80
// Votes, matches and reductions of a warp.
#include "cc.h"
__global__ void k(unsigned *o) {
  unsigned t = threadIdx.x, all = ~0u;
  unsigned a = __ballot_sync(all, t % 3 == 1), b = __match_any_sync(all, t / 5), c = __reduce_add_sync(all, t), d = __reduce_max_sync(all, t * 7 % 13);
  int pred;
  unsigned e = __match_all_sync(all, 5, &pred);
  o[t] = a ^ b * 3 ^ c ^ d << 20 ^ e ^ pred << 7 ^ (__any_sync(all, t == 9) ? 1u << 30 : 0) ^ (__all_sync(all, t < 31) ? 0 : 1u << 29) ^ __popc(a) ^ __ffs(b) ^ __brev(t) ^ __clz(t);
}
int main() {
  Array<unsigned> o(32);
  k<<<1, 32>>>(o);
  for (unsigned v : o.get()) printf("%x ", v);
  printf("\n");
}
