/* Ciphers. */
#include "../harness/bench.h"

enum { BLOCKS = 1 << 20, STREAMS = 32 << 10 };

static uint32_t times2(uint32_t x) { return (x << 1 ^ (x >> 7) * 0x1b) & 255; }
/* A permutation of bytes with the column mix, lowest byte first; any permutation and any key do for the time it takes. */
static void fill_aes(const struct row *r, void **h) {
    uint32_t *text = h[0], *mix = h[2], *key = h[3];
    uint8_t box[256];
    for (size_t i = 0; i < r->bufs[0].count; i++) text[i] = rng();
    for (int i = 0; i < 256; i++) box[i] = (uint8_t)i;
    for (int i = 255; i > 0; i--) {
        int j = (int)(rng() % (uint32_t)(i + 1));
        uint8_t t = box[i];
        box[i] = box[j], box[j] = t;
    }
    for (int i = 0; i < 256; i++) {
        uint32_t s = box[i], d = times2(s);
        mix[i] = d | s << 8 | s << 16 | (d ^ s) << 24;
    }
    for (int i = 0; i < 44; i++) key[i] = rng();
}
static void fill_bytes(const struct row *r, void **h) {
    for (size_t i = 0; i < r->bufs[0].count; i++) ((uint8_t *)h[0])[i] = (uint8_t)(rng() >> 7);
}
static void aes_ctr(const struct row *r, struct dev *d) { LAUNCH(d, "aes_ctr", DIM1(r->p[0] / 256), DIM1(256), B(0), B(1), B(2), B(3)); }
static void rc4_local(const struct row *r, struct dev *d) { LAUNCH(d, "rc4_local", DIM1(r->p[0] / 64), DIM1(64), B(0), B(1), I(r->p[0])); }

const struct row cipher_rows[] = {
    {.name = "aes_ctr", .module = "cipher", .what = "AES rounds on 16 MiB in counter mode, a table in shared memory", .bytes = 32.0 * BLOCKS, .p = {BLOCKS},
     .bufs = {{"in", U32, IN, 4 * BLOCKS}, {"out", U32, OUT, 4 * BLOCKS}, {"mix", U32, IN, 256}, {"key", U32, IN, 44}}, .fill = fill_aes, .run = aes_ctr},
    {.name = "rc4_local", .module = "cipher", .what = "RC4 with 32 Ki keys, 64 bytes each, 256 bytes of local memory a thread", .bytes = 80.0 * STREAMS, .p = {STREAMS},
     .bufs = {{"keys", U8, IN, 16 * STREAMS}, {"out", U8, OUT, 64 * STREAMS}}, .fill = fill_bytes, .run = rc4_local},
    {0},
};
