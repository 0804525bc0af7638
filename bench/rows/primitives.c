/* Scans, compactions and sorts as template libraries do them. */
#include "../harness/bench.h"

enum { N = 16 << 20, RUNS = 8 << 20, TILES = 4 << 20, SORT = 4 << 20, TOP_ROWS = 4096, TOP_COLS = 4096 };

static void fill(const struct row *r, void **h) {
    for (size_t i = 0; i < r->bufs[0].count; i++) ((uint32_t *)h[0])[i] = rng();
}
static void fill_small(const struct row *r, void **h) {
    for (size_t i = 0; i < r->bufs[0].count; i++) ((uint32_t *)h[0])[i] = rng() >> 4 & 1023;
}
/* Runs of 1 to 15. */
static void fill_runs(const struct row *r, void **h) {
    uint32_t *keys = h[0], *values = h[1], key = 1;
    for (size_t i = 0, left = 0; i < r->bufs[0].count; i++, left--) {
        if (!left) left = 1 + (rng() >> 8) % 15, key += 1 + (rng() >> 9 & 3);
        keys[i] = key, values[i] = rng() >> 20;
    }
}
/* Every row has distinct values, in an order of its own. */
static void fill_rows(const struct row *r, void **h) {
    float *x = h[0];
    for (int i = 0; i < r->p[0]; i++) {
        uint32_t step = rng() | 1, first = rng();
        for (int c = 0; c < r->p[1]; c++) {
            uint32_t v = (first + (uint32_t)c * step) & (TOP_COLS - 1);
            x[(size_t)i * TOP_COLS + c] = (float)((v * v + v) / 2 * 5 & (TOP_COLS - 1)) - 2000;
        }
    }
}

static void device_scan(const struct row *r, struct dev *d) {
    d->zero(d, 2);
    LAUNCH(d, "device_scan", DIM1(r->p[0] / 2048), DIM1(256), B(0), B(1), B(2));
}
static void device_select(const struct row *r, struct dev *d) {
    d->zero(d, 3);
    LAUNCH(d, "device_select", DIM1(r->p[0] / 2048), DIM1(256), B(0), B(1), B(2), B(3), I(r->p[1]));
}
static void reduce_by_key(const struct row *r, struct dev *d) {
    d->zero(d, 5);
    LAUNCH(d, "reduce_by_key", DIM1(r->p[0] / 1024), DIM1(256), B(0), B(1), B(2), B(3), B(4), B(5));
}
static void block_sort(const struct row *r, struct dev *d) { LAUNCH(d, "block_sort", DIM1(r->p[0] / 1024), DIM1(256), B(0), B(1)); }
static void sweep_sort(const struct row *r, struct dev *d) {
    int n = r->p[0], from = 0;
    d->zero(d, 3);
    LAUNCH(d, "sweep_count", DIM1(256), DIM1(256), B(0), B(3), I(n));
    LAUNCH(d, "sweep_starts", DIM1(4), DIM1(256), B(3));
    for (int pass = 0; pass < 4; pass++) {
        int to = pass & 1 ? 1 : 2;
        d->zero(d, 4);
        LAUNCH(d, "sweep_digit", DIM1(n / 2048), DIM1(256), B(from), B(to), B(3), B(4), I(pass * 8));
        from = to;
    }
}
static void topk_bitonic(const struct row *r, struct dev *d) { LAUNCH(d, "topk_bitonic", DIM1(r->p[0] / 4), DIM1(128), B(0), B(1), B(2), I(r->p[1])); }

const struct row primitives_rows[] = {
    {.name = "device_scan", .module = "primitives", .what = "prefix sums of 16 Mi words, 128 MiB, one pass with look-back", .bytes = 8.0 * N, .p = {N},
     .bufs = {{"in", U32, IN, N}, {"out", U32, OUT, N}, {"state", U32, TMP, N / 1024}}, .fill = fill, .run = device_scan},
    {.name = "device_select", .module = "primitives", .what = "a third of 16 Mi words kept, 85 MiB, one pass with look-back", .bytes = 5.3 * N, .p = {N, 341},
     .bufs = {{"in", U32, IN, N}, {"out", U32, OUT, N}, {"count", U32, OUT, 1}, {"state", U32, TMP, N / 1024}}, .fill = fill_small, .run = device_select},
    {.name = "reduce_by_key", .module = "primitives", .what = "8 Mi values of runs of 1 to 15, 72 MiB, one pass with look-back", .bytes = 9.0 * RUNS, .p = {RUNS},
     .bufs = {{"keys", U32, IN, RUNS}, {"values", U32, IN, RUNS}, {"unique", U32, OUT, RUNS}, {"sums", U32, OUT, RUNS}, {"count", U32, OUT, 1}, {"state", U32, TMP, RUNS / 512}},
     .fill = fill_runs, .run = reduce_by_key},
    {.name = "block_sort", .module = "primitives", .what = "4 Ki tiles of 1024 keys, 32 MiB, digits of 4 bits in shared memory", .p = {TILES},
     .bufs = {{"in", U32, IN, TILES}, {"out", U32, OUT, TILES}}, .fill = fill, .run = block_sort},
    {.name = "sweep_sort", .module = "primitives", .what = "4 Mi keys, 48 MiB, 4 sweeps of 8 bits with look-back", .p = {SORT},
     .bufs = {{"in", U32, IN, SORT}, {"out", U32, OUT, SORT}, {"other", U32, TMP, SORT}, {"counts", U32, TMP, 1024}, {"state", U32, TMP, SORT / 4}},
     .fill = fill, .run = sweep_sort},
    {.name = "topk_bitonic", .module = "primitives", .what = "the 32 largest of 4096 rows of 4096, 64 MiB, a warp a row", .bytes = 4.0 * TOP_ROWS * TOP_COLS, .p = {TOP_ROWS, TOP_COLS},
     .bufs = {{"in", F32, IN, TOP_ROWS * TOP_COLS}, {"best", F32, OUT, TOP_ROWS * 32}, {"where", I32, OUT, TOP_ROWS * 32}}, .fill = fill_rows, .run = topk_bitonic},
    {0},
};
