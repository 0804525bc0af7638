// Managed memory: allocated and declared, shared between host and kernels, with advice and prefetches.
#include "app.cuh"

struct Node {
	int value;
	Node *next;
};

__managed__ int counter = 5;
__managed__ double table[4] = {0.5, 1.5, 2.5, 3.5};
__managed__ Node *head;

__global__ void touch(int by) {
	atomicAdd(&counter, by);
	if (blockIdx.x == 0 && threadIdx.x < 4)
		table[threadIdx.x] *= 2;
}
__global__ void walk(long long *out) {
	long long t = 0;
	for (Node *n = head; n; n = n->next) {
		t = t * 3 + n->value;
		n->value += 100;
	}
	*out = t;
}

#if CUDART_VERSION >= 13000
static cudaMemLocation place(int dev) {
	cudaMemLocation l = {};
	l.type = dev < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	l.id = dev < 0 ? 0 : dev;
	return l;
}
#define PREFETCH(p, n, dev, s) cudaMemPrefetchAsync(p, n, place(dev), 0, s)
#define ADVISE(p, n, a, dev) cudaMemAdvise(p, n, a, place(dev))
#else
#define PREFETCH(p, n, dev, s) cudaMemPrefetchAsync(p, n, dev < 0 ? cudaCpuDeviceId : dev, s)
#define ADVISE(p, n, a, dev) cudaMemAdvise(p, n, a, dev < 0 ? cudaCpuDeviceId : dev)
#endif

int main() {
	printf("before: %d %g\n", counter, table[2]);
	counter = 10;
	touch<<<2, 32>>>(3);
	OK(cudaDeviceSynchronize());
	printf("after: %d %g %g\n", counter, table[0], table[3]);
	Node *nodes;
	long long *out;
	OK(cudaMallocManaged(&nodes, 20 * sizeof(Node)));
	OK(cudaMallocManaged(&out, sizeof *out, cudaMemAttachGlobal));
	for (int i = 0; i < 20; i++)
		nodes[i] = {i * 7 % 20, i == 19 ? nullptr : &nodes[i + 1]};
	head = nodes;
	walk<<<1, 1>>>(out);
	OK(cudaDeviceSynchronize());
	printf("walked: %lld, then %d %d\n", *out, nodes[0].value, nodes[19].value);
	cudaPointerAttributes at;
	OK(cudaPointerGetAttributes(&at, nodes));
	printf("managed: %d, one address: %d\n", at.type == cudaMemoryTypeManaged, at.devicePointer == at.hostPointer && at.hostPointer == nodes);
	void *sym;
	OK(cudaGetSymbolAddress(&sym, counter));
	printf("the variable's address: %d\n", sym == &counter);
	size_t bytes = 4 << 20;
	char *big;
	OK(cudaMallocManaged(&big, bytes));
	memset(big, 3, bytes);
	int can = 0;
	OK(cudaDeviceGetAttribute(&can, cudaDevAttrConcurrentManagedAccess, 0));
	if (can) {
		OK(ADVISE(big, bytes, cudaMemAdviseSetReadMostly, 0));
		OK(ADVISE(big, bytes, cudaMemAdviseSetPreferredLocation, 0));
		int v = -7;
		OK(cudaMemRangeGetAttribute(&v, sizeof v, cudaMemRangeAttributeReadMostly, big, bytes));
		int where = -7;
		OK(cudaMemRangeGetAttribute(&where, sizeof where, cudaMemRangeAttributePreferredLocation, big, bytes));
		if (v != 1 || where != 0)
			printf("advice was lost: %d %d\n", v, where);
		OK(PREFETCH(big, bytes, 0, 0));
		OK(PREFETCH(big, bytes, -1, 0));
		OK(cudaDeviceSynchronize());
	}
	printf("kept: %d %d\n", big[0], big[bytes - 1]);
	cudaStream_t s;
	OK(cudaStreamCreate(&s));
	OK(cudaStreamAttachMemAsync(s, out, 0, cudaMemAttachSingle));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemset(big, 9, bytes / 2));
	OK(cudaDeviceSynchronize());
	printf("set: %d %d\n", big[0], big[bytes - 1]);
	SAY(cudaMallocManaged(&big, 100, 7));
	SAY(cudaMallocManaged(&big, 0));
	OK(cudaFree(nodes));
	OK(cudaFree(out));
	return 0;
}
