// Numbers of the programs that record what an H200 computes, and the four types of LAPACK.
#pragma once
#include <stddef.h>

static unsigned long long state;
static double next(void) { // between -1 and 1, 20 bits, so that every type has them exactly
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(long long)(state >> 44) / 524288.0 - 1;
}

typedef struct {
    int cplx, dbl;
} kind;
static const kind kinds[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
static const char *const kind_names[] = {"f32", "f64", "c32", "c64"};
static int kind_at(kind k) { return 2 * k.cplx + k.dbl; }
static size_t size_of(kind k) { return (size_t)(k.dbl ? 8 : 4) << k.cplx; }

static void put(kind k, void *p, size_t i, double re, double im) {
    if (k.dbl) ((double *)p)[i << k.cplx] = re;
    else ((float *)p)[i << k.cplx] = (float)re;
    if (k.cplx && k.dbl) ((double *)p)[2 * i + 1] = im;
    else if (k.cplx) ((float *)p)[2 * i + 1] = (float)im;
}
