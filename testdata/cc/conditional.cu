// flags: -rdc=true -arch=sm_90
// Graphs that decide on the device: a loop of Newton's steps until it is exact enough, and two branches.
#include "cc.h"
#include <cmath>

__global__ void step(double *x, double a, int *rounds, cudaGraphConditionalHandle again) {
  double next = 0.5 * (*x + a / *x);
  ++*rounds;
  cudaGraphSetConditional(again, fabs(next - *x) > 1e-14 * next);
  *x = next;
}
__global__ void decide(const double *x, cudaGraphConditionalHandle large) { cudaGraphSetConditional(large, *x > 100); }
__global__ void mark(int *p, int v) { *p += v; }

static cudaGraphNode_t body(cudaGraph_t graph, cudaGraphNode_t after, cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type, cudaGraph_t *inner) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = h;
  p.conditional.type = type;
  p.conditional.size = 1;
  cudaGraphNode_t node;
  OK(cudaGraphAddNode(&node, graph, after ? &after : nullptr, nullptr, after ? 1 : 0, &p));
  *inner = p.conditional.phGraph_out[0];
  return node;
}
static cudaGraphNode_t kernel(cudaGraph_t g, cudaGraphNode_t after, void *f, void **args) {
  cudaKernelNodeParams k = {};
  k.func = f;
  k.gridDim = k.blockDim = dim3(1);
  k.kernelParams = args;
  cudaGraphNode_t node;
  OK(cudaGraphAddKernelNode(&node, g, after ? &after : nullptr, after ? 1 : 0, &k));
  return node;
}

int main() {
  double *x, a = 12345;
  int *rounds, *marks, one = 1, zero[2] = {};
  OK(cudaMalloc(&x, 8));
  OK(cudaMalloc(&rounds, 4));
  OK(cudaMalloc(&marks, 4));
  for (double value : {12345.0, 2.0}) {
    a = value;
    OK(cudaMemcpy(x, &a, 8, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(rounds, zero, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(marks, zero, 4, cudaMemcpyHostToDevice));
    cudaGraph_t graph, loop, branch;
    cudaGraphConditionalHandle again, large;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    OK(cudaGraphConditionalHandleCreate(&large, graph, 0, cudaGraphCondAssignDefault));
    cudaGraphNode_t n = body(graph, nullptr, again, cudaGraphCondTypeWhile, &loop);
    void *sa[] = {&x, &a, &rounds, &again}, *da[] = {&x, &large}, *ma[] = {&marks, &one};
    kernel(loop, nullptr, (void *)step, sa);
    n = kernel(graph, n, (void *)decide, da);
    body(graph, n, large, cudaGraphCondTypeIf, &branch);
    kernel(branch, nullptr, (void *)mark, ma);
    cudaGraphExec_t exec;
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    double root;
    int count, m;
    OK(cudaMemcpy(&root, x, 8, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(&count, rounds, 4, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(&m, marks, 4, cudaMemcpyDeviceToHost));
    printf("root of %g: %d after %d, large %d\n", a, fabs(root - sqrt(a)) < 1e-12 * root, count, m);
  }
}
