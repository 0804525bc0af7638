/* Ciphers. Tables and swaps at addresses that the data chooses: nothing that vectors are good at, and one load for each byte. The AES
 * instructions of the processor are another algorithm. */
#include "native.h"

#define ROTL(x, n) ((x) << (n) | (x) >> (32 - (n)))
static inline uint32_t column(const uint32_t *t, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t k) {
    return t[a & 255] ^ ROTL(t[b >> 8 & 255], 8) ^ ROTL(t[c >> 16 & 255], 16) ^ ROTL(t[d >> 24], 24) ^ k;
}
static inline uint32_t last(const uint32_t *t, uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t k) {
    return (t[a & 255] >> 8 & 255) ^ (t[b >> 8 & 255] & 0xff00) ^ (t[c >> 16 & 255] << 8 & 0xff0000) ^ (t[d >> 24] << 16 & 0xff000000u) ^ k;
}
PART(aes_ctr_part) {
    JOB;
    const uint32_t *in = job->b[0], *t = job->b[2], *k = job->b[3];
    uint32_t *out = job->b[1];
    for (int i = from; i < to; i++) {
        uint32_t a = 0x12345678u ^ k[0], b = 0x9abcdef0u ^ k[1], c = k[2], d = (uint32_t)i ^ k[3];
        for (int r = 4; r < 40; r += 4) {
            uint32_t e = column(t, a, b, c, d, k[r]), f = column(t, b, c, d, a, k[r + 1]), g = column(t, c, d, a, b, k[r + 2]), h = column(t, d, a, b, c, k[r + 3]);
            a = e, b = f, c = g, d = h;
        }
        size_t at = (size_t)i * 4;
        out[at] = in[at] ^ last(t, a, b, c, d, k[40]), out[at + 1] = in[at + 1] ^ last(t, b, c, d, a, k[41]);
        out[at + 2] = in[at + 2] ^ last(t, c, d, a, b, k[42]), out[at + 3] = in[at + 3] ^ last(t, d, a, b, c, k[43]);
    }
}
NATIVE(aes_ctr) { SPLIT(aes_ctr_part, job->p[0]); }

/* Four streams at once: each step waits for the one before, and the processor has room for others. */
PART(rc4_part) {
    JOB;
    enum { W = 4 };
    int n = job->p[0];
    const uint8_t *keys = job->b[0];
    uint8_t *out = job->b[1];
    for (int c = from; c < to; c++) {
        uint8_t s[W][256], *o = out + c * W;
        const uint8_t *k = keys + c * W;
        uint8_t j[W] = {0};
        for (int w = 0; w < W; w++)
            for (int x = 0; x < 256; x++) s[w][x] = (uint8_t)x;
        for (int x = 0; x < 256; x++)
            for (int w = 0; w < W; w++) {
                uint8_t t = s[w][x];
                j[w] = (uint8_t)(j[w] + t + k[(size_t)(x & 15) * n + w]);
                s[w][x] = s[w][j[w]], s[w][j[w]] = t;
            }
        for (int w = 0; w < W; w++) j[w] = 0;
        for (int x = 1; x <= 64; x++)
            for (int w = 0; w < W; w++) {
                uint8_t t = s[w][x], u;
                j[w] = (uint8_t)(j[w] + t), u = s[w][j[w]];
                s[w][x] = u, s[w][j[w]] = t;
                o[(size_t)(x - 1) * n + w] = s[w][(uint8_t)(t + u)];
            }
    }
}
NATIVE(rc4_local) { SPLIT(rc4_part, job->p[0] / 4); }
