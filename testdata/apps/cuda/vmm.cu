// since: 12
// Virtual memory: addresses reserved, memory created, mapped twice and elsewhere, access rights; the driver's functions by name.
#include "app.cuh"
#include <cuda.h>
#include <vector>

template <class F> static F entry(const char *name) {
	void *p = nullptr;
	cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 13000
	OK(cudaGetDriverEntryPointByVersion(name, &p, 12000, cudaEnableDefault, &found));
#else
	OK(cudaGetDriverEntryPoint(name, &p, cudaEnableDefault, &found));
#endif
	if (found != cudaDriverEntryPointSuccess) {
		printf("%s: not found\n", name);
		exit(1);
	}
	return (F)p;
}

#define DRV(call)                                                                                        \
	do {                                                                                                 \
		CUresult r_ = (call);                                                                            \
		if (r_) {                                                                                        \
			printf("line %d: %s: %d\n", __LINE__, #call, r_);                                            \
			exit(1);                                                                                     \
		}                                                                                                \
	} while (0)

__global__ void fill(unsigned *p, size_t n, unsigned from) {
	for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		p[i] = from + (unsigned)i;
}

int main() {
	OK(cudaFree(0));
	auto reserve = entry<CUresult (*)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long)>("cuMemAddressReserve");
	auto release = entry<CUresult (*)(CUdeviceptr, size_t)>("cuMemAddressFree");
	auto create = entry<CUresult (*)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long)>("cuMemCreate");
	auto drop = entry<CUresult (*)(CUmemGenericAllocationHandle)>("cuMemRelease");
	auto map = entry<CUresult (*)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long)>("cuMemMap");
	auto unmap = entry<CUresult (*)(CUdeviceptr, size_t)>("cuMemUnmap");
	auto access = entry<CUresult (*)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t)>("cuMemSetAccess");
	auto granularity = entry<CUresult (*)(size_t *, const CUmemAllocationProp *, CUmemAllocationGranularity_flags)>("cuMemGetAllocationGranularity");
	auto rights = entry<CUresult (*)(unsigned long long *, const CUmemLocation *, CUdeviceptr)>("cuMemGetAccess");
	CUmemAllocationProp prop = {};
	prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	prop.location.id = 0;
	size_t g = 0;
	DRV(granularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	printf("granularity %s\n", g && !(g & (g - 1)) ? "is a power of two" : "is odd");
	// A vector that grows without moving.
	const int pieces = 4;
	CUdeviceptr base;
	DRV(reserve(&base, pieces * g, 0, 0, 0));
	CUmemGenericAllocationHandle h[pieces];
	CUmemAccessDesc rw = {};
	rw.location = prop.location;
	rw.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	for (int i = 0; i < pieces; i++) {
		DRV(create(&h[i], g, &prop, 0));
		DRV(map(base + i * g, g, 0, h[i], 0));
		DRV(access(base + i * g, g, &rw, 1));
		fill<<<4, 128>>>((unsigned *)(base + i * g), g / 4, i * 1000);
		OK(cudaDeviceSynchronize());
	}
	unsigned v[pieces];
	for (int i = 0; i < pieces; i++)
		OK(cudaMemcpy(&v[i], (void *)(base + i * g + 40), 4, cudaMemcpyDeviceToHost));
	printf("grown: %u %u %u %u\n", v[0], v[1], v[2], v[3]);
	std::vector<unsigned> across(1024);
	OK(cudaMemcpy(across.data(), (void *)(base + g - 2048), 4096, cudaMemcpyDeviceToHost));
	printf("across: %d %u\n", across[511] == g / 4 - 1, across[512]);
	unsigned long long flags = 0;
	DRV(rights(&flags, &rw.location, base));
	printf("rights %llu\n", flags);
	// The same memory at a second address.
	CUdeviceptr twin;
	DRV(reserve(&twin, g, 0, 0, 0));
	DRV(map(twin, g, 0, h[2], 0));
	DRV(access(twin, g, &rw, 1));
	fill<<<4, 128>>>((unsigned *)twin, g / 4, 77);
	OK(cudaMemcpy(&v[0], (void *)(base + 2 * g), 4, cudaMemcpyDeviceToHost));
	printf("twin: %u\n", v[0]);
	// Released handles live as long as they are mapped.
	for (int i = 0; i < pieces; i++)
		DRV(drop(h[i]));
	OK(cudaMemcpy(&v[1], (void *)(base + 3 * g + 4), 4, cudaMemcpyDeviceToHost));
	printf("still: %u\n", v[1]);
	DRV(unmap(twin, g));
	DRV(release(twin, g));
	printf("unmapped: %d\n", cudaMemcpy(&v[1], (void *)twin, 4, cudaMemcpyDeviceToHost) != cudaSuccess);
	cudaGetLastError();
	DRV(unmap(base, pieces * g));
	DRV(release(base, pieces * g));
	printf("misuse: %d %d %d\n", reserve(&base, g + 1, 0, 0, 0), map(base, g, 0, h[0], 0), create(&h[0], g + 1, &prop, 0));
	return 0;
}
