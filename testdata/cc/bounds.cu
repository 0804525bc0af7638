// Launch bounds, attributes of kernels, occupancy, and properties that follow from the program.
#include "cc.h"
__global__ void __launch_bounds__(128, 2) k(int *p) {
  __shared__ int s[128];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[(threadIdx.x + 1) % 128];
}
int main() {
  cudaFuncAttributes a;
  OK(cudaFuncGetAttributes(&a, k));
  printf("%d %zu %d\n", a.maxThreadsPerBlock, a.sharedSizeBytes, a.numRegs > 0);
  Array<int> p(128);
  k<<<1, 129>>>(p);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  k<<<1, 128>>>(p);
  printf("%s %llx\n", cudaGetErrorName(cudaGetLastError()), sum(p.get()));
  int n;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k, 128, 0));
  printf("%d\n", n >= 2);
}
