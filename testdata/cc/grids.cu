// Grids and blocks of three dimensions, and every index.
#include "cc.h"
__global__ void k(int *o) {
  int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  int n = blockDim.x * blockDim.y * blockDim.z;
  o[b * n + t] = blockIdx.x + 3 * blockIdx.y + 5 * blockIdx.z + 7 * threadIdx.x + 11 * threadIdx.y + 13 * threadIdx.z + warpSize;
}
int main() {
  Array<int> o(2 * 3 * 4 * 5 * 3 * 2);
  k<<<dim3(2, 3, 4), dim3(5, 3, 2)>>>(o);
  std::vector<int> v = o.get();
  printf("%d %d %llx\n", v[0], v.back(), sum(v));
}
