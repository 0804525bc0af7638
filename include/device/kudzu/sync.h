// Barriers of a block, fences, clocks.
#ifndef KUDZU_SYNC_H
#define KUDZU_SYNC_H
#pragma GCC system_header

#include "keywords.h"

// __syncthreads is clang's own.
KUDZU_D int __syncthreads_count(int pred) {
  int r;
  asm volatile("{.reg .pred p; setp.ne.s32 p, %1, 0; bar.red.popc.u32 %0, 0, p;}" : "=r"(r) : "r"(pred) : "memory");
  return r;
}
KUDZU_D int __syncthreads_and(int pred) {
  int r;
  asm volatile("{.reg .pred p, q; setp.ne.s32 p, %1, 0; bar.red.and.pred q, 0, p; selp.s32 %0, 1, 0, q;}"
               : "=r"(r)
               : "r"(pred)
               : "memory");
  return r;
}
KUDZU_D int __syncthreads_or(int pred) {
  int r;
  asm volatile("{.reg .pred p, q; setp.ne.s32 p, %1, 0; bar.red.or.pred q, 0, p; selp.s32 %0, 1, 0, q;}"
               : "=r"(r)
               : "r"(pred)
               : "memory");
  return r;
}
KUDZU_D void __barrier_sync(unsigned int id) { asm volatile("barrier.sync %0;" ::"r"(id) : "memory"); }
KUDZU_D void __barrier_sync_count(unsigned int id, unsigned int n) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(n) : "memory");
}

KUDZU_D void __threadfence_block() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
KUDZU_D void __threadfence() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
KUDZU_D void __threadfence_system() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

KUDZU_D long long clock64() {
  long long r;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(r)::"memory");
  return r;
}
KUDZU_D long clock() {
  int r;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(r)::"memory");
  return r;
}
KUDZU_D unsigned long long __globaltimer() {
  unsigned long long r;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(r)::"memory");
  return r;
}
KUDZU_D void __nanosleep(unsigned int ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory"); }

KUDZU_D void __trap() { asm volatile("trap;"); }
KUDZU_D void __brkpt() { asm volatile("brkpt;"); }
KUDZU_D void __exit() { asm volatile("exit;"); }
KUDZU_D void __prof_trigger(int) {}

KUDZU_D unsigned int __smid() {
  unsigned int r;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(r));
  return r;
}

#endif
