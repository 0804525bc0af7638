// bfloat16: the types __nv_bfloat16 and __nv_bfloat162 and their functions.
#ifndef KUDZU_CUDA_BF16_H
#define KUDZU_CUDA_BF16_H
#pragma GCC system_header

#define __CUDA_BF16_TYPES_EXIST__
#define __CUDA_BF16_H__

#include "cuda_fp16.h"

#define KUDZU_H __nv_bfloat16
#define KUDZU_H2 __nv_bfloat162
#define KUDZU_RAW __nv_bfloat16_raw
#define KUDZU_RAW2 __nv_bfloat162_raw
#define KUDZU_F __bf16
#define KUDZU_NARROW __kudzu::narrow<8, 7>
#define KUDZU_WIDEN(b) __builtin_bit_cast(float, (unsigned int)(b) << 16)
#define KUDZU_VALUE KUDZU_WIDEN // an instruction for it needs capability 9.0
#define KUDZU_OF_DOUBLE(d) (__kudzu::narrow<8, 7>(d, __kudzu::nearest))
#define KUDZU_FROM_OTHER __half
#include "kudzu/halves_type.h"
#define KUDZU_ARITH (float)
#define KUDZU_NAME bfloat16
#define KUDZU_PTX "bf16"
#define KUDZU_INF 0x7f80
#define KUDZU_FMA_ARCH 800
#define KUDZU_ATOMIC_ARCH 900
#define KUDZU_ATOMIC2_ARCH 900
#include "kudzu/halves.h"

KUDZU_HD __nv_bfloat16 __float2bfloat16_rz(float f) {
  return __ushort_as_bfloat16(__kudzu::narrow<8, 7>((double)f, __kudzu::zero));
}
KUDZU_HD __nv_bfloat16 __float2bfloat16_rd(float f) {
  return __ushort_as_bfloat16(__kudzu::narrow<8, 7>((double)f, __kudzu::down));
}
KUDZU_HD __nv_bfloat16 __float2bfloat16_ru(float f) {
  return __ushort_as_bfloat16(__kudzu::narrow<8, 7>((double)f, __kudzu::up));
}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

#endif
