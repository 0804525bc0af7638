// Prefix sums over groups of lanes.
#ifndef KUDZU_COOPERATIVE_GROUPS_SCAN_H
#define KUDZU_COOPERATIVE_GROUPS_SCAN_H
#pragma GCC system_header

#include "reduce.h"

namespace cooperative_groups {

template <class G, class T, class F> KUDZU_CG T inclusive_scan(const G &g, T v, F f) {
  unsigned int n = (unsigned int)g.size(), rank = (unsigned int)g.thread_rank();
  for (unsigned int d = 1; d < n; d *= 2) {
    T before = g.shfl_up(v, d);
    if (rank >= d) v = f(before, v);
  }
  return v;
}
template <class G, class T> KUDZU_CG T inclusive_scan(const G &g, T v) { return inclusive_scan(g, v, plus<T>()); }

// The first thread's result is 0.
template <class G, class T, class F> KUDZU_CG T exclusive_scan(const G &g, T v, F f) {
  T r = g.shfl_up(inclusive_scan(g, v, f), 1);
  return g.thread_rank() == 0 ? T{} : r;
}
template <class G, class T> KUDZU_CG T exclusive_scan(const G &g, T v) { return exclusive_scan(g, v, plus<T>()); }

}  // namespace cooperative_groups

#endif
