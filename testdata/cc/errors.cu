// Errors of launches and calls.
#include "cc.h"
__global__ void k(int *p) { *p = 1; }
int main() {
  int *p;
  k<<<1, 1, 1 << 30>>>(nullptr);
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  printf("%s\n", cudaGetErrorName(cudaMalloc(&p, 1ull << 60)));
  printf("%s\n", cudaGetErrorName(cudaGetLastError()));
  printf("%s\n", cudaGetErrorName(cudaMemcpy(nullptr, nullptr, 4, cudaMemcpyDeviceToDevice)));
  cudaGetLastError();
  printf("%s\n", cudaGetErrorName(cudaSetDevice(1000)));
  cudaGetLastError();
  k<<<1, 1>>>((int *)16);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  fflush(stdout);
  _Exit(0);
}
