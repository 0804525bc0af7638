// CUDA C++'s keywords as attributes of clang's CUDA mode, the version macros, and the integer types that CUDA C++ has without
// any header.
#ifndef KUDZU_KEYWORDS_H
#define KUDZU_KEYWORDS_H
#pragma GCC system_header

#ifdef __CUDA__
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#endif
#ifndef __CUDA_API_VER_MAJOR__
#define __CUDA_API_VER_MAJOR__ __CUDACC_VER_MAJOR__
#define __CUDA_API_VER_MINOR__ __CUDACC_VER_MINOR__
#endif
#ifndef CUDA_VERSION
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION CUDA_VERSION
#endif

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device, annotate("kudzu.managed")))
#define __grid_constant__ __attribute__((grid_constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __maxnreg__(n) __attribute__((annotate("kudzu.maxnreg", n)))
#define __cluster_dims__(...) __attribute__((annotate("kudzu.cluster_dims", __VA_ARGS__)))
#define __block_size__(...)
#define __nv_pure__ __attribute__((pure))
#define __inline_hint__ __inline__
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __location__(a) __attribute__((a))
#define __annotate__(a) __attribute__((a))
#define __no_return__ __attribute__((noreturn))
#define __device_launch_parameters__
// nvcc's questions about extended lambdas. A lambda is one of C++ here, with a return type that both sides know.
#define __nv_is_extended_device_lambda_closure_type(...) false
#define __nv_is_extended_host_device_lambda_closure_type(...) false
#define __nv_is_extended_device_lambda_with_preserved_return_type(...) false
#else
// A C++ compiler that knows one side only.
#define __global__
#define __device__
#define __host__
#define __shared__
#define __constant__
#define __managed__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#endif

#ifndef CUDARTAPI
#define CUDARTAPI
#endif
#define CUDARTAPI_CDECL
#ifndef CUDART_CB
#define CUDART_CB
#endif
#define CUDART_DEVICE __device__

// __forceinline__ also marks functions of -fgpu-rdc, which must not clash between files.
#define __forceinline__ __inline__ __attribute__((always_inline))

// How our own headers declare a function of the device, and one of both sides.
#define KUDZU_D static __device__ __inline__ __attribute__((always_inline))
// Intrinsics that NVIDIA's headers only declare, because its compiler has them: a program may define its own, as Blender's Cycles does
// with __float_as_int. The condition makes ours an overload of its own, which calls prefer.
#define KUDZU_BUILTIN KUDZU_D __attribute__((enable_if(1, "")))
#define KUDZU_HD static __host__ __device__ __inline__ __attribute__((always_inline))
#define KUDZU_LIB extern "C" __device__ __attribute__((const))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;

#ifdef __CUDACC_RTC__
// clang's limits, under the names that CUDA C++ has at run time without a header. The types of <stdint.h> stay undeclared, as in NVRTC.
typedef long clock_t;
typedef __builtin_va_list va_list;
#ifndef NULL
#define NULL __null
#endif
#ifndef CHAR_BIT
#define CHAR_BIT __CHAR_BIT__
#define SCHAR_MAX __SCHAR_MAX__
#define SCHAR_MIN (-__SCHAR_MAX__ - 1)
#define UCHAR_MAX (__SCHAR_MAX__ * 2 + 1)
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX __SCHAR_MAX__
#define SHRT_MAX __SHRT_MAX__
#define SHRT_MIN (-__SHRT_MAX__ - 1)
#define USHRT_MAX (__SHRT_MAX__ * 2 + 1)
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-__LONG_MAX__ - 1L)
#define ULONG_MAX (__LONG_MAX__ * 2UL + 1UL)
#define LLONG_MAX __LONG_LONG_MAX__
#define LLONG_MIN (-__LONG_LONG_MAX__ - 1LL)
#define ULLONG_MAX (__LONG_LONG_MAX__ * 2ULL + 1ULL)
#endif
#endif

#endif
