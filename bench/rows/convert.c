/* Conversions and divisions. */
#include "../harness/bench.h"

enum { N = 16 << 20, WIDE = 4 << 20 };

static void fill_floats(const struct row *r, void **h) { fill_f32(h[0], r->bufs[0].count, -1000, 1000); }
/* Divisors of every length, as hashes, strides and dates have. */
static void fill_wide(const struct row *r, void **h) {
    uint64_t *a = h[0], *b = h[1];
    for (int i = 0; i < r->p[0]; i++) {
        a[i] = (uint64_t)rng() << 32 | rng();
        b[i] = ((uint64_t)rng() << 32 | rng()) >> (rng() >> 5) % 63;
        if (!b[i]) b[i] = 7;
    }
}
static void f32_to_s32(const struct row *r, struct dev *d) { LAUNCH(d, "f32_to_s32", DIM1(r->p[0] / 256), DIM1(256), B(0), B(1), F(777)); }
static void quantize_q8(const struct row *r, struct dev *d) { LAUNCH(d, "quantize_q8", DIM1(r->p[0] / 256), DIM1(256), B(0), B(1), B(2)); }
static void divide64(const struct row *r, struct dev *d) { LAUNCH(d, "divide64", DIM1(r->p[0] / 256), DIM1(256), B(0), B(1), B(2)); }

const struct row convert_rows[] = {
    {.name = "f32_to_s32", .module = "convert", .what = "16 Mi floats to integers, 128 MiB", .bytes = 8.0 * N, .p = {N},
     .bufs = {{"in", F32, IN, N}, {"out", I32, OUT, N}}, .fill = fill_floats, .run = f32_to_s32},
    {.name = "quantize_q8", .module = "convert", .what = "16 Mi floats to bytes and scales of 32, 82 MiB", .bytes = 5.125 * N, .tolerance = 1e-5, .outliers = 1e-3,
     .p = {N}, .bufs = {{"in", F32, IN, N}, {"q", I8, OUT, N}, {"scale", F32, OUT, N / 32}}, .fill = fill_floats, .run = quantize_q8},
    {.name = "divide64", .module = "convert", .what = "4 Mi quotients and remainders of 64 bits, 96 MiB", .bytes = 24.0 * WIDE, .p = {WIDE},
     .bufs = {{"a", U32, IN, 2 * WIDE}, {"b", U32, IN, 2 * WIDE}, {"out", U32, OUT, 2 * WIDE}}, .fill = fill_wide, .run = divide64},
    {0},
};
