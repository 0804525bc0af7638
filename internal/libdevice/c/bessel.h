// Bessel functions, double precision.
#pragma once
#include "special.h"

#define NEAR(name, k, x) ((((x) - name##_ZERO##k##_0) - name##_ZERO##k##_1))

// swing is sqrt(2/(pi x)) m cos(x - turn + ph), for x >= 8: Hankel's expansion as modulus and phase. Where cosine is false, sin.
static inline double swing(double x, double m, double ph, double turn, int quarter)
{
	angle a = reduced(x);
	double d = (ph - turn) + a.l;
	// cos(a + d) of an angle that may be larger than pi/4.
	dd s = sum(a.h, d);
	angle b = reduced(s.h);
	double r = turned(sine(b.h, b.l + s.l), cosine(b.h, b.l + s.l), a.q + b.q + quarter);
	return r * m * SQRT_2_PI_0 / sqrt(x);
}

RARE double j_far(double x, int one, int quarter)
{
	double w = 1 / x, z = w * w;
	double m = one ? p_mod1(z) : p_mod0(z), p = w * (one ? p_phase1(z) : p_phase0(z));
	return x > 0x1p500 ? 0 : swing(x, m, p, one ? 3 * (PI_2_0 / 2) : PI_2_0 / 2, quarter);
}

RARE double j0_of(double x)
{
	if (x < 1)
		return p_j0small(x * x);
	if (x < 4) {
		double t = NEAR(J0, 0, x);
		return t * p_j00(t);
	}
	if (x < 7) {
		double t = NEAR(J0, 1, x);
		return t * p_j01(t);
	}
	if (x < 8.65) {
		double t = NEAR(J0, 2, x);
		return t * p_j02(t);
	}
	return j_far(x, 0, 1);
}

RARE double j1_of(double x)
{
	if (x < 1)
		return x * p_j1small(x * x);
	if (x < 5.4) {
		double t = NEAR(J1, 0, x);
		return t * p_j10(t);
	}
	if (x < 8) {
		double t = NEAR(J1, 1, x);
		return t * p_j11(t);
	}
	return j_far(x, 1, 1);
}

RARE double y0_of(double x)
{
	if (x < 0.45) {
		dd l = logarithm(x);
		double z = x * x;
		return fma(l.h * p_j0small(z), TWO_PI_0, p_y0small(z));
	}
	if (x < 1.35) {
		double t = NEAR(Y0, 0, x);
		return t * p_y00(t);
	}
	if (x < 2.5)
		return p_y0mid(x - 1.9375);
	if (x < 5.5) {
		double t = NEAR(Y0, 1, x);
		return t * p_y01(t);
	}
	if (x < 8) {
		double t = NEAR(Y0, 2, x);
		return t * p_y02(t);
	}
	return j_far(x, 0, 0);
}

RARE double y1_of(double x)
{
	if (x < 1.1) {
		dd l = logarithm(x);
		double z = x * x, r = x * fma(l.h * p_j1small(z), TWO_PI_0, p_y1small(z));
		return x < 0x1p-1000 ? -TWO_PI_0 / x : r - TWO_PI_0 / x;
	}
	if (x < 3.8) {
		double t = NEAR(Y1, 0, x);
		return t * (x < 2.2 ? p_y10(t) : p_y11(t));
	}
	if (x < 7) {
		double t = NEAR(Y1, 2, x);
		return t * p_y12(t);
	}
	if (x < 8.5) {
		double t = NEAR(Y1, 3, x);
		return t * p_y13(t);
	}
	return j_far(x, 1, 0);
}

FN double __nv_j0(double x)
{
	return x != x ? x : j0_of(fabs(x));
}

FN double __nv_j1(double x)
{
	double r = j1_of(fabs(x));
	return x != x ? x : bits(x) >> 63 ? -r : r;
}

// y_ends is r, or what a function of the second kind is where x is not a number above 0.
static inline double y_ends(double x, double r)
{
	r = x == 0 ? -INF_D : r;
	return x >= 0 ? r : NAN_D;
}

FN double __nv_y0(double x) { return y_ends(x, x > 0 ? y0_of(x) : 0); }
FN double __nv_y1(double x) { return y_ends(x, x > 0 ? y1_of(x) : 0); }

FN double __nv_jn(int n, double x)
{
	if (n < 0)
		return NAN_D;
	if (n == 0)
		return __nv_j0(x);
	if (n == 1 || x != x)
		return __nv_j1(x);
	double a = fabs(x), r;
	if (a == 0 || a == INF_D)
		return 0;
	if (a < 0x1p-30) { // the first term of the series: what follows would overflow
		r = 1;
		for (int k = 1; k <= n && r > 0; k++)
			r *= 0.5 * a / k;
	} else if (a > n) { // upwards
		double p = j0_of(a), q = j1_of(a);
		for (int k = 1; k < n; k++) {
			double t = fma(2 * k / a, q, -p);
			p = q;
			q = t;
		}
		r = q;
	} else { // downwards from a ratio (Lentz), then to the greater of J0 and J1
		double c = 2.0 * n / a, d = 0, f = c;
		double C = c, D = 0;
		for (int k = 1; k < 20000; k++) {
			double b = 2.0 * (n + k) / a;
			D = b - D;
			D = D == 0 ? 0x1p-300 : D;
			C = b - 1 / C;
			C = C == 0 ? 0x1p-300 : C;
			D = 1 / D;
			d = C * D;
			f *= d;
			if (fabs(d - 1) < 0x1p-53)
				break;
		}
		// f = J(n-1) / J(n)
		double q = 1, p = f, e = 0;
		for (int k = n - 1; k > 0; k--) {
			double t = fma(2.0 * k / a, p, -q);
			q = p;
			p = t;
			if (fabs(p) > 0x1p500) {
				p *= 0x1p-600;
				q *= 0x1p-600;
				e += 1;
			}
		}
		// p : q = J0 : J1
		double j0 = j0_of(a), j1 = j1_of(a);
		r = fabs(j0) > fabs(j1) ? j0 / p : j1 / q;
		for (; e > 0 && r != 0; e -= 1)
			r *= 0x1p-600;
	}
	return x < 0 && (n & 1) ? -r : r;
}

FN double __nv_yn(int n, double x)
{
	if (n < 0)
		return NAN_D;
	if (n == 0)
		return __nv_y0(x);
	if (n == 1 || !(x > 0))
		return __nv_y1(x);
	if (x == INF_D)
		return 0;
	double p = y0_of(x), q = y1_of(x);
	for (int k = 1; k < n && q > -INF_D; k++) {
		double t = fma(2 * k / x, q, -p);
		p = q;
		q = t;
	}
	return q;
}

// growing is e^x / sqrt(x) v for x >= 8.
static inline double growing(double x, double v)
{
	int n;
	dd e = exponential(x > 800 ? 800 : x, 0, &n);
	return x > 800 ? INF_D : scale((e.h * v + e.l * v) / sqrt(x), n);
}

FN double __nv_cyl_bessel_i0(double x)
{
	double a = fabs(x), w = 1 / a;
	double r = a < 8 ? p_i0small(a * a) : growing(a, a < 32 ? p_i0mid(w) : p_i0big(w));
	return x != x ? x : r;
}

FN double __nv_cyl_bessel_i1(double x)
{
	double a = fabs(x), w = 1 / a;
	double r = a < 8 ? a * p_i1small(a * a) : growing(a, a < 32 ? p_i1mid(w) : p_i1big(w));
	return x != x ? x : copysign(r, x);
}
