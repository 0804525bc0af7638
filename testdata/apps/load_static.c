// A program with the static runtime library: prints the runtime's version, the number of devices, and a call that failed.
#include <cuda_runtime.h>
#include <stdio.h>

int main(void) {
	int version = 0, count = -1;
	cudaError_t first = cudaRuntimeGetVersion(&version), second = cudaGetDeviceCount(&count);
	printf("%d %d %s %d: %s\n", first, version / 1000, cudaGetErrorName(second), count, cudaGetErrorString(second));
	return 0;
}
