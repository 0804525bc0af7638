// Exponentials and logarithms of single precision.
#pragma once
#include "kd.h"

// whole is the integer that was added to MAGICF.
static inline int whole(float t) { return (int)bitsf(t) - 0x4b400000; }

// exponentialf is e^(x+lo) / 2^n, for |x| < 400.
static inline float exponentialf(float x, float lo, int *n)
{
	float t = fmaf(x, LOG2_EF_0, MAGICF), k = t - MAGICF;
	*n = whole(t);
	float r = fmaf(k, -LN2F_0, x); // exact
	r += fmaf(k, -LN2F_1, lo);
	return 1 + fmaf(r * r, p_exp_f(r), r);
}

// exp_ends is r, or what an exponential is outside of what the type holds.
static inline float exp_endsf(float x, float r, float low, float high)
{
	r = x > high ? INF_F : r;
	return x < low ? 0 : r;
}

FN float __nv_expf(float x)
{
	int n;
	float e = exponentialf(x, 0, &n);
	return exp_endsf(x, scalef(e, n), -104, 0x1.62e42ep6f);
}

FN float __nv_exp2f(float x)
{
	float t = x + MAGICF, k = t - MAGICF, r = x - k;
	int n = whole(t);
	return exp_endsf(x, scalef(fmaf(r, p_exp2_f(r), 1), n), -151, 0x1.fffffep6f);
}

FN float __nv_exp10f(float x)
{
	float t = fmaf(x, LOG2_10F_0, MAGICF), k = t - MAGICF;
	int n = whole(t);
	float r = fmaf(k, -LOG10_2F_1, fmaf(k, -LOG10_2F_0, x));
	return exp_endsf(x, scalef(1 + fmaf(r, LN10F_0, fmaf(r * r, p_exp10_f(r), r * LN10F_1)), n), -46, 0x1.344134p5f);
}

// exp_minus_1f is e^x - 1 as a sum, for -50 < x < 88.
static inline ff exp_minus_1f(float x)
{
	float t = fmaf(x, LOG2_EF_0, MAGICF), k = t - MAGICF;
	float r = fmaf(k, -LN2F_0, x), w = k * -LN2F_1, s = r + w; // r is exact
	w -= s - r;
	ff e = orderedf(s, fmaf(s * s, p_exp_f(s), w));
	int n = whole(t), top = n > 127; // 2^128 is too large for the sum
	float two = powerf(top ? 127 : n), by = top ? 2 : 1;
	ff a = sumf(two - (top ? 0.5f : 1), two * e.h);
	a = orderedf(a.h, a.l + two * e.l);
	return (ff){a.h * by, a.l * by};
}

FN float __nv_expm1f(float x)
{
	ff e = exp_minus_1f(x < -50 ? -50 : x);
	float r = e.h + e.l;
	r = x > 0x1.62e42ep6f ? INF_F : r;
	return x == 0 ? x : r;
}

static inline float fractionf(float x, int *k)
{
	int small = x < 0x1p-126f;
	u32 u = bitsf(small ? x * 0x1p24f : x);
	s32 e = (s32)(u - 0x3f3504f3u) >> 23;
	*k = e - (small ? 24 : 0);
	return numberf(u - ((u32)e << 23));
}

// log_nearf is log(1+f) as f and what is left: no quotient.
static inline ff log_nearf(float f)
{
	return (ff){f, f * f * fmaf(f, p_log_f(f), -0.5f)};
}

static inline float log_endsf(float x, float r)
{
	r = x == INF_F ? x : r;
	r = x == 0 ? -INF_F : r;
	return x >= 0 ? r : NAN_F;
}

FN float __nv_logf(float x)
{
	int k;
	float f = fractionf(x, &k) - 1;
	ff l = log_nearf(f);
	float r = fmaf(k, LN2F_0, l.h + fmaf(k, LN2F_1, l.l));
	return log_endsf(x, r);
}

FN float __nv_log2f(float x)
{
	int k;
	float f = fractionf(x, &k) - 1;
	ff l = log_nearf(f), p = productf(f, LOG2_EF_0), r = sumf(k, p.h);
	float rest = fmaf(l.l, LOG2_EF_0, fmaf(f, LOG2_EF_1, p.l));
	return log_endsf(x, r.h + (r.l + rest));
}

FN float __nv_log10f(float x)
{
	int k;
	float f = fractionf(x, &k) - 1;
	ff l = log_nearf(f), p = productf(f, LOG10_EF_0), n = productf(k, LOG10_2F_0), r = sumf(n.h, p.h);
	float rest = fmaf(l.l, LOG10_EF_0, fmaf(f, LOG10_EF_1, p.l));
	return log_endsf(x, r.h + (r.l + (rest + fmaf(k, LOG10_2F_1, n.l))));
}

// log_1pf is log(1 + x + xl), for -1 < x finite.
static inline ff log_1pf(float x, float xl)
{
	ff u = sumf(1, x);
	int k;
	float f = fractionf(u.h, &k) - 1, fl = (u.l + xl) * powerf(-k > -126 ? -k : -126);
	ff l = log_nearf(f), s = orderedf(f, l.l + fmaf(-f, fl, fl));
	ff n = productf(k, LN2F_0), r = sumf(n.h, s.h);
	return (ff){r.h, r.l + (s.l + fmaf(k, LN2F_1, n.l))};
}

FN float __nv_log1pf(float x)
{
	ff l = log_1pf(x, 0);
	float r = l.h + l.l;
	r = x == INF_F ? x : r;
	r = x == -1 ? -INF_F : r;
	r = x >= -1 ? r : NAN_F;
	return fabsf(x) < 0x1p-25f ? x : r;
}

// logarithmf is log(x) to 30 bits, for finite x > 0: 2 atanh(f / (2+f)).
static inline ff logarithmf(float x)
{
	int k;
	float f = fractionf(x, &k) - 1;
	float d = 2 + f, dl = (2 - d) + f, inv = DIVF(1.0f, d);
	float s = f * inv, sl = fmaf(-s, dl, fmaf(-s, d, f)) * inv, z = s * s;
	ff l = orderedf(2 * s, s * z * p_atanh_f(z));
	l.l = fmaf(2, sl, l.l);
	ff n = productf(k, LN2F_0), r = sumf(n.h, l.h);
	return orderedf(r.h, r.l + (l.l + fmaf(k, LN2F_1, n.l)));
}

static inline int oddf(float y) { return fabsf(y) < 0x1p24f && truncf(y) == y && ((int)y & 1); }

FN float __nv_powf(float x, float y)
{
	float a = fabsf(x);
	ff l = logarithmf(a), p = productf(y, l.h);
	p.l = fmaf(y, l.l, p.l);
	int far = !(fabsf(p.h) < 200), n;
	float e = exponentialf(far ? copysignf(200, p.h) : p.h, far ? 0 : p.l, &n);
	n = n > 150 ? 150 : n < -170 ? -170 : n;
	float r = scalef(e, n);
	r = a == 0 || a == INF_F ? ((a == 0) == (y < 0) ? INF_F : 0) : r;
	int negative = bitsf(x) >> 31;
	r = negative && oddf(y) ? -r : r;
	r = x < 0 && a != INF_F && truncf(y) != y ? NAN_F : r;
	r = x != x || y != y ? x + y : r;
	r = x == -1 && fabsf(y) == INF_F ? 1 : r;
	return x == 1 || y == 0 ? 1 : r;
}
