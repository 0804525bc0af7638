// BLAKE3 (its paper, section 2) in plain C.
#include "blake3.h"

#include <string.h>

enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8, CHUNK_BLOCKS = 16 };

static const uint32_t iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// The order in which the seven rounds take the words of a block.
static const uint8_t order[7][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
    {3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1}, {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
    {12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4}, {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
    {11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13},
};

static inline uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

#define MIX(a, b, c, d, x, y)                                                                                                                        \
	s[a] += s[b] + (x), s[d] = turn(s[d] ^ s[a], 16), s[c] += s[d], s[b] = turn(s[b] ^ s[c], 12), s[a] += s[b] + (y), s[d] = turn(s[d] ^ s[a], 8), \
	    s[c] += s[d], s[b] = turn(s[b] ^ s[c], 7)

// compress gives the chaining value of a block of n bytes behind value; out may be value.
static void compress(const uint32_t value[8], const uint8_t block[64], uint32_t n, uint64_t chunk, uint32_t flags, uint32_t out[8]) {
	uint32_t m[16], s[16];
	for (int i = 0; i < 16; i++)
		m[i] = (uint32_t)block[4 * i] | (uint32_t)block[4 * i + 1] << 8 | (uint32_t)block[4 * i + 2] << 16 | (uint32_t)block[4 * i + 3] << 24;
	memcpy(s, value, 32);
	memcpy(s + 8, iv, 16);
	s[12] = (uint32_t)chunk, s[13] = (uint32_t)(chunk >> 32), s[14] = n, s[15] = flags;
	for (int r = 0; r < 7; r++) {
		const uint8_t *o = order[r];
		MIX(0, 4, 8, 12, m[o[0]], m[o[1]]), MIX(1, 5, 9, 13, m[o[2]], m[o[3]]), MIX(2, 6, 10, 14, m[o[4]], m[o[5]]), MIX(3, 7, 11, 15, m[o[6]], m[o[7]]);
		MIX(0, 5, 10, 15, m[o[8]], m[o[9]]), MIX(1, 6, 11, 12, m[o[10]], m[o[11]]), MIX(2, 7, 8, 13, m[o[12]], m[o[13]]), MIX(3, 4, 9, 14, m[o[14]], m[o[15]]);
	}
	for (int i = 0; i < 8; i++)
		out[i] = s[i] ^ s[i + 8];
}

static void put(uint8_t *to, const uint32_t words[8]) {
	for (int i = 0; i < 32; i++)
		to[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
}

// join is the parent of two trees.
static void join(const uint32_t left[8], const uint32_t right[8], uint32_t flags, uint32_t out[8]) {
	uint8_t block[64];
	put(block, left);
	put(block + 32, right);
	compress(iv, block, sizeof block, 0, PARENT | flags, out);
}

static uint32_t first(const struct kz_blake3 *h) { return h->blocks ? 0 : CHUNK_START; }

void kz_blake3_start(struct kz_blake3 *h) {
	memset(h, 0, sizeof *h);
	memcpy(h->value, iv, sizeof iv);
}

// next ends a chunk: trees of the same size become one.
static void next(struct kz_blake3 *h) {
	uint32_t value[8];
	compress(h->value, h->block, h->fill, h->chunk, first(h) | CHUNK_END, value);
	h->chunk++;
	for (uint64_t n = h->chunk; !(n & 1); n >>= 1)
		join(h->stack[--h->depth], value, 0, value);
	memcpy(h->stack[h->depth++], value, sizeof value);
	memcpy(h->value, iv, sizeof iv);
	h->fill = h->blocks = 0;
}

// A block is compressed when something follows it: the last one is compressed differently.
void kz_blake3_add(struct kz_blake3 *h, const void *data, size_t n) {
	const uint8_t *p = data;
	while (n) {
		if (h->fill == sizeof h->block && h->blocks == CHUNK_BLOCKS - 1) {
			next(h);
		} else if (h->fill == sizeof h->block) {
			compress(h->value, h->block, h->fill, h->chunk, first(h), h->value);
			h->blocks++, h->fill = 0;
		}
		size_t take = sizeof h->block - h->fill < n ? sizeof h->block - h->fill : n;
		memcpy(h->block + h->fill, p, take);
		h->fill += (uint32_t)take, p += take, n -= take;
	}
}

void kz_blake3_end(const struct kz_blake3 *h, uint8_t out[KZ_BLAKE3_OUT]) {
	uint8_t last[64] = {0};
	uint32_t value[8];
	memcpy(last, h->block, h->fill);
	compress(h->value, last, h->fill, h->chunk, first(h) | CHUNK_END | (h->depth ? 0 : ROOT), value);
	for (uint32_t i = h->depth; i--;)
		join(h->stack[i], value, i ? 0 : ROOT, value);
	put(out, value);
}
