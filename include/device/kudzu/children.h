// Kernels that launch kernels. clang writes such a launch as a buffer for the parameters, by size, and a call that names kernel and
// grid; the device runtime gives buffers to those who name the grid.
#ifndef KUDZU_CHILDREN_H
#define KUDZU_CHILDREN_H

#include "cuda_runtime_api.h"

extern "C" {
__device__ void *__cudaCDP2GetParameterBufferV2(void *kernel, dim3 grid, dim3 block, unsigned int shared);
__device__ cudaError_t __cudaCDP2LaunchDeviceV2(void *buffer, cudaStream_t stream);

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
}

#endif
