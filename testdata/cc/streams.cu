// Streams, events, pinned memory, a host function in a stream.
#include "cc.h"
__global__ void step(int *p, int n, int a) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = p[i] * 5 + a;
}
static void note(void *p) { *(int *)p += 1; }
int main() {
  const int n = 2000;
  int *h, notes = 0;
  OK(cudaMallocHost(&h, n * sizeof(int)));
  for (int i = 0; i < n; i++) h[i] = i;
  int *d;
  OK(cudaMalloc(&d, n * sizeof(int)));
  cudaStream_t s, t;
  cudaEvent_t e;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
  OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
  OK(cudaMemcpyAsync(d, h, n * sizeof(int), cudaMemcpyHostToDevice, s));
  for (int i = 0; i < 5; i++) step<<<4, 64, 0, s>>>(d, n, i);
  OK(cudaLaunchHostFunc(s, note, &notes));
  OK(cudaEventRecord(e, s));
  OK(cudaStreamWaitEvent(t, e, 0));
  step<<<4, 64, 0, t>>>(d, n, 9);
  OK(cudaMemcpyAsync(h, d, n * sizeof(int), cudaMemcpyDeviceToHost, t));
  OK(cudaStreamSynchronize(t));
  printf("%d %d %d %d %llx\n", notes, cudaEventQuery(e) == cudaSuccess, h[0], h[n - 1], sum(std::vector<int>(h, h + n)));
}
