// Managed variables, used on both sides.
#include "cc.h"
struct P { int x; int a[4]; P *self; };
__managed__ int m = 5;
__managed__ P p;
static __managed__ double s[3] = {0.5, 1.5, 2.5};
__device__ __managed__ float f = 1.5f;
__global__ void k() {
  m += threadIdx.x + 1;
  p.a[2] = 9 + p.x;
  s[1] *= 2;
  f *= 2;
  p.self->a[3] = m;
}
static int twice(int &v) { return v *= 2; }
int main() {
  p.x = 3;
  p.self = &p;
  for (int i = 0; i < 4; i++) p.a[i] = i;
  k<<<1, 1>>>();
  OK(cudaDeviceSynchronize());
  int *q = m > 3 ? &p.a[1] : &m;
  printf("%d %d %d %d %g %g %d\n", m, p.x, p.a[2], p.a[3], s[1], f, *q);
  printf("%d\n", twice(m));
  k<<<1, 1>>>();
  OK(cudaDeviceSynchronize());
  printf("%d %g %d\n", m, s[1], p.self == &p);
}
