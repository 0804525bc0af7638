// Arrive-wait barriers: the class.
#ifndef KUDZU_CUDA_AWBARRIER_H
#define KUDZU_CUDA_AWBARRIER_H
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_
#endif
#pragma GCC system_header

#include "cuda_awbarrier_primitives.h"

namespace nvcuda {
namespace experimental {

class awbarrier {
  __mbarrier_t word;

 public:
  class arrival_token {
    __mbarrier_token_t t;
    friend class awbarrier;
    __device__ __forceinline__ arrival_token(__mbarrier_token_t v) : t(v) {}

   public:
    arrival_token() = default;
    __device__ __forceinline__ unsigned int pending_count() const { return __mbarrier_token_pending_count(t); }
  };
  awbarrier() = default;
  awbarrier(const awbarrier &) = delete;
  awbarrier &operator=(const awbarrier &) = delete;
  __device__ __forceinline__ arrival_token arrive() { return __mbarrier_arrive(&word); }
  __device__ __forceinline__ arrival_token arrive_and_drop() { return __mbarrier_arrive_and_drop(&word); }
  // Both wait no longer than some cycles of the clock.
  __device__ __forceinline__ bool timed_wait(arrival_token t, unsigned int cycles) {
    for (long long from = clock64(); !__mbarrier_test_wait(&word, t.t);)
      if (clock64() - from > cycles) return false;
    return true;
  }
  __device__ __forceinline__ bool timed_wait_parity(bool phase, unsigned int cycles) {
    for (long long from = clock64(); !__mbarrier_test_wait_parity(&word, phase);)
      if (clock64() - from > cycles) return false;
    return true;
  }
  __device__ __forceinline__ void wait(arrival_token t) {
    while (!__mbarrier_test_wait(&word, t.t)) {
    }
  }
  __device__ __forceinline__ void arrive_and_wait() { wait(arrive()); }
  __device__ __forceinline__ bool try_wait(arrival_token t, unsigned int ns) { return timed_wait(t, ns); }
  static __device__ __forceinline__ unsigned int max() { return __mbarrier_maximum_count(); }
  friend __device__ __forceinline__ void init(awbarrier *b, unsigned int n) { __mbarrier_init(&b->word, n); }
  friend __device__ __forceinline__ void inval(awbarrier *b) { __mbarrier_inval(&b->word); }
  __device__ __forceinline__ __mbarrier_t *native_handle() { return &word; }
};
__device__ void init(awbarrier *, unsigned int);
__device__ void inval(awbarrier *);

}  // namespace experimental
}  // namespace nvcuda

#endif
