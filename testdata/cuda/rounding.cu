// test<<<1,1>>>(o[64]u64)
// Arithmetic and conversions with a rounding mode. Expected values are exact neighbours.
#include "check.h"

#define MODES(f, rn, rz, rd, ru, ...)                                                                                 \
  EQ(f##_rn(__VA_ARGS__), rn);                                                                                        \
  EQ(f##_rz(__VA_ARGS__), rz);                                                                                        \
  EQ(f##_rd(__VA_ARGS__), rd);                                                                                        \
  EQ(f##_ru(__VA_ARGS__), ru)

TEST() {
  volatile float one = 1;
  volatile double done = 1;
  const float e = 1.1920928955078125e-7f; // from 1 to the next float
  const double d = 2.220446049250313e-16;
  MODES(__fadd, 1.0f, 1.0f, 1.0f, 1.0f + e, one, e * 0.25f);
  MODES(__fadd, -1.0f, -1.0f, -1.0f - e, -1.0f, -one, -e * 0.25f);
  MODES(__fsub, 1.0f, 1.0f, 1.0f, 1.0f + e, one, -e * 0.25f);
  MODES(__fmul, 1.0f + 2 * e, 1.0f + 2 * e, 1.0f + 2 * e, 1.0f + 3 * e, one + e, 1.0f + e);
  MODES(__fdiv, 0.333333343f, 0.333333313f, 0.333333313f, 0.333333343f, one, 3.0f);
  MODES(__fmaf, 1.0f + 2 * e, 1.0f + 2 * e, 1.0f + 2 * e, 1.0f + 3 * e, one + e, 1.0f + e, 0.0f);
  MODES(__fmaf_ieee, 1.0f + 2 * e, 1.0f + 2 * e, 1.0f + 2 * e, 1.0f + 3 * e, one + e, 1.0f + e, 0.0f);
  MODES(__frcp, 0.333333343f, 0.333333313f, 0.333333313f, 0.333333343f, 3 * one);
  MODES(__fsqrt, 1.41421354f, 1.41421354f, 1.41421354f, 1.41421366f, 2 * one);
  MODES(__dadd, 1.0, 1.0, 1.0, 1.0 + d, done, d * 0.25);
  MODES(__dsub, 1.0, 1.0, 1.0, 1.0 + d, done, -d * 0.25);
  MODES(__dmul, 1.0 + 2 * d, 1.0 + 2 * d, 1.0 + 2 * d, 1.0 + 3 * d, done + d, 1.0 + d);
  MODES(__ddiv, 0.3333333333333333, 0.3333333333333333, 0.3333333333333333, 0.33333333333333337, done, 3.0);
  MODES(__fma, 1.0 + 2 * d, 1.0 + 2 * d, 1.0 + 2 * d, 1.0 + 3 * d, done + d, 1.0 + d, 0.0);
  MODES(__drcp, 0.3333333333333333, 0.3333333333333333, 0.3333333333333333, 0.33333333333333337, 3 * done);
  MODES(__dsqrt, 1.4142135623730951, 1.414213562373095, 1.414213562373095, 1.4142135623730951, 2 * done);
  EQ(__frsqrt_rn(4 * one), 0.5f);
  EQ(__frsqrt_rn(2 * one), 0.707106769f);
  EQ(__frsqrt_rn(3 * one), 0.577350259f);
  EQ(__frsqrt_rn(0 * one), __int_as_float(0x7f800000));
  EQ(__frsqrt_rn(1e-44f * one), 1.00968441e+22f);
  EQ(__saturatef(2 * one), 1.0f);
  EQ(__saturatef(-2 * one), 0.0f);
  EQ(__saturatef(0.25f * one), 0.25f);

  MODES(__float2int, 2, 2, 2, 3, 2.5f * one);
  MODES(__float2int, -2, -2, -3, -2, -2.5f * one);
  EQ(__float2int_rz(3e9f * one), 0x7fffffff);
  MODES(__float2uint, 4u, 3u, 3u, 4u, 3.5f * one);
  EQ(__float2uint_rn(-3.5f * one), 0u);
  MODES(__float2ll, -8ll, -7ll, -8ll, -7ll, -7.5f * one);
  MODES(__float2ull, 8ull, 7ull, 7ull, 8ull, 7.5f * one);
  MODES(__double2int, -8, -7, -8, -7, -7.5 * done);
  MODES(__double2uint, 8u, 7u, 7u, 8u, 7.5 * done);
  MODES(__double2ll, -8ll, -7ll, -8ll, -7ll, -7.5 * done);
  MODES(__double2ull, 8ull, 7ull, 7ull, 8ull, 7.5 * done);
  int i = (int)one * 16777217; // 2^24 + 1
  MODES(__int2float, 16777216.0f, 16777216.0f, 16777216.0f, 16777218.0f, i);
  MODES(__uint2float, 16777216.0f, 16777216.0f, 16777216.0f, 16777218.0f, (u32)i);
  MODES(__ll2float, -16777216.0f, -16777216.0f, -16777218.0f, -16777216.0f, -(long long)i);
  MODES(__ull2float, 16777216.0f, 16777216.0f, 16777216.0f, 16777218.0f, (u64)i);
  long long l = (long long)done * 9007199254740993ll; // 2^53 + 1
  MODES(__ll2double, 9007199254740992.0, 9007199254740992.0, 9007199254740992.0, 9007199254740994.0, l);
  MODES(__ull2double, 9007199254740992.0, 9007199254740992.0, 9007199254740992.0, 9007199254740994.0, (u64)l);
  MODES(__double2float, 0.1f, 0.099999994f, 0.099999994f, 0.1f, 0.1 * done);
  EQ(__int2double_rn(i), 16777217.0);
  EQ(__uint2double_rn(0xffffffffu * (u32)one), 4294967295.0);
}
