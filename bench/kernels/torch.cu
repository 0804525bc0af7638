// What tensor libraries launch most, in the shapes in which they launch it.
#include "program.h"

// Sum and maximum over a warp of a (32, n) block; OpenCL 1.2 has no shuffles.
FUNCTION float row_sum(float v, POINTER_TO_SHARED float *tmp) {
#ifdef __OPENCL_VERSION__
    for (int d = 16; d; d >>= 1) {
        tmp[TY * 32 + TX] = v;
        SYNC;
        v += tmp[TY * 32 + (TX ^ d)];
        SYNC;
    }
#else
#pragma unroll
    for (int d = 16; d; d >>= 1) v += SHFL_XOR(v, d);
#endif
    return v;
}
FUNCTION float row_max(float v, POINTER_TO_SHARED float *tmp) {
#ifdef __OPENCL_VERSION__
    for (int d = 16; d; d >>= 1) {
        tmp[TY * 32 + TX] = v;
        SYNC;
        v = FMAX(v, tmp[TY * 32 + (TX ^ d)]);
        SYNC;
    }
#else
#pragma unroll
    for (int d = 16; d; d >>= 1) v = FMAX(v, SHFL_XOR(v, d));
#endif
    return v;
}

// Softmax of short rows: a warp has a row of at most 256 in registers, eight elements a lane. Blocks of (32, 4).
KERNEL softmax_warp(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int rows, int cols) {
    SHARED float tmp[128];
    int row = BX * 4 + TY;
    float x[8], top = -3.4e38f, sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int c = TX + i * 32;
        x[i] = row < rows && c < cols ? in[row * cols + c] : -3.4e38f;
        top = FMAX(top, x[i]);
    }
    top = row_max(top, tmp);
#pragma unroll
    for (int i = 0; i < 8; i++) x[i] = EXP(x[i] - top), sum += x[i];
    sum = row_sum(sum, tmp);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        int c = TX + i * 32;
        if (row < rows && c < cols) out[row * cols + c] = x[i] / sum;
    }
}

// Welford's running mean and sum of squares; two of them become one.
FUNCTION void welford_add(float v, float *mean, float *m2, float *n) {
    float delta = v - *mean;
    *n += 1;
    *mean += delta / *n;
    *m2 += delta * (v - *mean);
}
FUNCTION void welford_merge(float *mean, float *m2, float *n, float mean2, float m22, float n2) {
    float total = *n + n2, delta = mean2 - *mean, part = total > 0 ? n2 / total : 0;
    *mean += delta * part;
    *m2 += m22 + delta * delta * *n * part;
    *n = total;
}
// Merges those of a block of up to 512 threads; thread 0 has the result.
FUNCTION void welford_block(float *mean, float *m2, float *n, int t, int threads, POINTER_TO_SHARED float *tmp) {
#ifdef __OPENCL_VERSION__
    for (int d = threads / 2; d; d >>= 1) {
        tmp[3 * t] = *mean, tmp[3 * t + 1] = *m2, tmp[3 * t + 2] = *n;
        SYNC;
        if (t < d) welford_merge(mean, m2, n, tmp[3 * (t + d)], tmp[3 * (t + d) + 1], tmp[3 * (t + d) + 2]);
        SYNC;
    }
#else
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        float a = SHFL_DOWN(*mean, d), b = SHFL_DOWN(*m2, d), c = SHFL_DOWN(*n, d);
        welford_merge(mean, m2, n, a, b, c);
    }
    if ((t & 31) == 0) tmp[t / 32 * 3] = *mean, tmp[t / 32 * 3 + 1] = *m2, tmp[t / 32 * 3 + 2] = *n;
    SYNC;
    if (t == 0)
        for (int w = 1; w < threads / 32; w++) welford_merge(mean, m2, n, tmp[w * 3], tmp[w * 3 + 1], tmp[w * 3 + 2]);
#endif
}

// Layer norm: a block of (32, 4) a row, four floats at a time, mean and variance in one reading.
KERNEL layernorm_welford(GLOBAL const float4 *RESTRICT in, GLOBAL const float4 *RESTRICT gain, GLOBAL const float4 *RESTRICT bias, GLOBAL float4 *RESTRICT out,
                         GLOBAL float *RESTRICT means, GLOBAL float *RESTRICT scales, int cols) {
    SHARED float tmp[3 * 128];
    SHARED float both[2];
    int t = TY * 32 + TX, quads = cols / 4, row = BX;
    float mean = 0, m2 = 0, n = 0;
    for (int i = t; i < quads; i += 128) {
        float4 v = in[row * quads + i];
        welford_add(v.x, &mean, &m2, &n), welford_add(v.y, &mean, &m2, &n), welford_add(v.z, &mean, &m2, &n), welford_add(v.w, &mean, &m2, &n);
    }
    welford_block(&mean, &m2, &n, t, 128, tmp);
    if (t == 0) both[0] = mean, both[1] = RSQRT(m2 / (float)cols + 1e-5f);
    SYNC;
    float m = both[0], s = both[1];
    for (int i = t; i < quads; i += 128) {
        float4 v = in[row * quads + i], g = gain[i], b = bias[i];
        v.x = FMA((v.x - m) * s, g.x, b.x), v.y = FMA((v.y - m) * s, g.y, b.y), v.z = FMA((v.z - m) * s, g.z, b.z), v.w = FMA((v.w - m) * s, g.w, b.w);
        out[row * quads + i] = v;
    }
    if (t == 0) means[row] = m, scales[row] = s;
}

// Batch norm's statistics: a block of (32, 16) a channel of images in NCHW.
KERNEL batchnorm_stats(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT means, GLOBAL float *RESTRICT scales, int images, int channels, int pixels) {
    SHARED float tmp[3 * 512];
    float mean = 0, m2 = 0, n = 0;
    for (int b = TY; b < images; b += 16)
        for (int i = TX; i < pixels; i += 32) welford_add(in[(b * channels + BX) * pixels + i], &mean, &m2, &n);
    int t = TY * 32 + TX;
    welford_block(&mean, &m2, &n, t, 512, tmp);
    if (t == 0) means[BX] = mean, scales[BX] = RSQRT(m2 / n + 1e-5f);
}

// The columns of a 3 x 3 convolution with a border of one: a thread a pixel of a channel, nine stores.
KERNEL im2col(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int n, int height, int width) {
    for (int i = BX * NX + TX; i < n; i += GX * NX) {
        int x = i % width, y = i / width % height, c = i / width / height, plane = height * width;
        GLOBAL const float *from = in + c * plane;
        GLOBAL float *to = out + c * 9 * plane + y * width + x;
#pragma unroll
        for (int k = 0; k < 9; k++) {
            int yy = y + k / 3 - 1, xx = x + k % 3 - 1;
            *to = yy >= 0 && xx >= 0 && yy < height && xx < width ? from[yy * width + xx] : 0;
            to += plane;
        }
    }
}

// New keys and values go to a cache in pages of 16 tokens: keys as [page][head][d / 8][token][8], values as [page][head][d][token].
// A block a token; a slot below 0 is padding.
KERNEL kv_cache(GLOBAL const ushort *RESTRICT k, GLOBAL const ushort *RESTRICT v, GLOBAL const int *RESTRICT slots, GLOBAL ushort *RESTRICT kcache,
                GLOBAL ushort *RESTRICT vcache, int heads, int size) {
    int slot = slots[BX];
    if (slot < 0) return;
    int page = slot / 16, token = slot % 16, n = heads * size;
    for (int i = TX; i < n; i += NX) {
        int head = i / size, d = i % size;
        int kto = (((page * heads + head) * (size / 8) + d / 8) * 16 + token) * 8 + d % 8;
        int vto = ((page * heads + head) * size + d) * 16 + token;
        kcache[kto] = k[BX * n + i];
        vcache[vto] = v[BX * n + i];
    }
}

// One column of rows that an index chooses, and back.
KERNEL gather_stride(GLOBAL const float *RESTRICT in, GLOBAL const int *RESTRICT index, GLOBAL float *RESTRICT out, int stride, int column) {
    int i = BX * NX + TX;
    out[i] = in[index[i] * stride + column];
}
KERNEL scatter_stride(GLOBAL const float *RESTRICT in, GLOBAL const int *RESTRICT index, GLOBAL float *RESTRICT out, int stride, int column) {
    int i = BX * NX + TX;
    out[index[i] * stride + column] = in[i];
}
