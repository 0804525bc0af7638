// Complex numbers, and vector types as members.
#include "cc.h"
#include <cuComplex.h>
struct alignas(16) Item { float4 v; int2 w; uchar4 c; };
__global__ void k(cuDoubleComplex *z, Item *items, int *o) {
  int t = threadIdx.x;
  z[t] = cuCadd(cuCmul(z[t], make_cuDoubleComplex(0, 1)), make_cuDoubleComplex(t, 2));
  Item &i = items[t];
  i.v.x += i.v.y * i.v.z - i.v.w;
  o[t] = (int)i.v.x + i.w.x * i.w.y + i.c.x + i.c.w;
}
int main() {
  cuDoubleComplex h[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}, *z;
  Item it[4], *d;
  for (int i = 0; i < 4; i++) it[i] = Item{make_float4(i, 2, 3, 1), make_int2(i, 5), make_uchar4(i, 0, 0, 250)};
  OK(cudaMalloc(&z, sizeof h));
  OK(cudaMalloc(&d, sizeof it));
  OK(cudaMemcpy(z, h, sizeof h, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(d, it, sizeof it, cudaMemcpyHostToDevice));
  Array<int> o(4);
  k<<<1, 4>>>(z, d, o);
  OK(cudaMemcpy(h, z, sizeof h, cudaMemcpyDeviceToHost));
  for (int v : o.get()) printf("%d ", v);
  printf("%g %g %g %zu\n", cuCreal(h[3]), cuCimag(h[3]), cuCabs(h[0]), sizeof(Item));
}
