// Random numbers on the device: XORWOW, Philox 4x32-10, MRG32k3a, Sobol sequences, and their distributions. Integers and
// uniform numbers have the sequences of the host library; the rest agrees to the precision of the math functions. Poisson's
// distribution is right, but its sequence is our own.
#ifndef KUDZU_CURAND_KERNEL_H
#define KUDZU_CURAND_KERNEL_H
#pragma GCC system_header

#define CURAND_KERNEL_H_
#include "cuda_runtime.h"
#include "kudzu/xorwow_tables.h"

// What the normal distribution keeps of a pair.
#define KUDZU_SPARE                                                                                                   \
  int boxmuller_flag;                                                                                                 \
  int boxmuller_flag_double;                                                                                          \
  float boxmuller_extra;                                                                                              \
  double boxmuller_extra_double;

struct curandStateXORWOW {
  unsigned int d, v[5];
  KUDZU_SPARE
};
struct curandStatePhilox4_32_10 {
  uint4 ctr;
  uint4 output;
  uint2 key;
  unsigned int STATE;
  KUDZU_SPARE
};
struct curandStateMRG32k3a {
  unsigned int s1[3];
  unsigned int s2[3];
  KUDZU_SPARE
};
struct curandStateSobol32 {
  unsigned int i, x, c;
  unsigned int direction_vectors[32];
};
struct curandStateSobol64 {
  unsigned long long i, x, c;
  unsigned long long direction_vectors[64];
};
#undef KUDZU_SPARE
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandState;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStateSobol32 curandStateSobol32_t;
typedef curandStateSobol32 curandStateScrambledSobol32_t;
typedef curandStateSobol32 curandStateScrambledSobol32;
typedef curandStateSobol64 curandStateSobol64_t;
typedef curandStateSobol64 curandStateScrambledSobol64_t;
typedef curandStateSobol64 curandStateScrambledSobol64;
#ifndef KUDZU_CURAND_VECTORS
#define KUDZU_CURAND_VECTORS
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
#endif

#define KUDZU_R static __device__ __inline__

template <class S> KUDZU_R void __kudzu_no_spare(S *s) {
  s->boxmuller_flag = 0;
  s->boxmuller_flag_double = 0;
  s->boxmuller_extra = 0;
  s->boxmuller_extra_double = 0;
}

// XORWOW: a shift register of 160 bits and a counter.
KUDZU_R unsigned int curand(curandStateXORWOW *s) {
  unsigned int t = s->v[0] ^ (s->v[0] >> 2);
  s->v[0] = s->v[1];
  s->v[1] = s->v[2];
  s->v[2] = s->v[3];
  s->v[3] = s->v[4];
  s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
  s->d += 362437;
  return s->v[4] + s->d;
}

namespace __kudzu {
namespace xorwow {
struct poly {
  unsigned int w[5];
};
// a * b modulo the characteristic polynomial
KUDZU_R poly product(const poly &a, const unsigned int *b) {
  poly r = {};
  for (int i = 159; i >= 0; i--) {
    unsigned int over = 0u - (r.w[4] >> 31), take = 0u - (b[i / 32] >> i % 32 & 1);
    for (int j = 4; j > 0; j--) r.w[j] = (r.w[j] << 1 | r.w[j - 1] >> 31) ^ (characteristic[j] & over) ^ (a.w[j] & take);
    r.w[0] = r.w[0] << 1 ^ (characteristic[0] & over) ^ (a.w[0] & take);
  }
  return r;
}
// Moves the register by n times the step of the table: the power of x as a sum of states.
KUDZU_R void jump(unsigned int *v, unsigned long long n, const unsigned int (*table)[5]) {
  if (n == 0) return;
  poly p = {{1}};
  for (int k = 0; n; n >>= 1, k++)
    if (n & 1) p = product(p, table[k]);
  unsigned int r[5] = {};
  curandStateXORWOW s;
  s.d = 0;
  for (int j = 0; j < 5; j++) s.v[j] = v[j];
  for (int i = 0; i < 160; i++) {
    unsigned int take = 0u - (p.w[i / 32] >> i % 32 & 1);
    for (int j = 0; j < 5; j++) r[j] ^= s.v[j] & take;
    curand(&s);
  }
  for (int j = 0; j < 5; j++) v[j] = r[j];
}
}  // namespace xorwow
}  // namespace __kudzu

KUDZU_R void skipahead(unsigned long long n, curandStateXORWOW *s) {
  __kudzu::xorwow::jump(s->v, n, __kudzu::xorwow::steps);
  s->d += 362437u * (unsigned int)n;
}
// A sequence is 2^67 numbers; the counter is then where it was.
KUDZU_R void skipahead_sequence(unsigned long long n, curandStateXORWOW *s) {
  __kudzu::xorwow::jump(s->v, n, __kudzu::xorwow::sequences);
}
KUDZU_R void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateXORWOW *s) {
  unsigned int s0 = (unsigned int)seed ^ 0xaad26b49u, s1 = (unsigned int)(seed >> 32) ^ 0xf7dcefddu;
  unsigned int t0 = 1099087573u * s0, t1 = 2591861531u * s1;
  s->d = 6615241u + t1 + t0;
  s->v[0] = 123456789u + t0;
  s->v[1] = 362436069u ^ t0;
  s->v[2] = 521288629u + t1;
  s->v[3] = 88675123u ^ t1;
  s->v[4] = 5783321u + t0;
  __kudzu_no_spare(s);
  skipahead_sequence(sequence, s);
  skipahead(offset, s);
}

// Philox: a counter, mixed ten times.
KUDZU_R uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
#pragma unroll
  for (int i = 0; i < 10; i++) {
    unsigned long long a = (unsigned long long)0xD2511F53u * c.x, b = (unsigned long long)0xCD9E8D57u * c.z;
    c = uint4{(unsigned int)(b >> 32) ^ c.y ^ k.x, (unsigned int)b, (unsigned int)(a >> 32) ^ c.w ^ k.y, (unsigned int)a};
    k.x += 0x9E3779B9u;
    k.y += 0xBB67AE85u;
  }
  return c;
}
// Adds to the lower half of the counter, with the carry; the upper half numbers the sequences.
KUDZU_R void __kudzu_philox_add(curandStatePhilox4_32_10 *s, unsigned long long n) {
  unsigned long long low = (unsigned long long)s->ctr.y << 32 | s->ctr.x, sum = low + n;
  s->ctr.x = (unsigned int)sum;
  s->ctr.y = (unsigned int)(sum >> 32);
  if (sum < low && ++s->ctr.z == 0) ++s->ctr.w;
}
KUDZU_R void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s) {
  s->STATE += (unsigned int)(n & 3);
  n /= 4;
  if (s->STATE > 3) {
    n++;
    s->STATE -= 4;
  }
  __kudzu_philox_add(s, n);
  s->output = curand_Philox4x32_10(s->ctr, s->key);
}
KUDZU_R void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *s) {
  unsigned long long high = ((unsigned long long)s->ctr.w << 32 | s->ctr.z) + n;
  s->ctr.z = (unsigned int)high;
  s->ctr.w = (unsigned int)(high >> 32);
  s->output = curand_Philox4x32_10(s->ctr, s->key);
}
KUDZU_R void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStatePhilox4_32_10 *s) {
  s->ctr = uint4{0, 0, 0, 0};
  s->key = uint2{(unsigned int)seed, (unsigned int)(seed >> 32)};
  s->STATE = 0;
  __kudzu_no_spare(s);
  skipahead_sequence(sequence, s);
  skipahead(offset, s);
}
KUDZU_R unsigned int curand(curandStatePhilox4_32_10 *s) {
  unsigned int r = s->STATE == 0 ? s->output.x : s->STATE == 1 ? s->output.y : s->STATE == 2 ? s->output.z : s->output.w;
  if (++s->STATE == 4) {
    s->STATE = 0;
    __kudzu_philox_add(s, 1);
    s->output = curand_Philox4x32_10(s->ctr, s->key);
  }
  return r;
}
// Four numbers, from where the state is.
KUDZU_R uint4 curand4(curandStatePhilox4_32_10 *s) {
  uint4 a = s->output;
  __kudzu_philox_add(s, 1);
  uint4 b = s->output = curand_Philox4x32_10(s->ctr, s->key);
  switch (s->STATE) {
  case 1: return uint4{a.y, a.z, a.w, b.x};
  case 2: return uint4{a.z, a.w, b.x, b.y};
  case 3: return uint4{a.w, b.x, b.y, b.z};
  default: return a;
  }
}

// MRG32k3a: two recurrences of order three.
namespace __kudzu {
namespace mrg {
constexpr unsigned long long m1 = 4294967087ull, m2 = 4294944443ull;
struct matrix {
  unsigned int a[3][3];
};
KUDZU_R matrix product(const matrix &x, const matrix &y, unsigned long long m) {
  matrix r;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      unsigned long long t = 0;
      for (int k = 0; k < 3; k++) t = (t + (unsigned long long)x.a[i][k] * y.a[k][j] % m) % m;
      r.a[i][j] = (unsigned int)t;
    }
  return r;
}
// Multiplies a state by a matrix to the power n.
KUDZU_R void jump(unsigned int *s, matrix p, unsigned long long n, unsigned long long m) {
  for (; n; n >>= 1, p = product(p, p, m)) {
    if (!(n & 1)) continue;
    unsigned int r[3];
    for (int i = 0; i < 3; i++) {
      unsigned long long t = 0;
      for (int k = 0; k < 3; k++) t = (t + (unsigned long long)p.a[i][k] * s[k] % m) % m;
      r[i] = (unsigned int)t;
    }
    for (int i = 0; i < 3; i++) s[i] = r[i];
  }
}
}  // namespace mrg
}  // namespace __kudzu

KUDZU_R double curand_MRG32k3a(curandStateMRG32k3a *s) {
  using namespace __kudzu::mrg;
  unsigned int p1 = (unsigned int)((1403580ull * s->s1[1] + (m1 - 810728ull) * s->s1[0]) % m1);
  unsigned int p2 = (unsigned int)((527612ull * s->s2[2] + (m2 - 1370589ull) * s->s2[0] % m2) % m2);
  s->s1[0] = s->s1[1];
  s->s1[1] = s->s1[2];
  s->s1[2] = p1;
  s->s2[0] = s->s2[1];
  s->s2[1] = s->s2[2];
  s->s2[2] = p2;
  long long d = (long long)p1 - (long long)p2;
  return (double)(d <= 0 ? d + (long long)m1 : d);
}
KUDZU_R unsigned int curand(curandStateMRG32k3a *s) { return (unsigned int)(curand_MRG32k3a(s) * 1.000000048662); }
KUDZU_R void skipahead(unsigned long long n, curandStateMRG32k3a *s) {
  __kudzu::mrg::jump(s->s1, {{{0, 1, 0}, {0, 0, 1}, {4294967087u - 810728u, 1403580u, 0}}}, n, __kudzu::mrg::m1);
  __kudzu::mrg::jump(s->s2, {{{0, 1, 0}, {0, 0, 1}, {4294944443u - 1370589u, 0, 527612u}}}, n, __kudzu::mrg::m2);
}
// 2^76 numbers
KUDZU_R void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a *s) {
  __kudzu::mrg::jump(s->s1,
                     {{{82758667u, 1871391091u, 4127413238u}, {3672831523u, 69195019u, 1871391091u}, {3672091415u, 3528743235u, 69195019u}}},
                     n, __kudzu::mrg::m1);
  __kudzu::mrg::jump(s->s2,
                     {{{1511326704u, 3759209742u, 1610795712u}, {4292754251u, 1511326704u, 3889917532u}, {3859662829u, 4292754251u, 3708466080u}}},
                     n, __kudzu::mrg::m2);
}
// 2^127 numbers
KUDZU_R void skipahead_sequence(unsigned long long n, curandStateMRG32k3a *s) {
  __kudzu::mrg::jump(s->s1,
                     {{{2427906178u, 3580155704u, 949770784u}, {226153695u, 1230515664u, 3580155704u}, {1988835001u, 986791581u, 1230515664u}}},
                     n, __kudzu::mrg::m1);
  __kudzu::mrg::jump(s->s2,
                     {{{1464411153u, 277697599u, 1610723613u}, {32183930u, 1464411153u, 1022607788u}, {2824425944u, 32183930u, 2093834863u}}},
                     n, __kudzu::mrg::m2);
}
KUDZU_R void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset, curandStateMRG32k3a *s) {
  for (int i = 0; i < 3; i++) s->s1[i] = s->s2[i] = 12345;
  if (seed) {
    unsigned long long a = (unsigned int)seed ^ 0x55555555u, b = (unsigned int)(seed >> 32) ^ 0xAAAAAAAAu;
    s->s1[0] = s->s1[2] = (unsigned int)(a * 12345 % __kudzu::mrg::m1);
    s->s1[1] = (unsigned int)(b * 12345 % __kudzu::mrg::m1);
    s->s2[0] = s->s2[2] = (unsigned int)(b * 12345 % __kudzu::mrg::m2);
    s->s2[1] = (unsigned int)(a * 12345 % __kudzu::mrg::m2);
  }
  __kudzu_no_spare(s);
  skipahead_subsequence(sequence, s);
  skipahead(offset, s);
}

// Sobol: number i is the exclusive or of the direction vectors that the Gray code of i names.
#define KUDZU_SOBOL(S, W, bits, ctz)                                                                                  \
  KUDZU_R void skipahead(W n, S *s) {                                                                                 \
    s->i += n;                                                                                                        \
    s->x = s->c;                                                                                                      \
    W gray = s->i ^ (s->i >> 1);                                                                                      \
    for (int k = 0; k < bits; k++)                                                                                    \
      if (gray >> k & 1) s->x ^= s->direction_vectors[k];                                                             \
  }                                                                                                                   \
  KUDZU_R void curand_init(const W *vectors, W scramble, W offset, S *s) {                                            \
    for (int k = 0; k < bits; k++) s->direction_vectors[k] = vectors[k];                                              \
    s->i = 0;                                                                                                         \
    s->x = s->c = scramble;                                                                                           \
    skipahead(offset, s);                                                                                             \
  }                                                                                                                   \
  KUDZU_R void curand_init(const W *vectors, W offset, S *s) { curand_init(vectors, (W)0, offset, s); }               \
  KUDZU_R W curand(S *s) {                                                                                            \
    W r = s->x;                                                                                                       \
    s->x ^= s->direction_vectors[s->i == (W)~(W)0 ? bits - 1 : ctz((W)~s->i)];                                        \
    s->i++;                                                                                                           \
    return r;                                                                                                         \
  }
KUDZU_SOBOL(curandStateSobol32, unsigned int, 32, __builtin_ctz)
KUDZU_SOBOL(curandStateSobol64, unsigned long long, 64, __builtin_ctzll)
#undef KUDZU_SOBOL

// Uniform numbers in (0, 1]. Two integers make a double.
namespace __kudzu {
KUDZU_R float uniform(unsigned int x) { return (float)x * 2.3283064365386963e-10f + 1.1641532182693481e-10f; }
KUDZU_R double uniform_double(unsigned int x, unsigned int y) {
  unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << 21);
  return (double)z * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
KUDZU_R float2 box_muller(float u, float v) {
  float s = __fsqrt_rn(-2.0f * __nv_logf(u)), a, b;
  __nv_sincosf(v * 6.2831853071795860f, &a, &b);
  return float2{s * a, s * b};
}
KUDZU_R double2 box_muller_double(double u, double v) {
  double s = __dsqrt_rn(-2.0 * __nv_log(u)), a, b;
  __nv_sincospi(v * 2.0, &a, &b);
  return double2{s * a, s * b};
}
}  // namespace __kudzu

KUDZU_R float curand_uniform(curandStateXORWOW *s) { return __kudzu::uniform(curand(s)); }
KUDZU_R float curand_uniform(curandStatePhilox4_32_10 *s) { return __kudzu::uniform(curand(s)); }
KUDZU_R float curand_uniform(curandStateMRG32k3a *s) { return (float)(curand_MRG32k3a(s) * 2.328306549295728e-10); }
KUDZU_R float curand_uniform(curandStateSobol32 *s) { return __kudzu::uniform(curand(s)); }
KUDZU_R float curand_uniform(curandStateSobol64 *s) { return __kudzu::uniform((unsigned int)(curand(s) >> 32)); }
KUDZU_R double curand_uniform_double(curandStateXORWOW *s) {
  unsigned int x = curand(s), y = curand(s);
  return __kudzu::uniform_double(x, y);
}
KUDZU_R double curand_uniform_double(curandStatePhilox4_32_10 *s) {
  unsigned int x = curand(s), y = curand(s);
  return __kudzu::uniform_double(x, y);
}
KUDZU_R double curand_uniform_double(curandStateMRG32k3a *s) { return curand_MRG32k3a(s) * 2.3283065498378288e-10; }
KUDZU_R double curand_uniform_double(curandStateSobol32 *s) {
  return (double)curand(s) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
}
KUDZU_R double curand_uniform_double(curandStateSobol64 *s) {
  return (double)(curand(s) >> 11) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
}
KUDZU_R float4 curand_uniform4(curandStatePhilox4_32_10 *s) {
  uint4 x = curand4(s);
  return float4{__kudzu::uniform(x.x), __kudzu::uniform(x.y), __kudzu::uniform(x.z), __kudzu::uniform(x.w)};
}
KUDZU_R double2 curand_uniform2_double(curandStatePhilox4_32_10 *s) {
  uint4 x = curand4(s);
  return double2{__kudzu::uniform_double(x.x, x.y), __kudzu::uniform_double(x.z, x.w)};
}

// Normal numbers in pairs by Box and Muller; one at a time, the second of a pair waits in the state.
#define KUDZU_NORMAL(S)                                                                                               \
  KUDZU_R float2 curand_normal2(S *s) {                                                                               \
    float u = curand_uniform(s), v = curand_uniform(s);                                                               \
    return __kudzu::box_muller(u, v);                                                                                 \
  }                                                                                                                   \
  KUDZU_R double2 curand_normal2_double(S *s) {                                                                       \
    double u = curand_uniform_double(s), v = curand_uniform_double(s);                                                \
    return __kudzu::box_muller_double(u, v);                                                                          \
  }                                                                                                                   \
  KUDZU_R float curand_normal(S *s) {                                                                                 \
    if (s->boxmuller_flag) {                                                                                          \
      s->boxmuller_flag = 0;                                                                                          \
      return s->boxmuller_extra;                                                                                      \
    }                                                                                                                 \
    float2 p = curand_normal2(s);                                                                                     \
    s->boxmuller_flag = 1;                                                                                            \
    s->boxmuller_extra = p.y;                                                                                         \
    return p.x;                                                                                                       \
  }                                                                                                                   \
  KUDZU_R double curand_normal_double(S *s) {                                                                         \
    if (s->boxmuller_flag_double) {                                                                                   \
      s->boxmuller_flag_double = 0;                                                                                   \
      return s->boxmuller_extra_double;                                                                               \
    }                                                                                                                 \
    double2 p = curand_normal2_double(s);                                                                             \
    s->boxmuller_flag_double = 1;                                                                                     \
    s->boxmuller_extra_double = p.y;                                                                                  \
    return p.x;                                                                                                       \
  }                                                                                                                   \
  KUDZU_R float2 curand_log_normal2(S *s, float mean, float stddev) {                                                 \
    float2 p = curand_normal2(s);                                                                                     \
    return float2{__nv_expf(mean + stddev * p.x), __nv_expf(mean + stddev * p.y)};                                    \
  }                                                                                                                   \
  KUDZU_R double2 curand_log_normal2_double(S *s, double mean, double stddev) {                                       \
    double2 p = curand_normal2_double(s);                                                                             \
    return double2{__nv_exp(mean + stddev * p.x), __nv_exp(mean + stddev * p.y)};                                     \
  }
KUDZU_NORMAL(curandStateXORWOW)
KUDZU_NORMAL(curandStatePhilox4_32_10)
KUDZU_NORMAL(curandStateMRG32k3a)
#undef KUDZU_NORMAL
KUDZU_R float4 curand_normal4(curandStatePhilox4_32_10 *s) {
  float4 u = curand_uniform4(s);
  float2 a = __kudzu::box_muller(u.x, u.y), b = __kudzu::box_muller(u.z, u.w);
  return float4{a.x, a.y, b.x, b.y};
}
KUDZU_R float4 curand_log_normal4(curandStatePhilox4_32_10 *s, float mean, float stddev) {
  float4 n = curand_normal4(s);
  return float4{__nv_expf(mean + stddev * n.x), __nv_expf(mean + stddev * n.y), __nv_expf(mean + stddev * n.z),
                __nv_expf(mean + stddev * n.w)};
}
// A Sobol sequence must not lose numbers to pairs: the inverse of the distribution.
KUDZU_R float curand_normal(curandStateSobol32 *s) { return __nv_normcdfinvf(curand_uniform(s)); }
KUDZU_R float curand_normal(curandStateSobol64 *s) { return __nv_normcdfinvf(curand_uniform(s)); }
KUDZU_R double curand_normal_double(curandStateSobol32 *s) { return __nv_normcdfinv(curand_uniform_double(s)); }
KUDZU_R double curand_normal_double(curandStateSobol64 *s) { return __nv_normcdfinv(curand_uniform_double(s)); }
template <class S> KUDZU_R float curand_log_normal(S *s, float mean, float stddev) {
  return __nv_expf(mean + stddev * curand_normal(s));
}
template <class S> KUDZU_R double curand_log_normal_double(S *s, double mean, double stddev) {
  return __nv_exp(mean + stddev * curand_normal_double(s));
}

// Poisson: for small means the number of uniform factors until their product is below e^-lambda; for others Hörmann's
// transformed rejection (PTRS).
template <class S> KUDZU_R unsigned int curand_poisson(S *s, double lambda) {
  if (lambda < 16) {
    double limit = __nv_exp(-lambda), p = 1;
    unsigned int n = 0;
    while ((p *= curand_uniform(s)) > limit) n++;
    return n;
  }
  double root = __dsqrt_rn(lambda), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
  double inverse = 1.1239 + 1.1328 / (b - 3.4), low = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    double u = curand_uniform(s) - 0.5, v = curand_uniform(s), us = 0.5 - __builtin_fabs(u);
    double k = __builtin_floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= low) return (unsigned int)k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (__nv_log(v) + __nv_log(inverse) - __nv_log(a / (us * us) + b) <= -lambda + k * __nv_log(lambda) - __nv_lgamma(k + 1))
      return (unsigned int)k;
  }
}
KUDZU_R uint4 curand_poisson4(curandStatePhilox4_32_10 *s, double lambda) {
  unsigned int a = curand_poisson(s, lambda), b = curand_poisson(s, lambda), c = curand_poisson(s, lambda);
  return uint4{a, b, c, curand_poisson(s, lambda)};
}

#undef KUDZU_R

#endif
