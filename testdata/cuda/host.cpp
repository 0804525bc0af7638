// The types and functions of both sides, with a C++ compiler that knows the host only.
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <stdio.h>

static int failures;
#define EQ(got, want)                                                                                                 \
  do {                                                                                                                \
    if ((got) != (want)) failures++, printf("line %d\n", __LINE__);                                                   \
  } while (0)

int main() {
  for (unsigned int b = 0; b < 0x10000; b++) { // every half and bfloat16, to float and back
    __half h = __ushort_as_half((unsigned short)b);
    if (!__hisnan(h)) EQ(__half_as_ushort(__float2half(__half2float(h))), b);
    __nv_bfloat16 f = __ushort_as_bfloat16((unsigned short)b);
    if (!__hisnan(f)) EQ(__bfloat16_as_ushort(__float2bfloat16(__bfloat162float(f))), b);
  }
  EQ(__half_as_ushort(__float2half(0.1f)), 0x2e66);
  EQ(__half_as_ushort(__hmul(__float2half(0.1f), __float2half(0.1f))), 0x211e);
  EQ(__half_as_ushort(__float2half_ru(0.1f)), 0x2e67);
  EQ(__half_as_ushort(__float2half(65520.0f)), 0x7c00);
  EQ(__half2int_rn(__float2half(2.5f)), 2);
  EQ(__half2float(__hfma(__float2half(2.0f), __float2half(3.0f), __float2half(1.0f))), 7.0f);
  EQ(__low2float(__hadd2(make_half2(__float2half(1.0f), __float2half(2.0f)), __float2half2_rn(1.0f))), 2.0f);
  EQ(__nv_cvt_float_to_fp8(3.3f, __NV_SATFINITE, __NV_E4M3), 0x45);
  EQ((float)__nv_fp8_e5m2(3.0f), 3.0f);
  EQ(cuCabsf(make_cuFloatComplex(3, 4)), 5.0f);
  dim3 d(4);
  EQ(d.x * d.y * d.z, 4u);
  EQ(make_float4(1, 2, 3, 4).w, 4.0f);
  EQ(sizeof(double4), 32u);
  return failures != 0;
}
