// What host code has of C++ only: min and max without a header, symbols in graphs, the old form of cudaGraphInstantiate, objects, batches.
#include <chrono>
#include <thread>
#include "cc.h"
__device__ int table[4] = {1, 2, 3, 4};
__global__ void twice() { table[threadIdx.x] *= 2; }
static volatile int gone;
struct Object {
  ~Object() { gone = 1; }
};
static void limits() {
  size_t a = 7, b = 9;
  unsigned u = 3000000000u;
  printf("%zu %zu %d %u %.1f %lld\n", max(a, b), min(a, b), max(-3, 2), max(1, u), min(1.5f, 2.5), llmax(4, 5));
}
static void symbols(cudaStream_t s) {
  int in[4] = {10, 20, 30, 40}, more[4] = {5, 6, 7, 8}, out[4] = {};
  cudaGraph_t g;
  cudaGraphNode_t to, kernel, from;
  cudaGraphExec_t x;
  OK(cudaGraphCreate(&g, 0));
  OK(cudaGraphAddMemcpyNodeToSymbol(&to, g, nullptr, 0, table, in, sizeof in, 0, cudaMemcpyHostToDevice));
  cudaKernelNodeParams p = {};
  p.func = (void *)twice;
  p.gridDim = p.blockDim = dim3(1);
  p.blockDim.x = 4;
  OK(cudaGraphAddKernelNode(&kernel, g, &to, 1, &p));
  OK(cudaGraphAddMemcpyNodeFromSymbol(&from, g, &kernel, 1, out, table, sizeof out, 0, cudaMemcpyDeviceToHost));
  cudaUserObject_t object;
  OK(cudaUserObjectCreate(&object, new Object, 1, cudaUserObjectNoDestructorSync));
  OK(cudaGraphRetainUserObject(g, object, 1, cudaGraphUserObjectMove));
  OK(cudaGraphInstantiate(&x, g, nullptr, nullptr, 0));
  OK(cudaGraphLaunch(x, s));
  OK(cudaStreamSynchronize(s));
  printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
  OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(x, to, table, more, sizeof more, 0, cudaMemcpyHostToDevice));
  OK(cudaGraphLaunch(x, s));
  OK(cudaStreamSynchronize(s));
  printf("%d %d %d %d\n", out[0], out[1], out[2], out[3]);
  OK(cudaGraphExecDestroy(x));
  OK(cudaGraphDestroy(g));
  for (int i = 0; i < 10000 && !gone; i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  printf("%d\n", gone);
}
static void batch(cudaStream_t s) {
  Array<int> a(8), b(8, 100), c(8, 0, 0), d(8, 0, 0);
  int *to[] = {c, d};
  const int *from[] = {a, b};
  size_t sizes[] = {32, 16};
  cudaMemcpyAttributes attr = {};
  attr.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  OK(cudaMemcpyBatchAsync(to, from, sizes, 2, attr, s));
  OK(cudaStreamSynchronize(s));
  printf("%d %d %d\n", c.get()[7], d.get()[3], d.get()[4]);
}
int main() {
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  limits();
  symbols(s);
  batch(s);
  cudaKernel_t k;
  size_t room = 0;
  OK(cudaGetKernel(&k, twice));
  OK(cudaOccupancyAvailableDynamicSMemPerBlock(&room, twice, 1, 128));
  printf("%d %d\n", k != nullptr, room > 0);
}
