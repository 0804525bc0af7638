/* Pictures through the texture unit. */
#include <math.h>
#include "../harness/bench.h"

enum { SIDE = 1024 };

/* Waves: no texel is far from its neighbours, so that weights of 8 bits, which textures have, and of 24 differ little. */
static void fill(const struct row *r, void **h) {
    float *p = h[0];
    for (int y = 0; y < r->texture.height; y++)
        for (int x = 0; x < r->texture.width; x++) p[y * r->texture.width + x] = sinf((float)x * 0.05f) + cosf((float)y * 0.07f + (float)x * 0.01f);
}
static void rotate(const struct row *r, struct dev *d) {
    LAUNCH(d, "texture_rotate", DIM2(r->p[0] / 32, r->p[0] / 8), DIM2(32, 8), TEXTURE, B(1), I(r->p[0]), F(0.8f), F(0.6f));
}
static void shrink(const struct row *r, struct dev *d) {
    LAUNCH(d, "texture_shrink", DIM2(r->p[0] / 32, r->p[0] / 8), DIM2(32, 8), TEXTURE, B(1), I(r->p[0]));
}

const struct row image_rows[] = {
    {.name = "texture_rotate", .module = "image", .what = "1024 x 1024 floats turned, 8 MiB, 2D texture with linear filter", .bytes = 8.0 * SIDE * SIDE, .tolerance = 2e-3,
     .p = {SIDE}, .bufs = {{"in", F32, IN, SIDE * SIDE}, {"out", F32, OUT, SIDE * SIDE}}, .texture = {SIDE, SIDE}, .fill = fill, .run = rotate},
    {.name = "texture_shrink", .module = "image", .what = "2048 x 2048 floats to half, 20 MiB, four fetches a pixel", .bytes = 20.0 * SIDE * SIDE, .tolerance = 2e-3,
     .p = {SIDE}, .bufs = {{"in", F32, IN, 4 * SIDE * SIDE}, {"out", F32, OUT, SIDE * SIDE}}, .texture = {2 * SIDE, 2 * SIDE}, .fill = fill, .run = shrink},
    {0},
};
