/* Pictures, filtered: the four neighbours of a place and their weights. */
#include <math.h>
#include "native.h"

static inline int inside(int i, int side) { return i < 0 ? 0 : i < side ? i : side - 1; }
static inline float fetch(const float *in, int side, float x, float y) {
    float fx = floorf(x - 0.5f), fy = floorf(y - 0.5f), u = x - 0.5f - fx, v = y - 0.5f - fy;
    int x0 = inside((int)fx, side), x1 = inside((int)fx + 1, side), y0 = inside((int)fy, side) * side, y1 = inside((int)fy + 1, side) * side;
    float top = in[y0 + x0] + u * (in[y0 + x1] - in[y0 + x0]), low = in[y1 + x0] + u * (in[y1 + x1] - in[y1 + x0]);
    return top + v * (low - top);
}
PART(texture_rotate_part) {
    JOB;
    int side = job->p[0];
    const float *restrict in = job->b[0];
    float half = 0.5f * (float)side;
    for (int y = from; y < to; y++) {
        float *restrict out = (float *)job->b[1] + (size_t)y * side, dy = (float)y + 0.5f - half;
#pragma omp simd
        for (int x = 0; x < side; x++) {
            float dx = (float)x + 0.5f - half;
            out[x] = fetch(in, side, 0.8f * dx - 0.6f * dy + half, 0.6f * dx + 0.8f * dy + half);
        }
    }
}
NATIVE(texture_rotate) { SPLIT(texture_rotate_part, job->p[0]); }

PART(texture_shrink_part) {
    JOB;
    int side = job->p[0];
    const float *restrict in = job->b[0];
    for (int y = from; y < to; y++) {
        float *restrict out = (float *)job->b[1] + (size_t)y * side, v = 2 * (float)y + 1;
#pragma omp simd
        for (int x = 0; x < side; x++) {
            float u = 2 * (float)x + 1;
            out[x] = 0.25f * (fetch(in, 2 * side, u - 0.5f, v - 0.5f) + fetch(in, 2 * side, u + 0.5f, v - 0.5f) + fetch(in, 2 * side, u - 0.5f, v + 0.5f) +
                              fetch(in, 2 * side, u + 0.5f, v + 0.5f));
        }
    }
}
NATIVE(texture_shrink) { SPLIT(texture_shrink_part, job->p[0]); }
