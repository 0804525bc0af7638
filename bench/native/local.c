/* Small arrays, one for each element of a large one. */
#include <math.h>
#include "native.h"

/* Sixteen sorts side by side: an insertion goes on while it moves anything in one of them. */
PART(insertion_part) {
    JOB;
    enum { W = 16 };
    int n = job->p[0];
    const float *restrict in = job->b[0];
    float *restrict out = job->b[1];
    for (int c = from; c < to; c++) {
        float a[16][W];
        for (int j = 0; j < 16; j++) {
            float x[W];
            int any = 1;
            for (int w = 0; w < W; w++) x[w] = in[(size_t)j * n + c * W + w];
            for (int at = j; at > 0 && any; at--) {
                any = 0;
#pragma omp simd reduction(| : any)
                for (int w = 0; w < W; w++) {
                    float b = a[at - 1][w];
                    any |= b > x[w];
                    a[at][w] = b > x[w] ? b : x[w], x[w] = b > x[w] ? x[w] : b;
                }
            }
            if (any)
                for (int w = 0; w < W; w++) a[0][w] = x[w];
        }
        for (int j = 0; j < 16; j++)
            for (int w = 0; w < W; w++) out[(size_t)j * n + c * W + w] = a[j][w];
    }
}
NATIVE(insertion) { SPLIT(insertion_part, job->p[0] / 16); }

PART(tree_stack_part) {
    JOB;
    const float *px = job->b[0], *py = job->b[1], *qx = job->b[2], *qy = job->b[3];
    uint32_t *out = job->b[4];
    int nodes = job->p[0];
    float radius = 0.01f;
    for (int i = from; i < to; i++) {
        int stack[32], depth = 1;
        uint32_t found = 0;
        stack[0] = 0;
        while (depth > 0) {
            int k = stack[--depth], left = 2 * k + 1;
            float dx = px[k] - qx[i], dy = py[k] - qy[i], side = 31 - __builtin_clz((unsigned)k + 1) & 1 ? dy : dx;
            found += fabsf(dx) + fabsf(dy) < radius;
            if (left >= nodes) continue;
            stack[depth] = left, depth += side > -radius;
            stack[depth] = left + 1, depth += side < radius;
        }
        out[i] = found;
    }
}
NATIVE(tree_stack) { CHUNKS(tree_stack_part, job->p[1], 256); }
