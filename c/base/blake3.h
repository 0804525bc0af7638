// BLAKE3, as internal/cache hashes: 32 bytes, no key.
#ifndef KZ_BLAKE3_H
#define KZ_BLAKE3_H

#include <stddef.h>
#include <stdint.h>

#define KZ_BLAKE3_OUT 32

struct kz_blake3 {
	uint32_t value[8], stack[54][8]; // of the chunk so far; of finished trees, the largest first
	uint8_t block[64];
	uint32_t fill, blocks, depth; // bytes of block, blocks of the chunk, trees
	uint64_t chunk;
};

void kz_blake3_start(struct kz_blake3 *h);
void kz_blake3_add(struct kz_blake3 *h, const void *data, size_t n);
void kz_blake3_end(const struct kz_blake3 *h, uint8_t out[KZ_BLAKE3_OUT]);

#endif
