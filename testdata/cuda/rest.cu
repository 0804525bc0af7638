// test<<<1,32>>>(o[64]u64)
// Functions that no other source here calls: comparisons and functions of halves, conversions to small floats, makers of vectors,
// products of integers, classes of floats.
#include <cuda_awbarrier_primitives.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include "check.h"

template <class H> struct Kind;
template <> struct Kind<__half> {
  typedef __half2 pair;
  static __device__ __half of(float f) { return __float2half(f); }
  static __device__ int bits(__half h) { return __half_as_short(h); }
  static __device__ __half from(short s) { return __short_as_half(s); }
};
template <> struct Kind<__nv_bfloat16> {
  typedef __nv_bfloat162 pair;
  static __device__ __nv_bfloat16 of(float f) { return __float2bfloat16(f); }
  static __device__ int bits(__nv_bfloat16 h) { return __bfloat16_as_short(h); }
  static __device__ __nv_bfloat16 from(short s) { return __short_as_bfloat16(s); }
};
static __device__ __half2 both(__half a, __half b) { return __halves2half2(a, b); }
static __device__ __nv_bfloat162 both(__nv_bfloat16 a, __nv_bfloat16 b) { return __halves2bfloat162(a, b); }

template <class H> static __device__ void halves(const Checks &check, float nan) {
  typedef Kind<H> K;
  auto h = [](float f) { return K::of(f); };
  EQ(K::bits(K::from(0x3c80)), 0x3c80);
  auto a = both(h(1), h(3)), b = both(h(2), h(3)), c = both(h(2), h(4)), n = both(h(nan), h(4));
#define COMPARE(name, ab, ac, ca, aa, na, mask)                                                                       \
  EQ(__hb##name##2(a, b), ab);                                                                                        \
  EQ(__hb##name##2(a, c), ac);                                                                                        \
  EQ(__hb##name##2(c, a), ca);                                                                                        \
  EQ(__hb##name##2(a, a), aa);                                                                                        \
  EQ(__hb##name##2(n, a), na);                                                                                        \
  EQ(__h##name##2_mask(a, b), mask)
  COMPARE(ne, false, true, true, false, false, 0x0000ffffu);
  COMPARE(le, true, true, false, true, false, 0xffffffffu);
  COMPARE(ge, false, false, true, true, false, 0xffff0000u);
  COMPARE(gt, false, false, true, false, false, 0u);
  COMPARE(equ, false, false, false, true, false, 0xffff0000u);
  COMPARE(neu, false, true, true, false, true, 0x0000ffffu);
  COMPARE(leu, true, true, false, true, false, 0xffffffffu);
  COMPARE(geu, false, false, true, true, true, 0xffff0000u);
  COMPARE(ltu, false, true, false, false, false, 0x0000ffffu);
  COMPARE(gtu, false, false, true, false, true, 0u);
#undef COMPARE
  // What is exact in every format, and one number to a unit in the last place.
#define FUNCTION(name, arg, want, some)                                                                               \
  do {                                                                                                                \
    EQ(K::bits(h##name(h(arg))), K::bits(h(want)));                                                                   \
    auto p = h2##name(both(h(arg), h(0.75f)));                                                                        \
    EQ(K::bits(p.x), K::bits(h(want)));                                                                               \
    int got = K::bits(p.y), ref = K::bits(h(some));                                                                   \
    EQ(K::bits(h##name(h(0.75f))), got);                                                                              \
    TRUE(got - ref <= 1 && ref - got <= 1);                                                                           \
  } while (0)
  FUNCTION(exp, 0.f, 1.f, 2.11700002f);
  FUNCTION(exp2, 3.f, 8.f, 1.68179283f);
  FUNCTION(exp10, 2.f, 100.f, 5.62341325f);
  FUNCTION(log, 1.f, 0.f, -0.28768207f);
  FUNCTION(log2, 8.f, 3.f, -0.415037499f);
  FUNCTION(log10, 100.f, 2.f, -0.124938737f);
  FUNCTION(cos, 0.f, 1.f, 0.731688869f);
  FUNCTION(sin, 0.f, 0.f, 0.681638760f);
  FUNCTION(rcp, 4.f, 0.25f, 1.33333333f);
  FUNCTION(rsqrt, 4.f, 0.5f, 1.15470054f);
  FUNCTION(ceil, 1.5f, 2.f, 1.f);
  FUNCTION(floor, 1.5f, 1.f, 0.f);
  FUNCTION(trunc, -1.5f, -1.f, 0.f);
  FUNCTION(rint, 2.5f, 2.f, 1.f);
  FUNCTION(tanh, 0.f, 0.f, 0.635148952f);
#undef FUNCTION
}

static __device__ void smalls(const Checks &check, float one) {
  __half_raw h = __half_raw(__float2half(1.5f * one)), g = __half_raw(__float2half(-3.f * one));
  __half2_raw hh = __half2_raw(__floats2half2_rn(1.5f * one, -3.f));
  __nv_bfloat16_raw f = __nv_bfloat16_raw(__float2bfloat16(1.5f * one));
  __nv_bfloat162_raw ff = __nv_bfloat162_raw(__floats2bfloat162_rn(1.5f * one, -3.f));
  double2 dd = make_double2(1.5 * one, -3);
  // e2m1: 1.5 is 3, -3 is 13. e2m3: 1.5 is 12, -3 is 52. e3m2: 1.5 is 14, -3 is 50.
  EQ((int)__nv_cvt_halfraw_to_fp4(h, __NV_E2M1, cudaRoundNearest), 3);
  EQ((int)__nv_cvt_bfloat16raw_to_fp4(f, __NV_E2M1, cudaRoundNearest), 3);
  EQ((int)__nv_cvt_double_to_fp4(1.5 * one, __NV_E2M1, cudaRoundNearest), 3);
  EQ((int)__nv_cvt_halfraw2_to_fp4x2(hh, __NV_E2M1, cudaRoundNearest), 0xd3);
  EQ((int)__nv_cvt_bfloat16raw2_to_fp4x2(ff, __NV_E2M1, cudaRoundNearest), 0xd3);
  EQ((int)__nv_cvt_double2_to_fp4x2(dd, __NV_E2M1, cudaRoundNearest), 0xd3);
  EQ(__nv_cvt_fp4_to_halfraw(13, __NV_E2M1).x, g.x);
  EQ((int)__nv_cvt_halfraw_to_fp6(g, __NV_E2M3, cudaRoundNearest), 52);
  EQ((int)__nv_cvt_bfloat16raw_to_fp6(f, __NV_E3M2, cudaRoundNearest), 14);
  EQ((int)__nv_cvt_double_to_fp6(1.5 * one, __NV_E2M3, cudaRoundNearest), 12);
  EQ((int)__nv_cvt_halfraw2_to_fp6x2(hh, __NV_E2M3, cudaRoundNearest), 52 << 8 | 12);
  EQ((int)__nv_cvt_bfloat16raw2_to_fp6x2(ff, __NV_E3M2, cudaRoundNearest), 50 << 8 | 14);
  EQ((int)__nv_cvt_double2_to_fp6x2(dd, __NV_E3M2, cudaRoundNearest), 50 << 8 | 14);
  __half2_raw back = __nv_cvt_fp6x2_to_halfraw2(52 << 8 | 12, __NV_E2M3);
  EQ(back.x, h.x);
  EQ(back.y, g.x);
  // e8m0: the exponent with 127 added.
  EQ((int)__nv_cvt_bfloat16raw_to_e8m0(f, __NV_SATFINITE, cudaRoundZero), 127);
  EQ((int)__nv_cvt_bfloat16raw_to_e8m0(f, __NV_SATFINITE, cudaRoundPosInf), 128);
  EQ((int)__nv_cvt_double_to_e8m0(8.0 * one, __NV_SATFINITE, cudaRoundZero), 130);
  EQ((int)__nv_cvt_float2_to_e8m0x2(make_float2(0.5f * one, 4), __NV_SATFINITE, cudaRoundZero), 129 << 8 | 126);
  EQ((int)__nv_cvt_double2_to_e8m0x2(make_double2(0.5 * one, 5), __NV_SATFINITE, cudaRoundPosInf), 130 << 8 | 126);
}

template <class V> static __device__ u64 sum(V v, int n) {
  auto *p = &v.x;
  u64 s = 0;
  for (int i = 0; i < n; i++) s += (u64)p[i] * (i + 1);
  return s;
}

static __device__ void vectors(const Checks &check) {
#define MAKE(T)                                                                                                       \
  EQ(sum(make_##T##1(7), 1), 7);                                                                                      \
  EQ(sum(make_##T##2(7, 5), 2), 17);                                                                                  \
  EQ(sum(make_##T##3(7, 5, 3), 3), 26);                                                                               \
  EQ(sum(make_##T##4(7, 5, 3, 2), 4), 34)
  MAKE(char); MAKE(uchar); MAKE(short); MAKE(ushort); MAKE(int); MAKE(uint); MAKE(long); MAKE(ulong); MAKE(longlong); MAKE(ulonglong);
  MAKE(float); MAKE(double);
#undef MAKE
}

// Fields of a byte's and a word's memory, and a barrier in shared memory with one thread less after the first phase.
__shared__ __mbarrier_t barrier_;
__shared__ unsigned char room[64];

TEST() {
  const float one = (float)(blockDim.x / 32), nan = __int_as_float(0x7fc00000 + (int)blockDim.x / 64);
  const unsigned k = blockDim.x / 32;
  if (threadIdx.x == 0) {
    halves<__half>(check, nan);
    halves<__nv_bfloat16>(check, nan);
    smalls(check, one);
    vectors(check);
#ifdef KUDZU_D // what nvcc 13 does not have, or not on the device
    EQ(mul24(-5 * (int)k, 7), -35);
    EQ(umul24(0xffffffu * k, 3), 0x2fffffdu);
    EQ(mulhi(-2 * (int)k, 0x40000000), -1);
    EQ(umulhi(0xffffffffu * k, 0x80000000u), 0x7fffffffu);
    EQ(mul64hi(-2ll * k, 0x4000000000000000ll), -1ll);
    EQ(umul64hi(~0ull * k, 1ull << 63), ~0ull >> 1);
    memset(room, 5, 64);
    for (int i = 0; i < 8; i++) room[i] = i + 1;
    memmove(room + 3, room, 8);
    EQ(room[2] * 10000 + room[3] * 1000 + room[10] * 10 + room[11], 3 * 10000 + 1000 + 80 + 5);
#endif
    __mbarrier_init(&barrier_, 32);
  }
  __syncwarp();
  __mbarrier_token_t t = threadIdx.x == 31 ? __mbarrier_arrive_and_drop(&barrier_) : __mbarrier_arrive(&barrier_);
  TRUE(__mbarrier_token_pending_count(t) >= 1 && __mbarrier_token_pending_count(t) <= 32);
  while (!__mbarrier_try_wait(&barrier_, t, 1000)) {
  }
  if (threadIdx.x != 31) {
    t = __mbarrier_arrive(&barrier_);
    while (!__mbarrier_try_wait_parity(&barrier_, true, 1000)) {
    }
  }
  __syncwarp();
  if (threadIdx.x == 0) TRUE(__mbarrier_try_wait(&barrier_, t, 0));
}
