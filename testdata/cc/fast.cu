// flags: -use_fast_math
// -use_fast_math, and the functions that it chooses, to few digits.
#include "cc.h"
__global__ void k(float *o) {
  float x = 0.1f + threadIdx.x * 0.3f;
  o[threadIdx.x] = sinf(x) + cosf(x) + expf(x) + logf(x) + x / 3.0f + sqrtf(x) + powf(x, 2.5f);
  o[threadIdx.x + 4] = __fdividef(x, 7.0f) + __expf(x) + __saturatef(x) + __fmul_rn(x, x) + __frcp_rn(x);
}
int main() {
  Array<float> o(8);
  k<<<1, 4>>>(o);
  for (float v : o.get()) printf("%.3f ", v);
  printf("\n");
}
