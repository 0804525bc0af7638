// The functions of the CUDA math API on float and double: C's names, CUDA's own, and C++'s overloads.
// What one PTX instruction does is a builtin of clang; the rest calls libdevice.
#ifndef KUDZU_MATH_H
#define KUDZU_MATH_H
#pragma GCC system_header

#include "libdevice.h"

#ifdef __CUDACC_RTC__
#define HUGE_VAL (__builtin_huge_val())
#define HUGE_VALF (__builtin_huge_valf())
#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#endif

namespace __kudzu {
template <class T> struct is_integral { static constexpr bool value = false; };
#define KUDZU_INTEGRAL(T) template <> struct is_integral<T> { static constexpr bool value = true; };
KUDZU_INTEGRAL(bool)
KUDZU_INTEGRAL(char)
KUDZU_INTEGRAL(signed char)
KUDZU_INTEGRAL(unsigned char)
KUDZU_INTEGRAL(wchar_t)
KUDZU_INTEGRAL(char16_t)
KUDZU_INTEGRAL(char32_t)
KUDZU_INTEGRAL(short)
KUDZU_INTEGRAL(unsigned short)
KUDZU_INTEGRAL(int)
KUDZU_INTEGRAL(unsigned int)
KUDZU_INTEGRAL(long)
KUDZU_INTEGRAL(unsigned long)
KUDZU_INTEGRAL(long long)
KUDZU_INTEGRAL(unsigned long long)
#undef KUDZU_INTEGRAL
template <class T> struct is_arithmetic { static constexpr bool value = is_integral<T>::value; };
template <> struct is_arithmetic<float> { static constexpr bool value = true; };
template <> struct is_arithmetic<double> { static constexpr bool value = true; };
template <class A, class B> struct is_same { static constexpr bool value = false; };
template <class A> struct is_same<A, A> { static constexpr bool value = true; };

template <bool, class T> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };

// The result of a function of one integer, and of two numbers of which the overloads of equal floats take none.
template <class T> using of_integer = typename enable_if<is_integral<T>::value, double>::type;
template <class A, class B>
using of_mixed = typename enable_if<is_arithmetic<A>::value && is_arithmetic<B>::value &&
                                        !(is_same<A, B>::value && !is_integral<A>::value),
                                    double>::type;
}  // namespace __kudzu

// One argument: namef, name(double), name(float), name(integer).
#define KUDZU_OVERLOAD1(name)                                                                                         \
  KUDZU_D float name(float x) { return name##f(x); }                                                                  \
  template <class T> KUDZU_D __kudzu::of_integer<T> name(T x) { return name((double)x); }
#define KUDZU_MATH1(name)                                                                                             \
  KUDZU_D double name(double x) { return __nv_##name(x); }                                                            \
  KUDZU_D float name##f(float x) { return __nv_##name##f(x); }                                                        \
  KUDZU_OVERLOAD1(name)
#define KUDZU_BUILTIN1(name)                                                                                          \
  KUDZU_D double name(double x) { return __builtin_##name(x); }                                                       \
  KUDZU_D float name##f(float x) { return __builtin_##name##f(x); }                                                   \
  KUDZU_OVERLOAD1(name)
#define KUDZU_OVERLOAD2(name)                                                                                         \
  KUDZU_D float name(float x, float y) { return name##f(x, y); }                                                      \
  template <class A, class B> KUDZU_D __kudzu::of_mixed<A, B> name(A x, B y) { return name((double)x, (double)y); }
#define KUDZU_MATH2(name)                                                                                             \
  KUDZU_D double name(double x, double y) { return __nv_##name(x, y); }                                               \
  KUDZU_D float name##f(float x, float y) { return __nv_##name##f(x, y); }                                            \
  KUDZU_OVERLOAD2(name)
#define KUDZU_BUILTIN2(name)                                                                                          \
  KUDZU_D double name(double x, double y) { return __builtin_##name(x, y); }                                          \
  KUDZU_D float name##f(float x, float y) { return __builtin_##name##f(x, y); }                                       \
  KUDZU_OVERLOAD2(name)

KUDZU_MATH1(acos)
KUDZU_MATH1(acosh)
KUDZU_MATH1(asin)
KUDZU_MATH1(asinh)
KUDZU_MATH1(atan)
KUDZU_MATH1(atanh)
KUDZU_MATH1(cbrt)
KUDZU_BUILTIN1(ceil)
KUDZU_MATH1(cosh)
KUDZU_MATH1(cospi)
KUDZU_MATH1(cyl_bessel_i0)
KUDZU_MATH1(cyl_bessel_i1)
KUDZU_MATH1(erf)
KUDZU_MATH1(erfc)
KUDZU_MATH1(erfcinv)
KUDZU_MATH1(erfcx)
KUDZU_MATH1(erfinv)
KUDZU_MATH1(exp2)
KUDZU_MATH1(expm1)
KUDZU_BUILTIN1(fabs)
KUDZU_BUILTIN1(floor)
KUDZU_MATH1(j0)
KUDZU_MATH1(j1)
KUDZU_MATH1(lgamma)
KUDZU_MATH1(log1p)
KUDZU_MATH1(logb)
KUDZU_BUILTIN1(nearbyint)
KUDZU_MATH1(normcdf)
KUDZU_MATH1(normcdfinv)
KUDZU_MATH1(rcbrt)
KUDZU_BUILTIN1(rint)
KUDZU_BUILTIN1(round)
KUDZU_MATH1(rsqrt)
KUDZU_MATH1(sinh)
KUDZU_MATH1(sinpi)
#if defined(__CUDA_PREC_SQRT) && !__CUDA_PREC_SQRT && __clang_major__ < 22
// -prec-sqrt=false: LLVM 22 takes the approximation for llvm.sqrt then, older ones only where the call has fast-math flags.
KUDZU_D double sqrt(double x) { return __nv_sqrt(x); }
#if defined(__CUDA_FTZ) && __CUDA_FTZ
KUDZU_D float sqrtf(float x) { return __nvvm_sqrt_approx_ftz_f(x); }
#else
KUDZU_D float sqrtf(float x) { return __nvvm_sqrt_approx_f(x); }
#endif
KUDZU_OVERLOAD1(sqrt)
#else
KUDZU_MATH1(sqrt)
#endif
KUDZU_MATH1(tanh)
KUDZU_MATH1(tgamma)
KUDZU_BUILTIN1(trunc)
KUDZU_MATH1(y0)
KUDZU_MATH1(y1)
KUDZU_MATH2(atan2)
KUDZU_BUILTIN2(copysign)
KUDZU_MATH2(fdim)
KUDZU_BUILTIN2(fmax)
KUDZU_BUILTIN2(fmin)
KUDZU_MATH2(fmod)
KUDZU_MATH2(hypot)
KUDZU_MATH2(nextafter)
KUDZU_MATH2(remainder)
KUDZU_MATH2(rhypot)

// What -use_fast_math replaces, for float only; the command line then defines __USE_FAST_MATH__ as 1.
#define KUDZU_FAST1(name)                                                                                             \
  KUDZU_D float __##name##f(float x) { return __nv_fast_##name##f(x); }                                               \
  KUDZU_D double name(double x) { return __nv_##name(x); }                                                            \
  KUDZU_D float name##f(float x) { return KUDZU_PICK(name)(x); }                                                      \
  KUDZU_OVERLOAD1(name)
#if defined(__USE_FAST_MATH__) && __USE_FAST_MATH__
#define KUDZU_PICK(name) __nv_fast_##name##f
#else
#define KUDZU_PICK(name) __nv_##name##f
#endif

KUDZU_FAST1(cos)
KUDZU_FAST1(exp)
KUDZU_FAST1(exp10)
KUDZU_FAST1(log)
KUDZU_FAST1(log10)
KUDZU_FAST1(log2)
KUDZU_FAST1(sin)
KUDZU_FAST1(tan)

KUDZU_D float __powf(float x, float y) { return __nv_fast_powf(x, y); }
KUDZU_D double pow(double x, double y) { return __nv_pow(x, y); }
KUDZU_D float powf(float x, float y) { return KUDZU_PICK(pow)(x, y); }
KUDZU_OVERLOAD2(pow)
KUDZU_D double powi(double x, int n) { return __nv_powi(x, n); }
KUDZU_D float powif(float x, int n) { return __nv_powif(x, n); }

KUDZU_D void __sincosf(float x, float *s, float *c) { __nv_fast_sincosf(x, s, c); }
KUDZU_D void sincos(double x, double *s, double *c) { __nv_sincos(x, s, c); }
KUDZU_D void sincosf(float x, float *s, float *c) { KUDZU_PICK(sincos)(x, s, c); }
KUDZU_D void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
KUDZU_D void sincospi(double x, double *s, double *c) { __nv_sincospi(x, s, c); }
KUDZU_D void sincospif(float x, float *s, float *c) { __nv_sincospif(x, s, c); }
KUDZU_D void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
KUDZU_D float __fdividef(float x, float y) { return __nv_fast_fdividef(x, y); }
KUDZU_D float __tanhf(float x) {
  float r;
  asm("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
KUDZU_D double fdivide(double x, double y) { return x / y; }
#if defined(__USE_FAST_MATH__) && __USE_FAST_MATH__
KUDZU_D float fdividef(float x, float y) { return __nv_fast_fdividef(x, y); }
#else
KUDZU_D float fdividef(float x, float y) { return x / y; }
#endif
KUDZU_OVERLOAD2(fdivide)

KUDZU_D double fma(double x, double y, double z) { return __builtin_fma(x, y, z); }
KUDZU_D float fmaf(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KUDZU_D float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
KUDZU_D double norm3d(double x, double y, double z) { return __nv_norm3d(x, y, z); }
KUDZU_D float norm3df(float x, float y, float z) { return __nv_norm3df(x, y, z); }
KUDZU_D float norm3d(float x, float y, float z) { return norm3df(x, y, z); }
KUDZU_D double rnorm3d(double x, double y, double z) { return __nv_rnorm3d(x, y, z); }
KUDZU_D float rnorm3df(float x, float y, float z) { return __nv_rnorm3df(x, y, z); }
KUDZU_D float rnorm3d(float x, float y, float z) { return rnorm3df(x, y, z); }
KUDZU_D double norm4d(double x, double y, double z, double w) { return __nv_norm4d(x, y, z, w); }
KUDZU_D float norm4df(float x, float y, float z, float w) { return __nv_norm4df(x, y, z, w); }
KUDZU_D float norm4d(float x, float y, float z, float w) { return norm4df(x, y, z, w); }
KUDZU_D double rnorm4d(double x, double y, double z, double w) { return __nv_rnorm4d(x, y, z, w); }
KUDZU_D float rnorm4df(float x, float y, float z, float w) { return __nv_rnorm4df(x, y, z, w); }
KUDZU_D float rnorm4d(float x, float y, float z, float w) { return rnorm4df(x, y, z, w); }
KUDZU_D double norm(int n, const double *p) { return __nv_norm(n, p); }
KUDZU_D float normf(int n, const float *p) { return __nv_normf(n, p); }
KUDZU_D float norm(int n, const float *p) { return __nv_normf(n, p); }
KUDZU_D double rnorm(int n, const double *p) { return __nv_rnorm(n, p); }
KUDZU_D float rnormf(int n, const float *p) { return __nv_rnormf(n, p); }
KUDZU_D float rnorm(int n, const float *p) { return __nv_rnormf(n, p); }

KUDZU_D double frexp(double x, int *e) { return __nv_frexp(x, e); }
KUDZU_D float frexpf(float x, int *e) { return __nv_frexpf(x, e); }
KUDZU_D float frexp(float x, int *e) { return __nv_frexpf(x, e); }
KUDZU_D double modf(double x, double *i) { return __nv_modf(x, i); }
KUDZU_D float modff(float x, float *i) { return __nv_modff(x, i); }
KUDZU_D float modf(float x, float *i) { return __nv_modff(x, i); }
KUDZU_D double remquo(double x, double y, int *q) { return __nv_remquo(x, y, q); }
KUDZU_D float remquof(float x, float y, int *q) { return __nv_remquof(x, y, q); }
KUDZU_D float remquo(float x, float y, int *q) { return __nv_remquof(x, y, q); }
KUDZU_D double ldexp(double x, int e) { return __nv_ldexp(x, e); }
KUDZU_D float ldexpf(float x, int e) { return __nv_ldexpf(x, e); }
KUDZU_D float ldexp(float x, int e) { return __nv_ldexpf(x, e); }
template <class T> KUDZU_D __kudzu::of_integer<T> ldexp(T x, int e) { return __nv_ldexp((double)x, e); }
KUDZU_D double scalbn(double x, int e) { return __nv_scalbn(x, e); }
KUDZU_D float scalbnf(float x, int e) { return __nv_scalbnf(x, e); }
KUDZU_D float scalbn(float x, int e) { return __nv_scalbnf(x, e); }
// An exponent past int has the same result as the largest one that fits.
KUDZU_D int __kudzu_exponent(long e) { return e > 2147483647L ? 2147483647 : e < -2147483647L ? -2147483647 : (int)e; }
KUDZU_D double scalbln(double x, long e) { return __nv_scalbn(x, __kudzu_exponent(e)); }
KUDZU_D float scalblnf(float x, long e) { return __nv_scalbnf(x, __kudzu_exponent(e)); }
KUDZU_D float scalbln(float x, long e) { return scalblnf(x, e); }
KUDZU_D int ilogb(double x) { return __nv_ilogb(x); }
KUDZU_D int ilogbf(float x) { return __nv_ilogbf(x); }
KUDZU_D int ilogb(float x) { return __nv_ilogbf(x); }
KUDZU_D double jn(int n, double x) { return __nv_jn(n, x); }
KUDZU_D float jnf(int n, float x) { return __nv_jnf(n, x); }
KUDZU_D float jn(int n, float x) { return __nv_jnf(n, x); }
KUDZU_D double yn(int n, double x) { return __nv_yn(n, x); }
KUDZU_D float ynf(int n, float x) { return __nv_ynf(n, x); }
KUDZU_D float yn(int n, float x) { return __nv_ynf(n, x); }
KUDZU_D long lrint(double x) { return __nv_llrint(x); }
KUDZU_D long lrintf(float x) { return __nv_llrintf(x); }
KUDZU_D long lrint(float x) { return __nv_llrintf(x); }
KUDZU_D long lround(double x) { return __nv_llround(x); }
KUDZU_D long lroundf(float x) { return __nv_llroundf(x); }
KUDZU_D long lround(float x) { return __nv_llroundf(x); }
KUDZU_D long long llrint(double x) { return __nv_llrint(x); }
KUDZU_D long long llrintf(float x) { return __nv_llrintf(x); }
KUDZU_D long long llrint(float x) { return __nv_llrintf(x); }
KUDZU_D long long llround(double x) { return __nv_llround(x); }
KUDZU_D long long llroundf(float x) { return __nv_llroundf(x); }
KUDZU_D long long llround(float x) { return __nv_llroundf(x); }
KUDZU_D double nan(const char *tag) { return __nv_nan((const signed char *)tag); }
KUDZU_D float nanf(const char *tag) { return __nv_nanf((const signed char *)tag); }

#define KUDZU_CLASS(name, expression)                                                                                 \
  KUDZU_D bool name(double x) { return expression; }                                                                  \
  KUDZU_D bool name(float x) { return expression; }                                                                   \
  template <class T> KUDZU_D typename __kudzu::enable_if<__kudzu::is_integral<T>::value, bool>::type name(T v) {      \
    double x = v;                                                                                                     \
    return expression;                                                                                                \
  }
#ifdef __CUDACC_RTC__
KUDZU_CLASS(isnan, __builtin_isnan(x))
KUDZU_CLASS(isinf, __builtin_isinf(x))
KUDZU_CLASS(isfinite, __builtin_isfinite(x))
KUDZU_CLASS(isnormal, __builtin_isnormal(x))
KUDZU_CLASS(signbit, __builtin_signbit(x) != 0)
#endif
#undef KUDZU_CLASS
KUDZU_D int __isnan(double x) { return __builtin_isnan(x); }
KUDZU_D int __isnanf(float x) { return __builtin_isnan(x); }
KUDZU_D int __isinf(double x) { return __builtin_isinf(x); }
KUDZU_D int __isinff(float x) { return __builtin_isinf(x); }
KUDZU_D int __finite(double x) { return __builtin_isfinite(x); }
KUDZU_D int __finitef(float x) { return __builtin_isfinite(x); }
KUDZU_D int __isfinited(double x) { return __builtin_isfinite(x); }
KUDZU_D int __signbit(double x) { return __builtin_signbit(x); }
KUDZU_D int __signbitf(float x) { return __builtin_signbit(x); }
KUDZU_D int __signbitd(double x) { return __builtin_signbit(x); }

KUDZU_D int abs(int x) { return x < 0 ? -x : x; }
KUDZU_D long abs(long x) { return x < 0 ? -x : x; }
KUDZU_D long long abs(long long x) { return x < 0 ? -x : x; }
KUDZU_D float abs(float x) { return __builtin_fabsf(x); }
KUDZU_D double abs(double x) { return __builtin_fabs(x); }
KUDZU_D long labs(long x) { return x < 0 ? -x : x; }
KUDZU_D long long llabs(long long x) { return x < 0 ? -x : x; }

// Equal types, and int with its unsigned kind, which gives unsigned. Host code has these without a header too.
#define KUDZU_MINMAX(R, A, B)                                                                                         \
  KUDZU_HD R min(A x, B y) { return (R)x < (R)y ? (R)x : (R)y; }                                                       \
  KUDZU_HD R max(A x, B y) { return (R)x > (R)y ? (R)x : (R)y; }
#define KUDZU_MINMAX3(U, S)                                                                                           \
  KUDZU_MINMAX(S, S, S) KUDZU_MINMAX(U, U, U) KUDZU_MINMAX(U, S, U) KUDZU_MINMAX(U, U, S)
KUDZU_MINMAX3(unsigned int, int)
KUDZU_MINMAX3(unsigned long, long)
KUDZU_MINMAX3(unsigned long long, long long)
#undef KUDZU_MINMAX3
#undef KUDZU_MINMAX
KUDZU_HD float min(float x, float y) { return __builtin_fminf(x, y); }
KUDZU_HD float max(float x, float y) { return __builtin_fmaxf(x, y); }
KUDZU_HD double min(double x, double y) { return __builtin_fmin(x, y); }
KUDZU_HD double max(double x, double y) { return __builtin_fmax(x, y); }
KUDZU_HD double min(float x, double y) { return __builtin_fmin(x, y); }
KUDZU_HD double max(float x, double y) { return __builtin_fmax(x, y); }
KUDZU_HD double min(double x, float y) { return __builtin_fmin(x, y); }
KUDZU_HD double max(double x, float y) { return __builtin_fmax(x, y); }
KUDZU_HD unsigned int umin(unsigned int x, unsigned int y) { return min(x, y); }
KUDZU_HD unsigned int umax(unsigned int x, unsigned int y) { return max(x, y); }
KUDZU_HD long long llmin(long long x, long long y) { return min(x, y); }
KUDZU_HD long long llmax(long long x, long long y) { return max(x, y); }
KUDZU_HD unsigned long long ullmin(unsigned long long x, unsigned long long y) { return min(x, y); }
KUDZU_HD unsigned long long ullmax(unsigned long long x, unsigned long long y) { return max(x, y); }

#ifdef __CUDA_ARCH__
// clang 22 has an instruction for __builtin_modf that NVPTX does not know. libstdc++ and CCCL call it.
#define KUDZU_MODF(name, T, f)                                                                                        \
  KUDZU_HD T name(T x, T *i) {                                                                                        \
    *i = __builtin_trunc##f(x);                                                                                       \
    return __builtin_copysign##f(__builtin_isinf(x) ? T(0) : x - *i, x);                                              \
  }
KUDZU_MODF(__kudzu_modf, double, )
KUDZU_MODF(__kudzu_modff, float, f)
#undef KUDZU_MODF
#define __builtin_modf(x, i) __kudzu_modf(x, i)
#define __builtin_modff(x, i) __kudzu_modff(x, i)
#endif

#undef KUDZU_OVERLOAD1
#undef KUDZU_OVERLOAD2
#undef KUDZU_MATH1
#undef KUDZU_MATH2
#undef KUDZU_BUILTIN1
#undef KUDZU_BUILTIN2
#undef KUDZU_FAST1
#undef KUDZU_PICK

#endif
