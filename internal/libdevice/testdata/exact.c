// References in quadruple precision, and the table of what is compared.
#include "sweep.h"

#define EXACT(name, value) \
	static quad name(const quad *x) { return value; }

static quad half_angle(quad x, int cosine)
{
	quad k = Q(rint)(2 * x), r = (x - k / 2) * PI;
	int q = (int)Q(fmod)(k, 4) + cosine;
	quad v = q & 1 ? Q(cos)(r) : Q(sin)(r);
	return q & 2 ? -v : v;
}

static quad e_sinpi(const quad *x)
{
	quad v = Q(isnan)(x[0]) || Q(isinf)(x[0]) ? x[0] - x[0] : half_angle(x[0], 0);
	return v == 0 ? Q(copysign)(0, x[0]) : v;
}

static quad e_cospi(const quad *x)
{
	quad v = Q(isnan)(x[0]) || Q(isinf)(x[0]) ? x[0] - x[0] : half_angle(x[0], 1);
	return v == 0 ? 0 : v;
}

static quad erfcx_q(quad x)
{
	if (x < 50)
		return x < -200 ? (quad)INFINITY : Q(exp)(x * x) * Q(erfc)(x);
	quad s = 1, t = 1;
	for (int k = 1; k < 12; k++) {
		t *= -(quad)(2 * k - 1) / (2 * x * x);
		s += t;
	}
	return s / (x * Q(sqrt)(PI));
}

// erfc^-1, from both sides: Newton's method on the logarithm.
static quad erfcinv_q(quad y)
{
	if (!(y >= 0 && y <= 2))
		return (quad)NAN;
	if (y == 0 || y == 2)
		return y == 0 ? (quad)INFINITY : -(quad)INFINITY;
	if (y > 1)
		return -erfcinv_q(2 - y);
	quad w = -Q(log)(y * (2 - y)), x = Q(sqrt)(w) * (y > 0.1 ? 0.9 : 1);
	for (int i = 0; i < 60; i++) {
		quad e = Q(erfc)(x), d = (Q(log)(e) - Q(log)(y)) * e * Q(sqrt)(PI) / 2 * Q(exp)(x * x);
		x += d;
		if (Q(fabs)(d) <= 1e-31 * Q(fabs)(x))
			break;
	}
	return x;
}

// erf^-1; 1 - x is exact.
static quad erfinv_q(quad x)
{
	if (!(Q(fabs)(x) <= 1))
		return (quad)NAN;
	if (Q(fabs)(x) > 0.25)
		return x < 0 ? -erfcinv_q(1 + x) : erfcinv_q(1 - x);
	quad y = x * Q(sqrt)(PI) / 2;
	for (int i = 0; i < 12 && x != 0; i++)
		y -= (Q(erf)(y) - x) * Q(sqrt)(PI) / 2 * Q(exp)(y * y);
	return y;
}

static quad bessel_i(int n, quad x)
{
	quad a = Q(fabs)(x);
	if (Q(isnan)(x) || Q(isinf)(x))
		return n ? x : a;
	quad s = 0, t = 1;
	if (a < 80) {
		for (int k = 0; k < 300; k++) {
			s += t / (n ? k + 1 : 1);
			t *= a * a / 4 / ((quad)(k + 1) * (k + 1));
		}
		s *= n ? a / 2 : 1;
	} else {
		for (int k = 1; k < 40; k++) {
			s += t;
			t *= -(quad)(4 * n * n - (2 * k - 1) * (2 * k - 1)) / (8 * k * a);
		}
		s *= Q(exp)(a) / Q(sqrt)(2 * PI * a);
	}
	return n ? Q(copysign)(s, x) : s;
}

static quad bessel_y(int n, quad x)
{
	if (x == 0)
		return -(quad)INFINITY;
	if (x < 0)
		return (quad)NAN;
	return n == 0 ? Q(y0)(x) : n == 1 ? Q(y1)(x) : Q(yn)(n, x);
}

static quad norm_q(const quad *x, int n, int inverse)
{
	quad s = 0;
	for (int i = 0; i < n; i++)
		if (Q(isinf)(x[i]))
			return inverse ? 0 : (quad)INFINITY;
	for (int i = 0; i < n; i++)
		s += x[i] * x[i];
	return inverse ? 1 / Q(sqrt)(s) : Q(sqrt)(s);
}

static quad gamma_q(quad x)
{
	if (x < 0 && (Q(floor)(x) == x))
		return (quad)NAN;
	if (x < -0.5) { // libquadmath's loses sign and digits here
		quad f = Q(floor)(x), r = PI / (Q(fabs)(half_angle(x, 0)) * Q(exp)(Q(lgamma)(1 - x)));
		if (x > -1700)
			r = PI / (Q(fabs)(half_angle(x, 0)) * Q(tgamma)(1 - x));
		return Q(fmod)(f, 2) != 0 ? -r : r;
	}
	return Q(tgamma)(x);
}

EXACT(e_sin, Q(sin)(x[0]))
EXACT(e_cos, Q(cos)(x[0]))
EXACT(e_tan, Q(tan)(x[0]))
EXACT(e_asin, Q(asin)(x[0]))
EXACT(e_acos, Q(acos)(x[0]))
EXACT(e_atan, Q(atan)(x[0]))
EXACT(e_atan2, Q(atan2)(x[0], x[1]))
EXACT(e_sinh, Q(sinh)(x[0]))
EXACT(e_cosh, Q(cosh)(x[0]))
EXACT(e_tanh, Q(tanh)(x[0]))
EXACT(e_asinh, Q(asinh)(x[0]))
EXACT(e_acosh, Q(acosh)(x[0]))
EXACT(e_atanh, Q(atanh)(x[0]))
EXACT(e_exp, Q(exp)(x[0]))
EXACT(e_exp2, Q(pow)(2, x[0]))
EXACT(e_exp10, Q(pow)(10, x[0]))
EXACT(e_expm1, Q(expm1)(x[0]))
EXACT(e_log, Q(log)(x[0]))
EXACT(e_log2, Q(log2)(x[0]))
EXACT(e_log10, Q(log10)(x[0]))
EXACT(e_log1p, Q(log1p)(x[0]))
EXACT(e_pow, Q(pow)(x[0], x[1]))
EXACT(e_powi, Q(pow)(x[1], x[0]))
EXACT(e_cbrt, Q(cbrt)(x[0]))
EXACT(e_rcbrt, 1 / Q(cbrt)(x[0]))
EXACT(e_rsqrt, 1 / Q(sqrt)(x[0]))
EXACT(e_hypot, norm_q(x, 2, 0))
EXACT(e_norm3, norm_q(x, 3, 0))
EXACT(e_norm4, norm_q(x, 4, 0))
EXACT(e_rhypot, norm_q(x, 2, 1))
EXACT(e_rnorm3, norm_q(x, 3, 1))
EXACT(e_rnorm4, norm_q(x, 4, 1))
EXACT(e_erf, Q(erf)(x[0]))
EXACT(e_erfc, Q(erfc)(x[0]))
EXACT(e_erfcx, erfcx_q(x[0]))
EXACT(e_erfinv, erfinv_q(x[0]))
EXACT(e_erfcinv, erfcinv_q(x[0]))
EXACT(e_normcdf, Q(erfc)(-x[0] / Q(sqrt)(2)) / 2)
EXACT(e_normcdfinv, 0 - Q(sqrt)(2) * erfcinv_q(2 * x[0]))
EXACT(e_lgamma, Q(isinf)(x[0]) ? (quad)INFINITY : Q(lgamma)(x[0]))
EXACT(e_tgamma, gamma_q(x[0]))
EXACT(e_j0, Q(j0)(x[0]))
EXACT(e_j1, Q(j1)(x[0]))
EXACT(e_jn, Q(jn)((int)x[0], x[1]))
EXACT(e_y0, bessel_y(0, x[0]))
EXACT(e_y1, bessel_y(1, x[0]))
EXACT(e_yn, bessel_y((int)x[0], x[1]))
EXACT(e_cyl_bessel_i0, bessel_i(0, x[0]))
EXACT(e_cyl_bessel_i1, bessel_i(1, x[0]))
EXACT(e_fmod, Q(fmod)(x[0], x[1]))
EXACT(e_remainder, Q(remainder)(x[0], x[1]))
EXACT(e_fdim, Q(fdim)(x[0], x[1]))
EXACT(e_round, Q(round)(x[0]))
EXACT(e_logb, Q(logb)(x[0]))
EXACT(e_ldexp, Q(ldexp)(x[1], (int)x[0]))

static int from8(const quad *x) { return Q(fabs)(x[0]) >= 8; }
static int orders(const quad *x) { (void)x; return 1; }
static int above(const quad *x) { return x[1] > 1.5 * x[0]; }
static int inside(const quad *x) { return x[0] > -23.0001 && x[0] < -2.2637; }
static int insidef(const quad *x) { return x[0] > -10.001 && x[0] < -2.264; }

#define ONE(name, low, high)                                      \
	double __nv_##name(double);                               \
	float __nv_##name##f(float);
#define TWO(name, low, high)                                      \
	double __nv_##name(double, double);                       \
	float __nv_##name##f(float, float);
#include "list.h"
#undef ONE
#undef TWO
double __nv_norm3d(double, double, double), __nv_rnorm3d(double, double, double);
double __nv_norm4d(double, double, double, double), __nv_rnorm4d(double, double, double, double);
float __nv_norm3df(float, float, float), __nv_rnorm3df(float, float, float);
float __nv_norm4df(float, float, float, float), __nv_rnorm4df(float, float, float, float);
double __nv_rsqrt(double), __nv_jn(int, double), __nv_yn(int, double), __nv_powi(double, int), __nv_ldexp(double, int);
float __nv_jnf(int, float), __nv_ynf(int, float), __nv_powif(float, int), __nv_ldexpf(float, int);
double __nv_j0(double), __nv_j1(double), __nv_y0(double), __nv_y1(double), __nv_lgamma(double);
float __nv_j0f(float), __nv_j1f(float), __nv_y0f(float), __nv_y1f(float), __nv_lgammaf(float);
static double powi_first(int n, double x) { return __nv_powi(x, n); }
static float powif_first(int n, float x) { return __nv_powif(x, n); }
static double ldexp_first(int n, double x) { return __nv_ldexp(x, n); }
static float ldexpf_first(int n, float x) { return __nv_ldexpf(x, n); }

#define ROW(n, single, arity, fn, exact, low, high) {n, single, arity, 0, (void *)fn, exact, low, high, 0, 0}
#define PAIR(name, arity, fn, exact, low, high) \
	ROW(#name, 0, arity, __nv_##name, exact, low, high), ROW(#name "f", 1, arity, __nv_##name##f, exact, low, high)

const struct function functions[] = {
#define ONE(name, low, high) PAIR(name, 1, 0, e_##name, low, high),
#define TWO(name, low, high) PAIR(name, 2, 0, e_##name, low, high),
#include "list.h"
	PAIR(norm3d, 3, 0, e_norm3, -100, 100),
	PAIR(rnorm3d, 3, 0, e_rnorm3, -100, 100),
	PAIR(norm4d, 4, 0, e_norm4, -100, 100),
	PAIR(rnorm4d, 4, 0, e_rnorm4, -100, 100),
	ROW("rsqrt", 0, 1, __nv_rsqrt, e_rsqrt, 0, 10),
	{"j0", 0, 1, 0, (void *)__nv_j0, e_j0, -8, 8, from8, 5e-12},
	{"j1", 0, 1, 0, (void *)__nv_j1, e_j1, -8, 8, from8, 5e-12},
	{"y0", 0, 1, 0, (void *)__nv_y0, e_y0, 0, 8, from8, 5e-12},
	{"y1", 0, 1, 0, (void *)__nv_y1, e_y1, 0, 8, from8, 5e-12},
	{"jn", 0, 2, 1, (void *)__nv_jn, e_jn, 0, 200, orders, 5e-12},
	{"yn", 0, 2, 1, (void *)__nv_yn, e_yn, 0, 200, above, 5e-12},
	{"j0f", 1, 1, 0, (void *)__nv_j0f, e_j0, -8, 8, from8, 2.2e-6},
	{"j1f", 1, 1, 0, (void *)__nv_j1f, e_j1, -8, 8, from8, 2.2e-6},
	{"y0f", 1, 1, 0, (void *)__nv_y0f, e_y0, 0, 8, from8, 2.2e-6},
	{"y1f", 1, 1, 0, (void *)__nv_y1f, e_y1, 0, 8, from8, 2.2e-6},
	{"jnf", 1, 2, 1, (void *)__nv_jnf, e_jn, 0, 200, orders, 2.2e-6},
	{"ynf", 1, 2, 1, (void *)__nv_ynf, e_yn, 0, 200, above, 2.2e-6},
	{"lgamma", 0, 1, 0, (void *)__nv_lgamma, e_lgamma, -30, 30, inside, 2e-14},
	{"lgammaf", 1, 1, 0, (void *)__nv_lgammaf, e_lgamma, -15, 15, insidef, 2e-6},
	{"powi", 0, 2, 1, (void *)powi_first, e_powi, -2, 2, 0, 0},
	{"powif", 1, 2, 1, (void *)powif_first, e_powi, -2, 2, 0, 0},
	{"ldexp", 0, 2, 1, (void *)ldexp_first, e_ldexp, -2, 2, 0, 0},
	{"ldexpf", 1, 2, 1, (void *)ldexpf_first, e_ldexp, -2, 2, 0, 0},
};
const int function_count = sizeof functions / sizeof *functions;
