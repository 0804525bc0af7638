// Intrinsics on numbers: casts of bits, integer operations, arithmetic with a rounding mode, conversions.
#ifndef KUDZU_INTRINSICS_H
#define KUDZU_INTRINSICS_H
#pragma GCC system_header

#include "vector.h"

KUDZU_BUILTIN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KUDZU_BUILTIN unsigned int __float_as_uint(float x) { return __builtin_bit_cast(unsigned int, x); }
KUDZU_BUILTIN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KUDZU_BUILTIN float __uint_as_float(unsigned int x) { return __builtin_bit_cast(float, x); }
KUDZU_BUILTIN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
KUDZU_BUILTIN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
KUDZU_BUILTIN int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
KUDZU_BUILTIN int __double2loint(double x) { return (int)__double_as_longlong(x); }
KUDZU_BUILTIN double __hiloint2double(int hi, int lo) {
  return __longlong_as_double((long long)((unsigned long long)(unsigned int)hi << 32 | (unsigned int)lo));
}

KUDZU_BUILTIN unsigned int __brev(unsigned int x) { return __builtin_bitreverse32(x); }
KUDZU_BUILTIN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KUDZU_BUILTIN int __clz(int x) { return x == 0 ? 32 : __builtin_clz(x); }
KUDZU_BUILTIN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
KUDZU_BUILTIN int __ffs(int x) { return __builtin_ffs(x); }
KUDZU_BUILTIN int __ffsll(long long x) { return __builtin_ffsll(x); }
KUDZU_BUILTIN int __popc(unsigned int x) { return __builtin_popcount(x); }
KUDZU_BUILTIN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KUDZU_BUILTIN unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  unsigned int r;
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(mask), "r"(base), "r"(offset));
  return r;
}
KUDZU_BUILTIN unsigned int __byte_perm(unsigned int x, unsigned int y, unsigned int s) { return __nvvm_prmt(x, y, s & 0x7777); }

// Shifts hi:lo and takes one word; the count wraps at 32, or stops there (lc, rc).
#define KUDZU_FUNNEL(name, insn)                                                                                      \
  KUDZU_BUILTIN unsigned int name(unsigned int lo, unsigned int hi, unsigned int n) {                                       \
    unsigned int r;                                                                                                   \
    asm("shf." insn ".b32 %0, %1, %2, %3;" : "=r"(r) : "r"(lo), "r"(hi), "r"(n));                                     \
    return r;                                                                                                         \
  }
KUDZU_FUNNEL(__funnelshift_l, "l.wrap")
KUDZU_FUNNEL(__funnelshift_lc, "l.clamp")
KUDZU_FUNNEL(__funnelshift_r, "r.wrap")
KUDZU_FUNNEL(__funnelshift_rc, "r.clamp")
#undef KUDZU_FUNNEL

KUDZU_BUILTIN int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
KUDZU_BUILTIN unsigned int __umulhi(unsigned int x, unsigned int y) {
  return (unsigned int)((unsigned long long)x * y >> 32);
}
KUDZU_BUILTIN long long __mul64hi(long long x, long long y) { return (long long)((__int128)x * y >> 64); }
KUDZU_BUILTIN unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
// The low 24 bits of each, signed or not.
KUDZU_BUILTIN int __mul24(int x, int y) {
  return (int)((unsigned int)((int)((unsigned int)x << 8) >> 8) * (unsigned int)((int)((unsigned int)y << 8) >> 8));
}
KUDZU_BUILTIN unsigned int __umul24(unsigned int x, unsigned int y) { return (x & 0xffffff) * (y & 0xffffff); }
KUDZU_BUILTIN int mul24(int x, int y) { return __mul24(x, y); }
KUDZU_BUILTIN unsigned int umul24(unsigned int x, unsigned int y) { return __umul24(x, y); }
KUDZU_BUILTIN int mulhi(int x, int y) { return __mulhi(x, y); }
KUDZU_BUILTIN unsigned int mulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
KUDZU_BUILTIN unsigned int mulhi(int x, unsigned int y) { return __umulhi(x, y); }
KUDZU_BUILTIN unsigned int mulhi(unsigned int x, int y) { return __umulhi(x, y); }
KUDZU_BUILTIN unsigned int umulhi(unsigned int x, unsigned int y) { return __umulhi(x, y); }
KUDZU_BUILTIN long long mul64hi(long long x, long long y) { return __mul64hi(x, y); }
KUDZU_BUILTIN unsigned long long mul64hi(unsigned long long x, unsigned long long y) { return __umul64hi(x, y); }
KUDZU_BUILTIN unsigned long long umul64hi(unsigned long long x, unsigned long long y) { return __umul64hi(x, y); }
// The average rounded up (rhadd) and down (hadd), without overflow.
KUDZU_BUILTIN int __hadd(int x, int y) { return (x & y) + ((x ^ y) >> 1); }
KUDZU_BUILTIN unsigned int __uhadd(unsigned int x, unsigned int y) { return (x & y) + ((x ^ y) >> 1); }
KUDZU_BUILTIN int __rhadd(int x, int y) { return (x | y) - ((x ^ y) >> 1); }
KUDZU_BUILTIN unsigned int __urhadd(unsigned int x, unsigned int y) { return (x | y) - ((x ^ y) >> 1); }
// |x - y| + z
KUDZU_BUILTIN unsigned int __sad(int x, int y, unsigned int z) {
  return z + (x > y ? (unsigned int)x - (unsigned int)y : (unsigned int)y - (unsigned int)x);
}
KUDZU_BUILTIN unsigned int __usad(unsigned int x, unsigned int y, unsigned int z) { return z + (x > y ? x - y : y - x); }
KUDZU_BUILTIN float saturate(float x);

#define KUDZU_DP(name, insn, R, A, B, a, b)                                                                           \
  KUDZU_BUILTIN R name(A x, B y, R c) {                                                                                     \
    R r;                                                                                                              \
    asm(insn " %0, %1, %2, %3;"                                                                                       \
        : "=r"(r)                                                                                                     \
        : "r"(__builtin_bit_cast(unsigned int, a)), "r"(__builtin_bit_cast(unsigned int, b)), "r"(c));                \
    return r;                                                                                                         \
  }
KUDZU_DP(__dp4a, "dp4a.s32.s32", int, int, int, x, y)
KUDZU_DP(__dp4a, "dp4a.u32.u32", unsigned int, unsigned int, unsigned int, x, y)
KUDZU_DP(__dp4a, "dp4a.s32.s32", int, char4, char4, x, y)
KUDZU_DP(__dp4a, "dp4a.u32.u32", unsigned int, uchar4, uchar4, x, y)
KUDZU_DP(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int, x, y)
KUDZU_DP(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, unsigned int, unsigned int, x, y)
KUDZU_DP(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4, x, y)
KUDZU_DP(__dp2a_lo, "dp2a.lo.u32.u32", unsigned int, ushort2, uchar4, x, y)
KUDZU_DP(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int, x, y)
KUDZU_DP(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, unsigned int, unsigned int, x, y)
KUDZU_DP(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4, x, y)
KUDZU_DP(__dp2a_hi, "dp2a.hi.u32.u32", unsigned int, ushort2, uchar4, x, y)
#undef KUDZU_DP

// Instructions with a rounding mode are never fused with others.
#define KUDZU_OP1(name, insn, T, c)                                                                                   \
  KUDZU_BUILTIN T name(T x) {                                                                                               \
    T r;                                                                                                              \
    asm(insn " %0, %1;" : "=" c(r) : c(x));                                                                           \
    return r;                                                                                                         \
  }
#define KUDZU_OP2(name, insn, T, c)                                                                                   \
  KUDZU_BUILTIN T name(T x, T y) {                                                                                          \
    T r;                                                                                                              \
    asm(insn " %0, %1, %2;" : "=" c(r) : c(x), c(y));                                                                 \
    return r;                                                                                                         \
  }
#define KUDZU_OP3(name, insn, T, c)                                                                                   \
  KUDZU_BUILTIN T name(T x, T y, T z) {                                                                                     \
    T r;                                                                                                              \
    asm(insn " %0, %1, %2, %3;" : "=" c(r) : c(x), c(y), c(z));                                                       \
    return r;                                                                                                         \
  }
#define KUDZU_ROUNDED(rnd, mode)                                                                                      \
  KUDZU_OP2(__fadd_##rnd, "add." #mode KUDZU_FTZ ".f32", float, "f")                                                  \
  KUDZU_OP2(__fsub_##rnd, "sub." #mode KUDZU_FTZ ".f32", float, "f")                                                  \
  KUDZU_OP2(__fmul_##rnd, "mul." #mode KUDZU_FTZ ".f32", float, "f")                                                  \
  KUDZU_OP2(__fdiv_##rnd, "div." #mode KUDZU_FTZ ".f32", float, "f")                                                  \
  KUDZU_OP3(__fmaf_##rnd, "fma." #mode KUDZU_FTZ ".f32", float, "f")                                                  \
  KUDZU_OP3(__fmaf_ieee_##rnd, "fma." #mode ".f32", float, "f")                                                       \
  KUDZU_OP1(__frcp_##rnd, "rcp." #mode KUDZU_FTZ ".f32", float, "f")                                                  \
  KUDZU_OP1(__fsqrt_##rnd, "sqrt." #mode KUDZU_FTZ ".f32", float, "f")                                                \
  KUDZU_OP2(__dadd_##rnd, "add." #mode ".f64", double, "d")                                                           \
  KUDZU_OP2(__dsub_##rnd, "sub." #mode ".f64", double, "d")                                                           \
  KUDZU_OP2(__dmul_##rnd, "mul." #mode ".f64", double, "d")                                                           \
  KUDZU_OP2(__ddiv_##rnd, "div." #mode ".f64", double, "d")                                                           \
  KUDZU_OP3(__fma_##rnd, "fma." #mode ".f64", double, "d")                                                            \
  KUDZU_OP1(__drcp_##rnd, "rcp." #mode ".f64", double, "d")                                                           \
  KUDZU_OP1(__dsqrt_##rnd, "sqrt." #mode ".f64", double, "d")
// -ftz=true: the command line defines __CUDA_FTZ.
#if defined(__CUDA_FTZ) && __CUDA_FTZ
#define KUDZU_FTZ ".ftz"
#else
#define KUDZU_FTZ ""
#endif
KUDZU_ROUNDED(rn, rn)
KUDZU_ROUNDED(rz, rz)
KUDZU_ROUNDED(rd, rm)
KUDZU_ROUNDED(ru, rp)
KUDZU_OP1(__frsqrt_rn_approx, "rsqrt.approx" KUDZU_FTZ ".f32", float, "f")
KUDZU_OP1(__saturatef, "cvt.sat" KUDZU_FTZ ".f32.f32", float, "f")
#undef KUDZU_ROUNDED
#undef KUDZU_OP3
#undef KUDZU_OP2
#undef KUDZU_OP1
KUDZU_BUILTIN float saturate(float x) { return __saturatef(x); }

// 1/sqrt(x) to the nearest: the approximation, once corrected in double, is close enough to round like the exact value.
KUDZU_BUILTIN float __frsqrt_rn(float x) {
  double d = x, r;
  asm("rsqrt.approx.f64 %0, %1;" : "=d"(r) : "d"(d));
  if (!(d > 0) || d == __builtin_inf()) return (float)r;
  r = r * (1.5 - 0.5 * d * r * r);
  r = r * (1.5 - 0.5 * d * r * r);
  return (float)r;
}

// Conversions: From2To_mode. The instructions saturate.
#define KUDZU_CVT(name, insn, R, T, r, t)                                                                             \
  KUDZU_BUILTIN R name(T x) {                                                                                               \
    R v;                                                                                                              \
    asm(insn " %0, %1;" : "=" r(v) : t(x));                                                                           \
    return v;                                                                                                         \
  }
#define KUDZU_TO_INT(rnd, irnd, mode)                                                                                 \
  KUDZU_CVT(__float2int_##rnd, "cvt." #irnd KUDZU_FTZ ".s32.f32", int, float, "r", "f")                               \
  KUDZU_CVT(__float2uint_##rnd, "cvt." #irnd KUDZU_FTZ ".u32.f32", unsigned int, float, "r", "f")                     \
  KUDZU_CVT(__float2ll_##rnd, "cvt." #irnd KUDZU_FTZ ".s64.f32", long long, float, "l", "f")                          \
  KUDZU_CVT(__float2ull_##rnd, "cvt." #irnd KUDZU_FTZ ".u64.f32", unsigned long long, float, "l", "f")                \
  KUDZU_CVT(__double2int_##rnd, "cvt." #irnd ".s32.f64", int, double, "r", "d")                                       \
  KUDZU_CVT(__double2uint_##rnd, "cvt." #irnd ".u32.f64", unsigned int, double, "r", "d")                             \
  KUDZU_CVT(__double2ll_##rnd, "cvt." #irnd ".s64.f64", long long, double, "l", "d")                                  \
  KUDZU_CVT(__double2ull_##rnd, "cvt." #irnd ".u64.f64", unsigned long long, double, "l", "d")                        \
  KUDZU_CVT(__int2float_##rnd, "cvt." #mode ".f32.s32", float, int, "f", "r")                                         \
  KUDZU_CVT(__uint2float_##rnd, "cvt." #mode ".f32.u32", float, unsigned int, "f", "r")                               \
  KUDZU_CVT(__ll2float_##rnd, "cvt." #mode ".f32.s64", float, long long, "f", "l")                                    \
  KUDZU_CVT(__ull2float_##rnd, "cvt." #mode ".f32.u64", float, unsigned long long, "f", "l")                          \
  KUDZU_CVT(__ll2double_##rnd, "cvt." #mode ".f64.s64", double, long long, "d", "l")                                  \
  KUDZU_CVT(__ull2double_##rnd, "cvt." #mode ".f64.u64", double, unsigned long long, "d", "l")                        \
  KUDZU_CVT(__double2float_##rnd, "cvt." #mode KUDZU_FTZ ".f32.f64", float, double, "f", "d")
KUDZU_TO_INT(rn, rni, rn)
KUDZU_TO_INT(rz, rzi, rz)
KUDZU_TO_INT(rd, rmi, rm)
KUDZU_TO_INT(ru, rpi, rp)
KUDZU_CVT(__int2double_rn, "cvt.rn.f64.s32", double, int, "d", "r")
KUDZU_CVT(__uint2double_rn, "cvt.rn.f64.u32", double, unsigned int, "d", "r")
#undef KUDZU_TO_INT
#undef KUDZU_CVT
KUDZU_BUILTIN unsigned int float2uint(float x) { return __float2uint_rz(x); }
KUDZU_BUILTIN unsigned int __double2uint(double x) { return __double2uint_rz(x); }

#endif
