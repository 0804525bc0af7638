// Functions on clusters of blocks.
#ifndef KUDZU_CLUSTER_H
#define KUDZU_CLUSTER_H
#pragma GCC system_header

#include "vector.h"

#define KUDZU_SREG(name, reg)                                                                                         \
  KUDZU_D unsigned int name() {                                                                                       \
    unsigned int r;                                                                                                   \
    asm volatile("mov.u32 %0, %%" reg ";" : "=r"(r));                                                                 \
    return r;                                                                                                         \
  }
#define KUDZU_SREG3(name, reg)                                                                                        \
  KUDZU_D dim3 name() {                                                                                               \
    unsigned int x, y, z;                                                                                             \
    asm volatile("mov.u32 %0, %%" reg ".x;" : "=r"(x));                                                               \
    asm volatile("mov.u32 %0, %%" reg ".y;" : "=r"(y));                                                               \
    asm volatile("mov.u32 %0, %%" reg ".z;" : "=r"(z));                                                               \
    return dim3(x, y, z);                                                                                             \
  }
KUDZU_SREG3(__clusterDim, "cluster_nctaid")
KUDZU_SREG3(__clusterRelativeBlockIdx, "cluster_ctaid")
KUDZU_SREG3(__clusterGridDimInClusters, "nclusterid")
KUDZU_SREG3(__clusterIdx, "clusterid")
KUDZU_SREG(__clusterRelativeBlockRank, "cluster_ctarank")
KUDZU_SREG(__clusterSizeInBlocks, "cluster_nctarank")
#undef KUDZU_SREG
#undef KUDZU_SREG3

KUDZU_D unsigned int __clusterDimIsSpecified() {
  unsigned int r;
  asm volatile("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p;}" : "=r"(r));
  return r;
}
KUDZU_D void __cluster_barrier_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
KUDZU_D void __cluster_barrier_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }
KUDZU_D void __cluster_barrier_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
// Where the same shared variable is in another block of the cluster, and whose an address is.
KUDZU_D void *__cluster_map_shared_rank(const void *p, unsigned int rank) {
  void *r;
  asm("mapa.u64 %0, %1, %2;" : "=l"(r) : "l"(p), "r"(rank));
  return r;
}
KUDZU_D unsigned int __cluster_query_shared_rank(const void *p) {
  unsigned int r;
  asm("getctarank.u64 %0, %1;" : "=r"(r) : "l"(p));
  return r;
}

#endif
