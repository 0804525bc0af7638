// Graphs: made by capture and by hand, with child graphs and host nodes, changed in place, and updated as a whole.
#include "cc.h"

__global__ void scale(int *p, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] *= by;
}
__global__ void shift(int *p, int n, int by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += by;
}
static int calls;
static void CUDART_CB called(void *p) { calls += *(int *)p; }

static int wrong(int *d, int n, int from, int by, int add) {
  std::vector<int> v(n);
  OK(cudaMemcpy(v.data(), d, n * 4, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int i = 0; i < n; i++) bad += v[i] != (i + from) * by + add;
  return bad;
}

int main() {
  const int n = 4096;
  int *p, by = 3, add = 7, count = n, tick = 1;
  std::vector<int> host(n);
  for (int i = 0; i < n; i++) host[i] = i;
  OK(cudaMalloc(&p, n * 4));
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  // captured, with a second stream inside
  cudaStream_t side;
  cudaEvent_t fork, joined;
  OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&joined));
  cudaGraph_t captured;
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  OK(cudaMemcpyAsync(p, host.data(), n * 4, cudaMemcpyHostToDevice, s));
  OK(cudaEventRecord(fork, s));
  OK(cudaStreamWaitEvent(side, fork, 0));
  scale<<<n / 512, 256, 0, side>>>(p + n / 2, n / 2, by);
  scale<<<n / 512, 256, 0, s>>>(p, n / 2, by);
  OK(cudaEventRecord(joined, side));
  OK(cudaStreamWaitEvent(s, joined, 0));
  shift<<<n / 256, 256, 0, s>>>(p, n, add);
  cudaStreamCaptureStatus status;
  OK(cudaStreamIsCapturing(s, &status));
  OK(cudaStreamEndCapture(s, &captured));
  size_t nodes = 0, edges = 0;
  OK(cudaGraphGetNodes(captured, nullptr, &nodes));
#if CUDART_VERSION >= 13000
  OK(cudaGraphGetEdges(captured, nullptr, nullptr, nullptr, &edges));
#else
  OK(cudaGraphGetEdges(captured, nullptr, nullptr, &edges));
#endif
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, captured, 0));
  OK(cudaGraphLaunch(exec, s));
  OK(cudaStreamSynchronize(s));
  printf("captured: %d, %zu nodes, %zu edges, %d wrong\n", status == cudaStreamCaptureStatusActive, nodes, edges, wrong(p, n, 0, by, add));
  // by hand, around it
  cudaGraph_t hand;
  cudaGraphNode_t child, kernel, call;
  OK(cudaGraphCreate(&hand, 0));
  OK(cudaGraphAddChildGraphNode(&child, hand, nullptr, 0, captured));
  cudaKernelNodeParams kp = {};
  void *args[] = {&p, &count, &add};
  kp.func = (void *)shift;
  kp.gridDim = dim3(n / 256);
  kp.blockDim = dim3(256);
  kp.kernelParams = args;
  OK(cudaGraphAddKernelNode(&kernel, hand, &child, 1, &kp));
  cudaHostNodeParams hp = {called, &tick};
  OK(cudaGraphAddHostNode(&call, hand, &kernel, 1, &hp));
  cudaGraphExec_t big;
  OK(cudaGraphInstantiate(&big, hand, 0));
  OK(cudaGraphLaunch(big, s));
  OK(cudaGraphLaunch(big, s));
  OK(cudaStreamSynchronize(s));
  printf("by hand: %d wrong, %d calls\n", wrong(p, n, 0, by, 2 * add), calls);
  // one node changed
  int other = -100, ten = 10;
  args[2] = &other;
  OK(cudaGraphExecKernelNodeSetParams(big, kernel, &kp));
  hp.userData = &ten;
  OK(cudaGraphExecHostNodeSetParams(big, call, &hp));
  OK(cudaGraphLaunch(big, s));
  OK(cudaStreamSynchronize(s));
  printf("changed: %d wrong, %d calls\n", wrong(p, n, 0, by, add + other), calls);
  OK(cudaGraphNodeSetEnabled(big, kernel, 0));
  OK(cudaGraphLaunch(big, s));
  OK(cudaStreamSynchronize(s));
  printf("disabled: %d wrong\n", wrong(p, n, 0, by, add));
  // updated by another graph of the same form, and not by one of another
  for (int form = 0; form < 2; form++) {
    cudaGraph_t next;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMemcpyAsync(p, host.data(), n * 4, cudaMemcpyHostToDevice, s));
    if (form == 0) {
      OK(cudaEventRecord(fork, s));
      OK(cudaStreamWaitEvent(side, fork, 0));
      scale<<<n / 512, 256, 0, side>>>(p + n / 2, n / 2, 5);
      scale<<<n / 512, 256, 0, s>>>(p, n / 2, 5);
      OK(cudaEventRecord(joined, side));
      OK(cudaStreamWaitEvent(s, joined, 0));
    }
    shift<<<n / 256, 256, 0, s>>>(p, n, 1);
    OK(cudaStreamEndCapture(s, &next));
    cudaGraphExecUpdateResultInfo info = {};
    cudaError_t e = cudaGraphExecUpdate(exec, next, &info);
    OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    printf("update: %s %d, %d wrong\n", cudaGetErrorName(e), info.result == cudaGraphExecUpdateSuccess, wrong(p, n, 0, 5, 1));
    OK(cudaGraphDestroy(next));
    (void)cudaGetLastError();
  }
  cudaGraph_t copy;
  OK(cudaGraphClone(&copy, hand));
  cudaGraphNode_t same;
  OK(cudaGraphNodeFindInClone(&same, kernel, copy));
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(same, &type));
  printf("clone: %d\n", type == cudaGraphNodeTypeKernel);
}
