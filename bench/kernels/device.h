/* The few words in which the bench kernels are written: CUDA C++ for clang without any vendor header (-x cuda -nocudainc
 * -nocudalib --cuda-device-only), and OpenCL C 1.2 for PoCL. One text for both keeps the algorithms the same; where
 * OpenCL 1.2 has no warp operations the kernel says what it does instead. */
#pragma once
#ifdef __OPENCL_VERSION__
#define KERNEL __kernel void
#define POINTER_TO_SHARED __local
#define GLOBAL __global
#define SHARED __local
#define CONSTANT __constant
#define FUNCTION static inline
#define RESTRICT restrict
#define TX ((int)get_local_id(0))
#define TY ((int)get_local_id(1))
#define TZ ((int)get_local_id(2))
#define BX ((int)get_group_id(0))
#define BY ((int)get_group_id(1))
#define BZ ((int)get_group_id(2))
#define NX ((int)get_local_size(0))
#define NY ((int)get_local_size(1))
#define GX ((int)get_num_groups(0))
#define SYNC barrier(CLK_LOCAL_MEM_FENCE)
#define FMA(a, b, c) fma(a, b, c)
#define RSQRT(x) native_rsqrt(x)
#define SQRT(x) native_sqrt(x)
#define EXP(x) native_exp(x)
#define LOG(x) native_log(x)
#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)
#define FMAX(a, b) fmax(a, b)
#define ABS(x) fabs(x)
#define ATOMIC_ADD(p, v) atomic_add(p, v)
#define ROTL(x, n) rotate((uint)(x), (uint)(n))
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define KERNEL extern "C" __global__ void
#define POINTER_TO_SHARED
#define GLOBAL
#define SHARED __shared__
#define CONSTANT __constant__ const
#define FUNCTION static inline __device__ __attribute__((always_inline))
#define RESTRICT __restrict__
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef uint uint4 __attribute__((ext_vector_type(4)));
#define TX ((int)__nvvm_read_ptx_sreg_tid_x())
#define TY ((int)__nvvm_read_ptx_sreg_tid_y())
#define TZ ((int)__nvvm_read_ptx_sreg_tid_z())
#define BX ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define BY ((int)__nvvm_read_ptx_sreg_ctaid_y())
#define BZ ((int)__nvvm_read_ptx_sreg_ctaid_z())
#define NX ((int)__nvvm_read_ptx_sreg_ntid_x())
#define NY ((int)__nvvm_read_ptx_sreg_ntid_y())
#define GX ((int)__nvvm_read_ptx_sreg_nctaid_x())
#define SYNC __syncthreads()
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define RSQRT(x) __nvvm_rsqrt_approx_f(x)
#define SQRT(x) __nvvm_sqrt_rn_f(x)
/* As __expf and __logf: one base-two instruction and a multiplication. */
#define EXP(x) __nvvm_ex2_approx_f((x) * 1.44269504088896f)
#define LOG(x) (__nvvm_lg2_approx_f(x) * 0.693147180559945f)
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define FMAX(a, b) __nvvm_fmax_f(a, b)
#define ABS(x) __builtin_fabsf(x)
#define ATOMIC_ADD(p, v) ((uint)__nvvm_atom_add_gen_i((int *)(p), (int)(v)))
#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))
#define SHFL_DOWN(v, d) __nvvm_shfl_sync_down_f32(0xffffffffu, v, d, 31)
#define SHFL_XOR(v, d) __nvvm_shfl_sync_bfly_f32(0xffffffffu, v, d, 31)
#define SHFL_XOR_I(v, d) __nvvm_shfl_sync_bfly_i32(0xffffffffu, v, d, 31)
#define SHFL(v, l) __nvvm_shfl_sync_idx_f32(0xffffffffu, v, l, 31)
#define SHFL_UP_I(v, d) __nvvm_shfl_sync_up_i32(0xffffffffu, v, d, 0)
#endif
