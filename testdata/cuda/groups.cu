// test<<<4,64,0,cooperative>>>(o[64]u64)
// cooperative_groups.h: blocks, grids, tiles, coalesced threads, partitions, reductions, scans, copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include "check.h"

namespace cg = cooperative_groups;

__device__ int slots[256];
__device__ int numbers[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

template <unsigned int N> static __device__ void tile(const Checks &check, const cg::thread_block &block) {
  auto t = cg::tiled_partition<N>(block);
  u32 r = block.thread_rank() % N;
  EQ(t.size(), N);
  EQ(t.num_threads(), N);
  EQ(t.thread_rank(), r);
  EQ(t.meta_group_rank(), block.thread_rank() / N);
  EQ(t.meta_group_size(), 64 / N);
  EQ(t.shfl(r, N - 1), N - 1);
  EQ(t.shfl_up(r, 1), r ? r - 1 : 0);
  EQ(t.shfl_down(r, 1), r < N - 1 ? r + 1 : N - 1);
  EQ(t.shfl_xor((double)r, N / 2), (double)(r ^ (N / 2)));
  EQ(t.ballot(r == 0), 1u);
  TRUE(t.any(r == 0));
  EQ(t.all(r > 0), 0);
  EQ(t.match_any(r / 2), (N == 1 ? 1u : 3u) << (r & ~1u));
  int same;
  t.match_all(5, same);
  EQ(same, 1);
  EQ(cg::reduce(t, (int)r, cg::plus<int>()), (int)(N * (N - 1) / 2));
  EQ(cg::reduce(t, (int)r, cg::greater<int>()), (int)N - 1);
  EQ(cg::reduce(t, (int)r + 3, cg::less<int>()), 3);
  EQ(cg::reduce(t, 1u << r, cg::bit_or<u32>()), N == 32 ? 0xffffffffu : (1u << (N % 32)) - 1);
  EQ(cg::reduce(t, r | 64u, cg::bit_and<u32>()), N == 1 ? 64u | r : 64u);
  EQ(cg::reduce(t, 7u, cg::bit_xor<u32>()), N == 1 ? 7u : 0u);
  EQ(cg::inclusive_scan(t, (int)r), (int)(r * (r + 1) / 2));
  EQ(cg::exclusive_scan(t, (int)r + 1), (int)(r * (r + 1) / 2));
  t.sync();
}

static __device__ void parts(const Checks &check, const cg::thread_block &block) {
  u32 lane = block.thread_rank() % 32;
  auto warp = cg::tiled_partition<32>(block);
  if (lane % 3 == 0) {
    auto c = cg::coalesced_threads();
    EQ(c.size(), 11u);
    EQ(c.thread_rank(), lane / 3);
    EQ(c.shfl(lane, 2), 6u);
    EQ(c.shfl_up(lane, 1), lane ? lane - 3 : 0);
    EQ(c.shfl_down(lane, 2), lane / 3 < 9 ? lane + 6 : lane);
    EQ(c.ballot(lane == 9), 8u);
    TRUE(c.any(lane == 9));
    EQ(c.all(lane == 9), 0);
    EQ(cg::reduce(c, (int)lane, cg::plus<int>()), 165);
    EQ(cg::inclusive_scan(c, 1), (int)lane / 3 + 1);
    EQ(cg::exclusive_scan(c, 1), (int)lane / 3);
    auto pairs = cg::tiled_partition(c, 4);
    EQ(pairs.size(), lane / 3 < 8 ? 4u : 3u);
    EQ(pairs.thread_rank(), lane / 3 % 4);
    c.sync();
  }
  warp.sync();
  auto odd = cg::binary_partition(warp, lane & 1);
  EQ(odd.size(), 16u);
  EQ(odd.thread_rank(), lane / 2);
  auto label = cg::labeled_partition(warp, (int)lane % 4);
  EQ(label.size(), 8u);
  EQ(label.thread_rank(), lane / 4);
  EQ(label.meta_group_size(), 4u);
  cg::thread_group any = cg::tiled_partition(block, 8);
  EQ(any.size(), 8u);
  EQ(any.thread_rank(), block.thread_rank() % 8);
  any.sync();
  auto inner = cg::tiled_partition<4>(cg::tiled_partition<16>(block));
  EQ(inner.meta_group_rank(), block.thread_rank() % 16 / 4);
  int called = 0;
  cg::invoke_one(warp, [&] { called = 1; });
  EQ(cg::reduce(warp, called, cg::plus<int>()), 1);
  EQ(cg::invoke_one_broadcast(warp, [] { return 7; }), 7);
}

TEST() {
  auto block = cg::this_thread_block();
  auto grid = cg::this_grid();
  EQ(block.size(), 64u);
  EQ(block.thread_rank(), threadIdx.x);
  EQ(block.group_index().x, blockIdx.x);
  EQ(block.thread_index().x, threadIdx.x);
  EQ(block.dim_threads().x, 64u);
  TRUE(grid.is_valid());
  EQ(grid.size(), 256ull);
  EQ(grid.num_blocks(), 4ull);
  EQ(grid.block_rank(), (u64)blockIdx.x);
  EQ(grid.thread_rank(), (u64)(blockIdx.x * 64 + threadIdx.x));
  EQ(grid.dim_blocks().x, 4u);
  EQ(grid.thread_index().x, blockIdx.x * 64 + threadIdx.x);

  u32 me = (u32)grid.thread_rank();
  for (int round = 1; round < 4; round++) {
    slots[me] = (int)me * round;
    grid.sync();
    u32 other = (me + 64 * round) % 256; // of another block
    EQ(((volatile int *)slots)[other], (int)other * round);
    grid.sync();
  }
  tile<1>(check, block);
  tile<2>(check, block);
  tile<8>(check, block);
  tile<16>(check, block);
  tile<32>(check, block);
  parts(check, block);

  alignas(16) __shared__ int copy[64];
  cg::memcpy_async(block, copy, numbers, sizeof copy);
  cg::wait(block);
  EQ(copy[threadIdx.x], (int)(threadIdx.x < 16 ? threadIdx.x : 0));
  block.sync();
  cg::memcpy_async(block, copy + 1, numbers + 2, 4 * 13); // only words are aligned
  cg::wait_prior<0>(block);
  if (threadIdx.x < 13) EQ(copy[threadIdx.x + 1], (int)threadIdx.x + 2);
  cg::sync(block);
}
