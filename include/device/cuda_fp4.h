// Floats of 4 bits: E2M1, two in a byte.
#ifndef KUDZU_CUDA_FP4_H
#define KUDZU_CUDA_FP4_H
#pragma GCC system_header

#define __CUDA_FP4_TYPES_EXIST__
#define __CUDA_FP4_H__

#include "cuda_fp6.h"

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };

KUDZU_HD __nv_fp4_storage_t __nv_cvt_double_to_fp4(double x, __nv_fp4_interpretation_t, cudaRoundMode m) {
  return __kudzu::e2m1::of(x, true, __kudzu::mode_of(m));
}
KUDZU_HD __half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t x, __nv_fp4_interpretation_t) {
  return __half(__kudzu::e2m1::value(x & 15));
}
KUDZU_HD __half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t x, __nv_fp4_interpretation_t f) {
  return __half2_raw{__nv_cvt_fp4_to_halfraw(x & 15, f).x, __nv_cvt_fp4_to_halfraw(x >> 4, f).x};
}
#define KUDZU_FROM(name, T, value)                                                                                    \
  KUDZU_HD __nv_fp4_storage_t __nv_cvt_##name##_to_fp4(T x, __nv_fp4_interpretation_t f, cudaRoundMode m) {           \
    return __nv_cvt_double_to_fp4(value, f, m);                                                                       \
  }
#define KUDZU_FROM2(name, T, a, b)                                                                                    \
  KUDZU_HD __nv_fp4x2_storage_t __nv_cvt_##name##_to_fp4x2(T x, __nv_fp4_interpretation_t f, cudaRoundMode m) {       \
    return (unsigned char)(__nv_cvt_double_to_fp4(a, f, m) | __nv_cvt_double_to_fp4(b, f, m) << 4);                  \
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

KUDZU_SMALL1(__nv_fp4_e2m1, __nv_fp4_storage_t, e2m1)
KUDZU_SMALL2(__nv_fp4x2_e2m1, __nv_fp4x2_storage_t, e2m1, 4)
KUDZU_SMALL4(__nv_fp4x4_e2m1, __nv_fp4x4_storage_t, e2m1, 4)

#endif
