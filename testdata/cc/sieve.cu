// Primes, with early exits and grid-stride loops.
#include "cc.h"
__global__ void sieve(unsigned char *c, int n) {
  for (int i = 2 + blockIdx.x * blockDim.x + threadIdx.x; (long long)i * i < n; i += gridDim.x * blockDim.x)
    for (int j = i * i; j < n; j += i) c[j] = 1;
}
__global__ void count(const unsigned char *c, int n, int *o) {
  int k = 0;
  for (int i = 2 + threadIdx.x; i < n; i += blockDim.x) k += !c[i];
  for (int d = 16; d; d /= 2) k += __shfl_down_sync(~0u, k, d);
  if (threadIdx.x % 32 == 0) atomicAdd(o, k);
}
int main() {
  Array<unsigned char> c(20000, 0, 0);
  Array<int> o(1, 0, 0);
  sieve<<<2, 64>>>(c, 20000);
  count<<<1, 128>>>(c, 20000, o);
  printf("%d\n", o.get()[0]);
}
