// since: 12
// Streams: order inside one, waits between two, the legacy stream, priorities, host functions, callbacks, many at once.
#include "app.cuh"
#include <atomic>
#include <vector>

__global__ void fill(int *p, int v, int n) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] = v;
}
__global__ void affine(int *p, int m, int a, int n) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] = p[i] * m + a;
}

static std::atomic<int> calls;
static void CUDART_CB host(void *p) { *(int *)p = ++calls; }
static void CUDART_CB back(cudaStream_t, cudaError_t e, void *p) { *(int *)p = e == cudaSuccess ? 100 + ++calls : -1; }

int main() {
	const int n = 10000, many = 16;
	// Each stream computes its own chain; all of them at once.
	std::vector<cudaStream_t> s(many);
	std::vector<int *> d(many), h(many);
	for (int i = 0; i < many; i++) {
		OK(cudaStreamCreateWithFlags(&s[i], i % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
		OK(cudaMalloc(&d[i], n * sizeof(int)));
		OK(cudaMallocHost(&h[i], n * sizeof(int)));
		fill<<<8, 128, 0, s[i]>>>(d[i], i, n);
		for (int k = 0; k < 5; k++)
			affine<<<8, 128, 0, s[i]>>>(d[i], 3, k, n);
		OK(cudaMemcpyAsync(h[i], d[i], n * sizeof(int), cudaMemcpyDeviceToHost, s[i]));
	}
	for (int i = 0; i < many; i++) {
		OK(cudaStreamSynchronize(s[i]));
		int bad = 0, want = i;
		for (int k = 0; k < 5; k++)
			want = want * 3 + k;
		for (int j = 0; j < n; j++)
			bad += h[i][j] != want;
		printf("stream %d: %d, %d wrong\n", i, h[i][0], bad);
	}
	// One stream waits for an event of another.
	cudaEvent_t e;
	OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
	fill<<<64, 256, 0, s[1]>>>(d[0], 7, n);
	OK(cudaEventRecord(e, s[1]));
	OK(cudaStreamWaitEvent(s[3], e, 0));
	affine<<<64, 256, 0, s[3]>>>(d[0], 10, 1, n);
	OK(cudaMemcpyAsync(h[0], d[0], n * sizeof(int), cudaMemcpyDeviceToHost, s[3]));
	OK(cudaStreamSynchronize(s[3]));
	printf("after the event: %d %d\n", h[0][0], h[0][n - 1]);
	// The legacy stream waits for blocking streams and they for it.
	fill<<<64, 256, 0, s[0]>>>(d[0], 1, n);
	affine<<<64, 256>>>(d[0], 2, 3, n);
	affine<<<64, 256, 0, s[2]>>>(d[0], 4, 5, n);
	OK(cudaMemcpy(h[0], d[0], n * sizeof(int), cudaMemcpyDeviceToHost));
	printf("legacy: %d %d\n", h[0][0], h[0][n - 1]);
	// Host functions run in stream order.
	int a = 0, b = 0, c = 0;
	OK(cudaLaunchHostFunc(s[0], host, &a));
	fill<<<1, 32, 0, s[0]>>>(d[0], 9, n);
	OK(cudaStreamAddCallback(s[0], back, &b, 0));
	OK(cudaLaunchHostFunc(s[0], host, &c));
	OK(cudaStreamSynchronize(s[0]));
	printf("host functions: %d %d %d\n", a, b, c);
	// Flags, priorities, queries.
	int low, high;
	OK(cudaDeviceGetStreamPriorityRange(&low, &high));
	printf("priorities: %s\n", low >= high ? "ordered" : "not ordered");
	cudaStream_t p;
	OK(cudaStreamCreateWithPriority(&p, cudaStreamNonBlocking, high));
	int got;
	unsigned flags;
	OK(cudaStreamGetPriority(p, &got));
	OK(cudaStreamGetFlags(p, &flags));
	printf("priority %s, flags %u\n", got == high ? "kept" : "lost", flags);
	OK(cudaStreamCreateWithPriority(&s[0], cudaStreamDefault, high - 100));
	OK(cudaStreamGetPriority(s[0], &got));
	printf("clamped: %d\n", got == high);
	OK(cudaStreamQuery(p));
	SAY(cudaStreamQuery(0));
	SAY(cudaStreamCreateWithFlags(&p, 77));
	SAY(cudaStreamDestroy(0));
	unsigned long long one, two;
	OK(cudaStreamGetId(s[1], &one));
	OK(cudaStreamGetId(s[2], &two));
	printf("ids differ: %d\n", one != two);
	for (auto x : s)
		OK(cudaStreamDestroy(x));
	OK(cudaDeviceSynchronize());
	return 0;
}
