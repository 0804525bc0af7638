// test<<<1,32>>>(o[64]u64)
// More that no other source calls: classes of floats, a cluster of one block, types of small floats, aligned vectors, skips of
// sequences, barriers by number.
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <curand_kernel.h>
#include "check.h"

namespace cg = cooperative_groups;

__shared__ int word;

static __device__ void floats(const Checks &check, float one) {
  const float inf = __int_as_float(0x7f800000), nan = __int_as_float(0x7fc00000), x = -2.5f * one;
  const double dinf = inf, dnan = nan, dx = x;
  TRUE(__finitef(x) && !__finitef(inf) && !__finitef(nan));
  TRUE(__finite(dx) && !__finite(dinf) && !__finite(dnan));
  TRUE(__isfinited(dx) && !__isfinited(dinf) && !__isfinited(dnan));
  TRUE(__isinff(inf) && !__isinff(nan) && !__isinff(x));
  TRUE(__isinf(-dinf) && !__isinf(dnan) && !__isinf(dx));
  TRUE(__isnanf(nan) && !__isnanf(inf) && !__isnanf(x));
  TRUE(__isnan(dnan) && !__isnan(dinf) && !__isnan(dx));
  TRUE(__signbitf(x) && !__signbitf(one) && __signbitf(-0.f * one));
  TRUE(__signbit(dx) && !__signbit((double)one));
  TRUE(__signbitd(dx) && !__signbitd((double)one));
  EQ(powif(x, 3), -15.625f);
  EQ(powif(2.f * one, -2), 0.25f);
  EQ(powi(dx, 2), 6.25);
  EQ(powi(4.0 * one, -1), 0.25);
  float t = __half2float(htanh_approx(__float2half(0.5f * one)));
  TRUE(fabsf(t - 0.46211716f) < 1.f / 512);
  __half2 p = h2tanh_approx(__floats2half2_rn(0.5f * one, 0.f));
  TRUE(fabsf(__low2float(p) - 0.46211716f) < 1.f / 512);
  EQ(__high2float(p), 0.f);
}

static __device__ void smalls(const Checks &check, float one) {
  float2 f = make_float2(1.5f * one, -3);
  float4 q = make_float4(1.5f * one, -3, 0.5f, 2);
  EQ((int)__nv_fp4x2_e2m1(f).__x, 0xd3);
  EQ((int)__nv_fp6x2_e2m3(f).__x, 52 << 8 | 12);
  EQ((int)__nv_fp6x2_e3m2(f).__x, 50 << 8 | 14);
  EQ((u32)__nv_fp6x4_e2m3(q).__x, 16u << 24 | 4 << 16 | 52 << 8 | 12);
  EQ((u32)__nv_fp6x4_e3m2(q).__x, 16u << 24 | 8 << 16 | 50 << 8 | 14);
  EQ((int)__nv_fp8x2_e5m2(f).__x, 0xc2 << 8 | 0x3e);
  EQ((int)__nv_fp8_e8m0(8.f * one).__x, 130);
}

template <class V> static __device__ u64 aligned_sum(V v) { return (u64)v.x + (u64)v.y * 2 + (u64)v.z * 3 + (u64)v.w * 4 + alignof(V) * 1000; }

static __device__ void sequences(const Checks &check) {
  curandStateXORWOW_t a, b;
  curand_init(5, 0, 0, &a);
  curand_init(5, 3, 0, &b);
  skipahead_sequence(3, &a);
  EQ(curand(&a), curand(&b));
  curandStatePhilox4_32_10_t c, d;
  curand_init(5, 0, 0, &c);
  curand_init(5, 2, 0, &d);
  skipahead_sequence(2, &c);
  EQ(curand(&c), curand(&d));
  curandStateMRG32k3a_t e, f;
  curand_init(5, 0, 0, &e);
  curand_init(5, 4, 0, &f);
  skipahead_subsequence(4, &e);
  EQ(curand(&e), curand(&f));
  curand_init(9, 1, 0, &a);
  curand_init(9, 1, 0, &b);
  float2 l = curand_log_normal2(&a, 0.5f, 2.f), n = curand_normal2(&b);
  NEARF(l.x, expf(0.5f + 2.f * n.x), 2);
  NEARF(l.y, expf(0.5f + 2.f * n.y), 2);
  double2 ld = curand_log_normal2_double(&a, 0.5, 2.), nd = curand_normal2_double(&b);
  NEAR(ld.x, exp(0.5 + 2. * nd.x), 2);
  NEAR(ld.y, exp(0.5 + 2. * nd.y), 2);
}

TEST() {
  const float one = (float)(blockDim.x / 32);
  if (threadIdx.x == 0) {
    floats(check, one);
    smalls(check, one);
    sequences(check);
    EQ(aligned_sum(make_double4_16a(1, 2, 3, 4)), 16030);
    EQ(aligned_sum(make_double4_32a(1, 2, 3, 4)), 32030);
    EQ(aligned_sum(make_long4_16a(1, 2, 3, 4)), 16030);
    EQ(aligned_sum(make_long4_32a(1, 2, 3, 4)), 32030);
    EQ(aligned_sum(make_ulong4_16a(1, 2, 3, 4)), 16030);
    EQ(aligned_sum(make_ulong4_32a(1, 2, 3, 4)), 32030);
    EQ(aligned_sum(make_longlong4_16a(1, 2, 3, 4)), 16030);
    EQ(aligned_sum(make_longlong4_32a(1, 2, 3, 4)), 32030);
    EQ(aligned_sum(make_ulonglong4_16a(1, 2, 3, 4)), 16030);
    EQ(aligned_sum(make_ulonglong4_32a(1, 2, 3, 4)), 32030);
    dim3 at = __clusterRelativeBlockIdx();
    EQ(at.x + at.y + at.z, 0u);
    int *there = (int *)__cluster_map_shared_rank(&word, 0);
    *there = 77;
    EQ(word, 77);
    EQ(__cluster_query_shared_rank(&word), 0u);
    TRUE(__isClusterShared(&word));
    TRUE(!__isClusterShared(check.out));
  }
  __barrier_sync(0);
  __barrier_sync_count(1, 32);
  EQ(word, 77);
}
