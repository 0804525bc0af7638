// collect.h for processors with AVX2.
#ifdef __x86_64__
#include <stdint.h>
#include <string.h>

#include "engine.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2,tune=haswell,prefer-vector-width=256")
#endif
#define COLLECT kz_collect_avx2
#include "collect.h"
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
