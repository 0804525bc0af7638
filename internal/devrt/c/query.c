// txq, suq and istypep.
#include "texture.h"

u32 kudzu_tex_query(struct query_args a) {
	const struct kz_tex *o = find(a.handle);
	if (!o) return 0;
	if ((a.op & KZ_TOP_KIND) == KZ_TOP_TYPE) return o->reference && o->kind == (a.op >> KZ_TOP_SUB_SHIFT & 15);
	return query(o, a.op, a.level);
}
