// threadIdx and its like: objects without storage, whose members read special registers.
#ifndef KUDZU_VARS_H
#define KUDZU_VARS_H
#pragma GCC system_header

#include "vector.h"

#define KUDZU_SREG(member, reg)                                                                                       \
  __declspec(property(get = kudzu_##member)) unsigned int member;                                                     \
  static __device__ __inline__ __attribute__((always_inline)) unsigned int kudzu_##member() {                         \
    return __nvvm_read_ptx_sreg_##reg();                                                                              \
  }

// Nothing can make, copy or write one.
#define KUDZU_VAR(type, reg)                                                                                          \
  struct type {                                                                                                       \
    KUDZU_SREG(x, reg##_x)                                                                                            \
    KUDZU_SREG(y, reg##_y)                                                                                            \
    KUDZU_SREG(z, reg##_z)                                                                                            \
    __device__ __inline__ operator uint3() const { return uint3{x, y, z}; }                                           \
    __device__ __inline__ operator dim3() const { return dim3(x, y, z); }                                             \
                                                                                                                      \
   private:                                                                                                           \
    __device__ type();                                                                                                \
    __device__ type(const type &);                                                                                    \
    __device__ void operator=(const type &) const;                                                                    \
    __device__ type *operator&() const;                                                                               \
  };

KUDZU_VAR(__kudzu_thread_idx, tid)
KUDZU_VAR(__kudzu_block_idx, ctaid)
KUDZU_VAR(__kudzu_block_dim, ntid)
KUDZU_VAR(__kudzu_grid_dim, nctaid)

#undef KUDZU_VAR
#undef KUDZU_SREG

extern const __device__ __attribute__((weak)) __kudzu_thread_idx threadIdx;
extern const __device__ __attribute__((weak)) __kudzu_block_idx blockIdx;
extern const __device__ __attribute__((weak)) __kudzu_block_dim blockDim;
extern const __device__ __attribute__((weak)) __kudzu_grid_dim gridDim;

// A constant expression, as the manual allows it to be; a macro would clash with members of that name.
static __device__ const int warpSize = 32;

#endif
