// Functions of angles, single precision.
#pragma once
#include "expf.h"
#include "trig.h"

typedef struct { float h, l; int q; } anglef; // h + l = x - q pi/2

// far_anglef reduces large finite numbers as far_angle does.
RARE anglef far_anglef(float x)
{
	u32 u = bitsf(x);
	u64 m = (u & 0x7fffff) | 1u << 23;
	three w = window((int)(u >> 23 & 0xff) - 152);
	u64 p = m * w.a + mulhi(m, w.b);
	int q = (int)(p >> 62);
	p = p << 2 | (m * w.b) >> 62;
	q += (int)(p >> 63); // to the nearest
	float h = (float)((double)(s64)p * 0x1.921fb54442d18p-64); // pi/2 2^-64
	return u >> 31 ? (anglef){-h, 0, -q} : (anglef){h, 0, q};
}

static inline anglef reducedf(float x)
{
	float t = fmaf(x, TWO_PIF_0, MAGICF), k = t - MAGICF;
	float r = fmaf(k, -PI_2F_0, x); // exact
	float s = fmaf(k, -PI_2F_1, r);
	anglef a = {fmaf(k, -PI_2F_2, s), 0, (int)bitsf(t)};
	if (fabsf(x) > 50000 && fabsf(x) < INF_F)
		a = far_anglef(x);
	return a;
}

static inline float sinef(float h, float l)
{
	float z = h * h;
	return h + fmaf(h * z, p_sin_f(z), l);
}

static inline float cosinef(float h, float l)
{
	float z = MULF(h, h), zl = fmaf(h, h, -z);
	ff w = orderedf(1, -0.5f * z);
	return w.h + fmaf(z * z, p_cos_f(z), fmaf(-h, l, fmaf(-0.5f, zl, w.l)));
}

static inline float turnedf(float s, float c, int q)
{
	float r = q & 1 ? c : s;
	return q & 2 ? -r : r;
}

FN float __nv_sinf(float x)
{
	anglef a = reducedf(x);
	float r = turnedf(sinef(a.h, 0), cosinef(a.h, 0), a.q);
	return x == 0 ? x : r;
}

FN float __nv_cosf(float x)
{
	anglef a = reducedf(x);
	return turnedf(sinef(a.h, 0), cosinef(a.h, 0), a.q + 1);
}

FN void __nv_sincosf(float x, float *s, float *c)
{
	anglef a = reducedf(x);
	float si = sinef(a.h, 0), co = cosinef(a.h, 0);
	float r = turnedf(si, co, a.q);
	*s = x == 0 ? x : r;
	*c = turnedf(si, co, a.q + 1);
}

FN float __nv_tanf(float x)
{
	anglef a = reducedf(x);
	float s = sinef(a.h, 0), c = cosinef(a.h, 0);
	float r = a.q & 1 ? DIVF(-c, s) : DIVF(s, c);
	return x == 0 ? x : r;
}

static inline anglef half_turnsf(float x)
{
	float y = fabsf(x) < 0x1p24f ? x : x - x; // even integers, infinity, NaN
	float k = rintf(2 * y), r = fmaf(k, -0.5f, y);
	ff p = productf(r, PIF_0);
	return (anglef){p.h, fmaf(r, PIF_1, p.l), (int)bitsf(fmaf(-4, rintf(0.25f * k), k) + MAGICF)};
}

FN float __nv_sinpif(float x)
{
	anglef a = half_turnsf(x);
	float r = turnedf(sinef(a.h, a.l), cosinef(a.h, a.l), a.q);
	return r == 0 ? copysignf(0, x) : r;
}

FN float __nv_cospif(float x)
{
	anglef a = half_turnsf(x);
	float r = turnedf(sinef(a.h, a.l), cosinef(a.h, a.l), a.q + 1);
	return r == 0 ? 0 : r;
}

FN void __nv_sincospif(float x, float *s, float *c)
{
	anglef a = half_turnsf(x);
	float si = sinef(a.h, a.l), co = cosinef(a.h, a.l);
	float r = turnedf(si, co, a.q), t = turnedf(si, co, a.q + 1);
	*s = r == 0 ? copysignf(0, x) : r;
	*c = t == 0 ? 0 : t;
}

FN float __nv_asinf(float x)
{
	float a = fabsf(x), z = fmaf(-0.5f, a, 0.5f);
	int big = a > 0.5f;
	z = big ? z : x * x;
	float s = SQRTF(z), t = big ? s : a, p = t * z * p_asin_f(z);
	float far = fmaf(-2, s, PI_2F_0) + fmaf(-2, p, PI_2F_1);
	far = a > 1 ? NAN_F : far;
	return copysignf(big ? far : t + p, x);
}

FN float __nv_acosf(float x)
{
	float a = fabsf(x), z = fmaf(-0.5f, a, 0.5f);
	int big = a > 0.5f;
	z = big ? z : x * x;
	float s = SQRTF(z), t = big ? s : x, p = t * z * p_asin_f(z);
	ff h = orderedf(PI_2F_0, -x), g = orderedf(PIF_0, -2 * s);
	float small = h.h + (h.l + (PI_2F_1 - p)), near = 2 * (s + p);
	float far = g.h + (g.l + fmaf(-2, p, PIF_1));
	float r = big ? (x < 0 ? far : near) : small;
	return a > 1 ? NAN_F : r;
}

FN float __nv_atanf(float x)
{
	float a = fabsf(x), inv = DIVF(1.0f, a);
	int big = a > 1;
	float t = big ? inv : a, z = t * t, p = t * z * p_atan_f(z);
	ff h = orderedf(PI_2F_0, -t);
	float r = big ? h.h + (h.l + (PI_2F_1 - p)) : t + p;
	return copysignf(r, x);
}

FN float __nv_atan2f(float y, float x)
{
	float a = fabsf(x), b = fabsf(y), hi = fmaxf(a, b), lo = fminf(a, b);
	float t = DIVF(lo, hi);
	t = hi == 0 ? 0 : t;
	t = lo == INF_F ? 1 : t;
	float z = t * t, p = t * z * p_atan_f(z);
	ff h = orderedf(PI_2F_0, -t);
	ff r = b > a ? (ff){h.h, h.l + (PI_2F_1 - p)} : (ff){t, p};
	ff g = orderedf(PIF_0, -r.h);
	int left = bitsf(x) >> 31;
	float s = left ? g.h + (g.l + (PIF_1 - r.l)) : r.h + r.l;
	s = a != a || b != b ? x + y : s;
	return copysignf(s, s == s ? y : 1);
}

FN float __nv_sinhf(float x)
{
	float a = fabsf(x), z = a * a, near = fmaf(a * z, p_sinh_f(z), a);
	int n;
	float e = exponentialf(a > 95 ? 95 : a, 0, &n);
	float up = scalef(e, n - 1), far = a > 20 ? up : fmaf(e, powerf(n - 1), -DIVF(powerf(-n - 1), e));
	float r = a < 1 ? near : far;
	return copysignf(a == INF_F ? a : r, x);
}

FN float __nv_coshf(float x)
{
	float a = fabsf(x);
	int n;
	float e = exponentialf(a > 95 ? 95 : a, 0, &n);
	float up = scalef(e, n - 1), r = a > 20 ? up : fmaf(e, powerf(n - 1), DIVF(powerf(-n - 1), e));
	return a == INF_F ? a : r;
}

FN float __nv_tanhf(float x)
{
	float a = fabsf(x);
	ff e = exp_minus_1f(a > 10 ? 20 : 2 * a);
	float q = DIVF(e.h, e.h + 2);
	float r = a > 10 ? 1 : q;
	r = x == 0 ? x : r;
	return x != x ? x : copysignf(r, x);
}

FN float __nv_asinhf(float x)
{
	float a = fabsf(x), b = fminf(a, 0x1p60f), z = b * b;
	float t = b + DIVF(z, 1 + SQRTF(1 + z));
	ff l = log_1pf(t, 0);
	float near = l.h + l.l, far = __nv_logf(a) + LN2F_0;
	float r = a > 0x1p30f ? far : near;
	r = a < 0x1p-14f ? a : r;
	return x != x ? x : copysignf(r, x);
}

FN float __nv_acoshf(float x)
{
	float b = fminf(x, 0x1p60f), t = b - 1, s = SQRTF(t * (b + 1));
	ff u = sumf(t, s), l = log_1pf(u.h, u.l);
	float r = x > 0x1p30f ? __nv_logf(x) + LN2F_0 : l.h + l.l;
	return x >= 1 ? r : NAN_F;
}

FN float __nv_atanhf(float x)
{
	float a = fabsf(x), d = 1 - a, dl = (1 - d) - a;
	float q = DIVF(2 * a, d), ql = DIVF(fmaf(-q, dl, fmaf(-q, d, 2 * a)), d);
	ff l = log_1pf(q, ql);
	float r = 0.5f * (l.h + l.l);
	r = a < 0x1p-14f ? a : r;
	r = a == 1 ? INF_F : r;
	r = a <= 1 ? r : NAN_F;
	return copysignf(r, x);
}
