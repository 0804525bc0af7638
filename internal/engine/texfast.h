// The common fetches: of a plain 2D texture with one level, clamped or wrapped, of floats or fractions of 8 bits. No array is indexed by what is found out here, so that a GPU keeps all of it in registers. A part of texcore.h.

struct fast_side { i64 n; int k; bool normalized, linear, wrap; };

static inline i64 fast_place(const struct fast_side *d, u32 word, i64 at[2]) {
	i64 f = spot_of(as_float(word), d->n, d->normalized ? d->k : 0, d->linear);
	if (d->wrap) {
		at[0] = address(f >> 8, d->n, KZ_TEX_WRAP);
		at[1] = at[0] + 1 == d->n ? 0 : at[0] + 1;
		return f & 255;
	}
	f = min64(max64(f, 0), (d->n - 1) * 256);
	at[0] = f >> 8;
	at[1] = min64(at[0] + 1, d->n - 1);
	return f & 255;
}

// filter_float for the four texels of one slab; those without weight are not there.
static inline u32 filter_four(const struct ffmt *f, const u32 v[4], const i64 w[4]) {
	const u32 sign = UINT32_C(1) << (f->mant + f->exp_bits);
	const int max_exp = (1 << f->exp_bits) - 1;
	i64 m[4], sum = 0;
	int e[4], top = 0;
	bool nan = false, plus = false, minus = false, negative = true;
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		bool neg = (v[i] & sign) != 0;
		e[i] = (int)(v[i] >> f->mant) & max_exp;
		m[i] = v[i] & ((UINT32_C(1) << f->mant) - 1);
		if (w[i] && e[i] == max_exp) {
			nan |= m[i] != 0;
			plus |= !neg;
			minus |= neg;
		}
		negative = negative && (neg || !w[i]);
		m[i] = e[i] > 0 && w[i] ? m[i] | INT64_C(1) << f->mant : 0; // subnormal numbers count as 0
		if (m[i] && e[i] > top) top = e[i];
	}
	if (nan || (plus && minus)) return sign - 1;
	if (plus || minus) return (u32)max_exp << f->mant | (minus ? sign : 0);
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		int d = top - e[i];
		i64 x = !m[i] || d > f->mant + 4 ? 0 : m[i] << 4 >> d;
		sum += (v[i] & sign ? -x : x) * w[i];
	}
	if (sum == 0) return negative ? sign : 0;
	return round_to(f, sum * 4, top - 4 - 8 - 2);
}

// The sides of a texture of which all fetches with op are common ones. False: they are not.
static inline bool fast_sides(const struct sampler *s, struct fast_side *x, struct fast_side *y) {
	const struct kz_tex *o = s->o;
	u32 other = KZ_TOP_KIND | 15u << KZ_TOP_GEOM_SHIFT | KZ_TOP_INT | KZ_TOP_OFFSETS;
	bool known = o->format == KZ_TEX_F32 || (o->format == KZ_TEX_U8 && !o->integers && !o->srgb);
	if ((s->op & other) != (u32)KZ_GEOM_2D << KZ_TOP_GEOM_SHIFT || o->dims != 2 || o->layered || o->cube || o->memory || o->levels != 1 ||
	    !known || o->address[0] > KZ_TEX_CLAMP || o->address[1] > KZ_TEX_CLAMP)
		return false;
	*x = (struct fast_side){o->width[0], unit_bits(o->width[0]), o->normalized, o->linear, o->normalized && o->address[0] == KZ_TEX_WRAP};
	*y = (struct fast_side){o->height[0], unit_bits(o->height[0]), o->normalized, o->linear, o->normalized && o->address[1] == KZ_TEX_WRAP};
	return true;
}

static inline u32 fast_raw(const struct kz_tex *o, const uint8_t *p, int c) {
	u32 v;
	if (o->format != KZ_TEX_F32) return p[c];
	memcpy(&v, p + 4 * c, 4);
	return v;
}

// One lane.
static inline void fast_fetch(const struct sampler *s, const struct fast_side *sx, const struct fast_side *sy, u32 cx, u32 cy, u32 r[4]) {
	const struct kz_tex *o = s->o;
	i64 x[2], y[2], w[4];
	i64 fx = fast_place(sx, cx, x), fy = fast_place(sy, cy, y);
	const uint8_t *r0 = (const uint8_t *)o->base[0] + (u64)y[0] * o->pitch[0], *p = r0 + (u64)x[0] * s->elem;
	int n = o->channels;
	bool f32 = o->format == KZ_TEX_F32;
	if (!o->linear) {
#pragma GCC unroll 4
		for (int c = 0; c < 4; c++) r[c] = c >= n ? 0 : f32 ? fast_raw(o, p, c) : as_bits((float)(p[c] / 255.0));
		return;
	}
	const uint8_t *r1 = (const uint8_t *)o->base[0] + (u64)y[1] * o->pitch[0];
	const uint8_t *q[4] = {p, r0 + (u64)x[1] * s->elem, r1 + (u64)x[0] * s->elem, r1 + (u64)x[1] * s->elem};
	u32 red = 0, green = 0, blue = 0, alpha = 0;
	split(256, fx, fy, w);
	for (int c = 0; c < n; c++) {
		u32 v[4] = {fast_raw(o, q[0], c), fast_raw(o, q[1], c), fast_raw(o, q[2], c), fast_raw(o, q[3], c)}, one;
		if (f32) one = filter_four(&f32fmt, v, w);
		else one = as_bits((float)((double)round8((w[0] * v[0] + w[1] * v[1] + w[2] * v[2] + w[3] * v[3]) * 257) / 65535));
		if (c == 0) red = one;
		if (c == 1) green = one;
		if (c == 2) blue = one;
		if (c == 3) alpha = one;
	}
	r[0] = red, r[1] = green, r[2] = blue, r[3] = alpha;
}
