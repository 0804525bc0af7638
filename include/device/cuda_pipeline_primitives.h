// Asynchronous copies to shared memory: the primitives in C.
#ifndef KUDZU_CUDA_PIPELINE_PRIMITIVES_H
#define KUDZU_CUDA_PIPELINE_PRIMITIVES_H
#pragma GCC system_header

#include "cuda_awbarrier_primitives.h"

#if __CUDA_ARCH__ >= 800 || !defined(__CUDA_ARCH__)
// Copies size_and_align bytes (4, 8 or 16); the last zfill of them become 0.
KUDZU_D void __pipeline_memcpy_async(void *shared, const void *global, size_t size_and_align, size_t zfill = 0) {
  unsigned int to = (unsigned int)__cvta_generic_to_shared(shared), from_bytes = (unsigned int)(size_and_align - zfill);
  unsigned long long from = __cvta_generic_to_global(global);
  switch (size_and_align) {
  case 16: asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(from_bytes) : "memory"); break;
  case 8: asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(to), "l"(from), "r"(from_bytes) : "memory"); break;
  case 4: asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(from_bytes) : "memory"); break;
  }
}
KUDZU_D void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits for all but the newest n groups. PTX wants a constant.
KUDZU_D void __pipeline_wait_prior(size_t n) {
  switch (n) {
  case 0: asm volatile("cp.async.wait_all;" ::: "memory"); break;
  case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
  case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
  case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
  case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
  case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
  case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
  case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
  default: asm volatile("cp.async.wait_group 8;" ::: "memory"); // waits for more than it must
  }
}
#else
// Older devices copy at once.
KUDZU_D void __pipeline_memcpy_async(void *shared, const void *global, size_t size_and_align, size_t zfill = 0) {
  __builtin_memcpy(shared, global, size_and_align - zfill);
  __builtin_memset((char *)shared + size_and_align - zfill, 0, zfill);
}
KUDZU_D void __pipeline_commit() {}
KUDZU_D void __pipeline_wait_prior(size_t) {}
#endif
// The barrier completes only when this thread's copies have.
KUDZU_D void __pipeline_arrive_on(__mbarrier_t *b) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned int)__cvta_generic_to_shared(b)) : "memory");
}

#endif
