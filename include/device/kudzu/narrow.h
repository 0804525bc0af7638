// Conversions between small float formats and double, exact in every rounding mode, for both sides.
#ifndef KUDZU_NARROW_H
#define KUDZU_NARROW_H
#pragma GCC system_header

#include "keywords.h"

namespace __kudzu {

enum rounding { nearest, zero, down, up };

// What becomes of values past the largest one.
enum overflow { to_infinity, to_largest, to_nan };

// The bits of |v| in a format with E bits of exponent and M of mantissa, rounded, without a sign and with no special
// values: the exponent just goes on. The caller decides where the format ends.
template <int E, int M> KUDZU_HD unsigned long long magnitude(double v, bool negative, rounding mode) {
  const int bias = (1 << (E - 1)) - 1;
  unsigned long long b = __builtin_bit_cast(unsigned long long, v) & 0x7fffffffffffffffull;
  int e = (int)(b >> 52) - 1023;
  unsigned long long sig = b & 0xfffffffffffffull;
  if (e == -1023)
    e = -1022;
  else
    sig |= 1ull << 52;
  int shift = 52 - M;
  if (e < 1 - bias) shift += 1 - bias - e;
  unsigned long long q = shift > 63 ? 0 : sig >> shift;
  unsigned long long rest = shift > 63 ? sig : sig & ((1ull << shift) - 1);
  if (shift > 63) shift = 63; // nothing reaches half a unit there
  unsigned long long half = 1ull << (shift - 1);
  bool more = mode == nearest ? rest > half || (rest == half && (q & 1)) : mode == zero ? false : rest != 0 && negative == (mode == down);
  q += more;
  return e < 1 - bias ? q : q + ((unsigned long long)(e + bias - 1) << M);
}

// The bits of v in a format like IEEE's, with infinities and one NaN.
template <int E, int M> KUDZU_HD unsigned short narrow(double v, rounding mode) {
  const unsigned int inf = ((1u << E) - 1) << M, nan = (1u << (E + M)) - 1;
  unsigned long long b = __builtin_bit_cast(unsigned long long, v);
  bool negative = b >> 63;
  unsigned int sign = negative ? 1u << (E + M) : 0;
  if (v != v) return (unsigned short)nan;
  if ((b << 1 >> 53) == 0x7ff) return (unsigned short)(sign | inf);
  unsigned long long r = magnitude<E, M>(v, negative, mode);
  if (r < inf) return (unsigned short)(sign | (unsigned int)r);
  bool stays = mode == zero || (mode == down && !negative) || (mode == up && negative);
  return (unsigned short)(sign | (stays ? inf - 1 : inf));
}

// The value of bits in a format with E and M; the caller handles infinities and NaNs.
template <int E, int M> KUDZU_HD float widen_finite(unsigned int bits) {
  const int bias = (1 << (E - 1)) - 1;
  unsigned int e = bits >> M & ((1u << E) - 1), m = bits & ((1u << M) - 1);
  unsigned int sign = bits >> (E + M) & 1;
  // 2^k as a float; k is in the normal range for every format but bfloat16, which does not come here
  int k = (e ? (int)e : 1) - bias - M;
  float scale = __builtin_bit_cast(float, (unsigned int)(k + 127) << 23);
  float v = (float)(e ? m | 1u << M : m) * scale;
  return sign ? -v : v;
}

// An integer as a double that rounds to a shorter format as the integer does: bits that do not fit leave an odd one.
KUDZU_HD double sticky(unsigned long long u) {
  if (u >> 53) {
    unsigned long long lost = u & 0x7ff;
    u = (u & ~0x7ffull) | (lost ? 0x800 : 0);
  }
  return (double)u;
}
KUDZU_HD double sticky(long long i) {
  return i < 0 ? -sticky(0ull - (unsigned long long)i) : sticky((unsigned long long)i);
}

// To an integer of the type with a rounding mode; what does not fit is the nearest that does, NaN is 0.
template <class T, rounding mode> KUDZU_HD T to_integer(float f) {
  const bool is_signed = (T)-1 < (T)0;
  const T most = is_signed ? (T)((1ull << (sizeof(T) * 8 - 1)) - 1) : (T)-1;
  const T least = is_signed ? (T)(-most - 1) : (T)0;
  f = mode == nearest ? __builtin_rintf(f) : mode == zero ? __builtin_truncf(f) : mode == down ? __builtin_floorf(f) : __builtin_ceilf(f);
  if (f != f) return 0;
  if (f >= (float)most) return most; // (float)most may be one more than most: then too
  if (f <= (float)least) return least;
  return (T)f;
}

}  // namespace __kudzu

#endif
