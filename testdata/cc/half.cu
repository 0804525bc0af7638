// Half precision and bfloat16.
#include "cc.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void k(float *o) {
  int t = threadIdx.x;
  __half h = __float2half(t * 0.37f), g = __hfma(h, h, __float2half(1.0f));
  __half2 p = __hadd2(__halves2half2(h, g), __float2half2_rn(0.5f));
  __nv_bfloat16 b = __float2bfloat16(t * 1.7f);
  o[t] = __half2float(g) + __low2float(p) * 2 + __high2float(p) * 3 + (float)(b * b) + (__hgt(h, g) ? 1000 : 0);
}
int main() {
  Array<float> o(8);
  k<<<1, 8>>>(o);
  for (float v : o.get()) printf("%.6g ", v);
  printf("%g %g\n", __half2float(__float2half(0.1f)), __bfloat162float(__float2bfloat16(0.1f)));
}
