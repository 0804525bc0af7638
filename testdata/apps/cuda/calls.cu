// Calls of the device: recursion, function pointers, mutual calls, arrays on the stack, and the heap.
#include "app.cuh"

__device__ __noinline__ int ackermann(int m, int n) {
	if (m == 0)
		return n + 1;
	if (n == 0)
		return ackermann(m - 1, 1);
	return ackermann(m - 1, ackermann(m, n - 1));
}
__device__ __noinline__ unsigned odd(unsigned n);
__device__ __noinline__ unsigned even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
__device__ __noinline__ unsigned odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }
__device__ int hanoi(int n, int a, int b, int c, int *moves, int at) {
	if (n == 0)
		return at;
	at = hanoi(n - 1, a, c, b, moves, at);
	moves[at++] = n * 100 + a * 10 + b;
	return hanoi(n - 1, c, b, a, moves, at);
}
__global__ void recursive(int *out) {
	int t = threadIdx.x;
	out[t] = ackermann(2, t % 6) * 10 + even(t);
	int moves[64];
	int n = hanoi(t % 5, 1, 2, 3, moves, 0), v = 0;
	for (int i = 0; i < n; i++)
		v = v * 7 + moves[i];
	out[32 + t] = v;
}
typedef float (*Fn)(float);
__device__ float half_of(float x) { return x / 2; }
__device__ float cube(float x) { return x * x * x; }
__device__ float neg(float x) { return -x; }
__device__ Fn fns[3] = {half_of, cube, neg};
__global__ void pointers(float *out) { out[threadIdx.x] = fns[threadIdx.x % 3](threadIdx.x) + fns[(threadIdx.x / 8) % 3](1.5f); }

struct Tree {
	int key;
	Tree *left, *right;
};
__device__ Tree *insert(Tree *t, int key) {
	if (!t) {
		t = new Tree;
		t->key = key, t->left = t->right = nullptr;
	} else if (key < t->key)
		t->left = insert(t->left, key);
	else
		t->right = insert(t->right, key);
	return t;
}
__device__ int flatten(Tree *t, int *out, int at) {
	if (!t)
		return at;
	at = flatten(t->left, out, at);
	out[at++] = t->key;
	at = flatten(t->right, out, at);
	delete t;
	return at;
}
__global__ void trees(int *out) {
	Tree *t = nullptr;
	for (int i = 0; i < 16; i++)
		t = insert(t, (i * 11 + threadIdx.x * 5) % 17);
	flatten(t, out + threadIdx.x * 16, 0);
}
__global__ void heap(int *out, int n) {
	int *p = (int *)malloc(n * sizeof(int));
	if (!p) {
		out[threadIdx.x] = -1;
		return;
	}
	for (int i = 0; i < n; i++)
		p[i] = i * threadIdx.x;
	int t = 0;
	for (int i = 0; i < n; i++)
		t += p[i];
	out[threadIdx.x] = t;
	free(p);
}
__global__ void too_much(int *out) { *out = malloc((size_t)1 << 40) == nullptr; }

int main() {
	int *d, h[256];
	OK(cudaMalloc(&d, sizeof h));
	OK(cudaDeviceSetLimit(cudaLimitStackSize, 16384));
	recursive<<<1, 32>>>(d);
	OK(cudaMemcpy(h, d, 256, cudaMemcpyDeviceToHost));
	printf("recursive: %d %d %d, %llx\n", h[5], h[31], h[36], sum(h, 64));
	float f[32];
	pointers<<<1, 32>>>((float *)d);
	OK(cudaMemcpy(f, d, sizeof f, cudaMemcpyDeviceToHost));
	printf("pointers: %g %g %g, %llx\n", f[3], f[4], f[31], sum(f, 32));
	trees<<<1, 16>>>(d);
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("trees: %d %d %d, %llx\n", h[0], h[1], h[255], sum(h, 256));
	heap<<<1, 64>>>(d, 100);
	OK(cudaMemcpy(h, d, 256, cudaMemcpyDeviceToHost));
	printf("heap: %d %d\n", h[1], h[63]);
	too_much<<<1, 1>>>(d);
	OK(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost));
	printf("too much: %d\n", h[0]);
	size_t limit;
	OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
	printf("heap limit: %zu\n", limit);
	return 0;
}
