// Roots, lengths, remainders and the parts of numbers, single precision.
#pragma once
#include "expf.h"

// cube_rootf is x^(1/3) for 1 <= x < 8 as a sum.
static inline ff cube_rootf(float x)
{
	float g = numberf(bitsf(x) / 3 + 0x2a514067);
	g = g - DIVF(g * g * g - x, 3 * g * g);
	float i = DIVF(1.0f, 3 * g * g), r = fmaf(-fmaf(g * g, g, -x), i, g);
	ff s = productf(r, r), c = productf(s.h, r);
	float e = (c.h - x) + fmaf(s.l, r, c.l);
	return (ff){r, -e * i};
}

// third splits a > 0 into 8^k and a factor from 1 to 8.
static inline float third(float a, int *k)
{
	int small = a < 0x1p-126f;
	u32 u = bitsf(small ? a * 0x1p24f : a);
	int e = (int)(u >> 23) - 127 - (small ? 24 : 0);
	*k = (e + 384) / 3 - 128;
	return numberf((u & 0x7fffff) | (u32)(127 + e - 3 * *k) << 23);
}

FN float __nv_cbrtf(float x)
{
	float a = fabsf(x);
	int k;
	ff c = cube_rootf(third(a, &k));
	float v = (c.h + c.l) * powerf(k);
	return a == 0 || !(a < INF_F) ? x + x : copysignf(v, x);
}

FN float __nv_rcbrtf(float x)
{
	float a = fabsf(x);
	int k;
	ff c = cube_rootf(third(a, &k));
	float q = DIVF(1.0f, c.h), t = fmaf(-q, c.h, 1) - q * c.l;
	float v = fmaf(t, q, q) * powerf(-k);
	v = a == 0 ? INF_F : v;
	v = a == INF_F ? 0 : v;
	return x != x ? x : copysignf(v, x);
}

typedef struct { ff s; int n; } squaresf;

static inline int scale_off(float hi)
{
	int n = (int)(bitsf(hi) >> 23) - 127;
	return n < -120 ? -120 : n > 120 ? 120 : n;
}

static inline ff plus_squaref(ff s, float x)
{
	ff p = productf(x, x), t = sumf(s.h, p.h);
	return (ff){t.h, t.l + (s.l + p.l)};
}

static inline float lengthf(ff s, int n)
{
	return SQRTF(s.h + s.l) * powerf(n);
}

static inline float reciprocalf(ff s, int n)
{
	float h = s.h + s.l, r = DIVF(1.0f, SQRTF(h));
	ff t = productf(r, r);
	float e = fmaf(-h, t.h, 1) - h * t.l;
	r = fmaf(0.5f * r, e, r);
	return h == 0 ? INF_F : scalef(r, -n);
}

static inline squaresf squares4f(float a, float b, float c, float d)
{
	int n = scale_off(fmaxf(fmaxf(fabsf(a), fabsf(b)), fmaxf(fabsf(c), fabsf(d))));
	float by = powerf(-n);
	ff s = productf(a * by, a * by);
	s = plus_squaref(s, b * by);
	s = plus_squaref(s, c * by);
	s = plus_squaref(s, d * by);
	return (squaresf){s, n};
}

#define ANY_INFF(a, b, c, d) (fabsf(a) == INF_F || fabsf(b) == INF_F || fabsf(c) == INF_F || fabsf(d) == INF_F)
#define LENGTHF(a, b, c, d)                                  \
	squaresf q = squares4f(a, b, c, d);                  \
	return ANY_INFF(a, b, c, d) ? INF_F : lengthf(q.s, q.n)
#define RECIPROCALF(a, b, c, d)                              \
	squaresf q = squares4f(a, b, c, d);                  \
	return ANY_INFF(a, b, c, d) ? 0 : reciprocalf(q.s, q.n)

FN float __nv_hypotf(float x, float y) { LENGTHF(x, y, 0.0f, 0.0f); }
FN float __nv_norm3df(float a, float b, float c) { LENGTHF(a, b, c, 0.0f); }
FN float __nv_norm4df(float a, float b, float c, float d) { LENGTHF(a, b, c, d); }
FN float __nv_rhypotf(float x, float y) { RECIPROCALF(x, y, 0.0f, 0.0f); }
FN float __nv_rnorm3df(float a, float b, float c) { RECIPROCALF(a, b, c, 0.0f); }
FN float __nv_rnorm4df(float a, float b, float c, float d) { RECIPROCALF(a, b, c, d); }

static inline squaresf squares_off(int dim, const float *t)
{
	float hi = 0;
	for (int i = 0; i < dim; i++)
		hi = fmaxf(hi, fabsf(t[i]));
	int n = scale_off(hi);
	float by = powerf(-n);
	ff s = {0, 0};
	for (int i = 0; i < dim; i++)
		s = plus_squaref(s, t[i] * by);
	if (hi == INF_F)
		s = (ff){INF_F, 0};
	return (squaresf){s, n};
}

FN float __nv_normf(int dim, const float *t)
{
	squaresf q = squares_off(dim, t);
	return q.s.h == INF_F ? INF_F : lengthf(q.s, q.n);
}

FN float __nv_rnormf(int dim, const float *t)
{
	squaresf q = squares_off(dim, t);
	return q.s.h == INF_F ? 0 : reciprocalf(q.s, q.n);
}

SMALL FN int __nv_ilogbf(float x)
{
	u32 u = bitsf(x) & 0x7fffffff;
	int e = (int)(u >> 23) - 127, low = 31 - __builtin_clz(u | 1) - 149;
	e = e == -127 ? low : e;
	e = u == 0 ? (int)0x80000000 : e;
	return u > 0x7f800000 ? (int)0x80000000 : u == 0x7f800000 ? 0x7fffffff : e;
}

SMALL FN float __nv_logbf(float x)
{
	float r = (float)__nv_ilogbf(x);
	r = x == 0 ? -INF_F : r;
	return fabsf(x) < INF_F ? r : x * x;
}

FN float __nv_ldexpf(float x, int n)
{
	if (!(fabsf(x) > 0 && fabsf(x) < INF_F))
		return x + x;
	n = n > 400 ? 400 : n < -400 ? -400 : n;
	int e = __nv_ilogbf(x), low = e < -126;
	float r = low ? x * 0x1p24f : x; // normal
	int to = e + n;
	to = to > 128 ? 128 : to < -155 ? -155 : to;
	if (to >= -126)
		return to > 127 ? copysignf(INF_F, x) : numberf((bitsf(r) & 0x807fffff) | (u32)(to + 127) << 23);
	return numberf((bitsf(r) & 0x807fffff) | (u32)(to + 127 + 50) << 23) * 0x1p-50f;
}

FN float __nv_scalbnf(float x, int n) { return __nv_ldexpf(x, n); }

FN float __nv_frexpf(float x, int *e)
{
	int small = fabsf(x) < 0x1p-126f;
	u32 u = bitsf(small ? x * 0x1p24f : x);
	int plain = x == 0 || !(fabsf(x) < INF_F);
	*e = plain ? 0 : (int)(u >> 23 & 0xff) - 126 - (small ? 24 : 0);
	return plain ? x + x : numberf((u & 0x807fffff) | 0x3f000000);
}

SMALL FN float __nv_modff(float x, float *whole)
{
	float t = truncf(x);
	*whole = t;
	return fabsf(x) == INF_F ? copysignf(0, x) : copysignf(x - t, x);
}

SMALL FN float __nv_fdimf(float x, float y)
{
	float r = x > y ? x - y : 0;
	return x != x || y != y ? x + y : r;
}

SMALL FN float __nv_roundf(float x)
{
	float t = truncf(x), d = fabsf(x - t);
	float r = d >= 0.5f ? t + copysignf(1, x) : t;
	return fabsf(x) < 0x1p23f ? copysignf(r, x) : x + 0.0f;
}

FN float __nv_nextafterf(float x, float y)
{
	u32 u = bitsf(x);
	u32 v = x == 0 ? (bitsf(y) & 0x80000000) | 1 : (y > x) == (x > 0) ? u + 1 : u - 1;
	float r = x == y ? y : numberf(v);
	return x != x || y != y ? x + y : r;
}

typedef struct { float r; u32 q; } divisionf;

RARE divisionf dividedf(float a, float b)
{
	u32 q = 0;
	for (;;) {
		int k = a >= b ? __nv_ilogbf(a) - __nv_ilogbf(b) - 22 : 0;
		float d = b;
		if (k > 0)
			d = __nv_ldexpf(b, k);
		float up = d < 0x1p-90f ? 0x1p40f : 1; // the quotient of small numbers
		float t = truncf(DIVF(a * up, d * up)), r = fmaf(-t, d, a);
		int over = r < 0;
		r = over ? r + d : r;
		a = r;
		u32 part = bitsf((t - over) + 0x1p23f);
		q += k < 3 ? part << (k > 0 ? k : 0) : 0;
		if (k <= 0)
			break;
	}
	return (divisionf){a, q};
}

FN float __nv_fmodf(float x, float y)
{
	float a = fabsf(x), b = fabsf(y);
	if (!(a < INF_F) || !(b > 0))
		return NAN_F;
	if (a < b || b == INF_F)
		return x;
	return copysignf(dividedf(a, b).r, x);
}

FN float __nv_remquof(float x, float y, int *quo)
{
	float a = fabsf(x), b = fabsf(y);
	*quo = 0;
	if (!(a < INF_F) || !(b > 0))
		return NAN_F;
	divisionf d = {a, 0};
	if (a >= b)
		d = dividedf(a, b);
	float rest = b - d.r;
	int up = b != INF_F && (d.r > rest || (d.r == rest && (d.q & 1)));
	float r = up ? d.r - b : d.r;
	u32 q = (d.q + up) & 7;
	*quo = (bitsf(x) ^ bitsf(y)) >> 31 ? -(int)q : (int)q;
	return bitsf(x) >> 31 ? -r : r;
}

FN float __nv_remainderf(float x, float y)
{
	int q;
	return __nv_remquof(x, y, &q);
}
