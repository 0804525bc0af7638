// What the recorders of cuSOLVER and cuBLAS share: memory, matrices of a generator, and one line a result.
#pragma once
#include "generator.h"
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REMEMBERED = 256 };
static void *made[REMEMBERED];
static unsigned made_count;
static void *up(const void *h, size_t n) {
    void *d = 0;
    cudaMalloc(&d, n + 256);
    made[made_count++ % REMEMBERED] = d;
    cudaMemset(d, 0, n + 256);
    if (h) cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
    return d;
}
static void *room(size_t n) { return up(0, n); }
// forget frees what was made since a count.
static inline void forget(unsigned since) {
    cudaDeviceSynchronize();
    while (made_count > since) cudaFree(made[--made_count % REMEMBERED]);
}

enum { ANY, HERMITIAN, POSITIVE, HEAVY, SYMMETRIC }; // HEAVY: a large diagonal
static void *host_matrix(kind k, int m, int n, int shape, int seed) {
    char *h = calloc((size_t)m * n + 1, size_of(k));
    state = (unsigned long long)seed;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double re = next(), im = k.cplx ? next() : 0;
            if (shape == HEAVY && i == j) re += 2 * n;
            if (shape == POSITIVE && i == j) re += 2 * n;
            if ((shape == HERMITIAN || shape == POSITIVE) && i == j) im = 0;
            if (shape == SYMMETRIC && i == j) re += 2 * n;
            if (shape == HERMITIAN || shape == POSITIVE || shape == SYMMETRIC) {
                if (i < j) continue;
                if (i != j) put(k, h, (size_t)i * m + j, re, shape == SYMMETRIC ? im : -im);
            }
            put(k, h, (size_t)j * m + i, re, im);
        }
    return h;
}
static void *matrix(kind k, int m, int n, int shape, int seed) {
    void *h = host_matrix(k, m, n, shape, seed), *d = up(h, (size_t)m * n * size_of(k));
    free(h);
    return d;
}

static void head(const char *f, kind k, int m, int n, int x) { printf("%s %s %d %d %d |", f, kind_names[kind_at(k)], m, n, x); }
static int *info;
static void status(int s) {
    int h = -99;
    cudaDeviceSynchronize();
    cudaMemcpy(&h, info, 4, cudaMemcpyDeviceToHost);
    printf(" %d %d |", s, h);
    cudaMemset(info, 0, 4);
}
// numbers of p, of the host or the device: reals, at most so many, as they are or without their signs.
static size_t shown = 24;
static void show(const void *p, int dbl, size_t n, int absolute) {
    char *h = malloc(n * 8 + 8);
    cudaDeviceSynchronize();
    cudaMemcpy(h, p, n * (dbl ? 8 : 4), cudaMemcpyDefault);
    for (size_t i = 0; i < n && i < shown; i++) {
        size_t at = n <= shown ? i : i * 2654435761u % n;
        double v = dbl ? ((double *)h)[at] : ((float *)h)[at];
        if (absolute) v = fabs(v);
        if (dbl) printf(" %.15g", v);
        else printf(" %.8g", v);
    }
    free(h);
}
static void end(void) { puts(""), fflush(stdout); }
