// Kernels bound by arithmetic or by control flow.
#include "device.h"

KERNEL mandelbrot(GLOBAL uint *RESTRICT out, int w, int h, int limit) {
    int px = BX * NX + TX, py = BY * NY + TY;
    if (px >= w || py >= h) return;
    float step = 3.0f / (float)w, cx = -2.2f + step * (float)px, cy = step * ((float)py - 0.5f * (float)h), u = 0, v = 0;
    int i = 0;
    for (; i < limit; i++) {
        float uu = u * u, vv = v * v;
        if (uu + vv > 4.0f) break;
        v = FMA(2.0f * u, v, cy);
        u = uu - vv + cx;
    }
    out[py * w + px] = (uint)i;
}

// Positions and masses in four arrays; a tile of 256 bodies at a time through shared memory.
KERNEL nbody(GLOBAL const float *RESTRICT x, GLOBAL const float *RESTRICT y, GLOBAL const float *RESTRICT z, GLOBAL const float *RESTRICT m,
             GLOBAL float *RESTRICT ax, GLOBAL float *RESTRICT ay, GLOBAL float *RESTRICT az, int n) {
    SHARED float sx[256];
    SHARED float sy[256];
    SHARED float sz[256];
    SHARED float sm[256];
    int i = BX * 256 + TX;
    float px = x[i], py = y[i], pz = z[i], fx = 0, fy = 0, fz = 0;
    for (int t = 0; t < n; t += 256) {
        sx[TX] = x[t + TX], sy[TX] = y[t + TX], sz[TX] = z[t + TX], sm[TX] = m[t + TX];
        SYNC;
        for (int j = 0; j < 256; j++) {
            float dx = sx[j] - px, dy = sy[j] - py, dz = sz[j] - pz;
            float r = RSQRT(FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, 0.01f))));
            float s = sm[j] * r * r * r;
            fx = FMA(s, dx, fx), fy = FMA(s, dy, fy), fz = FMA(s, dz, fz);
        }
        SYNC;
    }
    ax[i] = fx, ay[i] = fy, az[i] = fz;
}

// The cumulative normal distribution by a polynomial of five terms.
FUNCTION float cnd(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * ABS(d));
    float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float c = 0.39894228f * EXP(-0.5f * d * d) * p;
    return d > 0 ? 1.0f - c : c;
}

KERNEL blackscholes(GLOBAL const float *RESTRICT price, GLOBAL const float *RESTRICT strike, GLOBAL const float *RESTRICT years,
                    GLOBAL float *RESTRICT call, GLOBAL float *RESTRICT put, float rate, float volatility, int n) {
    int i = BX * NX + TX;
    if (i >= n) return;
    float s = price[i], x = strike[i], t = years[i];
    float root = SQRT(t), vr = volatility * root;
    float d1 = (LOG(s / x) + (rate + 0.5f * volatility * volatility) * t) / vr, d2 = d1 - vr;
    float n1 = cnd(d1), n2 = cnd(d2), e = x * EXP(-rate * t);
    call[i] = s * n1 - e * n2;
    put[i] = e * (1.0f - n2) - s * (1.0f - n1);
}

CONSTANT uint sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// SHA-256 of a message of 32 bytes for each thread: 28 bytes that all share and the thread's number.
KERNEL sha256(GLOBAL const uint *RESTRICT message, GLOBAL uint *RESTRICT out, int n) {
    int id = BX * NX + TX;
    if (id >= n) return;
    uint w[16];
#pragma unroll
    for (int i = 0; i < 7; i++) w[i] = message[i];
    w[7] = (uint)id;
    w[8] = 0x80000000u;
#pragma unroll
    for (int i = 9; i < 15; i++) w[i] = 0;
    w[15] = 256;
    uint a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma unroll
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            uint p = w[(i - 15) & 15], q = w[(i - 2) & 15];
            w[i & 15] += (ROTL(p, 25) ^ ROTL(p, 14) ^ (p >> 3)) + w[(i - 7) & 15] + (ROTL(q, 15) ^ ROTL(q, 13) ^ (q >> 10));
        }
        uint t1 = h + (ROTL(e, 26) ^ ROTL(e, 21) ^ ROTL(e, 7)) + ((e & f) ^ (~e & g)) + sha_k[i] + w[i & 15];
        uint t2 = (ROTL(a, 30) ^ ROTL(a, 19) ^ ROTL(a, 10)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    out[id] = (0x6a09e667u + a) ^ (0x5be0cd19u + h);
}

// A little machine of eight instructions: every thread runs the program its own data chooses, so the lanes of a warp
// are at different cases of the switch nearly always.
KERNEL divergent(GLOBAL const uint *RESTRICT seeds, GLOBAL const uchar *RESTRICT program, GLOBAL uint *RESTRICT out, int n, int steps) {
    int id = BX * NX + TX;
    if (id >= n) return;
    uint a = seeds[id], b = a ^ 0x9e3779b9u, pc = a & 255;
    for (int s = 0; s < steps; s++) {
        uint op = program[pc];
        pc = (pc + 1) & 255;
        switch (op & 7) {
        case 0: a += b; break;
        case 1: a ^= b << 3; break;
        case 2: b = b * 1664525u + 1013904223u; break;
        case 3: a = ROTL(a, 7) - b; break;
        case 4: if (a & 1) pc = (pc + (op >> 3)) & 255; break;
        case 5: b ^= a >> 5; break;
        case 6: a = (a & b) + (op >> 3); break;
        default: { uint t = a; a = b, b = t + op; } break;
        }
    }
    out[id] = a ^ b;
}
