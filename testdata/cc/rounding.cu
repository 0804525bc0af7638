// flags: -fmad=false
// Additions and products with a rounding, and without fused ones.
#include "cc.h"
__global__ void k(float *o, double *d, float a, float b, float c) {
  o[0] = a * b + c;
  o[1] = __fadd_ru(a, b);
  o[2] = __fmul_rd(a, b);
  o[3] = __fmaf_rz(a, b, c);
  o[4] = __fdiv_rn(a, b);
  o[5] = __fsqrt_ru(a);
  d[0] = __dadd_rd(a, 1e-17);
  d[1] = __dmul_ru(a, 1.1);
  d[2] = __ddiv_rn(a, b);
  d[3] = (double)a * b + c;
}
int main() {
  Array<float> o(6);
  Array<double> d(4);
  k<<<1, 1>>>(o, d, 1.1f, 3.3f, -3.6299999f);
  for (float v : o.get()) printf("%a ", v);
  for (double v : d.get()) printf("%a ", v);
  printf("\n");
}
