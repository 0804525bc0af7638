// Roots, lengths, remainders and the parts of numbers, double precision.
#pragma once
#include "exp.h"

FN double __nv_rsqrt(double x)
{
	double s = x < 0x1p-900 ? 0x1p100 : x > 0x1p900 ? 0x1p-100 : 1, a = x * s;
	double r = 1 / sqrt(a);
	// One step of Newton's, with the square of r as a sum.
	dd t = product(r, r);
	double e = fma(-a, t.l, fma(-a, t.h, 1));
	double q = fma(0.5 * r, e, r) * (s == 1 ? 1 : s > 1 ? 0x1p50 : 0x1p-50);
	q = x == INF_D ? 0 : q;
	return x == 0 ? copysign(INF_D, x) : q;
}

// cube_root is x^(1/3) for 1 <= x < 8, and its error's rest.
static inline dd cube_root(double x)
{
	// A guess from the bits of a float, refined to full precision.
	float f = (float)x;
	float g = numberf(bitsf(f) / 3 + 0x2a514067);
	g = g - (g * g * g - f) / (3 * g * g);
	g = g - (g * g * g - f) / (3 * g * g);
	double r = g, i = 1 / (3 * r * r);
	r = fma(-(fma(r * r, r, -x)), i, r);
	dd s = product(r, r), c = product(s.h, r);
	double e = (c.h - x) + fma(s.l, r, c.l);
	return (dd){r, -e * i};
}

FN double __nv_cbrt(double x)
{
	double a = fabs(x);
	int small = a < 0x1p-1022;
	u64 u = bits(small ? a * 0x1p54 : a);
	int e = (int)(u >> 52) - 1023 - (small ? 54 : 0);
	int k = (e + 3072) / 3 - 1024, r = e - 3 * k;
	dd c = cube_root(number((u & 0xfffffffffffffull) | (u64)(1023 + r) << 52));
	double v = (c.h + c.l) * power(k);
	return a == 0 || !(a < INF_D) ? x + x : copysign(v, x);
}

FN double __nv_rcbrt(double x)
{
	double a = fabs(x);
	int small = a < 0x1p-1022;
	u64 u = bits(small ? a * 0x1p54 : a);
	int e = (int)(u >> 52) - 1023 - (small ? 54 : 0);
	int k = (e + 3072) / 3 - 1024, r = e - 3 * k;
	dd c = cube_root(number((u & 0xfffffffffffffull) | (u64)(1023 + r) << 52));
	double q = 1 / c.h, t = fma(-q, c.h, 1) - q * c.l;
	double v = fma(t, q, q) * power(-k);
	v = a == 0 ? INF_D : v;
	v = a == INF_D ? 0 : v;
	return x != x ? x : copysign(v, x);
}

// A sum of squares, times 2^-2n so that none is lost.
typedef struct { dd s; int n; } squares;

static inline int scale_of(double hi)
{
	int n = (int)(bits(hi) >> 52) - 1023;
	return n < -1000 ? -1000 : n > 1000 ? 1000 : n;
}

static inline dd plus_square(dd s, double x)
{
	dd p = product(x, x), t = sum(s.h, p.h);
	return ordered(t.h, t.l + (s.l + p.l));
}

static inline double length(dd s, int n)
{
	double r = sqrt(s.h);
	// The root of the sum: what is left over, divided by twice the root.
	double e = r > 0 ? (fma(-r, r, s.h) + s.l) / (2 * r) : 0;
	return (r + e) * power(n);
}

static inline double reciprocal(dd s, int n)
{
	double r = 1 / sqrt(s.h);
	dd t = product(r, r);
	double e = fma(-s.h, t.h, 1) - fma(s.h, t.l, s.l * t.h);
	r = fma(0.5 * r, e, r);
	return s.h == 0 ? INF_D : scale(r, -n);
}

static inline squares squares4(double a, double b, double c, double d)
{
	double hi = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
	int n = scale_of(hi);
	double by = power(-n);
	dd s = product(a * by, a * by);
	s = plus_square(s, b * by);
	s = plus_square(s, c * by);
	s = plus_square(s, d * by);
	return (squares){s, n};
}

#define ANY_INF(a, b, c, d) (fabs(a) == INF_D || fabs(b) == INF_D || fabs(c) == INF_D || fabs(d) == INF_D)
#define LENGTH(a, b, c, d)                                   \
	squares q = squares4(a, b, c, d);                    \
	return ANY_INF(a, b, c, d) ? INF_D : length(q.s, q.n)
#define RECIPROCAL(a, b, c, d)                               \
	squares q = squares4(a, b, c, d);                    \
	return ANY_INF(a, b, c, d) ? 0 : reciprocal(q.s, q.n)

FN double __nv_hypot(double x, double y) { LENGTH(x, y, 0.0, 0.0); }
FN double __nv_norm3d(double a, double b, double c) { LENGTH(a, b, c, 0.0); }
FN double __nv_norm4d(double a, double b, double c, double d) { LENGTH(a, b, c, d); }
FN double __nv_rhypot(double x, double y) { RECIPROCAL(x, y, 0.0, 0.0); }
FN double __nv_rnorm3d(double a, double b, double c) { RECIPROCAL(a, b, c, 0.0); }
FN double __nv_rnorm4d(double a, double b, double c, double d) { RECIPROCAL(a, b, c, d); }

static inline squares squares_of(int dim, const double *t)
{
	double hi = 0;
	for (int i = 0; i < dim; i++)
		hi = fmax(hi, fabs(t[i]));
	int n = scale_of(hi);
	double by = power(-n);
	dd s = {0, 0};
	for (int i = 0; i < dim; i++)
		s = plus_square(s, t[i] * by);
	if (hi == INF_D)
		s = (dd){INF_D, 0};
	return (squares){s, n};
}

FN double __nv_norm(int dim, const double *t)
{
	squares q = squares_of(dim, t);
	return q.s.h == INF_D ? INF_D : length(q.s, q.n);
}

FN double __nv_rnorm(int dim, const double *t)
{
	squares q = squares_of(dim, t);
	return q.s.h == INF_D ? 0 : reciprocal(q.s, q.n);
}

SMALL FN int __nv_ilogb(double x)
{
	u64 u = bits(x) & 0x7fffffffffffffffull;
	int e = (int)(u >> 52) - 1023, low = 63 - __builtin_clzll(u | 1) - 1074;
	e = e == -1023 ? low : e;
	e = u == 0 ? (int)0x80000000 : e;
	return u > 0x7ff0000000000000ull ? (int)0x80000000 : u == 0x7ff0000000000000ull ? 0x7fffffff : e;
}

SMALL FN double __nv_logb(double x)
{
	double r = __nv_ilogb(x);
	r = x == 0 ? -INF_D : r;
	return fabs(x) < INF_D ? r : x * x;
}

FN double __nv_ldexp(double x, int n)
{
	n = n > 2200 ? 2200 : n < -2200 ? -2200 : n;
	// Three steps, of which only the last can round: those before it stay normal.
	int e = __nv_ilogb(x), m = n;
	double r = x;
	if (!(fabs(x) > 0 && fabs(x) < INF_D))
		return x + x;
	if (e < -1022) { // make it normal
		r = x * 0x1p54;
		m -= 54;
		e += 54;
	}
	int to = e + m;
	to = to > 1024 ? 1024 : to < -1080 ? -1080 : to;
	if (to >= -1022)
		return to > 1023 ? copysign(INF_D, x) : number((bits(r) & 0x800fffffffffffffull) | (u64)(to + 1023) << 52);
	return number((bits(r) & 0x800fffffffffffffull) | (u64)(to + 1023 + 100) << 52) * 0x1p-100;
}

FN double __nv_scalbn(double x, int n) { return __nv_ldexp(x, n); }

FN double __nv_frexp(double x, int *e)
{
	int small = fabs(x) < 0x1p-1022;
	u64 u = bits(small ? x * 0x1p54 : x);
	int plain = x == 0 || !(fabs(x) < INF_D);
	*e = plain ? 0 : (int)(u >> 52 & 0x7ff) - 1022 - (small ? 54 : 0);
	return plain ? x + x : number((u & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}

SMALL FN double __nv_modf(double x, double *whole)
{
	double t = trunc(x);
	*whole = t;
	return fabs(x) == INF_D ? copysign(0, x) : copysign(x - t, x);
}

SMALL FN double __nv_fdim(double x, double y)
{
	double r = x > y ? x - y : 0;
	return x != x || y != y ? x + y : r;
}

SMALL FN double __nv_round(double x)
{
	double t = trunc(x), d = fabs(x - t);
	double r = d >= 0.5 ? t + copysign(1, x) : t;
	return fabs(x) < 0x1p52 ? copysign(r, x) : x + 0.0;
}

FN double __nv_nextafter(double x, double y)
{
	u64 u = bits(x);
	u64 v = x == 0 ? (bits(y) & 0x8000000000000000ull) | 1 : (y > x) == (x > 0) ? u + 1 : u - 1;
	double r = x == y ? y : number(v);
	return x != x || y != y ? x + y : r;
}

// Quotient and remainder of a and b > 0, both finite, a >= 0: the last bits of the quotient.
typedef struct { double r; u32 q; } division;

RARE division divided(double a, double b)
{
	u32 q = 0;
	// b 2^k, with the quotient in 52 bits, until it is b itself.
	for (;;) {
		int k = a >= b ? __nv_ilogb(a) - __nv_ilogb(b) - 51 : 0;
		double d = b;
		if (k > 0)
			d = __nv_ldexp(b, k);
		double up = d < 0x1p-960 ? 0x1p100 : 1; // the quotient of small numbers
		double t = trunc((a * up) / (d * up)), r = fma(-t, d, a);
		int over = r < 0;
		r = over ? r + d : r;
		a = r;
		u32 part = (u32)bits((t - over) + 0x1p52);
		q += k < 3 ? part << (k > 0 ? k : 0) : 0; // only the last three bits count
		if (k <= 0)
			break;
	}
	return (division){a, q};
}

FN double __nv_fmod(double x, double y)
{
	double a = fabs(x), b = fabs(y);
	if (!(a < INF_D) || !(b > 0))
		return NAN_D;
	if (a < b || b == INF_D)
		return x;
	return copysign(divided(a, b).r, x);
}

FN double __nv_remquo(double x, double y, int *quo)
{
	double a = fabs(x), b = fabs(y);
	*quo = 0;
	if (!(a < INF_D) || !(b > 0))
		return NAN_D;
	division d = {a, 0};
	if (a >= b)
		d = divided(a, b);
	// To the nearest: half of b may not be a number.
	double rest = b - d.r;
	int up = b != INF_D && (d.r > rest || (d.r == rest && (d.q & 1)));
	double r = up ? d.r - b : d.r;
	u32 q = (d.q + up) & 7;
	*quo = (bits(x) ^ bits(y)) >> 63 ? -(int)q : (int)q;
	return bits(x) >> 63 ? -r : r;
}

FN double __nv_remainder(double x, double y)
{
	int q;
	return __nv_remquo(x, y, &q);
}
