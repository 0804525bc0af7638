// Constant memory: initialized, written by the host, and its address on the device.
#include "cc.h"
__constant__ int table[8] = {1, 1, 2, 3, 5, 8, 13, 21};
__constant__ float scale;
struct Pair { short a; double b; };
__constant__ Pair pairs[2] = {{1, 2.5}, {3, 4.5}};
__device__ int pick(const int *p, int i) { return p[i]; }
__global__ void use(int *out) {
  int t = threadIdx.x;
  out[t] = (int)(pick(table, t) * scale) + pairs[t & 1].a + (int)(2 * pairs[t & 1].b);
  if (t == 0) out[8] = __isConstant(table) + 2 * __isGlobal(out) + 4 * __isConstant(out) + 8 * __isShared(table) + 16 * __isGlobal(table);
}
int main() {
  float s = 3;
  OK(cudaMemcpyToSymbol(scale, &s, sizeof s));
  Array<int> o(9);
  use<<<1, 8>>>(o);
  for (int v : o.get()) printf("%d ", v);
  int two[2] = {100, 200};
  OK(cudaMemcpyToSymbol(table, two, sizeof two, 2 * sizeof(int)));
  int back[8];
  OK(cudaMemcpyFromSymbol(back, table, sizeof back));
  size_t n;
  OK(cudaGetSymbolSize(&n, pairs));
  printf("| %d %d %d %zu\n", back[1], back[2], back[3], n);
}
