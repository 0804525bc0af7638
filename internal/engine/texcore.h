// What an instruction on textures and surfaces computes for one lane: what sm_90 does, as recorded; the interpreter
// (internal/backend/interp/texture*.go) has the same in another way, and explains it. GPUs run it, too (internal/devrt/c): no tables
// and nothing of libc's but memory is used, and the few things that differ there are the caller's to define.
#ifndef KZ_TEXCORE_H
#define KZ_TEXCORE_H

#include "floats.h"
#include "texture.h"
#include <stdbool.h>

enum { OFF = -1, NOWHERE = -2 }; // texels of the border's colour; none at all
#define MAX_TEXEL (INT64_C(1) << 36)

// Bytes of a channel.
static inline u32 size_of(u32 format) { return UINT32_C(0x42421421) >> 4 * format & 15; }

// What the hardware makes of an sRGB value, in 1/16384.
static inline u32 linear_of(u32 v);

// Neither the engine nor a GPU has libm.
static inline double down(double v) {
	if (!(__builtin_fabs(v) < 4503599627370496.0)) return v;
	double t = (double)(i64)v;
	return t > v ? t - 1 : t;
}

static inline double up(double v) { return -down(-v); }

static inline double more(double a, double b) { return a > b ? a : b; }

static inline i64 min64(i64 a, i64 b) { return a < b ? a : b; }
static inline i64 max64(i64 a, i64 b) { return a > b ? a : b; }

// floor(x * 2^k + half), bounded; 0 for what is not a number.
static i64 floor_scaled(float x, int k, double half) {
	double v = down((double)x * (double)(INT64_C(1) << k) + half);
	if (!(v == v)) return 0;
	if (v > (double)MAX_TEXEL) return MAX_TEXEL;
	if (v < -(double)MAX_TEXEL) return -MAX_TEXEL;
	return (i64)v;
}

static inline int unit_bits(u32 n) {
	int k = 21;
	while (n > UINT32_C(1) << (k - 8)) k++;
	return k;
}

struct spot { i64 at[2]; i64 frac; };

static i64 address(i64 i, i64 n, int mode) {
	switch (mode) {
	case KZ_TEX_WRAP:
		if (i >= 0 && i < n) return i; // the division is dear
		i %= n;
		return i < 0 ? i + n : i;
	case KZ_TEX_MIRROR:
		if (i >= 0 && i < n) return i;
		i %= 2 * n;
		if (i < 0) i += 2 * n;
		return i >= n ? 2 * n - 1 - i : i;
	case KZ_TEX_BORDER:
		return i < 0 || i >= n ? OFF : i;
	}
	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

// Where a coordinate falls on a side of n texels, in 1/256: of the first of two to mix, or of the texel. k is unit_bits where it is normalized, else 0.
static inline i64 spot_of(float x, i64 n, int k, bool linear) {
	i64 q = floor_scaled(x, k ? k : linear ? 8 : 0, !k && linear ? 0.5 : 0);
	if (k) return linear ? ((q * n + (INT64_C(1) << (k - 9))) >> (k - 8)) - 128 : ((q * n) >> k) * 256;
	return linear ? q - 128 : q * 256;
}

struct side { u32 n; int mode; bool normalized, linear, gather; };

static struct spot place(const struct side *s, u32 word, bool integer, i64 off) {
	i64 n = s->n, f;
	struct spot p = {{0, 0}, 0};
	if (integer) {
		i64 i = (i64)(int32_t)word + off;
		if (i < 0 || i >= n) i = NOWHERE;
		p.at[0] = p.at[1] = i;
		return p;
	}
	f = spot_of(as_float(word), n, s->normalized ? unit_bits(s->n) : 0, s->linear);
	f += off * 256;
	int mode = s->mode;
	if (!s->normalized && (mode == KZ_TEX_WRAP || mode == KZ_TEX_MIRROR)) mode = KZ_TEX_CLAMP;
	if (mode == KZ_TEX_CLAMP && !s->gather) f = min64(max64(f, 0), (n - 1) * 256);
	p.at[0] = address(f >> 8, n, mode);
	p.at[1] = address((f >> 8) + 1, n, mode);
	p.frac = f & 255;
	return p;
}

// --- filters ---

static inline i64 round8(i64 n) { return (n + 128) >> 8; }
static inline i64 down8(i64 n) { return (n + 127) >> 8; }

// A texel, its weight, and the slab it belongs to. No address: the border.
struct tap { const uint8_t *p; int32_t w; uint8_t slab; };
enum { MAX_TAPS = 16 };
struct taps { int n, slabs; struct tap t[MAX_TAPS]; };

struct sampler {
	const struct kz_tex *o;
	u32 op, elem;
	bool integers;
};

static const uint8_t *texel(const struct sampler *s, int l, i64 i, i64 j, i64 k) {
	const struct kz_tex *o = s->o;
	if (i < 0 || j < 0 || k < 0) return NULL;
	return (const uint8_t *)(o->base[l] + (u64)k * o->slice[l] + (u64)j * o->pitch[l] + (u64)i * s->elem);
}

static void add_tap(struct taps *t, const uint8_t *p, i64 w) {
	if (w == 0) return;
	t->t[t->n].p = p;
	t->t[t->n].w = (int32_t)w;
	t->t[t->n++].slab = (uint8_t)t->slabs;
}

static void split(i64 slab, i64 fx, i64 fy, i64 w[4]) {
	i64 right = round8(fx * slab), left = slab - right;
	i64 below = round8(right * fy), below_left = down8(left * fy);
	w[0] = left - below_left;
	w[1] = right - below;
	w[2] = below_left;
	w[3] = below;
}

static void plane(const struct sampler *s, struct taps *t, int l, const struct spot *u, const struct spot *v, i64 k, i64 weight) {
	i64 w[4];
	split(weight, u->frac, v->frac, w);
	for (int n = 0; n < 4; n++)
		if (w[n]) add_tap(t, texel(s, l, u->at[n & 1], v->at[n >> 1], k), w[n]);
	t->slabs++;
}

struct ffmt { int mant, exp_bits; bool flush; };
static const struct ffmt f32fmt = {23, 8, true}, f16fmt = {10, 5, false};

// n * 2^(e - mant - bias), rounded half away from zero.
static u32 round_to(const struct ffmt *f, i64 n, int e) {
	u32 s = 0;
	if (n < 0) {
		n = -n;
		s = UINT32_C(1) << (f->mant + f->exp_bits);
	}
	u64 u = (u64)n;
	int over = 64 - __builtin_clzll(u) - (f->mant + 1);
	if (e + over < 1 && !f->flush) over = 1 - e;
	e += over;
	if (over > 62) return s;
	if (over > 0) u = (u + (UINT64_C(1) << (over - 1))) >> over;
	else u <<= -over;
	if (u >> (f->mant + 1)) {
		u >>= 1;
		e++;
	}
	int max_exp = (1 << f->exp_bits) - 1;
	if (!(u >> f->mant)) return s | (u32)u;
	if (e < 1) return s;
	if (e >= max_exp) return s | (u32)max_exp << f->mant;
	return s | (u32)e << f->mant | ((u32)u & ((UINT32_C(1) << f->mant) - 1));
}

// The sum of weighted floats, given as bits.
static u32 filter_float(const struct ffmt *f, const struct taps *t, const u32 *v) {
	const u32 sign = UINT32_C(1) << (f->mant + f->exp_bits);
	const int max_exp = (1 << f->exp_bits) - 1;
	i64 m[MAX_TAPS];
	int e[MAX_TAPS], top_of[4], top = 0;
	bool any[4] = {false, false, false, false}, some = false, plus = false, minus = false, negative = true;
	for (int i = 0; i < t->n; i++) {
		e[i] = (int)(v[i] >> f->mant) & max_exp;
		m[i] = v[i] & ((UINT32_C(1) << f->mant) - 1);
		bool neg = (v[i] & sign) != 0;
		if (e[i] == max_exp) {
			if (m[i]) return sign - 1;
			if (neg) minus = true;
			else plus = true;
			continue;
		}
		negative = negative && neg;
		if (e[i] > 0) m[i] |= INT64_C(1) << f->mant;
		else if (f->flush) m[i] = 0;
		else if (m[i]) {
			int shift = f->mant + 1 - (64 - __builtin_clzll((u64)m[i]));
			m[i] <<= shift;
			e[i] = 1 - shift;
		}
		if (!m[i]) continue;
		int s = t->t[i].slab;
		if (!any[s] || e[i] > top_of[s]) top_of[s] = e[i];
		any[s] = true;
		if (!some || e[i] > top) top = e[i];
		some = true;
	}
	if (plus || minus) {
		if (plus && minus) return sign - 1;
		return (u32)max_exp << f->mant | (minus ? sign : 0);
	}
	i64 total = 0;
	for (int s = 0; s < t->slabs && s < 4; s++) {
		if (!any[s]) continue;
		i64 sum = 0;
		for (int i = 0; i < t->n; i++) {
			int d = top_of[s] - e[i];
			if (t->t[i].slab != s || !m[i] || d > f->mant + 4) continue;
			i64 x = m[i] << 4 >> d;
			sum += (v[i] & sign ? -x : x) * t->t[i].w;
		}
		int d = top - top_of[s];
		total += (sum * 4) >> (d > 62 ? 62 : d);
	}
	if (total == 0) return negative && t->n > 0 ? sign : 0;
	return round_to(f, total, top - 4 - 8 - 2);
}

static u32 filter_srgb(const struct taps *t, const u32 *v) {
	u32 top = 0;
	for (int i = 0; i < t->n; i++)
		if (linear_of(v[i]) > top) top = linear_of(v[i]);
	int drop = top ? 32 - __builtin_clz(top) - 8 : 0;
	if (drop < 0) drop = 0;
	i64 sum = 0;
	for (int i = 0; i < t->n; i++) sum += (i64)t->t[i].w * (linear_of(v[i]) >> drop << drop);
	return sum ? round_to(&f16fmt, sum, 10 + 15 - 22) : 0;
}

// --- values ---

static inline u32 read_raw(const struct kz_tex *o, const uint8_t *p, int c) {
	switch (size_of(o->format)) {
	case 1: return p[c];
	case 2: {
		uint16_t v;
		memcpy(&v, p + 2 * c, 2);
		return v;
	}
	}
	u32 v;
	memcpy(&v, p + 4 * c, 4);
	return v;
}

// Toward zero: sust.p.
static u32 cut_half(u32 v) {
	u32 s = v >> 16 & 0x8000, a = v & 0x7fffffff;
	if (a > 0x7f800000) return s | 0x7fff;
	if (a == 0x7f800000) return s | 0x7c00;
	if (a >= 0x47800000) return s | 0x7bff;
	int e = (int)(a >> 23);
	u32 m = (a & 0x7fffff) | 0x800000;
	if (e < 113) return 113 - e > 10 ? s : s | m >> (13 + 113 - e);
	return s | ((u32)(e - 112) << 10) | (m >> 13 & 0x3ff);
}

static u32 border(const struct sampler *s, int c) {
	const struct kz_tex *o = s->o;
	float b = o->border[c];
	if (o->format == KZ_TEX_F32) return as_bits(b);
	if (o->format == KZ_TEX_F16) return float_to_half(as_bits(b));
	u32 mask = size_of(o->format) == 4 ? ~UINT32_C(0) : (UINT32_C(1) << 8 * size_of(o->format)) - 1;
	if (s->integers) return as_bits(b) & mask;
	double one = o->format == KZ_TEX_U8 ? 255 : o->format == KZ_TEX_U16 ? 65535 : o->format == KZ_TEX_S8 ? 127 : o->format == KZ_TEX_S16 ? 32767 : 0;
	double v = b;
	if (!(v == v)) return 0;
	v = v > 1 ? 1 : v < -1 ? -1 : v;
	return (u32)(int32_t)up(v * one - 0.5) & mask;
}

static inline u32 raw(const struct sampler *s, const uint8_t *p, int c) { return p ? read_raw(s->o, p, c) : border(s, c); }

static inline i64 sign_of(const struct kz_tex *o, u32 v) {
	switch (o->format) {
	case KZ_TEX_S8: return (int8_t)v;
	case KZ_TEX_S16: return (int16_t)v;
	case KZ_TEX_S32: return (int32_t)v;
	}
	return v;
}

static inline bool is_srgb(const struct kz_tex *o, int c) {
	return o->srgb && o->format == KZ_TEX_U8 && (c == 0 || (o->channels == 4 && c < 3));
}

// A texel that is not mixed with others.
static u32 convert(const struct sampler *s, u32 v, int c) {
	const struct kz_tex *o = s->o;
	if (s->integers) return (u32)sign_of(o, v);
	switch (o->format) {
	case KZ_TEX_F32: return v;
	case KZ_TEX_F16: return half_to_float(v);
	case KZ_TEX_U8:
		if (is_srgb(o, c)) return as_bits((float)linear_of(v) / 16384);
		return as_bits((float)(v / 255.0));
	case KZ_TEX_U16: return as_bits((float)(v / 65535.0));
	case KZ_TEX_S8: return as_bits((float)(max64((int8_t)v, -127) / 127.0));
	}
	return as_bits((float)(max64((int16_t)v, -32767) / 32767.0));
}

static u32 value(const struct sampler *s, const struct taps *t, int c) {
	const struct kz_tex *o = s->o;
	u32 v[MAX_TAPS];
	if (c >= o->channels) return 0;
	if (!o->linear && t->slabs == 1) return convert(s, raw(s, t->t[0].p, c), c);
	for (int i = 0; i < t->n; i++) v[i] = raw(s, t->t[i].p, c);
	if (o->format == KZ_TEX_F32) return filter_float(&f32fmt, t, v);
	if (o->format == KZ_TEX_F16) return half_to_float(filter_float(&f16fmt, t, v));
	if (is_srgb(o, c)) return half_to_float(filter_srgb(t, v));
	i64 sum = 0;
	for (int i = 0; i < t->n; i++) sum += t->t[i].w * sign_of(o, v[i]);
	switch (o->format) {
	case KZ_TEX_U32:
	case KZ_TEX_S32: return (u32)(sum >> 8);
	}
	if (s->integers) return (u32)round8(sum);
	switch (o->format) {
	case KZ_TEX_U8: return as_bits((float)((double)round8(sum * 257) / 65535));
	case KZ_TEX_U16: return as_bits((float)((double)round8(sum) / 65535));
	case KZ_TEX_S8: return as_bits((float)((double)max64((sum * 258 + 128 + 32 * (sum >> 12)) >> 8, -32767) / 32767));
	}
	return as_bits((float)((double)max64(round8(sum), -32767) / 32767));
}

#include "texfetch.h"

// --- surfaces ---

enum { STOP_NONE = 0, STOP_MISALIGN = 4, STOP_ADDRESS = 8 }; // internal/image: StopXxx

// Where an access of n bytes goes; NULL: nowhere. *stop is set where it ends the kernel.
static uint8_t *surface_at(const struct sampler *s, const u32 *c, u64 unit, u64 n, u32 *stop) {
	const struct kz_tex *o = s->o;
	const struct shape shape = shape_of(s->op), *g = &shape;
	u32 clamp = s->op >> KZ_TOP_CLAMP_SHIFT & 3;
	i64 at[3] = {0, 0, 0};
	if (g->layered) at[2] = (int32_t)*c++;
#pragma GCC unroll 3
	for (int i = 0; i < 3; i++)
		if (i < g->dims) at[i] = (int32_t)c[i];
	at[0] *= (i64)unit;
	if ((u64)at[0] & (n - 1)) {
		*stop = STOP_MISALIGN;
		return NULL;
	}
	i64 last[3] = {(i64)o->width[0] * s->elem - (i64)n, max64(1, o->height[0]) - 1, max64(1, o->depth[0]) - 1};
	if (!g->layered && g->dims < 3) last[2] = 0;
	if (g->dims < 2) last[1] = 0;
#pragma GCC unroll 3
	for (int i = 0; i < 3; i++) {
		if (at[i] >= 0 && at[i] <= last[i]) continue;
		if (clamp == KZ_OUT_CLAMP && last[0] >= 0) {
			at[i] = i == 2 && g->layered ? last[i] : min64(max64(at[i], 0), last[i]);
			if (i == 0) at[0] &= -(i64)n; // the last access that fits and is aligned
			continue;
		}
		if (clamp == KZ_OUT_TRAP) *stop = STOP_ADDRESS;
		return NULL;
	}
	return (uint8_t *)(o->base[0] + (u64)at[2] * o->slice[0] + (u64)at[1] * o->pitch[0] + (u64)at[0]);
}

static u32 to_format(const struct kz_tex *o, u32 v) {
	i64 x = (int32_t)v;
	switch (o->format) {
	case KZ_TEX_U8: return v > 255 ? 255 : v;
	case KZ_TEX_U16: return v > 65535 ? 65535 : v;
	case KZ_TEX_S8: return (u32)min64(max64(x, -128), 127);
	case KZ_TEX_S16: return (u32)min64(max64(x, -32768), 32767);
	case KZ_TEX_F16: return cut_half(v);
	}
	return v;
}

#define REDUCE(T, S) \
	static void reduce_##T(T *p, T v, u32 op) { \
		T old = __atomic_load_n(p, __ATOMIC_RELAXED), to; \
		do { \
			switch (op) { \
			case KZ_RED_ADD: to = old + v; break; \
			case KZ_RED_MINU: to = v < old ? v : old; break; \
			case KZ_RED_MAXU: to = v > old ? v : old; break; \
			case KZ_RED_MINS: to = (S)v < (S)old ? v : old; break; \
			case KZ_RED_MAXS: to = (S)v > (S)old ? v : old; break; \
			case KZ_RED_AND: to = old & v; break; \
			default: to = old | v; \
			} \
		} while (!__atomic_compare_exchange_n(p, &old, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
	}
REDUCE(uint32_t, int32_t)
REDUCE(uint64_t, int64_t)

// One lane of suld, sust and sured. Words beyond the coordinates are values.
static u32 surface(const struct sampler *s, const u32 *c, const u32 *v, u32 *r) {
	const struct kz_tex *o = s->o;
	u64 n = UINT64_C(1) << (s->op >> KZ_TOP_BYTES_SHIFT & 7);
	u32 stop = STOP_NONE, op = s->op >> KZ_TOP_SUB_SHIFT & 15;
	switch (s->op & KZ_TOP_KIND) {
	case KZ_TOP_LOAD: {
		uint8_t *p = surface_at(s, c, 1, n, &stop);
		memset(r, 0, n < 4 ? 4 : n);
		if (p) memcpy(r, p, n);
		return stop;
	}
	case KZ_TOP_STORE: {
		uint8_t *p = surface_at(s, c, 1, n, &stop);
		if (p) memcpy(p, v, n);
		return stop;
	}
	case KZ_TOP_STOREP: {
		uint8_t *p = surface_at(s, c, s->elem, s->elem, &stop);
		if (!p) return stop;
		u32 given = (u32)(n / 4);
		for (u32 k = 0; k < o->channels; k++) {
			u32 x = k < given ? to_format(o, v[k]) : 0;
			memcpy(p + k * size_of(o->format), &x, size_of(o->format));
		}
		return STOP_NONE;
	}
	}
	uint8_t *p = surface_at(s, c, s->op & KZ_TOP_FORMATTED ? s->elem : 1, n, &stop);
	if (!p) return stop;
	if ((s->op & KZ_TOP_FORMATTED) && o->format == KZ_TEX_S32) {
		if (op == KZ_RED_MINU) op = KZ_RED_MINS;
		if (op == KZ_RED_MAXU) op = KZ_RED_MAXS;
	}
	if (n == 8) reduce_uint64_t((uint64_t *)p, v[0] | (u64)v[1] << 32, op);
	else reduce_uint32_t((uint32_t *)p, v[0], op);
	return STOP_NONE;
}

// --- queries ---

static u32 channel_type(const struct kz_tex *o) {
	u32 low = o->kind == KZ_TEX_OBJECT && !o->integers ? UINT32_C(0xed910c32) : UINT32_C(0xed987cba); // a digit a format
	return 0x10d0 | (low >> 4 * o->format & 15);
}

static u32 query(const struct kz_tex *o, u32 op, u32 level) {
	bool surf = (op & KZ_TOP_SURFACE) != 0;
	u32 layers = o->layered ? (o->cube && !surf ? o->depth[0] / 6 : o->depth[0]) : 0;
	bool gone = level >= o->levels;
	u32 l = gone ? 0 : level;
	switch (op >> KZ_TOP_SUB_SHIFT & 15) {
	case KZ_Q_WIDTH: return gone ? 0 : o->width[l];
	case KZ_Q_HEIGHT:
		if (gone) return 0;
		if (o->dims == 1) return o->layered ? layers : surf ? 0 : 1;
		return o->height[l] ? o->height[l] : 1;
	case KZ_Q_DEPTH:
		if (gone || o->dims == 1) return 0;
		if (o->cube && surf) return o->depth[l];
		if (o->layered) return layers;
		return o->dims == 3 && !o->cube ? o->depth[l] : 0;
	case KZ_Q_TYPE: return channel_type(o);
	case KZ_Q_ORDER: return o->channels == 1 ? 0x10b0 : o->channels == 2 ? 0x10b2 : 0x10b5;
	case KZ_Q_NORMALIZED: return o->normalized;
	case KZ_Q_ARRAY: return layers;
	case KZ_Q_LEVELS: return o->levels;
	case KZ_Q_SAMPLES: return 1;
	case KZ_Q_FILTER: return o->linear;
	case KZ_Q_ADDR0: return o->address[0];
	case KZ_Q_ADDR1: return o->address[1];
	case KZ_Q_ADDR2: return o->address[2];
	}
	return 0;
}

static void set_sampler(struct sampler *s, const struct kz_tex *o, u32 op) {
	s->o = o;
	s->op = op;
	s->elem = size_of(o->format) * o->channels;
	s->integers = o->format == KZ_TEX_U32 || o->format == KZ_TEX_S32 || (o->format < KZ_TEX_F16 && o->integers);
}

static void to_type(u32 op, u32 v[4]) {
	if ((op >> KZ_TOP_DTYPE_SHIFT & 3) == KZ_DTYPE_F16)
		for (int i = 0; i < 4; i++) v[i] = float_to_half(v[i]);
}

#include "texfast.h"

#endif
