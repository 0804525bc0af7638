// tex of everything but cubes: the compiler leaves out what is for them.
#include "fetch.h"

struct four kudzu_tex(struct fetch_args a) {
	a.op = (a.op & ~(u32)KZ_TOP_KIND) | KZ_TOP_TEX;
	if (shape_of(a.op).cube) __builtin_unreachable();
	return sample(&a, true);
}
