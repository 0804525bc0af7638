// since: 12
// Memory nodes: allocated, used and freed inside graphs, by hand and by capture; user objects; event nodes.
#include "app.cuh"
#include <vector>

__global__ void iota(int *p, int n, int from) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i] = from + i;
}
__global__ void total(const int *p, int n, long long *out) {
	__shared__ long long s[256];
	long long v = 0;
	for (int i = threadIdx.x; i < n; i += 256)
		v += p[i];
	s[threadIdx.x] = v;
	__syncthreads();
	for (int h = 128; h; h /= 2) {
		if (threadIdx.x < h)
			s[threadIdx.x] += s[threadIdx.x + h];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		*out = s[0];
}

static int dropped;
static void CUDART_CB drop(void *p) { dropped += *(int *)p; }

int main() {
	int n = 5000;
	long long *out, h;
	OK(cudaMalloc(&out, sizeof *out));
	cudaStream_t s;
	OK(cudaStreamCreate(&s));
	cudaGraph_t g;
	OK(cudaGraphCreate(&g, 0));
	cudaMemAllocNodeParams ap = {};
	ap.poolProps.allocType = cudaMemAllocationTypePinned;
	ap.poolProps.location.type = cudaMemLocationTypeDevice;
	ap.bytesize = n * sizeof(int);
	cudaGraphNode_t alloc, k1, k2, free;
	OK(cudaGraphAddMemAllocNode(&alloc, g, nullptr, 0, &ap));
	int *p = (int *)ap.dptr, from = 10;
	void *a1[] = {&p, &n, &from};
	cudaKernelNodeParams kp = {};
	kp.func = (void *)iota;
	kp.gridDim = (n + 255) / 256;
	kp.blockDim = 256;
	kp.kernelParams = a1;
	OK(cudaGraphAddKernelNode(&k1, g, &alloc, 1, &kp));
	void *a2[] = {&p, &n, &out};
	kp.func = (void *)total;
	kp.gridDim = 1;
	kp.kernelParams = a2;
	OK(cudaGraphAddKernelNode(&k2, g, &k1, 1, &kp));
	OK(cudaGraphAddMemFreeNode(&free, g, &k2, 1, p));
	cudaGraphExec_t x;
	OK(cudaGraphInstantiate(&x, g, 0));
	for (int i = 0; i < 3; i++)
		OK(cudaGraphLaunch(x, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(&h, out, sizeof h, cudaMemcpyDeviceToHost));
	printf("by hand: %lld\n", h);
	SAY(cudaGraphClone(&g, g)); // graphs with memory nodes have no copies
	OK(cudaGraphExecDestroy(x));
	// Captured; what was allocated is freed outside.
	cudaGraph_t c;
	int *q;
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	OK(cudaMallocAsync(&q, n * sizeof(int), s));
	iota<<<(n + 255) / 256, 256, 0, s>>>(q, n, -20);
	total<<<1, 256, 0, s>>>(q, n, out);
	OK(cudaStreamEndCapture(s, &c));
	OK(cudaGraphInstantiate(&x, c, cudaGraphInstantiateFlagAutoFreeOnLaunch));
	OK(cudaGraphLaunch(x, s));
	OK(cudaGraphLaunch(x, s));
	std::vector<int> v(n);
	OK(cudaMemcpyAsync(v.data(), q, n * sizeof(int), cudaMemcpyDeviceToHost, s));
	OK(cudaStreamSynchronize(s));
	OK(cudaMemcpy(&h, out, sizeof h, cudaMemcpyDeviceToHost));
	printf("captured: %lld %d %d\n", h, v[0], v[n - 1]);
	OK(cudaFreeAsync(q, s));
	// A user object ends with the last graph that holds it.
	cudaUserObject_t u;
	int weight = 5;
	OK(cudaUserObjectCreate(&u, &weight, drop, 1, cudaUserObjectNoDestructorSync));
	OK(cudaGraphRetainUserObject(c, u, 1, cudaGraphUserObjectMove));
	printf("dropped %d\n", dropped);
	OK(cudaGraphDestroy(c));
	OK(cudaGraphExecDestroy(x));
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 1000 && !*(volatile int *)&dropped; i++)
		OK(cudaStreamSynchronize(s));
	OK(cudaDeviceGraphMemTrim(0));
	// Event nodes.
	cudaEvent_t e;
	OK(cudaEventCreate(&e));
	cudaGraph_t m;
	cudaGraphNode_t rec, wait;
	OK(cudaGraphCreate(&m, 0));
	OK(cudaGraphAddEventRecordNode(&rec, m, nullptr, 0, e));
	OK(cudaGraphAddEventWaitNode(&wait, m, &rec, 1, e));
	cudaEvent_t got;
	OK(cudaGraphEventRecordNodeGetEvent(rec, &got));
	printf("event kept: %d\n", got == e);
	OK(cudaGraphInstantiate(&x, m, 0));
	OK(cudaGraphLaunch(x, s));
	OK(cudaEventSynchronize(e));
	SAY(cudaEventQuery(e));
	OK(cudaStreamSynchronize(s));
	return 0;
}
