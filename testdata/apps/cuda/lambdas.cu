// nvcc: --extended-lambda
// Lambdas of the device and of both sides: captured values, generic ones, composed and passed on.
#include "app.cuh"
#include <vector>

template <class F> __global__ void each(int n, F f) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		f(i);
}
template <class T, class F> __global__ void map(const T *in, T *out, int n, F f) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		out[i] = f(in[i]);
}
template <class F, class G> struct Composed {
	F f;
	G g;
	__host__ __device__ int operator()(int x) const { return g(f(x)); }
};
template <class F, class G> Composed<F, G> compose(F f, G g) { return {f, g}; }
struct Pair {
	int a;
	double b;
};

int main() {
	const int n = 1000;
	int *d;
	OK(cudaMalloc(&d, n * sizeof(int)));
	std::vector<int> h(n);
	int a = 3, b = 4;
	each<<<4, 64>>>(n, [=] __device__(int i) { d[i] = a * i + b; });
	OK(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
	printf("each: %d %d\n", h[0], h[n - 1]);
	Pair p = {7, 0.5};
	map<<<(n + 127) / 128, 128>>>(d, d, n, [p] __device__(int x) { return (int)(x * p.b) + p.a; });
	OK(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
	printf("map: %d %d\n", h[0], h[n - 1]);
	auto twice = [] __host__ __device__(int x) { return 2 * x; };
	auto less = [=] __host__ __device__(int x) { return x - b; };
	auto both = compose(twice, compose(less, twice));
	map<<<(n + 127) / 128, 128>>>(d, d, n, both);
	int host = both(h[10]);
	OK(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
	printf("composed: %d, on the host %d\n", h[10], host);
	int array[4] = {1, 10, 100, 1000};
	each<<<1, 32>>>(n, [=] __device__(int i) { d[i] = array[i & 3] + i; });
	OK(cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost));
	printf("array: %d %d %d, %llx\n", h[1], h[2], h[3], sum(h.data(), n));
	each<<<2, 32>>>(8, [=] __device__(int i) {
		auto inner = [&](int k) { return k * k + i; };
		int t = 0;
		for (int k = 0; k < 4; k++)
			t += inner(k);
		d[i] = t;
	});
	OK(cudaMemcpy(h.data(), d, 8 * sizeof(int), cudaMemcpyDeviceToHost));
	printf("inner: %d %d\n", h[0], h[7]);
	return 0;
}
