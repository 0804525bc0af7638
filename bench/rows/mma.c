/* Matrix products with tensor-core instructions, 1024 cubed. */
#include "../harness/bench.h"

enum { N = 1024 };

static void fill_half(const struct row *r, void **h) {
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < r->bufs[b].count; i++) ((_Float16 *)h[b])[i] = (_Float16)(uniform() * 2 - 1);
}
static void fill_bytes(const struct row *r, void **h) {
    for (int b = 0; b < 2; b++)
        for (size_t i = 0; i < r->bufs[b].count; i++) ((uint8_t *)h[b])[i] = (uint8_t)(rng() >> 9);
}
static void hgemm(const struct row *r, struct dev *d) { LAUNCH(d, "hgemm_mma", DIM2(N / 64, N / 64), DIM1(128), B(0), B(1), B(2), I(r->p[0]), I(N / 2)); }
static void warpgroup(const struct row *r, struct dev *d) { LAUNCH(d, "hgemm_wgmma", DIM2(N / 64, N / 64), DIM1(128), B(0), B(1), B(2), I(r->p[0]), I(N / 2)); }
static void igemm(const struct row *r, struct dev *d) { LAUNCH(d, "igemm_mma", DIM2(N / 64, N / 64), DIM1(128), B(0), B(1), B(2), I(r->p[0]), I(N / 4)); }

const struct row mma_rows[] = {
    {.name = "hgemm_mma", .module = "mma", .what = "1024 cubed, halves with f32 sums, 8 MiB, ldmatrix and mma", .ops = 2.0 * N * N * N, .tolerance = 1e-4, .compute = 1,
     .mma = 1, .p = {N}, .bufs = {{"a", F16, IN, N * N}, {"b", F16, IN, N * N}, {"c", F32, OUT, N * N}}, .fill = fill_half, .run = hgemm, .native = "hgemm"},
    {.name = "hgemm_wgmma", .module = "warpgroup", .what = "1024 cubed, halves with f32 sums, 8 MiB, wgmma", .ops = 2.0 * N * N * N, .tolerance = 1e-4, .compute = 1,
     .mma = 1, .p = {N}, .bufs = {{"a", F16, IN, N * N}, {"b", F16, IN, N * N}, {"c", F32, OUT, N * N}}, .fill = fill_half, .run = warpgroup, .native = "hgemm"},
    {.name = "igemm_mma", .module = "mma", .what = "1024 cubed, bytes with s32 sums, 6 MiB, ldmatrix and mma", .ops = 2.0 * N * N * N, .compute = 1,
     .mma = 1, .p = {N}, .bufs = {{"a", U8, IN, N * N}, {"b", U8, IN, N * N}, {"c", I32, OUT, N * N}}, .fill = fill_bytes, .run = igemm, .native = "igemm"},
    {0},
};
