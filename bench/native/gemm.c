/* Matrix products for a CPU, in the kernels' blockings. */
#include <string.h>
#include "native.h"

/* The plain triple loop, in the order that streams rows. */
PART(sgemm_naive_part) {
    JOB;
    int n = job->p[0];
    const float *restrict a = job->b[0], *restrict b = job->b[1];
    float *restrict c = job->b[2];
    for (int i = from; i < to; i++) {
        float *row = c + (size_t)i * n;
        memset(row, 0, sizeof *row * (size_t)n);
        for (int k = 0; k < n; k++) {
            float s = a[(size_t)i * n + k];
            for (int j = 0; j < n; j++) row[j] += s * b[(size_t)k * n + j];
        }
    }
}
NATIVE(sgemm_naive) { SPLIT(sgemm_naive_part, job->p[0]); }

/* Tiles of T by T copied to local arrays, the sums of a tile kept local, eight rows of them in registers at a time. */
enum { ROWS = 8 };
/* What makes gcc keep the sums in registers differs with T. */
#define TILED(T, UNROLL)\
    PART(sgemm_tiled##T##_part) {                                                                                      \
        JOB;                                                                                                           \
        int n = job->p[0];                                                                                             \
        const float *restrict a = job->b[0], *restrict b = job->b[1];                                                  \
        float *restrict c = job->b[2];                                                                                 \
        for (int ti = from * T; ti < to * T; ti += T)                                                                  \
            for (int tj = 0; tj < n; tj += T) {                                                                        \
                float as[T][T], bs[T][T], sum[T][T] = {{0}};                                                           \
                for (int t = 0; t < n; t += T) {                                                                       \
                    for (int i = 0; i < T; i++)                                                                        \
                        for (int j = 0; j < T; j++) {                                                                  \
                            as[i][j] = a[(size_t)(ti + i) * n + t + j];                                                \
                            bs[i][j] = b[(size_t)(t + i) * n + tj + j];                                                \
                        }                                                                                              \
                    for (int i = 0; i < T; i += ROWS) {                                                                \
                        float acc[ROWS][T];                                                                            \
                        UNROLL                                                                                         \
                        for (int r = 0; r < ROWS; r++)                                                                 \
                            for (int j = 0; j < T; j++) acc[r][j] = sum[i + r][j];                                     \
                        for (int k = 0; k < T; k++)                                                                    \
                        UNROLL                                                                                         \
                            for (int r = 0; r < ROWS; r++)                                                             \
                                for (int j = 0; j < T; j++) acc[r][j] += as[i + r][k] * bs[k][j];                      \
                        UNROLL                                                                                         \
                        for (int r = 0; r < ROWS; r++)                                                                 \
                            for (int j = 0; j < T; j++) sum[i + r][j] = acc[r][j];                                     \
                    }                                                                                                  \
                }                                                                                                      \
                for (int i = 0; i < T; i++)                                                                            \
                    for (int j = 0; j < T; j++) c[(size_t)(ti + i) * n + tj + j] = sum[i][j];                          \
            }                                                                                                          \
    }                                                                                                                  \
    NATIVE(sgemm_tiled##T) { SPLIT(sgemm_tiled##T##_part, job->p[0] / T); }
TILED(16, )
TILED(32, _Pragma("GCC unroll 8"))

/* A panel of B, 64 columns wide and all of k, is packed once; a micro-kernel keeps 4 rows by 64 columns of C in registers. */
PART(sgemm_register_part) {
    JOB;
    int n = job->p[0];
    const float *restrict a = job->b[0], *restrict b = job->b[1];
    float *restrict c = job->b[2];
    enum { COLS = 64, MICRO = 4, K = 256 };
    for (int panel = from; panel < to; panel++)
        for (int k0 = 0; k0 < n; k0 += K) {
            float bs[K][COLS];
            int kn = n - k0 < K ? n - k0 : K;
            for (int k = 0; k < kn; k++)
                for (int j = 0; j < COLS; j++) bs[k][j] = b[(size_t)(k0 + k) * n + panel * COLS + j];
            for (int i = 0; i < n; i += MICRO) {
                float acc[MICRO][COLS];
                for (int r = 0; r < MICRO; r++)
                    for (int j = 0; j < COLS; j++) acc[r][j] = k0 ? c[(size_t)(i + r) * n + panel * COLS + j] : 0;
                for (int k = 0; k < kn; k++)
                    for (int r = 0; r < MICRO; r++) {
                        float s = a[(size_t)(i + r) * n + k0 + k];
                        for (int j = 0; j < COLS; j++) acc[r][j] += s * bs[k][j];
                    }
                for (int r = 0; r < MICRO; r++)
                    for (int j = 0; j < COLS; j++) c[(size_t)(i + r) * n + panel * COLS + j] = acc[r][j];
            }
        }
}
NATIVE(sgemm_register) { CHUNKS(sgemm_register_part, job->p[0] / 64, 1); }
