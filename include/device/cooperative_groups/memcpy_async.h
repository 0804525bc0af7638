// Copies to shared memory by a whole group, and the wait for them.
#ifndef KUDZU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define KUDZU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#pragma GCC system_header

#include "../cooperative_groups.h"

namespace cooperative_groups {
namespace __v1 {

namespace details {

// Threads copy N bytes each in turn: asynchronously where the addresses allow it and the target is in shared memory; from sm_80 on.
template <int N, class G> KUDZU_CG void copy_words(const G &g, char *to, const char *from, size_t bytes, bool async) {
  for (size_t i = (size_t)g.thread_rank() * N; i + N <= bytes; i += (size_t)g.size() * N) {
#if __CUDA_ARCH__ >= 800
    if (async) {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"((unsigned int)__cvta_generic_to_shared(to + i)),
                   "l"(__cvta_generic_to_global(from + i)), "n"(N)
                   : "memory");
      continue;
    }
#endif
    __builtin_memcpy(to + i, from + i, N);
  }
}
template <class G> KUDZU_CG void copy(const G &g, char *to, const char *from, size_t bytes) {
  bool async = __isShared(to) && __isGlobal(from);
  unsigned long long at = (unsigned long long)to | (unsigned long long)from;
  size_t done = 0;
  if (at % 16 == 0)
    copy_words<16>(g, to, from, done = bytes & ~(size_t)15, async);
  else if (at % 8 == 0)
    copy_words<8>(g, to, from, done = bytes & ~(size_t)7, async);
  else if (at % 4 == 0)
    copy_words<4>(g, to, from, done = bytes & ~(size_t)3, async);
  for (size_t i = done + g.thread_rank(); i < bytes; i += g.size()) to[i] = from[i];
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

}  // namespace details

template <class G, class T, class S> KUDZU_CG void memcpy_async(const G &g, T *to, const S *from, size_t bytes) {
  details::copy(g, (char *)to, (const char *)from, bytes);
}
template <class G, class T, class D, class S, class L>
KUDZU_CG void memcpy_async(const G &g, T *to, const D &to_layout, const S *from, const L &from_layout) {
  size_t a = to_layout, b = from_layout;
  details::copy(g, (char *)to, (const char *)from, (a < b ? a : b) * sizeof(T));
}
template <unsigned int Stages, class G> KUDZU_CG void wait_prior(const G &g) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;" ::"n"(Stages) : "memory");
#endif
  g.sync();
}
template <class G> KUDZU_CG void wait(const G &g) { wait_prior<0>(g); }

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
