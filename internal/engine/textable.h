// The table of textures, for the sampler, which looks into it for each fetch of a warp.
#ifndef KZ_TEXTABLE_H
#define KZ_TEXTABLE_H

#include "texture.h"
#include <stdatomic.h>
#include <stddef.h>

enum { KZ_TEX_SLOTS = 1 << KZ_TEX_SLOT_BITS, KZ_TEX_CHUNKS = KZ_TEX_SLOTS / KZ_TEX_CHUNK };

extern _Atomic(struct kz_tex *) kz_tex_chunks[KZ_TEX_CHUNKS];

// tex_find is the texture that handle names, NULL if there is none. kz_tex_find is the same for callers outside.
static inline const struct kz_tex *tex_find(uint64_t handle) {
	uint32_t slot = handle & (KZ_TEX_SLOTS - 1);
	struct kz_tex *c = atomic_load_explicit(&kz_tex_chunks[slot / KZ_TEX_CHUNK], memory_order_acquire);
	if (!c || handle == 0) return NULL;
	struct kz_tex *t = &c[slot % KZ_TEX_CHUNK];
	return __atomic_load_n(&t->handle, __ATOMIC_ACQUIRE) == handle ? t : NULL;
}

#endif
