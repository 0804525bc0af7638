/* What tensor libraries launch most. */
#include "../harness/bench.h"

enum {
    ROWS = 64 << 10, COLS = 256, LN_ROWS = 16 << 10, LN_COLS = 768, IMAGES = 64, CHANNELS = 64, PIXELS = 56 * 56, PLANES = 128, SIDE = 112,
    TOKENS = 4096, HEADS = 8, HEAD = 128, KV = TOKENS * HEADS * HEAD, PICKS = 4 << 20, STRIDE = 8, TABLE = 512 << 10,
};

static void fill(const struct row *r, void **h) {
    for (int i = 0; r->bufs[i].name; i++)
        if (r->bufs[i].role == IN) fill_f32(h[i], r->bufs[i].count, -2, 2);
}
/* A permutation of n. */
static void shuffled(int *p, int n) {
    for (int i = 0; i < n; i++) p[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(rng() % (uint32_t)(i + 1)), t = p[i];
        p[i] = p[j], p[j] = t;
    }
}
static void fill_kv(const struct row *r, void **h) {
    (void)r;
    _Float16 *k = h[0], *v = h[1];
    int *slot = h[2];
    for (int i = 0; i < KV; i++) k[i] = (_Float16)(uniform() - 0.5f), v[i] = (_Float16)(uniform() - 0.5f);
    shuffled(slot, TOKENS);
    for (int i = 0; i < TOKENS; i += 50) slot[i] = -1;
}
static void fill_gather(const struct row *r, void **h) {
    fill_f32(h[0], r->bufs[0].count, -1, 1);
    for (int i = 0; i < PICKS; i++) ((int *)h[1])[i] = (int)(rng() % TABLE);
}
static void fill_scatter(const struct row *r, void **h) {
    fill_f32(h[0], r->bufs[0].count, -1, 1);
    shuffled(h[1], PICKS);
}

static void softmax_warp(const struct row *r, struct dev *d) { LAUNCH(d, "softmax_warp", DIM1(ROWS / 4), DIM2(32, 4), B(0), B(1), I(r->p[0]), I(r->p[1])); }
static void layernorm_welford(const struct row *r, struct dev *d) {
    LAUNCH(d, "layernorm_welford", DIM1(LN_ROWS), DIM2(32, 4), B(0), B(1), B(2), B(3), B(4), B(5), I(r->p[1]));
}
static void batchnorm_stats(const struct row *r, struct dev *d) {
    LAUNCH(d, "batchnorm_stats", DIM1(CHANNELS), DIM2(32, 16), B(0), B(1), B(2), I(r->p[0]), I(r->p[1]), I(r->p[2]));
}
static void im2col(const struct row *r, struct dev *d) {
    LAUNCH(d, "im2col", DIM1(PLANES * SIDE * SIDE / 512), DIM1(512), B(0), B(1), I(PLANES * SIDE * SIDE), I(r->p[1]), I(r->p[1]));
}
static void kv_cache(const struct row *r, struct dev *d) {
    LAUNCH(d, "kv_cache", DIM1(r->p[0]), DIM1(512), B(0), B(1), B(2), B(3), B(4), I(r->p[1]), I(r->p[2]));
}
static void gather_stride(const struct row *r, struct dev *d) {
    LAUNCH(d, "gather_stride", DIM1(PICKS / 256), DIM1(256), B(0), B(1), B(2), I(r->p[1]), I(r->p[2]));
}
static void scatter_stride(const struct row *r, struct dev *d) {
    LAUNCH(d, "scatter_stride", DIM1(PICKS / 256), DIM1(256), B(0), B(1), B(2), I(r->p[1]), I(r->p[2]));
}

const struct row torch_rows[] = {
    {.name = "softmax_warp", .module = "torch", .what = "64 Ki rows of 256 floats, 128 MiB, a warp a row", .bytes = 8.0 * ROWS * COLS, .tolerance = 1e-4, .p = {ROWS, COLS},
     .bufs = {{"in", F32, IN, ROWS * COLS}, {"out", F32, OUT, ROWS * COLS}}, .fill = fill, .run = softmax_warp, .native = "softmax_rows"},
    {.name = "layernorm_welford", .module = "torch", .what = "16 Ki rows of 768 floats, 96 MiB, Welford", .bytes = 8.0 * LN_ROWS * LN_COLS, .tolerance = 1e-4,
     .p = {LN_ROWS, LN_COLS}, .bufs = {{"in", F32, IN, LN_ROWS * LN_COLS}, {"gain", F32, IN, LN_COLS}, {"bias", F32, IN, LN_COLS},
     {"out", F32, OUT, LN_ROWS * LN_COLS}, {"mean", F32, OUT, LN_ROWS}, {"scale", F32, OUT, LN_ROWS}}, .fill = fill, .run = layernorm_welford},
    {.name = "batchnorm_stats", .module = "torch", .what = "64 images of 64 channels of 56 x 56, 49 MiB, Welford", .bytes = 4.0 * IMAGES * CHANNELS * PIXELS, .tolerance = 1e-4,
     .p = {IMAGES, CHANNELS, PIXELS}, .bufs = {{"in", F32, IN, IMAGES * CHANNELS * PIXELS}, {"mean", F32, OUT, CHANNELS}, {"scale", F32, OUT, CHANNELS}},
     .fill = fill, .run = batchnorm_stats},
    {.name = "im2col", .module = "torch", .what = "3 x 3 columns of 128 planes of 112 x 112, 61 MiB", .bytes = 40.0 * PLANES * SIDE * SIDE, .p = {PLANES, SIDE},
     .bufs = {{"in", F32, IN, PLANES * SIDE * SIDE}, {"out", F32, OUT, 9 * PLANES * SIDE * SIDE}}, .fill = fill, .run = im2col},
    {.name = "kv_cache", .module = "torch", .what = "keys and values of 4096 tokens into pages, 8 heads of 128, 32 MiB", .bytes = 8.0 * KV, .p = {TOKENS, HEADS, HEAD},
     .bufs = {{"k", F16, IN, KV}, {"v", F16, IN, KV}, {"slots", I32, IN, TOKENS}, {"kcache", F16, OUT, KV}, {"vcache", F16, OUT, KV}}, .fill = fill_kv, .run = kv_cache},
    {.name = "gather_stride", .module = "torch", .what = "4 Mi picks of a column of 512 Ki rows of 8, 48 MiB", .bytes = 12.0 * PICKS, .p = {PICKS, STRIDE, 3},
     .bufs = {{"in", F32, IN, TABLE * STRIDE}, {"index", I32, IN, PICKS}, {"out", F32, OUT, PICKS}}, .fill = fill_gather, .run = gather_stride},
    {.name = "scatter_stride", .module = "torch", .what = "4 Mi stores to a column of rows of 4, 96 MiB", .bytes = 12.0 * PICKS, .p = {PICKS, 4, 1},
     .bufs = {{"in", F32, IN, PICKS}, {"index", I32, IN, PICKS}, {"out", F32, OUT, 4 * PICKS}}, .fill = fill_scatter, .run = scatter_stride},
    {0},
};
