// Numbers of the device's generators.
#include "cc.h"
#include <curand_kernel.h>
__global__ void k(unsigned *o, float *f) {
  int t = threadIdx.x;
  curandStatePhilox4_32_10_t p;
  curand_init(1234, t, 3, &p);
  curandState x;
  curand_init(77, t, 0, &x);
  o[2 * t] = curand(&p) ^ curand(&p);
  o[2 * t + 1] = curand(&x) + curand(&x);
  f[t] = curand_uniform(&p);
}
int main() {
  Array<unsigned> o(16);
  Array<float> f(8);
  k<<<1, 8>>>(o, f);
  for (unsigned v : o.get()) printf("%x ", v);
  for (float v : f.get()) printf("%.6f ", v);
  printf("\n");
}
