/* Rows bound by arithmetic or control flow. */
#include <math.h>
#include "native.h"

PART(mandelbrot_part) {
    JOB;
    int w = job->p[0], h = job->p[1], limit = job->p[2];
    uint32_t *out = job->b[0];
    float step = 3.0f / (float)w;
    for (int py = from; py < to; py++)
        for (int px = 0; px < w; px++) {
            float cx = -2.2f + step * (float)px, cy = step * ((float)py - 0.5f * (float)h), u = 0, v = 0;
            int i = 0;
            for (; i < limit; i++) {
                float uu = u * u, vv = v * v;
                if (uu + vv > 4.0f) break;
                v = 2.0f * u * v + cy;
                u = uu - vv + cx;
            }
            out[py * w + px] = (uint32_t)i;
        }
}
NATIVE(mandelbrot) { CHUNKS(mandelbrot_part, job->p[1], 8); }

PART(nbody_part) {
    JOB;
    int n = job->p[0];
    const float *restrict x = job->b[0], *restrict y = job->b[1], *restrict z = job->b[2], *restrict m = job->b[3];
    float *restrict ax = job->b[4], *restrict ay = job->b[5], *restrict az = job->b[6];
    for (int i = from; i < to; i++) {
        float px = x[i], py = y[i], pz = z[i], fx = 0, fy = 0, fz = 0;
        for (int j = 0; j < n; j++) {
            float dx = x[j] - px, dy = y[j] - py, dz = z[j] - pz;
            float r = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float s = m[j] * r * r * r;
            fx += s * dx, fy += s * dy, fz += s * dz;
        }
        ax[i] = fx, ay[i] = fy, az[i] = fz;
    }
}
NATIVE(nbody) { SPLIT(nbody_part, job->p[0]); }

static inline float cnd(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float c = 0.39894228f * expf(-0.5f * d * d) * p;
    return d > 0 ? 1.0f - c : c;
}
PART(blackscholes_part) {
    JOB;
    const float *restrict price = job->b[0], *restrict strike = job->b[1], *restrict years = job->b[2];
    float *restrict call = job->b[3], *restrict put = job->b[4];
    const float rate = 0.02f, volatility = 0.3f;
    for (int i = from; i < to; i++) {
        float s = price[i], x = strike[i], t = years[i];
        float vr = volatility * sqrtf(t);
        float d1 = (logf(s / x) + (rate + 0.5f * volatility * volatility) * t) / vr, d2 = d1 - vr;
        float n1 = cnd(d1), n2 = cnd(d2), e = x * expf(-rate * t);
        call[i] = s * n1 - e * n2;
        put[i] = e * (1.0f - n2) - s * (1.0f - n1);
    }
}
NATIVE(blackscholes) { SPLIT(blackscholes_part, job->p[0]); }

static const uint32_t sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
static inline uint32_t rotl(uint32_t x, int n) { return x << n | x >> (32 - n); }

/* Sixteen messages side by side: neither compiler vectorises over messages when they come one by one. */
enum { LANES = 16 };
#define LANE for (int l = 0; l < LANES; l++)
PART(sha256_part) {
    JOB;
    const uint32_t *message = job->b[0];
    uint32_t *out = job->b[1];
    for (int id = from * LANES; id < to * LANES; id += LANES) {
        uint32_t w[64][LANES], s[8][LANES];
        static const uint32_t init[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
        for (int i = 0; i < 16; i++) LANE w[i][l] = i < 7 ? message[i] : i == 7 ? (uint32_t)(id + l) : i == 8 ? 0x80000000u : i == 15 ? 256 : 0;
        for (int i = 0; i < 8; i++) LANE s[i][l] = init[i];
        for (int i = 16; i < 64; i++)
            LANE {
                uint32_t p = w[i - 15][l], q = w[i - 2][l];
                w[i][l] = w[i - 16][l] + (rotl(p, 25) ^ rotl(p, 14) ^ (p >> 3)) + w[i - 7][l] + (rotl(q, 15) ^ rotl(q, 13) ^ (q >> 10));
            }
        for (int i = 0; i < 64; i++)
            LANE {
                uint32_t a = s[0][l], b = s[1][l], c = s[2][l], d = s[3][l], e = s[4][l], f = s[5][l], g = s[6][l], h = s[7][l];
                uint32_t t1 = h + (rotl(e, 26) ^ rotl(e, 21) ^ rotl(e, 7)) + ((e & f) ^ (~e & g)) + sha_k[i] + w[i][l];
                uint32_t t2 = (rotl(a, 30) ^ rotl(a, 19) ^ rotl(a, 10)) + ((a & b) ^ (a & c) ^ (b & c));
                s[7][l] = g, s[6][l] = f, s[5][l] = e, s[4][l] = d + t1, s[3][l] = c, s[2][l] = b, s[1][l] = a, s[0][l] = t1 + t2;
            }
        LANE out[id + l] = (init[0] + s[0][l]) ^ (init[7] + s[7][l]);
    }
}
NATIVE(sha256) { SPLIT(sha256_part, job->p[0] / LANES); }

PART(divergent_part) {
    JOB;
    int steps = job->p[1];
    const uint32_t *seeds = job->b[0];
    const uint8_t *program = job->b[1];
    uint32_t *out = job->b[2];
    for (int id = from; id < to; id++) {
        uint32_t a = seeds[id], b = a ^ 0x9e3779b9u, pc = a & 255;
        for (int s = 0; s < steps; s++) {
            uint32_t op = program[pc];
            pc = (pc + 1) & 255;
            switch (op & 7) {
            case 0: a += b; break;
            case 1: a ^= b << 3; break;
            case 2: b = b * 1664525u + 1013904223u; break;
            case 3: a = rotl(a, 7) - b; break;
            case 4: if (a & 1) pc = (pc + (op >> 3)) & 255; break;
            case 5: b ^= a >> 5; break;
            case 6: a = (a & b) + (op >> 3); break;
            default: { uint32_t t = a; a = b, b = t + op; } break;
            }
        }
        out[id] = a ^ b;
    }
}
NATIVE(divergent) { CHUNKS(divergent_part, job->p[0], 4096); }
