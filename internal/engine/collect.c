// Reductions for collective operations (internal/shim/nccl): plain loops, as vectors of what the processor has.
#include <stdint.h>
#include <string.h>

#include "engine.h"

#ifndef __clang__ // whose -O2 makes vectors of loops
#pragma GCC push_options
#pragma GCC optimize("O3", "no-trapping-math", "wrapv")
#endif
#include "collect.h"

#define COLLECT(NAME) \
	static void NAME(const struct kz_collection *c, uint64_t count, int type, int op) { collect(c, count, type, op); }
COLLECT(collect_plain)
#ifdef __x86_64__
__attribute__((target("avx2,tune=haswell,prefer-vector-width=256"))) COLLECT(collect_avx2)
#endif
#ifndef __clang__
#pragma GCC pop_options
#endif

void kz_collect(const struct kz_collection *c, uint64_t count, int type, int op) {
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2")) {
		collect_avx2(c, count, type, op);
		return;
	}
#endif
	collect_plain(c, count, type, op);
}
