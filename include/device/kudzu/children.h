// The runtime API on the device: kernels that launch kernels, and what they may call beside it. Only for code that is linked
// (-rdc=true): NVIDIA's has it in a library, here the driver has it.
#ifndef KUDZU_CHILDREN_H
#define KUDZU_CHILDREN_H
#pragma GCC system_header

#ifdef __CUDACC_RTC__
#include "zruntime_types.h"
#include "stdlib.h"
#else
#include "cuda_runtime_api.h"
#endif

// A child in this stream begins when the launching grid and its other children have ended.
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

extern "C" {
__device__ void *__cudaCDP2GetParameterBufferV2(void *kernel, dim3 grid, dim3 block, unsigned int shared);
__device__ cudaError_t __cudaCDP2LaunchDeviceV2(void *buffer, cudaStream_t stream);
__device__ cudaError_t __cudaCDP2GetLastError(void);
__device__ cudaError_t __cudaCDP2PeekAtLastError(void);
__device__ cudaError_t __cudaCDP2StreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
__device__ cudaError_t __cudaCDP2StreamDestroy(cudaStream_t stream);
__device__ cudaError_t __cudaCDP2StreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags);
__device__ cudaError_t __cudaCDP2EventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
__device__ cudaError_t __cudaCDP2EventDestroy(cudaEvent_t event);
__device__ cudaError_t __cudaCDP2EventRecord(cudaEvent_t event, cudaStream_t stream);
__device__ cudaError_t __cudaCDP2EventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags);
__device__ cudaError_t __cudaCDP2GetDevice(int *device);
__device__ cudaError_t __cudaCDP2GetDeviceCount(int *count);
__device__ cudaError_t __cudaCDP2Malloc(void **p, size_t size);
__device__ cudaError_t __cudaCDP2Free(void *p);
__device__ cudaError_t __cudaCDP2MemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream);
__device__ cudaError_t __cudaCDP2MemsetAsync(void *to, int value, size_t size, cudaStream_t stream);
__device__ void __cudaCDP2GraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

// clang writes a launch as a buffer for the parameters, by size, and a call that names kernel and grid; the device runtime gives
// buffers to those who name the grid.
__device__ __inline__ void *cudaGetParameterBuffer(size_t, size_t size) {
  char *p = (char *)malloc(64 + size);
  if (!p) return 0;
  *(size_t *)p = size;
  return p + 64;
}

__device__ __inline__ cudaError_t cudaLaunchDevice(void *kernel, void *from, dim3 grid, dim3 block, unsigned int shared,
                                                   cudaStream_t stream) {
  void *buffer = __cudaCDP2GetParameterBufferV2(kernel, grid, block, shared);
  if (from) {
    if (buffer) __builtin_memcpy(buffer, from, *(size_t *)((char *)from - 64));
    free((char *)from - 64);
  }
  return buffer ? __cudaCDP2LaunchDeviceV2(buffer, stream) : cudaErrorLaunchOutOfResources;
}

#define KUDZU_CHILD __device__ __inline__ cudaError_t
KUDZU_CHILD cudaGetLastError(void) { return __cudaCDP2GetLastError(); }
KUDZU_CHILD cudaPeekAtLastError(void) { return __cudaCDP2PeekAtLastError(); }
KUDZU_CHILD cudaStreamCreateWithFlags(cudaStream_t *s, unsigned int f) { return __cudaCDP2StreamCreateWithFlags(s, f); }
KUDZU_CHILD cudaStreamDestroy(cudaStream_t s) { return __cudaCDP2StreamDestroy(s); }
KUDZU_CHILD cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned int f) { return __cudaCDP2StreamWaitEvent(s, e, f); }
KUDZU_CHILD cudaEventCreateWithFlags(cudaEvent_t *e, unsigned int f) { return __cudaCDP2EventCreateWithFlags(e, f); }
KUDZU_CHILD cudaEventDestroy(cudaEvent_t e) { return __cudaCDP2EventDestroy(e); }
KUDZU_CHILD cudaEventRecord(cudaEvent_t e, cudaStream_t s) { return __cudaCDP2EventRecord(e, s); }
KUDZU_CHILD cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned int f) {
  return __cudaCDP2EventRecordWithFlags(e, s, f);
}
KUDZU_CHILD cudaGetDevice(int *d) { return __cudaCDP2GetDevice(d); }
KUDZU_CHILD cudaGetDeviceCount(int *n) { return __cudaCDP2GetDeviceCount(n); }
KUDZU_CHILD cudaMalloc(void **p, size_t n) { return __cudaCDP2Malloc(p, n); }
KUDZU_CHILD cudaFree(void *p) { return __cudaCDP2Free(p); }
KUDZU_CHILD cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t s) {
  return __cudaCDP2MemcpyAsync(to, from, n, kind, s);
}
KUDZU_CHILD cudaMemsetAsync(void *to, int v, size_t n, cudaStream_t s) { return __cudaCDP2MemsetAsync(to, v, n, s); }
KUDZU_CHILD cudaRuntimeGetVersion(int *v) {
  *v = __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10;
  return cudaSuccess;
}
#undef KUDZU_CHILD
__device__ __inline__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value) {
  __cudaCDP2GraphSetConditional(handle, value);
}
}

#ifdef __cplusplus
template <class T> __device__ __inline__ cudaError_t cudaMalloc(T **p, size_t n) { return __cudaCDP2Malloc((void **)(void *)p, n); }
__device__ __inline__ cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind) {
  return __cudaCDP2MemcpyAsync(to, from, n, kind, 0);
}
__device__ __inline__ cudaError_t cudaMemsetAsync(void *to, int v, size_t n) { return __cudaCDP2MemsetAsync(to, v, n, 0); }
__device__ __inline__ cudaError_t cudaEventRecord(cudaEvent_t e) { return __cudaCDP2EventRecord(e, 0); }
__device__ __inline__ cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e) { return __cudaCDP2StreamWaitEvent(s, e, 0); }
#endif

#endif
