// Tiles larger than a warp: barriers, exchange, votes, reductions and scans of 64 to 512 threads, each tile on its own.
// flags: -arch=sm_80
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "cc.h"

namespace cg = cooperative_groups;

template <unsigned int N> __global__ void tiles(int *out) {
  __shared__ cg::block_tile_memory<1024> memory;
  __shared__ int slots[1024];
  cg::thread_block block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<N>(block);
  int me = block.thread_rank(), rank = tile.thread_rank(), bad = 0;
  bad += tile.size() != N || tile.meta_group_size() != blockDim.x / N || tile.meta_group_rank() != me / N;
  // Tiles make different numbers of rounds: a barrier of the block would not return.
  for (int round = 0; round <= tile.meta_group_rank() % 3; round++) {
    slots[me] = 100 * round + rank;
    tile.sync();
    bad += slots[me - rank + (rank + 33) % N] != 100 * round + (rank + 33) % N;
    tile.sync();
  }
  bad += tile.shfl(me, 5) != me - rank + 5;
  bad += tile.any(rank == N - 1) != 1 || tile.any(0) != 0 || tile.all(1) != 1 || tile.all(rank != 40) != 0;
  bad += cg::reduce(tile, rank, cg::plus<int>()) != N * (N - 1) / 2;
  bad += cg::reduce(tile, (double)me, cg::greater<double>()) != me - rank + N - 1;
  bad += cg::inclusive_scan(tile, rank) != rank * (rank + 1) / 2;
  bad += cg::exclusive_scan(tile, rank + 1, cg::plus<int>()) != rank * (rank + 1) / 2;
  bad += cg::inclusive_scan(tile, (int)N - rank, cg::greater<int>()) != N;
  bad += cg::invoke_one_broadcast(tile, [&] { return 7 + me / N; }) != 7 + me / N;
  auto half = cg::tiled_partition<N / 2>(tile);
  bad += half.meta_group_rank() != rank / (N / 2) || cg::reduce(half, 1, cg::plus<int>()) != N / 2;
  out[me] = bad;
}

template <unsigned int N> void run(int threads) {
  int *out, bad = 0;
  OK(cudaMallocManaged(&out, 1024 * sizeof *out));
  tiles<N><<<1, threads>>>(out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < threads; i++) bad += out[i];
  printf("%u of %d: %d\n", N, threads, bad);
  cudaFree(out);
}

int main() {
  run<64>(64);
  run<64>(1024);
  run<128>(768);
  run<256>(1024);
  run<512>(1024);
}
