// flags: -rdc=true
// parts: parts/rdc.cu
// Separate compilation: functions, variables, a virtual class and statics of another file.
#include "cc.h"
#include "parts/rdc.h"
__device__ int shared_counter = 100;
static __device__ int mine = 1;
__global__ void here(int *o) {
  o[threadIdx.x] = elsewhere(threadIdx.x) + table[threadIdx.x % 4] + mine;
  atomicAdd(&shared_counter, 1);
}
int main() {
  Array<int> o(8);
  here<<<1, 8>>>(o);
  for (int v : o.get()) printf("%d ", v);
  int two = 2;
  OK(cudaMemcpyToSymbol(mine, &two, sizeof two));
  here<<<1, 8>>>(o);
  printf("| %d | ", o.get()[7]);
  there(o);
  for (int v : o.get()) printf("%d ", v);
  int c;
  OK(cudaMemcpyFromSymbol(&c, shared_counter, sizeof c));
  printf("| %d\n", c);
}
