// flags: -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=[sm_90,compute_90]
// Code for several architectures, and what each says of itself.
#include "cc.h"
__global__ void k(int *o) {
#if __CUDA_ARCH__ >= 900
  o[0] = 2;
#elif __CUDA_ARCH__ >= 800
  o[0] = 1;
#endif
#ifdef __CUDA_ARCH__
  o[1] = __CUDA_ARCH__ % 10;
#endif
}
#ifdef __CUDA_ARCH__
#define SIDE 1
#else
#define SIDE 0
#endif
__host__ __device__ int side() { return SIDE; }
__global__ void s(int *o) { o[2] = side(); }
int main() {
  Array<int> o(3);
  k<<<1, 1>>>(o);
  s<<<1, 1>>>(o);
  std::vector<int> v = o.get();
  int lists[] = {__CUDA_ARCH_LIST__};
  printf("%d %d %d | %d %d\n", v[0] >= 1, v[1], v[2], side(), (int)(sizeof lists / sizeof *lists));
}
