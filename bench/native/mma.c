/* Matrix products of small types: C = A B', both with k innermost. */
#include "native.h"

/* Halves are made floats as they are packed; 4 rows by 64 columns of C stay in registers. */
PART(hgemm_part) {
    JOB;
    int n = job->p[0];
    const _Float16 *restrict a = job->b[0], *restrict b = job->b[1];
    float *restrict c = job->b[2];
    enum { COLS = 64, ROWS = 4, K = 256 };
    for (int panel = from; panel < to; panel++)
        for (int k0 = 0; k0 < n; k0 += K) {
            float bs[K][COLS];
            for (int j = 0; j < COLS; j++)
                for (int k = 0; k < K; k++) bs[k][j] = (float)b[(size_t)(panel * COLS + j) * n + k0 + k];
            for (int i = 0; i < n; i += ROWS) {
                float acc[ROWS][COLS], as[ROWS][K];
                for (int r = 0; r < ROWS; r++) {
                    for (int k = 0; k < K; k++) as[r][k] = (float)a[(size_t)(i + r) * n + k0 + k];
                    for (int j = 0; j < COLS; j++) acc[r][j] = k0 ? c[(size_t)(i + r) * n + panel * COLS + j] : 0;
                }
                for (int k = 0; k < K; k++)
                    for (int r = 0; r < ROWS; r++)
                        for (int j = 0; j < COLS; j++) acc[r][j] += as[r][k] * bs[k][j];
                for (int r = 0; r < ROWS; r++)
                    for (int j = 0; j < COLS; j++) c[(size_t)(i + r) * n + panel * COLS + j] = acc[r][j];
            }
        }
}
NATIVE(hgemm) { CHUNKS(hgemm_part, job->p[0] / 64, 1); }

/* Dot products of rows, 2 by 4 at a time, in panels of 64 columns that stay in cache. */
PART(igemm_part) {
    JOB;
    int n = job->p[0];
    const int8_t *restrict a = job->b[0], *restrict b = job->b[1];
    int32_t *restrict c = job->b[2];
    for (int panel = from; panel < to; panel++)
        for (int i = 0; i < n; i += 2)
            for (int j = panel * 64; j < panel * 64 + 64; j += 4) {
                const int8_t *x0 = a + (size_t)i * n, *x1 = x0 + n, *y0 = b + (size_t)j * n, *y1 = y0 + n, *y2 = y1 + n, *y3 = y2 + n;
                int32_t s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
                for (int k = 0; k < n; k++) {
                    s00 += x0[k] * y0[k], s01 += x0[k] * y1[k], s02 += x0[k] * y2[k], s03 += x0[k] * y3[k];
                    s10 += x1[k] * y0[k], s11 += x1[k] * y1[k], s12 += x1[k] * y2[k], s13 += x1[k] * y3[k];
                }
                int32_t *o = c + (size_t)i * n + j, *p = o + n;
                o[0] = s00, o[1] = s01, o[2] = s02, o[3] = s03, p[0] = s10, p[1] = s11, p[2] = s12, p[3] = s13;
            }
}
NATIVE(igemm) { CHUNKS(igemm_part, job->p[0] / 64, 1); }
