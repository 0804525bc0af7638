// test<<<4,32,0,cluster 2>>>(o[64]u64)
// Clusters: ranks, the barrier, and shared memory of the other block.
#include <cooperative_groups.h>
#include "check.h"

namespace cg = cooperative_groups;

TEST() {
  __shared__ u32 mine;
  auto c = cg::this_cluster();
  EQ(c.num_blocks(), 2u);
  EQ(c.block_rank(), blockIdx.x % 2);
  EQ(c.block_index().x, blockIdx.x % 2);
  EQ(c.dim_blocks().x, 2u);
  EQ(c.size(), 64u);
  EQ(c.thread_rank(), blockIdx.x % 2 * 32 + threadIdx.x);
  EQ(cg::this_grid().num_clusters(), 2ull);
  EQ(cg::this_grid().cluster_rank(), (u64)(blockIdx.x / 2));
  EQ(__clusterIdx().x, blockIdx.x / 2);
  EQ(__clusterDim().x, 2u);
  EQ(__clusterSizeInBlocks(), 2u);
  EQ(__clusterRelativeBlockRank(), blockIdx.x % 2);
  EQ(__clusterGridDimInClusters().x, 2u);
  EQ(__clusterDimIsSpecified(), 1u);
  if (threadIdx.x == 0) mine = 100 + blockIdx.x;
  c.sync();
  u32 other = c.block_rank() ^ 1;
  u32 *theirs = c.map_shared_rank(&mine, other);
  EQ(*theirs, 100 + (blockIdx.x ^ 1));
  EQ(c.query_shared_rank(theirs), other);
  __cluster_barrier_arrive_relaxed();
  __cluster_barrier_wait();
  c.barrier_arrive();
  c.barrier_wait();
}
