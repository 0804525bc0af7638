// Kernels that move memory: vector updates, reductions, transposes, stencils.
#include "device.h"

KERNEL saxpy(GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT y, float a, int n) {
    int i = BX * NX + TX;
    if (i < n) y[i] = FMA(a, x[i], y[i]);
}

KERNEL triad(GLOBAL const float *RESTRICT b, GLOBAL const float *RESTRICT c, GLOBAL float *RESTRICT a, float s, int n) {
    int i = BX * NX + TX;
    if (i < n) a[i] = FMA(s, c[i], b[i]);
}

// Each thread adds up a grid-strided part, a warp by shuffles, a block through shared memory.
KERNEL reduce_shuffle(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int n) {
    float s = 0;
    for (int i = BX * NX + TX; i < n; i += NX * GX) s += in[i];
#ifdef __OPENCL_VERSION__
    // No shuffles: the warp's tree goes through local memory.
    SHARED float lane[256];
    lane[TX] = s;
    for (int d = 16; d; d >>= 1) {
        SYNC;
        if ((TX & 31) < d) lane[TX] += lane[TX + d];
    }
    SYNC;
    if (TX == 0) {
        float t = 0;
        for (int w = 0; w < NX; w += 32) t += lane[w];
        out[BX] = t;
    }
#else
    SHARED float part[32];
    for (int d = 16; d; d >>= 1) s += SHFL_DOWN(s, d);
    if ((TX & 31) == 0) part[TX >> 5] = s;
    SYNC;
    if (TX < 32) {
        s = TX < NX >> 5 ? part[TX] : 0;
        for (int d = 16; d; d >>= 1) s += SHFL_DOWN(s, d);
        if (TX == 0) out[BX] = s;
    }
#endif
}

// The textbook tree: two elements a thread, halving in shared memory with a barrier at each step.
KERNEL reduce_tree(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int n) {
    SHARED float part[256];
    int i = BX * 512 + TX;
    float s = i < n ? in[i] : 0;
    if (i + 256 < n) s += in[i + 256];
    part[TX] = s;
    for (int d = 128; d; d >>= 1) {
        SYNC;
        if (TX < d) part[TX] += part[TX + d];
    }
    SYNC;
    if (TX == 0) out[BX] = part[0];
}

KERNEL transpose_naive(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int n) {
    int x = BX * 32 + TX, y = BY * 32 + TY;
    for (int k = 0; k < 32; k += 8) out[x * n + y + k] = in[(y + k) * n + x];
}

KERNEL transpose_shared(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int n) {
    SHARED float tile[32][33];
    int x = BX * 32 + TX, y = BY * 32 + TY;
    for (int k = 0; k < 32; k += 8) tile[TY + k][TX] = in[(y + k) * n + x];
    SYNC;
    x = BY * 32 + TX, y = BX * 32 + TY;
    for (int k = 0; k < 32; k += 8) out[(y + k) * n + x] = tile[TX][TY + k];
}

KERNEL stencil5(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int w, int h) {
    int x = BX * NX + TX, y = BY * NY + TY;
    if (x >= w || y >= h) return;
    int i = y * w + x;
    float c = in[i];
    float l = x > 0 ? in[i - 1] : c, r = x < w - 1 ? in[i + 1] : c;
    float u = y > 0 ? in[i - w] : c, d = y < h - 1 ? in[i + w] : c;
    out[i] = FMA(0.125f, l + r + u + d - 4 * c, c);
}

// 27 points with a weight for centre, faces, edges and corners; the border keeps its values.
KERNEL stencil27(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int n, float w0, float w1, float w2, float w3) {
    int x = BX * NX + TX, y = BY * NY + TY, z = BZ;
    if (x >= n || y >= n) return;
    int i = (z * n + y) * n + x;
    if (x == 0 || y == 0 || z == 0 || x == n - 1 || y == n - 1 || z == n - 1) {
        out[i] = in[i];
        return;
    }
    float face = 0, edge = 0, corner = 0;
#pragma unroll
    for (int dz = -1; dz <= 1; dz++)
#pragma unroll
        for (int dy = -1; dy <= 1; dy++)
#pragma unroll
            for (int dx = -1; dx <= 1; dx++) {
                int far = (dx != 0) + (dy != 0) + (dz != 0);
                float v = in[i + (dz * n + dy) * n + dx];
                if (far == 1) face += v;
                if (far == 2) edge += v;
                if (far == 3) corner += v;
            }
    out[i] = w0 * in[i] + w1 * face + w2 * edge + w3 * corner;
}
