// The order in which the blocks of a kernel begin.
#include "internal.h"

void kz_engine_order(struct kz_engine *e, int order, uint64_t seed) {
	e->order = order;
	e->order_seed = seed;
}

static uint64_t mixed(uint64_t x) {
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static bool apart(uint64_t a, uint64_t b) { // no common divisor
	while (b) {
		uint64_t r = a % b;
		a = b, b = r;
	}
	return a == 1;
}

uint64_t kz_turn(const struct kz_engine *e, const struct kz_op *op, uint64_t n) {
	uint64_t total = op->job.total;
	if (op->kind != KZ_OP_KERNEL || e->order == KZ_ORDER_FORWARD || total < 2) return n;
	if (e->order == KZ_ORDER_REVERSE) return total - 1 - n;
	uint64_t x = mixed(e->order_seed + total * 0x9e3779b97f4a7c15u), step = x % (total - 1) + 1;
	while (!apart(step, total)) step = step % (total - 1) + 1;
	return (uint64_t)((mixed(x) % total + (unsigned __int128)n * step) % total);
}
