/* What the rows of real programs need beside device.h: warp votes, integers of 64 bits, floats in atomics. */
#pragma once
#include "device.h"
#ifdef __OPENCL_VERSION__
#define ROUND(x) rint(x)
#define CLZ(x) ((int)clz(x))
#define VOLATILE volatile
#else
typedef unsigned long long ulong;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
#define ROUND(x) __builtin_rintf(x)
#define CLZ(x) __builtin_clz((uint)(x))
#define VOLATILE volatile
#define ALL_LANES 0xffffffffu
#endif
