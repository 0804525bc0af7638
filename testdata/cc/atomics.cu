// Atomic functions on every type.
#include "cc.h"
__global__ void k(int *i, unsigned *u, unsigned long long *l, float *f, double *d) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i, t);
  atomicMax(i + 1, t * 37 % 101);
  atomicMin(i + 2, t * 37 % 101 - 50);
  atomicSub(i + 3, 2);
  atomicOr(u, 1u << t % 17);
  atomicAnd(u + 1, ~(1u << t % 13));
  atomicXor(u + 2, t);
  atomicInc(u + 3, 10);
  atomicDec(u + 4, 6);
  atomicAdd(l, 1ull << 33);
  atomicMax(l + 1, (unsigned long long)t << 34);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  for (int old = i[4], seen; (seen = atomicCAS(i + 4, old, old + 3)) != old; old = seen) {}
  if (t == 77) atomicExch(i + 5, t);
}
int main() {
  Array<int> i(6, 0, 0);
  Array<unsigned> u(5, -1, 0);
  Array<unsigned long long> l(2, 0, 0);
  Array<float> f(1, 0, 0);
  Array<double> d(1, 0, 0);
  k<<<4, 64>>>(i, u, l, f, d);
  for (int v : i.get()) printf("%d ", v);
  for (unsigned v : u.get()) printf("%x ", v);
  for (unsigned long long v : l.get()) printf("%llx ", v);
  printf("%g %g\n", f.get()[0], d.get()[0]);
}
