// since: 12
// Graphs: captured (one stream and several), instantiated, launched again, updated, cloned, and written by hand.
#include "app.cuh"
#include <vector>

__global__ void add(const float *a, const float *b, float *c, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}
__global__ void scale(float *c, float f, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] *= f;
}
__global__ void count(int *p) { atomicAdd(p, 1); }

static void show(const char *what, const float *d, int n) {
	std::vector<float> h(n);
	OK(cudaMemcpy(h.data(), d, n * sizeof(float), cudaMemcpyDeviceToHost));
	printf("%s: %g %g %g\n", what, h[0], h[1], h[n - 1]);
}

static const char *kinds[] = {"kernel", "memcpy", "memset", "host", "graph", "empty", "wait", "record"};

static void CUDART_CB bump(void *p) { ++*(int *)p; }

int main() {
	const int n = 1 << 12, block = 256, grid = n / block;
	float *a, *b, *c;
	int *hits;
	OK(cudaMalloc(&a, n * sizeof(float)));
	OK(cudaMalloc(&b, n * sizeof(float)));
	OK(cudaMalloc(&c, n * sizeof(float)));
	OK(cudaMalloc(&hits, sizeof(int)));
	OK(cudaMemset(hits, 0, sizeof(int)));
	std::vector<float> h(n);
	for (int i = 0; i < n; i++)
		h[i] = i;
	OK(cudaMemcpy(a, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(b, h.data(), n * sizeof(float), cudaMemcpyHostToDevice));
	cudaStream_t s, t;
	OK(cudaStreamCreate(&s));
	OK(cudaStreamCreate(&t));
	cudaEvent_t fork, join;
	OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	int host = 0;
	// Captured, with a fork to a second stream and back.
	cudaGraph_t g;
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	add<<<grid, block, 0, s>>>(a, b, c, n);
	OK(cudaEventRecord(fork, s));
	OK(cudaStreamWaitEvent(t, fork, 0));
	count<<<2, 32, 0, t>>>(hits);
	OK(cudaLaunchHostFunc(t, bump, &host));
	OK(cudaEventRecord(join, t));
	scale<<<grid, block, 0, s>>>(c, 0.5f, n);
	OK(cudaStreamWaitEvent(s, join, 0));
	scale<<<grid, block, 0, s>>>(c, 3.0f, n);
	cudaStreamCaptureStatus state;
	OK(cudaStreamIsCapturing(s, &state));
	printf("capturing %d\n", state);
	SAY(cudaStreamSynchronize(t)); // not while it captures: this ends the capture
	SAY(cudaStreamEndCapture(s, &g));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	add<<<grid, block, 0, s>>>(a, b, c, n);
	OK(cudaEventRecord(fork, s));
	OK(cudaStreamWaitEvent(t, fork, 0));
	count<<<2, 32, 0, t>>>(hits);
	OK(cudaLaunchHostFunc(t, bump, &host));
	OK(cudaEventRecord(join, t));
	scale<<<grid, block, 0, s>>>(c, 0.5f, n);
	OK(cudaStreamWaitEvent(s, join, 0));
	scale<<<grid, block, 0, s>>>(c, 3.0f, n);
	OK(cudaStreamEndCapture(s, &g));
	size_t nodes = 0, edges = 0;
	OK(cudaGraphGetNodes(g, nullptr, &nodes));
#if CUDART_VERSION >= 13000
	OK(cudaGraphGetEdges(g, nullptr, nullptr, nullptr, &edges));
#else
	OK(cudaGraphGetEdges(g, nullptr, nullptr, &edges));
#endif
	printf("%zu nodes, %zu edges:", nodes, edges);
	std::vector<cudaGraphNode_t> list(nodes);
	OK(cudaGraphGetNodes(g, list.data(), &nodes));
	int of[8] = {0};
	for (auto x : list) {
		cudaGraphNodeType type;
		OK(cudaGraphNodeGetType(x, &type));
		of[type]++;
	}
	for (int i = 0; i < 8; i++)
		if (of[i])
			printf(" %d %s", of[i], kinds[i]);
	printf("\n");
	cudaGraphExec_t x;
	OK(cudaGraphInstantiate(&x, g, 0));
	for (int i = 0; i < 10; i++)
		OK(cudaGraphLaunch(x, s));
	OK(cudaStreamSynchronize(s));
	show("captured", c, n);
	int k;
	OK(cudaMemcpy(&k, hits, sizeof k, cudaMemcpyDeviceToHost));
	printf("hits %d, host %d\n", k, host);
	// A kernel's parameters change: in the graph, and in what was instantiated.
	cudaGraphNode_t last = nullptr;
	for (auto y : list) {
		size_t out = 0;
#if CUDART_VERSION >= 13000
		OK(cudaGraphNodeGetDependentNodes(y, nullptr, nullptr, &out));
#else
		OK(cudaGraphNodeGetDependentNodes(y, nullptr, &out));
#endif
		if (out == 0)
			last = y;
	}
	cudaKernelNodeParams p = {};
	OK(cudaGraphKernelNodeGetParams(last, &p));
	printf("grid %u block %u shared %u factor %g\n", p.gridDim.x, p.blockDim.x, p.sharedMemBytes, *(float *)p.kernelParams[1]);
	float ten = 10;
	int count2 = n;
	void *args[] = {&c, &ten, &count2};
	p.kernelParams = args;
	OK(cudaGraphExecKernelNodeSetParams(x, last, &p));
	OK(cudaGraphLaunch(x, s));
	OK(cudaStreamSynchronize(s));
	show("factor 10", c, n);
	// A clone is instantiated and updates the first.
	cudaGraph_t copy;
	OK(cudaGraphClone(&copy, g));
	cudaGraphExecUpdateResultInfo info = {};
	OK(cudaGraphExecUpdate(x, copy, &info));
	printf("update %d\n", info.result);
	OK(cudaGraphLaunch(x, s));
	OK(cudaStreamSynchronize(s));
	show("as captured", c, n);
	OK(cudaGraphDestroy(copy));
	OK(cudaGraphExecDestroy(x));
	// By hand: set, copy, kernel, host, empty, child.
	cudaGraph_t m;
	OK(cudaGraphCreate(&m, 0));
	cudaGraphNode_t set, copyNode, kernel, empty, child, hostNode;
	cudaMemsetParams ms = {};
	ms.dst = c;
	ms.elementSize = 4;
	ms.width = n;
	ms.height = 1;
	ms.value = 0x40000000; // 2.0f
	OK(cudaGraphAddMemsetNode(&set, m, nullptr, 0, &ms));
	OK(cudaGraphAddMemcpyNode1D(&copyNode, m, &set, 1, c, a, n / 2 * sizeof(float), cudaMemcpyDeviceToDevice));
	cudaKernelNodeParams kp = {};
	float four = 4;
	void *kargs[] = {&c, &four, &count2};
	kp.func = (void *)scale;
	kp.gridDim = grid;
	kp.blockDim = block;
	kp.kernelParams = kargs;
	OK(cudaGraphAddKernelNode(&kernel, m, &copyNode, 1, &kp));
	OK(cudaGraphAddEmptyNode(&empty, m, &kernel, 1));
	OK(cudaGraphAddChildGraphNode(&child, m, nullptr, 0, g));
	cudaHostNodeParams hp = {bump, &host};
	OK(cudaGraphAddHostNode(&hostNode, m, &empty, 1, &hp));
#if CUDART_VERSION >= 13000
	OK(cudaGraphAddDependencies(m, &child, &set, nullptr, 1));
#else
	OK(cudaGraphAddDependencies(m, &child, &set, 1));
#endif
	OK(cudaGraphInstantiate(&x, m, 0));
	OK(cudaGraphUpload(x, s));
	OK(cudaGraphLaunch(x, s));
	OK(cudaStreamSynchronize(s));
	show("by hand", c, n);
	printf("host %d\n", host);
	// A disabled node does nothing.
	OK(cudaGraphNodeSetEnabled(x, kernel, 0));
	unsigned on = 7;
	OK(cudaGraphNodeGetEnabled(x, kernel, &on));
	OK(cudaGraphLaunch(x, s));
	OK(cudaStreamSynchronize(s));
	printf("enabled %u\n", on);
	show("without", c, n);
	// A loop cannot be instantiated.
#if CUDART_VERSION >= 13000
	cudaError_t itself = cudaGraphAddDependencies(m, &kernel, &kernel, nullptr, 1);
	OK(cudaGraphAddDependencies(m, &hostNode, &child, nullptr, 1));
#else
	cudaError_t itself = cudaGraphAddDependencies(m, &kernel, &kernel, 1);
	OK(cudaGraphAddDependencies(m, &hostNode, &child, 1));
#endif
	printf("on itself: %s\n", cudaGetErrorName(itself));
	cudaGetLastError();
	cudaGraphExec_t y;
	SAY(cudaGraphInstantiate(&y, m, 0));
	OK(cudaGraphExecDestroy(x));
	OK(cudaGraphDestroy(m));
	OK(cudaGraphDestroy(g));
	return 0;
}
