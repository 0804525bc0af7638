// test<<<1,256>>>(o[64]u64)
// cuda_fp16.h
#include <cuda_fp16.h>
#include "check.h"

#define T __half
#define T2 __half2
#define NAME half
#define ONE 0x3c00
#define NEXT 0x3c01
#define INF 0x7c00
#define BIG 0x7bff
#define TIE 2049 // between 2048 and 2050
#define TIE_LO 0x6800
#include "halves_body.h"
