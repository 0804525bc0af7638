// Unified memory: advice, prefetches in both directions, attributes of ranges; a stencil that both sides work on.
#include "cc.h"

__global__ void smooth(const float *in, float *out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = i == 0 || i == n - 1 ? in[i] : 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}
__device__ __managed__ int rounds;
__global__ void count() { atomicAdd_system(&rounds, 1); }

int main() {
  const int n = 1 << 18;
  float *a, *b;
  OK(cudaMallocManaged(&a, n * sizeof(float)));
  OK(cudaMallocManaged(&b, n * sizeof(float), cudaMemAttachGlobal));
  std::vector<float> ha(n), hb(n);
  for (int i = 0; i < n; i++) a[i] = ha[i] = float(i * 37 % 1000);
  cudaMemLocation device = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0};
  OK(cudaMemAdvise(a, n * sizeof(float), cudaMemAdviseSetPreferredLocation, device));
  OK(cudaMemAdvise(b, n * sizeof(float), cudaMemAdviseSetAccessedBy, device));
  int value = -5;
  OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributePreferredLocation, a, n * sizeof(float)));
  printf("preferred %d", value);
  OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, a, n * sizeof(float)));
  printf(", read mostly %d", value);
  OK(cudaMemAdvise(a, n * sizeof(float), cudaMemAdviseSetReadMostly, device));
  OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, a, n * sizeof(float)));
  printf(" %d", value);
  OK(cudaMemAdvise(a, n * sizeof(float), cudaMemAdviseUnsetReadMostly, device));
  OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, a, n * sizeof(float)));
  printf(" %d\n", value);
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  int bad = 0;
  for (int round = 0; round < 3; round++) {
    OK(cudaMemPrefetchAsync(a, n * sizeof(float), device, 0, s));
    smooth<<<64, 256, 0, s>>>(a, b, n);
    smooth<<<64, 256, 0, s>>>(b, a, n);
    count<<<1, 1, 0, s>>>();
    OK(cudaMemPrefetchAsync(a, n * sizeof(float), host, 0, s));
    OK(cudaStreamSynchronize(s));
    for (int step = 0; step < 2; step++, std::swap(ha, hb))
      for (int i = 0; i < n; i++) hb[i] = i == 0 || i == n - 1 ? ha[i] : 0.25f * ha[i - 1] + 0.5f * ha[i] + 0.25f * ha[i + 1];
    for (int i = 0; i < n; i++) bad += a[i] != ha[i];
    for (int i = 0; i < n; i += 1000) a[i] = ha[i] = float(round + i % 7);
  }
  cudaPointerAttributes at;
  OK(cudaPointerGetAttributes(&at, a));
  printf("%d wrong, %d rounds, managed %d %d\n", bad, rounds, at.type == cudaMemoryTypeManaged, at.devicePointer == at.hostPointer);
  OK(cudaFree(a));
  OK(cudaFree(b));
}
