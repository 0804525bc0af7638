// The fetches that programs make most, for a warp at a time: of 1D and 2D textures with one level, and of plain memory. The loops go over
// lanes and are written so that compilers make vector instructions of them; texsample.c has the body once for each set of instructions.
// Every result is the one of texcore.h, bit for bit. A part of texsample.c.

#define PER_WARP static inline __attribute__((always_inline))

typedef int32_t warp_int[LANES] __attribute__((aligned(64)));
typedef u32 warp_bits[LANES] __attribute__((aligned(64)));

// as_float and as_bits, for these loops: compilers put no function in line that was compiled with other options.
PER_WARP float float_of(u32 v) {
	union { u32 v; float f; } x = {v};
	return x.f;
}

PER_WARP u32 bits_of(float f) {
	union { float f; u32 v; } x = {f};
	return x.v;
}

enum { MOST_SIDE = 1 << 17, MOST_TURNS = 32 }; // sides and coordinates for which all of this stays within 32 bits

struct warp_side { int n, k, mode; bool normalized, linear; };
struct warp_spot { warp_int first, next, part; };
struct warp_fetch { const struct kz_tex *o; const u32 *border; u32 op, mask; struct warp_side x, y; struct warp_spot u, v; };

// Whether the lanes of mask are all within what wraps here: those that are not are rare.
PER_WARP bool few_turns(const u32 *word, u32 mask) {
	u32 far = 0;
	for (int i = 0; i < LANES; i++) far |= (mask >> i & 1) && (word[i] & 0x7fffffff) >= 0x42000000 ? 1 : 0; // 32
	return !far;
}

PER_WARP int floor_int(float t) {
	int i = (int)t;
	return i - ((float)i > t);
}

// spot_of where the coordinate counts texels: floats are enough, since a power of two moves no bit of them.
PER_WARP void warp_counted(const struct warp_side *d, const u32 *word, int32_t *restrict at) {
	float scale = d->linear ? 256 : 1, far = (float)(d->n + 2) * scale;
	const float *restrict x = (const float *)word;
	int linear = d->linear;
	for (int i = 0; i < LANES; i++) {
		float t = x[i] * scale;
		t = t == t ? t : 0;
		t = t > far ? far : t;
		t = t < -far ? -far : t;
		int q = floor_int(t);
		at[i] = linear ? q + (t - (float)q >= 0.5f) - 128 : q * 256;
	}
}

// spot_of where it is a part of the side. Products are exact as doubles.
PER_WARP void warp_normalized(const struct warp_side *d, const u32 *word, int32_t *restrict at) {
	float scale = (float)(INT64_C(1) << d->k), low = -2, high = 3;
	double step = (double)d->n / (double)(INT64_C(1) << (d->linear ? d->k - 8 : d->k)), half = d->linear ? 0.5 : 0;
	const float *restrict c = (const float *)word;
	int linear = d->linear;
	if (d->mode == KZ_TEX_WRAP || d->mode == KZ_TEX_MIRROR) {
		low = -MOST_TURNS;
		high = MOST_TURNS;
	}
	for (int i = 0; i < LANES; i++) {
		float x = c[i];
		x = x == x ? x : 0;
		x = x > high ? high : x;
		x = x < low ? low : x;
		double v = (double)floor_int(x * scale) * step + half;
		int q = (int)v;
		q -= (double)q > v;
		at[i] = linear ? q - 128 : q * 256;
	}
}

// a modulo n, for |a| of a few million and a few n at most.
PER_WARP int turn(int a, int n, float each) {
	int r = a - floor_int((float)a * each) * n;
	r += r < 0 ? n : 0;
	return r >= n ? r - n : r;
}

PER_WARP void warp_address(const struct warp_side *d, struct warp_spot *s) {
	int n = d->n, mode = d->mode, last = (n - 1) * 256, twice = 2 * n;
	int32_t *restrict a = s->first, *restrict b = s->next, *restrict p = s->part;
	if (!d->normalized && mode != KZ_TEX_BORDER) mode = KZ_TEX_CLAMP;
	switch (mode) {
	case KZ_TEX_CLAMP:
		for (int i = 0; i < LANES; i++) {
			int f = a[i] < 0 ? 0 : a[i];
			f = f > last ? last : f;
			p[i] = f & 255;
			f >>= 8;
			a[i] = f;
			b[i] = f + (f < n - 1);
		}
		return;
	case KZ_TEX_BORDER:
		for (int i = 0; i < LANES; i++) {
			int f = a[i], at = f >> 8, to = at + 1;
			p[i] = f & 255;
			a[i] = (u32)at < (u32)n ? at : OFF;
			b[i] = (u32)to < (u32)n ? to : OFF;
		}
		return;
	case KZ_TEX_WRAP:
		for (int i = 0; i < LANES; i++) {
			int f = a[i], at = turn(f >> 8, n, 1.0f / (float)n), to = at + 1;
			p[i] = f & 255;
			a[i] = at;
			b[i] = to == n ? 0 : to;
		}
		return;
	}
	for (int i = 0; i < LANES; i++) {
		int f = a[i], at = turn(f >> 8, twice, 1.0f / (float)twice), to = at + 1 == twice ? 0 : at + 1;
		p[i] = f & 255;
		a[i] = at >= n ? twice - 1 - at : at;
		b[i] = to >= n ? twice - 1 - to : to;
	}
}

PER_WARP bool warp_place(const struct warp_side *d, const u32 *word, u32 mask, struct warp_spot *s) {
	bool turns = d->normalized && (d->mode == KZ_TEX_WRAP || d->mode == KZ_TEX_MIRROR);
	if (turns && !few_turns(word, mask)) return false;
	if (d->normalized) warp_normalized(d, word, s->first);
	else warp_counted(d, word, s->first);
	warp_address(d, s);
	return true;
}

// Words of memory, of which those of narrow texels lie in aligned words of 32 bits. off is the border's where it is negative.
struct warp_words { const uint8_t *base; int bytes, shift; u32 keep, border; };

PER_WARP void warp_load(const struct warp_words *w, const int32_t *restrict off, u32 *restrict out) {
	const uint8_t *base = w->base;
	u32 keep = w->keep, border = w->border;
	int shift = w->shift;
	if (w->bytes >= 4) {
		for (int i = 0; i < LANES; i++) {
			int at = off[i] < 0 ? 0 : off[i];
			u32 v = *(const u32 *)(base + at) >> shift & keep;
			out[i] = off[i] < 0 ? border : v;
		}
		return;
	}
	int skew = (int)((uintptr_t)base & 3);
	base -= skew;
	for (int i = 0; i < LANES; i++) {
		int at = (off[i] < 0 ? 0 : off[i]) + skew;
		u32 v = *(const u32 *)(base + (at & ~3)) >> ((at & 3) * 8 + shift) & keep;
		out[i] = off[i] < 0 ? border : v;
	}
}

// Offsets of the texels at (x, y).
PER_WARP void warp_offsets(const struct warp_fetch *f, const int32_t *restrict x, const int32_t *restrict y, u32 elem, int32_t *restrict off) {
	int pitch = (int)f->o->pitch[0], size = (int)elem;
	for (int i = 0; i < LANES; i++) off[i] = (x[i] | y[i]) < 0 ? OFF : y[i] * pitch + x[i] * size;
}

// half_to_float
PER_WARP u32 warp_half(u32 v) {
	u32 m = v & 0x7fff, s = (v & 0x8000) << 16;
	u32 normal = (m << 13) + (m >= 0x7c00 ? UINT32_C(224) << 23 : UINT32_C(112) << 23);
	u32 tiny = bits_of((float)(int)m * 0x1p-24f);
	return s | (m < 0x400 ? tiny : normal);
}

// Numbers of a whole format as fractions. The quotient of two short integers is never near the middle of two floats, so that it need not be
// made of doubles.
PER_WARP void warp_fractions(int32_t *restrict v, float one, u32 *restrict out) {
	for (int i = 0; i < LANES; i++) out[i] = bits_of((float)v[i] / one);
}

// convert for all lanes.
PER_WARP void warp_convert(const struct sampler *s, u32 *restrict v, u32 *restrict out) {
	int32_t *n = (int32_t *)v;
	int narrow = 32 - 8 * (int)size_of(s->o->format), format = (int)s->o->format;
	if (s->integers) {
		bool sign = format >= KZ_TEX_S8 && format <= KZ_TEX_S32;
		for (int i = 0; i < LANES; i++) out[i] = sign ? (u32)((int32_t)(v[i] << narrow) >> narrow) : v[i];
		return;
	}
	switch (format) {
	case KZ_TEX_F16:
		for (int i = 0; i < LANES; i++) out[i] = warp_half(v[i]);
		return;
	case KZ_TEX_U8: warp_fractions(n, 255, out); return;
	case KZ_TEX_U16: warp_fractions(n, 65535, out); return;
	case KZ_TEX_S8:
	case KZ_TEX_S16: {
		int most = format == KZ_TEX_S8 ? 127 : 32767;
		for (int i = 0; i < LANES; i++) {
			int x = (int32_t)(v[i] << narrow) >> narrow;
			n[i] = x < -most ? -most : x;
		}
		warp_fractions(n, (float)most, out);
		return;
	}
	}
	for (int i = 0; i < LANES; i++) out[i] = v[i];
}

struct warp_taps { warp_bits v[4]; warp_int w[4]; };

// A float and its weight, as numbers to add up: its exponent, and the mantissa with drop fewer bits.
struct warp_term { int e, m; u32 minus; };

PER_WARP struct warp_term term_of(u32 v, int w, int drop) {
	int e = w ? (int)(v >> 23 & 255) : 0;
	struct warp_term t = {e, e > 0 ? (int)((v & 0x7fffff) | 0x800000) << 4 >> drop : 0, w ? v : ~UINT32_C(0)};
	return t;
}

PER_WARP int int_max(int a, int b) { return a > b ? a : b; }

// The term where the largest exponent is top.
PER_WARP int aligned(const struct warp_term *t, u32 v, int top) {
	int d = top - t->e, x = t->m >> (d > 31 ? 31 : d);
	return (int32_t)v < 0 ? -x : x;
}

// filter_four for floats.
PER_WARP u32 filter_f32(u32 v0, u32 v1, u32 v2, u32 v3, int w0, int w1, int w2, int w3, int *largest) {
	struct warp_term a = term_of(v0, w0, 0), b = term_of(v1, w1, 0), c = term_of(v2, w2, 0), d = term_of(v3, w3, 0);
	int top = int_max(int_max(a.e, b.e), int_max(c.e, d.e));
	*largest = top;
	int x0 = aligned(&a, v0, top), x1 = aligned(&b, v1, top), x2 = aligned(&c, v2, top), x3 = aligned(&d, v3, top);
	// Halves of 14 bits: the weights are 256 together, so that floats have sums of them exactly.
	float f0 = (float)w0, f1 = (float)w1, f2 = (float)w2, f3 = (float)w3;
	float high = (float)(x0 >> 14) * f0 + (float)(x1 >> 14) * f1 + (float)(x2 >> 14) * f2 + (float)(x3 >> 14) * f3;
	float low = (float)(x0 & 16383) * f0 + (float)(x1 & 16383) * f1 + (float)(x2 & 16383) * f2 + (float)(x3 & 16383) * f3;
	double sum = (double)high * 16384 + (double)low;
	// A sum has 37 bits: this moves one that lies in the middle of two floats away from zero, and no other.
	u32 r = bits_of((float)(sum + sum * 0x1p-40)), s = r & UINT32_C(1) << 31;
	int to = (int)(r >> 23 & 255) + top - 162;
	u32 whole = s | (u32)to << 23 | (r & 0x7fffff);
	whole = to < 1 ? s : whole;
	whole = to >= 255 ? s | 0x7f800000 : whole;
	u32 minus = a.minus & b.minus & c.minus & d.minus & UINT32_C(1) << 31;
	return (r & 0x7fffffff) == 0 ? minus : whole;
}

// filter_float for halves, which are floats already: the sum of four fits a float, and is rounded as a half of it.
PER_WARP u32 filter_f16(u32 v0, u32 v1, u32 v2, u32 v3, int w0, int w1, int w2, int w3, int *largest) {
	struct warp_term a = term_of(v0, w0, 13), b = term_of(v1, w1, 13), c = term_of(v2, w2, 13), d = term_of(v3, w3, 13);
	int top = int_max(int_max(a.e, b.e), int_max(c.e, d.e));
	*largest = top;
	float sum = (float)aligned(&a, v0, top) * (float)w0 + (float)aligned(&b, v1, top) * (float)w1 + (float)aligned(&c, v2, top) * (float)w2 +
	            (float)aligned(&d, v3, top) * (float)w3;
	float value = sum * float_of((u32)(top + 64) << 23) * 0x1p-86f, size = __builtin_fabsf(value);
	float least = size < 0x1p-14f ? 0x1p-14f : 0; // subnormal halves are as far apart as those that follow
	float whole = float_of((bits_of(size + least) + 0x1000) & ~UINT32_C(0x1fff)) - least;
	u32 minus = a.minus & b.minus & c.minus & d.minus & UINT32_C(1) << 31, s = bits_of(value) & UINT32_C(1) << 31;
	u32 r = bits_of(whole >= 65536 ? __builtin_inff() : whole);
	return sum == 0 ? minus : s | r;
}

// What a warp's lanes have of one, two or four texels. False: a lane of mask has a float that is no number or infinite.
#define WARP_FILTER(FORMAT) \
	PER_WARP bool warp_##FORMAT(const struct warp_taps *t, int taps, u32 mask, u32 *restrict out) { \
		int largest = 0, top; \
		if (taps == 1) { \
			for (int i = 0; i < LANES; i++) { \
				out[i] = FORMAT(t->v[0][i], 0, 0, 0, t->w[0][i], 0, 0, 0, &top); \
				largest = int_max(largest, mask >> i & 1 ? top : 0); \
			} \
		} else if (taps == 2) { \
			for (int i = 0; i < LANES; i++) { \
				out[i] = FORMAT(t->v[0][i], t->v[1][i], 0, 0, t->w[0][i], t->w[1][i], 0, 0, &top); \
				largest = int_max(largest, mask >> i & 1 ? top : 0); \
			} \
		} else { \
			for (int i = 0; i < LANES; i++) { \
				out[i] = FORMAT(t->v[0][i], t->v[1][i], t->v[2][i], t->v[3][i], t->w[0][i], t->w[1][i], t->w[2][i], t->w[3][i], &top); \
				largest = int_max(largest, mask >> i & 1 ? top : 0); \
			} \
		} \
		return largest < 255; \
	}
WARP_FILTER(filter_f32)
WARP_FILTER(filter_f16)

// What value does with sums of whole numbers.
PER_WARP void warp_filter_whole(const struct kz_tex *o, const struct warp_taps *t, int taps, u32 *restrict out) {
	warp_int sum;
	int narrow = 32 - 8 * (int)size_of(o->format);
	bool sign = o->format >= KZ_TEX_S8;
	for (int i = 0; i < LANES; i++) {
		int x = 0;
#pragma GCC unroll 4
		for (int k = 0; k < taps; k++) x += (sign ? (int32_t)(t->v[k][i] << narrow) >> narrow : (int32_t)t->v[k][i]) * t->w[k][i];
		sum[i] = x;
	}
	switch (o->format) {
	case KZ_TEX_U8:
		for (int i = 0; i < LANES; i++) sum[i] = (sum[i] * 257 + 128) >> 8;
		break;
	case KZ_TEX_S8:
		for (int i = 0; i < LANES; i++) sum[i] = (sum[i] * 258 + 128 + 32 * (sum[i] >> 12)) >> 8;
		break;
	default:
		for (int i = 0; i < LANES; i++) sum[i] = (sum[i] + 128) >> 8;
	}
	for (int i = 0; i < LANES; i++) sum[i] = sum[i] < -32767 ? -32767 : sum[i];
	warp_fractions(sum, sign ? 32767 : 65535, out);
}

// filter_four of one texel: no subnormal numbers, and one NaN.
PER_WARP void warp_single(const u32 *restrict v, u32 *restrict out) {
	for (int i = 0; i < LANES; i++) {
		u32 x = v[i], size = x & 0x7fffffff;
		x = size < 0x00800000 ? x & UINT32_C(1) << 31 : x;
		out[i] = size > 0x7f800000 ? 0x7fffffff : x;
	}
}

PER_WARP bool warp_filter(const struct kz_tex *o, struct warp_taps *t, int taps, u32 mask, u32 *restrict out) {
	if (o->format == KZ_TEX_F32 && taps == 1) {
		warp_single(t->v[0], out);
		return true;
	}
	if (o->format == KZ_TEX_F32) return warp_filter_f32(t, taps, mask, out);
	if (o->format != KZ_TEX_F16) {
		warp_filter_whole(o, t, taps, out);
		return true;
	}
	for (int k = 0; k < taps; k++)
		for (int i = 0; i < LANES; i++) t->v[k][i] = warp_half(t->v[k][i]);
	return warp_filter_f16(t, taps, mask, out);
}

// How many texels have a weight: all four, the two of a row, or one, where all lanes are at the middle of a texel.
PER_WARP int warp_weights(const struct warp_fetch *f, struct warp_taps *t) {
	u32 across = 0, along = 0, mask = f->mask;
	for (int i = 0; i < LANES; i++) {
		u32 acts = mask >> i & 1 ? ~UINT32_C(0) : 0;
		across |= (u32)f->u.part[i] & acts;
		along |= (u32)f->v.part[i] & acts;
	}
	if (!(across | along) && f->o->format == KZ_TEX_F32) return 1; // the weights are not asked for
	for (int i = 0; i < LANES; i++) {
		int right = f->u.part[i], left = 256 - right, down_ = f->v.part[i];
		int below = (right * down_ + 128) >> 8, below_left = (left * down_ + 127) >> 8;
		t->w[0][i] = left - below_left;
		t->w[1][i] = right - below;
		t->w[2][i] = below_left;
		t->w[3][i] = below;
	}
	return along ? 4 : across ? 2 : 1;
}

PER_WARP bool warp_channels(const struct sampler *s, struct warp_fetch *f, u32 (*r)[LANES]) {
	const struct kz_tex *o = s->o;
	struct warp_taps t;
	warp_int off[4];
	int size = (int)size_of(o->format), taps = o->linear ? warp_weights(f, &t) : 1;
	warp_offsets(f, f->u.first, f->v.first, s->elem, off[0]);
	if (taps > 1) warp_offsets(f, f->u.next, f->v.first, s->elem, off[1]);
	if (taps > 2) {
		warp_offsets(f, f->u.first, f->v.next, s->elem, off[2]);
		warp_offsets(f, f->u.next, f->v.next, s->elem, off[3]);
	}
	for (int c = 0; c < o->channels; c++) {
		struct warp_words w = {(const uint8_t *)o->base[0] + (c * size & ~3), (int)s->elem, (c * size & 3) * 8, size == 4 ? ~UINT32_C(0) : (UINT32_C(1) << 8 * size) - 1, f->border[c]};
		for (int k = 0; k < taps; k++) warp_load(&w, off[k], t.v[k]);
		bool done = true;
		if (!o->linear) warp_convert(s, t.v[0], r[c]);
		else if (taps == 4) done = warp_filter(o, &t, 4, f->mask, r[c]);
		else if (taps == 2) done = warp_filter(o, &t, 2, f->mask, r[c]);
		else done = warp_filter(o, &t, 1, f->mask, r[c]);
		if (!done) return false;
	}
	return true;
}

// The texture of plain memory: whole coordinates, and nothing outside.
PER_WARP void warp_memory(const struct sampler *s, const u32 *word, u32 (*r)[LANES]) {
	const struct kz_tex *o = s->o;
	warp_int off;
	warp_bits v;
	u32 n = o->width[0], elem = s->elem;
	int size = (int)size_of(o->format);
	for (int i = 0; i < LANES; i++) off[i] = word[i] < n ? (int32_t)(word[i] * elem) : OFF;
	for (int c = 0; c < o->channels; c++) {
		struct warp_words w = {(const uint8_t *)o->base[0] + (c * size & ~3), (int)elem, (c * size & 3) * 8, size == 4 ? ~UINT32_C(0) : (UINT32_C(1) << 8 * size) - 1, 0};
		warp_load(&w, off, v);
		warp_convert(s, v, r[c]);
	}
}

// Whether the lanes of mask have one handle.
PER_WARP bool one_handle(const u64 *restrict handles, u32 mask) {
	u64 h = handles[__builtin_ctz(mask)], other = 0;
	if (mask == ~UINT32_C(0))
		for (int i = 0; i < LANES; i++) other |= handles[i] ^ h;
	else
		for (int i = 0; i < LANES; i++) other |= mask >> i & 1 ? handles[i] ^ h : 0;
	return !other;
}

// Nothing is called in here: functions that were compiled for other instructions wait for the upper halves of the registers, which
// took half of a fetch's time. So the border's colours come from outside.
PER_WARP bool warp_texture(const struct sampler *s, u32 mask, const u32 *border_of, const u32 (*a)[LANES], u32 (*r)[LANES]) {
	const struct kz_tex *o = s->o;
	bool flat = (s->op >> KZ_TOP_GEOM_SHIFT & 15) == KZ_GEOM_1D;
	if (o->memory) {
		warp_memory(s, a[0], r);
	} else {
		static const warp_bits zero;
		struct warp_fetch f;
		f.o = o;
		f.border = border_of;
		f.op = s->op;
		f.mask = mask;
		f.x = (struct warp_side){(int)o->width[0], unit_bits(o->width[0]), o->address[0], o->normalized, o->linear};
		f.y = (struct warp_side){flat ? 1 : (int)o->height[0], flat ? 21 : unit_bits(o->height[0]), o->address[1], o->normalized, o->linear};
		if (!warp_place(&f.x, a[0], mask, &f.u) || !warp_place(&f.y, flat ? zero : a[1], mask, &f.v) || !warp_channels(s, &f, r)) return false;
	}
	for (int c = o->channels; c < 4; c++)
		for (int i = 0; i < LANES; i++) r[c][i] = 0;
	return true;
}

// Whether a warp's fetches with op are for warp_texture.
static bool warp_common(const struct sampler *s) {
	const struct kz_tex *o = s->o;
	u32 geometry = s->op >> KZ_TOP_GEOM_SHIFT & 15, size = size_of(o->format), align = s->elem < 4 ? s->elem : 4;
	u64 height = geometry == KZ_GEOM_1D ? 1 : o->height[0];
	if ((s->op & (KZ_TOP_KIND | KZ_TOP_OFFSETS)) != KZ_TOP_TEX || (s->op >> KZ_TOP_DTYPE_SHIFT & 3) == KZ_DTYPE_F16) return false;
	if (((o->base[0] | (height > 1 ? o->pitch[0] : 0)) & (align - 1)) || (size < 4 && o->srgb)) return false;
	if (o->memory) return geometry == KZ_GEOM_1D && (s->op & KZ_TOP_INT) && (u64)o->width[0] * s->elem < UINT64_C(1) << 31;
	if ((s->op & KZ_TOP_INT) || geometry > KZ_GEOM_2D || o->dims != geometry - KZ_GEOM_1D + 1 || o->layered || o->cube || o->levels != 1) return false;
	if (o->linear && s->integers) return false;
	return o->width[0] && height && o->width[0] <= MOST_SIDE && height <= MOST_SIDE && (height - 1) * o->pitch[0] + (u64)o->width[0] * s->elem < UINT64_C(1) << 31;
}
