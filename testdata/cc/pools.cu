// Memory in the order of streams: pools, their attributes, memory that one stream frees and another takes.
#include "cc.h"

__global__ void put(int *p, int n, int v) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = v + i;
}
__global__ void sum(const int *p, int n, unsigned long long *to) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(to, (unsigned long long)p[i]);
}

int main() {
  const int n = 1 << 16;
  cudaMemPoolProps props = {};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own, first, now;
  OK(cudaMemPoolCreate(&own, &props));
  OK(cudaDeviceGetDefaultMemPool(&first, 0));
  OK(cudaDeviceGetMemPool(&now, 0));
  printf("default %d", now == first);
  OK(cudaDeviceSetMemPool(0, own));
  OK(cudaDeviceGetMemPool(&now, 0));
  printf(", own %d\n", now == own);
  unsigned long long keep = ~0ull, got = 1, used = 0, high = 0;
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &got));
  OK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &keep));
  printf("threshold %llu", got);
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &got));
  printf(" %d\n", got == keep);
  cudaStream_t s, other;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamCreate(&other));
  cudaEvent_t freed;
  OK(cudaEventCreate(&freed));
  unsigned long long *total, host, want = 0;
  OK(cudaMallocAsync(&total, sizeof *total, s));
  OK(cudaMemsetAsync(total, 0, sizeof *total, s));
  for (int round = 0; round < 8; round++) {
    int *p, *q;
    OK(cudaMallocAsync(&p, n * sizeof(int), s));
    OK(cudaMallocFromPoolAsync(&q, n * sizeof(int), own, s));
    put<<<32, 256, 0, s>>>(p, n, round);
    put<<<32, 256, 0, s>>>(q, n, 2 * round);
    sum<<<32, 256, 0, s>>>(p, n, total);
    OK(cudaFreeAsync(p, s));
    OK(cudaEventRecord(freed, s));
    OK(cudaStreamWaitEvent(other, freed, 0));
    sum<<<32, 256, 0, other>>>(q, n, total);
    OK(cudaFreeAsync(q, other));
    OK(cudaEventRecord(freed, other));
    OK(cudaStreamWaitEvent(s, freed, 0));
    want += 2ull * n * (n - 1) / 2 + 3ull * round * n;
  }
  OK(cudaMemcpyAsync(&host, total, sizeof host, cudaMemcpyDeviceToHost, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemHigh, &high));
  printf("sum %d, used %d, most %d\n", host == want, used > 0 && used < (1 << 20), high >= 2ull * n * sizeof(int));
  OK(cudaFreeAsync(total, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaMemPoolTrimTo(own, 0));
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReservedMemCurrent, &got));
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  printf("after it: reserved %llu, used %llu\n", got, used);
  OK(cudaDeviceSetMemPool(0, first));
  OK(cudaMemPoolDestroy(own));
  int *sync;
  OK(cudaMallocAsync(&sync, 64, 0)); // freed as other memory is
  printf("%s %s\n", cudaGetErrorName(cudaFree(sync)), cudaGetErrorName(cudaFreeAsync((void *)16, s)));
}
