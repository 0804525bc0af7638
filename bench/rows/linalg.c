/* Many small matrices, and sums that meet in memory. */
#include "../harness/bench.h"

enum { MATRICES = 64 << 10, LUS = 64 << 10, BAGS = 64 << 10, WORDS = 16 << 10, PARTICLES = 4 << 20, CELLS = 64 << 10 };

/* A random matrix with a heavy diagonal: positive definite. */
static void fill_spd(const struct row *r, void **h) {
    float *a = h[0];
    for (int m = 0; m < r->p[0]; m++)
        for (int i = 0; i < 64; i++) a[m * 64 + i] = uniform() - 0.5f + (i / 8 == i % 8 ? 6.0f : 0.0f);
}
static void fill_any(const struct row *r, void **h) { fill_f32(h[0], r->bufs[0].count, -1, 1); }
static void fill_bags(const struct row *r, void **h) {
    fill_f32(h[0], r->bufs[0].count, 0, 1);
    for (int i = 0; i < BAGS; i++) ((int *)h[1])[i] = (int)(rng() % WORDS);
}
static void fill_cells(const struct row *r, void **h) {
    for (int i = 0; i < r->p[0]; i++) ((int *)h[0])[i] = (int)(rng() % CELLS);
    fill_f32(h[1], (size_t)r->p[0], 0, 1);
}
static void cholesky8(const struct row *r, struct dev *d) { LAUNCH(d, "cholesky8", DIM1(r->p[0] / 128), DIM1(128), B(0), B(1)); }
static void lu8_pivot(const struct row *r, struct dev *d) { LAUNCH(d, "lu8_pivot", DIM1(r->p[0]), DIM1(64), B(0), B(1), B(2)); }
static void scatter_add(const struct row *r, struct dev *d) {
    d->zero(d, 2);
    LAUNCH(d, "scatter_add", DIM1(r->p[0] / 4), DIM1(256), B(0), B(1), B(2));
}
static void deposit(const struct row *r, struct dev *d) {
    d->zero(d, 2);
    LAUNCH(d, "deposit", DIM1(r->p[0] / 256), DIM1(256), B(0), B(1), B(2));
}

const struct row linalg_rows[] = {
    {.name = "cholesky8", .module = "linalg", .what = "64 Ki matrices of 8 x 8, 32 MiB, a thread a matrix", .bytes = 512.0 * MATRICES, .tolerance = 1e-4, .p = {MATRICES},
     .bufs = {{"in", F32, IN, 64 * MATRICES}, {"out", F32, OUT, 64 * MATRICES}}, .fill = fill_spd, .run = cholesky8},
    {.name = "lu8_pivot", .module = "linalg", .what = "64 Ki matrices of 8 x 8, 32 MiB, with pivots, a block a matrix", .bytes = 512.0 * LUS, .tolerance = 1e-3, .outliers = 1e-3,
     .p = {LUS}, .bufs = {{"in", F32, IN, 64 * LUS}, {"out", F32, OUT, 64 * LUS}, {"pivots", I32, OUT, 8 * LUS}}, .fill = fill_any, .run = lu8_pivot},
    {.name = "scatter_add", .module = "linalg", .what = "64 Ki rows of 64 added to 16 Ki rows, 20 MiB, atomics on floats", .bytes = 12.0 * 64 * BAGS, .tolerance = 1e-4, .p = {BAGS},
     .bufs = {{"in", F32, IN, 64 * BAGS}, {"index", I32, IN, BAGS}, {"out", F32, OUT, 64 * WORDS}}, .fill = fill_bags, .run = scatter_add},
    {.name = "deposit", .module = "linalg", .what = "4 Mi weights added to 64 Ki cells, 32 MiB, atomics on floats", .bytes = 8.0 * PARTICLES, .tolerance = 1e-4, .p = {PARTICLES},
     .bufs = {{"cell", I32, IN, PARTICLES}, {"weight", F32, IN, PARTICLES}, {"grid", F32, OUT, CELLS}}, .fill = fill_cells, .run = deposit},
    {0},
};
