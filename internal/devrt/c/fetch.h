// What tex and tld4 share; often: some of these fetches are common ones (texfast.h).
#include "texture.h"

static inline __attribute__((always_inline)) struct four sample(const struct fetch_args *a, bool often) {
	struct four r = {{0, 0, 0, 0}};
	const struct kz_tex *o = find(a->handle);
	if (!o) return r;
	struct sampler s;
	set_sampler(&s, o, a->op);
	struct fast_side x, y;
	if (often && fast_sides(&s, &x, &y)) {
		fast_fetch(&s, &x, &y, a->coord[0], a->coord[1], r.v);
		to_type(a->op, r.v);
		return r;
	}
	struct words w = {{a->coord[0], a->coord[1], a->coord[2], a->coord[3]}, a->lod, {{a->grad[0][0], a->grad[0][1], a->grad[0][2], 0}, {a->grad[1][0], a->grad[1][1], a->grad[1][2], 0}}, {0, 0, 0}};
	if (a->op & KZ_TOP_OFFSETS)
		for (int i = 0; i < 3; i++) w.off[i] = offset_of(a->off[i]);
	fetch(&s, &w, r.v);
	to_type(a->op, r.v);
	return r;
}
