// Tensor copies: internal/tensormap has the layout of a map and the order in which a copy goes through a box; this is the same in C.
#ifndef KZ_TENSOR_H
#define KZ_TENSOR_H

#include <stdint.h>

// Instructions, as bits of a number; internal/image/tensor.go names them for the compiler.
enum {
	KZ_TENSOR_KIND = 15, KZ_TENSOR_LOAD = 0, KZ_TENSOR_STORE = 1, KZ_TENSOR_REDUCE = 2,
	KZ_TENSOR_RANK_SHIFT = 4, // 4 bits
	KZ_TENSOR_MODE_SHIFT = 8, // 4 bits: KZ_TENSOR_TILE …
	KZ_TENSOR_RED_SHIFT = 12, // 4 bits: KZ_TRED_*
};
enum { KZ_TENSOR_TILE, KZ_TENSOR_ROWS, KZ_TENSOR_IM2COL, KZ_TENSOR_NO_MODE };
enum { KZ_TRED_ADD, KZ_TRED_MIN, KZ_TRED_MAX, KZ_TRED_INC, KZ_TRED_DEC, KZ_TRED_AND, KZ_TRED_OR, KZ_TRED_XOR };

struct kz_launch;
struct kz_worker;
// One instruction for the lanes of mask: 0, or a stop code and, above it, the lanes that stopped.
uint64_t kz_tensor(const struct kz_launch *l, struct kz_worker *w, uint32_t op, uint32_t mask, const void *args, void *results);

#endif
