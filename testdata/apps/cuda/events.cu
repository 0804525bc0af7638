// Events: order, times, flags, errors.
#include "app.cuh"

__global__ void spin(unsigned *out, int rounds) {
	unsigned x = threadIdx.x + 1;
	for (int i = 0; i < rounds; i++)
		x = x * 1664525u + 1013904223u;
	out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

int main() {
	unsigned *d, h[256];
	OK(cudaMalloc(&d, sizeof h));
	cudaStream_t s;
	OK(cudaStreamCreate(&s));
	cudaEvent_t a, b, c, quiet;
	OK(cudaEventCreate(&a));
	OK(cudaEventCreate(&b));
	OK(cudaEventCreateWithFlags(&c, cudaEventBlockingSync));
	OK(cudaEventCreateWithFlags(&quiet, cudaEventDisableTiming));
	float ms = -1;
	SAY(cudaEventQuery(a)); // never recorded: done
	SAY(cudaEventElapsedTime(&ms, a, b));
	OK(cudaEventRecord(a, s));
	spin<<<4, 64, 0, s>>>(d, 1000);
	OK(cudaEventRecord(b, s));
	spin<<<4, 64, 0, s>>>(d, 2000);
	OK(cudaEventRecordWithFlags(c, s, cudaEventRecordDefault));
	OK(cudaEventRecord(quiet, s));
	OK(cudaEventSynchronize(c));
	SAY(cudaEventQuery(b));
	OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	printf("spun %llx\n", sum(h, 256));
	float ab, bc, ac;
	OK(cudaEventElapsedTime(&ab, a, b));
	OK(cudaEventElapsedTime(&bc, b, c));
	OK(cudaEventElapsedTime(&ac, a, c));
	printf("times: %d %d %d\n", ab >= 0, bc >= 0, ac + 0.01f >= ab && ac + 0.01f >= bc);
	float back;
	OK(cudaEventElapsedTime(&back, b, a));
	printf("backwards: %d\n", back <= 0);
	OK(cudaStreamSynchronize(s));
	SAY(cudaEventElapsedTime(&ms, a, quiet));
	SAY(cudaEventElapsedTime(nullptr, a, b));
	SAY(cudaEventCreateWithFlags(&a, 64));
	SAY(cudaEventCreateWithFlags(&a, cudaEventInterprocess)); // needs DisableTiming
	SAY(cudaEventRecord(nullptr, s));
	SAY(cudaEventSynchronize(nullptr));
	SAY(cudaEventDestroy(nullptr));
	// Recording again moves the event.
	for (int i = 0; i < 100; i++) {
		spin<<<1, 32, 0, s>>>(d, 10 + i);
		OK(cudaEventRecord(quiet, s));
	}
	OK(cudaEventSynchronize(quiet));
	OK(cudaMemcpy(h, d, 32 * sizeof *h, cudaMemcpyDeviceToHost));
	printf("last %u\n", h[5]);
	OK(cudaEventDestroy(b));
	OK(cudaEventDestroy(c));
	OK(cudaEventDestroy(quiet));
	OK(cudaStreamDestroy(s));
	OK(cudaFree(d));
	return 0;
}
