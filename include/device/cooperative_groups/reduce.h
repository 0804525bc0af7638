// Reductions over groups of lanes, with the operators of this namespace or any function object.
#ifndef KUDZU_COOPERATIVE_GROUPS_REDUCE_H
#define KUDZU_COOPERATIVE_GROUPS_REDUCE_H
#pragma GCC system_header

#include "../cooperative_groups.h"

namespace cooperative_groups {
namespace __v1 {

#define KUDZU_CG_OPERATOR(name, result)                                                                               \
  template <class T> struct name {                                                                                    \
    KUDZU_CG T operator()(T a, T b) const { return result; }                                                          \
  };
KUDZU_CG_OPERATOR(plus, a + b)
KUDZU_CG_OPERATOR(less, b < a ? b : a)
KUDZU_CG_OPERATOR(greater, a < b ? b : a)
KUDZU_CG_OPERATOR(bit_and, a & b)
KUDZU_CG_OPERATOR(bit_or, a | b)
KUDZU_CG_OPERATOR(bit_xor, a ^ b)
#undef KUDZU_CG_OPERATOR

namespace details {
// Lanes of a warp halve the distance; every one ends with the sum.
template <unsigned int Size, class T, class F> KUDZU_CG T reduce_tile(const tile_of<Size, false> &g, T v, F f) {
#pragma unroll
  for (unsigned int d = Size / 2; d > 0; d /= 2) v = f(v, g.shfl_xor(v, d));
  return v;
}
// Then every thread adds up the sums of the warps.
template <unsigned int Size, class T, class F> KUDZU_CG T reduce_tile(const tile_of<Size, true> &g, T v, F f) {
#pragma unroll
  for (unsigned int d = 16; d > 0; d /= 2)
    v = f(v, by_words(v, [=](unsigned int w) { return __shfl_xor_sync(0xffffffffu, w, (int)d); }));
  auto sums = g.each_warp(v);
  T r = sums[0];
  for (unsigned int i = 1; i < Size / 32; i++) r = f(r, sums[i]);
  return r;
}
}  // namespace details

template <unsigned int Size, class P, class T, class F> KUDZU_CG T reduce(const thread_block_tile<Size, P> &g, T v, F f) {
  return details::reduce_tile(g, v, f);
}
// Other groups: rank 0 gathers in the order of ranks, by distance, and gives the result to all.
template <class T, class F> KUDZU_CG T reduce(const coalesced_group &g, T v, F f) {
  unsigned int n = g.size(), rank = g.thread_rank();
  for (unsigned int d = 1; d < n; d *= 2) {
    T other = g.shfl_down(v, d);
    if (rank % (2 * d) == 0 && rank + d < n) v = f(v, other);
  }
  return g.shfl(v, 0);
}

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
