// Groups of a warp and less: tiles, coalesced groups, labels, reductions and scans.
#include "app.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

template <int N> __global__ void tiles(int *out) {
	auto block = cg::this_thread_block();
	auto tile = cg::tiled_partition<N>(block);
	int v = block.thread_rank() * 3 + 1;
	int s = v;
	for (int d = tile.size() / 2; d > 0; d /= 2)
		s += tile.shfl_down(s, d);
	s = tile.shfl(s, 0);
	out[block.thread_rank() * 4 + 0] = s;
	out[block.thread_rank() * 4 + 1] = tile.meta_group_rank() * 100 + tile.thread_rank();
	out[block.thread_rank() * 4 + 2] = tile.ballot(v % 2) & 0xffffff;
	out[block.thread_rank() * 4 + 3] = tile.any(v == 10) * 2 + tile.all(v > 0);
}

__global__ void coalesced(int *out, int *slots) {
	int i = threadIdx.x;
	out[i] = -1;
	if (i % 3 == 1) {
		auto g = cg::coalesced_threads();
		int base = 0;
		if (g.thread_rank() == 0)
			base = atomicAdd(slots, (int)g.size());
		base = g.shfl(base, 0);
		out[i] = base + g.thread_rank() + 1000 * (int)g.size();
		g.sync();
	}
}

__global__ void reduced(const int *in, int *out) {
	auto block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	int v = in[threadIdx.x];
	int add = cg::reduce(warp, v, cg::plus<int>());
	int most = cg::reduce(warp, v, cg::greater<int>());
	int least = cg::reduce(warp, v, cg::less<int>());
	int bits = cg::reduce(warp, v, cg::bit_xor<int>());
	int in_scan = cg::inclusive_scan(warp, v);
	int ex_scan = cg::exclusive_scan(warp, v, cg::plus<int>());
	auto kind = cg::labeled_partition(warp, v & 3);
	int peers = cg::reduce(kind, 1, cg::plus<int>());
	auto half = cg::binary_partition(warp, v > 50);
	int *o = out + threadIdx.x * 8;
	o[0] = add, o[1] = most, o[2] = least, o[3] = bits, o[4] = in_scan, o[5] = ex_scan, o[6] = peers, o[7] = (int)half.size();
}

__global__ void matching(const int *in, unsigned *out) {
	auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	int pred;
	unsigned *o = out + threadIdx.x * 2;
	o[0] = warp.match_any(in[threadIdx.x] % 5);
	unsigned m = warp.match_all(in[threadIdx.x] / 1000, pred);
	o[1] = m ^ (pred ? 1u : 0);
}

template <int N> static void show(int *d) {
	int h[128 * 4];
	OK(cudaMemset(d, 0, sizeof h));
	tiles<N><<<1, 128>>>(d);
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("tiles of %d: %llx; thread 37: %d %d %x %d\n", N, sum(h, 512), h[148], h[149], h[150], h[151]);
}

int main() {
	int *d, *in, h[64 * 8], *slots;
	OK(cudaMalloc(&d, 128 * 8 * sizeof(int)));
	OK(cudaMalloc(&in, 64 * sizeof(int)));
	OK(cudaMalloc(&slots, sizeof(int)));
	OK(cudaMemset(slots, 0, sizeof(int)));
	show<32>(d), show<16>(d), show<8>(d), show<4>(d), show<2>(d), show<1>(d);
	coalesced<<<1, 32>>>(d, slots);
	OK(cudaMemcpy(h, d, 32 * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		printf("%d%c", h[i], i == 31 ? '\n' : ' ');
	for (int i = 0; i < 64; i++)
		h[i] = (i * 37 + 11) % 101;
	OK(cudaMemcpy(in, h, 64 * sizeof(int), cudaMemcpyHostToDevice));
	reduced<<<1, 64>>>(in, d);
	OK(cudaMemcpy(h, d, 64 * 8 * sizeof(int), cudaMemcpyDeviceToHost));
	for (int i : {0, 7, 31, 32, 63})
		printf("thread %d: %d %d %d %d %d %d %d %d\n", i, h[i * 8], h[i * 8 + 1], h[i * 8 + 2], h[i * 8 + 3], h[i * 8 + 4], h[i * 8 + 5], h[i * 8 + 6], h[i * 8 + 7]);
	printf("%llx\n", sum(h, 512));
	matching<<<1, 64>>>(in, (unsigned *)d);
	OK(cudaMemcpy(h, d, 128 * sizeof(int), cudaMemcpyDeviceToHost));
	printf("match %x %x %llx\n", h[0], h[1], sum(h, 128));
	return 0;
}
