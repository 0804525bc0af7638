// What the functions are written with. The same text is compiled for devices and, for tests, for the machine.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int s32;
typedef long long s64;

#define fma __builtin_fma
#define fmaf __builtin_fmaf
#define fabs __builtin_fabs
#define fabsf __builtin_fabsf
#define sqrt __builtin_sqrt
#define rint __builtin_rint
#define rintf __builtin_rintf
#define trunc __builtin_trunc
#define truncf __builtin_truncf
#define floor __builtin_floor
#define floorf __builtin_floorf
#define copysign __builtin_copysign
#define copysignf __builtin_copysignf
#define fmin __builtin_fmin
#define fmax __builtin_fmax
#define fminf __builtin_fminf
#define fmaxf __builtin_fmaxf
#define NAN_D __builtin_nan("")
#define NAN_F __builtin_nanf("")
#define INF_D __builtin_inf()
#define INF_F __builtin_inff()

// A function of the library; small ones are always a part of their caller, and what is seldom needed never is.
#define FN
#define RARE static __attribute__((noinline))

// MUL and MULF are products that no compiler fuses with a sum: what a sum of two numbers is made of must be rounded.
// SQRTF is rounded correctly whatever the options are.
#ifdef __NVPTX__
int kudzu_reflect(const char *) __attribute__((const)); // __nvvm_reflect, which clang would answer by itself
#define SMALL __attribute__((always_inline))
#define MUL(a, b) __nvvm_mul_rn_d(a, b)
#define MULF(a, b) __nvvm_mul_rn_f(a, b)
#define SQRTF(a) __nvvm_sqrt_rn_f(a)
#define DIVF(a, b) __nvvm_div_rn_f(a, b)
#else
#define SMALL
#define MUL(a, b) ((a) * (b))
#define MULF(a, b) ((a) * (b))
#define SQRTF(a) __builtin_sqrtf(a)
#define DIVF(a, b) ((a) / (b))
#endif

static inline u64 bits(double x)
{
	union { double d; u64 u; } v = {.d = x};
	return v.u;
}

static inline double number(u64 u)
{
	union { u64 u; double d; } v = {.u = u};
	return v.d;
}

static inline u32 bitsf(float x)
{
	union { float f; u32 u; } v = {.f = x};
	return v.u;
}

static inline float numberf(u32 u)
{
	union { u32 u; float f; } v = {.u = u};
	return v.f;
}

// power and powerf are 2^n, for exponents of normal numbers.
static inline double power(int n) { return number((u64)(n + 1023) << 52); }
static inline float powerf(int n) { return numberf((u32)(n + 127) << 23); }

// scale is x 2^n in two steps, the second of which rounds.
static inline double scale(double x, int n)
{
	int half = n >> 1;
	return x * power(half) * power(n - half);
}

static inline float scalef(float x, int n)
{
	int half = n >> 1;
	return x * powerf(half) * powerf(n - half);
}

// Sums of two numbers: h is the sum rounded, l the rest.
typedef struct { double h, l; } dd;
typedef struct { float h, l; } ff;

static inline dd sum(double a, double b)
{
	double h = a + b, t = h - a;
	return (dd){h, (a - (h - t)) + (b - t)};
}

static inline ff sumf(float a, float b)
{
	float h = a + b, t = h - a;
	return (ff){h, (a - (h - t)) + (b - t)};
}

// ordered and orderedf are for |a| >= |b|.
static inline dd ordered(double a, double b)
{
	double h = a + b;
	return (dd){h, (a - h) + b};
}

static inline ff orderedf(float a, float b)
{
	float h = a + b;
	return (ff){h, (a - h) + b};
}

static inline dd product(double a, double b)
{
	double h = MUL(a, b);
	return (dd){h, fma(a, b, -h)};
}

static inline ff productf(float a, float b)
{
	float h = MULF(a, b);
	return (ff){h, fmaf(a, b, -h)};
}

// MAGIC added to a small number leaves its nearest integer in the low bits.
#define MAGIC 0x1.8p52
#define MAGICF 0x1.8p23f

#include "zfit.h"
