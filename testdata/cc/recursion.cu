// Functions that call themselves, and each other.
#include "cc.h"
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ bool odd(int n);
__device__ __noinline__ bool even(int n) { return n == 0 || odd(n - 1); }
__device__ __noinline__ bool odd(int n) { return n != 0 && even(n - 1); }
__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
__global__ void k(int *o) {
  int t = threadIdx.x;
  o[t] = fib(t + 3) * 100 + even(t) * 10 + ackermann(2, t % 3);
}
int main() {
  Array<int> o(8);
  k<<<1, 8>>>(o);
  for (int v : o.get()) printf("%d ", v);
  printf("\n");
}
