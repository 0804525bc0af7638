// suld, sust and sured.
#include "texture.h"

static inline struct four act(const struct surface_args *a) {
	struct four r = {{0, 0, 0, 0}};
	const struct kz_tex *o = find(a->handle);
	if (!o || o->memory) return r;
	struct sampler s;
	set_sampler(&s, o, a->op);
	u32 code = surface(&s, a->coord, a->value, r.v);
	if (code) stop(code);
	return r;
}

// One function a kind, so that a kernel has what it uses.
struct four kudzu_surf_load(struct surface_args a) {
	a.op = (a.op & ~(u32)KZ_TOP_KIND) | KZ_TOP_LOAD;
	return act(&a);
}

void kudzu_surf_store(struct surface_args a) {
	a.op = (a.op & ~(u32)KZ_TOP_KIND) | KZ_TOP_STORE;
	act(&a);
}

void kudzu_surf_storep(struct surface_args a) {
	a.op = (a.op & ~(u32)KZ_TOP_KIND) | KZ_TOP_STOREP;
	act(&a);
}

void kudzu_surf_reduce(struct surface_args a) {
	a.op = (a.op & ~(u32)KZ_TOP_KIND) | KZ_TOP_RED;
	act(&a);
}
