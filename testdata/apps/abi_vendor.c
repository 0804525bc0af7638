// The vendor's own runtime library over our driver: it checks the driver's integrity, asks
// for its private tables, and then works. Built with the header of its version.
#include <cuda_runtime.h>
#include <string.h>

#include "abi_check.h"

int main(void) {
	int n = 0, back[4] = {0}, data[4] = {1, 2, 3, 4}, current = -1;
	void *p = NULL;
	cudaStream_t stream;
	cudaEvent_t event;
	EXPECT(cudaGetDeviceCount(&n), 0);
	EXPECT(n > 0, 1);
	EXPECT(cudaSetDevice(0), 0);
	EXPECT(cudaGetDevice(&current), 0);
	EXPECT(current, 0);
	EXPECT(cudaMalloc(&p, 1000), 0);
	EXPECT(cudaMemcpy(p, data, sizeof data, cudaMemcpyHostToDevice), 0);
	EXPECT(cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost), 0);
	EXPECT(memcmp(data, back, sizeof data), 0);
	EXPECT(cudaStreamCreate(&stream), 0);
	EXPECT(cudaEventCreate(&event), 0);
	EXPECT(cudaEventRecord(event, stream), 0);
	EXPECT(cudaEventSynchronize(event), 0);
	EXPECT(cudaStreamSynchronize(stream), 0);
	EXPECT(cudaMemset(p, 7, 8), 0);
	EXPECT(cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost), 0);
	EXPECT(back[0], 0x07070707);
	EXPECT(back[2], 3);
	EXPECT(cudaFree(p), 0);
	EXPECT(cudaFree((void *)12345) != cudaSuccess, 1);
	EXPECT(cudaGetLastError() != cudaSuccess, 1);
	EXPECT(cudaDeviceSynchronize(), 0);
	EXPECT(cudaDeviceReset(), 0);

	// A reset drops what the library hung on the context; it must start over.
	EXPECT(cudaMalloc(&p, 64), 0);
	EXPECT(cudaMemcpy(p, data, sizeof data, cudaMemcpyHostToDevice), 0);
	EXPECT(cudaStreamCreate(&stream), 0);
	EXPECT(cudaDeviceSynchronize(), 0);
	EXPECT(cudaFree(p), 0);
	EXPECT(cudaDeviceReset(), 0);
	return finish();
}
