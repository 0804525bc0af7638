// A cooperative launch, whose blocks wait for each other.
#include "cc.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rounds(int *p, int *q, int n, int k) {
  cg::grid_group g = cg::this_grid();
  for (int i = 0; i < k; i++) {
    for (int j = g.thread_rank(); j < n; j += g.size()) q[j] = p[j] + p[(j + 1) % n];
    g.sync();
    for (int j = g.thread_rank(); j < n; j += g.size()) p[j] = q[j] % 1009;
    g.sync();
  }
}
int main() {
  const int n = 500;
  Array<int> p(n), q(n);
  int *a = p, *b = q, size = n, k = 6;
  void *args[] = {&a, &b, &size, &k};
  OK(cudaLaunchCooperativeKernel(rounds, dim3(4), dim3(64), args));
  OK(cudaDeviceSynchronize());
  std::vector<int> v = p.get();
  printf("%d %d %llx\n", v[0], v[n - 1], sum(v));
}
