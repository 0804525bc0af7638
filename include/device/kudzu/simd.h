// SIMD video functions: two halfwords or four bytes in a word; and the DPX functions on words and pairs of halfwords.
#ifndef KUDZU_SIMD_H
#define KUDZU_SIMD_H
#pragma GCC system_header

#include "intrinsics.h"

namespace __kudzu {

// Applies f to the elements of N bits of a, b and c as signed or unsigned numbers, and puts the low N bits of its results in
// their places.
template <int N, bool Signed> KUDZU_HD int lane(unsigned int v, int i) {
  return Signed ? (int)(v << (32 - N - i * N)) >> (32 - N) : (int)(v >> i * N & ((1u << N) - 1));
}
template <int N, bool Signed, class F>
static __host__ __device__ __forceinline__ unsigned int lanes(unsigned int a, unsigned int b, unsigned int c, F f) {
  unsigned int r = 0;
#pragma unroll
  for (int i = 0; i < 32 / N; i++)
    r |= ((unsigned int)f(lane<N, Signed>(a, i), lane<N, Signed>(b, i), lane<N, Signed>(c, i)) & ((1u << N) - 1)) << i * N;
  return r;
}
KUDZU_HD int within(int v, int low, int high) { return v < low ? low : v > high ? high : v; }

}  // namespace __kudzu

// For halfwords and bytes: least and most are those of signed numbers, umost the largest unsigned one.
#define KUDZU_LANES(name, n, bits, is_signed, result)                                                                 \
  KUDZU_D unsigned int name##n(unsigned int a, unsigned int b) {                                                      \
    return __kudzu::lanes<bits, is_signed>(a, b, 0, [](int x, int y, int) { return result; });                        \
  }
#define KUDZU_LANES1(name, n, bits, result)                                                                           \
  KUDZU_D unsigned int name##n(unsigned int a) {                                                                      \
    return __kudzu::lanes<bits, true>(a, 0, 0, [](int x, int, int) { return result; });                               \
  }
#define KUDZU_LANES_COMPARE(name, n, bits, is_signed, op)                                                             \
  KUDZU_LANES(__vcmp##name, n, bits, is_signed, x op y ? -1 : 0)                                                      \
  KUDZU_LANES(__vset##name, n, bits, is_signed, x op y ? 1 : 0)
#define KUDZU_LANES_SAD(name, n, bits, is_signed)                                                                     \
  KUDZU_D unsigned int name##n(unsigned int a, unsigned int b) {                                                      \
    unsigned int r = 0;                                                                                               \
    for (int i = 0; i < n; i++) {                                                                                     \
      int d = __kudzu::lane<bits, is_signed>(a, i) - __kudzu::lane<bits, is_signed>(b, i);                            \
      r += (unsigned int)(d < 0 ? -d : d);                                                                            \
    }                                                                                                                 \
    return r;                                                                                                         \
  }
#define KUDZU_VIDEO(n, bits, least, most, umost)                                                                      \
  KUDZU_LANES1(__vabs, n, bits, x < 0 ? -x : x)                                                                       \
  KUDZU_LANES1(__vabsss, n, bits, x == least ? most : x < 0 ? -x : x)                                                 \
  KUDZU_LANES1(__vneg, n, bits, -x)                                                                                   \
  KUDZU_LANES1(__vnegss, n, bits, x == least ? most : -x)                                                             \
  KUDZU_LANES(__vadd, n, bits, false, x + y)                                                                          \
  KUDZU_LANES(__vaddss, n, bits, true, __kudzu::within(x + y, least, most))                                           \
  KUDZU_LANES(__vaddus, n, bits, false, __kudzu::within(x + y, 0, umost))                                             \
  KUDZU_LANES(__vsub, n, bits, false, x - y)                                                                          \
  KUDZU_LANES(__vsubss, n, bits, true, __kudzu::within(x - y, least, most))                                           \
  KUDZU_LANES(__vsubus, n, bits, false, __kudzu::within(x - y, 0, umost))                                             \
  KUDZU_LANES(__vabsdiffs, n, bits, true, x > y ? x - y : y - x)                                                      \
  KUDZU_LANES(__vabsdiffu, n, bits, false, x > y ? x - y : y - x)                                                     \
  KUDZU_LANES(__vavgs, n, bits, true, (x + y + (x + y >= 0)) >> 1)                                                    \
  KUDZU_LANES(__vavgu, n, bits, false, (x + y + 1) >> 1)                                                              \
  KUDZU_LANES(__vhaddu, n, bits, false, (x + y) >> 1)                                                                 \
  KUDZU_LANES(__vmaxs, n, bits, true, x > y ? x : y)                                                                  \
  KUDZU_LANES(__vmaxu, n, bits, false, x > y ? x : y)                                                                 \
  KUDZU_LANES(__vmins, n, bits, true, x < y ? x : y)                                                                  \
  KUDZU_LANES(__vminu, n, bits, false, x < y ? x : y)                                                                 \
  KUDZU_LANES_COMPARE(eq, n, bits, false, ==)                                                                         \
  KUDZU_LANES_COMPARE(ne, n, bits, false, !=)                                                                         \
  KUDZU_LANES_COMPARE(ges, n, bits, true, >=)                                                                         \
  KUDZU_LANES_COMPARE(geu, n, bits, false, >=)                                                                        \
  KUDZU_LANES_COMPARE(gts, n, bits, true, >)                                                                          \
  KUDZU_LANES_COMPARE(gtu, n, bits, false, >)                                                                         \
  KUDZU_LANES_COMPARE(les, n, bits, true, <=)                                                                         \
  KUDZU_LANES_COMPARE(leu, n, bits, false, <=)                                                                        \
  KUDZU_LANES_COMPARE(lts, n, bits, true, <)                                                                          \
  KUDZU_LANES_COMPARE(ltu, n, bits, false, <)                                                                         \
  KUDZU_LANES_SAD(__vsads, n, bits, true)                                                                             \
  KUDZU_LANES_SAD(__vsadu, n, bits, false)
KUDZU_VIDEO(2, 16, -32768, 32767, 65535)
KUDZU_VIDEO(4, 8, -128, 127, 255)
#undef KUDZU_VIDEO
#undef KUDZU_LANES_SAD
#undef KUDZU_LANES_COMPARE
#undef KUDZU_LANES1
#undef KUDZU_LANES

// DPX: sums, maxima and minima in one step; _relu does not go below 0.
#define KUDZU_DPX(T, sfx, is_signed, U)                                                                               \
  KUDZU_HD T __viaddmax_##sfx(T a, T b, T c) { return max_of((T)((U)a + (U)b), c); }                                  \
  KUDZU_HD T __viaddmin_##sfx(T a, T b, T c) { return min_of((T)((U)a + (U)b), c); }                                  \
  KUDZU_HD T __vimax3_##sfx(T a, T b, T c) { return max_of(max_of(a, b), c); }                                        \
  KUDZU_HD T __vimin3_##sfx(T a, T b, T c) { return min_of(min_of(a, b), c); }                                        \
  KUDZU_HD T __vibmax_##sfx(T a, T b, bool *first) {                                                                  \
    *first = a >= b;                                                                                                  \
    return a >= b ? a : b;                                                                                            \
  }                                                                                                                   \
  KUDZU_HD T __vibmin_##sfx(T a, T b, bool *first) {                                                                  \
    *first = a <= b;                                                                                                  \
    return a <= b ? a : b;                                                                                            \
  }
#define max_of(a, b) ((a) > (b) ? (a) : (b))
#define min_of(a, b) ((a) < (b) ? (a) : (b))
KUDZU_DPX(int, s32, true, unsigned int)
KUDZU_DPX(unsigned int, u32, false, unsigned int)
#undef KUDZU_DPX
KUDZU_HD int __vimax_s32_relu(int a, int b) { return max_of(max_of(a, b), 0); }
KUDZU_HD int __vimin_s32_relu(int a, int b) { return max_of(min_of(a, b), 0); }
KUDZU_HD int __vimax3_s32_relu(int a, int b, int c) { return max_of(__vimax3_s32(a, b, c), 0); }
KUDZU_HD int __vimin3_s32_relu(int a, int b, int c) { return max_of(__vimin3_s32(a, b, c), 0); }
KUDZU_HD int __viaddmax_s32_relu(int a, int b, int c) { return max_of(__viaddmax_s32(a, b, c), 0); }
KUDZU_HD int __viaddmin_s32_relu(int a, int b, int c) { return max_of(__viaddmin_s32(a, b, c), 0); }

#define KUDZU_DPX2(name, is_signed, result)                                                                           \
  KUDZU_HD unsigned int name(unsigned int a, unsigned int b, unsigned int c) {                                        \
    return __kudzu::lanes<16, is_signed>(a, b, c, [](int x, int y, int z) { return result; });                        \
  }
#define KUDZU_DPX2_TWO(name, is_signed, result)                                                                       \
  KUDZU_HD unsigned int name(unsigned int a, unsigned int b) {                                                        \
    return __kudzu::lanes<16, is_signed>(a, b, 0, [](int x, int y, int) { return result; });                          \
  }
KUDZU_DPX2(__vimax3_s16x2, true, max_of(max_of(x, y), z))
KUDZU_DPX2(__vimax3_u16x2, false, max_of(max_of(x, y), z))
KUDZU_DPX2(__vimin3_s16x2, true, min_of(min_of(x, y), z))
KUDZU_DPX2(__vimin3_u16x2, false, min_of(min_of(x, y), z))
KUDZU_DPX2(__vimax3_s16x2_relu, true, max_of(max_of(max_of(x, y), z), 0))
KUDZU_DPX2(__vimin3_s16x2_relu, true, max_of(min_of(min_of(x, y), z), 0))
KUDZU_DPX2_TWO(__vimax_s16x2_relu, true, max_of(max_of(x, y), 0))
KUDZU_DPX2_TWO(__vimin_s16x2_relu, true, max_of(min_of(x, y), 0))
KUDZU_DPX2(__viaddmax_s16x2, true, max_of((short)(x + y), z))
KUDZU_DPX2(__viaddmax_u16x2, false, max_of((x + y) & 0xffff, z))
KUDZU_DPX2(__viaddmin_s16x2, true, min_of((short)(x + y), z))
KUDZU_DPX2(__viaddmin_u16x2, false, min_of((x + y) & 0xffff, z))
KUDZU_DPX2(__viaddmax_s16x2_relu, true, max_of(max_of((short)(x + y), z), 0))
KUDZU_DPX2(__viaddmin_s16x2_relu, true, max_of(min_of((short)(x + y), z), 0))
#undef KUDZU_DPX2
#undef KUDZU_DPX2_TWO
#define KUDZU_DPX2_PRED(name, is_signed, op)                                                                          \
  KUDZU_HD unsigned int name(unsigned int a, unsigned int b, bool *high, bool *low) {                                 \
    int x0 = __kudzu::lane<16, is_signed>(a, 0), y0 = __kudzu::lane<16, is_signed>(b, 0);                             \
    int x1 = __kudzu::lane<16, is_signed>(a, 1), y1 = __kudzu::lane<16, is_signed>(b, 1);                             \
    *low = x0 op y0;                                                                                                  \
    *high = x1 op y1;                                                                                                 \
    return ((unsigned int)(*low ? x0 : y0) & 0xffff) | (unsigned int)(*high ? x1 : y1) << 16;                         \
  }
KUDZU_DPX2_PRED(__vibmax_s16x2, true, >=)
KUDZU_DPX2_PRED(__vibmax_u16x2, false, >=)
KUDZU_DPX2_PRED(__vibmin_s16x2, true, <=)
KUDZU_DPX2_PRED(__vibmin_u16x2, false, <=)
#undef KUDZU_DPX2_PRED
#undef max_of
#undef min_of

#endif
