// The runtime API's functions for C++: types in place of void *, variables in place of their addresses.
#ifndef KUDZU_RUNTIME_H
#define KUDZU_RUNTIME_H

#include "cuda_runtime_api.h"

#define KUDZU_API static inline cudaError_t

template <class T> KUDZU_API cudaMalloc(T **p, size_t n) { return ::cudaMalloc((void **)(void *)p, n); }
template <class T> KUDZU_API cudaMallocHost(T **p, size_t n, unsigned int flags = 0) {
  return ::cudaHostAlloc((void **)(void *)p, n, flags);
}
template <class T> KUDZU_API cudaHostAlloc(T **p, size_t n, unsigned int flags) {
  return ::cudaHostAlloc((void **)(void *)p, n, flags);
}
template <class T> KUDZU_API cudaHostGetDevicePointer(T **p, void *host, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void **)(void *)p, host, flags);
}
template <class T> KUDZU_API cudaMallocManaged(T **p, size_t n, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void **)(void *)p, n, flags);
}
template <class T> KUDZU_API cudaMallocPitch(T **p, size_t *pitch, size_t w, size_t h) {
  return ::cudaMallocPitch((void **)(void *)p, pitch, w, h);
}
template <class T> KUDZU_API cudaMallocAsync(T **p, size_t n, cudaStream_t s) {
  return ::cudaMallocAsync((void **)(void *)p, n, s);
}
template <class T> KUDZU_API cudaGetSymbolAddress(void **p, const T &symbol) {
  return ::cudaGetSymbolAddress(p, (const void *)&symbol);
}
template <class T> KUDZU_API cudaGetSymbolSize(size_t *n, const T &symbol) {
  return ::cudaGetSymbolSize(n, (const void *)&symbol);
}
template <class T>
KUDZU_API cudaMemcpyToSymbol(const T &symbol, const void *from, size_t n, size_t offset = 0,
                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void *)&symbol, from, n, offset, kind);
}
template <class T>
KUDZU_API cudaMemcpyFromSymbol(void *to, const T &symbol, size_t n, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, (const void *)&symbol, n, offset, kind);
}
template <class T>
KUDZU_API cudaMemcpyToSymbolAsync(const T &symbol, const void *from, size_t n, size_t offset = 0,
                                  cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t s = 0) {
  return ::cudaMemcpyToSymbolAsync((const void *)&symbol, from, n, offset, kind, s);
}
template <class T>
KUDZU_API cudaMemcpyFromSymbolAsync(void *to, const T &symbol, size_t n, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t s = 0) {
  return ::cudaMemcpyFromSymbolAsync(to, (const void *)&symbol, n, offset, kind, s);
}
template <class F>
KUDZU_API cudaLaunchKernel(F *f, dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t s = 0) {
  return ::cudaLaunchKernel((const void *)f, grid, block, args, shared, s);
}
template <class F>
KUDZU_API cudaLaunchCooperativeKernel(F *f, dim3 grid, dim3 block, void **args, size_t shared = 0, cudaStream_t s = 0) {
  return ::cudaLaunchCooperativeKernel((const void *)f, grid, block, args, shared, s);
}
template <class F> KUDZU_API cudaFuncSetAttribute(F *f, cudaFuncAttribute a, int v) {
  return ::cudaFuncSetAttribute((const void *)f, a, v);
}
template <class F> KUDZU_API cudaFuncSetCacheConfig(F *f, cudaFuncCache c) {
  return ::cudaFuncSetCacheConfig((const void *)f, c);
}
template <class F> KUDZU_API cudaFuncGetAttributes(cudaFuncAttributes *a, F *f) {
  return ::cudaFuncGetAttributes(a, (const void *)f);
}
template <class F>
KUDZU_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, F f, int block, size_t shared) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, (const void *)f, block, shared);
}

#undef KUDZU_API

#endif
