// parts: parts/several.cu parts/several.cpp parts/several.c
// Several sources without separate compilation, of CUDA, C++ and C.
#include "cc.h"
int other(int *p, int n);
extern "C" int plain(int);
extern int cpp(const std::vector<int> &);
static __global__ void same(int *p) { p[threadIdx.x] += 1; }
static __device__ int state = 3;
int main() {
  Array<int> a(16);
  same<<<1, 16>>>(a);
  int s;
  OK(cudaMemcpyFromSymbol(&s, state, sizeof s));
  printf("%d ", other(a, 16));
  printf("%d %d %d\n", plain(20), cpp(a.get()), s);
}
