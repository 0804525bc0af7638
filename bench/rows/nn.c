/* Rows of neural networks. */
#include "../harness/bench.h"

enum { SIDE = 2048, PITCH = SIDE + 6, ROWS = 8192, COLS = 2048, HEADS = 8, LEN = 512, D = 64, Q_ROWS = 16384, Q_COLS = 8192, Q_BLOCKS = Q_COLS / 32 };

static void fill(const struct row *r, void **h) {
    for (int i = 0; r->bufs[i].name; i++)
        if (r->bufs[i].role == IN) fill_f32(h[i], r->bufs[i].count, -2, 2);
}
static void fill_q4(const struct row *r, void **h) {
    uint8_t *w = h[0], *x = h[2];
    int *sum = h[4];
    for (size_t i = 0; i < r->bufs[0].count; i++) w[i] = (uint8_t)(rng() >> 11);
    fill_f32(h[1], r->bufs[1].count, 0.01f, 0.02f);
    fill_f32(h[3], r->bufs[3].count, 0.01f, 0.02f);
    for (int b = 0; b < Q_BLOCKS; b++) {
        sum[b] = 0;
        for (int i = 0; i < 32; i++) {
            int v = (int)(rng() >> 9 & 255) - 128;
            x[b * 32 + i] = (uint8_t)v;
            sum[b] += v;
        }
    }
}
static void convolution(const struct row *r, struct dev *d) {
    LAUNCH(d, "convolution", DIM2(SIDE / 32, SIDE / 8), DIM2(32, 8), B(0), B(1), B(2), I(r->p[0]));
}
static void softmax(const struct row *r, struct dev *d) { LAUNCH(d, "softmax", DIM1(r->p[0]), DIM1(256), B(0), B(1), I(r->p[1])); }
static void layernorm(const struct row *r, struct dev *d) { LAUNCH(d, "layernorm", DIM1(r->p[0]), DIM1(256), B(0), B(1), B(2), B(3), I(r->p[1])); }
static void attention(const struct row *r, struct dev *d) {
    LAUNCH(d, "attention", DIM2(LEN / 16, HEADS), DIM1(128), B(0), B(1), B(2), B(3), I(r->p[1]));
}
static void matvec_q4(const struct row *r, struct dev *d) {
    LAUNCH(d, "matvec_q4", DIM1(Q_ROWS / 4), DIM1(128), B(0), B(1), B(2), B(3), B(4), B(5), I(r->p[1]));
}

const struct row nn_rows[] = {
    {.name = "convolution", .module = "nn", .what = "7 x 7 filter, 2048 x 2048 floats, 32 MiB", .ops = 98.0 * SIDE * SIDE, .tolerance = 1e-5, .compute = 1,
     .p = {SIDE, SIDE}, .bufs = {{"in", F32, IN, PITCH * PITCH}, {"filter", F32, IN, 49}, {"out", F32, OUT, SIDE * SIDE}}, .fill = fill, .run = convolution},
    {.name = "softmax", .module = "nn", .what = "8192 rows of 2048 floats, 128 MiB", .bytes = 8.0 * ROWS * COLS, .tolerance = 1e-4, .p = {ROWS, COLS},
     .bufs = {{"in", F32, IN, ROWS * COLS}, {"out", F32, OUT, ROWS * COLS}}, .fill = fill, .run = softmax},
    {.name = "layernorm", .module = "nn", .what = "8192 rows of 2048 floats, 128 MiB", .bytes = 8.0 * ROWS * COLS, .tolerance = 1e-4, .p = {ROWS, COLS},
     .bufs = {{"in", F32, IN, ROWS * COLS}, {"gain", F32, IN, COLS}, {"bias", F32, IN, COLS}, {"out", F32, OUT, ROWS * COLS}}, .fill = fill, .run = layernorm},
    {.name = "attention", .module = "nn", .what = "8 heads, 512 positions of 64, 4 MiB", .ops = 4.0 * HEADS * LEN * LEN * D, .tolerance = 1e-4, .compute = 1,
     .p = {HEADS, LEN}, .bufs = {{"q", F32, IN, HEADS * LEN * D}, {"k", F32, IN, HEADS * LEN * D}, {"v", F32, IN, HEADS * LEN * D}, {"out", F32, OUT, HEADS * LEN * D}},
     .fill = fill, .run = attention},
    {.name = "matvec_q4", .module = "nn", .what = "Q4 x Q8, 16384 x 8192, 80 MiB, dp4a", .bytes = 0.625 * Q_ROWS * Q_COLS, .tolerance = 1e-4, .p = {Q_ROWS, Q_BLOCKS},
     .bufs = {{"w", U8, IN, Q_ROWS * (size_t)Q_COLS / 2}, {"wscale", F32, IN, Q_ROWS * Q_BLOCKS}, {"x", U8, IN, Q_COLS}, {"xscale", F32, IN, Q_BLOCKS},
              {"xsum", I32, IN, Q_BLOCKS}, {"y", F32, OUT, Q_ROWS}}, .fill = fill_q4, .run = matvec_q4},
    {0},
};
