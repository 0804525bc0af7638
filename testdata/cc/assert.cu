// assert: the kernel ends, and the context with it.
#include "cc.h"
#include <cassert>
__global__ void check(int *p, int limit) {
  assert(p[threadIdx.x] < limit);
  p[threadIdx.x] = -1;
}
int main() {
  fclose(stderr); // where the driver says which assertion it was
  Array<int> a(4);
  check<<<1, 4>>>(a, 4);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  check<<<1, 4>>>(a, 4);
  check<<<1, 4>>>(a, -1);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  fflush(stdout);
  _Exit(0);
}
