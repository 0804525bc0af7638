// Warp functions: shuffle, vote, match, reduce.
#ifndef KUDZU_WARP_H
#define KUDZU_WARP_H
#pragma GCC system_header

#include "intrinsics.h"

// The third operand of shfl: the segment's mask in bits 8 to 12, the last lane of a segment in bits 0 to 4.
#define KUDZU_SHFL(name, mode, last, L)                                                                               \
  KUDZU_D int name(unsigned int mask, int v, L lane, int width = 32) {                                                \
    return __nvvm_shfl_sync_##mode##_i32(mask, v, (int)lane, (32 - width) << 8 | last);                               \
  }                                                                                                                   \
  KUDZU_D unsigned int name(unsigned int mask, unsigned int v, L lane, int width = 32) {                              \
    return (unsigned int)name(mask, (int)v, lane, width);                                                             \
  }                                                                                                                   \
  KUDZU_D float name(unsigned int mask, float v, L lane, int width = 32) {                                            \
    return __int_as_float(name(mask, __float_as_int(v), lane, width));                                                \
  }                                                                                                                   \
  KUDZU_D long long name(unsigned int mask, long long v, L lane, int width = 32) {                                    \
    unsigned int lo = name(mask, (unsigned int)v, lane, width);                                                       \
    unsigned int hi = name(mask, (unsigned int)((unsigned long long)v >> 32), lane, width);                           \
    return (long long)((unsigned long long)hi << 32 | lo);                                                            \
  }                                                                                                                   \
  KUDZU_D unsigned long long name(unsigned int mask, unsigned long long v, L lane, int width = 32) {                  \
    return (unsigned long long)name(mask, (long long)v, lane, width);                                                 \
  }                                                                                                                   \
  KUDZU_D long name(unsigned int mask, long v, L lane, int width = 32) {                                              \
    return (long)name(mask, (long long)v, lane, width);                                                               \
  }                                                                                                                   \
  KUDZU_D unsigned long name(unsigned int mask, unsigned long v, L lane, int width = 32) {                            \
    return (unsigned long)name(mask, (long long)v, lane, width);                                                      \
  }                                                                                                                   \
  KUDZU_D double name(unsigned int mask, double v, L lane, int width = 32) {                                          \
    return __longlong_as_double(name(mask, __double_as_longlong(v), lane, width));                                    \
  }
KUDZU_SHFL(__shfl_sync, idx, 0x1f, int)
KUDZU_SHFL(__shfl_up_sync, up, 0, unsigned int)
KUDZU_SHFL(__shfl_down_sync, down, 0x1f, unsigned int)
KUDZU_SHFL(__shfl_xor_sync, bfly, 0x1f, int)
#undef KUDZU_SHFL

KUDZU_D unsigned int __activemask() {
  unsigned int r;
  asm volatile("activemask.b32 %0;" : "=r"(r));
  return r;
}
KUDZU_D void __syncwarp(unsigned int mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
KUDZU_D int __all_sync(unsigned int mask, int pred) { return __nvvm_vote_all_sync(mask, pred != 0); }
KUDZU_D int __any_sync(unsigned int mask, int pred) { return __nvvm_vote_any_sync(mask, pred != 0); }
KUDZU_D int __uni_sync(unsigned int mask, int pred) { return __nvvm_vote_uni_sync(mask, pred != 0); }
KUDZU_D unsigned int __ballot_sync(unsigned int mask, int pred) { return __nvvm_vote_ballot_sync(mask, pred != 0); }

KUDZU_D unsigned int __kudzu_match_any32(unsigned int mask, unsigned int v) {
  unsigned int r;
  asm volatile("match.any.sync.b32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask) : "memory");
  return r;
}
KUDZU_D unsigned int __kudzu_match_any64(unsigned int mask, unsigned long long v) {
  unsigned int r;
  asm volatile("match.any.sync.b64 %0, %1, %2;" : "=r"(r) : "l"(v), "r"(mask) : "memory");
  return r;
}
#define KUDZU_MATCH_ALL(name, bits, T, c)                                                                             \
  KUDZU_D unsigned int name(unsigned int mask, T v, int *pred) {                                                      \
    unsigned int r, p;                                                                                                \
    asm volatile("{.reg .pred q; match.all.sync." bits " %0|q, %2, %3; selp.u32 %1, 1, 0, q;}"                        \
                 : "=r"(r), "=r"(p)                                                                                   \
                 : c(v), "r"(mask)                                                                                    \
                 : "memory");                                                                                         \
    *pred = (int)p;                                                                                                   \
    return r;                                                                                                         \
  }
KUDZU_MATCH_ALL(__kudzu_match_all32, "b32", unsigned int, "r")
KUDZU_MATCH_ALL(__kudzu_match_all64, "b64", unsigned long long, "l")
#undef KUDZU_MATCH_ALL
#define KUDZU_MATCH(T, n, bits)                                                                                       \
  KUDZU_D unsigned int __match_any_sync(unsigned int mask, T v) { return __kudzu_match_any##n(mask, bits); }          \
  KUDZU_D unsigned int __match_all_sync(unsigned int mask, T v, int *pred) {                                          \
    return __kudzu_match_all##n(mask, bits, pred);                                                                    \
  }
KUDZU_MATCH(unsigned int, 32, v)
KUDZU_MATCH(int, 32, (unsigned int)v)
KUDZU_MATCH(float, 32, __float_as_uint(v))
KUDZU_MATCH(unsigned long long, 64, v)
KUDZU_MATCH(long long, 64, (unsigned long long)v)
KUDZU_MATCH(unsigned long, 64, v)
KUDZU_MATCH(long, 64, (unsigned long long)v)
KUDZU_MATCH(double, 64, (unsigned long long)__double_as_longlong(v))
#undef KUDZU_MATCH

#define KUDZU_REDUCE(name, insn, T)                                                                                   \
  KUDZU_D T name(unsigned int mask, T v) {                                                                            \
    T r;                                                                                                              \
    asm volatile("redux.sync." insn " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask) : "memory");                         \
    return r;                                                                                                         \
  }
KUDZU_REDUCE(__reduce_add_sync, "add.u32", unsigned int)
KUDZU_REDUCE(__reduce_add_sync, "add.s32", int)
KUDZU_REDUCE(__reduce_min_sync, "min.u32", unsigned int)
KUDZU_REDUCE(__reduce_min_sync, "min.s32", int)
KUDZU_REDUCE(__reduce_max_sync, "max.u32", unsigned int)
KUDZU_REDUCE(__reduce_max_sync, "max.s32", int)
KUDZU_REDUCE(__reduce_and_sync, "and.b32", unsigned int)
KUDZU_REDUCE(__reduce_or_sync, "or.b32", unsigned int)
KUDZU_REDUCE(__reduce_xor_sync, "xor.b32", unsigned int)
#undef KUDZU_REDUCE

#endif
