// Pointers to functions of the device, in tables and as arguments.
#include "cc.h"
typedef int (*Op)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ __noinline__ int sub(int a, int b) { return a - b; }
__device__ Op table[3] = {add, mul, sub};
template <Op F> __global__ void fixed(int *o) { o[threadIdx.x] = F(threadIdx.x, 7); }
__global__ void chosen(int *o) { o[threadIdx.x] = table[threadIdx.x % 3](threadIdx.x, 7); }
__global__ void given(Op f, int *o) { o[threadIdx.x] = f(threadIdx.x, 9); }
int main() {
  Array<int> o(6);
  chosen<<<1, 6>>>(o);
  for (int v : o.get()) printf("%d ", v);
  fixed<mul><<<1, 6>>>(o);
  for (int v : o.get()) printf("%d ", v);
  Op f;
  OK(cudaMemcpyFromSymbol(&f, table, sizeof f, 2 * sizeof f));
  given<<<1, 6>>>(f, o);
  for (int v : o.get()) printf("%d ", v);
  printf("\n");
}
