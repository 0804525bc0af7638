// Floats of 6 bits: E3M2 and E2M3, each in a byte.
#ifndef KUDZU_CUDA_FP6_H
#define KUDZU_CUDA_FP6_H
#pragma GCC system_header

#define __CUDA_FP6_TYPES_EXIST__
#define __CUDA_FP6_H__

#include "cuda_fp8.h"

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };

KUDZU_HD __nv_fp6_storage_t __nv_cvt_double_to_fp6(double x, __nv_fp6_interpretation_t f, cudaRoundMode m) {
  return f == __NV_E2M3 ? __kudzu::e2m3::of(x, true, __kudzu::mode_of(m)) : __kudzu::e3m2::of(x, true, __kudzu::mode_of(m));
}
KUDZU_HD __half_raw __nv_cvt_fp6_to_halfraw(__nv_fp6_storage_t x, __nv_fp6_interpretation_t f) {
  return __half(f == __NV_E2M3 ? __kudzu::e2m3::value(x) : __kudzu::e3m2::value(x));
}
KUDZU_HD __half2_raw __nv_cvt_fp6x2_to_halfraw2(__nv_fp6x2_storage_t x, __nv_fp6_interpretation_t f) {
  return __half2_raw{__nv_cvt_fp6_to_halfraw((unsigned char)x, f).x, __nv_cvt_fp6_to_halfraw((unsigned char)(x >> 8), f).x};
}
#define KUDZU_FROM(name, T, value)                                                                                    \
  KUDZU_HD __nv_fp6_storage_t __nv_cvt_##name##_to_fp6(T x, __nv_fp6_interpretation_t f, cudaRoundMode m) {           \
    return __nv_cvt_double_to_fp6(value, f, m);                                                                       \
  }
#define KUDZU_FROM2(name, T, a, b)                                                                                    \
  KUDZU_HD __nv_fp6x2_storage_t __nv_cvt_##name##_to_fp6x2(T x, __nv_fp6_interpretation_t f, cudaRoundMode m) {       \
    return (unsigned short)(__nv_cvt_double_to_fp6(a, f, m) | __nv_cvt_double_to_fp6(b, f, m) << 8);                  \
  }
KUDZU_FROM(float, float, x)
KUDZU_FROM(halfraw, __half_raw, (float)__half(x))
KUDZU_FROM(bfloat16raw, __nv_bfloat16_raw, (float)__nv_bfloat16(x))
KUDZU_FROM2(float2, float2, x.x, x.y)
KUDZU_FROM2(double2, double2, x.x, x.y)
KUDZU_FROM2(halfraw2, __half2_raw, (float)__half(__half_raw{x.x}), (float)__half(__half_raw{x.y}))
KUDZU_FROM2(bfloat16raw2, __nv_bfloat162_raw, (float)__nv_bfloat16(__nv_bfloat16_raw{x.x}),
            (float)__nv_bfloat16(__nv_bfloat16_raw{x.y}))
#undef KUDZU_FROM
#undef KUDZU_FROM2

KUDZU_SMALL1(__nv_fp6_e2m3, __nv_fp6_storage_t, e2m3)
KUDZU_SMALL2(__nv_fp6x2_e2m3, __nv_fp6x2_storage_t, e2m3, 8)
KUDZU_SMALL4(__nv_fp6x4_e2m3, __nv_fp6x4_storage_t, e2m3, 8)
KUDZU_SMALL1(__nv_fp6_e3m2, __nv_fp6_storage_t, e3m2)
KUDZU_SMALL2(__nv_fp6x2_e3m2, __nv_fp6x2_storage_t, e3m2, 8)
KUDZU_SMALL4(__nv_fp6x4_e3m2, __nv_fp6x4_storage_t, e3m2, 8)

#endif
