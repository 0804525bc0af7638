/* Rows bound by arithmetic or control flow. */
#include "../harness/bench.h"

enum { SIDE = 1024, LIMIT = 256, BODIES = 8192, OPTIONS = 4 << 20, MESSAGES = 256 << 10, MACHINES = 64 << 10, STEPS = 256 };

static void fill_none(const struct row *r, void **h) { (void)r, (void)h; }
static void fill_bodies(const struct row *r, void **h) {
    (void)r;
    for (int i = 0; i < 3; i++) fill_f32(h[i], BODIES, -10, 10);
    fill_f32(h[3], BODIES, 0.1f, 1);
}
static void fill_options(const struct row *r, void **h) {
    (void)r;
    fill_f32(h[0], OPTIONS, 5, 30);
    fill_f32(h[1], OPTIONS, 1, 100);
    fill_f32(h[2], OPTIONS, 0.25f, 10);
}
static void fill_words(const struct row *r, void **h) {
    for (size_t i = 0; i < r->bufs[0].count; i++) ((uint32_t *)h[0])[i] = rng();
}
static void fill_machines(const struct row *r, void **h) {
    fill_words(r, h);
    for (int i = 0; i < 256; i++) ((uint8_t *)h[1])[i] = (uint8_t)rng();
}

static void mandelbrot(const struct row *r, struct dev *d) {
    LAUNCH(d, "mandelbrot", DIM2(SIDE / 32, SIDE / 8), DIM2(32, 8), B(0), I(r->p[0]), I(r->p[1]), I(r->p[2]));
}
static void nbody(const struct row *r, struct dev *d) {
    LAUNCH(d, "nbody", DIM1(BODIES / 256), DIM1(256), B(0), B(1), B(2), B(3), B(4), B(5), B(6), I(r->p[0]));
}
static void blackscholes(const struct row *r, struct dev *d) {
    LAUNCH(d, "blackscholes", DIM1(OPTIONS / 256), DIM1(256), B(0), B(1), B(2), B(3), B(4), F(0.02f), F(0.3f), I(r->p[0]));
}
static void sha256(const struct row *r, struct dev *d) { LAUNCH(d, "sha256", DIM1(MESSAGES / 256), DIM1(256), B(0), B(1), I(r->p[0])); }
static void divergent(const struct row *r, struct dev *d) {
    LAUNCH(d, "divergent", DIM1(MACHINES / 256), DIM1(256), B(0), B(1), B(2), I(r->p[0]), I(r->p[1]));
}

const struct row compute_rows[] = {
    /* Points near the edge of the set leave at another step where one side fuses a multiplication the other does not. */
    {.name = "mandelbrot", .module = "compute", .what = "1024 x 1024, at most 256 steps, 4 MiB", .tolerance = 0, .outliers = 0.01, .compute = 1, .p = {SIDE, SIDE, LIMIT},
     .bufs = {{"counts", U32, OUT, SIDE * SIDE}}, .fill = fill_none, .run = mandelbrot},
    {.name = "nbody", .module = "compute", .what = "8192 bodies, all pairs, 224 KiB", .ops = 20.0 * BODIES * BODIES, .tolerance = 2e-3, .compute = 1, .p = {BODIES},
     .bufs = {{"x", F32, IN, BODIES}, {"y", F32, IN, BODIES}, {"z", F32, IN, BODIES}, {"m", F32, IN, BODIES},
              {"ax", F32, OUT, BODIES}, {"ay", F32, OUT, BODIES}, {"az", F32, OUT, BODIES}}, .fill = fill_bodies, .run = nbody},
    {.name = "blackscholes", .module = "compute", .what = "4 Mi options, 80 MiB", .bytes = 20.0 * OPTIONS, .tolerance = 1e-4, .compute = 1, .p = {OPTIONS},
     .bufs = {{"price", F32, IN, OPTIONS}, {"strike", F32, IN, OPTIONS}, {"years", F32, IN, OPTIONS}, {"call", F32, OUT, OPTIONS}, {"put", F32, OUT, OPTIONS}},
     .fill = fill_options, .run = blackscholes},
    {.name = "sha256", .module = "compute", .what = "256 Ki messages of 32 bytes, 1 MiB", .ops = 64.0 * 30 * MESSAGES, .compute = 1, .p = {MESSAGES},
     .bufs = {{"message", U32, IN, 8}, {"digests", U32, OUT, MESSAGES}}, .fill = fill_words, .run = sha256},
    {.name = "divergent", .module = "compute", .what = "64 Ki machines of 8 instructions, 256 steps, 512 KiB", .ops = 1.0 * MACHINES * STEPS, .compute = 1,
     .p = {MACHINES, STEPS}, .bufs = {{"seeds", U32, IN, MACHINES}, {"program", U8, IN, 256}, {"out", U32, OUT, MACHINES}}, .fill = fill_machines, .run = divergent},
    {0},
};
