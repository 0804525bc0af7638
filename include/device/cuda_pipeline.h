// Asynchronous copies to shared memory: the class.
#ifndef KUDZU_CUDA_PIPELINE_H
#define KUDZU_CUDA_PIPELINE_H
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_
#endif
#pragma GCC system_header

#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

namespace nvcuda {
namespace experimental {

class pipeline {
  size_t batches;

 public:
  pipeline(const pipeline &) = delete;
  pipeline &operator=(const pipeline &) = delete;
  __device__ __forceinline__ pipeline() : batches(0) {}
  __device__ __forceinline__ size_t commit() {
    __pipeline_commit();
    return batches++;
  }
  __device__ __forceinline__ void commit_and_wait() { wait(commit()); }
  // Waits for the batch with this number and those before it.
  __device__ __forceinline__ void wait(size_t batch) { __pipeline_wait_prior(batches > batch ? batches - batch - 1 : 0); }
  template <unsigned int N> __device__ __forceinline__ void wait_prior() { __pipeline_wait_prior(N); }
  __device__ __forceinline__ void arrive_on(awbarrier &b) { __pipeline_arrive_on(b.native_handle()); }
};

// Copies one element: in the background if it has 4, 8 or 16 bytes and their alignment, at once otherwise.
template <class T> static __device__ __forceinline__ void memcpy_async(T &to, const T &from, pipeline &) {
  if (sizeof(T) == alignof(T) && (sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16))
    __pipeline_memcpy_async(&to, &from, sizeof(T));
  else
    to = from;
}

}  // namespace experimental
}  // namespace nvcuda

#endif
