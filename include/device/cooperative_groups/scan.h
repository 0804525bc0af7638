// Prefix sums over groups of lanes.
#ifndef KUDZU_COOPERATIVE_GROUPS_SCAN_H
#define KUDZU_COOPERATIVE_GROUPS_SCAN_H
#pragma GCC system_header

#include "reduce.h"

namespace cooperative_groups {
namespace __v1 {

namespace details {

template <class G, class T, class F> KUDZU_CG T scan(const G &g, T v, F f) {
  unsigned int n = (unsigned int)g.size(), rank = (unsigned int)g.thread_rank();
  for (unsigned int d = 1; d < n; d *= 2) {
    T before = g.shfl_up(v, d);
    if (rank >= d) v = f(before, v);
  }
  return v;
}
template <class G, class T, class F> KUDZU_CG T scan_before(const G &g, T v, F f) {
  T r = g.shfl_up(scan(g, v, f), 1);
  return g.thread_rank() == 0 ? T{} : r;
}

// A scan of each warp, and the sums of the warps before it. The first warp has none.
template <unsigned int Size, class T, class F> KUDZU_CG bool warps_before(const tile_of<Size, true> &g, const T &sum, F f, T &r) {
  auto sums = g.each_warp(sum, 31);
  unsigned int own = g.thread_rank() / 32;
  for (unsigned int i = 0; i < own; i++) r = i == 0 ? sums[0] : f(r, sums[i]);
  return own > 0;
}
template <unsigned int Size, class T, class F> KUDZU_CG T scan_large(const tile_of<Size, true> &g, T v, F f, bool exclusive) {
  for (unsigned int d = 1; d < 32; d *= 2) {
    T before = by_words(v, [=](unsigned int w) { return __shfl_up_sync(0xffffffffu, w, d); });
    if (lane() >= d) v = f(before, v);
  }
  T before{};
  bool some = warps_before(g, v, f, before);
  if (!exclusive) return some ? f(before, v) : v;
  T own = by_words(v, [=](unsigned int w) { return __shfl_up_sync(0xffffffffu, w, 1); });
  if (lane() == 0) return before;
  return some ? f(before, own) : own;
}
template <unsigned int Size, class T, class F> KUDZU_CG T scan_tile(const tile_of<Size, true> &g, T v, F f) {
  return scan_large(g, v, f, false);
}
template <unsigned int Size, class T, class F> KUDZU_CG T scan_tile_before(const tile_of<Size, true> &g, T v, F f) {
  return scan_large(g, v, f, true);
}
template <unsigned int Size, class T, class F> KUDZU_CG T scan_tile(const tile_of<Size, false> &g, T v, F f) {
  return scan(g, v, f);
}
template <unsigned int Size, class T, class F> KUDZU_CG T scan_tile_before(const tile_of<Size, false> &g, T v, F f) {
  return scan_before(g, v, f);
}

}  // namespace details

template <class T, class F> KUDZU_CG T inclusive_scan(const coalesced_group &g, T v, F f) { return details::scan(g, v, f); }
template <unsigned int Size, class P, class T, class F>
KUDZU_CG T inclusive_scan(const thread_block_tile<Size, P> &g, T v, F f) {
  return details::scan_tile(g, v, f);
}
template <class G, class T> KUDZU_CG T inclusive_scan(const G &g, T v) { return inclusive_scan(g, v, plus<T>()); }

// The first thread's result is 0.
template <class T, class F> KUDZU_CG T exclusive_scan(const coalesced_group &g, T v, F f) {
  return details::scan_before(g, v, f);
}
template <unsigned int Size, class P, class T, class F>
KUDZU_CG T exclusive_scan(const thread_block_tile<Size, P> &g, T v, F f) {
  return details::scan_tile_before(g, v, f);
}
template <class G, class T> KUDZU_CG T exclusive_scan(const G &g, T v) { return exclusive_scan(g, v, plus<T>()); }

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
