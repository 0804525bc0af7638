// Templates: variadic, specialized, with values; kernels of classes.
#include "cc.h"
template <class... A> __device__ int total(A... a) { return (0 + ... + a); }
template <int N> struct Power { __device__ static int of(int x) { return x * Power<N - 1>::of(x); } };
template <> struct Power<0> { __device__ static int of(int) { return 1; } };
template <class T> __device__ int size() { return sizeof(T); }
template <> __device__ int size<float>() { return -4; }
template <class T, int N, class... A> __global__ void k(T *o, A... a) {
  o[threadIdx.x] = (T)(Power<N>::of(threadIdx.x) + total(a...) + size<T>());
  if constexpr (sizeof...(A) > 2) o[threadIdx.x] += 1000;
}
int main() {
  Array<int> o(4);
  Array<double> d(4);
  k<int, 3><<<1, 4>>>(o.p, 1, 2);
  for (int v : o.get()) printf("%d ", v);
  k<int, 2><<<1, 4>>>(o.p, 1, 2, 3);
  for (int v : o.get()) printf("%d ", v);
  k<double, 4><<<1, 4>>>(d.p);
  for (double v : d.get()) printf("%g ", v);
  printf("\n");
}
