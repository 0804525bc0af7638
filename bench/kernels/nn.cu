// Kernels of neural networks.
#include "device.h"

#ifdef __OPENCL_VERSION__
// All 256 threads' maximum and sum, through local memory.
FUNCTION float block_max(float v, POINTER_TO_SHARED float *tmp) {
    tmp[TX] = v;
    for (int d = 128; d; d >>= 1) {
        SYNC;
        if (TX < d) tmp[TX] = fmax(tmp[TX], tmp[TX + d]);
    }
    SYNC;
    v = tmp[0];
    SYNC;
    return v;
}
FUNCTION float block_sum(float v, POINTER_TO_SHARED float *tmp) {
    tmp[TX] = v;
    for (int d = 128; d; d >>= 1) {
        SYNC;
        if (TX < d) tmp[TX] += tmp[TX + d];
    }
    SYNC;
    v = tmp[0];
    SYNC;
    return v;
}
// The 32 threads of a "warp": everybody reads all.
FUNCTION float warp_max(float v, POINTER_TO_SHARED float *tmp) {
    tmp[TX] = v;
    SYNC;
    for (int i = 0; i < 32; i++) v = fmax(v, tmp[(TX & ~31) + i]);
    SYNC;
    return v;
}
FUNCTION float warp_sum(float v, POINTER_TO_SHARED float *tmp) {
    tmp[TX] = v;
    SYNC;
    v = 0;
    for (int i = 0; i < 32; i++) v += tmp[(TX & ~31) + i];
    SYNC;
    return v;
}
FUNCTION int dot4(uint a, uint b, int c) {
    return c + (char)a * (char)b + (char)(a >> 8) * (char)(b >> 8) + (char)(a >> 16) * (char)(b >> 16) + (char)(a >> 24) * (char)(b >> 24);
}
#else
FUNCTION float warp_max(float v, float *tmp) {
    for (int d = 16; d; d >>= 1) v = FMAX(v, SHFL_XOR(v, d));
    return v;
}
FUNCTION float warp_sum(float v, float *tmp) {
    for (int d = 16; d; d >>= 1) v += SHFL_XOR(v, d);
    return v;
}
FUNCTION float block_max(float v, float *tmp) {
    v = warp_max(v, tmp);
    if ((TX & 31) == 0) tmp[TX >> 5] = v;
    SYNC;
    v = warp_max(tmp[TX & 7], tmp);
    SYNC;
    return v;
}
FUNCTION float block_sum(float v, float *tmp) {
    v = warp_sum(v, tmp);
    if ((TX & 31) == 0) tmp[TX >> 5] = v;
    SYNC;
    v = warp_sum((TX & 31) < 8 ? tmp[TX & 7] : 0, tmp);
    SYNC;
    return v;
}
FUNCTION int dot4(uint a, uint b, int c) {
#ifdef __GFX9__
    return __builtin_amdgcn_sdot4((int)a, (int)b, c, false);
#elif defined(__AMDGCN__)
    return __builtin_amdgcn_sudot4(true, (int)a, true, (int)b, c, false);
#else
    int d;
    asm("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    return d;
#endif
}
#endif

// 7 x 7 filter over a picture with a border of 3 around it; 32 x 8 outputs a block, their inputs in shared memory.
KERNEL convolution(GLOBAL const float *RESTRICT in, GLOBAL const float *RESTRICT filter, GLOBAL float *RESTRICT out, int w) {
    SHARED float tile[14][38];
    int pitch = w + 6, x0 = BX * 32, y0 = BY * 8;
    for (int i = TY * 32 + TX; i < 14 * 38; i += 256) tile[i / 38][i % 38] = in[(y0 + i / 38) * pitch + x0 + i % 38];
    SYNC;
    float sum = 0;
#pragma unroll
    for (int fy = 0; fy < 7; fy++)
#pragma unroll
        for (int fx = 0; fx < 7; fx++) sum = FMA(filter[fy * 7 + fx], tile[TY + fy][TX + fx], sum);
    out[(y0 + TY) * w + x0 + TX] = sum;
}

KERNEL softmax(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, int cols) {
    SHARED float tmp[256];
    GLOBAL const float *x = in + BX * cols;
    float m = -3.4e38f, s = 0;
    for (int i = TX; i < cols; i += 256) m = FMAX(m, x[i]);
    m = block_max(m, tmp);
    for (int i = TX; i < cols; i += 256) s += EXP(x[i] - m);
    s = 1.0f / block_sum(s, tmp);
    for (int i = TX; i < cols; i += 256) out[BX * cols + i] = EXP(x[i] - m) * s;
}

KERNEL layernorm(GLOBAL const float *RESTRICT in, GLOBAL const float *RESTRICT gain, GLOBAL const float *RESTRICT bias, GLOBAL float *RESTRICT out, int cols) {
    SHARED float tmp[256];
    GLOBAL const float *x = in + BX * cols;
    float s = 0, v = 0;
    for (int i = TX; i < cols; i += 256) s += x[i];
    float mean = block_sum(s, tmp) / (float)cols;
    for (int i = TX; i < cols; i += 256) v = FMA(x[i] - mean, x[i] - mean, v);
    float scale = RSQRT(block_sum(v, tmp) / (float)cols + 1e-5f);
    for (int i = TX; i < cols; i += 256) out[BX * cols + i] = FMA((x[i] - mean) * scale, gain[i], bias[i]);
}

// One pass over keys and values in tiles of 32, with a running maximum and sum; head size 64. A block is 4 warps, a warp has
// 4 queries, a lane is a key while scores are made and two output columns while values are added.
KERNEL attention(GLOBAL const float *RESTRICT q, GLOBAL const float *RESTRICT k, GLOBAL const float *RESTRICT v, GLOBAL float *RESTRICT out, int len) {
    SHARED float qs[16][64];
    SHARED float kt[64][33];
    SHARED float vs[32][64];
    SHARED float tmp[128];
    int lane = TX & 31, warp = TX >> 5, head = BY * len * 64, first = head + BX * 16 * 64;
    float top[4], sum[4], o0[4], o1[4];
    for (int i = TX; i < 16 * 64; i += 128) qs[i >> 6][i & 63] = q[first + i] * 0.125f;
#pragma unroll
    for (int i = 0; i < 4; i++) top[i] = -3.4e38f, sum[i] = 0, o0[i] = 0, o1[i] = 0;
    for (int t = 0; t < len; t += 32) {
        SYNC;
        for (int i = TX; i < 32 * 64; i += 128) kt[i & 63][i >> 6] = k[head + t * 64 + i], vs[i >> 6][i & 63] = v[head + t * 64 + i];
        SYNC;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            float s = 0;
            for (int d = 0; d < 64; d++) s = FMA(qs[warp * 4 + i][d], kt[d][lane], s);
            float m = FMAX(top[i], warp_max(s, tmp)), p = EXP(s - m), shrink = EXP(top[i] - m);
            top[i] = m;
            sum[i] = FMA(sum[i], shrink, warp_sum(p, tmp));
            o0[i] *= shrink, o1[i] *= shrink;
#ifdef __OPENCL_VERSION__
            tmp[TX] = p;
            SYNC;
#endif
            for (int j = 0; j < 32; j++) {
#ifdef __OPENCL_VERSION__
                float pj = tmp[warp * 32 + j];
#else
                float pj = SHFL(p, j);
#endif
                o0[i] = FMA(pj, vs[j][lane], o0[i]), o1[i] = FMA(pj, vs[j][lane + 32], o1[i]);
            }
#ifdef __OPENCL_VERSION__
            SYNC;
#endif
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        int at = first + (warp * 4 + i) * 64 + lane;
        out[at] = o0[i] / sum[i], out[at + 32] = o1[i] / sum[i];
    }
}

// y = W x. W has 4-bit weights in blocks of 32 (16 bytes: element i in the low half of byte i, i + 16 in the high half; minus
// 8) with a scale each; x has 8-bit elements in blocks of 32 with a scale and a sum each. A warp for each row.
KERNEL matvec_q4(GLOBAL const uint4 *RESTRICT w, GLOBAL const float *RESTRICT wscale, GLOBAL const uint4 *RESTRICT x, GLOBAL const float *RESTRICT xscale,
                 GLOBAL const int *RESTRICT xsum, GLOBAL float *RESTRICT y, int blocks) {
    SHARED float tmp[128];
    int row = BX * 4 + (TX >> 5), lane = TX & 31;
    float s = 0;
    for (int b = lane; b < blocks; b += 32) {
        uint4 q = w[row * blocks + b], lo = x[b * 2], hi = x[b * 2 + 1];
        int d = 0;
        d = dot4(q.x & 0x0f0f0f0f, lo.x, d), d = dot4(q.x >> 4 & 0x0f0f0f0f, hi.x, d);
        d = dot4(q.y & 0x0f0f0f0f, lo.y, d), d = dot4(q.y >> 4 & 0x0f0f0f0f, hi.y, d);
        d = dot4(q.z & 0x0f0f0f0f, lo.z, d), d = dot4(q.z >> 4 & 0x0f0f0f0f, hi.z, d);
        d = dot4(q.w & 0x0f0f0f0f, lo.w, d), d = dot4(q.w >> 4 & 0x0f0f0f0f, hi.w, d);
        s = FMA(wscale[row * blocks + b] * xscale[b], (float)(d - 8 * xsum[b]), s);
    }
    s = warp_sum(s, tmp);
    if (lane == 0) y[row] = s;
}
