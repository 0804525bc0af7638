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
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ABS(x) __builtin_fabsf(x)
#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))
#ifdef __AMDGCN__
/* For a comparison of code (scripts/amd/code.sh): clang's own HIP, without any vendor header. */
#define TX ((int)__builtin_amdgcn_workitem_id_x())
#define TY ((int)__builtin_amdgcn_workitem_id_y())
#define TZ ((int)__builtin_amdgcn_workitem_id_z())
#define BX ((int)__builtin_amdgcn_workgroup_id_x())
#define BY ((int)__builtin_amdgcn_workgroup_id_y())
#define BZ ((int)__builtin_amdgcn_workgroup_id_z())
#define NX ((int)__builtin_amdgcn_workgroup_size_x())
#define NY ((int)__builtin_amdgcn_workgroup_size_y())
#define GX ((int)(__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x()))
#define SYNC (__builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"), __builtin_amdgcn_s_barrier(), __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"))
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define RSQRT(x) __builtin_amdgcn_rsqf(x)
#define SQRT(x) __builtin_sqrtf(x)
#define EXP(x) __builtin_amdgcn_exp2f((x) * 1.44269504088896f)
#define LOG(x) (__builtin_amdgcn_logf(x) * 0.693147180559945f)
#define FMAX(a, b) __builtin_fmaxf(a, b)
#define ATOMIC_ADD(p, v) ((uint)__hip_atomic_fetch_add((int *)(p), (int)(v), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
#define LANE ((int)__builtin_amdgcn_mbcnt_lo(~0u, 0))
FUNCTION int lane_read(int v, int l) { return __builtin_amdgcn_ds_bpermute(l << 2, v); }
FUNCTION float lane_readf(float v, int l) { return __builtin_bit_cast(float, lane_read(__builtin_bit_cast(int, v), l)); }
#define SHFL_DOWN(v, d) lane_readf(v, LANE + (d) > 31 ? LANE : LANE + (d))
#define SHFL_XOR(v, d) lane_readf(v, LANE ^ (d))
#define SHFL_XOR_I(v, d) lane_read(v, LANE ^ (d))
#define SHFL(v, l) lane_readf(v, l)
#define SHFL_UP_I(v, d) lane_read(v, LANE < (d) ? LANE : LANE - (d))
#else
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
#define FMAX(a, b) __nvvm_fmax_f(a, b)
#define ATOMIC_ADD(p, v) ((uint)__nvvm_atom_add_gen_i((int *)(p), (int)(v)))
#define SHFL_DOWN(v, d) __nvvm_shfl_sync_down_f32(0xffffffffu, v, d, 31)
#define SHFL_XOR(v, d) __nvvm_shfl_sync_bfly_f32(0xffffffffu, v, d, 31)
#define SHFL_XOR_I(v, d) __nvvm_shfl_sync_bfly_i32(0xffffffffu, v, d, 31)
#define SHFL(v, l) __nvvm_shfl_sync_idx_f32(0xffffffffu, v, l, 31)
#define SHFL_UP_I(v, d) __nvvm_shfl_sync_up_i32(0xffffffffu, v, d, 0)
#endif
#endif
