// tld4.
#include "fetch.h"

struct four kudzu_tex_gather(struct fetch_args a) {
	a.op = (a.op & ~(u32)KZ_TOP_KIND) | KZ_TOP_GATHER;
	return sample(&a, false);
}
