/* Histograms and sparse matrices. */
#include <string.h>
#include "native.h"

/* Counts of a thread in local memory (four tables, so that equal neighbours do not wait for each other), merged by atomics. */
PART(histogram_shared_part) {
    JOB;
    const uint8_t *in = job->b[0];
    uint32_t *bins = job->b[1], h[4][256] = {{0}};
    int i = from;
    for (; i + 4 <= to; i += 4) h[0][in[i]]++, h[1][in[i + 1]]++, h[2][in[i + 2]]++, h[3][in[i + 3]]++;
    for (; i < to; i++) h[0][in[i]]++;
    for (int k = 0; k < 256; k++) __atomic_fetch_add(&bins[k], h[0][k] + h[1][k] + h[2][k] + h[3][k], __ATOMIC_RELAXED);
}
NATIVE(histogram_shared) {
    memset(job->b[1], 0, 256 * sizeof(uint32_t));
    SPLIT(histogram_shared_part, job->p[0]);
}

PART(histogram_global_part) {
    JOB;
    const uint32_t *in = job->b[0];
    uint32_t *bins = job->b[1], mask = (uint32_t)job->p[1] - 1;
    for (int i = from; i < to; i++) __atomic_fetch_add(&bins[in[i] & mask], 1, __ATOMIC_RELAXED);
}
NATIVE(histogram_global) {
    memset(job->b[1], 0, (size_t)job->p[1] * sizeof(uint32_t));
    SPLIT(histogram_global_part, job->p[0]);
}

PART(spmv_part) {
    JOB;
    const int *start = job->b[0], *col = job->b[1];
    const float *restrict val = job->b[2], *restrict x = job->b[3];
    float *restrict y = job->b[4];
    for (int r = from; r < to; r++) {
        float s = 0;
        for (int i = start[r]; i < start[r + 1]; i++) s += val[i] * x[col[i]];
        y[r] = s;
    }
}
NATIVE(spmv) { CHUNKS(spmv_part, job->p[0], 1024); }
