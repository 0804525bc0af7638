// Whole algorithms: scan, sort, histogram, matrix product, transposition, bodies, Mandelbrot, breadth-first search, a hash table.
#include "app.cuh"
#include <algorithm>
#include <vector>

__global__ void bitonic(unsigned *p, int j, int k) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, m = i ^ j;
	if (m > i) {
		bool up = (i & k) == 0;
		if ((p[i] > p[m]) == up) {
			unsigned t = p[i];
			p[i] = p[m], p[m] = t;
		}
	}
}
__global__ void histogram(const unsigned *p, int n, unsigned *out) {
	__shared__ unsigned bins[64];
	if (threadIdx.x < 64)
		bins[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&bins[p[i] % 64], 1);
	__syncthreads();
	if (threadIdx.x < 64)
		atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
template <int T> __global__ void product(const float *a, const float *b, float *c, int n) {
	__shared__ float sa[T][T], sb[T][T + 1];
	int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
	float v = 0;
	for (int k = 0; k < n; k += T) {
		sa[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
		sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
		__syncthreads();
		for (int i = 0; i < T; i++)
			v = fmaf(sa[threadIdx.y][i], sb[i][threadIdx.x], v);
		__syncthreads();
	}
	c[y * n + x] = v;
}
__global__ void transpose(const float *in, float *out, int n) {
	__shared__ float t[16][17];
	t[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x];
	__syncthreads();
	out[(blockIdx.x * 16 + threadIdx.y) * n + blockIdx.y * 16 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}
__global__ void mandelbrot(unsigned char *out, int w, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h)
		return;
	double cr = __dadd_rn(__dmul_rn(x, 3.0 / w), -2.0), ci = __dadd_rn(__dmul_rn(y, 2.0 / h), -1.0), r = 0, i = 0;
	int n = 0;
	while (n < 200 && __dadd_rn(__dmul_rn(r, r), __dmul_rn(i, i)) < 4) {
		double t = __dadd_rn(__dadd_rn(__dmul_rn(r, r), -__dmul_rn(i, i)), cr);
		i = __dadd_rn(__dmul_rn(2 * r, i), ci);
		r = t;
		n++;
	}
	out[y * w + x] = (unsigned char)n;
}
__global__ void bfs(const int *first, const int *edges, int *level, int n, int now, int *changed) {
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= n || level[v] != now)
		return;
	for (int e = first[v]; e < first[v + 1]; e++)
		if (atomicCAS(&level[edges[e]], -1, now + 1) == -1)
			*changed = 1;
}
__global__ void insert(const unsigned *keys, int n, unsigned *table, unsigned *counts, unsigned mask) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	unsigned k = keys[i] % 701 + 1, at = k * 2654435761u & mask;
	for (;;) {
		unsigned old = atomicCAS(&table[at], 0, k);
		if (old == 0 || old == k) {
			atomicAdd(&counts[at], 1);
			return;
		}
		at = (at + 1) & mask;
	}
}

int main() {
	const int n = 1 << 13;
	std::vector<unsigned> keys(n), got(n);
	unsigned s = 12345;
	for (auto &k : keys)
		k = s = s * 1664525u + 1013904223u;
	unsigned *d, *out;
	OK(cudaMalloc(&d, n * 4));
	OK(cudaMalloc(&out, n * 8));
	OK(cudaMemcpy(d, keys.data(), n * 4, cudaMemcpyHostToDevice));
	OK(cudaMemset(out, 0, 256));
	histogram<<<4, 128>>>(d, n, out);
	unsigned bins[64];
	OK(cudaMemcpy(bins, out, 256, cudaMemcpyDeviceToHost));
	printf("histogram: %u %u, %llx\n", bins[0], bins[63], sum(bins, 64));
	OK(cudaMemset(out, 0, n * 8));
	insert<<<n / 256, 256>>>(d, n, out, out + n, n - 1);
	std::vector<unsigned> table(2 * n);
	OK(cudaMemcpy(table.data(), out, n * 8, cudaMemcpyDeviceToHost));
	unsigned distinct = 0, total = 0, weighted = 0;
	for (int i = 0; i < n; i++)
		distinct += table[i] != 0, total += table[n + i], weighted += table[i] * table[n + i];
	printf("table: %u %u %u\n", distinct, total, weighted);
	for (int k = 2; k <= n; k *= 2)
		for (int j = k / 2; j > 0; j /= 2)
			bitonic<<<n / 256, 256>>>(d, j, k);
	OK(cudaMemcpy(got.data(), d, n * 4, cudaMemcpyDeviceToHost));
	std::sort(keys.begin(), keys.end());
	printf("sorted: %d\n", got == keys);
	const int m = 64;
	std::vector<float> a(m * m), b(m * m), c(m * m);
	for (int i = 0; i < m * m; i++)
		a[i] = (i * 13 % 29) * 0.25f - 3, b[i] = (i * 7 % 31) * 0.125f - 2;
	float *fa, *fb, *fc;
	OK(cudaMalloc(&fa, m * m * 4));
	OK(cudaMalloc(&fb, m * m * 4));
	OK(cudaMalloc(&fc, m * m * 4));
	OK(cudaMemcpy(fa, a.data(), m * m * 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(fb, b.data(), m * m * 4, cudaMemcpyHostToDevice));
	product<16><<<dim3(m / 16, m / 16), dim3(16, 16)>>>(fa, fb, fc, m);
	transpose<<<dim3(m / 16, m / 16), dim3(16, 16)>>>(fc, fa, m);
	OK(cudaMemcpy(c.data(), fa, m * m * 4, cudaMemcpyDeviceToHost));
	printf("product: %g %g, %llx\n", c[1], c[m * m - 2], sum(c.data(), m * m));
	const int w = 150, h = 90;
	std::vector<unsigned char> image(w * h);
	unsigned char *di;
	OK(cudaMalloc(&di, w * h));
	mandelbrot<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(di, w, h);
	OK(cudaMemcpy(image.data(), di, w * h, cudaMemcpyDeviceToHost));
	printf("mandelbrot: %d, %llx\n", image[45 * w + 60], sum(image.data(), w * h));
	// A graph: each vertex leads to three others.
	const int v = 3000;
	std::vector<int> first(v + 1), edges(3 * v), level(v, -1);
	for (int i = 0; i <= v; i++)
		first[i] = 3 * i;
	for (int i = 0; i < v; i++)
		edges[3 * i] = (i + 1) % v, edges[3 * i + 1] = (i * 7 + 3) % v, edges[3 * i + 2] = (i / 2 + 11) % v;
	level[0] = 0;
	int *df, *de, *dl, *dc;
	OK(cudaMalloc(&df, (v + 1) * 4));
	OK(cudaMalloc(&de, 3 * v * 4));
	OK(cudaMalloc(&dl, v * 4));
	OK(cudaMalloc(&dc, 4));
	OK(cudaMemcpy(df, first.data(), (v + 1) * 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(de, edges.data(), 3 * v * 4, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(dl, level.data(), v * 4, cudaMemcpyHostToDevice));
	int changed = 1, rounds = 0;
	for (; changed; rounds++) {
		OK(cudaMemset(dc, 0, 4));
		bfs<<<(v + 127) / 128, 128>>>(df, de, dl, v, rounds, dc);
		OK(cudaMemcpy(&changed, dc, 4, cudaMemcpyDeviceToHost));
	}
	OK(cudaMemcpy(level.data(), dl, v * 4, cudaMemcpyDeviceToHost));
	printf("levels: %d rounds, %d, %llx\n", rounds, level[v - 1], sum(level.data(), v));
	return 0;
}
