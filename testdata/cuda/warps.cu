// test<<<1,64>>>(o[64]u64)
// Shuffles of every type, votes, matches, reductions, barriers with a predicate, the builtin variables.
#include "check.h"

template <class T> static __device__ void shuffles(const Checks &check, u32 lane) {
  const u32 all = 0xffffffffu;
  T v = (T)(lane * 3 + 1);
  EQ(__shfl_sync(all, v, 5), (T)16);
  EQ(__shfl_sync(all, v, 5, 8), (T)(((lane & ~7u) + 5) * 3 + 1));
  EQ(__shfl_up_sync(all, v, 2), (T)((lane < 2 ? lane : lane - 2) * 3 + 1));
  EQ(__shfl_up_sync(all, v, 2, 16), (T)(((lane & 15) < 2 ? lane : lane - 2) * 3 + 1));
  EQ(__shfl_down_sync(all, v, 2), (T)((lane > 29 ? lane : lane + 2) * 3 + 1));
  EQ(__shfl_down_sync(all, v, 2, 4), (T)(((lane & 3) > 1 ? lane : lane + 2) * 3 + 1));
  EQ(__shfl_xor_sync(all, v, 9), (T)((lane ^ 9) * 3 + 1));
}

TEST() {
  const u32 all = 0xffffffffu;
  u32 lane = threadIdx.x % warpSize;
  shuffles<int>(check, lane);
  shuffles<u32>(check, lane);
  shuffles<long>(check, lane);
  shuffles<unsigned long>(check, lane);
  shuffles<long long>(check, lane);
  shuffles<u64>(check, lane);
  shuffles<float>(check, lane);
  shuffles<double>(check, lane);
  EQ(__shfl_xor_sync(all, (u64)lane << 35, 1), (u64)(lane ^ 1) << 35);

  EQ(__activemask(), all);
  TRUE(__all_sync(all, lane < 32));
  EQ(__all_sync(all, lane < 31), 0);
  TRUE(__any_sync(all, lane == 31));
  EQ(__any_sync(all, lane == 32), 0);
  TRUE(__uni_sync(all, 7));
  EQ(__uni_sync(all, lane == 3), 0);
  EQ(__ballot_sync(all, lane & 2), 0xccccccccu);
  if (lane < 8) EQ(__ballot_sync(0xff, lane & 1), 0xaau);
  __syncwarp();
  EQ(__match_any_sync(all, lane & 3), 0x11111111u << (lane & 3));
  EQ(__match_any_sync(all, (u64)(lane & 1) << 40), 0x55555555u << (lane & 1));
  EQ(__match_any_sync(all, (float)(lane & 1)), 0x55555555u << (lane & 1));
  EQ(__match_any_sync(all, (double)(lane & 1)), 0x55555555u << (lane & 1));
  int same;
  EQ(__match_all_sync(all, 4, &same), all);
  EQ(same, 1);
  EQ(__match_all_sync(all, (int)lane, &same), 0u);
  EQ(same, 0);
  EQ(__match_all_sync(all, 4ull << 40, &same), all);
  EQ(__reduce_add_sync(all, lane), 496u);
  EQ(__reduce_add_sync(all, -(int)lane), -496);
  EQ(__reduce_min_sync(all, lane + 3), 3u);
  EQ(__reduce_min_sync(all, -(int)lane), -31);
  EQ(__reduce_max_sync(all, lane + 3), 34u);
  EQ(__reduce_max_sync(all, -(int)lane), 0);
  EQ(__reduce_and_sync(all, lane | 96u), 96u);
  EQ(__reduce_or_sync(all, 1u << lane), all);
  EQ(__reduce_xor_sync(all, 1u << (lane / 2)), 0u);

  EQ(__syncthreads_count(threadIdx.x < 40), 40);
  TRUE(__syncthreads_and(threadIdx.x < 64));
  EQ(__syncthreads_and(threadIdx.x < 63), 0);
  TRUE(__syncthreads_or(threadIdx.x == 63));
  EQ(__syncthreads_or(threadIdx.x == 64), 0);

  EQ(blockIdx.x + blockIdx.y + blockIdx.z, 0u);
  EQ(blockDim.x, 64u);
  EQ(gridDim.x, 1u);
  uint3 t = threadIdx;
  dim3 b = blockDim;
  EQ(t.x, threadIdx.x);
  EQ(b.x + b.y + b.z, 66u);
  dim3 d(4), e = make_uint3(1, 2, 3);
  EQ(d.x * d.y * d.z, 4u);
  EQ(e.z, 3u);
}
