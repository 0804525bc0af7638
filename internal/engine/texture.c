// The table of textures and surfaces, and the instructions on them.
#include "internal.h"
#include "textable.h"
#include <stdlib.h>
#include <string.h>

_Atomic(struct kz_tex *) kz_tex_chunks[KZ_TEX_CHUNKS];

// The caller holds the table's lock (Go).
struct kz_tex *kz_tex_slot(uint32_t slot) {
	if (slot >= KZ_TEX_SLOTS) return NULL;
	struct kz_tex *c = atomic_load_explicit(&kz_tex_chunks[slot / KZ_TEX_CHUNK], memory_order_acquire);
	if (!c) {
		c = calloc(KZ_TEX_CHUNK, sizeof *c);
		if (!c) return NULL;
		atomic_store_explicit(&kz_tex_chunks[slot / KZ_TEX_CHUNK], c, memory_order_release);
	}
	return &c[slot % KZ_TEX_CHUNK];
}

const struct kz_tex *kz_tex_find(uint64_t handle) { return tex_find(handle); }
