// flags: -rdc=true -arch=sm_90
// Kernels that launch kernels.
#include "cc.h"
__global__ void child(int *p, int base) { p[base + threadIdx.x] += base + threadIdx.x; }
__global__ void parent(int *p) {
  if (threadIdx.x < 4) child<<<1, 8>>>(p, threadIdx.x * 8);
}
int main() {
  Array<int> a(32);
  parent<<<1, 32>>>(a);
  OK(cudaDeviceSynchronize());
  std::vector<int> v = a.get();
  printf("%d %d %d %llx\n", v[1], v[8], v[31], sum(v));
}
