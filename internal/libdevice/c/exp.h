// Exponentials and logarithms of double precision.
#pragma once
#include "kd.h"

// exponential is e^(x+lo) / 2^n as a sum, for |x| < 2000: x = n ln 2 + r.
static inline dd exponential(double x, double lo, int *n)
{
	double t = fma(x, LOG2_E_0, MAGIC), k = t - MAGIC;
	*n = (int)bits(t);
	double r = fma(k, -LN2_0, x); // exact
	double w = fma(k, -LN2_1, lo), s = r + w;
	w -= s - r;
	return ordered(1, s + fma(s * s, p_exp(s), w));
}

FN double __nv_exp(double x)
{
	int n;
	dd e = exponential(x, 0, &n);
	double r = scale(e.h, n);
	r = x > 0x1.62e42fefa39efp9 ? INF_D : r;
	return x < -746 ? 0 : r;
}

FN double __nv_exp2(double x)
{
	double t = x + MAGIC, k = t - MAGIC, r = x - k;
	double p = scale(fma(r, p_exp2(r), 1), (int)bits(t));
	p = x >= 1024 ? INF_D : p;
	return x < -1076 ? 0 : p;
}

FN double __nv_exp10(double x)
{
	double t = fma(x, LOG2_10_0, MAGIC), k = t - MAGIC;
	double r = fma(k, -LOG10_2_1, fma(k, -LOG10_2_0, x));
	double p = scale(1 + fma(r, LN10_0, fma(r * r, p_exp10(r), r * LN10_1)), (int)bits(t));
	p = x > 0x1.34413509f79fep8 ? INF_D : p;
	return x < -324 ? 0 : p;
}

// exp_minus_1 is e^x - 1 as a sum, for -100 < x < 710.
static inline dd exp_minus_1(double x)
{
	double t = fma(x, LOG2_E_0, MAGIC), k = t - MAGIC;
	double r = fma(k, -LN2_0, x), w = k * -LN2_1, s = r + w; // r is exact
	w -= s - r;
	dd e = ordered(s, fma(s * s, p_exp(s), w));
	int n = (int)bits(t), top = n > 1023; // 2^1024 is too large for the sum
	double two = power(top ? 1023 : n), by = top ? 2 : 1;
	dd a = sum(two - (top ? 0.5 : 1), two * e.h);
	a = ordered(a.h, a.l + two * e.l);
	return (dd){a.h * by, a.l * by};
}

FN double __nv_expm1(double x)
{
	dd e = exp_minus_1(x < -100 ? -100 : x);
	double r = e.h + e.l;
	r = x > 0x1.62e42fefa39efp9 ? INF_D : r;
	return x == 0 ? x : r;
}

// The exponent and the fraction of x > 0, sqrt(1/2) <= m < sqrt(2).
static inline double fraction(double x, int *k)
{
	int small = x < 0x1p-1022;
	u64 u = bits(small ? x * 0x1p54 : x);
	s64 e = (s64)(u - 0x3fe6a09e667f3bcdull) >> 52;
	*k = (int)e - (small ? 54 : 0);
	return number(u - ((u64)e << 52));
}

// log_near is log(1+f+fl), sqrt(1/2) - 1 <= f < sqrt(2) - 1, as a sum: 2 atanh(f / (2+f)).
static inline dd log_near(double f, double fl)
{
	double d = 2 + f, dl = ((2 - d) + f) + fl, inv = 1 / d;
	double s = f * inv, sl = (fma(-s, dl, fma(-s, d, f)) + fl) * inv;
	double z = s * s;
	dd r = ordered(2 * s, s * z * p_atanh(z));
	return (dd){r.h, fma(2, sl, r.l)};
}

// logarithm is log(x) as a sum, for finite x > 0.
static inline dd logarithm(double x)
{
	int k;
	double m = fraction(x, &k);
	dd l = log_near(m - 1, 0);
	// k LN2_0 needs more bits than there are: its rest is kept.
	dd n = product(k, LN2_0), r = sum(n.h, l.h);
	return (dd){r.h, r.l + (l.l + fma(k, LN2_1, n.l))};
}

// log_ends is r, or what a logarithm of x is where x is not a finite number above 0.
static inline double log_ends(double x, double r)
{
	r = x == INF_D ? x : r;
	r = x == 0 ? -INF_D : r;
	return x >= 0 ? r : NAN_D;
}

FN double __nv_log(double x)
{
	dd l = logarithm(x);
	return log_ends(x, l.h + l.l);
}

FN double __nv_log2(double x)
{
	int k;
	double m = fraction(x, &k);
	dd l = log_near(m - 1, 0), p = product(l.h, LOG2_E_0), r = sum(k, p.h);
	double rest = fma(l.l, LOG2_E_0, fma(l.h, LOG2_E_1, p.l));
	return log_ends(x, r.h + (r.l + rest));
}

FN double __nv_log10(double x)
{
	dd l = logarithm(x), p = product(l.h, LOG10_E_0);
	return log_ends(x, p.h + fma(l.l, LOG10_E_0, fma(l.h, LOG10_E_1, p.l)));
}

// log_1p is log(1 + x + xl), for -1 < x finite.
static inline dd log_1p(double x, double xl)
{
	dd u = sum(1, x);
	int k;
	double m = fraction(u.h, &k);
	dd l = log_near(m - 1, (u.l + xl) * power(-k > -1022 ? -k : -1022));
	dd n = product(k, LN2_0), r = sum(n.h, l.h);
	return (dd){r.h, r.l + (l.l + fma(k, LN2_1, n.l))};
}

FN double __nv_log1p(double x)
{
	dd l = log_1p(x, 0);
	double r = l.h + l.l;
	r = x == INF_D ? x : r;
	r = x == -1 ? -INF_D : r;
	r = x >= -1 ? r : NAN_D;
	return fabs(x) < 0x1p-54 ? x : r;
}

// log_precise is log(x) to 65 bits, for finite x > 0.
static inline dd log_precise(double x)
{
	int k;
	double f = fraction(x, &k) - 1;
	double d = 2 + f, dl = (2 - d) + f, inv = 1 / d;
	double s = f * inv, sl = fma(-s, dl, fma(-s, d, f)) * inv;
	dd z = product(s, s);
	z.l = fma(2 * s, sl, z.l);
	dd c = ordered(0x1.5555555555555p-1, z.h * p_atanh2(z.h));
	c.l += 0x1.5555555555555p-55;
	dd sz = product(s, z.h);
	sz.l += fma(s, z.l, sl * z.h);
	dd q = product(sz.h, c.h);
	q.l += fma(sz.h, c.l, sz.l * c.h);
	dd l = ordered(2 * s, q.h);
	l = ordered(l.h, l.l + fma(2, sl, q.l));
	dd n = product(k, LN2_0), r = sum(n.h, l.h);
	return ordered(r.h, r.l + (l.l + fma(k, LN2_1, n.l)));
}

// raised is x^y, for finite x > 0 and any y but NaN; times 2^-n.
static inline dd raised(double x, double y, int *n)
{
	dd l = log_precise(x), p = product(y, l.h);
	p.l = fma(y, l.l, p.l);
	int far = !(fabs(p.h) < 1500);
	return exponential(far ? copysign(1500, p.h) : p.h, far ? 0 : p.l, n);
}

static inline int odd(double y) { return fabs(y) < 0x1p53 && trunc(y) == y && (bits(fabs(y) + 0x1p52) & 1); }

FN double __nv_pow(double x, double y)
{
	double a = fabs(x);
	int n;
	dd e = raised(a, y, &n);
	n = n > 1100 ? 1100 : n < -1140 ? -1140 : n;
	double r = scale(e.h + e.l, n);
	r = a == 0 || a == INF_D ? ((a == 0) == (y < 0) ? INF_D : 0) : r;
	int negative = bits(x) >> 63;
	r = negative && odd(y) ? -r : r;
	r = x < 0 && a != INF_D && trunc(y) != y ? NAN_D : r;
	r = x != x || y != y ? x + y : r;
	r = x == -1 && fabs(y) == INF_D ? 1 : r;
	return x == 1 || y == 0 ? 1 : r;
}

FN double __nv_powi(double x, int n) { return __nv_pow(x, n); }
