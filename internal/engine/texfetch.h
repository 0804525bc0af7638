// Levels, cubes and the fetch of one lane; a part of texcore.h.

// One lane's operands, in the order of internal/image/texture.go.
struct words { u32 coord[4], lod, grad[2][4]; i64 off[3]; };

// The hardware takes four bits of an offset.
static inline i64 offset_of(u32 word) { return (i64)((int32_t)(word << 28) >> 28); }

// The level of a fetch in 1/256, or levels themselves.
static i64 eighths(float x) { return x < 0 ? -floor_scaled(-x, 8, 0) : floor_scaled(x, 8, 0); }

// A vector's length as the hardware estimates it.
static double length(const double *v, int n) {
	double top = 0, next = 0;
	for (int i = 0; i < n; i++) {
		double c = __builtin_fabs(v[i]);
		if (c > top) {
			next = top;
			top = c;
		} else if (c > next) {
			next = c;
		}
	}
	return top + next * 11 / 32;
}

// log2 in 1/256, to the nearest, bit by bit: the interpreter does the same.
static i64 log2_of(double x) {
	i64 n = 0;
	while (x >= 2) x /= 2, n++;
	while (x < 1) x *= 2, n--;
	for (int i = 0; i < 9; i++) {
		x *= x;
		n *= 2;
		if (x >= 2) x /= 2, n++;
	}
	return (n + 1) >> 1;
}

static i64 gradient(const struct kz_tex *o, const struct words *w, int dims, bool cube) {
	double sides[3] = {o->width[0], o->height[0], o->depth[0]}, g[4][3];
	if (cube) sides[0] = sides[1] = sides[2] = sides[0] / 2;
	for (int i = 0; i < dims; i++) {
		double a = (double)as_float(w->grad[0][i]) * sides[i], b = (double)as_float(w->grad[1][i]) * sides[i];
		g[0][i] = a;
		g[1][i] = b;
		g[2][i] = a + b;
		g[3][i] = a - b;
	}
	double size = more(more(length(g[0], dims), length(g[1], dims)), more(length(g[2], dims), length(g[3], dims)) * 11 / 16);
	if (!(size > 0)) return -MAX_TEXEL;
	if (__builtin_isinf(size)) return MAX_TEXEL;
	return log2_of(size);
}

// Chooses one or two levels; 0: none.
static int levels(const struct sampler *s, const struct words *w, int dims, bool cube, int l[2], i64 weight[2]) {
	const struct kz_tex *o = s->o;
	l[0] = 0;
	weight[0] = 256;
	if (o->levels <= 1) return 1;
	u32 how = s->op >> KZ_TOP_LOD_SHIFT & 3;
	i64 f = 0;
	if (how == KZ_LOD_LEVEL && (s->op & KZ_TOP_INT)) {
		if (w->lod >= o->levels) return 0;
		l[0] = (int)w->lod;
		return 1;
	}
	if (how == KZ_LOD_LEVEL) f = eighths(as_float(w->lod));
	if (how == KZ_LOD_GRAD) f = gradient(o, w, dims, cube);
	if (how == KZ_LOD_LEVEL || how == KZ_LOD_GRAD) f += eighths(o->bias);
	f = max64(f, floor_scaled(o->min_level, 8, 0));
	f = min64(f, floor_scaled(o->max_level, 8, 0));
	f = min64(max64(f, 0), (i64)(o->levels - 1) * 256);
	if (!o->mip_linear) {
		l[0] = (int)((f + 128) >> 8);
		return 1;
	}
	l[0] = (int)(f >> 8);
	if (!(f & 255)) return 1;
	l[1] = l[0] + 1;
	weight[0] = 256 - (f & 255);
	weight[1] = f & 255;
	return 2;
}

static inline i64 last_layer(i64 layer, i64 n) { return min64((u32)layer, max64(n, 1) - 1); }

static int face_of(const float d[3], float *s, float *t) {
	float ax = __builtin_fabsf(d[0]), ay = __builtin_fabsf(d[1]), az = __builtin_fabsf(d[2]), x = d[0], y = d[1], z = d[2];
	int axis = az >= ax && az >= ay ? 2 : ay >= ax ? 1 : 0;
	int face = 2 * axis + (__builtin_signbit(d[axis]) ? 1 : 0);
	float m = __builtin_fabsf(d[axis]);
	switch (face) {
	case 0: *s = -z, *t = -y; break;
	case 1: *s = z, *t = -y; break;
	case 2: *s = x, *t = z; break;
	case 3: *s = x, *t = -z; break;
	case 4: *s = x, *t = -y; break;
	default: *s = -x, *t = -y;
	}
	*s /= m;
	*t /= m;
	return face;
}

static void direction(int face, float s, float t, float d[3]) {
	switch (face) {
	case 0: d[0] = 1, d[1] = -t, d[2] = -s; break;
	case 1: d[0] = -1, d[1] = -t, d[2] = s; break;
	case 2: d[0] = s, d[1] = 1, d[2] = t; break;
	case 3: d[0] = s, d[1] = -1, d[2] = -t; break;
	case 4: d[0] = s, d[1] = -t, d[2] = 1; break;
	default: d[0] = -s, d[1] = -t, d[2] = -1;
	}
}

static int cube_spot(const struct kz_tex *o, const u32 *words, u32 n, bool linear, i64 at[2]) {
	float d[3] = {as_float(words[0]), as_float(words[1]), as_float(words[2])}, c[2];
	int face = face_of(d, &c[0], &c[1]), k = unit_bits(n);
	for (int i = 0; i < 2; i++) {
		double u = (double)c[i] * 0.5 + 0.5;
		if (!(u == u)) u = 0.5;
		u = u < 0 ? 0 : u > 1 ? 1 : u;
		i64 q = (i64)down(u * (double)(INT64_C(1) << k));
		at[i] = linear ? ((q * n + (INT64_C(1) << (k - 9))) >> (k - 8)) - 128 : address((q * n) >> k, n, o->address[i]) * 256;
	}
	return face;
}

static float beyond_place(i64 c, i64 n) {
	if (c < 0) return -1 - 1.0f / (1 << 16);
	if (c >= n) return 1 + 1.0f / (1 << 16);
	return (float)(2 * c + 1) / (float)n - 1;
}

// The texel of a seamless cube at (i, j) of a face, which may lie just outside it. False: beyond a corner.
static bool beyond(int *face, i64 *i, i64 *j, i64 n) {
	bool in_i = *i >= 0 && *i < n, in_j = *j >= 0 && *j < n;
	if (in_i && in_j) return true;
	if (!in_i && !in_j) return false;
	float d[3], c[2];
	direction(*face, beyond_place(*i, n), beyond_place(*j, n), d);
	*face = face_of(d, &c[0], &c[1]);
	*i = min64(max64((i64)down(((double)c[0] * 0.5 + 0.5) * (double)n), 0), n - 1);
	*j = min64(max64((i64)down(((double)c[1] * 0.5 + 0.5) * (double)n), 0), n - 1);
	return true;
}

static struct spot face_spot(const struct kz_tex *o, i64 at, i64 n, int axis) {
	int mode = o->address[axis];
	if (mode == KZ_TEX_CLAMP) at = min64(max64(at, 0), (n - 1) * 256);
	struct spot p = {{address(at >> 8, n, mode), address((at >> 8) + 1, n, mode)}, at & 255};
	return p;
}

static void cube_taps(const struct sampler *s, struct taps *t, const u32 *words, i64 layer, int l, i64 weight) {
	const struct kz_tex *o = s->o;
	u32 n = o->width[l];
	i64 at[2], w[4], corner = 0;
	int face = cube_spot(o, words, n, o->linear, at);
	i64 first = last_layer(layer, o->depth[l] / 6) * 6;
	if (!o->linear) {
		add_tap(t, texel(s, l, at[0] >> 8, at[1] >> 8, first + face), weight);
		t->slabs++;
		return;
	}
	if (!o->seamless) {
		struct spot u = face_spot(o, at[0], n, 0), v = face_spot(o, at[1], n, 1);
		plane(s, t, l, &u, &v, first + face, weight);
		return;
	}
	split(weight, at[0] & 255, at[1] & 255, w);
	int from = t->n, got = 0;
	for (int k = 0; k < 4; k++) {
		int f = face;
		i64 i = (at[0] >> 8) + (k & 1), j = (at[1] >> 8) + (k >> 1);
		if (!beyond(&f, &i, &j, n)) {
			corner += w[k];
			continue;
		}
		t->t[from + got].p = texel(s, l, i, j, first + f);
		t->t[from + got].w = (int32_t)w[k];
		t->t[from + got++].slab = (uint8_t)t->slabs;
	}
	for (int k = 0; k < got; k++) {
		i64 part = corner / (got - k);
		t->t[from + k].w += (int32_t)part;
		corner -= part;
	}
	int keep = from;
	for (int k = from; k < from + got; k++)
		if (t->t[k].w) t->t[keep++] = t->t[k];
	t->n = keep;
	t->slabs++;
}

struct shape { int dims; bool layered, cube; };

// What a geometry is, of KZ_GEOM_1D to A2DMS: a digit or a bit each.
static inline struct shape shape_of(u32 op) {
	u32 g = op >> KZ_TOP_GEOM_SHIFT & 15;
	struct shape s = {(int)(UINT64_C(0x223321321) >> 4 * g & 15), 0x158 >> g & 1, g == KZ_GEOM_CUBE || g == KZ_GEOM_ACUBE};
	return s;
}

// The texels of one level. False: none, the result is zero.
static bool level_taps(const struct sampler *s, struct taps *t, const struct shape *g, const u32 *c, i64 layer, const i64 off[3], int l, i64 weight) {
	const struct kz_tex *o = s->o;
	bool integer = (s->op & KZ_TOP_INT) != 0;
	if (g->cube) {
		cube_taps(s, t, c, layer, l, weight);
		return true;
	}
	struct spot at[3] = {{{0, 0}, 0}, {{0, 0}, 0}, {{0, 0}, 0}};
	u32 sides[3] = {o->width[l], o->height[l], o->depth[l]};
	for (int i = 0; i < g->dims; i++) {
		struct side d = {sides[i] ? sides[i] : 1, o->address[i], o->normalized, o->linear, false};
		at[i] = place(&d, c[i], integer, off[i]);
		if (at[i].at[0] == NOWHERE) return false;
	}
	if (g->dims == 1 && !g->layered && !integer) {
		struct side d = {1, o->address[1], o->normalized, o->linear, false};
		at[1] = place(&d, 0, false, 0);
	}
	if (!o->linear) at[0].frac = at[1].frac = at[2].frac = 0;
	if (g->dims < 3) {
		if (g->layered) {
			i64 last = last_layer(layer, o->depth[l]);
			if (integer && last != layer) return false;
			layer = last;
		} else {
			layer = 0;
		}
		plane(s, t, l, &at[0], &at[1], layer, weight);
		return true;
	}
	i64 far_weight = round8(at[2].frac * weight);
	plane(s, t, l, &at[0], &at[1], at[2].at[0], weight - far_weight);
	if (far_weight) plane(s, t, l, &at[0], &at[1], at[2].at[1], far_weight);
	return true;
}

static void gather(const struct sampler *s, const struct shape *g, const u32 *c, i64 layer, const i64 off[3], u32 v[4]) {
	const struct kz_tex *o = s->o;
	int channel = s->op >> KZ_TOP_SUB_SHIFT & 3;
	if (channel >= o->channels) return;
	if (g->cube) {
		i64 n = o->width[0], at[2];
		int face = cube_spot(o, c, o->width[0], true, at);
		i64 first = last_layer(layer, o->depth[0] / 6) * 6;
		for (int i = 0; i < 4; i++) {
			int f = face, k = 0x0132 >> 4 * i & 3; // in the order of the results
			i64 x = (at[0] >> 8) + (k & 1), y = (at[1] >> 8) + (k >> 1);
			if (!beyond(&f, &x, &y, n)) {
				x = min64(max64(x, 0), n - 1);
				y = min64(max64(y, 0), n - 1);
			}
			v[i] = convert(s, raw(s, texel(s, 0, x, y, first + f), channel), channel);
		}
		return;
	}
	struct spot at[2];
	u32 sides[2] = {o->width[0], o->height[0]};
	for (int i = 0; i < 2; i++) {
		struct side d = {sides[i] ? sides[i] : 1, o->address[i], o->normalized, true, true};
		at[i] = place(&d, c[i], false, off[i]);
	}
	layer = g->layered ? last_layer(layer, o->depth[0]) : 0;
	for (int i = 0; i < 4; i++) {
		int k = 0x0132 >> 4 * i & 3;
		v[i] = convert(s, raw(s, texel(s, 0, at[0].at[k & 1], at[1].at[k >> 1], layer), channel), channel);
	}
}

// tex and tld4 for one lane.
static void fetch(const struct sampler *s, const struct words *w, u32 v[4]) {
	const struct kz_tex *o = s->o;
	const struct shape shape = shape_of(s->op), *g = &shape;
	bool integer = (s->op & KZ_TOP_INT) != 0, collect = (s->op & KZ_TOP_KIND) == KZ_TOP_GATHER;
	const u32 *c = w->coord;
	v[0] = v[1] = v[2] = v[3] = 0;
	if (o->memory) {
		i64 i = (int32_t)c[0];
		if (g->dims != 1 || g->layered || collect || !integer || i < 0 || i >= o->width[0]) return;
		for (int k = 0; k < o->channels; k++) v[k] = convert(s, raw(s, texel(s, 0, i, 0, 0), k), k);
		return;
	}
	i64 layer = 0;
	if (g->layered) layer = (int32_t)*c++;
	if (integer && g->dims == 1 && !g->layered) return;
	if (g->cube != (o->cube != 0) || (!g->cube && g->dims > o->dims)) return;
	if (collect) {
		gather(s, g, c, layer, w->off, v);
		return;
	}
	int l[2];
	i64 weight[2];
	struct taps t;
	t.n = t.slabs = 0;
	int n = levels(s, w, g->dims, g->cube, l, weight);
	for (int i = 0; i < n; i++)
		if (!level_taps(s, &t, g, c, layer, w->off, l[i], weight[i])) return;
	if (t.n == 0) return;
	for (int k = 0; k < 4; k++) v[k] = value(s, &t, k);
}
