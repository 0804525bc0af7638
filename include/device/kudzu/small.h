// Float formats of 8 bits and less: the conversions from double and to float, exact, for both sides.
#ifndef KUDZU_SMALL_H
#define KUDZU_SMALL_H
#pragma GCC system_header

#include "../cuda_bf16.h"

enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };

namespace __kudzu {

KUDZU_HD rounding mode_of(cudaRoundMode m) {
  return m == cudaRoundZero ? zero : m == cudaRoundPosInf ? up : m == cudaRoundMinInf ? down : nearest;
}

// A format: bits of exponent and mantissa, the largest finite value, what a NaN becomes, and what replaces a value past the
// largest one when it is not kept finite.
template <int E, int M, unsigned char Largest, unsigned char NaN, unsigned char Past> struct small {
  static __host__ __device__ __forceinline__ unsigned char of(double v, bool finite, rounding mode = nearest) {
    unsigned long long b = __builtin_bit_cast(unsigned long long, v);
    bool negative = b >> 63;
    if (v != v) return NaN;
    unsigned char sign = negative ? 1u << (E + M) : 0;
    unsigned long long r = (b << 1 >> 53) == 0x7ff ? ~0ull : magnitude<E, M>(v, negative, mode);
    if (r <= Largest) return (unsigned char)(sign | (unsigned char)r);
    return (unsigned char)(sign | (finite ? Largest : Past));
  }
  static __host__ __device__ __forceinline__ float value(unsigned char bits) {
    unsigned char m = bits & ((1u << (E + M)) - 1);
    if (m > Largest) {
      bool infinite = Past != NaN && m == Past;
      unsigned int sign = (unsigned int)(bits >> (E + M) & 1) << 31;
      return __builtin_bit_cast(float, infinite ? sign | 0x7f800000u : 0x7fffffffu);
    }
    return widen_finite<E, M>(bits);
  }
};

typedef small<4, 3, 0x7e, 0x7f, 0x7f> e4m3;
typedef small<5, 2, 0x7b, 0x7f, 0x7c> e5m2;
// Without infinities and NaNs: a NaN becomes the largest value.
typedef small<3, 2, 0x1f, 0x1f, 0x1f> e3m2;
typedef small<2, 3, 0x1f, 0x1f, 0x1f> e2m3;
typedef small<2, 1, 0x07, 0x07, 0x07> e2m1;

}  // namespace __kudzu

// The class of one value: Name holds storage S, whose conversions are of format F. Conversions round to nearest and keep
// values finite.
#define KUDZU_SMALL1(Name, S, F)                                                                                      \
  struct Name {                                                                                                       \
    S __x;                                                                                                            \
    Name() = default;                                                                                                 \
    explicit __host__ __device__ Name(float v) : __x(__kudzu::F::of(v, true)) {}                                      \
    explicit __host__ __device__ Name(double v) : __x(__kudzu::F::of(v, true)) {}                                     \
    explicit __host__ __device__ Name(__half v) : __x(__kudzu::F::of((float)v, true)) {}                              \
    explicit __host__ __device__ Name(__nv_bfloat16 v) : __x(__kudzu::F::of((float)v, true)) {}                       \
    explicit __host__ __device__ Name(short v) : __x(__kudzu::F::of(v, true)) {}                                      \
    explicit __host__ __device__ Name(unsigned short v) : __x(__kudzu::F::of(v, true)) {}                             \
    explicit __host__ __device__ Name(int v) : __x(__kudzu::F::of(v, true)) {}                                        \
    explicit __host__ __device__ Name(unsigned int v) : __x(__kudzu::F::of(v, true)) {}                               \
    explicit __host__ __device__ Name(long v) : __x(__kudzu::F::of(__kudzu::sticky((long long)v), true)) {}           \
    explicit __host__ __device__ Name(unsigned long v)                                                                \
        : __x(__kudzu::F::of(__kudzu::sticky((unsigned long long)v), true)) {}                                        \
    explicit __host__ __device__ Name(long long v) : __x(__kudzu::F::of(__kudzu::sticky(v), true)) {}                 \
    explicit __host__ __device__ Name(unsigned long long v) : __x(__kudzu::F::of(__kudzu::sticky(v), true)) {}        \
    explicit __host__ __device__ operator float() const { return __kudzu::F::value(__x); }                            \
    explicit __host__ __device__ operator double() const { return __kudzu::F::value(__x); }                           \
    explicit __host__ __device__ operator __half() const { return __half(__kudzu::F::value(__x)); }                   \
    explicit __host__ __device__ operator __nv_bfloat16() const { return __nv_bfloat16(__kudzu::F::value(__x)); }     \
    explicit __host__ __device__ operator bool() const { return __kudzu::F::value(__x) != 0; }                        \
    KUDZU_SMALL_TO(signed char, F)                                                                                    \
    KUDZU_SMALL_TO(unsigned char, F)                                                                                  \
    KUDZU_SMALL_TO(char, F)                                                                                           \
    KUDZU_SMALL_TO(short, F)                                                                                          \
    KUDZU_SMALL_TO(unsigned short, F)                                                                                 \
    KUDZU_SMALL_TO(int, F)                                                                                            \
    KUDZU_SMALL_TO(unsigned int, F)                                                                                   \
    KUDZU_SMALL_TO(long, F)                                                                                           \
    KUDZU_SMALL_TO(unsigned long, F)                                                                                  \
    KUDZU_SMALL_TO(long long, F)                                                                                      \
    KUDZU_SMALL_TO(unsigned long long, F)                                                                             \
  };
#define KUDZU_SMALL_TO(T, F)                                                                                          \
  explicit __host__ __device__ operator T() const {                                                                   \
    return __kudzu::to_integer<T, __kudzu::zero>(__kudzu::F::value(__x));                                             \
  }

// Pairs and fours: a value each `step` bits, the first in the lowest.
#define KUDZU_SMALL2(Name, S, F, step)                                                                                \
  struct Name {                                                                                                       \
    S __x;                                                                                                            \
    static __host__ __device__ __forceinline__ S of(double a, double b) {                                             \
      return (S)(__kudzu::F::of(a, true) | __kudzu::F::of(b, true) << step);                                          \
    }                                                                                                                 \
    __host__ __device__ __forceinline__ float at(int i) const {                                                       \
      return __kudzu::F::value((unsigned char)(__x >> i * step & ((1u << step) - 1)));                                \
    }                                                                                                                 \
    Name() = default;                                                                                                 \
    explicit __host__ __device__ Name(float2 v) : __x(of(v.x, v.y)) {}                                                \
    explicit __host__ __device__ Name(double2 v) : __x(of(v.x, v.y)) {}                                               \
    explicit __host__ __device__ Name(__half2 v) : __x(of((float)v.x, (float)v.y)) {}                                 \
    explicit __host__ __device__ Name(__nv_bfloat162 v) : __x(of((float)v.x, (float)v.y)) {}                          \
    explicit __host__ __device__ operator float2() const { return float2{at(0), at(1)}; }                             \
    explicit __host__ __device__ operator __half2() const { return __half2(__half(at(0)), __half(at(1))); }           \
  };
#define KUDZU_SMALL4(Name, S, F, step)                                                                                \
  struct Name {                                                                                                       \
    S __x;                                                                                                            \
    static __host__ __device__ __forceinline__ S of(double a, double b, double c, double d) {                         \
      return (S)(__kudzu::F::of(a, true) | __kudzu::F::of(b, true) << step |                                          \
                 (unsigned int)__kudzu::F::of(c, true) << 2 * step |                                                  \
                 (unsigned int)__kudzu::F::of(d, true) << 3 * step);                                                  \
    }                                                                                                                 \
    __host__ __device__ __forceinline__ float at(int i) const {                                                       \
      return __kudzu::F::value((unsigned char)(__x >> i * step & ((1u << step) - 1)));                                \
    }                                                                                                                 \
    Name() = default;                                                                                                 \
    explicit __host__ __device__ Name(float4 v) : __x(of(v.x, v.y, v.z, v.w)) {}                                      \
    explicit __host__ __device__ Name(double4 v) : __x(of(v.x, v.y, v.z, v.w)) {}                                     \
    explicit __host__ __device__ Name(__half2 lo, __half2 hi)                                                         \
        : __x(of((float)lo.x, (float)lo.y, (float)hi.x, (float)hi.y)) {}                                              \
    explicit __host__ __device__ Name(__nv_bfloat162 lo, __nv_bfloat162 hi)                                           \
        : __x(of((float)lo.x, (float)lo.y, (float)hi.x, (float)hi.y)) {}                                              \
    explicit __host__ __device__ operator float4() const { return float4{at(0), at(1), at(2), at(3)}; }               \
  };

#endif
