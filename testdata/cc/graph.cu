// A captured graph, launched several times.
#include "cc.h"
__global__ void add(int *p, int a) { p[threadIdx.x] += a * (threadIdx.x + 1); }
int main() {
  Array<int> a(32);
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  add<<<1, 32, 0, s>>>(a, 1);
  add<<<1, 32, 0, s>>>(a, 10);
  cudaGraph_t g;
  OK(cudaStreamEndCapture(s, &g));
  size_t n = 0;
  OK(cudaGraphGetNodes(g, nullptr, &n));
  cudaGraphExec_t x;
  OK(cudaGraphInstantiate(&x, g, 0));
  for (int i = 0; i < 3; i++) OK(cudaGraphLaunch(x, s));
  OK(cudaStreamSynchronize(s));
  std::vector<int> v = a.get();
  printf("%zu %d %d %llx\n", n, v[0], v[31], sum(v));
}
