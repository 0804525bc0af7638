// Instructions on textures and surfaces, for one warp a call.
#include "internal.h"
#include "textable.h"
#include "texcore.h"
#include "texsrgb.h"

static inline u32 linear_of(u32 v) { return srgb_linear[v & 255]; }

enum { LANES = 32 };

// How many words of coordinates a geometry has.
static int coord_words(u32 op) {
	const struct shape shape = shape_of(op), *g = &shape;
	return g->dims + g->layered;
}

static void read_words(u32 op, const u32 (*a)[LANES], int lane, struct words *w) {
	const struct shape shape = shape_of(op), *g = &shape;
	int n = coord_words(op), at = n;
	for (int i = 0; i < n; i++) w->coord[i] = a[i][lane];
	u32 how = op >> KZ_TOP_LOD_SHIFT & 3;
	if (how == KZ_LOD_LEVEL) w->lod = a[at++][lane];
	if (how == KZ_LOD_GRAD)
		for (int d = 0; d < 2; d++)
			for (int i = 0; i < g->dims; i++) w->grad[d][i] = a[at++][lane];
	w->off[0] = w->off[1] = w->off[2] = 0;
	if (op & KZ_TOP_OFFSETS)
		for (int i = 0; i < g->dims; i++) w->off[i] = offset_of(a[at++][lane]);
}

// One lane, any instruction. Returns a stop code.
static u32 one(u32 op, const struct kz_tex *o, const u32 (*a)[LANES], u32 (*r)[LANES], int lane) {
	struct sampler s;
	u32 kind = op & KZ_TOP_KIND;
	if (kind == KZ_TOP_QUERY) {
		r[0][lane] = o ? query(o, op, (op >> KZ_TOP_LOD_SHIFT & 3) == KZ_LOD_LEVEL ? a[0][lane] : 0) : 0;
		return STOP_NONE;
	}
	if (kind <= KZ_TOP_GATHER) {
		u32 v[4] = {0, 0, 0, 0};
		if (o) {
			struct words w;
			set_sampler(&s, o, op);
			read_words(op, a, lane, &w);
			fetch(&s, &w, v);
			to_type(op, v);
		}
		for (int i = 0; i < 4; i++) r[i][lane] = v[i];
		return STOP_NONE;
	}
	int nc = coord_words(op);
	u32 c[4], v[4] = {0, 0, 0, 0}, out[4] = {0, 0, 0, 0};
	u32 words = (1u << (op >> KZ_TOP_BYTES_SHIFT & 7)) / 4;
	if (words == 0) words = 1;
	if (words > 4) words = 4;
	for (int i = 0; i < nc; i++) c[i] = a[i][lane];
	u32 stop = STOP_NONE;
	if (kind != KZ_TOP_LOAD)
		for (u32 i = 0; i < words; i++) v[i] = a[nc + (int)i][lane];
	if (o && !o->memory) {
		set_sampler(&s, o, op);
		stop = surface(&s, c, v, out);
	}
	if (kind == KZ_TOP_LOAD)
		for (u32 i = 0; i < words; i++) r[i][lane] = out[i];
	return stop;
}

#ifndef __clang__ // whose -O2 makes vectors of loops
#pragma GCC push_options
#pragma GCC optimize("O3", "no-trapping-math", "no-tree-loop-distribute-patterns")
#endif
#include "texvector.h"

#define WARP_TEXTURE(NAME) \
	static bool NAME(const struct sampler *s, u32 mask, const u32 *border_of, const u64 *handles, const u32 (*a)[LANES], u32 (*r)[LANES]) { return one_handle(handles, mask) && warp_texture(s, mask, border_of, a, r); }
WARP_TEXTURE(warp_plain)
#ifdef __x86_64__
__attribute__((target("avx2,fma,tune=haswell,prefer-vector-width=256"))) WARP_TEXTURE(warp_avx2)
__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,fma,tune=skylake-avx512,prefer-vector-width=512"))) WARP_TEXTURE(warp_avx512)
#endif
#ifndef __clang__
#pragma GCC pop_options
#endif
#ifdef __x86_64__
#include "texquick.h"
static bool has_avx512(void) { return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"); }
#endif

u32 kz_texture_quick(const struct kz_tex *o) {
#ifdef __x86_64__
	if (has_avx512()) return quick_kind(o);
#endif
	(void)o;
	return 0;
}

bool kz_texture_warp(u32 level, u32 op, const struct kz_tex *o, u32 mask, const u64 *handles, u32 (*r)[LANES]) {
	const u32 (*a)[LANES] = (const void *)(handles + LANES);
	struct sampler s;
#ifdef __x86_64__
	if (level >= 2 && o->quick && quick_warp(o, op, mask, handles, a, r)) return true;
#endif
	set_sampler(&s, o, op);
	if (!warp_common(&s)) return false;
	u32 colours[4] = {0, 0, 0, 0};
	for (int c = 0; c < o->channels; c++) colours[c] = border(&s, c);
#ifdef __x86_64__
	if (level >= 2 && has_avx512()) return warp_avx512(&s, mask, colours, handles, a, r);
	if (level >= 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return warp_avx2(&s, mask, colours, handles, a, r);
#endif
	(void)level;
	return warp_plain(&s, mask, colours, handles, a, r);
}

// Does all lanes of mask if they have one handle and the fetch is a common one. False: nothing was done. whole: the results of other lanes do
// not matter.
static bool fast(bool whole, u32 op, const struct kz_tex *o, u32 mask, const u64 *handles, const u32 (*a)[LANES], u32 (*r)[LANES]) {
	struct sampler s;
	struct fast_side x, y;
	if (whole && kz_texture_warp(2, op, o, mask, handles, r)) return true;
	set_sampler(&s, o, op);
	if (!fast_sides(&s, &x, &y) || !one_handle(handles, mask)) return false;
	for (u32 left = mask; left; left &= left - 1) {
		int lane = __builtin_ctz(left);
		u32 v[4];
		fast_fetch(&s, &x, &y, a[0][lane], a[1][lane], v);
		to_type(op, v);
		for (int c = 0; c < 4; c++) r[c][lane] = v[c];
	}
	return true;
}

void kz_texture_lane(u32 op, const struct kz_tex *o, const u32 (*a)[LANES], u32 (*r)[LANES], int lane) { one(op, o, a, r, lane); }

// Any instruction, lane by lane where nothing else does it.
static __attribute__((noinline)) u64 any_texture(u32 op, u32 mask, u64 *handles, u32 (*r)[LANES]) {
	const u32 (*a)[LANES] = (const void *)(handles + LANES);
	u32 stop = STOP_NONE, lanes = 0;
	u64 before = 0;
	const struct kz_tex *o = NULL;
	if (op & KZ_TOP_ONE_HANDLE)
		for (int i = 1; i < LANES; i++) handles[i] = handles[0];
	op &= ~(u32)(KZ_TOP_ONE_HANDLE | KZ_TOP_ONE_ROW | KZ_TOP_ONE_RESULT);
	u32 mode = float_mode_plain();
	for (u32 left = mask; left; left &= left - 1) {
		int lane = __builtin_ctz(left);
		u64 h = handles[lane];
		if (h != before) {
			o = tex_find(h);
			before = h;
			if ((op & KZ_TOP_KIND) != KZ_TOP_TYPE && o && fast(left == mask, op, o, left, handles, a, r)) break;
		}
		if ((op & KZ_TOP_KIND) == KZ_TOP_TYPE) {
			r[0][lane] = o && o->reference && o->kind == (op >> KZ_TOP_SUB_SHIFT & 15);
			continue;
		}
		u32 code = h && !o ? STOP_ADDRESS : one(op, o, a, r, lane);
		if (code) {
			stop = code;
			lanes |= UINT32_C(1) << lane;
		}
	}
	float_mode_set(mode);
	return stop | (u64)lanes << 32;
}

u64 kz_texture(const struct kz_launch *l, struct kz_worker *w, u32 op, u32 mask, void *args, void *results) {
	(void)l;
	(void)w;
	u64 *handles = args;
#ifdef __x86_64__
	if (mask) {
		const struct kz_tex *o = tex_find(handles[op & KZ_TOP_ONE_HANDLE ? 0 : __builtin_ctz(mask)]);
		if (o && o->quick && quick_warp(o, op, mask, handles, (const void *)(handles + LANES), results)) return STOP_NONE;
	}
#endif
	return any_texture(op, mask, handles, results);
}
