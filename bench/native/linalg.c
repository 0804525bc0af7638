/* Many small matrices, and sums that meet in memory. */
#include <math.h>
#include <string.h>
#include "native.h"

/* Sixteen matrices side by side. */
PART(cholesky8_part) {
    JOB;
    enum { W = 16 };
    for (int m = from; m < to; m++) {
        const float *in = (const float *)job->b[0] + (size_t)m * W * 64;
        float *out = (float *)job->b[1] + (size_t)m * W * 64, a[64][W];
        for (int w = 0; w < W; w++)
            for (int i = 0; i < 64; i++) a[i][w] = in[w * 64 + i];
        for (int k = 0; k < 8; k++) {
            float inverse[W];
#pragma omp simd
            for (int w = 0; w < W; w++) a[k * 9][w] = sqrtf(a[k * 9][w]), inverse[w] = 1 / a[k * 9][w];
            for (int r = k + 1; r < 8; r++)
#pragma omp simd
                for (int w = 0; w < W; w++) a[r * 8 + k][w] *= inverse[w];
            for (int c = k + 1; c < 8; c++)
                for (int r = c; r < 8; r++)
#pragma omp simd
                    for (int w = 0; w < W; w++) a[r * 8 + c][w] -= a[r * 8 + k][w] * a[c * 8 + k][w];
        }
        for (int w = 0; w < W; w++)
            for (int r = 0; r < 8; r++)
                for (int c = 0; c < 8; c++) out[w * 64 + r * 8 + c] = c <= r ? a[r * 8 + c][w] : 0;
    }
}
NATIVE(cholesky8) { SPLIT(cholesky8_part, job->p[0] / 16); }

/* A row is one vector of eight. */
PART(lu8_pivot_part) {
    JOB;
    for (int m = from; m < to; m++) {
        float a[8][8];
        int *pivots = (int *)job->b[2] + (size_t)m * 8;
        memcpy(a, (const float *)job->b[0] + (size_t)m * 64, sizeof a);
        for (int k = 0; k < 8; k++) {
            int p = k;
            for (int i = k + 1; i < 8; i++)
                if (fabsf(a[i][k]) > fabsf(a[p][k])) p = i;
            pivots[k] = p;
#pragma omp simd
            for (int c = 0; c < 8; c++) {
                float low = a[k][c];
                a[k][c] = a[p][c], a[p][c] = low;
            }
            float inverse = 1 / a[k][k];
            for (int r = k + 1; r < 8; r++) {
                float factor = a[r][k] * inverse;
#pragma omp simd
                for (int c = 0; c < 8; c++) a[r][c] = c > k ? a[r][c] - factor * a[k][c] : a[r][c];
                a[r][k] = factor;
            }
        }
        memcpy((float *)job->b[1] + (size_t)m * 64, a, sizeof a);
    }
}
NATIVE(lu8_pivot) { SPLIT(lu8_pivot_part, job->p[0]); }

static inline void add_float(float *p, float v) {
    uint32_t *u = (uint32_t *)p, seen = __atomic_load_n(u, __ATOMIC_RELAXED);
    union { uint32_t u; float f; } next;
    do {
        next.u = seen;
        next.f += v;
    } while (!__atomic_compare_exchange_n(u, &seen, next.u, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
PART(scatter_add_part) {
    JOB;
    const float *in = job->b[0];
    const int *index = job->b[1];
    for (int i = from; i < to; i++) {
        float *to_row = (float *)job->b[2] + (size_t)index[i] * 64;
        for (int c = 0; c < 64; c++) add_float(to_row + c, in[(size_t)i * 64 + c]);
    }
}
NATIVE(scatter_add) {
    memset(job->b[2], 0, (size_t)(16 << 10) * 64 * 4);
    SPLIT(scatter_add_part, job->p[0]);
}
PART(deposit_part) {
    JOB;
    const int *cell = job->b[0];
    const float *weight = job->b[1];
    float *grid = job->b[2];
    for (int i = from; i < to; i++) add_float(grid + cell[i], weight[i]);
}
NATIVE(deposit) {
    memset(job->b[2], 0, (size_t)(64 << 10) * 4);
    SPLIT(deposit_part, job->p[0]);
}
