// test<<<1,256>>>(o[64]u64)
// cuda_bf16.h
#include <cuda_bf16.h>
#include "check.h"

#define T __nv_bfloat16
#define T2 __nv_bfloat162
#define NAME bfloat16
#define ONE 0x3f80
#define NEXT 0x3f81
#define INF 0x7f80
#define BIG 0x7f61 // 3e38, cut
#define TIE 257 // between 256 and 258
#define TIE_LO 0x4380
#include "halves_body.h"
