// The runtime API's functions for C++: types in place of void *, variables in place of their addresses.
#ifndef KUDZU_RUNTIME_H
#define KUDZU_RUNTIME_H

#include "cuda_runtime_api.h"
#include "defaults.h"

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
KUDZU_API cudaMallocAsync(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s) {
  return ::cudaMallocFromPoolAsync(p, n, pool, s);
}
template <class T> KUDZU_API cudaMallocAsync(T **p, size_t n, cudaMemPool_t pool, cudaStream_t s) {
  return ::cudaMallocFromPoolAsync((void **)(void *)p, n, pool, s);
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

template <class F>
KUDZU_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, F f, int block, size_t shared, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(n, (const void *)f, block, shared, flags);
}
template <class F> KUDZU_API cudaOccupancyMaxActiveClusters(int *n, F *f, const cudaLaunchConfig_t *c) {
  return ::cudaOccupancyMaxActiveClusters(n, (const void *)f, c);
}
template <class F> KUDZU_API cudaOccupancyMaxPotentialClusterSize(int *n, F *f, const cudaLaunchConfig_t *c) {
  return ::cudaOccupancyMaxPotentialClusterSize(n, (const void *)f, c);
}
// The block size of most threads on a multiprocessor, and the grid that fills the device.
template <class S, class F>
KUDZU_API cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, F f, S shared, int limit = 0,
                                                                  unsigned int flags = 0) {
  int device, processors, threads, most = 0;
  cudaFuncAttributes a;
  cudaError_t e = cudaGetDevice(&device);
  if (!e) e = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (!e) e = ::cudaFuncGetAttributes(&a, (const void *)f);
  if (e) return e;
  threads = a.maxThreadsPerBlock;
  if (limit > 0 && limit < threads) threads = limit;
  for (int n = (threads + 31) / 32 * 32; n > 0; n -= 32) {
    int size = n < threads ? n : threads, blocks;
    e = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)f, size, shared(size), flags);
    if (e) return e;
    if (blocks * size > most) {
      most = blocks * size;
      *block = size;
      *grid = blocks * processors;
    }
  }
  return cudaSuccess;
}
template <class S, class F>
KUDZU_API cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, F f, S shared, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, f, shared, limit);
}
template <class F>
KUDZU_API cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, F f, size_t shared = 0, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, f, [=](int) { return shared; }, limit);
}
template <class F>
KUDZU_API cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, F f, size_t shared = 0, int limit = 0,
                                                      unsigned int flags = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, f, [=](int) { return shared; }, limit, flags);
}
template <class... P, class... A> KUDZU_API cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*f)(P...), A &&...a) {
  return [&](P... p) {
    void *args[sizeof...(P) + 1] = {(void *)&p...};
    return ::cudaLaunchKernelExC(c, (const void *)f, args);
  }(static_cast<A &&>(a)...);
}
template <class T> KUDZU_API cudaStreamAttachMemAsync(cudaStream_t s, T *p, size_t n = 0, unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(s, (void *)p, n, flags);
}
template <class T> KUDZU_API cudaMallocFromPoolAsync(T **p, size_t n, cudaMemPool_t pool, cudaStream_t s) {
  return ::cudaMallocFromPoolAsync((void **)(void *)p, n, pool, s);
}
template <class T> KUDZU_API cudaGetFuncBySymbol(cudaFunction_t *f, T *symbol) {
  return ::cudaGetFuncBySymbol(f, (const void *)symbol);
}
KUDZU_API cudaEventCreate(cudaEvent_t *e, unsigned int flags) { return ::cudaEventCreateWithFlags(e, flags); }
template <class F> KUDZU_API cudaFuncGetName(const char **name, F *f) { return ::cudaFuncGetName(name, (const void *)f); }
template <class F> KUDZU_API cudaFuncSetSharedMemConfig(F *f, cudaSharedMemConfig c) {
  return ::cudaFuncSetSharedMemConfig((const void *)f, c);
}
template <class F> KUDZU_API cudaOccupancyAvailableDynamicSMemPerBlock(size_t *n, F *f, int blocks, int size) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(n, (const void *)f, blocks, size);
}

#include "graphs.h"
#include "batches.h"

#undef KUDZU_API

static inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) {
  cudaExtent e = {w, h, d};
  return e;
}
static inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  cudaPos p = {x, y, z};
  return p;
}
static inline cudaPitchedPtr make_cudaPitchedPtr(void *d, size_t p, size_t xsz, size_t ysz) {
  cudaPitchedPtr r = {d, p, xsz, ysz};
  return r;
}

// Formats of array elements.
template <class T> static inline cudaChannelFormatDesc cudaCreateChannelDesc() {
  return ::cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define KUDZU_CHANNEL(T, x, y, z, w, kind)                                                                            \
  template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() {                                               \
    return ::cudaCreateChannelDesc(x, y, z, w, cudaChannelFormatKind##kind);                                          \
  }
#define KUDZU_CHANNELS(T, bits, kind)                                                                                 \
  KUDZU_CHANNEL(T##1, bits, 0, 0, 0, kind)                                                                            \
  KUDZU_CHANNEL(T##2, bits, bits, 0, 0, kind)                                                                         \
  KUDZU_CHANNEL(T##4, bits, bits, bits, bits, kind)
KUDZU_CHANNEL(char, 8, 0, 0, 0, Signed)
KUDZU_CHANNEL(signed char, 8, 0, 0, 0, Signed)
KUDZU_CHANNEL(unsigned char, 8, 0, 0, 0, Unsigned)
KUDZU_CHANNEL(short, 16, 0, 0, 0, Signed)
KUDZU_CHANNEL(unsigned short, 16, 0, 0, 0, Unsigned)
KUDZU_CHANNEL(int, 32, 0, 0, 0, Signed)
KUDZU_CHANNEL(unsigned int, 32, 0, 0, 0, Unsigned)
KUDZU_CHANNEL(float, 32, 0, 0, 0, Float)
KUDZU_CHANNELS(char, 8, Signed)
KUDZU_CHANNELS(uchar, 8, Unsigned)
KUDZU_CHANNELS(short, 16, Signed)
KUDZU_CHANNELS(ushort, 16, Unsigned)
KUDZU_CHANNELS(int, 32, Signed)
KUDZU_CHANNELS(uint, 32, Unsigned)
KUDZU_CHANNELS(float, 32, Float)
#undef KUDZU_CHANNELS
#undef KUDZU_CHANNEL

#endif
