// printf and puts of the device: all conversions, flags, widths and precisions; order in a thread; limits.
#include "app.cuh"

__global__ void integers(int i, unsigned u, long long l, unsigned long long w) {
	printf("[%d] [%5d] [%-5d] [%05d] [%+d] [% d] [%i]\n", i, i, i, i, i, i, -i);
	printf("[%u] [%8u] [%-8u] [%o] [%#o] [%x] [%#x] [%X] [%#08x]\n", u, u, u, u, u, u, u, u, u);
	printf("[%lld] [%20lld] [%llu] [%llx] [%-20llo]\n", l, l, w, w, w);
	printf("[%ld] [%lu] [%lx] [%20ld] [%-20lu]\n", (long)l, (unsigned long)w, (unsigned long)w, (long)l, (unsigned long)w);
	printf("[%hd] [%hu] [%.5d] [%.0d] [%8.3d] [%-8.3d]\n", (short)i, (unsigned short)u, i, 0, i, i);
	printf("[%*d] [%-*d] [%*u]\n", 7, i, 7, i, 12, u);
}
__global__ void floats(float f, double d) {
	printf("[%f] [%.2f] [%10.3f] [%-10.1f] [%+f] [%010.2f] [%#.0f]\n", d, d, d, d, d, d, d);
	printf("[%e] [%.3E] [%g] [%G] [%.10g] [%#g]\n", d, d, d, d * 1e-9, d, d);
	printf("[%a] [%A] [%.3a] [%g] [%f]\n", d, d, d, f, f);
	printf("[%f] [%F] [%g] [%e] [%5.1f]\n", 1.0 / 0.0 * d, -1.0 / 0.0 * d, d - d, -0.0 * d, 0.05);
	printf("[%.17g] [%.0e] [%.20f]\n", 0.1 * d, d, d / 3);
}
__global__ void others(const char *, void *p) {
	printf("[%s] [%10s] [%-10s] [%.3s] [%*s] [%c] [%3c] [%-3c] [%%]\n", "text", "text", "text", "text", 8, "text", 'a', 'b', 'c');
	printf("[%p] [%20p]\n", p, p);
	printf("plain\n");
	printf("%s%s%s", "joined", "\ttext", "\n");
	printf("two\nlines\n");
}
__global__ void many() {
	printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
	       20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
}
__global__ void ordered(int n) {
	for (int i = 0; i < n; i++)
		printf("line %d of thread %d\n", i, threadIdx.x);
}
__global__ void returned(int *out) {
	out[0] = printf("two %d %f\n", 1, 2.0);
	out[1] = printf("none\n");
}
__device__ const char *names[] = {"zero", "one", "two"};
__global__ void named(int i) { printf("name %s, %s\n", names[i], i > 1 ? "large" : "small"); }

int main() {
	integers<<<1, 1>>>(-42, 3000000000u, -1234567890123ll, 0xfedcba9876543210ull);
	OK(cudaDeviceSynchronize());
	floats<<<1, 1>>>(1.5f, 1234.5678);
	others<<<1, 1>>>(nullptr, (void *)0x1234abcd);
	OK(cudaDeviceSynchronize());
	many<<<1, 1>>>();
	ordered<<<1, 1>>>(3);
	named<<<1, 1>>>(0);
	named<<<1, 1>>>(2);
	int *out, h[2];
	OK(cudaMalloc(&out, sizeof h));
	returned<<<1, 1>>>(out);
	OK(cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost));
	OK(cudaDeviceSynchronize());
	printf("returned %d %d\n", h[0], h[1]);
	size_t size = 0;
	OK(cudaDeviceGetLimit(&size, cudaLimitPrintfFifoSize));
	printf("fifo %zu\n", size);
	fflush(stdout);
	return 0;
}
