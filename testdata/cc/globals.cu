// Variables of the device: initialized, static, in a namespace, a template, with their addresses.
#include "cc.h"
__device__ int counter = 40;
static __device__ unsigned long long big = 1ull << 40;
namespace n { __device__ double d = 1.25; }
__device__ int *pointer = &counter;
__device__ const char *text = "words";
__device__ int array[3][2] = {{1, 2}, {3, 4}, {5, 6}};
template <class T> __device__ T value = 7;
__global__ void use(int *out) {
  atomicAdd(pointer, 2);
  big += 5;
  n::d *= 2;
  out[0] = array[2][1] * 10 + array[0][0];
  out[1] = text[0] + text[4];
  out[2] = value<int>;
}
int main() {
  Array<int> o(3);
  use<<<1, 1>>>(o);
  std::vector<int> v = o.get();
  int c;
  unsigned long long b;
  double d;
  OK(cudaMemcpyFromSymbol(&c, counter, sizeof c));
  OK(cudaMemcpyFromSymbol(&b, big, sizeof b));
  OK(cudaMemcpyFromSymbol(&d, n::d, sizeof d));
  void *p;
  OK(cudaGetSymbolAddress(&p, counter));
  int c2;
  OK(cudaMemcpy(&c2, p, 4, cudaMemcpyDeviceToHost));
  printf("%d %d %llx %g %d %d %d\n", c, c2, b, d, v[0], v[1], v[2]);
}
