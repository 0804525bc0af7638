// The fetch that programs make most, written out for AVX-512, 16 lanes at a time and all in registers: of a 2D texture of floats with one
// level, clamped or wrapped. Every result is the one of texcore.h, bit for bit. A part of texsample.c.
#include <immintrin.h>

#define QUICK static inline __attribute__((always_inline, target("avx512f,avx512bw,avx512dq,avx512vl,fma")))

enum { SPAN = 128, HALF = 16 }; // bytes of two registers; lanes of one

// The texels before and behind each lane's place on a side, and how far the place is from the first, in 1/256.
struct quick_spot { __m512i first, next, part; };

QUICK __m512i ints(int v) { return _mm512_set1_epi32(v); }
QUICK __m512 floor_of(__m512 v) { return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
QUICK __m512d floors(__m512d v) { return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }

// A number, and within the bounds.
QUICK __m512 bounded(__m512 x, float low, float high) {
	x = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
	return _mm512_max_ps(_mm512_min_ps(x, _mm512_set1_ps(high)), _mm512_set1_ps(low));
}

// warp_counted
QUICK __m512i quick_counted(const struct warp_side *d, __m512 x) {
	float scale = d->linear ? 256 : 1, far = (float)(d->n + 2) * scale;
	__m512 t = bounded(_mm512_mul_ps(x, _mm512_set1_ps(scale)), -far, far), q = floor_of(t);
	__m512i at = _mm512_cvttps_epi32(q);
	if (!d->linear) return _mm512_slli_epi32(at, 8);
	__mmask16 up = _mm512_cmp_ps_mask(_mm512_sub_ps(t, q), _mm512_set1_ps(0.5f), _CMP_GE_OQ);
	return _mm512_mask_add_epi32(_mm512_sub_epi32(at, ints(128)), up, at, ints(-127));
}

// warp_normalized
QUICK __m512i quick_normalized(const struct warp_side *d, __m512 x) {
	float scale = (float)(INT64_C(1) << d->k), low = -2, high = 3;
	__m512d step = _mm512_set1_pd((double)d->n / (double)(INT64_C(1) << (d->linear ? d->k - 8 : d->k))), half = _mm512_set1_pd(d->linear ? 0.5 : 0);
	if (d->mode == KZ_TEX_WRAP) {
		low = -MOST_TURNS;
		high = MOST_TURNS;
	}
	__m512i i = _mm512_cvttps_epi32(floor_of(_mm512_mul_ps(bounded(x, low, high), _mm512_set1_ps(scale))));
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
	__m512i w = _mm512_load_si512(word), f, one = ints(1);
	bool wraps = d->normalized && d->mode == KZ_TEX_WRAP;
	if (wraps && _mm512_mask_cmpge_epu32_mask(mask, _mm512_and_si512(w, ints(0x7fffffff)), ints(0x42000000))) return false;
	f = d->normalized ? quick_normalized(d, _mm512_castsi512_ps(w)) : quick_counted(d, _mm512_castsi512_ps(w));
	if (!wraps) f = _mm512_min_epi32(_mm512_max_epi32(f, _mm512_setzero_si512()), ints((d->n - 1) * 256));
	s->part = _mm512_and_si512(f, ints(255));
	s->first = _mm512_srai_epi32(f, 8);
	if (wraps) {
		s->first = quick_turn(s->first, d->n);
		s->next = _mm512_add_epi32(s->first, one);
		s->next = _mm512_maskz_mov_epi32(_mm512_cmplt_epi32_mask(s->next, ints(d->n)), s->next);
	} else {
		s->next = _mm512_min_epi32(_mm512_add_epi32(s->first, one), ints(d->n - 1));
	}
	return true;
}

struct quick_words { const uint8_t *base; u32 bytes; int elem; };

// Words at offsets. Where 16 lanes are within 128 bytes, as where a picture is scaled, two loads have all of them.
QUICK __m512i quick_load(const struct quick_words *w, __m512i off) {
	__m512i ends = _mm512_permutexvar_epi32(_mm512_set_epi32(0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15), off);
	__m512i least = _mm512_min_epu32(ends, _mm512_shuffle_epi32(ends, 0xb1)), d = _mm512_sub_epi32(off, least);
	u32 from = (u32)_mm512_cvtsi512_si32(least);
	if (!_mm512_cmpge_epu32_mask(d, ints(SPAN)) && from + SPAN <= w->bytes) {
		const uint8_t *p = w->base + from;
		return _mm512_permutex2var_epi32(_mm512_loadu_si512(p), _mm512_srli_epi32(d, 2), _mm512_loadu_si512(p + 64));
	}
	return _mm512_i32gather_epi32(off, w->base, 1);
}

// The words of a lane's two neighbours in a row that begins at row. Where the second is behind the first, one load has both.
QUICK void quick_pair(const struct quick_words *w, const struct warp_side *d, const struct quick_spot *u, __m512i row, __m512i v[2]) {
	__m512i at = _mm512_min_epi32(u->first, ints(d->n - 2)), elem = ints(w->elem);
	__mmask16 last = _mm512_cmpgt_epi32_mask(u->first, at);
	__m512i first = _mm512_add_epi32(row, _mm512_mullo_epi32(u->first, elem)), off = _mm512_add_epi32(row, _mm512_slli_epi32(at, 2));
	__m512i ends = _mm512_sub_epi32(off, _mm512_broadcastd_epi32(_mm512_castsi512_si128(off)));
	bool near = !_mm512_cmpge_epu32_mask(_mm512_add_epi32(ends, ints(SPAN)), ints(2 * SPAN));
	if (w->elem != 4 || d->n < 2 || near || (d->normalized && d->mode == KZ_TEX_WRAP && last)) {
		v[0] = quick_load(w, first);
		v[1] = quick_load(w, _mm512_add_epi32(row, _mm512_mullo_epi32(u->next, elem)));
		return;
	}
	const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
	__m512i a = _mm512_i32gather_epi64(_mm512_castsi512_si256(off), w->base, 1);
	__m512i b = _mm512_i32gather_epi64(_mm512_extracti64x4_epi64(off, 1), w->base, 1);
	v[1] = _mm512_permutex2var_epi32(a, _mm512_add_epi32(even, ints(1)), b); // which has no weight where the first is the last
	v[0] = _mm512_mask_mov_epi32(_mm512_permutex2var_epi32(a, even, b), last, v[1]);
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

// Sixteen lanes, from lane on.
QUICK bool quick_half(const struct kz_tex *o, const struct warp_side *x, const struct warp_side *y, __mmask16 mask, const u32 (*a)[LANES], u32 (*r)[LANES], int lane) {
	struct quick_spot u, v;
	if (!quick_place(x, a[0] + lane, mask, &u) || !quick_place(y, a[1] + lane, mask, &v)) return false;
	u32 elem = 4u * o->channels;
	struct quick_words words = {(const uint8_t *)o->base[0], (u32)((y->n - 1) * (int)o->pitch[0] + x->n * (int)elem), (int)elem};
	__m512i pitch = ints((int)o->pitch[0]), row = _mm512_mullo_epi32(v.first, pitch), below = _mm512_mullo_epi32(v.next, pitch), w[4], t[4], got;
	bool across = o->linear && _mm512_mask_test_epi32_mask(mask, u.part, u.part), along = o->linear && _mm512_mask_test_epi32_mask(mask, v.part, v.part);
	if (across || along) quick_weights(u.part, v.part, w);
	for (int c = 0; c < o->channels; c++, words.base += 4, words.bytes -= 4) {
		if (!across && !along) {
			got = quick_load(&words, _mm512_add_epi32(row, _mm512_mullo_epi32(u.first, ints(words.elem))));
			if (o->linear) got = quick_single(got);
		} else {
			quick_pair(&words, x, &u, row, t);
			t[2] = t[0]; // without weight
			t[3] = t[1];
			if (along) quick_pair(&words, x, &u, below, t + 2);
			if (!quick_filter(t, w, mask, &got)) return false;
		}
		_mm512_store_si512(r[c] + lane, got);
	}
	return true;
}

// The lanes of mask, if they have one handle.
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma")))
static bool quick_warp(const struct kz_tex *o, u32 mask, const u64 *handles, const u32 (*a)[LANES], u32 (*r)[LANES]) {
	__m512i h = _mm512_set1_epi64((i64)o->handle);
	for (int i = 0; i < LANES; i += 8)
		if (_mm512_mask_cmpneq_epi64_mask((__mmask8)(mask >> i), _mm512_load_si512(handles + i), h)) return false;
	struct warp_side x = {(int)o->width[0], unit_bits(o->width[0]), o->address[0], o->normalized, o->linear};
	struct warp_side y = {(int)o->height[0], unit_bits(o->height[0]), o->address[1], o->normalized, o->linear};
#pragma GCC unroll 1
	for (int i = 0; i < LANES; i += HALF)
		if (!quick_half(o, &x, &y, (__mmask16)(mask >> i), a, r, i)) return false;
	for (int c = o->channels; c < 4; c++)
		for (int i = 0; i < LANES; i += HALF) _mm512_store_si512(r[c] + i, _mm512_setzero_si512());
	return true;
}

// Whether fetches with op are for quick_warp.
static bool quick_common(const struct kz_tex *o, u32 op) {
	if ((op & ~(3u << KZ_TOP_LOD_SHIFT)) != (u32)KZ_GEOM_2D << KZ_TOP_GEOM_SHIFT) return false;
	if (o->format != KZ_TEX_F32 || o->dims != 2 || o->levels != 1 || o->memory || o->layered || o->cube) return false;
	if (o->address[0] == KZ_TEX_BORDER || o->address[1] == KZ_TEX_BORDER || (o->normalized && (o->address[0] == KZ_TEX_MIRROR || o->address[1] == KZ_TEX_MIRROR))) return false;
	u64 w = o->width[0], h = o->height[0];
	return w && h && w <= MOST_SIDE && h <= MOST_SIDE && !((o->base[0] | o->pitch[0]) & 3) && (h - 1) * o->pitch[0] + w * 4 * o->channels < UINT64_C(1) << 31;
}
