// The error function and its relatives, and the gamma function, double precision.
#pragma once
#include "trig.h"

// erfcx_of is e^(x^2) erfc(x) for x >= 0: a polynomial in (x-4)/(x+4), divided by 1+2x (Shepherd and Laframboise).
static inline double erfcx_of(double x)
{
	double d = x + 4, t = (x - 4) / d;
	// The rest of the quotient: close to 1 all bits of x are in it.
	t += fma(-t, d, x - 4) / d;
	double p = p_erfcx(t), e = fma(2, x, 1), r = p / e;
	return r;
}

// erf_near is erf(x) for |x| <= 1.
static inline double erf_near(double x)
{
	double z = x * x;
	return fma(x, fma(z, p_erf(z), ERF1_0), x);
}

// falling is e^-(s+sl) v for s >= 0.
static inline double falling(double s, double sl, double v)
{
	int n;
	s = s > 800 ? 800 : s;
	dd e = exponential(-s, -sl, &n);
	return scale(fma(e.h, v, e.l * v), n);
}

FN double __nv_erfcx(double x)
{
	double a = fabs(x);
	dd s = product(a, a);
	double far = a > 1e8 ? (1 / a) * 0x1.20dd750429b6dp-1 : erfcx_of(a); // 1/sqrt(pi)
	int n;
	dd e = exponential(s.h > 800 ? 800 : s.h, s.h > 800 ? 0 : s.l, &n);
	double up = scale(e.h, n), near = fma(2, up, -far);
	near = n < 1000 ? fma(2 * power(n), e.l, near) : near;
	near = s.h > 709 ? INF_D : near;
	near = s.h > 708 && s.h <= 709.5 ? 2 * (up + up * (e.l / e.h)) : near;
	double r = x < 0 ? near : far;
	r = a < 0.5 ? fma(e.h, 1 - erf_near(x), e.l) * power(n) : r;
	return x != x ? x : r;
}

FN double __nv_erfc(double x)
{
	double a = fabs(x);
	a = a > 30 ? 30 : a;
	dd s = product(a, a);
	double r = falling(s.h, s.l, erfcx_of(a));
	r = x < 0 ? 2 - r : r;
	r = a < 0.5 ? 1 - erf_near(x) : r;
	return x != x ? x : r;
}

FN double __nv_erf(double x)
{
	double a = fabs(x), near = erf_near(x);
	double b = a > 30 ? 30 : a;
	dd s = product(b, b);
	double far = copysign(1 - falling(s.h, s.l, erfcx_of(b)), x);
	double r = a < 1 ? near : far;
	return x != x ? x : r;
}

FN double __nv_normcdf(double x)
{
	double a = fabs(x);
	a = a > 40 ? 40 : a;
	dd s = product(a, a);
	double r = falling(0.5 * s.h, 0.5 * s.l, 0.5 * erfcx_of(fma(a, SQRT_HALF_1, a * SQRT_HALF_0)));
	r = x > 0 ? 1 - r : r;
	r = a < 0.5 ? fma(0.5, erf_near(x * SQRT_HALF_0), 0.5) : r;
	return x != x ? x : r;
}

// inverse is g(w), where erfinv(x) = x g(w) for w = -log(1-x^2).
static inline double inverse(double w)
{
	double s = sqrt(w);
	double r = p_erfinv0(w - 3.125);
	if (w >= 6.25)
		r = s < 4 ? p_erfinv1(s - 3.25) : s < 9 ? p_erfinv2(s - 6.5) : p_erfinv3(s - 18.25);
	return r;
}

FN double __nv_erfinv(double x)
{
	double a = fabs(x), z = MUL(x, x);
	// (1-x)(1+x) near 1, where 1-x is exact; 1-x^2 near 0.
	dd l = a < 0.5 ? log_1p(-z, -fma(x, x, -z)) : logarithm(fma(-a, a, 1) > 0 ? (1 - a) * (1 + a) : 1);
	double r = x * inverse(-(l.h + l.l));
	r = a == 1 ? copysign(INF_D, x) : r;
	return a <= 1 ? r : NAN_D;
}

FN double __nv_erfcinv(double y)
{
	double t = 1 - y;
	double w = y > 0.5 && y < 1.5 ? log_1p(-t * t, 0).h : logarithm(y > 0 && y < 2 ? y * (2 - y) : 1).h;
	double r = t * inverse(-w);
	r = y == 0 ? INF_D : r;
	r = y == 2 ? -INF_D : r;
	return y >= 0 && y <= 2 ? r : NAN_D;
}

FN double __nv_normcdfinv(double p)
{
	double y = 2 * p, t = fma(-2, p, 1);
	double w = y > 0.5 && y < 1.5 ? log_1p(-t * t, 0).h : logarithm(y > 0 && y < 2 ? y * (2 - y) : 1).h;
	double r = -t * inverse(-w);
	r = fma(r, SQRT_2_1, r * SQRT_2_0) + 0.0; // never -0
	r = p == 0 ? -INF_D : r;
	r = p == 1 ? INF_D : r;
	return p >= 0 && p <= 1 ? r : NAN_D;
}

// stirling is log gamma(x) for x >= 8, as a sum.
static inline dd stirling(double x)
{
	dd l = log_precise(x);
	double w = 1 / x;
	// (x - 1/2) log x - x + log sqrt(2 pi) + p(1/x^2)/x
	dd p = product(x - 0.5, l.h);
	p.l = fma(x - 0.5, l.l, p.l);
	dd s = ordered(p.h, -x);
	return (dd){s.h, s.l + p.l + LOG_SQRT_2PI_0 + w * p_stirling(w * w)};
}

// log_gamma is log gamma(x) for finite x > 0.
RARE double log_gamma(double x)
{
	if (x < 1) {
		double t = x < 0.5 ? x : x - 1;
		double g = t * (x < 0.5 ? p_lgamma1(t) : p_lgamma2(t));
		dd l = logarithm(x), s = sum(-l.h, g);
		return s.h + (s.l - l.l);
	}
	if (x < 2.5) {
		double t = x < 1.5 ? x - 1 : x - 2;
		return t * (x < 1.5 ? p_lgamma1(t) : p_lgamma2(t)) + 0.0; // never -0
	}
	if (x < 8)
		return x < 4.5 ? (x - 2) * p_lgamma3(x - 3.5) : p_lgamma6(x - 6.25);
	if (x > 0x1p60) {
		dd l = logarithm(x);
		return x > 0x1.74c1ccp+1014 ? x * ((l.h - 1) + l.l) : fma(x, l.h - 1, x * l.l);
	}
	dd s = stirling(x);
	return s.h + s.l;
}

FN double __nv_lgamma(double x)
{
	double a = fabs(x);
	double r = INF_D;
	if (x != x)
		return x;
	if (a == INF_D || x == 0)
		return r;
	if (x > 0 && a < INF_D)
		return log_gamma(x);
	if (a > 0x1p52 || trunc(x) == x)
		return r;
	if (a < 0x1p-60) {
		dd l = logarithm(a);
		return -(l.h + l.l);
	}
	if (a < 1) { // log gamma(1 + x) - log |x|
		double u = 1 + x, t = a < 0.5 ? x : u;
		double g = t * (a < 0.5 ? p_lgamma2(t) : p_lgamma1(t));
		dd l = log_precise(a), k = a < 0.5 ? log_1p(x, 0) : log_precise(u), s = sum(-l.h, -k.h), v = sum(s.h, g);
		return v.h + (v.l + (s.l - l.l - k.l));
	}
	// log(pi / |x sin(pi x)|) - log gamma(-x)
	angle h = half_turns(a);
	dd si = h.q & 1 ? cosine(h.h, h.l) : sine(h.h, h.l);
	double s = fabs(si.h) * a;
	dd l = log_precise(s), v = sum(LOG_PI_0, -l.h), w = sum(v.h, -log_gamma(a));
	return w.h + (w.l + (v.l + (LOG_PI_1 - l.l)));
}

// gamma_of is gamma(x) 2^-n, for 0.5 <= x < 2000.
static SMALL inline double gamma_of(double x, int *n)
{
	*n = 0;
	if (x < 8) {
		double p = 1, q = 1;
		while (x > 2.5) {
			x -= 1;
			p *= x;
		}
		if (x < 1.5) {
			q = x;
			x += 1;
		}
		return p_gamma(x - 2) * p / q;
	}
	dd s = stirling(x), t = ordered(s.h, s.l);
	dd e = exponential(t.h, t.l, n);
	return e.h + e.l;
}

FN double __nv_tgamma(double x)
{
	double a = fabs(x);
	int n;
	if (x != x)
		return x;
	if (x == 0)
		return copysign(INF_D, x);
	if (x > 172)
		return INF_D;
	if (x < 0 && (trunc(x) == x || a == INF_D))
		return NAN_D;
	if (a < 0x1p-60)
		return 1 / x;
	if (x >= 0.5) {
		double g = gamma_of(x, &n);
		return scale(g, n);
	}
	if (a < 0.5) // gamma(2+x) / (x (1+x))
		return p_gamma(x) / (x * (1 + x));
	if (x < -186)
		return odd(floor(x)) ? -0.0 : 0.0;
	// -pi / (x sin(pi x) gamma(-x))
	angle h = half_turns(a);
	dd si = h.q & 1 ? cosine(h.h, h.l) : sine(h.h, h.l);
	double g = gamma_of(a, &n);
	double r = PI_0 / (a * fabs(si.h) * g);
	r = scale(r, -n);
	return odd(floor(x)) ? -r : r;
}
