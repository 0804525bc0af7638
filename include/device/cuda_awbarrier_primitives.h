// Arrive-wait barriers in shared memory: the primitives in C.
#ifndef KUDZU_CUDA_AWBARRIER_PRIMITIVES_H
#define KUDZU_CUDA_AWBARRIER_PRIMITIVES_H
#pragma GCC system_header

#include "cuda_runtime.h"

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

#define KUDZU_AT(b) "r"((unsigned int)__cvta_generic_to_shared(b))

KUDZU_D unsigned int __mbarrier_maximum_count() { return (1u << 14) - 1; }
KUDZU_D void __mbarrier_init(__mbarrier_t *b, unsigned int count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::KUDZU_AT(b), "r"(count) : "memory");
}
KUDZU_D void __mbarrier_inval(__mbarrier_t *b) { asm volatile("mbarrier.inval.shared.b64 [%0];" ::KUDZU_AT(b) : "memory"); }
KUDZU_D __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b) {
  __mbarrier_token_t t;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : KUDZU_AT(b) : "memory");
  return t;
}
KUDZU_D __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *b) {
  __mbarrier_token_t t;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(t) : KUDZU_AT(b) : "memory");
  return t;
}
KUDZU_D bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t t) {
  unsigned int r;
  asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(r)
               : KUDZU_AT(b), "l"(t)
               : "memory");
  return r;
}
KUDZU_D bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool phase) {
  unsigned int r;
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
               : "=r"(r)
               : KUDZU_AT(b), "r"((unsigned int)phase)
               : "memory");
  return r;
}
KUDZU_D bool __mbarrier_try_wait(__mbarrier_t *b, __mbarrier_token_t t, unsigned int max_nanoseconds) {
  unsigned int r;
  asm volatile("{.reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p;}"
               : "=r"(r)
               : KUDZU_AT(b), "l"(t), "r"(max_nanoseconds)
               : "memory");
  return r;
}
KUDZU_D bool __mbarrier_try_wait_parity(__mbarrier_t *b, bool phase, unsigned int max_nanoseconds) {
  unsigned int r;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2, %3; selp.u32 %0, 1, 0, p;}"
               : "=r"(r)
               : KUDZU_AT(b), "r"((unsigned int)phase), "r"(max_nanoseconds)
               : "memory");
  return r;
}
KUDZU_D unsigned int __mbarrier_token_pending_count(__mbarrier_token_t t) {
  unsigned int r;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(r) : "l"(t));
  return r;
}
#undef KUDZU_AT

#endif
