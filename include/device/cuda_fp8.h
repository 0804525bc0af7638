// Floats of 8 bits: E4M3, E5M2, and the powers of two E8M0.
#ifndef KUDZU_CUDA_FP8_H
#define KUDZU_CUDA_FP8_H
#pragma GCC system_header

#define __CUDA_FP8_TYPES_EXIST__
#define __CUDA_FP8_H__

#include "kudzu/small.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

KUDZU_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  bool finite = s == __NV_SATFINITE;
  return f == __NV_E4M3 ? __kudzu::e4m3::of(x, finite) : __kudzu::e5m2::of(x, finite);
}
KUDZU_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2 x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return (unsigned short)(__nv_cvt_double_to_fp8(x.x, s, f) | __nv_cvt_double_to_fp8(x.y, s, f) << 8);
}
KUDZU_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  if (s == __NV_SATFINITE) {
    unsigned short r;
    if (f == __NV_E4M3)
      asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(x.y), "f"(x.x));
    else
      asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(x.y), "f"(x.x));
    return r;
  }
#endif
  return __nv_cvt_double2_to_fp8x2(double2{x.x, x.y}, s, f);
}
KUDZU_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t s, __nv_fp8_interpretation_t f) {
  return (unsigned char)__nv_cvt_float2_to_fp8x2(float2{x, 0}, s, f);
}
#define KUDZU_FP8_FROM(raw, T)                                                                                        \
  KUDZU_HD __nv_fp8_storage_t __nv_cvt_##raw##raw_to_fp8(__##T##_raw x, __nv_saturation_t s,                          \
                                                         __nv_fp8_interpretation_t f) {                               \
    return __nv_cvt_float_to_fp8((float)__##T(x), s, f);                                                              \
  }                                                                                                                   \
  KUDZU_HD __nv_fp8x2_storage_t __nv_cvt_##raw##raw2_to_fp8x2(__##T##2_raw x, __nv_saturation_t s,                    \
                                                              __nv_fp8_interpretation_t f) {                          \
    __##T##2 h(x);                                                                                                    \
    return __nv_cvt_float2_to_fp8x2(float2{(float)h.x, (float)h.y}, s, f);                                            \
  }
KUDZU_FP8_FROM(half, half)
KUDZU_FP8_FROM(bfloat16, nv_bfloat16)
#undef KUDZU_FP8_FROM
KUDZU_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t f) {
  return __half(f == __NV_E4M3 ? __kudzu::e4m3::value(x) : __kudzu::e5m2::value(x));
}
KUDZU_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x, __nv_fp8_interpretation_t f) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((unsigned char)x, f).x, __nv_cvt_fp8_to_halfraw((unsigned char)(x >> 8), f).x};
}

KUDZU_SMALL1(__nv_fp8_e4m3, __nv_fp8_storage_t, e4m3)
KUDZU_SMALL2(__nv_fp8x2_e4m3, __nv_fp8x2_storage_t, e4m3, 8)
KUDZU_SMALL4(__nv_fp8x4_e4m3, __nv_fp8x4_storage_t, e4m3, 8)
KUDZU_SMALL1(__nv_fp8_e5m2, __nv_fp8_storage_t, e5m2)
KUDZU_SMALL2(__nv_fp8x2_e5m2, __nv_fp8x2_storage_t, e5m2, 8)
KUDZU_SMALL4(__nv_fp8x4_e5m2, __nv_fp8x4_storage_t, e5m2, 8)

// E8M0 is 2^(bits - 127); 255 is NaN. There is no sign and no zero: what is smaller is 2^-127.
KUDZU_HD __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t s, cudaRoundMode mode) {
  if (x != x) return 255;
  unsigned long long b = __builtin_bit_cast(unsigned long long, x) & 0x7fffffffffffffffull;
  int e = (int)(b >> 52) - 1023;
  bool above = (b & 0xfffffffffffffull) != 0;
  if (mode == cudaRoundPosInf && above && e >= -127) e++;
  if (mode == cudaRoundNearest && (b & 0x8000000000000ull)) e++;
  if (e > 127) return s == __NV_SATFINITE ? 254 : 255;
  return e < -127 ? 0 : (unsigned char)(e + 127);
}
KUDZU_HD __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t s, cudaRoundMode mode) {
  return __nv_cvt_double_to_e8m0(x, s, mode);
}
KUDZU_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t s, cudaRoundMode mode) {
  return __nv_cvt_double_to_e8m0((float)__nv_bfloat16(x), s, mode);
}
KUDZU_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2 x, __nv_saturation_t s, cudaRoundMode mode) {
  return (unsigned short)(__nv_cvt_float_to_e8m0(x.x, s, mode) | __nv_cvt_float_to_e8m0(x.y, s, mode) << 8);
}
KUDZU_HD __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(double2 x, __nv_saturation_t s, cudaRoundMode mode) {
  return (unsigned short)(__nv_cvt_double_to_e8m0(x.x, s, mode) | __nv_cvt_double_to_e8m0(x.y, s, mode) << 8);
}
KUDZU_HD __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  unsigned short b = x == 255 ? 0x7fff : x == 0 ? 0x40 : (unsigned short)(x << 7); // 2^-127 is a subnormal bfloat16
  return __nv_bfloat16_raw{b};
}
struct __nv_fp8_e8m0 {
  __nv_fp8_storage_t __x;
  __nv_fp8_e8m0() = default;
  explicit __host__ __device__ __nv_fp8_e8m0(float v) : __x(__nv_cvt_float_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  explicit __host__ __device__ __nv_fp8_e8m0(double v) : __x(__nv_cvt_double_to_e8m0(v, __NV_SATFINITE, cudaRoundPosInf)) {}
  explicit __host__ __device__ __nv_fp8_e8m0(__half v) : __nv_fp8_e8m0((float)v) {}
  explicit __host__ __device__ __nv_fp8_e8m0(__nv_bfloat16 v) : __nv_fp8_e8m0((float)v) {}
  explicit __host__ __device__ operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
  explicit __host__ __device__ operator float() const { return (float)__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
  explicit __host__ __device__ operator double() const { return (float)*this; }
  explicit __host__ __device__ operator bool() const { return true; }
};

#endif
