// Kernels that were registered before main: launches of every kind, and the variables beside them.
#include "rt.h"

static void launches(void) {
	enum { N = 1000 };
	float x[N], y[N], out[N], *dx, *dy, *dout;
	for (int i = 0; i < N; i++)
		x[i] = i, y[i] = 2 * i;
	OK(cudaMalloc((void **)&dx, sizeof x));
	OK(cudaMalloc((void **)&dy, sizeof y));
	OK(cudaMalloc((void **)&dout, sizeof out));
	OK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(dy, y, sizeof y, cudaMemcpyDefault));
	OK(LAUNCH((N + 255) / 256, 256, 0, 0, axpy(N, 3, dx, dy, dout)));
	OK(cudaGetLastError());
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	int wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += out[i] != 5 * i;
	EXPECT(wrong, 0);

	// The same kernel through its handle, its function, and a configuration with attributes.
	int n = N;
	float a = 1;
	void *args[] = {&n, &a, &dx, &dy, &dout};
	cudaKernel_t kernel;
	cudaFunction_t function;
	OK(cudaGetKernel(&kernel, axpy));
	OK(cudaGetFuncBySymbol(&function, axpy));
	OK(cudaMemset(dout, 0, sizeof out));
	OK(cudaLaunchKernel((void *)kernel, d3(4, 1, 1), d3(256, 1, 1), args, 0, 0));
	OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	EXPECT(out[999], 2997);
	cudaLaunchAttribute attr = {0};
	attr.id = cudaLaunchAttributeCooperative;
	attr.val.cooperative = 1;
	cudaLaunchConfig_t config = {0};
	config.gridDim = d3(1, 1, 1), config.blockDim = d3(128, 1, 1), config.attrs = &attr, config.numAttrs = 1;
	a = 10;
	OK(cudaLaunchKernelExC(&config, axpy, args));
	OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	EXPECT(out[100], 1200);
	OK(cudaLaunchCooperativeKernel(axpy, d3(1, 1, 1), d3(64, 1, 1), args, 0, 0));
	OK(cudaLaunchKernel_ptsz(axpy, d3(1, 1, 1), d3(64, 1, 1), args, 0, 0));
	OK(cudaStreamSynchronize(cudaStreamPerThread));

	// Dynamic shared memory.
	int in[512], total[2], *din, *dtotal;
	for (int i = 0; i < 512; i++)
		in[i] = i;
	OK(cudaMalloc((void **)&din, sizeof in));
	OK(cudaMalloc((void **)&dtotal, sizeof total));
	OK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
	OK(LAUNCH(2, 256, 256 * sizeof(int), 0, sum(din, dtotal)));
	OK(cudaMemcpy(total, dtotal, sizeof total, cudaMemcpyDeviceToHost));
	EXPECT(total[0], 255 * 128);
	EXPECT(total[1], 511 * 256 - 255 * 128);
	OK(cudaFree(din));
	OK(cudaFree(dtotal));
	OK(cudaFree(dx));
	OK(cudaFree(dy));
	OK(cudaFree(dout));
}

static void variables(void) {
	int out[5], *dout, v = 0, *at;
	size_t size;
	struct big s = {.a = 1000, .b = 20};
	s.c[9] = 3;
	OK(cudaMalloc((void **)&dout, sizeof out));
	OK(cudaGetSymbolSize(&size, table));
	EXPECT(size, sizeof table);
	OK(cudaGetSymbolAddress((void **)&at, &counter));
	OK(cudaMemcpy(&v, at, sizeof v, cudaMemcpyDeviceToHost));
	EXPECT(v, 5);
	v = 33;
	OK(cudaMemcpyToSymbol(table, &v, sizeof v, 3 * sizeof(int), cudaMemcpyHostToDevice));
	float w = 9;
	OK(cudaMemcpyToSymbolAsync(weights, &w, sizeof w, 3 * sizeof w, cudaMemcpyHostToDevice, 0));
	*managed_both() = 70;
	OK(LAUNCH(1, 1, 0, 0, mix(1, s, 4.5, dout)));
	OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	EXPECT(out[0], 1 + 1000 + 20 + 3 + 4);
	EXPECT(out[1], 5);
	EXPECT(out[2], 1 + 90);
	EXPECT(out[3], 33);
	EXPECT(out[4], 70);
	OK(cudaMemcpyFromSymbol(&v, &counter, sizeof v, 0, cudaMemcpyDeviceToHost));
	EXPECT(v, 6);
	OK(cudaMemcpyFromSymbolAsync(&v, table, sizeof v, 4 * sizeof(int), cudaMemcpyDefault, 0));
	OK(cudaDeviceSynchronize());
	EXPECT(v, 44);
	EXPECT(*managed_both(), 71);
	OK(cudaGetSymbolAddress((void **)&at, both)); // named by its address, as nvcc does
	EXPECT(at == both, 1);
	EXPECT(cudaMemcpyToSymbol(table, &v, sizeof v, sizeof table, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
	EXPECT(cudaMemcpyToSymbol(table, &v, sizeof v, 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
	EXPECT(cudaMemcpyToSymbol(&v, &v, sizeof v, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
	EXPECT(cudaGetSymbolAddress((void **)&at, axpy), cudaErrorInvalidSymbol);
	OK(cudaFree(dout));
}

static void functions(void) {
	cudaFuncAttributes a;
	memset(&a, 0xff, sizeof a);
	OK(cudaFuncGetAttributes(&a, axpy));
	EXPECT(a.maxThreadsPerBlock, 1024);
	EXPECT(a.sharedSizeBytes, 0);
	EXPECT(a.ptxVersion, 70);
	EXPECT(a.preferredShmemCarveout, -1);
	OK(cudaFuncGetAttributes(&a, narrow));
	EXPECT(a.maxThreadsPerBlock, 64);
	OK(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
	OK(cudaFuncGetAttributes(&a, sum));
	EXPECT(a.maxDynamicSharedSizeBytes, 64 << 10);
	EXPECT(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 20), cudaErrorInvalidValue);
	OK(cudaFuncSetCacheConfig(sum, cudaFuncCachePreferShared));
	int blocks = 0;
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy, 256, 0));
	EXPECT(blocks > 0, 1);
	const char *name = "";
	OK(cudaFuncGetName(&name, axpy));
	EXPECT(strcmp(name, "axpy"), 0);
	size_t offset, size;
	OK(cudaFuncGetParamInfo(axpy, 2, &offset, &size));
	EXPECT(offset == 8 && size == 8, 1);
}

static void mistakes(void) {
	// Runtime 13 passes the driver's code on: launches by <<<>>> recorded on an H200, the others what NVIDIA's runtimes 12.9 and
	// 13.2 answer on our driver.
	const int shape = CUDART_VERSION >= 13000 ? cudaErrorInvalidValue : cudaErrorInvalidConfiguration;
	int *p;
	OK(cudaMalloc((void **)&p, 4096));
	EXPECT(LAUNCH(1, 2048, 0, 0, spin(p, 1)), shape);
	EXPECT(cudaPeekAtLastError(), shape);
	EXPECT(cudaGetLastError(), shape);
	OK(cudaGetLastError());
	EXPECT(LAUNCH(0, 1, 0, 0, spin(p, 1)), shape);
	int times = 1;
	void *args[] = {&p, &times};
	EXPECT(cudaLaunchKernel(spin, d3(1, 1, 1), d3(2048, 1, 1), args, 0, 0), shape);
	EXPECT(cudaLaunchKernel(spin, d3(1, 70000, 1), d3(1, 1, 1), args, 0, 0), shape);
	EXPECT(cudaLaunchKernel(spin, d3(1, 1, 1), d3(1, 1, 65), args, 0, 0), shape);
	EXPECT(cudaLaunchKernel_ptsz(spin, d3(1, 1, 1), d3(1, 1, 65), args, 0, 0), shape);
	EXPECT(cudaLaunchCooperativeKernel(spin, d3(1, 1, 1), d3(2048, 1, 1), args, 0, 0), shape);
	cudaLaunchConfig_t config = {0};
	config.gridDim = d3(0, 1, 1), config.blockDim = d3(1, 1, 1);
	EXPECT(cudaLaunchKernelExC(&config, spin, args), shape);
	cudaGraph_t graph;
	cudaGraphNode_t node;
	struct cudaKernelNodeParams params = {.func = (void *)spin, .gridDim = d3(1, 1, 1), .blockDim = d3(2048, 1, 1), .kernelParams = args};
	OK(cudaGraphCreate(&graph, 0));
	EXPECT(cudaGraphAddKernelNode(&node, graph, 0, 0, &params), cudaErrorInvalidValue);
	OK(cudaGraphDestroy(graph));
	EXPECT(LAUNCH(1, 1, 1 << 20, 0, spin(p, 1)), cudaErrorInvalidValue);
	EXPECT(LAUNCH(1, 1, 0, (cudaStream_t)0x1234560, spin(p, 1)), cudaErrorInvalidResourceHandle);
	// What is no stub is taken for a handle, as NVIDIA's runtimes 12.9 and 13.4 do.
	EXPECT(cudaLaunchKernel(&p, d3(1, 1, 1), d3(1, 1, 1), 0, 0, 0), cudaErrorInvalidResourceHandle);
	EXPECT(cudaLaunchKernel(0, d3(1, 1, 1), d3(1, 1, 1), 0, 0, 0), cudaErrorInvalidDeviceFunction);
	cudaFuncAttributes a;
	cudaKernel_t kernel;
	EXPECT(cudaGetKernel(&kernel, &p), cudaErrorInvalidDeviceFunction);
	EXPECT(cudaFuncGetAttributes(&a, &p), cudaErrorInvalidResourceHandle);
	EXPECT(cudaGetLastError(), cudaErrorInvalidResourceHandle);
	OK(LAUNCH(1, 1, 0, 0, spin(p, 1))); // none of it was for good
	OK(cudaDeviceSynchronize());
	OK(cudaFree(p));
}

int main(void) {
	launches();
	variables();
	functions();
	mistakes();

	// A reset ends everything; what is registered comes back as it was at first.
	OK(cudaDeviceReset());
	launches();
	int v = 0;
	OK(cudaMemcpyFromSymbol(&v, &counter, sizeof v, 0, cudaMemcpyDeviceToHost));
	EXPECT(v, 5);
	managed_ready = 0;
	EXPECT(*managed_both(), 7);
	return finish();
}
