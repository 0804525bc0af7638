// nvcc: -rdc=true
// since: 12
// Conditional nodes: a loop and a branch whose condition the device sets.
#include "app.cuh"

__global__ void step(unsigned *x, unsigned *rounds, cudaGraphConditionalHandle h) {
	unsigned v = *x;
	v = v % 2 ? 3 * v + 1 : v / 2;
	*x = v;
	++*rounds;
	cudaGraphSetConditional(h, v != 1);
}
__global__ void choose(const unsigned *rounds, cudaGraphConditionalHandle h) { cudaGraphSetConditional(h, *rounds > 100); }
__global__ void mark(unsigned *out, unsigned v) { *out = v; }

static cudaGraphNode_t add(cudaGraph_t g, const cudaGraphNode_t *after, cudaGraphNodeParams *p) {
	cudaGraphNode_t n;
#if CUDART_VERSION >= 13000
	OK(cudaGraphAddNode(&n, g, after, nullptr, after ? 1 : 0, p));
#else
	OK(cudaGraphAddNode(&n, g, after, after ? 1 : 0, p));
#endif
	return n;
}

static cudaGraphNode_t kernel(cudaGraph_t g, const cudaGraphNode_t *after, void *fn, void **args) {
	cudaGraphNodeParams p = {};
	p.type = cudaGraphNodeTypeKernel;
	p.kernel.func = fn;
	p.kernel.gridDim = p.kernel.blockDim = 1;
	p.kernel.kernelParams = args;
	return add(g, after, &p);
}

int main() {
	unsigned *d;
	OK(cudaMalloc(&d, 3 * sizeof *d));
	unsigned *x = d, *rounds = d + 1, *out = d + 2;
	cudaGraph_t g;
	OK(cudaGraphCreate(&g, 0));
	cudaGraphConditionalHandle loop, branch;
	OK(cudaGraphConditionalHandleCreate(&loop, g, 1, cudaGraphCondAssignDefault));
	OK(cudaGraphConditionalHandleCreate(&branch, g, 0, 0));
	cudaGraphNodeParams w = {};
	w.type = cudaGraphNodeTypeConditional;
	w.conditional.handle = loop;
	w.conditional.type = cudaGraphCondTypeWhile;
	w.conditional.size = 1;
	cudaGraphNode_t first = add(g, nullptr, &w);
	void *sargs[] = {&x, &rounds, &loop};
	kernel(w.conditional.phGraph_out[0], nullptr, (void *)step, sargs);
	void *cargs[] = {&rounds, &branch};
	cudaGraphNode_t second = kernel(g, &first, (void *)choose, cargs);
	cudaGraphNodeParams b = {};
	b.type = cudaGraphNodeTypeConditional;
	b.conditional.handle = branch;
	b.conditional.type = cudaGraphCondTypeIf;
	b.conditional.size = 1;
	add(g, &second, &b);
	unsigned one = 1;
	void *margs[] = {&out, &one};
	kernel(b.conditional.phGraph_out[0], nullptr, (void *)mark, margs);
	cudaGraphExec_t e;
	OK(cudaGraphInstantiate(&e, g, 0));
	cudaStream_t s;
	OK(cudaStreamCreate(&s));
	for (unsigned start : {6u, 27u, 97u, 1024u}) {
		unsigned h[3] = {start, 0, 0};
		OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
		OK(cudaGraphLaunch(e, s));
		OK(cudaStreamSynchronize(s));
		OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
		printf("%u: %u after %u rounds%s\n", start, h[0], h[1], h[2] ? ", long" : "");
	}
	OK(cudaGraphExecDestroy(e));
	OK(cudaGraphDestroy(g));
	return 0;
}
