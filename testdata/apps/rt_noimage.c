// A fat binary without an image for the device: what the runtime answers. The test makes the container rt_kernels with machine code of
// another device in it, and nothing else. Prints a line for each call: its code.
//   rt_noimage plain|cub     which kernel
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

extern const char rt_kernels[]; // the fatbin container

static const struct {
	int magic, version;
	const void *data;
	void *extra;
} wrapper __attribute__((section(".nvFatBinSegment"), aligned(8))) = {0x466243b1, 1, rt_kernels, 0};

__attribute__((noipa)) static void plain(void) {}
__attribute__((noipa)) static void empty(void) { puts(""); }

int main(int argc, char **argv) {
	void **fatbin = __cudaRegisterFatBinary((void *)&wrapper);
	__cudaRegisterFunction(fatbin, (const char *)plain, "plain", "plain", -1, 0, 0, 0, 0, 0);
	__cudaRegisterFunction(fatbin, (const char *)empty, "_ZN3cub11EmptyKernelIvEEvv", "_ZN3cub11EmptyKernelIvEEvv", -1, 0, 0, 0, 0, 0);
	__cudaRegisterFatBinaryEnd(fatbin);
	const void *k = argc > 1 && !strcmp(argv[1], "cub") ? (const void *)empty : (const void *)plain;
	struct cudaFuncAttributes a;
	void *args[1] = {0}, *p = 0;
	dim3 one = {1, 1, 1};
	int blocks;
	printf("cudaMalloc %d\n", cudaMalloc(&p, 4));
	printf("cudaFuncGetAttributes %d\n", cudaFuncGetAttributes(&a, k));
	printf("cudaPeekAtLastError %d\n", cudaPeekAtLastError());
	printf("cudaGetLastError %d\n", cudaGetLastError());
	printf("cudaGetLastError %d\n", cudaGetLastError());
	printf("cudaOccupancyMaxActiveBlocksPerMultiprocessor %d\n", cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, 32, 0));
	printf("cudaGetLastError %d\n", cudaGetLastError());
	printf("cudaLaunchKernel %d\n", cudaLaunchKernel(k, one, one, args, 0, 0));
	printf("cudaGetLastError %d\n", cudaGetLastError());
	printf("cudaGetLastError %d\n", cudaGetLastError());
	printf("cudaDeviceSynchronize %d\n", cudaDeviceSynchronize());
	printf("cudaStreamSynchronize %d\n", cudaStreamSynchronize(0));
	printf("cudaMemcpy %d\n", cudaMemcpy(&blocks, p, 4, cudaMemcpyDeviceToHost));
	printf("cudaMemset %d\n", cudaMemset(p, 0, 4));
	printf("cudaGetLastError %d\n", cudaGetLastError());
	return 0;
}
