/* Prefix sums and sorting. */
#include "../harness/bench.h"

enum { N = 16 << 20, BITONIC = 1 << 20, RADIX = 4 << 20 };

static void fill(const struct row *r, void **h) {
    for (size_t i = 0; i < r->bufs[0].count; i++) ((uint32_t *)h[0])[i] = rng();
}
static void scan(const struct row *r, struct dev *d) {
    int tiles = r->p[0] / 1024;
    LAUNCH(d, "scan_tiles", DIM1(tiles), DIM1(256), B(0), B(1), B(2));
    LAUNCH(d, "scan_one_block", DIM1(1), DIM1(256), B(2), I(tiles));
    LAUNCH(d, "scan_add", DIM1(tiles), DIM1(256), B(1), B(2));
}
static void bitonic(const struct row *r, struct dev *d) {
    int n = r->p[0];
    LAUNCH(d, "bitonic_local", DIM1(n / 1024), DIM1(512), B(0), B(1));
    for (int k = 2048; k <= n; k <<= 1) {
        for (int j = k >> 1; j >= 1024; j >>= 1) LAUNCH(d, "bitonic_step", DIM1(n / 512), DIM1(256), B(1), I(j), I(k));
        LAUNCH(d, "bitonic_merge", DIM1(n / 1024), DIM1(512), B(1), I(k));
    }
}
static void radix(const struct row *r, struct dev *d) {
    int tiles = r->p[0] / 1024, from = 0;
    for (int pass = 0; pass < 8; pass++) {
        int to = pass & 1 ? 1 : 2;
        LAUNCH(d, "radix_count", DIM1(tiles), DIM1(256), B(from), B(3), I(pass * 4), I(tiles));
        LAUNCH(d, "scan_one_block", DIM1(1), DIM1(256), B(3), I(16 * tiles));
        LAUNCH(d, "radix_scatter", DIM1(tiles), DIM1(256), B(from), B(to), B(3), I(pass * 4), I(tiles));
        from = to;
    }
}

const struct row sort_rows[] = {
    {.name = "scan", .module = "sort", .what = "prefix sums of 16 Mi words, 128 MiB", .bytes = 16.0 * N, .p = {N},
     .bufs = {{"in", U32, IN, N}, {"out", U32, OUT, N}, {"sums", U32, TMP, N / 1024}}, .fill = fill, .run = scan},
    {.name = "bitonic", .module = "sort", .what = "1 Mi keys, 8 MiB, 66 launches", .p = {BITONIC},
     .bufs = {{"in", U32, IN, BITONIC}, {"out", U32, OUT, BITONIC}}, .fill = fill, .run = bitonic},
    {.name = "radix", .module = "sort", .what = "4 Mi keys, 48 MiB, 8 passes of 4 bits, 24 launches", .p = {RADIX},
     .bufs = {{"in", U32, IN, RADIX}, {"out", U32, OUT, RADIX}, {"other", U32, TMP, RADIX}, {"counts", U32, TMP, RADIX / 64}}, .fill = fill, .run = radix},
    {0},
};
