/* Rows that move memory, as a person would write them for a CPU. */
#include "native.h"

PART(saxpy_part) {
    JOB;
    const float *restrict x = job->b[0];
    float *restrict y = job->b[1];
    for (int i = from; i < to; i++) y[i] = 0.001f * x[i] + y[i];
}
NATIVE(saxpy) { SPLIT(saxpy_part, job->p[0]); }

PART(triad_part) {
    JOB;
    const float *restrict b = job->b[0], *restrict c = job->b[1];
    float *restrict a = job->b[2];
    for (int i = from; i < to; i++) a[i] = b[i] + 3.0f * c[i];
}
NATIVE(triad) { SPLIT(triad_part, job->p[0]); }

static float sums[MAX_THREADS][16];
PART(reduce_part) {
    JOB;
    const float *in = job->b[0];
    float s = 0;
    for (int i = from; i < to; i++) s += in[i];
    sums[part][0] = s;
}
NATIVE(reduce) {
    SPLIT(reduce_part, job->p[0]);
    float s = 0;
    for (int t = 0; t < job->env->threads; t++) s += sums[t][0];
    ((float *)job->b[2])[0] = s;
}

/* Straight from one matrix to the other, in the kernel's blocks of 32 by 32: row by row it would be ten times slower. */
PART(transpose_naive_part) {
    JOB;
    int n = job->p[0];
    const float *restrict in = job->b[0];
    float *restrict out = job->b[1];
    for (int ty = from * 32; ty < to * 32; ty += 32)
        for (int tx = 0; tx < n; tx += 32)
            for (int x = tx; x < tx + 32; x++)
                for (int y = ty; y < ty + 32; y++) out[(size_t)x * n + y] = in[(size_t)y * n + x];
}
NATIVE(transpose_naive) { SPLIT(transpose_naive_part, job->p[0] / 32); }

/* In tiles of 32 by 32, through a local array, as the kernel does. */
PART(transpose_shared_part) {
    JOB;
    int n = job->p[0];
    const float *restrict in = job->b[0];
    float *restrict out = job->b[1];
    for (int ty = from; ty < to; ty++)
        for (int tx = 0; tx < n / 32; tx++) {
            float tile[32][32];
            for (int y = 0; y < 32; y++)
                for (int x = 0; x < 32; x++) tile[y][x] = in[((size_t)ty * 32 + y) * n + tx * 32 + x];
            for (int x = 0; x < 32; x++)
                for (int y = 0; y < 32; y++) out[((size_t)tx * 32 + x) * n + ty * 32 + y] = tile[y][x];
        }
}
NATIVE(transpose_shared) { SPLIT(transpose_shared_part, job->p[0] / 32); }

PART(stencil5_part) {
    JOB;
    int w = job->p[0], h = job->p[1];
    const float *restrict in = job->b[0];
    float *restrict out = job->b[1];
    for (int y = from; y < to; y++) {
        const float *row = in + (size_t)y * w, *up = y > 0 ? row - w : row, *down = y < h - 1 ? row + w : row;
        float *o = out + (size_t)y * w;
        o[0] = row[0] + 0.125f * (row[0] + row[1] + up[0] + down[0] - 4 * row[0]);
        for (int x = 1; x < w - 1; x++) o[x] = row[x] + 0.125f * (row[x - 1] + row[x + 1] + up[x] + down[x] - 4 * row[x]);
        int e = w - 1;
        o[e] = row[e] + 0.125f * (row[e - 1] + row[e] + up[e] + down[e] - 4 * row[e]);
    }
}
NATIVE(stencil5) { SPLIT(stencil5_part, job->p[1]); }

PART(stencil27_part) {
    JOB;
    int n = job->p[0];
    const float *restrict in = job->b[0];
    float *restrict out = job->b[1];
    const float w0 = 0.5f, w1 = 0.05f, w2 = 0.01f, w3 = 0.01f;
    for (int z = from; z < to; z++)
        for (int y = 0; y < n; y++) {
            size_t row = ((size_t)z * n + y) * n;
            if (z == 0 || y == 0 || z == n - 1 || y == n - 1) {
                for (int x = 0; x < n; x++) out[row + x] = in[row + x];
                continue;
            }
            const float *r[3][3];
            for (int dz = -1; dz <= 1; dz++)
                for (int dy = -1; dy <= 1; dy++) r[dz + 1][dy + 1] = in + row + ((ptrdiff_t)dz * n + dy) * n;
            const float *a = r[0][0], *b = r[0][1], *c = r[0][2], *d = r[1][0], *e = r[1][1], *f = r[1][2], *g = r[2][0], *h = r[2][1], *k = r[2][2];
            out[row] = in[row];
            out[row + n - 1] = in[row + n - 1];
            for (int x = 1; x < n - 1; x++) {
                float face = e[x - 1] + e[x + 1] + d[x] + f[x] + b[x] + h[x];
                float edge = d[x - 1] + d[x + 1] + f[x - 1] + f[x + 1] + b[x - 1] + b[x + 1] + h[x - 1] + h[x + 1] + a[x] + c[x] + g[x] + k[x];
                float corner = a[x - 1] + a[x + 1] + c[x - 1] + c[x + 1] + g[x - 1] + g[x + 1] + k[x - 1] + k[x + 1];
                out[row + x] = w0 * e[x] + w1 * face + w2 * edge + w3 * corner;
            }
        }
}
NATIVE(stencil27) { SPLIT(stencil27_part, job->p[0]); }
