// The fetch that programs make most, written out for AVX-512, 16 lanes at a time and all in registers: of a 2D texture of floats with one
// level, clamped or wrapped. There is a function for each kind of texture, chosen when the texture is made. Every result is the one of
// texcore.h, bit for bit. A part of texsample.c.
#include <immintrin.h>

#define QUICK static inline __attribute__((always_inline, target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

enum { SPAN = 128, HALF = 16 }; // bytes of two registers; lanes of one

// The texel before each lane's place on a side, and how far the place is from it, in 1/256.
struct quick_spot { __m512i first, part; };

QUICK __m512i ints(int v) { return _mm512_set1_epi32(v); }
QUICK __m512 floor_of(__m512 v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
QUICK __m512d floors(__m512d v) { return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }

// A number, and within the bounds.
QUICK __m512 bounded(__m512 x, float low, float high) {
	x = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
	return _mm512_max_ps(_mm512_min_ps(x, _mm512_set1_ps(high)), _mm512_set1_ps(low));
}

// warp_counted, and within the side: the larger of no number and a bound is the bound. floor(x + 1/2) is (floor(2 x) + 1) >> 1.
QUICK __m512i quick_counted(const struct warp_side *d, __m512 x) {
	float scale = d->linear ? 512 : 1, low = d->linear ? 256 : 0, high = d->linear ? (float)(d->n * 512 - 256) : (float)(d->n - 1);
	__m512 t = _mm512_min_ps(_mm512_max_ps(_mm512_mul_ps(x, _mm512_set1_ps(scale)), _mm512_set1_ps(low)), _mm512_set1_ps(high));
	__m512i at = _mm512_cvttps_epi32(t);
	return d->linear ? _mm512_srai_epi32(_mm512_sub_epi32(at, ints(255)), 1) : _mm512_slli_epi32(at, 8);
}

// warp_normalized
QUICK __m512i quick_normalized(const struct warp_side *d, __m512 x) {
	bool wraps = d->mode == KZ_TEX_WRAP;
	float scale = (float)(INT64_C(1) << d->k);
	__m512d step = _mm512_set1_pd((double)d->n / (double)(INT64_C(1) << (d->linear ? d->k - 8 : d->k))), half = _mm512_set1_pd(d->linear ? 0.5 : 0);
	__m512i i = _mm512_cvttps_epi32(floor_of(_mm512_mul_ps(bounded(x, wraps ? -MOST_TURNS : -2, wraps ? MOST_TURNS : 3), _mm512_set1_ps(scale))));
	__m512d a = floors(_mm512_fmadd_pd(_mm512_cvtepi32_pd(_mm512_castsi512_si256(i)), step, half));
	__m512d b = floors(_mm512_fmadd_pd(_mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(i, 1)), step, half));
	__m512i at = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epi32(a)), _mm512_cvttpd_epi32(b), 1);
	return d->linear ? _mm512_sub_epi32(at, ints(128)) : _mm512_slli_epi32(at, 8);
}

// turn
QUICK __m512i quick_turn(__m512i a, int n) {
	__m512 q = floor_of(_mm512_mul_ps(_mm512_cvtepi32_ps(a), _mm512_set1_ps(1.0f / (float)n)));
	__m512i r = _mm512_sub_epi32(a, _mm512_mullo_epi32(_mm512_cvttps_epi32(q), ints(n)));
	r = _mm512_mask_add_epi32(r, _mm512_movepi32_mask(r), r, ints(n));
	return _mm512_mask_sub_epi32(r, _mm512_cmpge_epi32_mask(r, ints(n)), r, ints(n));
}

// Returns false where a lane of mask is beyond what wraps here.
QUICK bool quick_place(const struct warp_side *d, const u32 *word, __mmask16 mask, struct quick_spot *s) {
	__m512i w = _mm512_load_si512(word), f;
	bool wraps = d->normalized && d->mode == KZ_TEX_WRAP;
	if (wraps && _mm512_mask_cmpge_epu32_mask(mask, _mm512_and_si512(w, ints(0x7fffffff)), ints(0x42000000))) return false;
	f = d->normalized ? quick_normalized(d, _mm512_castsi512_ps(w)) : quick_counted(d, _mm512_castsi512_ps(w));
	if (d->normalized && !wraps) f = _mm512_min_epi32(_mm512_max_epi32(f, _mm512_setzero_si512()), ints((d->n - 1) * 256));
	s->part = _mm512_and_si512(f, ints(255));
	s->first = _mm512_srai_epi32(f, 8);
	if (wraps) s->first = quick_turn(s->first, d->n);
	return true;
}

// The texel behind each lane's. Where coordinates are clamped, the last texel's has no weight and may be anything that can be read.
QUICK __m512i quick_next(const struct warp_side *d, __m512i first) {
	__m512i next = _mm512_add_epi32(first, ints(1));
	if (d->normalized && d->mode == KZ_TEX_WRAP) return _mm512_maskz_mov_epi32(_mm512_cmplt_epi32_mask(next, ints(d->n)), next);
	return _mm512_min_epi32(next, ints(d->n - 1));
}

// Bytes that can be read, and by how many bits the number of a texel is shifted to be an offset.
struct quick_words { const uint8_t *base; u32 bytes; int shift; };

// Where lanes' words lie that are all within SPAN bytes, as where a picture is scaled: two loads have all of them.
struct quick_near { __m512i at; u32 from; };

// Returns whether words at offsets, and those more bytes behind them, are so near each other.
QUICK bool quick_together(const struct quick_words *w, __m512i off, int more, struct quick_near *n) {
	__m512i base = _mm512_broadcastd_epi32(_mm512_castsi512_si128(off)), d = _mm512_sub_epi32(off, base);
	if (_mm512_cmpge_epu32_mask(d, ints(SPAN - more))) {
		base = _mm512_broadcastd_epi32(_mm512_extracti32x4_epi32(_mm512_shuffle_epi32(off, 0xff), 3)); // the other way round
		d = _mm512_sub_epi32(off, base);
		if (_mm512_cmpge_epu32_mask(d, ints(SPAN - more))) return false;
	}
	n->at = _mm512_srli_epi32(d, 2);
	n->from = (u32)_mm512_cvtsi512_si32(base);
	return n->from + SPAN <= w->bytes;
}

QUICK __m512i quick_load(const struct quick_words *w, __m512i off) {
	struct quick_near n;
	if (!quick_together(w, off, 0, &n)) return _mm512_i32gather_epi32(off, w->base, 1);
	const uint8_t *p = w->base + n.from;
	return _mm512_permutex2var_epi32(_mm512_loadu_si512(p), n.at, _mm512_loadu_si512(p + 64));
}

// Two words at each of two offsets.
QUICK __m128i quick_two(const uint8_t *base, const u32 *at) {
	__m128d low = _mm_load_sd((const void *)(base + at[0]));
	return _mm_castpd_si128(_mm_loadh_pd(low, (const void *)(base + at[1])));
}

// At eight: gathers take longer, most of all on processors whose microcode keeps secrets out of them.
QUICK __m512i quick_eight(const uint8_t *base, const u32 *at) {
	__m256i a = _mm256_inserti128_si256(_mm256_castsi128_si256(quick_two(base, at)), quick_two(base, at + 2), 1);
	__m256i b = _mm256_inserti128_si256(_mm256_castsi128_si256(quick_two(base, at + 4)), quick_two(base, at + 6), 1);
	return _mm512_inserti64x4(_mm512_castsi256_si512(a), b, 1);
}

// The words of a lane's two neighbours in a row that begins at row. Where the second is behind the first, one load has both.
QUICK void quick_pair(const struct quick_words *w, const struct warp_side *d, __m512i first, __m512i row, __m512i v[2]) {
	__m512i off = _mm512_add_epi32(row, _mm512_slli_epi32(first, (u32)w->shift));
	bool wraps = d->normalized && d->mode == KZ_TEX_WRAP;
	if (w->shift != 2 || (wraps && _mm512_cmpge_epi32_mask(first, ints(d->n - 1))) || w->bytes < 8 || _mm512_cmpgt_epu32_mask(off, ints((int)w->bytes - 8))) {
		v[0] = quick_load(w, off);
		v[1] = quick_load(w, _mm512_add_epi32(row, _mm512_slli_epi32(quick_next(d, first), (u32)w->shift)));
		return;
	}
	struct quick_near n;
	if (quick_together(w, off, 4, &n)) {
		const uint8_t *p = w->base + n.from;
		__m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64);
		v[0] = _mm512_permutex2var_epi32(a, n.at, b);
		v[1] = _mm512_permutex2var_epi32(a, _mm512_add_epi32(n.at, ints(1)), b);
		return;
	}
	const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
	_Alignas(64) u32 at[16];
	_mm512_store_si512(at, off);
	__m512i a = quick_eight(w->base, at), b = quick_eight(w->base, at + 8);
	v[0] = _mm512_permutex2var_epi32(a, even, b);
	v[1] = _mm512_permutex2var_epi32(a, _mm512_add_epi32(even, ints(1)), b);
}

// warp_single
QUICK __m512i quick_single(__m512i v) {
	__m512i sign = ints(INT32_MIN), size = _mm512_andnot_si512(sign, v);
	v = _mm512_mask_and_epi32(v, _mm512_cmplt_epu32_mask(size, ints(0x00800000)), v, sign);
	return _mm512_mask_mov_epi32(v, _mm512_cmpgt_epu32_mask(size, ints(0x7f800000)), ints(0x7fffffff));
}

// The low halves of a's words, and those of b above them.
QUICK __m512i both(__m512i a, __m512i b) { return _mm512_ternarylogic_epi32(_mm512_slli_epi32(b, 16), a, ints(0xffff), 0xf8); }

// filter_f32. False: a lane of mask has a float that is no number or infinite.
//
// Scaled by the largest exponent and cut, the floats are numbers of 28 bits. Their halves of 14 and the weights are products of 16 bits.
QUICK bool quick_filter(const __m512i v[4], const __m512i w[4], __mmask16 mask, __m512i *out) {
	__m512i most = _mm512_setzero_si512(), x[4], size[4], least = ints(0x00800000), low14 = ints(0x3fff);
	__mmask16 acts[4];
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		acts[i] = _mm512_test_epi32_mask(w[i], w[i]);
		size[i] = _mm512_maskz_and_epi32(acts[i], v[i], ints(0x7fffffff));
		most = _mm512_max_epu32(most, size[i]);
	}
	if (_mm512_mask_cmpge_epu32_mask(mask, most, ints(0x7f800000))) return false;
	__m512i top = _mm512_srli_epi32(most, 23);
	__m512 by = _mm512_cvtepi32_ps(_mm512_sub_epi32(ints(154), top));
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) x[i] = _mm512_cvttps_epi32(_mm512_maskz_scalef_ps(_mm512_cmpge_epu32_mask(size[i], least), _mm512_castsi512_ps(v[i]), by));
	__m512i w01 = both(w[0], w[1]), w23 = both(w[2], w[3]);
	__m512i high = _mm512_add_epi32(_mm512_madd_epi16(both(_mm512_srai_epi32(x[0], 14), _mm512_srai_epi32(x[1], 14)), w01),
	                                _mm512_madd_epi16(both(_mm512_srai_epi32(x[2], 14), _mm512_srai_epi32(x[3], 14)), w23));
	__m512i low = _mm512_add_epi32(_mm512_madd_epi16(both(_mm512_and_si512(x[0], low14), _mm512_and_si512(x[1], low14)), w01),
	                               _mm512_madd_epi16(both(_mm512_and_si512(x[2], low14), _mm512_and_si512(x[3], low14)), w23));
	// Both are below 2^24, and so is low with a quarter: the sum is rounded once. A quarter moves a sum in the middle of two floats away
	// from zero, and no other; those below 2^24 are floats as they are.
	__m512 h = _mm512_cvtepi32_ps(high), l = _mm512_cvtepi32_ps(low), by14 = _mm512_set1_ps(16384);
	__m512 sum = _mm512_fmadd_ps(h, by14, l), quarter = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(ints(INT32_MIN), _mm512_castps_si512(sum), ints(0x3e800000), 0xea));
	sum = _mm512_mask_mov_ps(sum, _mm512_cmp_ps_mask(_mm512_abs_ps(sum), _mm512_set1_ps(0x1p24f), _CMP_GE_OQ), _mm512_fmadd_ps(h, by14, _mm512_add_ps(l, quarter)));
	__m512i r = _mm512_castps_si512(sum), sign = ints(INT32_MIN), up = _mm512_sub_epi32(top, ints(162));
	__m512i to = _mm512_add_epi32(_mm512_srli_epi32(_mm512_andnot_si512(sign, r), 23), up); // below 255: no sum is above its largest number
	__m512i whole = _mm512_add_epi32(r, _mm512_slli_epi32(up, 23));
	whole = _mm512_mask_and_epi32(whole, _mm512_cmplt_epi32_mask(to, ints(1)), r, sign);
	__mmask16 zero = _mm512_testn_epi32_mask(r, ints(0x7fffffff));
	if (zero) {
		__m512i minus = sign;
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) minus = _mm512_mask_and_epi32(minus, acts[i], minus, v[i]);
		whole = _mm512_mask_mov_epi32(whole, zero, minus);
	}
	*out = whole;
	return true;
}

// warp_weights
QUICK void quick_weights(__m512i right, __m512i down_, __m512i w[4]) {
	__m512i left = _mm512_sub_epi32(ints(256), right);
	w[3] = _mm512_srli_epi32(_mm512_add_epi32(_mm512_madd_epi16(right, down_), ints(128)), 8);
	w[2] = _mm512_srli_epi32(_mm512_add_epi32(_mm512_madd_epi16(left, down_), ints(127)), 8);
	w[1] = _mm512_sub_epi32(right, w[3]);
	w[0] = _mm512_sub_epi32(left, w[2]);
}

// What a fetch needs to know of a texture. Where it is made for one kind of them, most of it is constants.
struct quick_plan { struct warp_side x, y; struct quick_words words; int pitch, channels; };

QUICK void quick_down(struct quick_words *w, u32 by) {
	w->base += by;
	w->bytes -= by;
}

// Sixteen lanes, from lane on. row_of: the place of all of them on the second side, if they have one.
QUICK bool quick_half(const struct quick_plan *q, __mmask16 mask, const u32 (*a)[LANES], u32 (*r)[LANES], int lane, const struct quick_spot *row_of) {
	struct quick_spot u, v;
	if (!quick_place(&q->x, a[0] + lane, mask, &u)) return false;
	if (row_of) v = *row_of;
	else if (!quick_place(&q->y, a[1] + lane, mask, &v)) return false;
	struct quick_words top = q->words, low = top;
	__m512i row = _mm512_setzero_si512(), below = row, w[4], t[4], got;
	bool linear = q->x.linear, mixed = linear && _mm512_mask_test_epi32_mask(mask, _mm512_or_si512(u.part, v.part), ints(255));
	bool along = mixed && _mm512_mask_test_epi32_mask(mask, v.part, v.part);
	if (mixed) quick_weights(u.part, v.part, w);
	// Lanes of one row, as where a picture is not turned, have its address in common.
	if (row_of || !_mm512_cmpneq_epi32_mask(v.first, _mm512_broadcastd_epi32(_mm512_castsi512_si128(v.first)))) {
		quick_down(&top, (u32)_mm512_cvtsi512_si32(v.first) * (u32)q->pitch);
		if (along) quick_down(&low, (u32)_mm512_cvtsi512_si32(quick_next(&q->y, v.first)) * (u32)q->pitch);
	} else {
		row = _mm512_mullo_epi32(v.first, ints(q->pitch));
		if (along) below = _mm512_mullo_epi32(quick_next(&q->y, v.first), ints(q->pitch));
	}
	for (int c = 0; c < q->channels; c++, quick_down(&top, 4), quick_down(&low, 4)) {
		if (!mixed) {
			got = quick_load(&top, _mm512_add_epi32(row, _mm512_slli_epi32(u.first, (u32)top.shift)));
			if (linear) got = quick_single(got);
		} else {
			quick_pair(&top, &q->x, u.first, row, t);
			t[2] = t[0]; // without weight
			t[3] = t[1];
			if (along) quick_pair(&low, &q->x, u.first, below, t + 2);
			if (!quick_filter(t, w, mask, &got)) return false;
		}
		_mm512_store_si512(r[c] + lane, got);
	}
	return true;
}

QUICK bool quick_all(const struct kz_tex *o, u32 op, u32 mask, const u32 (*a)[LANES], u32 (*r)[LANES], bool normalized, bool linear, bool wrap_x, bool wrap_y, int channels) {
	int elem = 4 * channels, wanted = op & KZ_TOP_ONE_RESULT ? 1 : 4;
	struct quick_plan q = {
		{(int)o->width[0], normalized ? unit_bits(o->width[0]) : 0, wrap_x ? KZ_TEX_WRAP : KZ_TEX_CLAMP, normalized, linear},
		{(int)o->height[0], normalized ? unit_bits(o->height[0]) : 0, wrap_y ? KZ_TEX_WRAP : KZ_TEX_CLAMP, normalized, linear},
		{(const uint8_t *)o->base[0], (u32)(((int)o->height[0] - 1) * (int)o->pitch[0] + (int)o->width[0] * elem), channels == 4 ? 4 : channels == 2 ? 3 : 2},
		(int)o->pitch[0], channels < wanted ? channels : wanted,
	};
	if (op & KZ_TOP_ONE_ROW) {
		struct quick_spot row;
		if (!quick_place(&q.y, a[1], (__mmask16)(mask | mask >> HALF), &row)) return false;
#pragma GCC unroll 1
		for (int i = 0; i < LANES; i += HALF)
			if (!quick_half(&q, (__mmask16)(mask >> i), a, r, i, &row)) return false;
	} else {
#pragma GCC unroll 1
		for (int i = 0; i < LANES; i += HALF)
			if (!quick_half(&q, (__mmask16)(mask >> i), a, r, i, NULL)) return false;
	}
	for (int c = channels; c < wanted; c++)
		for (int i = 0; i < LANES; i += HALF) _mm512_store_si512(r[c] + i, _mm512_setzero_si512());
	return true;
}

typedef bool quick_fn(const struct kz_tex *o, u32 op, u32 mask, const u32 (*a)[LANES], u32 (*r)[LANES]);
#define QUICK_KIND(NAME, NORMALIZED, LINEAR, CHANNELS) \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma"))) static bool NAME(const struct kz_tex *o, u32 op, u32 mask, const u32 (*a)[LANES], u32 (*r)[LANES]) { \
		u32 mode = NORMALIZED ? float_mode_plain() : 0; /* where texels are counted subnormal numbers are 0 in any mode */ \
		bool done = quick_all(o, op, mask, a, r, NORMALIZED, LINEAR, NORMALIZED && o->address[0] == KZ_TEX_WRAP, NORMALIZED && o->address[1] == KZ_TEX_WRAP, CHANNELS); \
		if (NORMALIZED) float_mode_set(mode); \
		return done; \
	}
QUICK_KIND(quick_point, false, false, o->channels)
QUICK_KIND(quick_point_one, false, false, 1)
QUICK_KIND(quick_linear, false, true, o->channels)
QUICK_KIND(quick_linear_one, false, true, 1)
QUICK_KIND(quick_unit_point, true, false, o->channels)
QUICK_KIND(quick_unit_linear, true, true, o->channels)
QUICK_KIND(quick_unit_linear_one, true, true, 1)

enum { QUICK_POINT = 1, QUICK_POINT_ONE, QUICK_LINEAR, QUICK_LINEAR_ONE, QUICK_UNIT_POINT, QUICK_UNIT_LINEAR, QUICK_UNIT_LINEAR_ONE };
static quick_fn *const quick_of[] = {
	[QUICK_POINT] = quick_point, [QUICK_POINT_ONE] = quick_point_one, [QUICK_LINEAR] = quick_linear, [QUICK_LINEAR_ONE] = quick_linear_one,
	[QUICK_UNIT_POINT] = quick_unit_point, [QUICK_UNIT_LINEAR] = quick_unit_linear, [QUICK_UNIT_LINEAR_ONE] = quick_unit_linear_one,
};

// Which of them a texture's fetches are for; 0: none.
static u32 quick_kind(const struct kz_tex *o) {
	if (o->format != KZ_TEX_F32 || o->dims != 2 || o->levels != 1 || o->memory || o->layered || o->cube) return 0;
	if (o->address[0] == KZ_TEX_BORDER || o->address[1] == KZ_TEX_BORDER || (o->normalized && (o->address[0] == KZ_TEX_MIRROR || o->address[1] == KZ_TEX_MIRROR))) return 0;
	u64 w = o->width[0], h = o->height[0];
	if (!w || !h || w > MOST_SIDE || h > MOST_SIDE || ((o->base[0] | o->pitch[0]) & 3) || (h - 1) * o->pitch[0] + w * 4 * o->channels >= UINT64_C(1) << 31) return 0;
	if (o->channels != 1 && o->channels != 2 && o->channels != 4) return 0;
	bool one = o->channels == 1;
	if (o->normalized) return !o->linear ? QUICK_UNIT_POINT : one ? QUICK_UNIT_LINEAR_ONE : QUICK_UNIT_LINEAR;
	return !o->linear ? (one ? QUICK_POINT_ONE : QUICK_POINT) : one ? QUICK_LINEAR_ONE : QUICK_LINEAR;
}

// The lanes of mask of a fetch with op, if they have one handle.
__attribute__((target("avx512f")))
static inline bool quick_warp(const struct kz_tex *o, u32 op, u32 mask, const u64 *handles, const u32 (*a)[LANES], u32 (*r)[LANES]) {
	if ((op & ~(3u << KZ_TOP_LOD_SHIFT | KZ_TOP_ONE_HANDLE | KZ_TOP_ONE_ROW | KZ_TOP_ONE_RESULT)) != (u32)KZ_GEOM_2D << KZ_TOP_GEOM_SHIFT) return false;
	if (!(op & KZ_TOP_ONE_HANDLE)) {
		__m512i h = _mm512_set1_epi64((i64)o->handle);
		u32 other = 0;
		for (int i = 0; i < LANES; i += 8) other |= (u32)_mm512_cmpneq_epi64_mask(_mm512_load_si512(handles + i), h) << i;
		if (other & mask) return false;
	}
	return quick_of[o->quick](o, op, mask, a, r);
}
