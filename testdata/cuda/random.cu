// test<<<1,32>>>(o[64]u64)
// curand_kernel.h: against numbers of cuRAND 10.4's host library (its thread k is sequence k), and jumps against steps.
#include <curand_kernel.h>
#include "check.h"

template <class S> static __device__ void jumps(const Checks &check, u64 seed) {
  S a, b, c;
  curand_init(seed, 3, 0, &a);
  curand_init(seed, 0, 0, &b);
  skipahead(7, &b);
  curand_init(seed, 0, 7, &c);
  EQ(curand(&b), curand(&c));
  curand_init(seed, 0, 0, &b);
  for (int i = 0; i < 137; i++) curand(&b);
  curand_init(seed, 0, 137, &c);
  EQ(curand(&b), curand(&c));
  EQ(curand(&b), curand(&c));
  curand_init(seed, 3, 5, &b);
  for (int i = 0; i < 5; i++) curand(&a);
  EQ(curand(&a), curand(&b));
}
template <class S> static __device__ void ranges(const Checks &check) {
  S s;
  curand_init(99, threadIdx.x, 0, &s);
  double sum = 0, squares = 0, count = 0;
  for (int i = 0; i < 64; i++) {
    float u = curand_uniform(&s);
    double d = curand_uniform_double(&s);
    TRUE(u > 0 && u <= 1 && d > 0 && d <= 1);
    float n = curand_normal(&s);
    sum += n, squares += n * n;
    float2 m = curand_normal2(&s);
    double2 e = curand_normal2_double(&s);
    TRUE(fabsf(m.x) < 7 && fabs(e.y) < 9 && curand_log_normal(&s, 0, 1) > 0 && curand_log_normal_double(&s, 0, 1) > 0);
    TRUE(fabs(curand_normal_double(&s)) < 9);
    count += curand_poisson(&s, 4) + curand_poisson(&s, 100);
  }
  for (int d = 16; d; d /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, d);
    squares += __shfl_xor_sync(0xffffffffu, squares, d);
    count += __shfl_xor_sync(0xffffffffu, count, d);
  }
  TRUE(fabs(sum / 2048) < 0.1 && fabs(squares / 2048 - 1) < 0.15 && fabs(count / 2048 - 104) < 1.2);
}

static __device__ void golden(const Checks &check) {
  curandStateXORWOW_t x;
  const u32 first[8] = {0xbd7f03b6, 0xebc63fb7, 0x09fd3f29, 0xf80df3fd, 0xecd6032e, 0x7244003b, 0xaad56dc0, 0x1c246aca};
  for (int k = 0; k < 8; k++) {
    curand_init(0, k, 0, &x);
    EQ(curand(&x), first[k]);
  }
  curand_init(0, 0, 0, &x);
  EQ(__float_as_uint(curand_uniform(&x)), 0x3f3d7f04u);
  curand_init(0, 0, 0, &x);
  EQ(curand_uniform_double(&x), __longlong_as_double(0x3fdc0f9421be076dll));
  curand_init(0, 0, 0, &x);
  NEARF(curand_normal(&x), __int_as_float(0x3e95c75b), 8);
  NEARF(curand_normal(&x), __int_as_float(0xbf37e660), 8);
  curandStateMRG32k3a_t m;
  curand_init(0, 0, 0, &m);
  EQ(curand(&m), 0x2083cd07u);
  curand_init(0, 1, 0, &m);
  EQ(curand(&m), 0x14537e00u);
  curand_init(42, 2, 0, &m);
  EQ(curand(&m), 0xf789b814u);
  curand_init(0, 0, 0, &m);
  EQ(__float_as_uint(curand_uniform(&m)), 0x3e020f34u);
  curand_init(0, 0, 0, &m);
  EQ(curand_uniform_double(&m), __longlong_as_double(0x3fc041e683c5cd32ll));
  curandStatePhilox4_32_10_t p;
  // the known answer of Random123 for a zero counter and key
  curand_init(0, 0, 0, &p);
  uint4 four = curand4(&p);
  EQ(four.x, 0x6627e8d5u);
  EQ(four.y, 0xe169c58du);
  EQ(four.z, 0xbc57ac4cu);
  EQ(four.w, 0x9b00dbd8u);
  curand_init(0, 0, 2, &p);
  EQ(curand(&p), 0xbc57ac4cu);
  EQ(__float_as_uint(curand_uniform4(&p).x), 0x3f1b00dcu);
  curand_init(5, 0, 0, &p);
  float4 n = curand_normal4(&p);
  TRUE(fabsf(n.x) < 7 && fabsf(n.w) < 7 && curand_log_normal4(&p, 0, 1).z > 0 && curand_uniform2_double(&p).y <= 1);
  TRUE(curand_poisson4(&p, 3).x < 40);
}

static __device__ void sobol(const Checks &check) {
  u32 v[32];
  u64 w[64];
  for (int i = 0; i < 32; i++) v[i] = 1u << (31 - i); // the first dimension: van der Corput's sequence
  for (int i = 0; i < 64; i++) w[i] = 1ull << (63 - i);
  curandStateSobol32_t s;
  curand_init(v, 0u, &s);
  EQ(curand(&s), 0u);
  EQ(curand(&s), 0x80000000u);
  EQ(curand(&s), 0xc0000000u);
  EQ(curand(&s), 0x40000000u);
  EQ(curand(&s), 0x60000000u);
  curand_init(v, 3u, &s);
  EQ(curand_uniform(&s), 0.25f);
  curandStateScrambledSobol32_t t;
  curand_init(v, 5u, 1u, &t);
  EQ(curand(&t), 0x80000005u);
  curand_init(v, 1u, &s);
  TRUE(fabsf(curand_normal(&s)) < 1e-6f);
  curandStateSobol64_t u;
  curand_init(w, 2ull, &u);
  EQ(curand(&u), 0xc000000000000000ull);
  EQ(curand_uniform_double(&u), 0.25 + 5.5511151231257827e-17);
}

TEST() {
  if (threadIdx.x == 0) {
    golden(check);
    sobol(check);
    jumps<curandStateXORWOW_t>(check, 1234567890123456789ull);
    jumps<curandStatePhilox4_32_10_t>(check, 1234567890123456789ull);
    jumps<curandStateMRG32k3a_t>(check, 1234567890123456789ull);
  }
  __syncthreads();
  ranges<curandStateXORWOW_t>(check);
  ranges<curandStatePhilox4_32_10_t>(check);
  ranges<curandStateMRG32k3a_t>(check);
}
