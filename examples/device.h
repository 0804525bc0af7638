/* The few words of CUDA C++ that the examples' kernels use, for clang without any vendor header: kernels here are
 * compiled with -x cuda -nocudainc -nocudalib --cuda-device-only. */
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define KERNEL extern "C" __global__ void

#define THREAD_X __nvvm_read_ptx_sreg_tid_x()
#define THREAD_Y __nvvm_read_ptx_sreg_tid_y()
#define BLOCK_X __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#define BLOCK_DIM_X __nvvm_read_ptx_sreg_ntid_x()
#define BLOCK_DIM_Y __nvvm_read_ptx_sreg_ntid_y()
#define GRID_DIM_X __nvvm_read_ptx_sreg_nctaid_x()

static inline __device__ void barrier() { __syncthreads(); }
static inline __device__ float shuffle_down(float v, int delta) { return __nvvm_shfl_sync_down_f32(0xffffffffu, v, delta, 31); }
static inline __device__ unsigned atomic_add(unsigned *p, unsigned v) { return __nvvm_atom_add_gen_i((int *)p, (int)v); }
