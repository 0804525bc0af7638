// Tensor copies, for one warp a call. What they do is what sm_90 does, as recorded; the interpreter
// (internal/backend/interp/tensor.go) has the same in another way, and explains it.
#include "internal.h"
#include "floats.h"
#include "tensor.h"

enum { LANES = 32, RANK = 5, MAP_BYTES = 128, COORDS = 5, SHIFTS = 3 };
enum { STOP_NONE = 0, STOP_MISALIGN = 4, STOP_ADDRESS = 8, STOP_INSTRUCTION = 9 }; // internal/image: StopXxx
enum { T_U8, T_U16, T_U32, T_S32, T_U64, T_S64, T_F16, T_F32, T_F64, T_BF16, T_F32FTZ, T_TF32, T_TF32FTZ, TYPES };
enum { PLAIN, SLICES16, SLICES32 };
#define BOX_MAX (UINT64_C(1) << 24)

static const uint8_t type_bytes[TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

struct map {
	u32 type, rank, interleave, swizzle, box[RANK], step[RANK], channels, pixels, unit;
	u64 address, dim[RANK], stride[RANK]; // stride[0] is the unit's
	int16_t lower[RANK - 2], upper[RANK - 2];
	bool nan, im2col;
};

// The types by their numbers in a map.
static const uint8_t numbered[] = {T_U8, T_U16, T_U32, T_S32, T_U64, T_S64, T_F16, T_F32, T_F32FTZ, T_F64, T_BF16};

// Some bits of a map, which is words of 64 (internal/tensormap/layout.go).
static inline u64 get(const u64 *w, u32 word, u32 shift, u32 width) { return w[word] >> shift & ((UINT64_C(1) << width) - 1); }

static inline i64 get_signed(const u64 *w, u32 word, u32 shift, u32 width) { return (i64)(get(w, word, shift, width) << (64 - width)) >> (64 - width); }

static bool unpack(const uint8_t *b, struct map *m) {
	u64 w[8];
	memcpy(w, b, sizeof w); // little-endian, as both processors are
	u32 code = (u32)get(w, 1, 7, 4);
	m->im2col = get(w, 1, 0, 1);
	m->rank = (u32)get(w, 1, 4, 3) + 1;
	m->interleave = (u32)get(w, 1, 11, 2);
	m->swizzle = (u32)get(w, 1, 13, 2);
	m->nan = get(w, 1, 15, 1);
	if (code >= sizeof numbered || m->rank > RANK || m->interleave > SLICES32 || (m->im2col && m->rank < 3)) return false;
	m->type = numbered[code];
	if (get(w, 1, 16, 1)) m->type = m->type == T_F32 ? T_TF32 : m->type == T_F32FTZ ? T_TF32FTZ : m->type;
	m->unit = m->interleave == PLAIN ? type_bytes[m->type] : 16u * m->interleave;
	m->address = w[0];
	for (u32 i = 0; i < RANK; i++) {
		m->dim[i] = get(w, 4 + i / 2, i % 2 * 32, 32) + 1;
		m->step[i] = (u32)get(w, 6, 32 + 3 * i, 3) + 1;
		m->box[i] = (u32)(i ? get(w, 7, 8 * (i - 1), 8) : get(w, 6, 56, 8)) + 1;
		m->stride[i] = i ? get(w, 1 + i / 2, i % 2 * 32, 32) << 4 | get(w, 3, 32 + 4 * (i - 1), 4) << 36 : m->unit;
	}
	m->channels = m->box[0];
	m->pixels = (u32)get(w, 7, 32, 10) + 1;
	u32 width = m->rank == 3 ? 16 : m->rank == 4 ? 8 : 5; // the corners share 32 bits
	for (u32 i = 0; m->im2col && i + 2 < m->rank; i++) {
		m->lower[i] = (int16_t)get_signed(w, 7, width * i, width);
		m->upper[i] = (int16_t)get_signed(w, 7, 16 + width * i, width);
	}
	return true;
}

// How many units of dimension i a tile has.
static u64 count(const struct map *m, u32 i) {
	if (i == 0 && m->interleave == PLAIN) return m->box[0];
	if (m->interleave != PLAIN && i + 2 == m->rank) return 1;
	return ((u64)m->box[i] + m->step[i] - 1) / m->step[i];
}

static u32 spatial(const struct map *m) { return m->interleave == PLAIN; }

static i64 last_pixel(const struct map *m, u32 i) { return (i64)m->dim[spatial(m) + i] - 1 + m->upper[i]; }

// The units of a pixel that lie together.
static u64 channels(const struct map *m) { return m->interleave == PLAIN ? m->channels : 1; }

// Bytes of the box without what lies between its lines; 0 where there are none, or too many.
static u64 box_bytes(const struct map *m) {
	u64 n = m->unit;
	if (m->im2col) {
		n *= channels(m) * m->pixels;
		return n <= BOX_MAX ? n : 0;
	}
	for (u32 i = 0; i < m->rank; i++)
		if ((n *= count(m, i)) > BOX_MAX) return 0;
	return n;
}

// --- one copy ---

struct copy {
	const struct map *m;
	u32 kind, red;
	u64 at;     // of the box in the block's shared memory
	uint8_t *shared; // there
	u64 line, pitch;
};

static inline u32 round_tf32(u32 b) {
	if ((b & 0x7fffffff) > 0x7f800000) return 0x7fffe000;
	return (b + 0xfff + (b >> 13 & 1)) & ~UINT32_C(0x1fff);
}

static inline u32 flush(u32 v) { return v & 0x7f800000 ? v : v & 0x80000000; }

static u32 add32(u32 a, u32 b, bool ftz) {
	if (ftz) {
		a = flush(a);
		b = flush(b);
	}
	u32 r = as_bits(as_float(a) + as_float(b));
	if ((r & 0x7fffffff) > 0x7f800000) return 0x7fffffff;
	return ftz ? flush(r) : r;
}

static u64 add64(u64 old, u64 b) {
	double x, y, r;
	memcpy(&x, &old, 8);
	memcpy(&y, &b, 8);
	if (y != y) return b; // a NaN stays as it is
	if (x != x) return old;
	r = x + y;
	if (r != r) return UINT64_C(0xfff8000000000000);
	memcpy(&old, &r, 8);
	return old;
}

static u32 to_float(u32 v, bool bf16) { return bf16 ? v << 16 : half_to_float(v); }

// f32 has more than twice the bits, and two more: rounding twice is rounding once.
static u32 add16(u32 old, u32 b, bool bf16) {
	u32 r = as_bits(as_float(to_float(old, bf16)) + as_float(to_float(b, bf16)));
	if (!bf16) return float_to_half(r);
	if ((r & 0x7fffffff) > 0x7f800000) return 0x7fff;
	return (r + 0x7fff + (r >> 16 & 1)) >> 16;
}

static u32 pick16(u32 old, u32 b, bool bf16, bool larger) {
	u32 inf = bf16 ? 0x7f80 : 0x7c00;
	bool nan = (old & 0x7fff) > inf, other = (b & 0x7fff) > inf;
	if (nan || other) return nan && other ? 0x7fff : nan ? b : old;
	int x = old & 0x8000 ? -1 - (int)(old & 0x7fff) : (int)old, y = b & 0x8000 ? -1 - (int)(b & 0x7fff) : (int)b; // -0 below +0
	return (larger ? y > x : y < x) ? b : old;
}

// Which reductions the types have (recorded).
static bool reduces(u32 red, u32 type) {
	bool wide = type == T_U32 || type == T_S32 || type == T_U64;
	switch (red) {
	case KZ_TRED_ADD: return type != T_S64 && type > T_U16;
	case KZ_TRED_MIN:
	case KZ_TRED_MAX: return wide || type == T_S64 || type == T_F16 || type == T_BF16;
	case KZ_TRED_INC:
	case KZ_TRED_DEC: return type == T_U32;
	}
	return wide;
}

static bool below(u32 type, u64 a, u64 b) {
	switch (type) {
	case T_S32: return (int32_t)a < (int32_t)b;
	case T_S64: return (i64)a < (i64)b;
	}
	return a < b;
}

static u64 combine(u32 red, u32 type, u64 old, u64 v) {
	switch (red) {
	case KZ_TRED_ADD:
		switch (type) {
		case T_F16:
		case T_BF16: return add16((u32)old, (u32)v, type == T_BF16);
		case T_F32:
		case T_TF32: return add32((u32)old, (u32)v, false);
		case T_F32FTZ:
		case T_TF32FTZ: return add32((u32)old, (u32)v, true);
		case T_F64: return add64(old, v);
		}
		return old + v;
	case KZ_TRED_MIN:
	case KZ_TRED_MAX:
		if (type == T_F16 || type == T_BF16) return pick16((u32)old, (u32)v, type == T_BF16, red == KZ_TRED_MAX);
		return below(type, v, old) == (red == KZ_TRED_MIN) ? v : old;
	case KZ_TRED_INC: return old >= v ? 0 : old + 1;
	case KZ_TRED_DEC: return old == 0 || old > v ? v : old - 1;
	case KZ_TRED_AND: return old & v;
	case KZ_TRED_OR: return old | v;
	}
	return old ^ v;
}

#define REDUCE(T) \
	for (u64 i = 0; i < n; i += sizeof(T)) { \
		T v, old = __atomic_load_n((T *)(to + i), __ATOMIC_RELAXED); \
		memcpy(&v, from + i, sizeof v); \
		while (!__atomic_compare_exchange_n((T *)(to + i), &old, (T)combine(red, type, old, v), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {} \
	}

static void reduce(u32 red, u32 type, uint8_t *to, const uint8_t *from, u64 n) {
	switch (type_bytes[type]) {
	case 2: REDUCE(uint16_t) break;
	case 4: REDUCE(uint32_t) break;
	case 8: REDUCE(uint64_t) break;
	}
}

// Some units that lie together in the tensor, or outside it, and in a line of the box, within 16 bytes of it.
static void piece(const struct copy *c, uint8_t *cell, u64 addr, u64 n, bool inside) {
	const struct map *m = c->m;
	if (c->kind != KZ_TENSOR_LOAD) {
		if (!inside) return;
		if (c->kind == KZ_TENSOR_REDUCE) reduce(c->red, m->type, (uint8_t *)addr, cell, n);
		else memcpy((uint8_t *)addr, cell, n);
		return;
	}
	if (!inside) {
		if (!m->nan) memset(cell, 0, n);
		else
			for (u64 i = 0; i < n; i++) cell[i] = i & 1 && m->unit > 1 ? 0x7f : 0xf7;
		return;
	}
	memcpy(cell, (const uint8_t *)addr, n);
	if (m->type == T_TF32 || m->type == T_TF32FTZ)
		for (u64 i = 0; i + 4 <= n; i += 4) {
			u32 v;
			memcpy(&v, cell + i, 4);
			v = round_tf32(v);
			memcpy(cell + i, &v, 4);
		}
}

// Units of the box from off on that follow each other, all inside the tensor or all outside.
static void span(const struct copy *c, u64 off, u64 addr, u64 n, bool inside) {
	while (n > 0) {
		u64 at = off / c->line * c->pitch + off % c->line;
		u64 part = 16 - at % 16; // a swizzle leaves 16 bytes together
		if (part > n) part = n;
		u64 to = c->at + at;
		to ^= (to >> 7 & ((UINT64_C(1) << c->m->swizzle) - 1)) << 4;
		piece(c, c->shared + (to - c->at), addr, part, inside);
		off += part;
		n -= part;
		addr += part;
	}
}

// A run of n units along the innermost dimension, from coordinates x on.
static void run(const struct copy *c, u64 off, const i64 *x, u64 n) {
	const struct map *m = c->m;
	u64 addr = m->address, unit = m->unit;
	bool inside = true;
	for (u32 k = 0; k < m->rank; k++) {
		if (k && (x[k] < 0 || (u64)x[k] >= m->dim[k])) inside = false;
		addr += (u64)x[k] * m->stride[k];
	}
	u64 before = 0, in = 0; // units below the tensor, and inside
	if (inside) {
		if (x[0] < 0) before = (u64)-x[0] < n ? (u64)-x[0] : n;
		i64 left = (i64)m->dim[0] - (x[0] + (i64)before);
		in = left < 0 ? 0 : (u64)left;
		if (in > n - before) in = n - before;
	} else {
		before = n;
	}
	span(c, off, 0, before * unit, false);
	span(c, off + before * unit, addr + before * unit, in * unit, true);
	span(c, off + (before + in) * unit, 0, (n - before - in) * unit, false);
}

static void tile(const struct copy *c, const struct map *m, const int32_t *at, u64 off) {
	bool plain = m->interleave == PLAIN;
	u64 n[RANK] = {0}, i[RANK] = {0};
	for (u32 k = 0; k < m->rank; k++) n[k] = count(m, k);
	u64 len = plain ? n[0] : 1;
	for (;;) {
		i64 x[RANK];
		for (u32 k = 0; k < m->rank; k++) x[k] = (i64)at[k] + (i64)(i[k] * m->step[k]);
		run(c, off, x, len);
		off += len * m->unit;
		u32 k = plain;
		for (; k < m->rank; k++) {
			if (++i[k] < n[k]) break;
			i[k] = 0;
		}
		if (k >= m->rank) return;
	}
}

static void columns(const struct copy *c, const int32_t *at, const uint16_t *shift) {
	const struct map *m = c->m;
	u32 first = spatial(m);
	i64 p[RANK];
	for (u32 k = 0; k < m->rank; k++) p[k] = at[k];
	u64 off = 0, len = channels(m);
	for (u32 pixel = 0; pixel < m->pixels; pixel++) {
		i64 x[RANK];
		for (u32 k = 0; k < m->rank; k++) x[k] = p[k] + (k >= first && k - first + 2 < m->rank ? shift[k - first] : 0);
		run(c, off, x, len);
		off += len * m->unit;
		u32 i = 0;
		for (; i + 2 < m->rank; i++) { // the next pixel, line, plane
			u32 k = first + i;
			if ((p[k] += m->step[k]) <= last_pixel(m, i)) break;
			p[k] = m->lower[i];
		}
		if (i + 2 >= m->rank) p[m->rank - 1] += m->step[m->rank - 1];
	}
}

// What the coordinates must not be (recorded as illegal instructions).
static bool refused(const struct map *m, u32 kind, const int32_t *at) {
	for (int i = 0; i < COORDS; i++)
		if (kind != KZ_TENSOR_LOAD && at[i] < 0) return true;
	if (m->interleave == PLAIN && (i64)at[0] * type_bytes[m->type] % 16 != 0) return true;
	if (m->im2col)
		for (u32 i = 0; i + 2 < m->rank; i++) {
			i64 x = at[spatial(m) + i];
			if (x < m->lower[i] || x > last_pixel(m, i)) return true;
		}
	return false;
}

// One lane's copy: a stop code, and the bytes it moves.
static u32 copy_box(const struct kz_launch *l, struct kz_worker *w, u32 op, const uint8_t *where, uint8_t *shared, const int32_t *at, const uint16_t *shift, u32 *bytes) {
	struct map m, one;
	u32 mode = op >> KZ_TENSOR_MODE_SHIFT & 15;
	struct copy c = {.m = &m, .kind = op & KZ_TENSOR_KIND, .red = op >> KZ_TENSOR_RED_SHIFT & 15, .shared = shared};
	if ((u64)where % 64) return STOP_MISALIGN;
	if (!unpack(where, &m) || m.rank != (op >> KZ_TENSOR_RANK_SHIFT & 15) || m.im2col != (mode == KZ_TENSOR_IM2COL) || mode == KZ_TENSOR_NO_MODE) return STOP_INSTRUCTION;
	for (u32 i = 0; i < m.rank; i++)
		if (m.dim[i] == UINT64_C(1) << 32) return STOP_INSTRUCTION; // what tensormap.replace makes of 0
	one = m;
	if (mode == KZ_TENSOR_ROWS) one.box[1] = 1;
	u64 n = box_bytes(&one);
	if (mode == KZ_TENSOR_ROWS) n *= 4;
	if (n == 0) return STOP_INSTRUCTION;
	c.line = m.unit;
	if (m.interleave == PLAIN) c.line *= m.im2col ? m.channels : m.box[0];
	c.pitch = c.line;
	if (m.interleave == PLAIN && m.swizzle && c.pitch < UINT64_C(16) << m.swizzle) c.pitch = UINT64_C(16) << m.swizzle;
	if (!(c.shared = kz_shared_at(w, (u64)(shared - w->shared), &c.at))) return STOP_INSTRUCTION;
	if (c.at % 128) return STOP_MISALIGN;
	if (c.at + n / c.line * c.pitch > ((u64)l->shared_total + 15) / 16 * 16) return STOP_ADDRESS;
	if (c.kind == KZ_TENSOR_REDUCE && !reduces(c.red, m.type)) return STOP_INSTRUCTION;
	if (refused(&m, c.kind, at)) return STOP_INSTRUCTION;
	if (c.kind != KZ_TENSOR_LOAD && m.address % type_bytes[m.type]) return STOP_MISALIGN; // strides are multiples of 16
	if (mode == KZ_TENSOR_ROWS)
		for (int i = 0; i < 4; i++) {
			int32_t row[RANK] = {at[0], at[1 + i], 0, 0, 0};
			tile(&c, &one, row, n / 4 * (u64)i);
		}
	else if (m.im2col) columns(&c, at, shift);
	else tile(&c, &m, at, 0);
	*bytes = (u32)n;
	return STOP_NONE;
}

// args: 32 addresses of maps; 32 addresses in shared memory; then 32 of each coordinate and of each offset.
u64 kz_tensor(const struct kz_launch *l, struct kz_worker *w, u32 op, u32 mask, const void *args, void *results) {
	uint8_t *const *maps = args;
	const u64 *second = (const u64 *)args + LANES;
	const u32 (*words)[LANES] = (const void *)(second + LANES);
	u32 *bytes = results, stop = STOP_NONE, lanes = 0;
	u32 before = float_mode_plain();
	for (u32 left = mask; left; left &= left - 1) {
		int lane = __builtin_ctz(left);
		int32_t at[COORDS];
		uint16_t shift[SHIFTS];
		bytes[lane] = 0;
		for (int i = 0; i < COORDS; i++) at[i] = (int32_t)words[i][lane];
		for (int i = 0; i < SHIFTS; i++) shift[i] = (uint16_t)words[COORDS + i][lane];
		u32 code = copy_box(l, w, op, maps[lane], (uint8_t *)second[lane], at, shift, &bytes[lane]);
		if (code) {
			stop = code;
			lanes |= UINT32_C(1) << lane;
		}
	}
	float_mode_set(before);
	return stop | (u64)lanes << 32;
}
