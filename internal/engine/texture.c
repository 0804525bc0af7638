// The table of textures and surfaces, and the instructions on them.
#include "internal.h"
#include "texture.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 1 << KZ_TEX_SLOT_BITS, CHUNKS = SLOTS / KZ_TEX_CHUNK };

static _Atomic(struct kz_tex *) chunks[CHUNKS];

// The caller holds the table's lock (Go).
struct kz_tex *kz_tex_slot(uint32_t slot) {
	if (slot >= SLOTS) return NULL;
	struct kz_tex *c = atomic_load_explicit(&chunks[slot / KZ_TEX_CHUNK], memory_order_acquire);
	if (!c) {
		c = calloc(KZ_TEX_CHUNK, sizeof *c);
		if (!c) return NULL;
		atomic_store_explicit(&chunks[slot / KZ_TEX_CHUNK], c, memory_order_release);
	}
	return &c[slot % KZ_TEX_CHUNK];
}

const struct kz_tex *kz_tex_find(uint64_t handle) {
	uint32_t slot = handle & (SLOTS - 1);
	struct kz_tex *c = atomic_load_explicit(&chunks[slot / KZ_TEX_CHUNK], memory_order_acquire);
	if (!c || handle == 0) return NULL;
	struct kz_tex *t = &c[slot % KZ_TEX_CHUNK];
	return __atomic_load_n(&t->handle, __ATOMIC_ACQUIRE) == handle ? t : NULL;
}
