// Graphs: captured, built by hand, changed after they were instantiated.
#include "rt.h"

static int calls;
static void count(void *arg) { calls += *(int *)arg; }

static void captured(void) {
	int *p, v = 0, one = 1;
	cudaStream_t s, u;
	cudaEvent_t fork, join;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	enum cudaStreamCaptureStatus status;
	size_t n = 0;
	OK(cudaMalloc((void **)&p, 256));
	OK(cudaStreamCreate(&s));
	OK(cudaStreamCreate(&u));
	OK(cudaEventCreate(&fork));
	OK(cudaEventCreate(&join));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	OK(cudaStreamIsCapturing(s, &status));
	EXPECT(status, cudaStreamCaptureStatusActive);
	OK(cudaMemsetAsync(p, 0, 256, s));
	OK(LAUNCH(1, 1, 0, s, spin(p, 5)));
	OK(cudaEventRecord(fork, s));
	OK(cudaStreamWaitEvent(u, fork, 0));
	OK(LAUNCH(1, 1, 0, u, spin(p + 1, 7)));
	OK(cudaLaunchHostFunc(u, count, &one));
	OK(cudaEventRecord(join, u));
	OK(LAUNCH(1, 1, 0, s, spin(p, 6)));
	OK(cudaStreamWaitEvent(s, join, 0));
	OK(cudaStreamEndCapture(s, &graph));
	OK(cudaGraphGetNodes(graph, 0, &n));
	EXPECT(n, 5);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	for (int i = 1; i <= 3; i++) {
		OK(cudaGraphLaunch(exec, s));
		OK(cudaStreamSynchronize(s));
		OK(cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost));
		EXPECT(v, 11);
		OK(cudaMemcpy(&v, p + 1, sizeof v, cudaMemcpyDeviceToHost));
		EXPECT(v, 7);
		EXPECT(calls, i);
	}
	// What cannot be captured ends the capture.
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	EXPECT(cudaStreamSynchronize(s), cudaErrorStreamCaptureUnsupported);
	EXPECT(cudaStreamEndCapture(s, &graph) != 0, 1);
	EXPECT(graph == 0, 1);
	(void)cudaGetLastError();
	OK(cudaGraphExecDestroy(exec));
	OK(cudaStreamDestroy(s));
	OK(cudaStreamDestroy(u));
	OK(cudaFree(p));
}

static void built(void) {
	int *p, out = 0, times = 3, value = 40;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t set, run, to, get;
	OK(cudaMalloc((void **)&p, 64));
	OK(cudaGraphCreate(&graph, 0));
	struct cudaMemsetParams m = {0};
	m.dst = p, m.elementSize = 4, m.value = 10, m.width = 1, m.height = 1;
	OK(cudaGraphAddMemsetNode(&set, graph, 0, 0, &m));
	void *args[] = {&p, &times};
	struct cudaKernelNodeParams k = {0}, back;
	k.func = (void *)spin, k.gridDim = d3(1, 1, 1), k.blockDim = d3(1, 1, 1), k.kernelParams = args;
	OK(cudaGraphAddKernelNode(&run, graph, &set, 1, &k));
	OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, 0, 0, &counter, &value, sizeof value, 0, cudaMemcpyHostToDevice));
	OK(cudaGraphAddMemcpyNode1D(&get, graph, &run, 1, &out, p, sizeof out, cudaMemcpyDeviceToHost));
	OK(cudaGraphKernelNodeGetParams(run, &back));
	EXPECT(back.func == (void *)spin, 1); // named as the program named it
	EXPECT(**(int **)&back.kernelParams[1], 3);
	enum cudaGraphNodeType type;
	OK(cudaGraphNodeGetType(get, &type));
	EXPECT(type, cudaGraphNodeTypeMemcpy);
	OK(cudaGraphInstantiate(&exec, graph, 0));
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaDeviceSynchronize());
	EXPECT(out, 13);
	OK(cudaMemcpyFromSymbol(&out, &counter, sizeof out, 0, cudaMemcpyDeviceToHost));
	EXPECT(out, 40);

	times = 20;
	OK(cudaGraphExecKernelNodeSetParams(exec, run, &k));
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaDeviceSynchronize());
	EXPECT(out, 30);
	times = 30;
	OK(cudaGraphKernelNodeSetParams(run, &k));
	cudaGraphExecUpdateResultInfo info;
	OK(cudaGraphExecUpdate(exec, graph, &info));
	EXPECT(info.result, cudaGraphExecUpdateSuccess);
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaDeviceSynchronize());
	EXPECT(out, 40);
	k.blockDim.x = 4096;
	EXPECT(cudaGraphKernelNodeSetParams(run, &k) != 0, 1);
	k.func = &k;
	EXPECT(cudaGraphKernelNodeSetParams(run, &k), cudaErrorInvalidResourceHandle);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(graph));
	OK(cudaFree(p));
}

int main(void) {
	captured();
	built();
	return finish();
}
