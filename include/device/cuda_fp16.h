// Half precision: the types __half and __half2 and their functions.
#ifndef KUDZU_CUDA_FP16_H
#define KUDZU_CUDA_FP16_H
#pragma GCC system_header

#define __CUDA_FP16_TYPES_EXIST__
#define __CUDA_FP16_H__

#include "cuda_runtime.h"
#include "kudzu/narrow.h"

KUDZU_HD float __kudzu_half_widen(unsigned short b) {
  if ((b & 0x7c00) == 0x7c00) // infinity or NaN
    return __builtin_bit_cast(float, (b & 0x8000u) << 16 | 0x7f800000u | (b & 0x3ffu) << 13);
  return __kudzu::widen_finite<5, 10>(b);
}

#define KUDZU_H __half
#define KUDZU_H2 __half2
#define KUDZU_RAW __half_raw
#define KUDZU_RAW2 __half2_raw
#define KUDZU_F _Float16
#define KUDZU_NARROW __kudzu::narrow<5, 10>
#define KUDZU_WIDEN __kudzu_half_widen
#define KUDZU_VALUE(b) (float)__builtin_bit_cast(_Float16, b)
#define KUDZU_OF_DOUBLE(d) __builtin_bit_cast(unsigned short, (_Float16)(d))
#include "kudzu/halves_type.h"
#define KUDZU_ARITH(h) __builtin_bit_cast(_Float16, h)
#define KUDZU_NAME half
#define KUDZU_PTX "f16"
#define KUDZU_INF 0x7c00
#define KUDZU_FMA_ARCH 530
#define KUDZU_ATOMIC_ARCH 700
#define KUDZU_ATOMIC2_ARCH 600
#include "kudzu/halves.h"

#define KUDZU_FLOAT_TO(rnd, ptx, mode)                                                                                \
  KUDZU_HD __half __float2half_##rnd(float f) {                                                                       \
    unsigned short r;                                                                                                 \
    KUDZU_ON_DEVICE(asm("cvt." ptx ".f16.f32 %0, %1;" : "=h"(r) : "f"(f)),                                            \
                    r = (__kudzu::narrow<5, 10>((double)f, __kudzu::mode)));                                          \
    return __ushort_as_half(r);                                                                                       \
  }
#ifdef __CUDA_ARCH__
#define KUDZU_ON_DEVICE(device, host) device
#else
#define KUDZU_ON_DEVICE(device, host) host
#endif
KUDZU_FLOAT_TO(rz, "rz", zero)
KUDZU_FLOAT_TO(rd, "rm", down)
KUDZU_FLOAT_TO(ru, "rp", up)
#undef KUDZU_ON_DEVICE
#undef KUDZU_FLOAT_TO

#ifndef CUDA_NO_HALF
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;
#endif

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#endif
