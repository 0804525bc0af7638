// A breadth-first search with a queue that grows by atomics.
#include "cc.h"
__global__ void level(const int *in, int n, int *out, int *count, int *dist, int nodes, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i], next[3] = {(v * 2) % nodes, (v * 3 + 1) % nodes, (v + 7) % nodes};
  for (int w : next)
    if (atomicCAS(dist + w, -1, d) == -1) out[atomicAdd(count, 1)] = w;
}
int main() {
  const int n = 3000;
  Array<int> a(n, 0, 0), b(n), dist(n, -1, 0), c(1, 0, 0);
  int zero = 0, size = 1, d = 0;
  OK(cudaMemcpy(dist, &zero, 4, cudaMemcpyHostToDevice));
  while (size > 0) {
    OK(cudaMemcpy(c, &zero, 4, cudaMemcpyHostToDevice));
    level<<<(size + 127) / 128, 128>>>(a, size, b, c, dist, n, ++d);
    size = c.get()[0];
    std::swap(a.p, b.p);
  }
  std::vector<int> v = dist.get();
  printf("%d %d %llx\n", d, v[n - 1], sum(v));
}
