// Single-precision matrix products C = A B, row-major, sizes multiples of the tiles.
#include "device.h"

KERNEL sgemm_naive(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b, GLOBAL float *RESTRICT c, int n) {
    int col = BX * NX + TX, row = BY * NY + TY;
    float sum = 0;
    for (int k = 0; k < n; k++) sum = FMA(a[row * n + k], b[k * n + col], sum);
    c[row * n + col] = sum;
}

#define TILED(T)                                                                                                       \
    KERNEL sgemm_tiled##T(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b, GLOBAL float *RESTRICT c, int n) { \
        SHARED float as[T][T];                                                                                         \
        SHARED float bs[T][T];                                                                                         \
        int col = BX * T + TX, row = BY * T + TY;                                                                      \
        float sum = 0;                                                                                                 \
        for (int t = 0; t < n; t += T) {                                                                               \
            as[TY][TX] = a[row * n + t + TX];                                                                          \
            bs[TY][TX] = b[(t + TY) * n + col];                                                                        \
            SYNC;                                                                                                      \
            for (int k = 0; k < T; k++) sum = FMA(as[TY][k], bs[k][TX], sum);                                          \
            SYNC;                                                                                                      \
        }                                                                                                              \
        c[row * n + col] = sum;                                                                                        \
    }
TILED(16)
TILED(32)

// 64 x 64 of C for a block of 16 x 16 threads, 4 x 4 for each; slices of 16 in k.
KERNEL sgemm_register(GLOBAL const float *RESTRICT a, GLOBAL const float *RESTRICT b, GLOBAL float *RESTRICT c, int n) {
    SHARED float as[16][64];
    SHARED float bs[16][64];
    int id = TY * 16 + TX, row = BY * 64, col = BX * 64;
    float sum[4][4];
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] = 0;
    for (int t = 0; t < n; t += 16) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int e = id + i * 256;
            as[e & 15][e >> 4] = a[(row + (e >> 4)) * n + t + (e & 15)];
            bs[e >> 6][e & 63] = b[(t + (e >> 6)) * n + col + (e & 63)];
        }
        SYNC;
#pragma unroll 4
        for (int k = 0; k < 16; k++) {
            float x[4], y[4];
#pragma unroll
            for (int i = 0; i < 4; i++) x[i] = as[k][TY * 4 + i], y[i] = bs[k][TX + i * 16];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] = FMA(x[i], y[j], sum[i][j]);
        }
        SYNC;
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) c[(row + TY * 4 + i) * n + col + TX + j * 16] = sum[i][j];
}
