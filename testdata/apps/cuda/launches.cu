// Launches: shapes, shared memory, large arguments, attributes of functions, configurations, clusters, and what is refused.
#include "app.cuh"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

struct Large {
	int v[900];
};
__global__ void shape(int *out) {
	int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
	out[b * blockDim.x * blockDim.y * blockDim.z + t] = b * 1000 + t;
}
__global__ void large(Large a, int *out, char c, double d) { out[threadIdx.x] = a.v[threadIdx.x * 10] + c + (int)d; }
__global__ void dynamic(int *out, int n) {
	extern __shared__ int s[];
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		s[i] = i * 3;
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = s[n - 1 - i];
}
__global__ void __launch_bounds__(128, 2) bounded(int *out) { *out = blockDim.x; }
__global__ void mixed(char a, short b, char c, long long d, float3 e, char f, double2 g, int *out) {
	out[0] = a, out[1] = b, out[2] = c, out[3] = (int)d, out[4] = (int)(e.x + 10 * e.y + 100 * e.z), out[5] = f, out[6] = (int)(g.x + g.y);
}
__global__ void clustered(int *out) {
#if __CUDA_ARCH__ >= 900
	__shared__ int mine;
	cg::cluster_group c = cg::this_cluster();
	if (threadIdx.x == 0)
		mine = 10 + c.block_rank();
	c.sync();
	int *theirs = c.map_shared_rank(&mine, (c.block_rank() + 1) % c.num_blocks());
	if (threadIdx.x == 0)
		out[blockIdx.x] = *theirs * 100 + c.num_blocks();
	c.sync();
#endif
}

int main() {
	int *d, h[4096];
	OK(cudaMalloc(&d, 1 << 20));
	shape<<<dim3(3, 2, 2), dim3(4, 3, 2)>>>(d);
	OK(cudaMemcpy(h, d, 12 * 24 * 4, cudaMemcpyDeviceToHost));
	printf("shape: %d %d, %llx\n", h[0], h[287], sum(h, 288));
	Large a;
	for (int i = 0; i < 900; i++)
		a.v[i] = i * i;
	large<<<1, 90>>>(a, d, 'a', 2.75);
	OK(cudaMemcpy(h, d, 90 * 4, cudaMemcpyDeviceToHost));
	printf("large: %d %d\n", h[0], h[89]);
	dynamic<<<1, 64, 1000 * 4>>>(d, 1000);
	OK(cudaMemcpy(h, d, 4000, cudaMemcpyDeviceToHost));
	printf("shared: %d %d\n", h[0], h[999]);
	// More than 48 KB of it only after asking.
	dynamic<<<1, 64, 60000>>>(d, 15000);
	SAY(cudaGetLastError());
	OK(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
	dynamic<<<1, 64, 60000>>>(d, 15000);
	SAY(cudaGetLastError());
	OK(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost));
	printf("more: %d\n", h[0]);
	cudaFuncAttributes at;
	OK(cudaFuncGetAttributes(&at, bounded));
	printf("bounded: %d threads, %zu shared, registers %d\n", at.maxThreadsPerBlock, at.sharedSizeBytes, at.numRegs > 0);
	OK(cudaFuncGetAttributes(&at, dynamic));
	printf("dynamic: %d\n", at.maxDynamicSharedSizeBytes);
	mixed<<<1, 1>>>(1, -2, 3, 4ll << 1, make_float3(1, 2, 3), -7, make_double2(1.25, 2.75), d);
	OK(cudaMemcpy(h, d, 28, cudaMemcpyDeviceToHost));
	printf("mixed: %d %d %d %d %d %d %d\n", h[0], h[1], h[2], h[3], h[4], h[5], h[6]);
	// Refused ones.
	bounded<<<1, 256>>>(d);
	SAY(cudaGetLastError());
	shape<<<1, 2048>>>(d);
	SAY(cudaGetLastError());
	shape<<<0, 1>>>(d);
	SAY(cudaGetLastError());
	shape<<<dim3(1, 70000), 1>>>(d);
	SAY(cudaGetLastError());
	shape<<<1, dim3(1, 1, 65)>>>(d);
	SAY(cudaGetLastError());
	dynamic<<<1, 1, 1 << 20>>>(d, 1);
	SAY(cudaPeekAtLastError());
	SAY(cudaLaunchKernel((void *)nullptr, 1, 1, nullptr, 0, 0));
	int big = 0, block = 0;
	OK(cudaOccupancyMaxPotentialBlockSize(&big, &block, bounded, 0, 0));
	printf("block: %d\n", block);
	// By configuration, and by address.
	cudaLaunchConfig_t c = {};
	c.gridDim = 2;
	c.blockDim = 8;
	OK(cudaLaunchKernelEx(&c, shape, d));
	OK(cudaMemcpy(h, d, 64, cudaMemcpyDeviceToHost));
	printf("configured: %d\n", h[15]);
	void *args[] = {&d};
	OK(cudaLaunchKernel((void *)shape, 1, dim3(5), args, 0, 0));
	cudaFunction_t fn;
	OK(cudaGetFuncBySymbol(&fn, (void *)shape));
	printf("function: %d\n", fn != nullptr);
	cudaLaunchAttribute la = {};
	la.id = cudaLaunchAttributeClusterDimension;
	la.val.clusterDim.x = 4, la.val.clusterDim.y = la.val.clusterDim.z = 1;
	c.gridDim = 8;
	c.blockDim = 32;
	c.attrs = &la;
	c.numAttrs = 1;
	OK(cudaLaunchKernelEx(&c, clustered, d));
	OK(cudaMemcpy(h, d, 32, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 8; i++)
		printf("%d%c", h[i], i == 7 ? '\n' : ' ');
	return 0;
}
