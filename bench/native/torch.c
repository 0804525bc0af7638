/* What tensor libraries launch most. */
#include <math.h>
#include <string.h>
#include "native.h"

/* e to the x for x <= 0, as libraries write it where vectors are wanted: two to the integer part by the exponent's bits, a
 * polynomial for the rest. */
static inline float exp_fast(float x) {
    float t = x * 1.44269504f, n = rintf(t), f = (t - n) * 0.693147181f;
    float p = 1 + f * (1 + f * (0.5f + f * (0.166666667f + f * (0.0416666667f + f * (0.00833333333f + f * 0.00138888889f)))));
    int32_t e = (int32_t)n;
    union { int32_t i; float f; } two = {.i = (e < -126 ? 0 : e + 127) << 23};
    return p * two.f;
}
PART(softmax_rows_part) {
    JOB;
    int cols = job->p[1];
    for (int r = from; r < to; r++) {
        const float *restrict x = (const float *)job->b[0] + (size_t)r * cols;
        float *restrict o = (float *)job->b[1] + (size_t)r * cols, m = -3.4e38f, s = 0;
#pragma omp simd reduction(max : m)
        for (int i = 0; i < cols; i++) m = x[i] > m ? x[i] : m;
#pragma omp simd reduction(+ : s)
        for (int i = 0; i < cols; i++) {
            float e = exp_fast(x[i] - m);
            o[i] = e;
            s += e;
        }
        s = 1 / s;
#pragma omp simd
        for (int i = 0; i < cols; i++) o[i] *= s;
    }
}
NATIVE(softmax_rows) { SPLIT(softmax_rows_part, job->p[0]); }

/* Welford over LANES columns side by side, which share their count. */
enum { LANES = 32 };
struct welford { float mean[LANES], m2[LANES]; int n; };
static inline void welford_row(struct welford *w, const float *x) {
    float part = 1 / (float)++w->n;
#pragma omp simd
    for (int l = 0; l < LANES; l++) {
        float delta = x[l] - w->mean[l], mean = w->mean[l] + delta * part;
        w->m2[l] += delta * (x[l] - mean);
        w->mean[l] = mean;
    }
}
/* All lanes have the same count: the mean of the means, and what they differ by. */
static inline void welford_end(const struct welford *w, float *mean, float *variance) {
    float m = 0, v = 0, apart = 0;
    for (int l = 0; l < LANES; l++) m += w->mean[l], v += w->m2[l];
    m /= LANES;
    for (int l = 0; l < LANES; l++) apart += (w->mean[l] - m) * (w->mean[l] - m);
    *mean = m;
    *variance = (v / (float)w->n + apart) / LANES;
}
PART(layernorm_welford_part) {
    JOB;
    int cols = job->p[1];
    const float *restrict gain = job->b[1], *restrict bias = job->b[2];
    for (int r = from; r < to; r++) {
        const float *restrict x = (const float *)job->b[0] + (size_t)r * cols;
        float *restrict o = (float *)job->b[3] + (size_t)r * cols, mean, v;
        struct welford w = {.n = 0};
        for (int i = 0; i < cols; i += LANES) welford_row(&w, x + i);
        welford_end(&w, &mean, &v);
        float scale = 1 / sqrtf(v + 1e-5f);
#pragma omp simd
        for (int i = 0; i < cols; i++) o[i] = (x[i] - mean) * scale * gain[i] + bias[i];
        ((float *)job->b[4])[r] = mean, ((float *)job->b[5])[r] = scale;
    }
}
NATIVE(layernorm_welford) { SPLIT(layernorm_welford_part, job->p[0]); }

PART(batchnorm_stats_part) {
    JOB;
    int images = job->p[0], channels = job->p[1], pixels = job->p[2];
    for (int c = from; c < to; c++) {
        struct welford w = {.n = 0};
        float mean, v;
        for (int b = 0; b < images; b++) {
            const float *x = (const float *)job->b[0] + ((size_t)b * channels + c) * pixels;
            for (int i = 0; i < pixels; i += LANES) welford_row(&w, x + i);
        }
        welford_end(&w, &mean, &v);
        ((float *)job->b[1])[c] = mean, ((float *)job->b[2])[c] = 1 / sqrtf(v + 1e-5f);
    }
}
NATIVE(batchnorm_stats) { SPLIT(batchnorm_stats_part, job->p[1]); }

PART(im2col_part) {
    JOB;
    int side = job->p[1], plane = side * side;
    for (int c = from; c < to; c++)
        for (int k = 0; k < 9; k++) {
            const float *in = (const float *)job->b[0] + (size_t)c * plane;
            float *out = (float *)job->b[1] + ((size_t)c * 9 + k) * plane;
            int dy = k / 3 - 1, dx = k % 3 - 1;
            for (int y = 0; y < side; y++) {
                float *to_row = out + y * side;
                if (y + dy < 0 || y + dy >= side) {
                    memset(to_row, 0, (size_t)side * 4);
                    continue;
                }
                int lo = dx < 0, hi = side - (dx > 0);
                if (lo) to_row[0] = 0;
                if (hi < side) to_row[hi] = 0;
                memcpy(to_row + lo, in + (y + dy) * side + lo + dx, (size_t)(hi - lo) * 4);
            }
        }
}
NATIVE(im2col) { SPLIT(im2col_part, job->p[0]); }

PART(kv_cache_part) {
    JOB;
    int heads = job->p[1], size = job->p[2], n = heads * size;
    const int *slots = job->b[2];
    for (int t = from; t < to; t++) {
        if (slots[t] < 0) continue;
        int page = slots[t] / 16, token = slots[t] % 16;
        const uint16_t *k = (const uint16_t *)job->b[0] + (size_t)t * n, *v = (const uint16_t *)job->b[1] + (size_t)t * n;
        uint16_t *kc = (uint16_t *)job->b[3] + (size_t)page * n * 16 + token * 8, *vc = (uint16_t *)job->b[4] + (size_t)page * n * 16 + token;
        for (int i = 0; i < n; i += 8) memcpy(kc + (size_t)i * 16, k + i, 16);
        for (int i = 0; i < n; i++) vc[(size_t)i * 16] = v[i];
    }
}
NATIVE(kv_cache) { SPLIT(kv_cache_part, job->p[0]); }

PART(gather_stride_part) {
    JOB;
    const float *restrict in = (const float *)job->b[0] + job->p[2];
    const int *restrict index = job->b[1];
    float *restrict out = job->b[2];
    int stride = job->p[1];
#pragma omp simd
    for (int i = from; i < to; i++) out[i] = in[index[i] * stride];
}
NATIVE(gather_stride) { SPLIT(gather_stride_part, job->p[0]); }
PART(scatter_stride_part) {
    JOB;
    const float *restrict in = job->b[0];
    const int *restrict index = job->b[1];
    float *restrict out = (float *)job->b[2] + job->p[2];
    int stride = job->p[1];
    for (int i = from; i < to; i++) out[index[i] * stride] = in[i];
}
NATIVE(scatter_stride) { SPLIT(scatter_stride_part, job->p[0]); }
