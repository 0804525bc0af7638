// The common fetches, for all lanes of a warp at once; a part of texsample.c.

// A side of a plain 2D texture, clamped or wrapped.
struct fast_side { i64 n; int k; bool normalized, linear, wrap; };

static inline i64 fast_place(const struct fast_side *d, u32 word, i64 at[2]) {
	float x = as_float(word);
	i64 f;
	if (d->normalized) {
		i64 q = floor_scaled(x, d->k, 0);
		f = d->linear ? ((q * d->n + (INT64_C(1) << (d->k - 9))) >> (d->k - 8)) - 128 : ((q * d->n) >> d->k) * 256;
	} else {
		f = d->linear ? floor_scaled(x, 8, 0.5) - 128 : floor_scaled(x, 0, 0) * 256;
	}
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

// Does all lanes of mask if they have one handle and the fetch is a common one: 2D, one level, clamped or wrapped, f32 or fractions
// of 8 bits. False: nothing was done.
static bool fast(u32 op, const struct kz_tex *o, u32 mask, const u64 *handles, const u32 (*a)[LANES], u32 (*r)[LANES]) {
	u32 other = KZ_TOP_KIND | 15u << KZ_TOP_GEOM_SHIFT | KZ_TOP_INT | 3u << KZ_TOP_LOD_SHIFT | KZ_TOP_OFFSETS;
	bool f32 = o->format == KZ_TEX_F32 && o->channels == 1, u8 = o->format == KZ_TEX_U8 && !o->integers && !o->srgb;
	if ((op & other) != (u32)KZ_GEOM_2D << KZ_TOP_GEOM_SHIFT || (op >> KZ_TOP_DTYPE_SHIFT & 3) == KZ_DTYPE_F16 || o->dims != 2 || o->layered ||
	    o->cube || o->memory || o->levels != 1 || (!f32 && !u8) || o->address[0] > KZ_TEX_CLAMP || o->address[1] > KZ_TEX_CLAMP)
		return false;
	u64 h = handles[__builtin_ctz(mask)];
	for (u32 left = mask; left; left &= left - 1)
		if (handles[__builtin_ctz(left)] != h) return false;
	struct fast_side sx = {o->width[0], unit_bits(o->width[0]), o->normalized, o->linear, o->normalized && o->address[0] == KZ_TEX_WRAP};
	struct fast_side sy = {o->height[0], unit_bits(o->height[0]), o->normalized, o->linear, o->normalized && o->address[1] == KZ_TEX_WRAP};
	const uint8_t *base = (const uint8_t *)o->base[0];
	u64 pitch = o->pitch[0];
	int ch = o->channels;
	for (u32 left = mask; left; left &= left - 1) {
		int lane = __builtin_ctz(left);
		i64 x[2], y[2], w[4];
		i64 fx = fast_place(&sx, a[0][lane], x), fy = fast_place(&sy, a[1][lane], y);
		const uint8_t *r0 = base + (u64)y[0] * pitch, *r1 = base + (u64)y[1] * pitch;
		r[1][lane] = r[2][lane] = r[3][lane] = 0;
		if (!o->linear) {
			if (f32) memcpy(&r[0][lane], r0 + 4 * x[0], 4);
			else
				for (int c = 0; c < ch; c++) r[c][lane] = as_bits((float)(r0[x[0] * ch + c] / 255.0));
			continue;
		}
		split(256, fx, fy, w);
		if (u8) {
			for (int c = 0; c < ch; c++) {
				i64 sum = w[0] * r0[x[0] * ch + c] + w[1] * r0[x[1] * ch + c] + w[2] * r1[x[0] * ch + c] + w[3] * r1[x[1] * ch + c];
				r[c][lane] = as_bits((float)((double)round8(sum * 257) / 65535));
			}
			continue;
		}
		struct taps t;
		u32 v[4];
		t.n = 0;
		t.slabs = 0;
		const uint8_t *p[4] = {r0 + 4 * x[0], r0 + 4 * x[1], r1 + 4 * x[0], r1 + 4 * x[1]};
		for (int k = 0; k < 4; k++) {
			if (!w[k]) continue;
			memcpy(&v[t.n], p[k], 4);
			add_tap(&t, p[k], w[k]);
		}
		t.slabs = 1;
		r[0][lane] = filter_float(&f32fmt, &t, v);
	}
	return true;
}
