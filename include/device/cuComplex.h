// Complex numbers as pairs, and their arithmetic.
#ifndef KUDZU_CUCOMPLEX_H
#define KUDZU_CUCOMPLEX_H
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_
#endif
#pragma GCC system_header

#include "cuda_runtime.h"
#ifndef __CUDACC_RTC__
#include <math.h>
#endif

// Host code in C has it, too.
#if defined(__CUDA__) || defined(__CUDACC_RTC__)
#define KUDZU_COMPLEX_HD KUDZU_HD
#else
#define KUDZU_COMPLEX_HD static inline
#endif
#ifdef __cplusplus
#define KUDZU_PAIR(C, x, y) C{x, y}
#else
#define KUDZU_PAIR(C, x, y) ((C){x, y})
#endif

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

// T is the number, C the pair, and f the ending of the names.
#define KUDZU_COMPLEX(T, C, f, abs_, sqrt_)                                                                           \
  KUDZU_COMPLEX_HD T cuCreal##f(C z) { return z.x; }                                                                  \
  KUDZU_COMPLEX_HD T cuCimag##f(C z) { return z.y; }                                                                  \
  KUDZU_COMPLEX_HD C cuConj##f(C z) { return KUDZU_PAIR(C, z.x, -z.y); }                                              \
  KUDZU_COMPLEX_HD C cuCadd##f(C a, C b) { return KUDZU_PAIR(C, a.x + b.x, a.y + b.y); }                              \
  KUDZU_COMPLEX_HD C cuCsub##f(C a, C b) { return KUDZU_PAIR(C, a.x - b.x, a.y - b.y); }                              \
  KUDZU_COMPLEX_HD C cuCmul##f(C a, C b) { return KUDZU_PAIR(C, a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }      \
  /* the divisor is scaled first, so that its square does not overflow */                                             \
  KUDZU_COMPLEX_HD C cuCdiv##f(C a, C b) {                                                                            \
    T s = abs_(b.x) + abs_(b.y), o = (T)1 / s;                                                                        \
    T ax = a.x * o, ay = a.y * o, bx = b.x * o, by = b.y * o;                                                         \
    T q = (T)1 / (bx * bx + by * by);                                                                                 \
    return KUDZU_PAIR(C, (ax * bx + ay * by) * q, (ay * bx - ax * by) * q);                                           \
  }                                                                                                                   \
  KUDZU_COMPLEX_HD T cuCabs##f(C z) {                                                                                 \
    T a = abs_(z.x), b = abs_(z.y), v = a > b ? a : b, w = a > b ? b : a, t = w / v;                                  \
    t = v * sqrt_((T)1 + t * t);                                                                                      \
    const T huge = sizeof(T) == 4 ? (T)3.402823466e38f : (T)1.7976931348623157e308;                                   \
    return v == 0 || v > huge || w > huge ? v + w : t;                                                                \
  }                                                                                                                   \
  KUDZU_COMPLEX_HD C cuCfma##f(C a, C b, C c) {                                                                       \
    T r = a.x * b.x + c.x, i = a.x * b.y + c.y;                                                                       \
    return KUDZU_PAIR(C, -(a.y * b.y) + r, a.y * b.x + i);                                                            \
  }
KUDZU_COMPLEX(float, cuFloatComplex, f, __builtin_fabsf, __builtin_sqrtf)
KUDZU_COMPLEX(double, cuDoubleComplex, , __builtin_fabs, __builtin_sqrt)
#undef KUDZU_COMPLEX

KUDZU_COMPLEX_HD cuFloatComplex make_cuFloatComplex(float r, float i) { return KUDZU_PAIR(cuFloatComplex, r, i); }
KUDZU_COMPLEX_HD cuDoubleComplex make_cuDoubleComplex(double r, double i) { return KUDZU_PAIR(cuDoubleComplex, r, i); }
KUDZU_COMPLEX_HD cuComplex make_cuComplex(float r, float i) { return KUDZU_PAIR(cuComplex, r, i); }
KUDZU_COMPLEX_HD cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return KUDZU_PAIR(cuDoubleComplex, z.x, z.y); }
KUDZU_COMPLEX_HD cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return KUDZU_PAIR(cuFloatComplex, (float)z.x, (float)z.y); }

#undef KUDZU_COMPLEX_HD
#undef KUDZU_PAIR

#endif
