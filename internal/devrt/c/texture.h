// Textures and surfaces on GPUs that have no units for them, or other ones: the engine's sampler, compiled for a GPU. Instructions become
// calls of the functions here (internal/lower/texcall.go); devrt.go has the same layouts.
#ifndef KUDZU_DEVICE_TEXTURE_H
#define KUDZU_DEVICE_TEXTURE_H

#include "../../engine/texcore.h"

// The table, as devrt.TextureTable has it: kudzu_textures is lent by the backend.
enum { SLOTS = 1 << KZ_TEX_SLOT_BITS, CHUNKS = SLOTS / KZ_TEX_CHUNK };
struct texture_table {
	uint16_t srgb[256];
	u64 chunks[CHUNKS]; // addresses of KZ_TEX_CHUNK objects each; 0: none
};
extern const struct texture_table kudzu_textures;

// The mailbox (devrt.h).
struct mailbox { u32 head, tail, size, dropped, trapped, stopped, pad[10], ring[1]; };
extern struct mailbox kudzu_mailbox;

static inline u32 linear_of(u32 v) { return kudzu_textures.srgb[v & 255]; }

static inline void stop(u32 code) {
	__atomic_store_n(&kudzu_mailbox.stopped, code, __ATOMIC_RELAXED);
	__builtin_trap();
}

// NULL for 0, which is an object of zeros; a handle that is no object's ends the kernel.
static inline const struct kz_tex *find(u64 handle) {
	if (handle == 0) return NULL;
	u32 slot = handle & (SLOTS - 1);
	const struct kz_tex *c = (const struct kz_tex *)kudzu_textures.chunks[slot / KZ_TEX_CHUNK];
	if (c && c[slot % KZ_TEX_CHUNK].handle == handle) return &c[slot % KZ_TEX_CHUNK];
	stop(STOP_ADDRESS);
	return NULL;
}

// Operands and results of a call. What an instruction does not have is 0.
struct fetch_args { u32 op, pad; u64 handle; u32 coord[4], lod, grad[2][3]; u32 off[3]; };
struct query_args { u32 op, level; u64 handle; };
struct surface_args { u32 op, pad; u64 handle; u32 coord[4], value[4]; };
struct __attribute__((aligned(16))) four { u32 v[4]; };

#endif
