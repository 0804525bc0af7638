// test<<<1,64>>>(o[64]u64)
// cuda_fp8.h, cuda_fp6.h, cuda_fp4.h: every value of each format, and what lies between two of them.
#include <cuda_fp8.h>
#include <cuda_fp6.h>
#include <cuda_fp4.h>
#include "check.h"

// The value of a code by the format's definition.
static __device__ double value(int e_bits, int m_bits, u32 code) {
  int bias = (1 << (e_bits - 1)) - 1;
  u32 e = code >> m_bits & ((1u << e_bits) - 1), m = code & ((1u << m_bits) - 1);
  double v = e ? (double)(m | 1u << m_bits) : (double)m;
  int k = (e ? (int)e : 1) - bias - m_bits;
  for (; k > 0; k--) v *= 2;
  for (; k < 0; k++) v *= 0.5;
  return code >> (e_bits + m_bits) & 1 ? -v : v;
}

// F converts a double and a code; codes up to `largest` are finite.
template <class F> static __device__ void format(const Checks &check, int e_bits, int m_bits, u32 largest, F f) {
  u32 sign = 1u << (e_bits + m_bits);
  for (u32 c = threadIdx.x; c <= largest; c += blockDim.x) {
    double v = value(e_bits, m_bits, c);
    EQ(f.back(c), (float)v);
    EQ(f.back(c | sign), (float)-v);
    EQ(f.of(v), c);
    EQ(f.of(-v), c | sign);
    if (c == largest) continue;
    double next = value(e_bits, m_bits, c + 1), middle = (v + next) / 2;
    EQ(f.of(middle), c & 1 ? c + 1 : c);
    EQ(f.of(middle * 1.0000001), c + 1);
    EQ(f.of(middle * 0.9999999), c);
    EQ(f.of(-middle * 1.0000001), (c + 1) | sign);
  }
  if (threadIdx.x == 0) {
    EQ(f.of(1e30), largest);
    EQ(f.of(-1e30), largest | sign);
  }
}

#define FORMAT(Name, e, m, largest)                                                                                   \
  struct F_##Name {                                                                                                   \
    __device__ u32 of(double d) const { return Name(d).__x; }                                                         \
    __device__ float back(u32 c) const {                                                                              \
      Name v;                                                                                                         \
      v.__x = (unsigned char)c;                                                                                       \
      return (float)v;                                                                                                \
    }                                                                                                                 \
  };                                                                                                                  \
  static __device__ void test_##Name(const Checks &check) { format(check, e, m, largest, F_##Name()); }
FORMAT(__nv_fp8_e4m3, 4, 3, 0x7e)
FORMAT(__nv_fp8_e5m2, 5, 2, 0x7b)
FORMAT(__nv_fp6_e3m2, 3, 2, 0x1f)
FORMAT(__nv_fp6_e2m3, 2, 3, 0x1f)
FORMAT(__nv_fp4_e2m1, 2, 1, 0x07)

static __device__ void names(const Checks &check, float one) {
  const float inf = __int_as_float(0x7f800000) * one, nan = __int_as_float(0x7fc00000) * one;
  EQ(__nv_cvt_float_to_fp8(1.0f * one, __NV_SATFINITE, __NV_E4M3), 0x38);
  EQ(__nv_cvt_float_to_fp8(1000 * one, __NV_SATFINITE, __NV_E4M3), 0x7e);
  EQ(__nv_cvt_float_to_fp8(1000 * one, __NV_NOSAT, __NV_E4M3), 0x7f);
  EQ(__nv_cvt_float_to_fp8(-inf, __NV_NOSAT, __NV_E4M3), 0xff);
  EQ(__nv_cvt_float_to_fp8(-inf, __NV_SATFINITE, __NV_E4M3), 0xfe);
  EQ(__nv_cvt_float_to_fp8(nan, __NV_SATFINITE, __NV_E4M3), 0x7f);
  EQ(__nv_cvt_float_to_fp8(1e6f * one, __NV_NOSAT, __NV_E5M2), 0x7c);
  EQ(__nv_cvt_float_to_fp8(1e6f * one, __NV_SATFINITE, __NV_E5M2), 0x7b);
  EQ(__nv_cvt_double_to_fp8(-1.5 * one, __NV_SATFINITE, __NV_E5M2), 0xbe);
  EQ(__nv_cvt_float2_to_fp8x2(make_float2(1.0f * one, -2.0f), __NV_SATFINITE, __NV_E4M3), 0xc038);
  EQ(__nv_cvt_double2_to_fp8x2(make_double2(1.0 * one, -2.0), __NV_NOSAT, __NV_E4M3), 0xc038);
  EQ(__nv_cvt_halfraw_to_fp8(__half(0.5f * one), __NV_SATFINITE, __NV_E4M3), 0x30);
  EQ(__nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16(0.5f * one), __NV_SATFINITE, __NV_E5M2), 0x38);
  EQ(__nv_cvt_halfraw2_to_fp8x2(__half2(__half(0.5f * one), __half(1.0f)), __NV_SATFINITE, __NV_E4M3), 0x3830);
  EQ(__nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162(__nv_bfloat16(0.5f * one), __nv_bfloat16(1.0f)), __NV_SATFINITE, __NV_E4M3),
     0x3830);
  EQ(__nv_cvt_fp8_to_halfraw(0x38, __NV_E4M3).x, 0x3c00);
  EQ(__nv_cvt_fp8_to_halfraw(0xfc, __NV_E5M2).x, 0xfc00);
  EQ(__nv_cvt_fp8x2_to_halfraw2(0xc038, __NV_E4M3).y, 0xc000);
  EQ(__nv_fp8x4_e4m3(make_float4(1.0f * one, -2.0f, 0.5f, 448.0f)).__x, 0x7e30c038u);
  float4 four = (float4)__nv_fp8x4_e5m2(make_float4(1.0f * one, -2.0f, 0.5f, 3.0f));
  EQ(four.x + four.y + four.z + four.w, 2.5f);
  EQ(((float2)__nv_fp8x2_e4m3(make_float2(3.0f * one, -2.0f))).y, -2.0f);
  EQ((int)__nv_fp8_e4m3(-3.5f * one), -3);
  EQ((float)(__half)__nv_fp8_e5m2(-3.5f * one), -3.5f);
  EQ(__nv_cvt_float_to_e8m0(1.0f * one, __NV_SATFINITE, cudaRoundPosInf), 127);
  EQ(__nv_cvt_float_to_e8m0(1.5f * one, __NV_SATFINITE, cudaRoundPosInf), 128);
  EQ(__nv_cvt_float_to_e8m0(1.5f * one, __NV_SATFINITE, cudaRoundZero), 127);
  EQ(__nv_cvt_float_to_e8m0(nan, __NV_SATFINITE, cudaRoundZero), 255);
  EQ(__nv_cvt_e8m0_to_bf16raw(128).x, 0x4000);
  EQ(__nv_cvt_float_to_fp6(1.0f * one, __NV_E2M3, cudaRoundNearest), 0x08);
  EQ(__nv_cvt_float_to_fp6(1.0f * one, __NV_E3M2, cudaRoundNearest), 0x0c);
  EQ(__nv_cvt_float_to_fp6(nan, __NV_E3M2, cudaRoundNearest), 0x1f);
  EQ(__nv_cvt_float2_to_fp6x2(make_float2(1.0f * one, -1.0f), __NV_E2M3, cudaRoundNearest), 0x2808);
  EQ(__nv_cvt_fp6_to_halfraw(0x08, __NV_E2M3).x, 0x3c00);
  EQ(__nv_cvt_float_to_fp4(5.0f * one, __NV_E2M1, cudaRoundNearest), 0x6);
  EQ(__nv_cvt_float2_to_fp4x2(make_float2(1.0f * one, -6.0f), __NV_E2M1, cudaRoundNearest), 0xf2);
  EQ(__nv_cvt_fp4x2_to_halfraw2(0xf2, __NV_E2M1).y, 0xc600);
  EQ(__nv_fp4x4_e2m1(make_float4(1.0f * one, 2, 3, 4)).__x, 0x6542);
}

TEST() {
  volatile float one = 1;
  if (threadIdx.x == 0) names(check, one);
  test___nv_fp8_e4m3(check);
  test___nv_fp8_e5m2(check);
  test___nv_fp6_e3m2(check);
  test___nv_fp6_e2m3(check);
  test___nv_fp4_e2m1(check);
}
