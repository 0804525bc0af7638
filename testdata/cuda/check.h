// What the CUDA sources of this folder check themselves with. A source has one kernel, test, and its first comment names the
// launch. The result buffer: failures, checks, then line, got, want of the first failures.
#pragma once

typedef unsigned long long u64;
typedef unsigned int u32;

struct Checks {
  u64 *out;
  template <class T> __device__ static u64 bits(T v) {
    u64 b = 0;
    static_assert(sizeof(T) <= 8, "");
    memcpy(&b, &v, sizeof(T));
    return b;
  }
  __device__ __noinline__ void bits_equal(int line, u64 got, u64 want) const {
    atomicAdd(out + 1, 1ull);
    if (got == want) return;
    u64 n = atomicAdd(out, 1ull);
    if (n >= 20) return;
    out[2 + 3 * n] = line;
    out[3 + 3 * n] = got;
    out[4 + 3 * n] = want;
  }
  // Equal bits after both have the type of the first.
  template <class T, class W> __device__ void equal(int line, T got, W want) const {
    bits_equal(line, bits<T>(got), bits<T>((T)want));
  }
  // Within n units in the last place of want, by the distance of the bits.
  __device__ void near_float(int line, float got, float want, u32 n) const {
    int a = bits(got), b = bits(want);
    u32 d = a > b ? a - b : b - a;
    bits_equal(line, d <= n ? bits(want) : bits(got), bits(want));
  }
  __device__ void near_double(int line, double got, double want, u64 n) const {
    long long a = bits(got), b = bits(want);
    u64 d = a > b ? a - b : b - a;
    bits_equal(line, d <= n ? bits(want) : bits(got), bits(want));
  }
};

#define EQ(got, want) check.equal(__LINE__, got, want)
#define TRUE(x) check.equal(__LINE__, (bool)(x), true)
#define NEARF(got, want, ulp) check.near_float(__LINE__, got, want, ulp)
#define NEAR(got, want, ulp) check.near_double(__LINE__, got, want, ulp)
#define TEST()                                                                                                        \
  static __device__ void body(const Checks &check);                                                    \
  extern "C" __global__ void test(u64 *out) { body(Checks{out}); }                                                    \
  static __device__ void body(const Checks &check)
