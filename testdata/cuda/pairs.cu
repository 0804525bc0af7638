// test<<<1,1>>>(o[64]u64)
// cuComplex.h, math_constants.h, nv/target.
#include <cuComplex.h>
#include <math_constants.h>
#include <nv/target>
#include "check.h"

static __host__ __device__ int side() { NV_IF_TARGET(NV_IS_DEVICE, (return 1;), (return 2;)) }
static __host__ __device__ int bare() { NV_IF_ELSE_TARGET(NV_IS_DEVICE, int n = 3; return n;, int n = 4; return n;) }
static __host__ __device__ int provided() {
  NV_DISPATCH_TARGET(NV_PROVIDES_SM_100, (return 100;), NV_PROVIDES_SM_80, (return 80;), NV_IS_DEVICE, (return 1;), NV_ANY_TARGET,
                     (return 0;))
}

#define NOTHING
#define SOMETHING constexpr int
#if !_NV_ISEMPTY(NOTHING) || _NV_ISEMPTY(SOMETHING)
#error "_NV_ISEMPTY"
#endif

TEST() {
  volatile float one = 1;
  cuFloatComplex a = make_cuFloatComplex(3 * one, 4), b = make_cuComplex(1 * one, -2);
  EQ(cuCrealf(a), 3.0f);
  EQ(cuCimagf(a), 4.0f);
  EQ(cuConjf(a).y, -4.0f);
  EQ(cuCaddf(a, b).y, 2.0f);
  EQ(cuCsubf(a, b).x, 2.0f);
  EQ(cuCmulf(a, b).x, 11.0f);
  EQ(cuCmulf(a, b).y, -2.0f);
  NEARF(cuCdivf(a, b).x, -1.0f, 2);
  NEARF(cuCdivf(a, b).y, 2.0f, 2);
  NEARF(cuCabsf(a), 5.0f, 1);
  EQ(cuCfmaf(a, b, a).x, 14.0f);
  cuDoubleComplex c = make_cuDoubleComplex(3e200 * one, 4e200), d = cuComplexFloatToDouble(b);
  NEAR(cuCabs(c), 5e200, 2);
  EQ(cuCreal(cuCmul(d, d)), -3.0);
  EQ(cuCimag(cuCadd(d, cuConj(d))), 0.0);
  EQ(cuCsub(d, d).x, 0.0);
  NEAR(cuCdiv(c, c).x, 1.0, 2);
  EQ(cuCfma(d, d, d).y, -6.0);
  EQ(cuComplexDoubleToFloat(d).y, -2.0f);
  EQ(__float_as_uint(CUDART_INF_F), 0x7f800000u);
  EQ(CUDART_PI_F, 3.14159274f);
  EQ(CUDART_PI, 3.141592653589793);
  EQ(CUDART_LN2_HI + CUDART_LN2_LO, CUDART_LN2);
  TRUE(CUDART_NAN != CUDART_NAN && CUDART_INF > 1e308);
  EQ(side(), 1);
  EQ(bare(), 3);
  EQ(provided(), 80);
}
