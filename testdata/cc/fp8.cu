// Eight-bit floats.
#include "cc.h"
#include <cuda_fp8.h>
__global__ void k(float *o) {
  int t = threadIdx.x;
  __nv_fp8_e4m3 a(t * 1.3f - 4);
  __nv_fp8_e5m2 b(t * 100.0f);
  o[t] = (float)a * 1000 + (float)b;
}
int main() {
  Array<float> o(8);
  k<<<1, 8>>>(o);
  for (float v : o.get()) printf("%g ", v);
  printf("%x %x\n", __nv_cvt_float_to_fp8(3.3f, __NV_SATFINITE, __NV_E4M3), __nv_cvt_float_to_fp8(1e9f, __NV_SATFINITE, __NV_E5M2));
}
