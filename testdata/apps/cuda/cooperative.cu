// Cooperative launches: a grid that synchronizes, a reduction over all blocks, a cellular automaton.
#include "app.cuh"
#include <cooperative_groups.h>
#include <vector>
namespace cg = cooperative_groups;

__global__ void reduce(const int *in, int *partial, int *out, int n) {
	cg::grid_group grid = cg::this_grid();
	cg::thread_block block = cg::this_thread_block();
	__shared__ int s[256];
	int v = 0;
	for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size())
		v += in[i];
	s[block.thread_rank()] = v;
	block.sync();
	for (int h = block.size() / 2; h > 0; h /= 2) {
		if (block.thread_rank() < h)
			s[block.thread_rank()] += s[block.thread_rank() + h];
		block.sync();
	}
	if (block.thread_rank() == 0)
		partial[blockIdx.x] = s[0];
	grid.sync();
	if (grid.thread_rank() == 0) {
		int t = 0;
		for (int i = 0; i < gridDim.x; i++)
			t += partial[i];
		*out = t;
	}
}

__global__ void life(unsigned char *a, unsigned char *b, int w, int h, int rounds) {
	cg::grid_group grid = cg::this_grid();
	for (int r = 0; r < rounds; r++) {
		for (int i = grid.thread_rank(); i < w * h; i += grid.size()) {
			int x = i % w, y = i / w, n = 0;
			for (int dy = -1; dy <= 1; dy++)
				for (int dx = -1; dx <= 1; dx++)
					if (dx || dy)
						n += a[(y + dy + h) % h * w + (x + dx + w) % w];
			b[i] = n == 3 || (n == 2 && a[i]);
		}
		grid.sync();
		unsigned char *t = a;
		a = b, b = t;
	}
}

__global__ void shape(int *out) {
	cg::grid_group g = cg::this_grid();
	if (g.thread_rank() == g.size() - 1) {
		out[0] = g.is_valid();
		out[1] = (int)g.size();
		out[2] = (int)g.num_blocks();
		out[3] = (int)g.block_rank();
		out[4] = (int)g.num_threads();
	}
}

int main() {
	int dev = 0, can = 0;
	OK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, dev));
	printf("cooperative %d\n", can);
	int n = 100000;
	std::vector<int> in(n);
	long long want = 0;
	for (int i = 0; i < n; i++)
		want += in[i] = i % 97 - 40;
	int *d, *partial, *out, got;
	OK(cudaMalloc(&d, n * sizeof(int)));
	OK(cudaMalloc(&partial, 1024 * sizeof(int)));
	OK(cudaMalloc(&out, 16 * sizeof(int)));
	OK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	int per = 0, sms = 0;
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, reduce, 256, 0));
	OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, dev));
	for (int grid : {1, 2, 3}) {
		if (grid > per * sms)
			grid = per * sms;
		void *args[] = {&d, &partial, &out, &n};
		OK(cudaLaunchCooperativeKernel((void *)reduce, grid, 256, args, 0, 0));
		OK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
		printf("sum %d%s\n", got, got == want ? "" : " wrong");
	}
	// Too many blocks at once are refused.
	void *many[] = {&d, &partial, &out, &n};
	SAY(cudaLaunchCooperativeKernel((void *)reduce, per * sms + 1, 256, many, 0, 0));
	// A glider on a torus: four steps move it by one.
	int w = 64, h = 48, rounds = 101;
	std::vector<unsigned char> world(w * h);
	for (auto c : {1, w + 2, 2 * w, 2 * w + 1, 2 * w + 2})
		world[c] = 1;
	for (int i = 0; i < w * h; i++)
		if (i / w > 20 && (i * 2654435761u >> 28) < 5)
			world[i] = 1;
	unsigned char *a, *b;
	OK(cudaMalloc(&a, w * h));
	OK(cudaMalloc(&b, w * h));
	OK(cudaMemcpy(a, world.data(), w * h, cudaMemcpyHostToDevice));
	void *largs[] = {&a, &b, &w, &h, &rounds};
	OK(cudaLaunchCooperativeKernel((void *)life, 2, 128, largs, 0, 0));
	OK(cudaMemcpy(world.data(), rounds % 2 ? b : a, w * h, cudaMemcpyDeviceToHost));
	int alive = 0;
	for (auto c : world)
		alive += c;
	printf("alive %d, %llx\n", alive, sum(world.data(), w * h));
	int s[5];
	void *sargs[] = {&out};
	OK(cudaLaunchCooperativeKernel((void *)shape, dim3(2, 1), dim3(8, 4), sargs, 0, 0));
	OK(cudaMemcpy(s, out, sizeof s, cudaMemcpyDeviceToHost));
	printf("valid %d size %d blocks %d rank %d threads %d\n", s[0], s[1], s[2], s[3], s[4]);
	// The same by attribute.
	cudaLaunchConfig_t c = {};
	cudaLaunchAttribute at = {};
	at.id = cudaLaunchAttributeCooperative;
	at.val.cooperative = 1;
	c.gridDim = 2;
	c.blockDim = 256;
	c.attrs = &at;
	c.numAttrs = 1;
	OK(cudaMemset(out, 0, 4));
	OK(cudaLaunchKernelEx(&c, reduce, (const int *)d, partial, out, n));
	OK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
	printf("sum %d\n", got);
	return 0;
}
