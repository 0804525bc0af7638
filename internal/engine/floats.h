// Floats as bits, and the processor's mode of computing with them.
#ifndef KZ_FLOATS_H
#define KZ_FLOATS_H

#include <stdint.h>
#include <string.h>

typedef int64_t i64;
typedef uint64_t u64;
typedef uint32_t u32;

static inline float as_float(u32 v) {
	float f;
	memcpy(&f, &v, 4);
	return f;
}

static inline u32 as_bits(float f) {
	u32 v;
	memcpy(&v, &f, 4);
	return v;
}

static inline u32 half_to_float(u32 v) {
	u32 s = (v & 0x8000) << 16, e = v >> 10 & 31, m = v & 0x3ff;
	if (e == 31) return s | 0x7f800000 | m << 13;
	if (e) return s | (e + 112) << 23 | m << 13;
	if (!m) return s;
	int shift = __builtin_clz(m) - 21;
	return s | (u32)(113 - shift) << 23 | ((m << shift) & 0x3ff) << 13;
}

// Nearest even; the canonical NaN.
static inline u32 float_to_half(u32 v) {
	u32 s = v >> 16 & 0x8000, a = v & 0x7fffffff;
	if (a > 0x7f800000) return 0x7fff;
	if (a >= 0x477ff000) return s | 0x7c00;
	if (a < 0x33000001) return s;
	int e = (int)(a >> 23);
	u32 m = (a & 0x7fffff) | 0x800000, drop = e < 113 ? 13 + (u32)(113 - e) : 13;
	u32 half = UINT32_C(1) << (drop - 1), low = m & (2 * half - 1), r = m >> drop;
	if (low > half || (low == half && (r & 1))) r++;
	return s | (e < 113 ? r : r + ((u32)(e - 113) << 10));
}

// The processor's rounding and flushing as samplers and tensor copies need it: nothing flushed. What it was is given back afterwards.
static inline u32 float_mode_plain(void) {
#if defined(__x86_64__)
	u32 m = __builtin_ia32_stmxcsr();
	if (m & 0x8040) __builtin_ia32_ldmxcsr(m & ~UINT32_C(0x8040));
	return m;
#elif defined(__aarch64__)
	u64 m;
	__asm__ volatile("mrs %0, fpcr" : "=r"(m));
	if (m & (1 << 24)) __asm__ volatile("msr fpcr, %0" : : "r"(m & ~(UINT64_C(1) << 24)));
	return (u32)m;
#else
	return 0;
#endif
}

static inline void float_mode_set(u32 m) {
#if defined(__x86_64__)
	if (m & 0x8040) __builtin_ia32_ldmxcsr(m);
#elif defined(__aarch64__)
	if (m & (1 << 24)) __asm__ volatile("msr fpcr, %0" : : "r"((u64)m));
#else
	(void)m;
#endif
}

#endif
