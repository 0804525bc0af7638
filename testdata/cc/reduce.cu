// Sums in shared memory.
#include "cc.h"
template <int N> __global__ void reduce(const int *in, long long *out) {
  __shared__ long long s[N];
  s[threadIdx.x] = in[blockIdx.x * N + threadIdx.x];
  __syncthreads();
  for (int k = N / 2; k > 0; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
int main() {
  Array<int> a(1024, 1);
  Array<long long> o(8);
  reduce<128><<<8, 128>>>(a, o);
  for (long long v : o.get()) printf("%lld ", v);
  reduce<256><<<4, 256>>>(a, o);
  for (long long v : o.get()) printf("%lld ", v);
  printf("\n");
}
