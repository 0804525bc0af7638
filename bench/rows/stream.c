/* Rows that move memory. Working sets are larger than the last-level caches of the machines measured so far (105 MB). */
#include "../harness/bench.h"

enum { N = 16 << 20, SUM = 32 << 20, SIDE = 4096, CUBE = 256 };

static void fill2(const struct row *r, void **h) {
    fill_f32(h[0], r->bufs[0].count, -1, 1);
    fill_f32(h[1], r->bufs[1].count, -1, 1);
}
static void fill1(const struct row *r, void **h) { fill_f32(h[0], r->bufs[0].count, 0, 1); }

static void saxpy(const struct row *r, struct dev *d) {
    LAUNCH(d, "saxpy", DIM1(r->p[0] / 256), DIM1(256), B(0), B(1), F(0.001f), I(r->p[0]));
}
static void triad(const struct row *r, struct dev *d) {
    LAUNCH(d, "triad", DIM1(r->p[0] / 256), DIM1(256), B(0), B(1), B(2), F(3), I(r->p[0]));
}
static void reduce_shuffle(const struct row *r, struct dev *d) {
    LAUNCH(d, "reduce_shuffle", DIM1(1024), DIM1(256), B(0), B(1), I(r->p[0]));
    LAUNCH(d, "reduce_shuffle", DIM1(1), DIM1(256), B(1), B(2), I(1024));
}
static void reduce_tree(const struct row *r, struct dev *d) {
    int n = r->p[0], from = 0, to = 1;
    for (; n > 1; n = (n + 511) / 512) {
        int last = n <= 512;
        LAUNCH(d, "reduce_tree", DIM1((n + 511) / 512), DIM1(256), B(from), B(last ? 2 : to), I(n));
        from = to, to = to == 1 ? 3 : 1;
    }
}
static void transpose_naive(const struct row *r, struct dev *d) {
    LAUNCH(d, "transpose_naive", DIM2(r->p[0] / 32, r->p[0] / 32), DIM2(32, 8), B(0), B(1), I(r->p[0]));
}
static void transpose_shared(const struct row *r, struct dev *d) {
    LAUNCH(d, "transpose_shared", DIM2(r->p[0] / 32, r->p[0] / 32), DIM2(32, 8), B(0), B(1), I(r->p[0]));
}
static void stencil5(const struct row *r, struct dev *d) {
    LAUNCH(d, "stencil5", DIM2(r->p[0] / 32, r->p[1] / 8), DIM2(32, 8), B(0), B(1), I(r->p[0]), I(r->p[1]));
}
static void stencil27(const struct row *r, struct dev *d) {
    LAUNCH(d, "stencil27", DIM3(r->p[0] / 32, r->p[0] / 8, r->p[0]), DIM2(32, 8), B(0), B(1), I(r->p[0]), F(0.5f), F(0.05f), F(0.01f), F(0.01f));
}

const struct row stream_rows[] = {
    {.name = "saxpy", .module = "stream", .what = "y = a x + y, 16 Mi floats, 128 MiB", .bytes = 12.0 * N, .tolerance = 1e-6, .p = {N},
     .bufs = {{"x", F32, IN, N}, {"y", F32, INOUT, N}}, .fill = fill2, .run = saxpy},
    {.name = "triad", .module = "stream", .what = "a = b + s c, 16 Mi floats, 192 MiB", .bytes = 12.0 * N, .tolerance = 1e-6, .p = {N},
     .bufs = {{"b", F32, IN, N}, {"c", F32, IN, N}, {"a", F32, OUT, N}}, .fill = fill2, .run = triad},
    {.name = "reduce_shuffle", .module = "stream", .what = "sum of 32 Mi floats, 128 MiB, warp shuffles", .bytes = 4.0 * SUM, .tolerance = 1e-4, .p = {SUM},
     .bufs = {{"in", F32, IN, SUM}, {"parts", F32, TMP, 1024}, {"sum", F32, OUT, 1}}, .fill = fill1, .run = reduce_shuffle, .native = "reduce"},
    {.name = "reduce_tree", .module = "stream", .what = "sum of 32 Mi floats, 128 MiB, tree in shared memory", .bytes = 4.0 * SUM, .tolerance = 1e-4, .p = {SUM},
     .bufs = {{"in", F32, IN, SUM}, {"parts", F32, TMP, SUM / 512}, {"sum", F32, OUT, 1}, {"more", F32, TMP, SUM / 512}}, .fill = fill1, .run = reduce_tree,
     .native = "reduce"},
    {.name = "transpose_naive", .module = "stream", .what = "4096 x 4096 floats, 128 MiB, one store a thread", .bytes = 8.0 * SIDE * SIDE, .p = {SIDE},
     .bufs = {{"in", F32, IN, SIDE * SIDE}, {"out", F32, OUT, SIDE * SIDE}}, .fill = fill1, .run = transpose_naive},
    {.name = "transpose_shared", .module = "stream", .what = "4096 x 4096 floats, 128 MiB, 32 x 32 tiles", .bytes = 8.0 * SIDE * SIDE, .p = {SIDE},
     .bufs = {{"in", F32, IN, SIDE * SIDE}, {"out", F32, OUT, SIDE * SIDE}}, .fill = fill1, .run = transpose_shared},
    {.name = "stencil5", .module = "stream", .what = "5 points, 4096 x 4096 floats, 128 MiB", .bytes = 8.0 * SIDE * SIDE, .tolerance = 1e-6, .p = {SIDE, SIDE},
     .bufs = {{"in", F32, IN, SIDE * SIDE}, {"out", F32, OUT, SIDE * SIDE}}, .fill = fill1, .run = stencil5},
    {.name = "stencil27", .module = "stream", .what = "27 points, 256 cubed floats, 128 MiB", .bytes = 8.0 * CUBE * CUBE * CUBE, .tolerance = 1e-5, .p = {CUBE},
     .bufs = {{"in", F32, IN, CUBE * CUBE * CUBE}, {"out", F32, OUT, CUBE * CUBE * CUBE}}, .fill = fill1, .run = stencil27},
    {0},
};
