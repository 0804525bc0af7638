// nvcc: -rdc=true -lcudadevrt
// since: 12
// Dynamic parallelism: kernels that launch kernels, to some depth, fire-and-forget and as tails.
#include "app.cuh"
#include <algorithm>
#include <vector>

__global__ void leaf(int *p, int n, int by) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i] += by;
}
// All children of a grid end before it does.
__global__ void parent(int *p, int n) {
	if (threadIdx.x == 0)
		for (int k = 0; k < 3; k++)
			leaf<<<(n + 63) / 64, 64>>>(p, n, 1 << (4 * k));
}
__global__ void tree(int *count, int depth) {
	atomicAdd(&count[depth], 1);
	if (depth < 4 && threadIdx.x < 2)
		tree<<<1, 2, 0, cudaStreamFireAndForget>>>(count, depth + 1);
}
__global__ void finish(int *p, int n) {
	if (threadIdx.x == 0) {
		int t = 0;
		for (int i = 0; i < n; i++)
			t = t * 31 + p[i];
		p[n] = t;
	}
}
// A tail runs after the grid and all its other children.
__global__ void staged(int *p, int n) {
	if (threadIdx.x == 0) {
		finish<<<1, 32, 0, cudaStreamTailLaunch>>>(p, n);
		leaf<<<(n + 31) / 32, 32>>>(p, n, 7);
	}
}
// Quicksort down to small pieces.
__global__ void insertion(int *p, int lo, int hi) {
	for (int i = lo + 1; i <= hi; i++) {
		int v = p[i], j = i - 1;
		while (j >= lo && p[j] > v)
			p[j + 1] = p[j], j--;
		p[j + 1] = v;
	}
}
__global__ void quick(int *p, int lo, int hi, int depth) {
	if (hi - lo < 24 || depth > 12) {
		if (lo < hi)
			insertion<<<1, 1>>>(p, lo, hi);
		return;
	}
	int pivot = p[(lo + hi) / 2], i = lo, j = hi;
	while (i <= j) {
		while (p[i] < pivot)
			i++;
		while (p[j] > pivot)
			j--;
		if (i <= j) {
			int t = p[i];
			p[i] = p[j], p[j] = t;
			i++, j--;
		}
	}
	if (lo < j) {
		cudaStream_t s;
		cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
		quick<<<1, 1, 0, s>>>(p, lo, j, depth + 1);
		cudaStreamDestroy(s);
	}
	if (i < hi) {
		cudaStream_t s;
		cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
		quick<<<1, 1, 0, s>>>(p, i, hi, depth + 1);
		cudaStreamDestroy(s);
	}
}
__global__ void shared(int *out, int from) {
	extern __shared__ int s[];
	s[threadIdx.x] = from + threadIdx.x;
	__syncthreads();
	out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void configured(int *out) { shared<<<1, dim3(8, 1, 1), 8 * sizeof(int)>>>(out, 50); }
__global__ void refused(int *out) {
	shared<<<1, 5000>>>(out, 1);
	out[0] = cudaGetLastError() != cudaSuccess;
	out[1] = cudaPeekAtLastError();
}

int main() {
	const int n = 1000;
	int *d;
	OK(cudaMalloc(&d, (n + 1) * sizeof(int)));
	OK(cudaMemset(d, 0, (n + 1) * sizeof(int)));
	std::vector<int> h(n + 1);
	parent<<<1, 32>>>(d, n);
	OK(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
	printf("children: %x %x\n", h[0], h[n - 1]);
	OK(cudaMemset(d, 0, n * sizeof(int)));
	tree<<<1, 2>>>(d, 0);
	OK(cudaMemcpy(h.data(), d, 5 * sizeof(int), cudaMemcpyDeviceToHost));
	printf("tree: %d %d %d %d %d\n", h[0], h[1], h[2], h[3], h[4]);
	OK(cudaMemset(d, 0, (n + 1) * sizeof(int)));
	staged<<<1, 32>>>(d, n);
	OK(cudaMemcpy(h.data(), d, (n + 1) * sizeof(int), cudaMemcpyDeviceToHost));
	printf("tail: %d %d\n", h[0], h[n]);
	for (int i = 0; i < n; i++)
		h[i] = (i * 7919 + 13) % 10007;
	OK(cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	quick<<<1, 1>>>(d, 0, n - 1, 0);
	std::vector<int> want(h.begin(), h.begin() + n);
	std::sort(want.begin(), want.end());
	OK(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
	printf("sorted: %d, %d ... %d\n", std::equal(want.begin(), want.end(), h.begin()), h[0], h[n - 1]);
	configured<<<1, 1>>>(d);
	OK(cudaMemcpy(h.data(), d, 8 * sizeof(int), cudaMemcpyDeviceToHost));
	printf("configured: %d %d\n", h[0], h[7]);
	refused<<<1, 1>>>(d);
	OK(cudaMemcpy(h.data(), d, 2 * sizeof(int), cudaMemcpyDeviceToHost));
	printf("refused: %d %d\n", h[0], h[1]);
	OK(cudaDeviceSynchronize());
	return 0;
}
