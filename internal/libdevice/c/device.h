// What is an instruction of its own, or few of them: the intrinsics.
#pragma once
#include "basicf.h"
#include "trigf.h"

#define FTZ kudzu_reflect("__CUDA_FTZ")
#define ARCH kudzu_reflect("__CUDA_ARCH")

// Sums and products with a rounding, never fused.
#define ROUNDINGS(F) F(rn, rn) F(rz, rz) F(rd, rm) F(ru, rp)
#define ARITHMETIC(r, m)                                                                                          \
	SMALL FN double __nv_dadd_##r(double x, double y) { return __nvvm_add_##m##_d(x, y); }                      \
	SMALL FN double __nv_dsub_##r(double x, double y) { return __nvvm_add_##m##_d(x, -y); }                     \
	SMALL FN double __nv_dmul_##r(double x, double y) { return __nvvm_mul_##m##_d(x, y); }                      \
	SMALL FN double __nv_ddiv_##r(double x, double y) { return __nvvm_div_##m##_d(x, y); }                      \
	SMALL FN double __nv_drcp_##r(double x) { return __nvvm_rcp_##m##_d(x); }                                   \
	SMALL FN double __nv_dsqrt_##r(double x) { return __nvvm_sqrt_##m##_d(x); }                                 \
	SMALL FN double __nv_fma_##r(double x, double y, double z) { return __nvvm_fma_##m##_d(x, y, z); }          \
	SMALL FN float __nv_fadd_##r(float x, float y)                                                              \
	{                                                                                                           \
		return FTZ ? __nvvm_add_##m##_ftz_f(x, y) : __nvvm_add_##m##_f(x, y);                               \
	}                                                                                                           \
	SMALL FN float __nv_fsub_##r(float x, float y)                                                              \
	{                                                                                                           \
		return FTZ ? __nvvm_add_##m##_ftz_f(x, -y) : __nvvm_add_##m##_f(x, -y);                             \
	}                                                                                                           \
	SMALL FN float __nv_fmul_##r(float x, float y)                                                              \
	{                                                                                                           \
		return FTZ ? __nvvm_mul_##m##_ftz_f(x, y) : __nvvm_mul_##m##_f(x, y);                               \
	}                                                                                                           \
	SMALL FN float __nv_fdiv_##r(float x, float y)                                                              \
	{                                                                                                           \
		return FTZ ? __nvvm_div_##m##_ftz_f(x, y) : __nvvm_div_##m##_f(x, y);                               \
	}                                                                                                           \
	SMALL FN float __nv_frcp_##r(float x) { return FTZ ? __nvvm_rcp_##m##_ftz_f(x) : __nvvm_rcp_##m##_f(x); }   \
	SMALL FN float __nv_fsqrt_##r(float x) { return FTZ ? __nvvm_sqrt_##m##_ftz_f(x) : __nvvm_sqrt_##m##_f(x); } \
	SMALL FN float __nv_fmaf_##r(float x, float y, float z)                                                     \
	{                                                                                                           \
		return FTZ ? __nvvm_fma_##m##_ftz_f(x, y, z) : __nvvm_fma_##m##_f(x, y, z);                         \
	}                                                                                                           \
	SMALL FN float __nv_fmaf_ieee_##r(float x, float y, float z) { return __nvvm_fma_##m##_f(x, y, z); }
ROUNDINGS(ARITHMETIC)

// Conversions; the instructions saturate.
#define CONVERSIONS(r, m)                                                                                     \
	SMALL FN s32 __nv_double2int_##r(double x) { return __nvvm_d2i_##m(x); }                                \
	SMALL FN u32 __nv_double2uint_##r(double x) { return __nvvm_d2ui_##m(x); }                              \
	SMALL FN s64 __nv_double2ll_##r(double x) { return __nvvm_d2ll_##m(x); }                                \
	SMALL FN u64 __nv_double2ull_##r(double x) { return __nvvm_d2ull_##m(x); }                              \
	SMALL FN float __nv_double2float_##r(double x) { return FTZ ? __nvvm_d2f_##m##_ftz(x) : __nvvm_d2f_##m(x); } \
	SMALL FN s32 __nv_float2int_##r(float x) { return FTZ ? __nvvm_f2i_##m##_ftz(x) : __nvvm_f2i_##m(x); }     \
	SMALL FN u32 __nv_float2uint_##r(float x) { return FTZ ? __nvvm_f2ui_##m##_ftz(x) : __nvvm_f2ui_##m(x); }  \
	SMALL FN s64 __nv_float2ll_##r(float x) { return FTZ ? __nvvm_f2ll_##m##_ftz(x) : __nvvm_f2ll_##m(x); }    \
	SMALL FN u64 __nv_float2ull_##r(float x) { return FTZ ? __nvvm_f2ull_##m##_ftz(x) : __nvvm_f2ull_##m(x); } \
	SMALL FN float __nv_int2float_##r(s32 x) { return __nvvm_i2f_##m(x); }                                  \
	SMALL FN float __nv_uint2float_##r(u32 x) { return __nvvm_ui2f_##m(x); }                                \
	SMALL FN float __nv_ll2float_##r(s64 x) { return __nvvm_ll2f_##m(x); }                                  \
	SMALL FN float __nv_ull2float_##r(u64 x) { return __nvvm_ull2f_##m(x); }                                \
	SMALL FN double __nv_ll2double_##r(s64 x) { return __nvvm_ll2d_##m(x); }                                \
	SMALL FN double __nv_ull2double_##r(u64 x) { return __nvvm_ull2d_##m(x); }
ROUNDINGS(CONVERSIONS)

SMALL FN double __nv_int2double_rn(s32 x) { return x; }
SMALL FN double __nv_uint2double_rn(u32 x) { return x; }
SMALL FN u16 __nv_float2half_rn(float x)
{
	union { _Float16 h; u16 u; } v = {.h = (_Float16)x};
	return v.u;
}
SMALL FN float __nv_half2float(u16 x)
{
	union { u16 u; _Float16 h; } v = {.u = x};
	return v.h;
}

// The same bits.
SMALL FN s32 __nv_float_as_int(float x) { return (s32)bitsf(x); }
SMALL FN u32 __nv_float_as_uint(float x) { return bitsf(x); }
SMALL FN float __nv_int_as_float(s32 x) { return numberf((u32)x); }
SMALL FN float __nv_uint_as_float(u32 x) { return numberf(x); }
SMALL FN s64 __nv_double_as_longlong(double x) { return (s64)bits(x); }
SMALL FN double __nv_longlong_as_double(s64 x) { return number((u64)x); }
SMALL FN s32 __nv_double2hiint(double x) { return (s32)(bits(x) >> 32); }
SMALL FN s32 __nv_double2loint(double x) { return (s32)bits(x); }
SMALL FN double __nv_hiloint2double(s32 hi, s32 lo) { return number((u64)(u32)hi << 32 | (u32)lo); }

// Integers.
SMALL FN s32 __nv_abs(s32 x) { return x < 0 ? (s32)(0 - (u32)x) : x; }
SMALL FN s64 __nv_llabs(s64 x) { return x < 0 ? (s64)(0 - (u64)x) : x; }
SMALL FN s32 __nv_min(s32 x, s32 y) { return x < y ? x : y; }
SMALL FN u32 __nv_umin(u32 x, u32 y) { return x < y ? x : y; }
SMALL FN s64 __nv_llmin(s64 x, s64 y) { return x < y ? x : y; }
SMALL FN u64 __nv_ullmin(u64 x, u64 y) { return x < y ? x : y; }
SMALL FN s32 __nv_max(s32 x, s32 y) { return x > y ? x : y; }
SMALL FN u32 __nv_umax(u32 x, u32 y) { return x > y ? x : y; }
SMALL FN s64 __nv_llmax(s64 x, s64 y) { return x > y ? x : y; }
SMALL FN u64 __nv_ullmax(u64 x, u64 y) { return x > y ? x : y; }
SMALL FN s32 __nv_mulhi(s32 x, s32 y) { return (s32)(((s64)x * y) >> 32); }
SMALL FN u32 __nv_umulhi(u32 x, u32 y) { return (u32)(((u64)x * y) >> 32); }
SMALL FN s64 __nv_mul64hi(s64 x, s64 y) { return (s64)(((__int128)x * y) >> 64); }
SMALL FN u64 __nv_umul64hi(u64 x, u64 y) { return mulhi(x, y); }
SMALL FN s32 __nv_mul24(s32 x, s32 y) { return __nvvm_mul24_i(x, y); }
SMALL FN u32 __nv_umul24(u32 x, u32 y) { return __nvvm_mul24_ui(x, y); }
SMALL FN u32 __nv_sad(s32 x, s32 y, u32 z) { return __nvvm_sad_i(x, y, z); }
SMALL FN u32 __nv_usad(u32 x, u32 y, u32 z) { return __nvvm_sad_ui(x, y, z); }
SMALL FN s32 __nv_hadd(s32 x, s32 y) { return (x & y) + ((x ^ y) >> 1); }
SMALL FN u32 __nv_uhadd(u32 x, u32 y) { return (x & y) + ((x ^ y) >> 1); }
SMALL FN s32 __nv_rhadd(s32 x, s32 y) { return (x | y) - ((x ^ y) >> 1); }
SMALL FN u32 __nv_urhadd(u32 x, u32 y) { return (x | y) - ((x ^ y) >> 1); }
SMALL FN s32 __nv_clz(s32 x) { return x == 0 ? 32 : __builtin_clz((u32)x); }
SMALL FN s32 __nv_clzll(s64 x) { return x == 0 ? 64 : __builtin_clzll((u64)x); }
SMALL FN s32 __nv_ffs(s32 x) { return x == 0 ? 0 : __builtin_ctz((u32)x) + 1; }
SMALL FN s32 __nv_ffsll(s64 x) { return x == 0 ? 0 : __builtin_ctzll((u64)x) + 1; }
SMALL FN s32 __nv_popc(u32 x) { return __builtin_popcount(x); }
SMALL FN s32 __nv_popcll(u64 x) { return __builtin_popcountll(x); }
SMALL FN u32 __nv_brev(u32 x) { return __builtin_bitreverse32(x); }
SMALL FN u64 __nv_brevll(u64 x) { return __builtin_bitreverse64(x); }
SMALL FN u32 __nv_byte_perm(u32 x, u32 y, u32 s) { return __nvvm_prmt(x, y, s & 0x7777); }

// Numbers as instructions have them.
SMALL FN double __nv_fabs(double x) { return fabs(x); }
SMALL FN float __nv_fabsf(float x) { return fabsf(x); }
SMALL FN double __nv_ceil(double x) { return __builtin_ceil(x); }
SMALL FN float __nv_ceilf(float x) { return __builtin_ceilf(x); }
SMALL FN double __nv_floor(double x) { return floor(x); }
SMALL FN float __nv_floorf(float x) { return floorf(x); }
SMALL FN double __nv_trunc(double x) { return trunc(x); }
SMALL FN float __nv_truncf(float x) { return truncf(x); }
SMALL FN double __nv_rint(double x) { return rint(x); }
SMALL FN float __nv_rintf(float x) { return rintf(x); }
SMALL FN double __nv_nearbyint(double x) { return rint(x); }
SMALL FN float __nv_nearbyintf(float x) { return rintf(x); }
SMALL FN double __nv_copysign(double x, double y) { return copysign(x, y); }
SMALL FN float __nv_copysignf(float x, float y) { return copysignf(x, y); }
SMALL FN double __nv_fma(double x, double y, double z) { return fma(x, y, z); }
SMALL FN float __nv_fmaf(float x, float y, float z) { return fmaf(x, y, z); }
SMALL FN double __nv_fmin(double x, double y) { return fmin(x, y); }
SMALL FN float __nv_fminf(float x, float y) { return fminf(x, y); }
SMALL FN double __nv_fmax(double x, double y) { return fmax(x, y); }
SMALL FN float __nv_fmaxf(float x, float y) { return fmaxf(x, y); }
SMALL FN double __nv_sqrt(double x) { return sqrt(x); }
SMALL FN float __nv_sqrtf(float x) { return __builtin_sqrtf(x); } // as the options say
SMALL FN float __nv_rsqrtf(float x) { return FTZ ? __nvvm_rsqrt_approx_ftz_f(x) : __nvvm_rsqrt_approx_f(x); }
SMALL FN float __nv_frsqrt_rn(float x) { return (float)(1 / sqrt((double)x)); }
SMALL FN double __nv_rcp64h(double x) { return __nvvm_rcp_approx_ftz_d(x); }
SMALL FN float __nv_saturatef(float x) { return FTZ ? __nvvm_saturate_ftz_f(x) : __nvvm_saturate_f(x); }
SMALL FN s64 __nv_llrint(double x) { return __nvvm_d2ll_rn(x); }
SMALL FN s64 __nv_llrintf(float x) { return FTZ ? __nvvm_f2ll_rn_ftz(x) : __nvvm_f2ll_rn(x); }
SMALL FN s64 __nv_llround(double x) { return __nvvm_d2ll_rz(__nv_round(x)); }
SMALL FN s64 __nv_llroundf(float x) { return __nvvm_f2ll_rz(__nv_roundf(x)); }

SMALL FN s32 __nv_isnand(double x) { return x != x; }
SMALL FN s32 __nv_isnanf(float x) { return x != x; }
SMALL FN s32 __nv_isinfd(double x) { return fabs(x) == INF_D; }
SMALL FN s32 __nv_isinff(float x) { return fabsf(x) == INF_F; }
SMALL FN s32 __nv_isfinited(double x) { return fabs(x) < INF_D; }
SMALL FN s32 __nv_finitef(float x) { return fabsf(x) < INF_F; }
SMALL FN s32 __nv_signbitd(double x) { return (s32)(bits(x) >> 63); }
SMALL FN s32 __nv_signbitf(float x) { return (s32)(bitsf(x) >> 31); }

// tag reads the number that a NaN is to carry: decimal, octal or hexadecimal.
static inline u64 tag(const char *s)
{
	u64 base = 10, v = 0;
	if (*s == '0') {
		base = 8;
		if (*++s == 'x' || *s == 'X') {
			base = 16;
			s++;
		}
	}
	for (; *s; s++) {
		u64 d = *s <= '9' ? (u64)(*s - '0') : (u64)((*s | 32) - 'a' + 10);
		if (d >= base)
			return 0;
		v = v * base + d;
	}
	return v;
}

FN double __nv_nan(const char *s) { return number(0x7ff8000000000000ull | (tag(s) & 0x7ffffffffffffull)); }
FN float __nv_nanf(const char *s) { return numberf(0x7fc00000 | ((u32)tag(s) & 0x3fffff)); }

// Fast forms: what the special function unit gives.
SMALL FN float __nv_fast_sinf(float x) { return FTZ ? __nvvm_sin_approx_ftz_f(x) : __nvvm_sin_approx_f(x); }
SMALL FN float __nv_fast_cosf(float x) { return FTZ ? __nvvm_cos_approx_ftz_f(x) : __nvvm_cos_approx_f(x); }
SMALL FN float __nv_fast_log2f(float x) { return FTZ ? __nvvm_lg2_approx_ftz_f(x) : __nvvm_lg2_approx_f(x); }
static inline float fast_exp2(float x) { return FTZ ? __nvvm_ex2_approx_ftz_f(x) : __nvvm_ex2_approx_f(x); }
SMALL FN float __nv_fast_fdividef(float x, float y)
{
	return FTZ ? __nvvm_div_approx_ftz_f(x, y) : __nvvm_div_approx_f(x, y);
}
SMALL FN float __nv_fast_expf(float x) { return fast_exp2(x * LOG2_EF_0); }
SMALL FN float __nv_fast_exp10f(float x) { return fast_exp2(x * LOG2_10F_0); }
SMALL FN float __nv_fast_logf(float x) { return __nv_fast_log2f(x) * LN2F_0; }
SMALL FN float __nv_fast_log10f(float x) { return __nv_fast_log2f(x) * LOG10_2F_0; }
SMALL FN float __nv_fast_powf(float x, float y) { return fast_exp2(y * __nv_fast_log2f(x)); }
SMALL FN float __nv_fast_tanf(float x) { return __nv_fast_fdividef(__nv_fast_sinf(x), __nv_fast_cosf(x)); }
SMALL FN void __nv_fast_sincosf(float x, float *s, float *c)
{
	*s = __nv_fast_sinf(x);
	*c = __nv_fast_cosf(x);
}
FN float __nv_fast_tanhf(float x)
{
	float r;
	if (ARCH < 750)
		return __nv_tanhf(x);
	__asm__("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}
