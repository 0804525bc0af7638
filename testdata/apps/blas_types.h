// Numbers of all types of cuBLAS: small and whole, so that products and sums are exact in every type and order; what is rounded is rounded once.
// With -DWIDE functions are those whose sizes have 64 bits.
#pragma once
#include "solver_record.h"
#include <cublasLt.h>
#include <cublas_v2.h>
#ifdef WIDE
#define W(f) f##_64
typedef int64_t size;
#else
#define W(f) f
typedef int size;
#endif

enum { F16, BF16, F32, F64, C32, C64, S8, S32, C8, E4M3, E5M2 };
static const struct type {
    const char *name;
    int type, size, cplx;
} T[] = {{"f16", CUDA_R_16F, 2, 0},  {"bf16", CUDA_R_16BF, 2, 0}, {"f32", CUDA_R_32F, 4, 0}, {"f64", CUDA_R_64F, 8, 0},   {"c32", CUDA_C_32F, 8, 1}, {"c64", CUDA_C_64F, 16, 1},
         {"s8", CUDA_R_8I, 1, 0},    {"s32", CUDA_R_32I, 4, 0},   {"c8", CUDA_C_8I, 2, 1},   {"e4m3", CUDA_R_8F_E4M3, 1, 0}, {"e5m2", CUDA_R_8F_E5M2, 1, 0}};

// bits of a small number in a format with e bits of exponent and m of fraction: it has no more digits than that.
static unsigned bits(double v, int e, int m) {
    int x;
    if (v == 0) return 0;
    double f = frexp(fabs(v), &x); // f in [1/2, 1)
    unsigned frac = (unsigned)((2 * f - 1) * (1 << m));
    return (v < 0) << (e + m) | (unsigned)(x - 1 + (1 << (e - 1)) - 1) << m | frac;
}
static double number(unsigned u, int e, int m) {
    int x = u >> m & ((1u << e) - 1), bias = (1 << (e - 1)) - 1;
    double f = u & ((1u << m) - 1), v = x ? ldexp(1 + ldexp(f, -m), x - bias) : ldexp(f, 1 - bias - m);
    if (x == (1 << e) - 1 && !(e == 4 && f != 7)) v = f == 0 ? INFINITY : NAN; // e4m3 has no infinity
    return u >> (e + m) ? -v : v;
}
static void lay(int t, void *p, size_t i, double re, double im) {
    switch (t) {
    case F16: ((uint16_t *)p)[i] = (uint16_t)bits(re, 5, 10); break;
    case BF16: ((uint16_t *)p)[i] = (uint16_t)bits(re, 8, 7); break;
    case F32: ((float *)p)[i] = (float)re; break;
    case F64: ((double *)p)[i] = re; break;
    case C32: ((float *)p)[2 * i] = (float)re, ((float *)p)[2 * i + 1] = (float)im; break;
    case C64: ((double *)p)[2 * i] = re, ((double *)p)[2 * i + 1] = im; break;
    case S8: ((int8_t *)p)[i] = (int8_t)re; break;
    case S32: ((int32_t *)p)[i] = (int32_t)re; break;
    case C8: ((int8_t *)p)[2 * i] = (int8_t)re, ((int8_t *)p)[2 * i + 1] = (int8_t)im; break;
    case E4M3: ((uint8_t *)p)[i] = (uint8_t)bits(re, 4, 3); break;
    case E5M2: ((uint8_t *)p)[i] = (uint8_t)bits(re, 5, 2); break;
    }
}
static double whole(void) { // from -4 to 4
    return floor((next() + 1) * 4.5) - 4;
}
static void *numbers(int t, size_t n, int seed) {
    char *h = calloc(n + 1, 16);
    state = (unsigned long long)seed;
    for (size_t i = 0; i < n; i++) {
        double re = whole(), im = whole();
        lay(t, h, i, re, im);
    }
    void *d = up(h, n * (size_t)T[t].size);
    free(h);
    return d;
}
static void list(int t, const void *p, size_t n) {
    char *h = calloc(n + 1, 16);
    cudaDeviceSynchronize();
    cudaMemcpy(h, p, n * (size_t)T[t].size, cudaMemcpyDefault);
    size_t parts = n << T[t].cplx;
    for (size_t i = 0; i < parts && i < 24; i++) {
        size_t at = parts <= 24 ? i : i * 2654435761u % parts;
        switch (t) {
        case F16: printf(" %.6g", number(((uint16_t *)h)[at], 5, 10)); break;
        case BF16: printf(" %.6g", number(((uint16_t *)h)[at], 8, 7)); break;
        case F32:
        case C32: printf(" %.8g", ((float *)h)[at]); break;
        case F64:
        case C64: printf(" %.15g", ((double *)h)[at]); break;
        case S8:
        case C8: printf(" %d", ((int8_t *)h)[at]); break;
        case S32: printf(" %d", ((int32_t *)h)[at]); break;
        case E4M3: printf(" %.6g", number(((uint8_t *)h)[at], 4, 3)); break;
        case E5M2: printf(" %.6g", number(((uint8_t *)h)[at], 5, 2)); break;
        }
    }
    puts(""), fflush(stdout), free(h);
}
static void *factor(int t, double re, double im) {
    static char ring[8][16];
    static int at;
    char *p = ring[at++ % 8];
    memset(p, 0, 16), lay(t, p, 0, re, im);
    return p;
}
