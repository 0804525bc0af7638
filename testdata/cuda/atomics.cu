// test<<<1,32>>>(o[64]u64)
// Each atomic function in each scope: what it returns and what it leaves, by one thread; then by a warp in shared memory.
#include "check.h"

#define ONE(f, T, before, arg, after)                                                                                 \
  do {                                                                                                                \
    T *p = (T *)&cell;                                                                                                \
    *p = before;                                                                                                      \
    EQ(f(p, (T)(arg)), (T)(before));                                                                                  \
    EQ(*p, (T)(after));                                                                                               \
  } while (0)
#define SCOPES(f, T, before, arg, after)                                                                              \
  ONE(f, T, before, arg, after);                                                                                      \
  ONE(f##_block, T, before, arg, after);                                                                              \
  ONE(f##_system, T, before, arg, after)
#define CAS(f, T)                                                                                                     \
  do {                                                                                                                \
    T *p = (T *)&cell;                                                                                                \
    *p = 5;                                                                                                           \
    EQ(f(p, (T)4, (T)9), (T)5);                                                                                       \
    EQ(*p, (T)5);                                                                                                     \
    EQ(f(p, (T)5, (T)9), (T)5);                                                                                       \
    EQ(*p, (T)9);                                                                                                     \
  } while (0)
#define CASES(T)                                                                                                      \
  CAS(atomicCAS, T);                                                                                                  \
  CAS(atomicCAS_block, T);                                                                                            \
  CAS(atomicCAS_system, T)

__device__ u64 cell;
__device__ float4 wide;

static __device__ void alone(const Checks &check) {
  SCOPES(atomicAdd, int, -1, 3, 2);
  SCOPES(atomicAdd, u32, 0xffffffffu, 3, 2);
  SCOPES(atomicAdd, u64, ~0ull, 3, 2);
  SCOPES(atomicAdd, float, 1.5f, 0.25f, 1.75f);
  SCOPES(atomicAdd, double, 1.5, 0.25, 1.75);
  SCOPES(atomicSub, int, -1, 3, -4);
  SCOPES(atomicSub, u32, 2u, 3, 0xffffffffu);
  SCOPES(atomicExch, int, -1, 3, 3);
  SCOPES(atomicExch, u32, 7u, 3, 3);
  SCOPES(atomicExch, u64, 7ull, 3, 3);
  SCOPES(atomicExch, float, 1.5f, 0.25f, 0.25f);
  SCOPES(atomicMin, int, 4, -3, -3);
  SCOPES(atomicMin, u32, 4u, 0xfffffff0u, 4u);
  SCOPES(atomicMin, long long, 4ll, -3, -3);
  SCOPES(atomicMin, u64, 4ull, 3, 3);
  SCOPES(atomicMax, int, -4, 3, 3);
  SCOPES(atomicMax, u32, 4u, 0xfffffff0u, 0xfffffff0u);
  SCOPES(atomicMax, long long, -4ll, 3, 3);
  SCOPES(atomicMax, u64, ~0ull, 3, ~0ull);
  SCOPES(atomicInc, u32, 4u, 5, 5);
  SCOPES(atomicInc, u32, 5u, 5, 0);
  SCOPES(atomicDec, u32, 4u, 5, 3);
  SCOPES(atomicDec, u32, 0u, 5, 5);
  SCOPES(atomicAnd, int, 12, 10, 8);
  SCOPES(atomicAnd, u32, 12u, 10, 8);
  SCOPES(atomicAnd, u64, 12ull << 40, 10ull << 40, 8ull << 40);
  SCOPES(atomicOr, int, 12, 10, 14);
  SCOPES(atomicOr, u32, 12u, 10, 14);
  SCOPES(atomicOr, u64, 12ull << 40, 10ull << 40, 14ull << 40);
  SCOPES(atomicXor, int, 12, 10, 6);
  SCOPES(atomicXor, u32, 12u, 10, 6);
  SCOPES(atomicXor, u64, 12ull << 40, 10ull << 40, 6ull << 40);
  CASES(int);
  CASES(u32);
  CASES(u64);
  CAS(atomicCAS, unsigned short);
#ifdef KUDZU_PRELUDE_H // NVIDIA's headers have no scopes for it
  CAS(atomicCAS_block, unsigned short);
  CAS(atomicCAS_system, unsigned short);
#endif
  wide = make_float4(1, 2, 3, 4);
  float4 before = atomicAdd(&wide, make_float4(10, 20, 30, 40));
  EQ(before.x + before.y + before.z + before.w, 10.0f);
  EQ(wide.x + wide.w, 55.0f);
  float2 half = atomicAdd((float2 *)&wide, make_float2(100, 200));
  EQ(half.y, 22.0f);
  EQ(wide.y, 222.0f);
}

TEST() {
  if (threadIdx.x == 0) alone(check);
  __shared__ int sum, low;
  __shared__ float fsum;
  if (threadIdx.x == 0) sum = 0, low = 99, fsum = 0;
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  atomicMin(&low, (int)threadIdx.x + 3);
  atomicAdd(&fsum, 0.5f);
  for (int seen = 0;;) { // a lock-free maximum by compare and swap
    int was = atomicCAS(&low, seen, seen);
    if (was == seen) break;
    seen = was;
  }
  __syncthreads();
  EQ(sum, 496);
  EQ(low, 3);
  EQ(fsum, 16.0f);
}
