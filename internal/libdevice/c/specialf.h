// The error function and its relatives, gamma and Bessel functions, single precision.
#pragma once
#include "bessel.h"
#include "trigf.h"

static inline float erfcx_off(float x)
{
	float d = x + 4, t = DIVF(x - 4, d);
	t += fmaf(-t, d, x - 4) * (1 - t) * 0.125f; // 1/d is (1-t)/8
	return DIVF(p_erfcx_f(t), fmaf(2, x, 1));
}

// erf_near is erf(x) for |x| <= 1.
static inline float erf_nearf(float x)
{
	float z = x * x;
	return fmaf(x, fmaf(z, p_erf_f(z), ERF1F_0), x);
}

static inline float fallingf(float s, float sl, float v)
{
	int n;
	float e = exponentialf(s > 110 ? -110 : -s, -sl, &n);
	return scalef(e * v, n);
}

FN float __nv_erfcxf(float x)
{
	float a = fabsf(x);
	ff s = productf(a, a);
	float far = a > 1e8f ? DIVF(0x1.20dd76p-1f, a) : erfcx_off(a); // 1/sqrt(pi)
	int n;
	float e = exponentialf(s.h > 95 ? 95 : s.h, s.h > 95 ? 0 : s.l, &n);
	float near = fmaf(2, scalef(e, n), -far);
	float r = x < 0 ? near : far;
	r = a < 0.5f ? e * (1 - erf_nearf(x)) * powerf(n) : r;
	return x != x ? x : r;
}

FN float __nv_erfcf(float x)
{
	float a = fabsf(x);
	a = a > 11 ? 11 : a;
	ff s = productf(a, a);
	float r = fallingf(s.h, s.l, erfcx_off(a));
	r = x < 0 ? 2 - r : r;
	r = a < 0.5f ? 1 - erf_nearf(x) : r;
	return x != x ? x : r;
}

FN float __nv_erff(float x)
{
	float a = fabsf(x), near = erf_nearf(x);
	float b = a > 11 ? 11 : a;
	ff s = productf(b, b);
	float far = copysignf(1 - fallingf(s.h, s.l, erfcx_off(b)), x);
	float r = a < 1 ? near : far;
	return x != x ? x : r;
}

FN float __nv_normcdff(float x)
{
	float a = fabsf(x);
	a = a > 15 ? 15 : a;
	ff s = productf(a, a);
	float r = fallingf(0.5f * s.h, 0.5f * s.l, 0.5f * erfcx_off(a * SQRT_HALFF_0));
	r = x > 0 ? 1 - r : r;
	r = a < 0.5f ? fmaf(0.5f, erf_nearf(x * SQRT_HALFF_0), 0.5f) : r;
	return x != x ? x : r;
}

// inversef is x g(w), where erfinv(x) = x g(w) for w = -log(1-x^2).
static inline float inversef(float x, float w)
{
	if (w < 1.25f) // g is not rounded: it may have a coarser last place than the result
		return copysignf(fmaf(x, SQRT_PI_HALFF_0, x * fmaf(w, p_erfinvf(w), SQRT_PI_HALFF_1)), x);
	float s = SQRTF(w);
	float r = p_erfinv0f(w - 2.5f);
	if (w >= 5)
		r = s < 4.2f ? p_erfinv1f(s - 3) : p_erfinv2f(s - 7);
	return x * r;
}

FN float __nv_erfinvf(float x)
{
	float a = fabsf(x), r = inversef(x, -__nv_logf(fmaf(-a, a, 1)));
	r = a == 1 ? copysignf(INF_F, x) : r;
	return a <= 1 ? r : NAN_F;
}

FN float __nv_erfcinvf(float y)
{
	float r = inversef(1 - y, -__nv_logf(y * (2 - y)));
	r = y == 0 ? INF_F : r;
	r = y == 2 ? -INF_F : r;
	return y >= 0 && y <= 2 ? r : NAN_F;
}

FN float __nv_normcdfinvf(float p)
{
	float y = 2 * p, r = -inversef(fmaf(-2, p, 1), -__nv_logf(y * (2 - y)));
	r = fmaf(r, SQRT_2F_1, r * SQRT_2F_0) + 0.0f; // never -0
	r = p == 0 ? -INF_F : r;
	r = p == 1 ? INF_F : r;
	return p >= 0 && p <= 1 ? r : NAN_F;
}

// Seldom called, and delicate: computed in double precision.
FN float __nv_lgammaf(float x) { return (float)__nv_lgamma(x); }
FN float __nv_tgammaf(float x) { return (float)__nv_tgamma(x); }
FN float __nv_j0f(float x) { return (float)__nv_j0(x); }
FN float __nv_j1f(float x) { return (float)__nv_j1(x); }
FN float __nv_jnf(int n, float x) { return (float)__nv_jn(n, x); }
FN float __nv_y0f(float x) { return (float)__nv_y0(x); }
FN float __nv_y1f(float x) { return (float)__nv_y1(x); }
FN float __nv_ynf(int n, float x) { return (float)__nv_yn(n, x); }
FN float __nv_cyl_bessel_i0f(float x) { return (float)__nv_cyl_bessel_i0(x); }
FN float __nv_cyl_bessel_i1f(float x) { return (float)__nv_cyl_bessel_i1(x); }
FN float __nv_powif(float x, int n) { return (float)__nv_pow(x, n); }
