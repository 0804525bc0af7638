// The functions of libdevice, by the names of its guide.
#ifndef KUDZU_LIBDEVICE_H
#define KUDZU_LIBDEVICE_H
#pragma GCC system_header

#include "keywords.h"

// name for double, namef for float
#define KUDZU_NV1(name)                                                                                               \
  KUDZU_LIB double __nv_##name(double);                                                                               \
  KUDZU_LIB float __nv_##name##f(float);
#define KUDZU_NV2(name)                                                                                               \
  KUDZU_LIB double __nv_##name(double, double);                                                                       \
  KUDZU_LIB float __nv_##name##f(float, float);

KUDZU_NV1(acos)
KUDZU_NV1(acosh)
KUDZU_NV1(asin)
KUDZU_NV1(asinh)
KUDZU_NV1(atan)
KUDZU_NV1(atanh)
KUDZU_NV1(cbrt)
KUDZU_NV1(cos)
KUDZU_NV1(cosh)
KUDZU_NV1(cospi)
KUDZU_NV1(cyl_bessel_i0)
KUDZU_NV1(cyl_bessel_i1)
KUDZU_NV1(erf)
KUDZU_NV1(erfc)
KUDZU_NV1(erfcinv)
KUDZU_NV1(erfcx)
KUDZU_NV1(erfinv)
KUDZU_NV1(exp)
KUDZU_NV1(exp10)
KUDZU_NV1(exp2)
KUDZU_NV1(expm1)
KUDZU_NV1(j0)
KUDZU_NV1(j1)
KUDZU_NV1(lgamma)
KUDZU_NV1(log)
KUDZU_NV1(log10)
KUDZU_NV1(log1p)
KUDZU_NV1(log2)
KUDZU_NV1(logb)
KUDZU_NV1(nearbyint)
KUDZU_NV1(normcdf)
KUDZU_NV1(normcdfinv)
KUDZU_NV1(rcbrt)
KUDZU_NV1(rint)
KUDZU_NV1(round)
KUDZU_NV1(rsqrt)
KUDZU_NV1(sin)
KUDZU_NV1(sinh)
KUDZU_NV1(sinpi)
KUDZU_NV1(sqrt)
KUDZU_NV1(tan)
KUDZU_NV1(tanh)
KUDZU_NV1(tgamma)
KUDZU_NV1(y0)
KUDZU_NV1(y1)
KUDZU_NV2(atan2)
KUDZU_NV2(fdim)
KUDZU_NV2(fmod)
KUDZU_NV2(hypot)
KUDZU_NV2(nextafter)
KUDZU_NV2(pow)
KUDZU_NV2(remainder)
KUDZU_NV2(rhypot)

#undef KUDZU_NV1
#undef KUDZU_NV2

KUDZU_LIB double __nv_norm3d(double, double, double);
KUDZU_LIB float __nv_norm3df(float, float, float);
KUDZU_LIB double __nv_rnorm3d(double, double, double);
KUDZU_LIB float __nv_rnorm3df(float, float, float);
KUDZU_LIB double __nv_norm4d(double, double, double, double);
KUDZU_LIB float __nv_norm4df(float, float, float, float);
KUDZU_LIB double __nv_rnorm4d(double, double, double, double);
KUDZU_LIB float __nv_rnorm4df(float, float, float, float);
KUDZU_LIB double __nv_jn(int, double);
KUDZU_LIB float __nv_jnf(int, float);
KUDZU_LIB double __nv_yn(int, double);
KUDZU_LIB float __nv_ynf(int, float);
KUDZU_LIB double __nv_ldexp(double, int);
KUDZU_LIB float __nv_ldexpf(float, int);
KUDZU_LIB double __nv_scalbn(double, int);
KUDZU_LIB float __nv_scalbnf(float, int);
KUDZU_LIB double __nv_powi(double, int);
KUDZU_LIB float __nv_powif(float, int);
KUDZU_LIB int __nv_ilogb(double);
KUDZU_LIB int __nv_ilogbf(float);
KUDZU_LIB long long __nv_llrint(double);
KUDZU_LIB long long __nv_llrintf(float);
KUDZU_LIB long long __nv_llround(double);
KUDZU_LIB long long __nv_llroundf(float);

// These write through pointers.
extern "C" __device__ double __nv_frexp(double, int *);
extern "C" __device__ float __nv_frexpf(float, int *);
extern "C" __device__ double __nv_modf(double, double *);
extern "C" __device__ float __nv_modff(float, float *);
extern "C" __device__ double __nv_remquo(double, double, int *);
extern "C" __device__ float __nv_remquof(float, float, int *);
extern "C" __device__ void __nv_sincos(double, double *, double *);
extern "C" __device__ void __nv_sincosf(float, float *, float *);
extern "C" __device__ void __nv_sincospi(double, double *, double *);
extern "C" __device__ void __nv_sincospif(float, float *, float *);
extern "C" __device__ double __nv_norm(int, const double *);
extern "C" __device__ float __nv_normf(int, const float *);
extern "C" __device__ double __nv_rnorm(int, const double *);
extern "C" __device__ float __nv_rnormf(int, const float *);
extern "C" __device__ double __nv_nan(const signed char *);
extern "C" __device__ float __nv_nanf(const signed char *);

KUDZU_LIB float __nv_fast_cosf(float);
KUDZU_LIB float __nv_fast_exp10f(float);
KUDZU_LIB float __nv_fast_expf(float);
KUDZU_LIB float __nv_fast_fdividef(float, float);
KUDZU_LIB float __nv_fast_log10f(float);
KUDZU_LIB float __nv_fast_log2f(float);
KUDZU_LIB float __nv_fast_logf(float);
KUDZU_LIB float __nv_fast_powf(float, float);
KUDZU_LIB float __nv_fast_sinf(float);
KUDZU_LIB float __nv_fast_tanf(float);
extern "C" __device__ void __nv_fast_sincosf(float, float *, float *);

#endif
