// The functions that half and bfloat16 share; cuda_fp16.h and cuda_bf16.h include it, each with
//   KUDZU_H, KUDZU_H2        the types
//   KUDZU_F, KUDZU_ARITH     clang's type of the format, and the conversion to what the device computes in
//   KUDZU_NAME               how function names spell the type
//   KUDZU_PTX                how PTX does
//   KUDZU_NARROW             __kudzu::narrow of the format
// and undefines them after it. There is no guard.
#pragma GCC system_header

#define KUDZU_CAT3_(a, b, c) a##b##c
#define KUDZU_CAT3(a, b, c) KUDZU_CAT3_(a, b, c)
#define KUDZU_N(a, c) KUDZU_CAT3(a, KUDZU_NAME, c)
#define KUDZU_N2(a, c) KUDZU_CAT3(a, KUDZU_CAT3(KUDZU_NAME, 2, ), c)

// Bits and clang's type.
KUDZU_HD KUDZU_H KUDZU_N(__ushort_as_, )(unsigned short b) { return __builtin_bit_cast(KUDZU_H, b); }
KUDZU_HD KUDZU_H KUDZU_N(__short_as_, )(short b) { return __builtin_bit_cast(KUDZU_H, b); }
KUDZU_HD unsigned short KUDZU_N(__, _as_ushort)(KUDZU_H h) { return __builtin_bit_cast(unsigned short, h); }
KUDZU_HD short KUDZU_N(__, _as_short)(KUDZU_H h) { return __builtin_bit_cast(short, h); }
#ifdef __CUDA_ARCH__
#define KUDZU_IN(h) KUDZU_ARITH(h)
#define KUDZU_OUT(f) __builtin_bit_cast(KUDZU_H, (KUDZU_F)(f))
#else
#define KUDZU_IN(h) KUDZU_N(__, 2float)(h)
#define KUDZU_OUT(f) KUDZU_N(__double2, )((double)(f))
#endif

// From and to float and double.
KUDZU_HD float KUDZU_N(__, 2float)(KUDZU_H h) { return (float)h; }
KUDZU_HD KUDZU_H KUDZU_N(__double2, )(double d) { return KUDZU_H(d); }
KUDZU_HD KUDZU_H KUDZU_N(__float2, _rn)(float f) { return KUDZU_H(f); }
KUDZU_HD KUDZU_H KUDZU_N(__float2, )(float f) { return KUDZU_H(f); }
KUDZU_HD KUDZU_H2 KUDZU_N2(__float2, _rn)(float f) { return KUDZU_H2(KUDZU_H(f), KUDZU_H(f)); }
KUDZU_HD KUDZU_H2 KUDZU_N2(__floats2, _rn)(float a, float b) { return KUDZU_H2(KUDZU_H(a), KUDZU_H(b)); }
KUDZU_HD KUDZU_H2 KUDZU_N2(__float22, _rn)(float2 f) { return KUDZU_H2(KUDZU_H(f.x), KUDZU_H(f.y)); }
KUDZU_HD float2 KUDZU_N(__, 22float2)(KUDZU_H2 h) { return float2{(float)h.x, (float)h.y}; }
KUDZU_HD float __low2float(KUDZU_H2 h) { return (float)h.x; }
KUDZU_HD float __high2float(KUDZU_H2 h) { return (float)h.y; }

// Halves of pairs.
KUDZU_HD KUDZU_H2 KUDZU_N2(make_, )(KUDZU_H a, KUDZU_H b) { return KUDZU_H2(a, b); }
KUDZU_HD KUDZU_H2 KUDZU_N2(__halves2, )(KUDZU_H a, KUDZU_H b) { return KUDZU_H2(a, b); }
KUDZU_HD KUDZU_H2 KUDZU_N2(KUDZU_N(__, 2), )(KUDZU_H a) { return KUDZU_H2(a, a); }
KUDZU_HD KUDZU_H KUDZU_N(__low2, )(KUDZU_H2 a) { return a.x; }
KUDZU_HD KUDZU_H KUDZU_N(__high2, )(KUDZU_H2 a) { return a.y; }
KUDZU_HD KUDZU_H2 KUDZU_N2(__low2, )(KUDZU_H2 a) { return KUDZU_H2(a.x, a.x); }
KUDZU_HD KUDZU_H2 KUDZU_N2(__high2, )(KUDZU_H2 a) { return KUDZU_H2(a.y, a.y); }
KUDZU_HD KUDZU_H2 KUDZU_N2(__lows2, )(KUDZU_H2 a, KUDZU_H2 b) { return KUDZU_H2(a.x, b.x); }
KUDZU_HD KUDZU_H2 KUDZU_N2(__highs2, )(KUDZU_H2 a, KUDZU_H2 b) { return KUDZU_H2(a.y, b.y); }
KUDZU_HD KUDZU_H2 __lowhigh2highlow(KUDZU_H2 a) { return KUDZU_H2(a.y, a.x); }

// Integers.
#define KUDZU_INTEGER(name, T, W, rnd, mode)                                                                          \
  KUDZU_HD T KUDZU_N(__, KUDZU_CAT3(2##name, _, rnd))(KUDZU_H h) {                                                    \
    return __kudzu::to_integer<T, __kudzu::mode>((float)h);                                                           \
  }                                                                                                                   \
  KUDZU_HD KUDZU_H KUDZU_N(__##name##2, _##rnd)(T i) {                                                                \
    return KUDZU_N(__ushort_as_, )(KUDZU_NARROW(__kudzu::sticky((W)i), __kudzu::mode));                               \
  }
#define KUDZU_INTEGERS(name, T, W)                                                                                    \
  KUDZU_INTEGER(name, T, W, rn, nearest)                                                                              \
  KUDZU_INTEGER(name, T, W, rz, zero)                                                                                 \
  KUDZU_INTEGER(name, T, W, rd, down)                                                                                 \
  KUDZU_INTEGER(name, T, W, ru, up)
KUDZU_INTEGERS(short, short, long long)
KUDZU_INTEGERS(ushort, unsigned short, unsigned long long)
KUDZU_INTEGERS(int, int, long long)
KUDZU_INTEGERS(uint, unsigned int, unsigned long long)
KUDZU_INTEGERS(ll, long long, long long)
KUDZU_INTEGERS(ull, unsigned long long, unsigned long long)
#undef KUDZU_INTEGERS
#undef KUDZU_INTEGER
KUDZU_HD signed char KUDZU_N(__, 2char_rz)(KUDZU_H h) { return __kudzu::to_integer<signed char, __kudzu::zero>((float)h); }
KUDZU_HD unsigned char KUDZU_N(__, 2uchar_rz)(KUDZU_H h) {
  return __kudzu::to_integer<unsigned char, __kudzu::zero>((float)h);
}

// Arithmetic. Each function rounds once; _rn says that it is not fused with another.
KUDZU_HD KUDZU_H __hadd(KUDZU_H a, KUDZU_H b) { return KUDZU_OUT(KUDZU_IN(a) + KUDZU_IN(b)); }
KUDZU_HD KUDZU_H __hsub(KUDZU_H a, KUDZU_H b) { return KUDZU_OUT(KUDZU_IN(a) - KUDZU_IN(b)); }
KUDZU_HD KUDZU_H __hmul(KUDZU_H a, KUDZU_H b) { return KUDZU_OUT(KUDZU_IN(a) * KUDZU_IN(b)); }
KUDZU_HD KUDZU_H __hdiv(KUDZU_H a, KUDZU_H b) { return KUDZU_H((float)a / (float)b); }
KUDZU_HD KUDZU_H __hneg(KUDZU_H a) { return KUDZU_N(__ushort_as_, )(KUDZU_N(__, _as_ushort)(a) ^ 0x8000); }
KUDZU_HD KUDZU_H __habs(KUDZU_H a) { return KUDZU_N(__ushort_as_, )(KUDZU_N(__, _as_ushort)(a) & 0x7fff); }
#ifdef __CUDA_ARCH__
KUDZU_D KUDZU_H KUDZU_N(__kudzu_fma_, )(KUDZU_H a, KUDZU_H b, KUDZU_H c) {
#if __CUDA_ARCH__ >= KUDZU_FMA_ARCH
  unsigned short r;
  asm("fma.rn." KUDZU_PTX " %0, %1, %2, %3;"
      : "=h"(r)
      : "h"(KUDZU_N(__, _as_ushort)(a)), "h"(KUDZU_N(__, _as_ushort)(b)), "h"(KUDZU_N(__, _as_ushort)(c)));
  return KUDZU_N(__ushort_as_, )(r);
#else
  return KUDZU_H(__builtin_fma((double)(float)a, (double)(float)b, (double)(float)c));
#endif
}
#else
KUDZU_HD KUDZU_H KUDZU_N(__kudzu_fma_, )(KUDZU_H a, KUDZU_H b, KUDZU_H c) {
  return KUDZU_H(__builtin_fma((double)(float)a, (double)(float)b, (double)(float)c));
}
#endif
KUDZU_HD KUDZU_H __hfma(KUDZU_H a, KUDZU_H b, KUDZU_H c) { return KUDZU_N(__kudzu_fma_, )(a, b, c); }
// A sum or product by a fused operation is not fused again.
KUDZU_HD KUDZU_H __hadd_rn(KUDZU_H a, KUDZU_H b) { return __hfma(a, KUDZU_H(1.0f), b); }
KUDZU_HD KUDZU_H __hsub_rn(KUDZU_H a, KUDZU_H b) { return __hfma(b, KUDZU_H(-1.0f), a); }
KUDZU_HD KUDZU_H __hmul_rn(KUDZU_H a, KUDZU_H b) { return __hfma(a, b, KUDZU_H(-0.0f)); }
// To [0, 1], NaN to 0.
KUDZU_HD KUDZU_H KUDZU_N(__kudzu_sat_, )(KUDZU_H a) {
  float f = (float)a;
  return f > 0 ? f < 1 ? a : KUDZU_H(1.0f) : KUDZU_H(0.0f);
}
KUDZU_HD KUDZU_H __hadd_sat(KUDZU_H a, KUDZU_H b) { return KUDZU_N(__kudzu_sat_, )(__hadd_rn(a, b)); }
KUDZU_HD KUDZU_H __hsub_sat(KUDZU_H a, KUDZU_H b) { return KUDZU_N(__kudzu_sat_, )(__hsub_rn(a, b)); }
KUDZU_HD KUDZU_H __hmul_sat(KUDZU_H a, KUDZU_H b) { return KUDZU_N(__kudzu_sat_, )(__hmul_rn(a, b)); }
KUDZU_HD KUDZU_H __hfma_sat(KUDZU_H a, KUDZU_H b, KUDZU_H c) { return KUDZU_N(__kudzu_sat_, )(__hfma(a, b, c)); }
// Negative results become 0, NaN the canonical one.
KUDZU_HD KUDZU_H __hfma_relu(KUDZU_H a, KUDZU_H b, KUDZU_H c) {
  KUDZU_H r = __hfma(a, b, c);
  float f = (float)r;
  return f != f ? KUDZU_N(__ushort_as_, )(0x7fff) : f > 0 ? r : KUDZU_H(0.0f);
}

// Comparisons: false if one is NaN; with u, true.
KUDZU_HD bool __heq(KUDZU_H a, KUDZU_H b) { return KUDZU_IN(a) == KUDZU_IN(b); }
KUDZU_HD bool __hne(KUDZU_H a, KUDZU_H b) { return KUDZU_IN(a) < KUDZU_IN(b) || KUDZU_IN(a) > KUDZU_IN(b); }
KUDZU_HD bool __hlt(KUDZU_H a, KUDZU_H b) { return KUDZU_IN(a) < KUDZU_IN(b); }
KUDZU_HD bool __hle(KUDZU_H a, KUDZU_H b) { return KUDZU_IN(a) <= KUDZU_IN(b); }
KUDZU_HD bool __hgt(KUDZU_H a, KUDZU_H b) { return KUDZU_IN(a) > KUDZU_IN(b); }
KUDZU_HD bool __hge(KUDZU_H a, KUDZU_H b) { return KUDZU_IN(a) >= KUDZU_IN(b); }
KUDZU_HD bool __hequ(KUDZU_H a, KUDZU_H b) { return !__hne(a, b); }
KUDZU_HD bool __hneu(KUDZU_H a, KUDZU_H b) { return !__heq(a, b); }
KUDZU_HD bool __hltu(KUDZU_H a, KUDZU_H b) { return !__hge(a, b); }
KUDZU_HD bool __hleu(KUDZU_H a, KUDZU_H b) { return !__hgt(a, b); }
KUDZU_HD bool __hgtu(KUDZU_H a, KUDZU_H b) { return !__hle(a, b); }
KUDZU_HD bool __hgeu(KUDZU_H a, KUDZU_H b) { return !__hlt(a, b); }
KUDZU_HD bool __hisnan(KUDZU_H a) { return KUDZU_IN(a) != KUDZU_IN(a); }
KUDZU_HD int __hisinf(KUDZU_H a) {
  unsigned short b = KUDZU_N(__, _as_ushort)(a);
  return (b & 0x7fff) == KUDZU_INF ? (b >> 15 ? -1 : 1) : 0;
}
// The larger and the smaller one, -0 below +0; a NaN gives the other one, or with _nan the canonical NaN.
KUDZU_HD KUDZU_H __hmax(KUDZU_H a, KUDZU_H b) {
  if (__hisnan(a)) return __hisnan(b) ? KUDZU_N(__ushort_as_, )(0x7fff) : b;
  if (__hisnan(b) || __hgt(a, b)) return a;
  return __hlt(a, b) || KUDZU_N(__, _as_ushort)(a) >> 15 ? b : a;
}
KUDZU_HD KUDZU_H __hmin(KUDZU_H a, KUDZU_H b) {
  if (__hisnan(a)) return __hisnan(b) ? KUDZU_N(__ushort_as_, )(0x7fff) : b;
  if (__hisnan(b) || __hlt(a, b)) return a;
  return __hgt(a, b) || KUDZU_N(__, _as_ushort)(b) >> 15 ? b : a;
}
KUDZU_HD KUDZU_H __hmax_nan(KUDZU_H a, KUDZU_H b) {
  return __hisnan(a) || __hisnan(b) ? KUDZU_N(__ushort_as_, )(0x7fff) : __hmax(a, b);
}
KUDZU_HD KUDZU_H __hmin_nan(KUDZU_H a, KUDZU_H b) {
  return __hisnan(a) || __hisnan(b) ? KUDZU_N(__ushort_as_, )(0x7fff) : __hmin(a, b);
}

// Pairs, element by element.
#define KUDZU_PAIR1(name, f) KUDZU_HD KUDZU_H2 name(KUDZU_H2 a) { return KUDZU_H2(f(a.x), f(a.y)); }
#define KUDZU_PAIR2(name, f)                                                                                          \
  KUDZU_HD KUDZU_H2 name(KUDZU_H2 a, KUDZU_H2 b) { return KUDZU_H2(f(a.x, b.x), f(a.y, b.y)); }
#define KUDZU_PAIR3(name, f)                                                                                          \
  KUDZU_HD KUDZU_H2 name(KUDZU_H2 a, KUDZU_H2 b, KUDZU_H2 c) {                                                        \
    return KUDZU_H2(f(a.x, b.x, c.x), f(a.y, b.y, c.y));                                                              \
  }
KUDZU_PAIR2(__hadd2, __hadd)
KUDZU_PAIR2(__hsub2, __hsub)
KUDZU_PAIR2(__hmul2, __hmul)
KUDZU_PAIR2(__h2div, __hdiv)
KUDZU_PAIR2(__hadd2_rn, __hadd_rn)
KUDZU_PAIR2(__hsub2_rn, __hsub_rn)
KUDZU_PAIR2(__hmul2_rn, __hmul_rn)
KUDZU_PAIR2(__hadd2_sat, __hadd_sat)
KUDZU_PAIR2(__hsub2_sat, __hsub_sat)
KUDZU_PAIR2(__hmul2_sat, __hmul_sat)
KUDZU_PAIR3(__hfma2, __hfma)
KUDZU_PAIR3(__hfma2_sat, __hfma_sat)
KUDZU_PAIR3(__hfma2_relu, __hfma_relu)
KUDZU_PAIR1(__hneg2, __hneg)
KUDZU_PAIR1(__habs2, __habs)
KUDZU_PAIR2(__hmax2, __hmax)
KUDZU_PAIR2(__hmin2, __hmin)
KUDZU_PAIR2(__hmax2_nan, __hmax_nan)
KUDZU_PAIR2(__hmin2_nan, __hmin_nan)
// (a.x + i a.y) * (b.x + i b.y) + c: the real part adds a.x b.x, then subtracts a.y b.y
KUDZU_HD KUDZU_H2 __hcmadd(KUDZU_H2 a, KUDZU_H2 b, KUDZU_H2 c) {
  return KUDZU_H2(__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)), __hfma(a.y, b.x, __hfma(a.x, b.y, c.y)));
}
#define KUDZU_COMPARE2(op)                                                                                            \
  KUDZU_HD KUDZU_H2 __h##op##2(KUDZU_H2 a, KUDZU_H2 b) {                                                              \
    return KUDZU_H2(KUDZU_H(__h##op(a.x, b.x) ? 1.0f : 0.0f), KUDZU_H(__h##op(a.y, b.y) ? 1.0f : 0.0f));              \
  }                                                                                                                   \
  KUDZU_HD unsigned int __h##op##2_mask(KUDZU_H2 a, KUDZU_H2 b) {                                                     \
    return (__h##op(a.x, b.x) ? 0xffffu : 0) | (__h##op(a.y, b.y) ? 0xffff0000u : 0);                                 \
  }                                                                                                                   \
  KUDZU_HD bool __hb##op##2(KUDZU_H2 a, KUDZU_H2 b) { return __h##op(a.x, b.x) && __h##op(a.y, b.y); }
KUDZU_COMPARE2(eq)
KUDZU_COMPARE2(ne)
KUDZU_COMPARE2(lt)
KUDZU_COMPARE2(le)
KUDZU_COMPARE2(gt)
KUDZU_COMPARE2(ge)
KUDZU_COMPARE2(equ)
KUDZU_COMPARE2(neu)
KUDZU_COMPARE2(ltu)
KUDZU_COMPARE2(leu)
KUDZU_COMPARE2(gtu)
KUDZU_COMPARE2(geu)
#undef KUDZU_COMPARE2
KUDZU_HD KUDZU_H2 __hisnan2(KUDZU_H2 a) {
  return KUDZU_H2(KUDZU_H(__hisnan(a.x) ? 1.0f : 0.0f), KUDZU_H(__hisnan(a.y) ? 1.0f : 0.0f));
}

// Operators.
#define KUDZU_OPERATOR(op, f, f2)                                                                                     \
  KUDZU_HD KUDZU_H operator op(const KUDZU_H &a, const KUDZU_H &b) { return f(a, b); }                                \
  KUDZU_HD KUDZU_H &operator op##=(KUDZU_H &a, const KUDZU_H &b) { return a = f(a, b); }                              \
  KUDZU_HD KUDZU_H2 operator op(const KUDZU_H2 &a, const KUDZU_H2 &b) { return f2(a, b); }                            \
  KUDZU_HD KUDZU_H2 &operator op##=(KUDZU_H2 &a, const KUDZU_H2 &b) { return a = f2(a, b); }
KUDZU_OPERATOR(+, __hadd, __hadd2)
KUDZU_OPERATOR(-, __hsub, __hsub2)
KUDZU_OPERATOR(*, __hmul, __hmul2)
KUDZU_OPERATOR(/, __hdiv, __h2div)
#undef KUDZU_OPERATOR
KUDZU_HD KUDZU_H operator+(const KUDZU_H &a) { return a; }
KUDZU_HD KUDZU_H operator-(const KUDZU_H &a) { return __hneg(a); }
KUDZU_HD KUDZU_H2 operator+(const KUDZU_H2 &a) { return a; }
KUDZU_HD KUDZU_H2 operator-(const KUDZU_H2 &a) { return __hneg2(a); }
KUDZU_HD KUDZU_H &operator++(KUDZU_H &a) { return a = __hadd(a, KUDZU_H(1.0f)); }
KUDZU_HD KUDZU_H &operator--(KUDZU_H &a) { return a = __hsub(a, KUDZU_H(1.0f)); }
KUDZU_HD KUDZU_H operator++(KUDZU_H &a, int) {
  KUDZU_H r = a;
  ++a;
  return r;
}
KUDZU_HD KUDZU_H operator--(KUDZU_H &a, int) {
  KUDZU_H r = a;
  --a;
  return r;
}
KUDZU_HD KUDZU_H2 &operator++(KUDZU_H2 &a) { return a = __hadd2(a, KUDZU_H2(KUDZU_H(1.0f), KUDZU_H(1.0f))); }
KUDZU_HD KUDZU_H2 &operator--(KUDZU_H2 &a) { return a = __hsub2(a, KUDZU_H2(KUDZU_H(1.0f), KUDZU_H(1.0f))); }
KUDZU_HD KUDZU_H2 operator++(KUDZU_H2 &a, int) {
  KUDZU_H2 r = a;
  ++a;
  return r;
}
KUDZU_HD KUDZU_H2 operator--(KUDZU_H2 &a, int) {
  KUDZU_H2 r = a;
  --a;
  return r;
}
#define KUDZU_RELATION(op, f, f2)                                                                                     \
  KUDZU_HD bool operator op(const KUDZU_H &a, const KUDZU_H &b) { return f(a, b); }                                   \
  KUDZU_HD bool operator op(const KUDZU_H2 &a, const KUDZU_H2 &b) { return f2(a, b); }
KUDZU_RELATION(==, __heq, __hbeq2)
KUDZU_RELATION(!=, __hneu, __hbneu2)
KUDZU_RELATION(<, __hlt, __hblt2)
KUDZU_RELATION(<=, __hle, __hble2)
KUDZU_RELATION(>, __hgt, __hbgt2)
KUDZU_RELATION(>=, __hge, __hbge2)
#undef KUDZU_RELATION

#ifdef __CUDACC__
// Math: by float, rounded once more.
#define KUDZU_FUNCTION(name, f)                                                                                       \
  KUDZU_D KUDZU_H h##name(KUDZU_H a) { return KUDZU_H(f((float)a)); }                                                 \
  KUDZU_D KUDZU_H2 h2##name(KUDZU_H2 a) { return KUDZU_H2(h##name(a.x), h##name(a.y)); }
KUDZU_FUNCTION(ceil, __builtin_ceilf)
KUDZU_FUNCTION(floor, __builtin_floorf)
KUDZU_FUNCTION(rint, __builtin_rintf)
KUDZU_FUNCTION(trunc, __builtin_truncf)
KUDZU_FUNCTION(cos, __nv_cosf)
KUDZU_FUNCTION(sin, __nv_sinf)
KUDZU_FUNCTION(exp, __nv_expf)
KUDZU_FUNCTION(exp2, __nv_exp2f)
KUDZU_FUNCTION(exp10, __nv_exp10f)
KUDZU_FUNCTION(log, __nv_logf)
KUDZU_FUNCTION(log2, __nv_log2f)
KUDZU_FUNCTION(log10, __nv_log10f)
KUDZU_FUNCTION(tanh, __nv_tanhf)
KUDZU_FUNCTION(sqrt, __fsqrt_rn)
KUDZU_FUNCTION(rsqrt, __frsqrt_rn)
KUDZU_FUNCTION(rcp, __frcp_rn)
#undef KUDZU_FUNCTION
KUDZU_D KUDZU_H htanh_approx(KUDZU_H a) {
  unsigned short r;
  asm("tanh.approx." KUDZU_PTX " %0, %1;" : "=h"(r) : "h"(KUDZU_N(__, _as_ushort)(a)));
  return KUDZU_N(__ushort_as_, )(r);
}
KUDZU_D KUDZU_H2 h2tanh_approx(KUDZU_H2 a) { return KUDZU_H2(htanh_approx(a.x), htanh_approx(a.y)); }

// Memory and warps, as bits.
#define KUDZU_LOAD(name)                                                                                              \
  KUDZU_D KUDZU_H name(const KUDZU_H *p) { return KUDZU_N(__ushort_as_, )(name((const unsigned short *)p)); }         \
  KUDZU_D KUDZU_H2 name(const KUDZU_H2 *p) {                                                                          \
    return __builtin_bit_cast(KUDZU_H2, name((const unsigned int *)p));                                               \
  }
KUDZU_LOAD(__ldg)
KUDZU_LOAD(__ldca)
KUDZU_LOAD(__ldcg)
KUDZU_LOAD(__ldcs)
KUDZU_LOAD(__ldlu)
KUDZU_LOAD(__ldcv)
#undef KUDZU_LOAD
#define KUDZU_STORE(name)                                                                                             \
  KUDZU_D void name(KUDZU_H *p, KUDZU_H v) { name((unsigned short *)p, KUDZU_N(__, _as_ushort)(v)); }                 \
  KUDZU_D void name(KUDZU_H2 *p, KUDZU_H2 v) { name((unsigned int *)p, __builtin_bit_cast(unsigned int, v)); }
KUDZU_STORE(__stwb)
KUDZU_STORE(__stcg)
KUDZU_STORE(__stcs)
KUDZU_STORE(__stwt)
#undef KUDZU_STORE
#define KUDZU_SHFL(name, L)                                                                                           \
  KUDZU_D KUDZU_H name(unsigned int mask, KUDZU_H v, L lane, int width = 32) {                                        \
    return KUDZU_N(__ushort_as_, )((unsigned short)name(mask, (unsigned int)KUDZU_N(__, _as_ushort)(v), lane, width)); \
  }                                                                                                                   \
  KUDZU_D KUDZU_H2 name(unsigned int mask, KUDZU_H2 v, L lane, int width = 32) {                                      \
    return __builtin_bit_cast(KUDZU_H2, name(mask, __builtin_bit_cast(unsigned int, v), (int)lane, width));           \
  }
KUDZU_SHFL(__shfl_sync, int)
KUDZU_SHFL(__shfl_up_sync, unsigned int)
KUDZU_SHFL(__shfl_down_sync, unsigned int)
KUDZU_SHFL(__shfl_xor_sync, int)
#undef KUDZU_SHFL

KUDZU_D KUDZU_H2 atomicAdd(KUDZU_H2 *p, KUDZU_H2 v) {
#if __CUDA_ARCH__ >= KUDZU_ATOMIC2_ARCH
  unsigned int r;
  asm volatile("atom.add.noftz." KUDZU_PTX "x2 %0, [%1], %2;"
               : "=r"(r)
               : "l"(p), "r"(__builtin_bit_cast(unsigned int, v))
               : "memory");
  return __builtin_bit_cast(KUDZU_H2, r);
#else
  unsigned int *a = (unsigned int *)p, seen = *(volatile unsigned int *)a, was;
  do {
    was = seen;
    seen = atomicCAS(a, was, __builtin_bit_cast(unsigned int, __hadd2(__builtin_bit_cast(KUDZU_H2, was), v)));
  } while (seen != was);
  return __builtin_bit_cast(KUDZU_H2, was);
#endif
}
KUDZU_D KUDZU_H atomicAdd(KUDZU_H *p, KUDZU_H v) {
#if __CUDA_ARCH__ >= KUDZU_ATOMIC_ARCH
  unsigned short r;
  asm volatile("atom.add.noftz." KUDZU_PTX " %0, [%1], %2;" : "=h"(r) : "l"(p), "h"(KUDZU_N(__, _as_ushort)(v)) : "memory");
  return KUDZU_N(__ushort_as_, )(r);
#else
  unsigned short *a = (unsigned short *)p, seen = *(volatile unsigned short *)a, was;
  do {
    was = seen;
    seen = atomicCAS(a, was, KUDZU_N(__, _as_ushort)(__hadd(KUDZU_N(__ushort_as_, )(was), v)));
  } while (seen != was);
  return KUDZU_N(__ushort_as_, )(was);
#endif
}
#endif

#undef KUDZU_PAIR1
#undef KUDZU_PAIR2
#undef KUDZU_PAIR3
#undef KUDZU_IN
#undef KUDZU_OUT
#undef KUDZU_N
#undef KUDZU_N2
#undef KUDZU_CAT3
#undef KUDZU_CAT3_
#undef KUDZU_H
#undef KUDZU_H2
#undef KUDZU_F
#undef KUDZU_ARITH
#undef KUDZU_NAME
#undef KUDZU_PTX
#undef KUDZU_NARROW
#undef KUDZU_INF
#undef KUDZU_FMA_ARCH
#undef KUDZU_ATOMIC_ARCH
#undef KUDZU_ATOMIC2_ARCH
