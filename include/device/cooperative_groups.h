// Cooperative groups: block, grid, cluster, tiles, coalesced threads, and partitions of them.
#ifndef KUDZU_COOPERATIVE_GROUPS_H
#define KUDZU_COOPERATIVE_GROUPS_H
#pragma GCC system_header

#include "cuda_runtime.h"
#include "kudzu/cluster.h"

#define _CG_VERSION 12
#define _COOPERATIVE_GROUPS_H_
#define KUDZU_CG __device__ __forceinline__

namespace cooperative_groups {
namespace __v1 { // CCCL names the groups there before this header is read

namespace details {

KUDZU_CG unsigned int lane() {
  unsigned int r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}
KUDZU_CG unsigned int lanes_below() {
  unsigned int r;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
  return r;
}
KUDZU_CG unsigned long long block_rank_in_grid() {
  return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}
KUDZU_CG unsigned int thread_rank_in_block() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
KUDZU_CG unsigned int threads_in_block() { return blockDim.x * blockDim.y * blockDim.z; }

// The driver gives a cooperative launch two words: their size, and the barrier. Its address is in environment registers.
KUDZU_CG unsigned int *grid_barrier() {
  unsigned int high, low;
  asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
  unsigned long long p = (unsigned long long)high << 32 | low;
  return p ? (unsigned int *)p + 1 : nullptr;
}
// Every block adds 1, and block 0 what is missing to half the range: the top bit changes when all have come.
KUDZU_CG unsigned int grid_arrive(unsigned int *barrier) {
  unsigned int was = 0;
  __syncthreads();
  if (thread_rank_in_block() == 0) {
    unsigned int blocks = gridDim.x * gridDim.y * gridDim.z;
    __threadfence();
    was = atomicAdd(barrier, block_rank_in_grid() == 0 ? 0x80000000u - (blocks - 1) : 1u);
  }
  return was;
}
KUDZU_CG void grid_wait(unsigned int *barrier, unsigned int was) {
  if (thread_rank_in_block() == 0) {
    while ((int)(was ^ *(volatile unsigned int *)barrier) >= 0) {
    }
    __threadfence();
  }
  __syncthreads();
}

// Moves any trivially copyable value between lanes, a word at a time.
template <class T, class F> KUDZU_CG T by_words(const T &v, F f) {
  constexpr int n = (sizeof(T) + 3) / 4;
  unsigned int w[n] = {};
  __builtin_memcpy(w, &v, sizeof(T));
#pragma unroll
  for (int i = 0; i < n; i++) w[i] = f(w[i]);
  T r;
  __builtin_memcpy(&r, w, sizeof(T));
  return r;
}

// The rank-th set bit of a mask.
KUDZU_CG unsigned int nth_lane(unsigned int mask, unsigned int rank) {
  unsigned int r;
  asm("fns.b32 %0, %1, 0, %2;" : "=r"(r) : "r"(mask), "r"(rank + 1));
  return r;
}

// The lanes of mask as 0, 1, 2 …: a ballot's result in a group's own numbering.
KUDZU_CG unsigned int packed(unsigned int mask, unsigned int ballot) {
  unsigned int r = 0;
  for (unsigned int i = 0, m = mask; m; m &= m - 1, i++) r |= (ballot >> (__ffs((int)m) - 1) & 1) << i;
  return r;
}

enum group_type { coalesced, tile, block, grid, cluster };

}  // namespace details

// What functions take that work with any group.
class thread_group {
 protected:
  unsigned int kind, mask, meta_rank, meta_size;
  KUDZU_CG thread_group(unsigned int k, unsigned int m, unsigned int r = 0, unsigned int s = 1)
      : kind(k), mask(m), meta_rank(r), meta_size(s) {}
  friend KUDZU_CG thread_group tiled_partition(const thread_group &g, unsigned int size);

 public:
  KUDZU_CG void sync() const {
    switch (kind) {
    case details::coalesced:
    case details::tile: __syncwarp(mask); break;
    case details::block: __syncthreads(); break;
    case details::cluster: __cluster_barrier_arrive(); __cluster_barrier_wait(); break;
    case details::grid: {
      unsigned int *b = details::grid_barrier();
      details::grid_wait(b, details::grid_arrive(b));
    }
    }
  }
  KUDZU_CG unsigned long long size() const {
    switch (kind) {
    case details::block: return details::threads_in_block();
    case details::cluster: return (unsigned long long)__clusterSizeInBlocks() * details::threads_in_block();
    case details::grid:
      return (unsigned long long)gridDim.x * gridDim.y * gridDim.z * details::threads_in_block();
    default: return __popc(mask);
    }
  }
  KUDZU_CG unsigned long long num_threads() const { return size(); }
  KUDZU_CG unsigned long long thread_rank() const {
    switch (kind) {
    case details::block: return details::thread_rank_in_block();
    case details::cluster:
      return (unsigned long long)__clusterRelativeBlockRank() * details::threads_in_block() + details::thread_rank_in_block();
    case details::grid: return details::block_rank_in_grid() * details::threads_in_block() + details::thread_rank_in_block();
    default: return __popc(mask & details::lanes_below());
    }
  }
  KUDZU_CG bool is_valid() const { return kind != details::grid || details::grid_barrier() != nullptr; }
  KUDZU_CG unsigned int get_type() const { return kind; }
};

class thread_block : public thread_group {
  KUDZU_CG thread_block() : thread_group(details::block, 0) {}
  friend KUDZU_CG thread_block this_thread_block();

 public:
  struct arrival_token {};
  static KUDZU_CG void sync() { __syncthreads(); }
  static KUDZU_CG unsigned int size() { return details::threads_in_block(); }
  static KUDZU_CG unsigned int num_threads() { return details::threads_in_block(); }
  static KUDZU_CG unsigned int thread_rank() { return details::thread_rank_in_block(); }
  static KUDZU_CG dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static KUDZU_CG dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static KUDZU_CG dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static KUDZU_CG dim3 dim_threads() { return group_dim(); }
  KUDZU_CG arrival_token barrier_arrive() const {
    asm volatile("barrier.cta.arrive 0, %0;" ::"r"(details::threads_in_block() * 2) : "memory");
    return {};
  }
  KUDZU_CG void barrier_wait(arrival_token &&) const {
    asm volatile("barrier.cta.sync 0, %0;" ::"r"(details::threads_in_block() * 2) : "memory");
  }
};
KUDZU_CG thread_block this_thread_block() { return thread_block(); }

// Memory for tiles larger than a warp, on GPUs before capability 8.0; since then they need none of the program's.
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
  unsigned char reserved;
};
template <unsigned int MaxBlockSize> KUDZU_CG thread_block this_thread_block(block_tile_memory<MaxBlockSize> &) {
  return this_thread_block();
}

class grid_group : public thread_group {
  KUDZU_CG grid_group() : thread_group(details::grid, 0) {}
  friend KUDZU_CG grid_group this_grid();

 public:
  typedef unsigned int arrival_token;
  KUDZU_CG bool is_valid() const { return details::grid_barrier() != nullptr; }
  KUDZU_CG void sync() const { barrier_wait(barrier_arrive()); }
  KUDZU_CG arrival_token barrier_arrive() const {
    unsigned int *b = details::grid_barrier();
    if (!b) __trap(); // not a cooperative launch
    return details::grid_arrive(b);
  }
  KUDZU_CG void barrier_wait(arrival_token &&t) const { details::grid_wait(details::grid_barrier(), t); }
  static KUDZU_CG dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static KUDZU_CG dim3 dim_blocks() { return group_dim(); }
  static KUDZU_CG unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
  static KUDZU_CG dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static KUDZU_CG unsigned long long block_rank() { return details::block_rank_in_grid(); }
  static KUDZU_CG unsigned long long size() { return num_blocks() * details::threads_in_block(); }
  static KUDZU_CG unsigned long long num_threads() { return size(); }
  static KUDZU_CG dim3 dim_threads() { return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z); }
  static KUDZU_CG dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
  static KUDZU_CG unsigned long long thread_rank() {
    return block_rank() * details::threads_in_block() + details::thread_rank_in_block();
  }
  static KUDZU_CG dim3 dim_clusters() { return __clusterGridDimInClusters(); }
  static KUDZU_CG unsigned long long num_clusters() {
    dim3 d = dim_clusters();
    return (unsigned long long)d.x * d.y * d.z;
  }
  static KUDZU_CG dim3 cluster_index() { return __clusterIdx(); }
  static KUDZU_CG unsigned long long cluster_rank() {
    dim3 d = dim_clusters(), i = cluster_index();
    return ((unsigned long long)i.z * d.y + i.y) * d.x + i.x;
  }
};
KUDZU_CG grid_group this_grid() { return grid_group(); }
KUDZU_CG void sync(const thread_group &g) { g.sync(); }

class cluster_group : public thread_group {
  KUDZU_CG cluster_group() : thread_group(details::cluster, 0) {}
  friend KUDZU_CG cluster_group this_cluster();

 public:
  struct arrival_token {};
  static KUDZU_CG void sync() {
    __cluster_barrier_arrive();
    __cluster_barrier_wait();
  }
  static KUDZU_CG arrival_token barrier_arrive() {
    __cluster_barrier_arrive();
    return {};
  }
  static KUDZU_CG void barrier_wait() { __cluster_barrier_wait(); }
  static KUDZU_CG void barrier_wait(arrival_token &&) { __cluster_barrier_wait(); }
  static KUDZU_CG unsigned int query_shared_rank(const void *p) { return __cluster_query_shared_rank(p); }
  template <class T> static KUDZU_CG T *map_shared_rank(T *p, int rank) {
    return (T *)__cluster_map_shared_rank((const void *)p, rank);
  }
  static KUDZU_CG dim3 block_index() { return __clusterRelativeBlockIdx(); }
  static KUDZU_CG unsigned int block_rank() { return __clusterRelativeBlockRank(); }
  static KUDZU_CG dim3 dim_blocks() { return __clusterDim(); }
  static KUDZU_CG unsigned int num_blocks() { return __clusterSizeInBlocks(); }
  static KUDZU_CG dim3 dim_threads() {
    dim3 d = dim_blocks();
    return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
  }
  static KUDZU_CG unsigned int num_threads() { return num_blocks() * details::threads_in_block(); }
  static KUDZU_CG unsigned int size() { return num_threads(); }
  static KUDZU_CG dim3 thread_index() {
    dim3 b = block_index();
    return dim3(b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y, b.z * blockDim.z + threadIdx.z);
  }
  static KUDZU_CG unsigned int thread_rank() {
    return block_rank() * details::threads_in_block() + details::thread_rank_in_block();
  }
};
KUDZU_CG cluster_group this_cluster() { return cluster_group(); }

// Any set of lanes of a warp. Ranks follow the lanes.
class coalesced_group : public thread_group {
  friend KUDZU_CG coalesced_group coalesced_threads();
  friend struct maker;
  template <class G> friend KUDZU_CG coalesced_group binary_partition(const G &, bool);
  template <class G, class L> friend KUDZU_CG coalesced_group labeled_partition(const G &, L);
  friend KUDZU_CG coalesced_group tiled_partition(const coalesced_group &g, unsigned int size);

 protected:
  KUDZU_CG coalesced_group(unsigned int m, unsigned int r = 0, unsigned int s = 1) : thread_group(details::coalesced, m, r, s) {}

 public:
  KUDZU_CG unsigned int group_mask() const { return mask; }
  KUDZU_CG void sync() const { __syncwarp(mask); }
  KUDZU_CG unsigned int size() const { return __popc(mask); }
  KUDZU_CG unsigned int num_threads() const { return __popc(mask); }
  KUDZU_CG unsigned int thread_rank() const { return __popc(mask & details::lanes_below()); }
  KUDZU_CG unsigned int meta_group_size() const { return meta_size; }
  KUDZU_CG unsigned int meta_group_rank() const { return meta_rank; }
  template <class T> KUDZU_CG T shfl(T v, int rank) const {
    unsigned int from = details::nth_lane(mask, (unsigned int)rank % size()), m = mask;
    return details::by_words(v, [=](unsigned int w) { return __shfl_sync(m, w, (int)from); });
  }
  template <class T> KUDZU_CG T shfl_down(T v, unsigned int delta) const {
    unsigned int to = thread_rank() + delta, m = mask;
    unsigned int from = to < size() ? details::nth_lane(mask, to) : details::lane();
    return details::by_words(v, [=](unsigned int w) { return __shfl_sync(m, w, (int)from); });
  }
  template <class T> KUDZU_CG T shfl_up(T v, unsigned int delta) const {
    unsigned int rank = thread_rank(), m = mask;
    unsigned int from = rank >= delta ? details::nth_lane(mask, rank - delta) : details::lane();
    return details::by_words(v, [=](unsigned int w) { return __shfl_sync(m, w, (int)from); });
  }
  KUDZU_CG int any(int p) const { return __any_sync(mask, p); }
  KUDZU_CG int all(int p) const { return __all_sync(mask, p); }
  KUDZU_CG unsigned int ballot(int p) const { return details::packed(mask, __ballot_sync(mask, p)); }
  template <class T> KUDZU_CG unsigned int match_any(T v) const { return details::packed(mask, __match_any_sync(mask, v)); }
  template <class T> KUDZU_CG unsigned int match_all(T v, int &p) const {
    return details::packed(mask, __match_all_sync(mask, v, &p));
  }
};
KUDZU_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// Size consecutive threads of a block: lanes of a warp, or whole warps (cooperative_groups/large_tile.h).
namespace details {
template <unsigned int Size, bool Large = (Size > 32)> class tile_of;
}
template <unsigned int Size, class Parent = void> class thread_block_tile;

template <unsigned int Size> class details::tile_of<Size, false> : public thread_group {
 protected:
  static KUDZU_CG unsigned int own_mask() {
    return Size == 32 ? 0xffffffffu : ((1u << (Size % 32)) - 1) << (details::lane() & ~(Size - 1));
  }
  KUDZU_CG tile_of(unsigned int r, unsigned int s) : thread_group(details::tile, own_mask(), r, s) {}

 public:
  template <class Parent> static KUDZU_CG void prepare(const Parent &) {} // a warp needs nothing to meet
  static KUDZU_CG constexpr unsigned int size() { return Size; }
  static KUDZU_CG constexpr unsigned int num_threads() { return Size; }
  static KUDZU_CG unsigned int thread_rank() { return details::thread_rank_in_block() & (Size - 1); }
  KUDZU_CG unsigned int group_mask() const { return mask; }
  KUDZU_CG unsigned int meta_group_size() const { return meta_size; }
  KUDZU_CG unsigned int meta_group_rank() const { return meta_rank; }
  KUDZU_CG void sync() const { __syncwarp(mask); }
  template <class T> KUDZU_CG T shfl(T v, int rank) const {
    unsigned int m = mask;
    return details::by_words(v, [=](unsigned int w) { return __shfl_sync(m, w, rank, Size); });
  }
  template <class T> KUDZU_CG T shfl_down(T v, unsigned int delta) const {
    unsigned int m = mask;
    return details::by_words(v, [=](unsigned int w) { return __shfl_down_sync(m, w, delta, Size); });
  }
  template <class T> KUDZU_CG T shfl_up(T v, unsigned int delta) const {
    unsigned int m = mask;
    return details::by_words(v, [=](unsigned int w) { return __shfl_up_sync(m, w, delta, Size); });
  }
  template <class T> KUDZU_CG T shfl_xor(T v, unsigned int lanes) const {
    unsigned int m = mask;
    return details::by_words(v, [=](unsigned int w) { return __shfl_xor_sync(m, w, (int)lanes, Size); });
  }
  KUDZU_CG int any(int p) const { return __any_sync(mask, p); }
  KUDZU_CG int all(int p) const { return __all_sync(mask, p); }
  KUDZU_CG unsigned int ballot(int p) const { return own(__ballot_sync(mask, p)); }
  template <class T> KUDZU_CG unsigned int match_any(T v) const { return own(__match_any_sync(mask, v)); }
  template <class T> KUDZU_CG unsigned int match_all(T v, int &p) const { return own(__match_all_sync(mask, v, &p)); }

 private:
  KUDZU_CG unsigned int own(unsigned int warp) const { return (warp & mask) >> (details::lane() & ~(Size - 1)); }
};
template <unsigned int Size> class thread_block_tile<Size, void> : public details::tile_of<Size> {
  static_assert(Size > 0 && Size <= 512 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4 … or 512 threads");

 protected:
  KUDZU_CG thread_block_tile(unsigned int r, unsigned int s) : details::tile_of<Size>(r, s) {}
};
template <unsigned int Size, class Parent> class thread_block_tile : public thread_block_tile<Size, void> {
  friend struct maker;
  KUDZU_CG thread_block_tile(unsigned int r, unsigned int s) : thread_block_tile<Size, void>(r, s) {}

 public:
  KUDZU_CG operator thread_block_tile<Size, void>() const { return *this; }
};

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#include "cooperative_groups/large_tile.h"

namespace cooperative_groups {
namespace __v1 {

// Makes groups whose constructors are closed.
struct maker {
  template <class G> static KUDZU_CG G tile(unsigned int rank, unsigned int size) { return G(rank, size); }
  static KUDZU_CG coalesced_group lanes(unsigned int mask, unsigned int rank, unsigned int size) {
    return coalesced_group(mask, rank, size);
  }
};

template <unsigned int Size, class Parent>
KUDZU_CG thread_block_tile<Size, Parent> tiled_partition(const Parent &g) {
  unsigned int rank = (unsigned int)g.thread_rank(), size = (unsigned int)g.size();
  details::tile_of<Size>::prepare(g);
  return maker::tile<thread_block_tile<Size, Parent>>(rank / Size, (size + Size - 1) / Size);
}
// Of lanes that need not be consecutive: the groups of `size` ranks.
KUDZU_CG coalesced_group tiled_partition(const coalesced_group &g, unsigned int size) {
  unsigned int rank = g.thread_rank(), first = rank / size * size, m = 0;
  for (unsigned int i = first; i < first + size && i < g.size(); i++) m |= 1u << details::nth_lane(g.group_mask(), i);
  return coalesced_group(m, rank / size, (g.size() + size - 1) / size);
}
KUDZU_CG thread_group tiled_partition(const thread_group &g, unsigned int size) {
  unsigned int n = (unsigned int)g.size(), rank = (unsigned int)g.thread_rank();
  if (g.get_type() == details::coalesced || g.get_type() == details::tile)
    return tiled_partition(maker::lanes(g.mask, 0, 1), size);
  unsigned int first = details::lane() & ~(size - 1);
  unsigned int m = size == 32 ? 0xffffffffu : ((1u << size) - 1) << first;
  unsigned int left = n - rank / size * size; // the last one may be smaller
  if (left < size) m &= ((1u << left) - 1) << first;
  return thread_group(details::tile, m, rank / size, (n + size - 1) / size);
}
KUDZU_CG thread_group tiled_partition(const thread_block &g, unsigned int size) {
  return tiled_partition((const thread_group &)g, size);
}

// The threads of a group with the same answer, or the same label.
template <class G> KUDZU_CG coalesced_group binary_partition(const G &g, bool pred) {
  unsigned int all = g.group_mask(), yes = __ballot_sync(all, pred);
  return maker::lanes(pred ? yes : all & ~yes, pred ? 1 : 0, 2);
}
template <class G, class L> KUDZU_CG coalesced_group labeled_partition(const G &g, L label) {
  unsigned int all = g.group_mask(), same = __match_any_sync(all, label);
  // groups are numbered by their first lanes
  unsigned int leaders = __ballot_sync(all, (same & details::lanes_below()) == 0);
  unsigned int leader = (unsigned int)__ffs((int)same) - 1;
  return maker::lanes(same, __popc(leaders & ((1u << leader) - 1)), __popc(leaders));
}

template <class G> KUDZU_CG void sync(const G &g) { g.sync(); }
template <class G> KUDZU_CG unsigned int thread_rank(const G &g) { return (unsigned int)g.thread_rank(); }
template <class G> KUDZU_CG unsigned int group_size(const G &g) { return (unsigned int)g.size(); }

// One thread of the group calls f.
template <class G, class F, class... A> KUDZU_CG void invoke_one(const G &g, F &&f, A &&...a) {
  if (g.thread_rank() == 0) f(static_cast<A &&>(a)...);
}
template <class G, class F, class... A> KUDZU_CG auto invoke_one_broadcast(const G &g, F &&f, A &&...a) -> decltype(f(static_cast<A &&>(a)...)) {
  decltype(f(static_cast<A &&>(a)...)) r{};
  if (g.thread_rank() == 0) r = f(static_cast<A &&>(a)...);
  return g.shfl(r, 0);
}

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#include "cooperative_groups/memcpy_async.h"
#include "cooperative_groups/reduce.h"
#include "cooperative_groups/scan.h"

#endif
