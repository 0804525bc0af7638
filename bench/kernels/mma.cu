// Matrix products with tensor-core instructions: C = A B', both with k innermost. Halves with f32 sums, bytes with s32 sums.
// A block of 4 warps makes 64 x 64 of C, a warp 32 x 32; k goes by 16 words (32 halves or 64 bytes) at a time, through shared
// memory with padded rows, ldmatrix and mma.
#include "device.h"

#ifdef __OPENCL_VERSION__
// OpenCL has no such instructions: 64 x 64 of C in shared tiles, 8 x 4 for each of the 128 threads.
KERNEL hgemm_mma(GLOBAL const half *RESTRICT a, GLOBAL const half *RESTRICT b, GLOBAL float *RESTRICT c, int n, int words) {
    SHARED float as[32][64];
    SHARED float bs[32][64];
    float sum[8][4];
    int tx = TX & 15, ty = TX >> 4, k = words * 2;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) sum[i][j] = 0;
    for (int t = 0; t < k; t += 32) {
        for (int i = TX; i < 2048; i += 128) {
            as[i & 31][i >> 5] = vload_half((BY * 64 + (i >> 5)) * k + t + (i & 31), a);
            bs[i & 31][i >> 5] = vload_half((BX * 64 + (i >> 5)) * k + t + (i & 31), b);
        }
        SYNC;
        for (int kk = 0; kk < 32; kk++)
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 4; j++) sum[i][j] = FMA(as[kk][ty * 8 + i], bs[kk][tx + j * 16], sum[i][j]);
        SYNC;
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) c[(BY * 64 + ty * 8 + i) * n + BX * 64 + tx + j * 16] = sum[i][j];
}
KERNEL igemm_mma(GLOBAL const char *RESTRICT a, GLOBAL const char *RESTRICT b, GLOBAL int *RESTRICT c, int n, int words) {
    SHARED int as[32][64];
    SHARED int bs[32][64];
    int sum[8][4];
    int tx = TX & 15, ty = TX >> 4, k = words * 4;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) sum[i][j] = 0;
    for (int t = 0; t < k; t += 32) {
        for (int i = TX; i < 2048; i += 128) {
            as[i & 31][i >> 5] = a[(BY * 64 + (i >> 5)) * k + t + (i & 31)];
            bs[i & 31][i >> 5] = b[(BX * 64 + (i >> 5)) * k + t + (i & 31)];
        }
        SYNC;
        for (int kk = 0; kk < 32; kk++)
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 4; j++) sum[i][j] += as[kk][ty * 8 + i] * bs[kk][tx + j * 16];
        SYNC;
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) c[(BY * 64 + ty * 8 + i) * n + BX * 64 + tx + j * 16] = sum[i][j];
}
#else
FUNCTION uint shared_address(const void *p) { return (uint)(unsigned long)(const __attribute__((address_space(3))) void *)p; }
FUNCTION void ldmatrix4(uint r[4], const void *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(shared_address(p)) : "memory");
}
FUNCTION void product(float d[4], const uint a[4], const uint *b) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
FUNCTION void product(int d[4], const uint a[4], const uint *b) {
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <typename T> FUNCTION void gemm(const uint4 *a, const uint4 *b, T *c, int n, int words) {
    SHARED uint as[64][20];
    SHARED uint bs[64][20];
    int lane = TX & 31, warp = TX >> 5, wm = (warp & 1) * 32, wn = (warp >> 1) * 32;
    T sum[2][4][4];
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j][0] = sum[i][j][1] = sum[i][j][2] = sum[i][j][3] = 0;
    for (int t = 0; t < words; t += 16) {
#pragma unroll
        for (int i = TX; i < 256; i += 128) {
            *(uint4 *)&as[i >> 2][(i & 3) * 4] = a[((BY * 64 + (i >> 2)) * words + t) / 4 + (i & 3)];
            *(uint4 *)&bs[i >> 2][(i & 3) * 4] = b[((BX * 64 + (i >> 2)) * words + t) / 4 + (i & 3)];
        }
        SYNC;
#pragma unroll
        for (int k = 0; k < 16; k += 8) {
            uint fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                ldmatrix4(fa[i], &as[wm + i * 16 + (lane & 15)][k + (lane >> 4) * 4]);
                ldmatrix4(fb[i], &bs[wn + i * 16 + (lane & 7) + (lane >> 4) * 8][k + (lane >> 3 & 1) * 4]);
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) product(sum[i][j], fa[i], &fb[j >> 1][(j & 1) * 2]);
        }
        SYNC;
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int row = BY * 64 + wm + i * 16 + (lane >> 2), col = BX * 64 + wn + j * 8 + (lane & 3) * 2;
            c[row * n + col] = sum[i][j][0], c[row * n + col + 1] = sum[i][j][1];
            c[(row + 8) * n + col] = sum[i][j][2], c[(row + 8) * n + col + 1] = sum[i][j][3];
        }
}
KERNEL hgemm_mma(const uint4 *RESTRICT a, const uint4 *RESTRICT b, float *RESTRICT c, int n, int words) { gemm<float>(a, b, c, n, words); }
KERNEL igemm_mma(const uint4 *RESTRICT a, const uint4 *RESTRICT b, int *RESTRICT c, int n, int words) { gemm<int>(a, b, c, n, words); }
#endif
