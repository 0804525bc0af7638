// Functions of angles, double precision.
#pragma once
#include "exp.h"

typedef struct { double h, l; int q; } angle; // h + l = x - q pi/2

static inline u64 mulhi(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }

// window gives bits of 2/pi, from position at on, which may be before the point; at >= -63.
typedef struct { u64 a, b, c; } three;

static inline three window(int at)
{
	static const u64 words[] = {TWO_PI_WORDS};
	int i = at >> 6, up = at & 63, down = 63 - up; // i is -1 for the zeros before the point
	u64 a = i < 0 ? 0 : words[i], b = words[i + 1], c = words[i + 2], d = words[i + 3];
	return (three){a << up | b >> down >> 1, b << up | c >> down >> 1, c << up | d >> down >> 1};
}

// far_angle reduces large finite numbers: x 2/pi, of which only the bits around the point are computed (Payne and Hanek).
RARE angle far_angle(double x)
{
	u64 u = bits(x), m = (u & 0xfffffffffffffull) | 1ull << 52;
	int e = (int)(u >> 52 & 0x7ff) - 1075; // |x| = m 2^e
	// Bits of 2/pi before this position only give multiples of four.
	three w = window(e - 2);
	u64 p2 = m * w.c, t = m * w.b, p1 = t + mulhi(m, w.c), p0 = m * w.a + mulhi(m, w.b) + (p1 < t);
	// (p0 p1 p2) behind the point is x 2/pi / 4.
	int q = (int)(p0 >> 62);
	p0 = p0 << 2 | p1 >> 62;
	p1 = p1 << 2 | p2 >> 62;
	int over = (int)(p0 >> 63); // to the nearest
	q += over;
	u64 sign = over ? ~0ull : 0;
	p0 ^= sign;
	p1 ^= sign;
	int z = __builtin_clzll(p0 | 1);
	p0 = z ? p0 << z | p1 >> (64 - z) : p0;
	p1 <<= z;
	double s = power(-z - 64);
	double h = (double)(p0 & ~0x7ffull) * s, l = ((double)(p0 & 0x7ff) + (double)p1 * 0x1p-64) * s;
	dd r = product(h, PI_2_0);
	r = ordered(r.h, r.l + fma(h, PI_2_1, l * PI_2_0));
	int negative = (int)(u >> 63);
	if (negative != over) {
		r.h = -r.h;
		r.l = -r.l;
	}
	return (angle){r.h, r.l, negative ? -q : q};
}

static inline angle reduced(double x)
{
	double t = fma(x, TWO_PI_0, MAGIC), k = t - MAGIC;
	double r = fma(k, -PI_2_0, x); // exact
	dd p = product(k, -PI_2_1), s = sum(r, p.h);
	s = ordered(s.h, s.l + fma(k, -PI_2_2, p.l));
	angle a = {s.h, s.l, (int)bits(t)};
	if (fabs(x) > 100000 && fabs(x) < INF_D)
		a = far_angle(x);
	return a;
}

// sine and cosine are for |h| <= pi/4, as sums.
static inline dd sine(double h, double l)
{
	double z = h * h;
	return ordered(h, fma(h * z, p_sin(z), fma(-0.5 * z, l, l)));
}

static inline dd cosine(double h, double l)
{
	double z = MUL(h, h), zl = fma(h, h, -z);
	dd w = ordered(1, -0.5 * z);
	double v = fma(z * z, p_cos(z), fma(-h, l, fma(-0.5, zl, w.l)));
	return ordered(w.h, v);
}

static inline double turned(dd s, dd c, int q)
{
	double r = q & 1 ? c.h : s.h;
	return q & 2 ? -r : r;
}

FN double __nv_sin(double x)
{
	angle a = reduced(x);
	double r = turned(sine(a.h, a.l), cosine(a.h, a.l), a.q);
	return x == 0 ? x : r;
}

FN double __nv_cos(double x)
{
	angle a = reduced(x);
	return turned(sine(a.h, a.l), cosine(a.h, a.l), a.q + 1);
}

FN void __nv_sincos(double x, double *s, double *c)
{
	angle a = reduced(x);
	dd si = sine(a.h, a.l), co = cosine(a.h, a.l);
	double r = turned(si, co, a.q);
	*s = x == 0 ? x : r;
	*c = turned(si, co, a.q + 1);
}

FN double __nv_tan(double x)
{
	angle a = reduced(x);
	dd s = sine(a.h, a.l), c = cosine(a.h, a.l);
	dd n = a.q & 1 ? c : s, d = a.q & 1 ? (dd){-s.h, -s.l} : c;
	double q = n.h / d.h, e = fma(-q, d.h, n.h) + fma(-q, d.l, n.l);
	double r = fma(e, 1 / d.h, q);
	return x == 0 ? x : r;
}

// half_turns is pi (x - q/2), |x - q/2| <= 1/4.
static inline angle half_turns(double x)
{
	double y = fabs(x) < 0x1p53 ? x : x - x; // even integers, infinity, NaN
	double k = rint(2 * y), r = fma(k, -0.5, y);
	dd p = product(r, PI_0);
	double l = fma(r, PI_1, p.l);
	return (angle){p.h, l, (int)bits(fma(-4, rint(0.25 * k), k) + MAGIC)};
}

FN double __nv_sinpi(double x)
{
	angle a = half_turns(x);
	double r = turned(sine(a.h, a.l), cosine(a.h, a.l), a.q);
	return r == 0 ? copysign(0, x) : r;
}

FN double __nv_cospi(double x)
{
	angle a = half_turns(x);
	double r = turned(sine(a.h, a.l), cosine(a.h, a.l), a.q + 1);
	return r == 0 ? 0 : r;
}

FN void __nv_sincospi(double x, double *s, double *c)
{
	angle a = half_turns(x);
	dd si = sine(a.h, a.l), co = cosine(a.h, a.l);
	double r = turned(si, co, a.q), t = turned(si, co, a.q + 1);
	*s = r == 0 ? copysign(0, x) : r;
	*c = t == 0 ? 0 : t;
}

FN double __nv_asin(double x)
{
	double a = fabs(x), z = fma(-0.5, a, 0.5);
	int big = a > 0.5;
	z = big ? z : x * x;
	double s = sqrt(z), t = big ? s : a;
	double p = t * z * p_asin(z);
	// pi/2 - 2 (s + p), with what the root left out.
	double sl = fma(-s, s, z) / (s + s);
	dd h = ordered(PI_2_0, -2 * s);
	double far = h.h + (h.l + fma(-2, p + sl, PI_2_1));
	far = a == 1 ? PI_2_0 : far;
	far = a > 1 ? NAN_D : far;
	return copysign(big ? far : t + p, x);
}

FN double __nv_acos(double x)
{
	double a = fabs(x), z = fma(-0.5, a, 0.5);
	int big = a > 0.5;
	z = big ? z : x * x;
	double s = sqrt(z), t = big ? s : x;
	double p = t * z * p_asin(z);
	double sl = s > 0 ? fma(-s, s, z) / (s + s) : 0;
	dd h = ordered(PI_2_0, -x);
	double small = h.h + (h.l + (PI_2_1 - p));
	double near = 2 * (s + (p + sl));
	dd g = ordered(PI_0, -2 * s);
	double far = g.h + (g.l + fma(-2, p + sl, PI_1));
	double r = big ? (x < 0 ? far : near) : small;
	return a > 1 ? NAN_D : r;
}

FN double __nv_atan(double x)
{
	double a = fabs(x), inv = 1 / a;
	int big = a > 1;
	double t = big ? inv : a, z = t * t;
	double p = t * z * p_atan(z);
	// What the quotient left out.
	double tl = big ? fma(-t, a, 1) * t : 0;
	tl = a == INF_D ? 0 : tl;
	dd h = ordered(PI_2_0, -t);
	double r = big ? h.h + (h.l + (PI_2_1 - (p + tl))) : t + p;
	return copysign(r, x);
}

FN double __nv_atan2(double y, double x)
{
	double a = fabs(x), b = fabs(y), hi = fmax(a, b), lo = fmin(a, b);
	// Both away from the ends: the quotient's rest must not be lost.
	double by = hi > 0x1p1000 ? 0x1p-100 : hi < 0x1p-900 ? 0x1p100 : 1;
	hi *= by;
	lo *= by;
	double t = lo / hi;
	t = hi == 0 ? 0 : t;
	t = lo == INF_D ? 1 : t;
	double tl = fma(-t, hi, lo) / hi;
	tl = hi == 0 || hi == INF_D || t < 0x1p-900 ? 0 : tl;
	double z = t * t, p = fma(t * z, p_atan(z), tl);
	dd h = ordered(PI_2_0, -t);
	dd r = b > a ? (dd){h.h, h.l + (PI_2_1 - p)} : (dd){t, p};
	dd g = ordered(PI_0, -r.h);
	int left = bits(x) >> 63;
	double s = left ? g.h + (g.l + (PI_1 - r.l)) : r.h + r.l;
	s = a != a || b != b ? x + y : s;
	return copysign(s, s == s ? y : 1);
}

FN double __nv_sinh(double x)
{
	double a = fabs(x), z = a * a;
	double near = fma(a * z, p_sinh(z), a);
	int n;
	dd e = exponential(a > 720 ? 720 : a, 0, &n);
	double up = power(n - 1 < 1023 ? n - 1 : 1023), down = power(-n - 1 > -1022 ? -n - 1 : -1022);
	double inv = down / e.h;
	double far = up * e.h + (up * e.l - inv);
	far = n > 1023 ? (e.h + e.l) * 0x1p1023 * (n > 1024 ? 2 : 1) : far;
	double r = a < 1 ? near : far;
	return copysign(a > 0x1.633ce8fb9f87dp9 ? INF_D : r, x);
}

FN double __nv_cosh(double x)
{
	double a = fabs(x);
	int n;
	dd e = exponential(a > 720 ? 720 : a, 0, &n);
	double up = power(n - 1 < 1023 ? n - 1 : 1023), down = power(-n - 1 > -1022 ? -n - 1 : -1022);
	double r = up * e.h + (up * e.l + down / e.h);
	r = n > 1023 ? (e.h + e.l) * 0x1p1023 * (n > 1024 ? 2 : 1) : r;
	r = a > 0x1.633ce8fb9f87dp9 ? INF_D : r;
	return x != x ? x : r;
}

FN double __nv_tanh(double x)
{
	double a = fabs(x);
	dd e = exp_minus_1(a > 22 ? 44 : 2 * a);
	dd d = sum(e.h, 2);
	d.l += e.l;
	double q = e.h / d.h, rest = (fma(-q, d.h, e.h) + fma(-q, d.l, e.l)) / d.h;
	double r = a > 22 ? 1 : q + rest;
	r = x == 0 ? x : r;
	return x != x ? x : copysign(r, x);
}

FN double __nv_asinh(double x)
{
	double a = fabs(x), b = fmin(a, 0x1p500), z = b * b;
	double t = b + z / (1 + sqrt(1 + z));
	dd near = log_1p(t, 0);
	dd far = logarithm(a);
	far = ordered(LN2_0, far.h);
	double r = a > 0x1p30 ? far.h + (far.l + LN2_1) : near.h + near.l;
	r = a < 0x1p-28 ? a : r;
	r = a == INF_D ? a : r;
	return x != x ? x : copysign(r, x);
}

FN double __nv_acosh(double x)
{
	double b = fmin(x, 0x1p500), t = b - 1;
	double s = sqrt(t * (b + 1));
	dd u = sum(t, s), near = log_1p(u.h, u.l);
	dd far = logarithm(x);
	double r = x > 0x1p30 ? far.h + (far.l + LN2_0) : near.h + near.l;
	r = x == INF_D ? x : r;
	return x >= 1 ? r : NAN_D;
}

FN double __nv_atanh(double x)
{
	double a = fabs(x), d = 1 - a, dl = (1 - d) - a;
	double q = 2 * a / d, ql = fma(-q, dl, fma(-q, d, 2 * a)) / d;
	dd l = log_1p(q, ql);
	double r = 0.5 * (l.h + l.l);
	r = a < 0x1p-28 ? a : r;
	r = a == 1 ? INF_D : r;
	r = a <= 1 ? r : NAN_D;
	return copysign(r, x);
}
