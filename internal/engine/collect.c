// Reductions for collective operations (internal/shim/nccl): plain loops, as vectors of what the processor has.
#include <stdint.h>
#include <string.h>

#include "engine.h"

#define COLLECT kz_collect_plain
#include "collect.h"

void kz_collect_avx2(const struct kz_collection *c, uint64_t count, int type, int op); // collect_avx2.c

void kz_collect(const struct kz_collection *c, uint64_t count, int type, int op) {
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2")) {
		kz_collect_avx2(c, count, type, op);
		return;
	}
#endif
	kz_collect_plain(c, count, type, op);
}
