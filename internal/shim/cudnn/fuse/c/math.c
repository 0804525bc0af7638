// What pointwise operations need beyond an instruction or two: a function a mode and type, without branches, so that lanes of a vector
// do not wait for each other. Text of the kernels that use them begins with these.
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
#include "basic.h"
#include "basicf.h"
#include "exp.h"
#include "expf.h"
#include "special.h"
#include "specialf.h"
#include "trig.h"
#include "trigf.h"
#pragma clang attribute pop

#define T float
#define NAME(f) f##_f32
#define LIB(name) __nv_##name##f
#define FABS fabsf
#define ROOT SQRTF
#include "modes.h"
#undef T
#undef NAME
#undef LIB
#undef FABS
#undef ROOT

#define T double
#define NAME(f) f##_f64
#define LIB(name) __nv_##name
#define FABS fabs
#define ROOT sqrt
#include "modes.h"

// Formats that have no instruction everywhere. What is too large for eight bits becomes the largest finite number.

float from_bf16(u32 b) { return numberf(b << 16); }

u32 to_bf16(float x)
{
	u32 u = bitsf(x);
	u32 r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
	return (u & 0x7fffffff) > 0x7f800000 ? 0x7fff : r;
}

// from_small reads a number of 8 bits with m bits of fraction and a bias of the exponent, all of whose codes are numbers.
static inline float from_small(u32 b, int m, int bias)
{
	u32 magnitude = b & 0x7f;
	float normal = numberf((magnitude << (23 - m)) + ((u32)(127 - bias) << 23));
	float tiny = (float)(s32)magnitude * numberf((u32)(127 - bias + 1 - m) << 23);
	float v = magnitude >> m ? normal : tiny;
	return numberf(bitsf(v) | (b & 0x80) << 24);
}

float from_e4m3(u32 b) { return (b & 0x7f) == 0x7f ? NAN_F : from_small(b, 3, 7); }

float from_e5m2(u32 b)
{
	u32 a = b & 0x7f;
	float v = a == 0x7c ? INF_F : NAN_F;
	return a < 0x7c ? from_small(b, 2, 15) : numberf(bitsf(v) | (b & 0x80) << 24);
}

// to_small rounds to the nearest; most is the code of the largest number.
static inline u32 to_small(float x, int m, int bias, u32 most)
{
	u32 u = bitsf(x), a = u & 0x7fffffff, sign = u >> 24 & 0x80;
	int cut = 23 - m;
	u32 normal = (a + (1u << (cut - 1)) - 1 + (a >> cut & 1)) >> cut;
	normal -= (u32)(127 - bias) << m;
	// A sum with a number whose last bit is that of the smallest one rounds as it should.
	float magic = numberf((u32)(127 - bias + 1 - m + 23) << 23);
	u32 tiny = bitsf(numberf(a) + magic) - bitsf(magic);
	u32 r = a < (u32)(127 - bias + 1) << 23 ? tiny : normal;
	r = a >= 0x7f800000 || r > most ? most : r; // infinity is too large as well
	return r | sign;
}

u32 to_e4m3(float x) { return x != x ? 0x7f : to_small(x, 3, 7, 0x7e); }
u32 to_e5m2(float x) { return x != x ? 0x7f : to_small(x, 2, 15, 0x7b); }

// uniform is the number at an index of a stream of Philox 4x32-10, in (0, 1].
float uniform(u64 seed, u64 offset, u64 index)
{
	u64 at = index / 4;
	u32 c0 = (u32)at, c1 = (u32)(at >> 32), c2 = (u32)offset, c3 = (u32)(offset >> 32);
	u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
#pragma clang loop unroll(full)
	for (int i = 0; i < 10; i++) {
		u64 a = (u64)0xD2511F53u * c0, b = (u64)0xCD9E8D57u * c2;
		u32 n0 = (u32)(b >> 32) ^ c1 ^ k0, n2 = (u32)(a >> 32) ^ c3 ^ k1;
		c1 = (u32)b, c3 = (u32)a, c0 = n0, c2 = n2;
		k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
	}
	u32 first = index & 1 ? c1 : c0, second = index & 1 ? c3 : c2;
	u32 r = index & 2 ? second : first;
	return ((float)(r >> 8) + 1) * 0x1p-24f;
}
