/* What the rows of real programs need beside device.h: warp votes, integers of 64 bits, floats in atomics. */
#pragma once
#include "device.h"
#ifdef __OPENCL_VERSION__
#define ROUND(x) rint(x)
#define CLZ(x) ((int)clz(x))
#define POPC(x) ((int)popcount(x))
#define SYNC_WARP SYNC
/* Values of 64 bits that other blocks wait for. */
#define PUBLISH(p, v) (*(volatile GLOBAL ulong *)(p) = (v))
#define WATCH(p) (*(volatile GLOBAL const ulong *)(p))
#else
typedef unsigned long long ulong;
typedef float float4 __attribute__((ext_vector_type(4)));
#define ROUND(x) __builtin_rintf(x)
#define CLZ(x) __builtin_clz((uint)(x))
#define POPC(x) __builtin_popcount(x)
#define PUBLISH(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define WATCH(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#ifdef __AMDGCN__
#define BALLOT(p) ((uint)__builtin_amdgcn_ballot_w32(p))
#define SHFL_I(v, l) lane_read(v, l)
#else
#define BALLOT(p) ((uint)__nvvm_vote_ballot_sync(0xffffffffu, (p)))
#define SYNC_WARP __nvvm_bar_warp_sync(0xffffffffu)
#define MATCH(v) ((uint)__nvvm_match_any_sync_i32(0xffffffffu, (v)))
#define SHFL_I(v, l) __nvvm_shfl_sync_idx_i32(0xffffffffu, v, l, 31)
#endif
#endif
