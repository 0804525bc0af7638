// A bitonic sort over several launches.
#include "cc.h"
__global__ void step(unsigned *p, int j, int k) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, l = i ^ j;
  if (l > i && ((i & k) == 0) == (p[i] > p[l])) {
    unsigned t = p[i];
    p[i] = p[l];
    p[l] = t;
  }
}
int main() {
  const int n = 2048;
  std::vector<unsigned> h(n);
  for (int i = 0; i < n; i++) h[i] = (unsigned)i * 2654435761u;
  Array<unsigned> a(n);
  OK(cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice));
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) step<<<n / 256, 256>>>(a, j, k);
  std::vector<unsigned> v = a.get();
  int good = 1;
  for (int i = 1; i < n; i++) good &= v[i - 1] <= v[i];
  printf("%d %u %u %llx\n", good, v[0], v[n - 1], sum(v));
}
