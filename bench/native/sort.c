/* Prefix sums and sorting. */
#include <string.h>
#include "native.h"

static uint32_t part_sum[MAX_THREADS][16];
PART(scan_sum) {
    JOB;
    const uint32_t *in = job->b[0];
    uint32_t s = 0;
    for (int i = from; i < to; i++) s += in[i];
    part_sum[part][0] = s;
}
PART(scan_write) {
    JOB;
    const uint32_t *in = job->b[0];
    uint32_t *out = job->b[1], s = part_sum[part][0];
    for (int i = from; i < to; i++) out[i] = s += in[i];
}
NATIVE(scan) {
    SPLIT(scan_sum, job->p[0]);
    uint32_t s = 0;
    for (int t = 0; t < job->env->threads; t++) {
        uint32_t n = part_sum[t][0];
        part_sum[t][0] = s;
        s += n;
    }
    SPLIT(scan_write, job->p[0]);
}

/* One step of the network over [from, from + n), n a multiple of 2 j or of the run within which j pairs. */
static inline void bitonic_run(uint32_t *restrict x, int from, int n, int j, int k) {
    for (int i = from; i < from + n; i += 2 * j) {
        uint32_t *restrict lo = x + i, *restrict hi = x + i + j;
        if ((i & k) == 0)
            for (int t = 0; t < j; t++) {
                uint32_t a = lo[t], b = hi[t];
                lo[t] = a < b ? a : b, hi[t] = a < b ? b : a;
            }
        else
            for (int t = 0; t < j; t++) {
                uint32_t a = lo[t], b = hi[t];
                lo[t] = a < b ? b : a, hi[t] = a < b ? a : b;
            }
    }
}
static int step_j, step_k;
PART(bitonic_local) {
    JOB;
    for (int b = from; b < to; b++) {
        uint32_t *x = job->b[1];
        memcpy(x + b * 1024, (const uint32_t *)job->b[0] + b * 1024, 4096);
        for (int k = 2; k <= 1024; k <<= 1)
            for (int j = k >> 1; j; j >>= 1) bitonic_run(x, b * 1024, 1024, j, k);
    }
}
/* Parts are pieces of 512 pairs, so that few long runs are shared out as well. */
PART(bitonic_step) {
    JOB;
    uint32_t *x = job->b[1];
    int j = step_j, k = step_k;
    for (int c = from; c < to; c++) {
        int t = c * 512, i = 2 * t - (t & (j - 1));
        uint32_t *restrict lo = x + i, *restrict hi = x + i + j;
        if ((i & k) == 0)
            for (int e = 0; e < 512; e++) {
                uint32_t a = lo[e], b = hi[e];
                lo[e] = a < b ? a : b, hi[e] = a < b ? b : a;
            }
        else
            for (int e = 0; e < 512; e++) {
                uint32_t a = lo[e], b = hi[e];
                lo[e] = a < b ? b : a, hi[e] = a < b ? a : b;
            }
    }
}
PART(bitonic_merge) {
    JOB;
    for (int b = from; b < to; b++)
        for (int j = 512; j; j >>= 1) bitonic_run(job->b[1], b * 1024, 1024, j, step_k);
}
NATIVE(bitonic) {
    int n = job->p[0];
    SPLIT(bitonic_local, n / 1024);
    for (int k = 2048; k <= n; k <<= 1) {
        step_k = k;
        for (step_j = k >> 1; step_j >= 1024; step_j >>= 1) SPLIT(bitonic_step, n / 1024);
        SPLIT(bitonic_merge, n / 1024);
    }
}

static uint32_t digits[MAX_THREADS][16];
static struct { const uint32_t *from; uint32_t *to; int shift; } radix_pass;
PART(radix_count) {
    JOB;
    uint32_t c[4][16] = {{0}};
    const uint32_t *in = radix_pass.from;
    int shift = radix_pass.shift, i = from;
    for (; i + 4 <= to; i += 4)
        for (int u = 0; u < 4; u++) c[u][in[i + u] >> shift & 15]++;
    for (; i < to; i++) c[0][in[i] >> shift & 15]++;
    for (int d = 0; d < 16; d++) digits[part][d] = c[0][d] + c[1][d] + c[2][d] + c[3][d];
}
PART(radix_scatter) {
    JOB;
    uint32_t at[16];
    const uint32_t *in = radix_pass.from;
    uint32_t *out = radix_pass.to;
    int shift = radix_pass.shift;
    memcpy(at, digits[part], sizeof at);
    for (int i = from; i < to; i++) out[at[in[i] >> shift & 15]++] = in[i];
}
/* Digits of four bits, as the kernel; the last of the eight passes ends in the output. */
NATIVE(radix) {
    int n = job->p[0];
    radix_pass.from = job->b[0];
    for (int pass = 0; pass < 8; pass++) {
        radix_pass.to = job->b[pass & 1 ? 1 : 2];
        radix_pass.shift = pass * 4;
        SPLIT(radix_count, n);
        uint32_t sum = 0;
        for (int d = 0; d < 16; d++)
            for (int t = 0; t < job->env->threads; t++) {
                uint32_t c = digits[t][d];
                digits[t][d] = sum;
                sum += c;
            }
        SPLIT(radix_scatter, n);
        radix_pass.from = radix_pass.to;
    }
}
