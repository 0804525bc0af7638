// The checks that half and bfloat16 share, with T and T2, the names of the conversions, and values of the format:
// ONE, NEXT (after 1), INF, NEGZERO, NAN_, by bits.

#define CAT_(a, b, c) a##b##c
#define CAT(a, b, c) CAT_(a, b, c)
#define FN(a, c) CAT(a, NAME, c)
#define FN2(a, c) CAT(a, CAT(NAME, 2, ), c)
#define BITS(h) FN(__, _as_ushort)(h)
#define OF(b) FN(__ushort_as_, )((unsigned short)(b))
#define SAME(got, want) EQ(BITS(got), BITS(T(want)))
#define SAME2(got, a, b)                                                                                              \
  do {                                                                                                                \
    T2 r_ = got;                                                                                                      \
    SAME(r_.x, a);                                                                                                    \
    SAME(r_.y, b);                                                                                                    \
  } while (0)

static __device__ void arithmetic(const Checks &check, float one) {
  T a(1.5f * one), b(-0.25f * one), c(2.0f * one), n = OF(0x7fff), inf = OF(INF);
  SAME(__hadd(a, b), 1.25f);
  SAME(__hsub(a, b), 1.75f);
  SAME(__hmul(a, b), -0.375f);
  SAME(__hdiv(a, b), -6.0f);
  SAME(__hdiv(T(one), T(3.0f)), 1.0f / 3.0f);
  SAME(__hfma(a, b, c), 1.625f);
  SAME(__hneg(a), -1.5f);
  SAME(__habs(b), 0.25f);
  SAME(__hadd_rn(a, b), 1.25f);
  SAME(__hsub_rn(a, b), 1.75f);
  SAME(__hmul_rn(a, b), -0.375f);
  SAME(__hadd_sat(a, c), 1.0f);
  SAME(__hsub_sat(b, c), 0.0f);
  SAME(__hmul_sat(a, T(0.5f)), 0.75f);
  SAME(__hfma_sat(a, c, c), 1.0f);
  SAME(__hfma_relu(a, b, T(0.25f)), 0.0f);
  SAME(__hfma_relu(a, a, T(0.25f)), 2.5f);
  SAME(a + b, 1.25f);
  SAME(a - b, 1.75f);
  SAME(a * b, -0.375f);
  SAME(a / b, -6.0f);
  SAME(-a, -1.5f);
  T v = a;
  v += b;
  v *= c;
  v -= b;
  v /= c;
  SAME(v, 1.375f);
  SAME(++v, 2.375f);
  SAME(v--, 2.375f);
  SAME(v, 1.375f);
  // One unit after 1, halved, is a tie: it goes to the even one.
  EQ(BITS(__hadd(OF(ONE), T((float)OF(NEXT) / 2 - 0.5f))), ONE);
  EQ(BITS(__hadd(OF(NEXT), T((float)OF(NEXT) / 2 - 0.5f))), NEXT + 1);
  EQ(BITS(__hadd(inf, T(-1.0f))), INF);
  TRUE(__hisnan(__hsub(inf, inf)));

  TRUE(__heq(a, a) && !__heq(a, b) && !__heq(n, n));
  TRUE(__hne(a, b) && !__hne(a, a) && !__hne(n, a));
  TRUE(__hlt(b, a) && !__hlt(a, a) && !__hlt(n, a));
  TRUE(__hle(a, a) && !__hle(a, b) && !__hle(n, a));
  TRUE(__hgt(a, b) && !__hgt(a, a) && !__hgt(n, a));
  TRUE(__hge(a, a) && !__hge(b, a) && !__hge(n, a));
  TRUE(__hequ(n, a) && __hneu(n, a) && __hltu(n, a) && __hleu(n, a) && __hgtu(n, a) && __hgeu(n, a));
  TRUE(!__hequ(a, b) && !__hneu(a, a) && !__hltu(a, b) && !__hleu(a, b) && !__hgtu(b, a) && !__hgeu(b, a));
  TRUE(a == a && a != b && b < a && b <= a && a > b && a >= b && n != n);
  TRUE(__hisnan(n) && !__hisnan(a) && !__hisnan(inf));
  EQ(__hisinf(inf), 1);
  EQ(__hisinf(-inf), -1);
  EQ(__hisinf(n), 0);
  SAME(__hmax(a, b), 1.5f);
  SAME(__hmin(a, b), -0.25f);
  SAME(__hmax(n, b), -0.25f);
  SAME(__hmin(a, n), 1.5f);
  EQ(BITS(__hmax(OF(0x8000), OF(0))), 0);
  EQ(BITS(__hmin(OF(0), OF(0x8000))), 0x8000);
  EQ(BITS(__hmax_nan(a, n)), 0x7fff);
  EQ(BITS(__hmin_nan(n, a)), 0x7fff);
  SAME(__hmax_nan(a, b), 1.5f);
  SAME(__hmin_nan(a, b), -0.25f);
  TRUE((bool)a && !(bool)OF(0x8000));
}

static __device__ void pairs(const Checks &check, float one) {
  T a(1.5f * one), b(-0.25f * one), n = OF(0x7fff);
  T2 p(a, b), q = FN2(__floats2, _rn)(2.0f * one, 4.0f);
  SAME2(__hadd2(p, q), 3.5f, 3.75f);
  SAME2(__hsub2(p, q), -0.5f, -4.25f);
  SAME2(__hmul2(p, q), 3.0f, -1.0f);
  SAME2(__h2div(p, q), 0.75f, -0.0625f);
  SAME2(__hadd2_rn(p, q), 3.5f, 3.75f);
  SAME2(__hsub2_rn(p, q), -0.5f, -4.25f);
  SAME2(__hmul2_rn(p, q), 3.0f, -1.0f);
  SAME2(__hadd2_sat(p, q), 1.0f, 1.0f);
  SAME2(__hsub2_sat(p, q), 0.0f, 0.0f);
  SAME2(__hmul2_sat(p, q), 1.0f, 0.0f);
  SAME2(__hfma2(p, q, p), 4.5f, -1.25f);
  SAME2(__hfma2_sat(p, q, p), 1.0f, 0.0f);
  SAME2(__hfma2_relu(p, q, p), 4.5f, 0.0f);
  SAME2(__hcmadd(p, q, p), 1.5f * 2 + 0.25f * 4 + 1.5f, 1.5f * 4 - 0.25f * 2 - 0.25f);
  SAME2(__hneg2(p), -1.5f, 0.25f);
  SAME2(__habs2(p), 1.5f, 0.25f);
  SAME2(__hmax2(p, q), 2.0f, 4.0f);
  SAME2(__hmin2(p, q), 1.5f, -0.25f);
  EQ(BITS(__hmax2_nan(T2(n, a), q).x), 0x7fff);
  EQ(BITS(__hmin2_nan(T2(n, a), q).x), 0x7fff);
  SAME2(p + q, 3.5f, 3.75f);
  SAME2(p - q, -0.5f, -4.25f);
  SAME2(p * q, 3.0f, -1.0f);
  SAME2(p / q, 0.75f, -0.0625f);
  SAME2(-p, -1.5f, 0.25f);
  SAME2(__heq2(p, T2(a, a)), 1.0f, 0.0f);
  SAME2(__hne2(p, T2(a, a)), 0.0f, 1.0f);
  SAME2(__hlt2(p, q), 1.0f, 1.0f);
  SAME2(__hgt2(p, T2(b, b)), 1.0f, 0.0f);
  SAME2(__hle2(p, T2(b, b)), 0.0f, 1.0f);
  SAME2(__hge2(p, T2(a, a)), 1.0f, 0.0f);
  SAME2(__hequ2(T2(n, a), q), 1.0f, 0.0f);
  SAME2(__hneu2(T2(n, a), T2(a, a)), 1.0f, 0.0f);
  SAME2(__hltu2(T2(n, a), T2(a, b)), 1.0f, 0.0f);
  SAME2(__hgtu2(T2(n, b), T2(a, a)), 1.0f, 0.0f);
  SAME2(__hleu2(T2(n, a), T2(a, b)), 1.0f, 0.0f);
  SAME2(__hgeu2(T2(n, b), T2(a, a)), 1.0f, 0.0f);
  SAME2(__hisnan2(T2(n, a)), 1.0f, 0.0f);
  EQ(__heq2_mask(p, T2(a, a)), 0xffffu);
  EQ(__hlt2_mask(p, q), 0xffffffffu);
  EQ(__hgt2_mask(q, T2(T(3.0f * one), a)), 0xffff0000u);
  TRUE(__hblt2(p, q) && !__hbeq2(p, q) && __hbgeu2(T2(n, a), p));
  TRUE(p == p && p != q && p < q);
  SAME2(FN2(__halves2, )(a, b), 1.5f, -0.25f);
  SAME2(FN2(make_, )(a, b), 1.5f, -0.25f);
  SAME2(FN2(FN(__, 2), )(a), 1.5f, 1.5f);
  SAME2(FN2(__float2, _rn)(1.5f * one), 1.5f, 1.5f);
  SAME2(FN2(__float22, _rn)(make_float2(1.5f * one, 3)), 1.5f, 3.0f);
  SAME(FN(__low2, )(p), 1.5f);
  SAME(FN(__high2, )(p), -0.25f);
  SAME2(FN2(__low2, )(p), 1.5f, 1.5f);
  SAME2(FN2(__high2, )(p), -0.25f, -0.25f);
  SAME2(FN2(__lows2, )(p, q), 1.5f, 2.0f);
  SAME2(FN2(__highs2, )(p, q), -0.25f, 4.0f);
  SAME2(__lowhigh2highlow(p), -0.25f, 1.5f);
  EQ(__low2float(p), 1.5f);
  EQ(__high2float(p), -0.25f);
  EQ(FN(__, 22float2)(p).y, -0.25f);
}

#define INTEGERS(name, V, v, lo, hi)                                                                                  \
  do {                                                                                                                \
    T h((float)(v) + 0.5f);                                                                                           \
    EQ(FN(__, CAT(2, name, _rd))(h), (V)(v));                                                                         \
    EQ(FN(__, CAT(2, name, _ru))(h), (V)((v) + 1));                                                                   \
    EQ(FN(__, CAT(2, name, _rz))(h), (V)((v) < 0 ? (v) + 1 : (v)));                                                   \
    EQ(FN(__, CAT(2, name, _rn))(h), (V)((v) % 2 ? (v) + 1 : (v)));                                                   \
    SAME(FN(CAT(__, name, 2), _rn)((V)(v)), (float)(v));                                                              \
    EQ(BITS(FN(CAT(__, name, 2), _rz)((V)TIE)), lo);                                                                  \
    EQ(BITS(FN(CAT(__, name, 2), _rd)((V)TIE)), lo);                                                                  \
    EQ(BITS(FN(CAT(__, name, 2), _ru)((V)TIE)), hi);                                                                  \
    EQ(BITS(FN(CAT(__, name, 2), _rn)((V)TIE)), lo);                                                                  \
  } while (0)

static __device__ void integers(const Checks &check, int one) {
  INTEGERS(short, short, -6 * one, TIE_LO, TIE_LO + 1);
  INTEGERS(ushort, unsigned short, 6 * one, TIE_LO, TIE_LO + 1);
  INTEGERS(int, int, -5 * one, TIE_LO, TIE_LO + 1);
  INTEGERS(uint, unsigned int, 7 * one, TIE_LO, TIE_LO + 1);
  INTEGERS(ll, long long, -5 * one, TIE_LO, TIE_LO + 1);
  INTEGERS(ull, unsigned long long, 7 * one, TIE_LO, TIE_LO + 1);
  EQ(FN(__, 2char_rz)(T(-1000.0f * one)), -128);
  EQ(FN(__, 2uchar_rz)(T(1000.0f * one)), 255);
  EQ((int)T(-2.75f * one), -2);
  EQ((unsigned int)T(2.75f * one), 2u);
  EQ((short)T(-2.75f * one), (short)-2);
  EQ((long long)T(-2.75f * one), -2ll);
  SAME(T(3 * one), 3.0f);
  SAME(T(3u * one), 3.0f);
  SAME(T((short)(-3 * one)), -3.0f);
  SAME(T((unsigned short)(3 * one)), 3.0f);
  SAME(T(-3ll * one), -3.0f);
  SAME(T(3ull * one), 3.0f);
  SAME(T(0.1 * one), 0.1f);
}

__device__ T cell[2];
__device__ T2 cell2;

static __device__ void memory(const Checks &check, float one) {
  T v(1.5f * one);
  T2 w(v, T(2.0f));
  __stwb(cell, v);
  SAME(__ldca(cell), 1.5f);
  __stcg(&cell2, w);
  SAME2(__ldcg(&cell2), 1.5f, 2.0f);
  __stcs(cell, w.y);
  SAME(__ldcs(cell), 2.0f);
  __stwt(&cell2, T2(v, v));
  SAME2(__ldcv(&cell2), 1.5f, 1.5f);
  SAME(__ldlu(cell), 2.0f);
  SAME(atomicAdd(cell, v), 2.0f);
  SAME(cell[0], 3.5f);
  SAME2(atomicAdd(&cell2, w), 1.5f, 1.5f);
  SAME2(cell2, 3.0f, 3.5f);
}

static __device__ void warps(const Checks &check) {
  u32 lane = threadIdx.x % 32;
  T v((float)lane);
  SAME(__shfl_sync(0xffffffffu, v, 7), 7.0f);
  SAME(__shfl_up_sync(0xffffffffu, v, 1), (float)(lane ? lane - 1 : 0));
  SAME(__shfl_down_sync(0xffffffffu, v, 1), (float)(lane < 31 ? lane + 1 : 31));
  SAME2(__shfl_xor_sync(0xffffffffu, T2(v, T(1.0f)), 1), (float)(lane ^ 1), 1.0f);
}

// Every value of the format: to float and back, and to the nearest integers.
static __device__ void sweep(const Checks &check) {
  for (u32 b = threadIdx.x; b < 0x10000; b += blockDim.x) {
    T h = OF(b);
    if (__hisnan(h)) continue;
    float f = FN(__, 2float)(h);
    check.bits_equal(__LINE__, BITS(FN(__float2, _rn)(f)), b);
    check.bits_equal(__LINE__, BITS(FN(__double2, )((double)f)), b);
    check.bits_equal(__LINE__, BITS(FN(__float2, _rz)(f)), b);
    check.bits_equal(__LINE__, BITS(hfloor(h)), BITS(T(floorf(f))));
    check.bits_equal(__LINE__, BITS(hceil(h)), BITS(T(ceilf(f))));
    check.bits_equal(__LINE__, BITS(htrunc(h)), BITS(T(truncf(f))));
    check.bits_equal(__LINE__, BITS(hrint(h)), BITS(T(rintf(f))));
  }
}

TEST() {
  volatile float one = 1;
  if (threadIdx.x == 0) {
    arithmetic(check, one);
    pairs(check, one);
    integers(check, (int)one);
    memory(check, one);
    SAME(hsqrt(T(2.25f * one)), 1.5f);
    SAME(hrsqrt(T(0.25f * one)), 2.0f);
    SAME(hrcp(T(4.0f * one)), 0.25f);
    SAME2(h2sqrt(T2(T(4.0f * one), T(9.0f))), 2.0f, 3.0f);
    EQ(BITS(FN(__float2, _rd)(1.0f + 1e-6f * one)), ONE);
    EQ(BITS(FN(__float2, _ru)(1.0f + 1e-6f * one)), NEXT);
    EQ(BITS(FN(__float2, _rz)(-1.0f - 1e-6f * one)), ONE | 0x8000);
    EQ(BITS(FN(__float2, _rd)(-1.0f - 1e-6f * one)), NEXT | 0x8000);
    EQ(BITS(FN(__float2, _rn)(3e38f * one * 10)), INF);
    EQ(BITS(FN(__float2, _rz)(3e38f * one)), FN(__, _as_ushort)(OF(BIG)));
  }
  __syncthreads();
  warps(check);
  sweep(check);
}
