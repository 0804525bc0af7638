// Adds vectors.
#include "cc.h"
__global__ void add(const int *a, const int *b, int *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
int main() {
  Array<int> a(1000), b(1000, 5, 3), c(1000);
  add << <4, 256 >> >(a, b, c, 1000);
  OK(cudaGetLastError());
  std::vector<int> v = c.get();
  printf("%d %d %llx\n", v[0], v[999], sum(v));
}
