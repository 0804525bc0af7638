/* Single-precision matrix products of 1024 cubed: 12 MiB in three matrices. */
#include "../harness/bench.h"

enum { N = 1024 };

static void fill(const struct row *r, void **h) {
    (void)r;
    fill_f32(h[0], N * N, -1, 1);
    fill_f32(h[1], N * N, -1, 1);
}
static void naive(const struct row *r, struct dev *d) { LAUNCH(d, "sgemm_naive", DIM2(N / 32, N / 8), DIM2(32, 8), B(0), B(1), B(2), I(r->p[0])); }
static void tiled16(const struct row *r, struct dev *d) { LAUNCH(d, "sgemm_tiled16", DIM2(N / 16, N / 16), DIM2(16, 16), B(0), B(1), B(2), I(r->p[0])); }
static void tiled32(const struct row *r, struct dev *d) { LAUNCH(d, "sgemm_tiled32", DIM2(N / 32, N / 32), DIM2(32, 32), B(0), B(1), B(2), I(r->p[0])); }
static void registers(const struct row *r, struct dev *d) { LAUNCH(d, "sgemm_register", DIM2(N / 64, N / 64), DIM2(16, 16), B(0), B(1), B(2), I(r->p[0])); }

#define GEMM(row, text, function)                                                                                      \
    {.name = row, .module = "gemm", .what = "1024 cubed, 12 MiB, " text, .ops = 2.0 * N * N * N, .tolerance = 1e-4, .compute = 1, .p = {N}, \
     .bufs = {{"a", F32, IN, N * N}, {"b", F32, IN, N * N}, {"c", F32, OUT, N * N}}, .fill = fill, .run = function}
const struct row gemm_rows[] = {
    GEMM("sgemm_naive", "one element a thread", naive),
    GEMM("sgemm_tiled16", "16 x 16 shared tiles", tiled16),
    GEMM("sgemm_tiled32", "32 x 32 shared tiles", tiled32),
    GEMM("sgemm_register", "64 x 64 tiles, 4 x 4 a thread", registers),
    {0},
};
