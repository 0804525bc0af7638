// Faults stay until the device is reset; other failures do not. Argument: the kernel, "trap" or "wild".
#include "rt.h"

int main(int argc, char **argv) {
	int want = cudaErrorLaunchFailure, n, *p, v;
	cudaEvent_t e;
	cudaStream_t s;
	void *q;
	OK(cudaMalloc((void **)&p, 16));
	OK(cudaStreamCreate(&s));
	OK(cudaEventCreate(&e));
	if (argc > 1 && !strcmp(argv[1], "wild")) {
		want = cudaErrorIllegalAddress;
		OK(LAUNCH(1, 1, 0, s, wild((int *)0x10)));
	} else {
		OK(LAUNCH(1, 1, 0, s, trap()));
	}
	EXPECT(cudaStreamSynchronize(s), want);
	EXPECT(cudaPeekAtLastError(), want);
	EXPECT(cudaGetLastError(), want);
	OK(cudaGetLastError());
	EXPECT(cudaDeviceSynchronize(), want);
	EXPECT(cudaGetLastError(), want);
	EXPECT(cudaMalloc(&q, 16), want);
	EXPECT(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost), want);
	EXPECT(cudaFree(p), want);
	EXPECT(LAUNCH(1, 1, 0, 0, spin(p, 1)), want);
	EXPECT(cudaEventRecord(e, 0), want);
	EXPECT(cudaStreamCreate(&s), want);
	OK(cudaGetDeviceCount(&n)); // questions about devices need no context
	OK(cudaGetDevice(&n));
	OK(cudaDeviceReset());
	EXPECT(cudaGetLastError(), want);
	OK(cudaMalloc((void **)&p, 16));
	OK(cudaMemset(p, 0, 16));
	OK(LAUNCH(1, 1, 0, 0, spin(p, 3)));
	OK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
	EXPECT(v, 3);
	EXPECT(cudaStreamSynchronize(s), cudaErrorInvalidResourceHandle); // it went with its context
	return finish();
}
