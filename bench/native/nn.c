/* Rows of neural networks. */
#include <math.h>
#include "native.h"

PART(convolution_part) {
    JOB;
    int w = job->p[0], pitch = w + 6;
    const float *restrict in = job->b[0], *restrict filter = job->b[1];
    float *restrict out = job->b[2];
    float f[7][7];
    for (int i = 0; i < 49; i++) f[i / 7][i % 7] = filter[i];
    for (int y = from; y < to; y++)
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int fy = 0; fy < 7; fy++)
                for (int fx = 0; fx < 7; fx++) sum += f[fy][fx] * in[(size_t)(y + fy) * pitch + x + fx];
            out[(size_t)y * w + x] = sum;
        }
}
NATIVE(convolution) { SPLIT(convolution_part, job->p[1]); }

PART(softmax_part) {
    JOB;
    int cols = job->p[1];
    for (int r = from; r < to; r++) {
        const float *restrict x = (const float *)job->b[0] + (size_t)r * cols;
        float *restrict o = (float *)job->b[1] + (size_t)r * cols, m = -3.4e38f, s = 0;
        for (int i = 0; i < cols; i++) m = x[i] > m ? x[i] : m;
        for (int i = 0; i < cols; i++) {
            float e = expf(x[i] - m);
            o[i] = e;
            s += e;
        }
        s = 1 / s;
        for (int i = 0; i < cols; i++) o[i] *= s;
    }
}
NATIVE(softmax) { SPLIT(softmax_part, job->p[0]); }

PART(layernorm_part) {
    JOB;
    int cols = job->p[1];
    const float *restrict gain = job->b[1], *restrict bias = job->b[2];
    for (int r = from; r < to; r++) {
        const float *restrict x = (const float *)job->b[0] + (size_t)r * cols;
        float *restrict o = (float *)job->b[3] + (size_t)r * cols, s = 0, v = 0;
        for (int i = 0; i < cols; i++) s += x[i];
        float mean = s / (float)cols;
        for (int i = 0; i < cols; i++) v += (x[i] - mean) * (x[i] - mean);
        float scale = 1 / sqrtf(v / (float)cols + 1e-5f);
        for (int i = 0; i < cols; i++) o[i] = (x[i] - mean) * scale * gain[i] + bias[i];
    }
}
NATIVE(layernorm) { SPLIT(layernorm_part, job->p[0]); }

/* Tiles of 32 keys as in the kernel, transposed once so that a query's 32 scores are one vector loop. */
PART(attention_part) {
    JOB;
    enum { D = 64, T = 32, QUERIES = 16 };
    int len = job->p[1];
    const float *q = job->b[0], *k = job->b[1], *v = job->b[2];
    float *out = job->b[3];
    for (int c = from; c < to; c++) {
        size_t head = (size_t)(c / (len / QUERIES)) * len * D, first = head + (size_t)(c % (len / QUERIES)) * QUERIES * D;
        float top[QUERIES], sum[QUERIES], o[QUERIES][D];
        for (int i = 0; i < QUERIES; i++) {
            top[i] = -3.4e38f, sum[i] = 0;
            for (int d = 0; d < D; d++) o[i][d] = 0;
        }
        for (int t = 0; t < len; t += T) {
            const float *vt = v + head + (size_t)t * D;
            float kt[D][T];
            for (int j = 0; j < T; j++)
                for (int d = 0; d < D; d++) kt[d][j] = k[head + (size_t)(t + j) * D + d];
            for (int i = 0; i < QUERIES; i++) {
                float s[T] = {0}, m = top[i], total = 0, acc[D];
                for (int d = 0; d < D; d++)
                    for (int j = 0; j < T; j++) s[j] += q[first + (size_t)i * D + d] * kt[d][j];
                for (int j = 0; j < T; j++) m = s[j] * 0.125f > m ? s[j] * 0.125f : m;
                for (int j = 0; j < T; j++) s[j] = expf(s[j] * 0.125f - m), total += s[j];
                float shrink = expf(top[i] - m);
                top[i] = m, sum[i] = sum[i] * shrink + total;
                for (int d = 0; d < D; d++) acc[d] = o[i][d] * shrink;
                for (int j = 0; j < T; j++)
                    for (int d = 0; d < D; d++) acc[d] += s[j] * vt[j * D + d];
                for (int d = 0; d < D; d++) o[i][d] = acc[d];
            }
        }
        for (int i = 0; i < QUERIES; i++)
            for (int d = 0; d < D; d++) out[first + (size_t)i * D + d] = o[i][d] / sum[i];
    }
}
NATIVE(attention) { CHUNKS(attention_part, job->p[0] * job->p[1] / 16, 1); }

PART(matvec_q4_part) {
    JOB;
    int blocks = job->p[1];
    const float *wscale = job->b[1], *xscale = job->b[3];
    const int *xsum = job->b[4];
    for (int r = from; r < to; r++) {
        float s = 0;
        for (int b = 0; b < blocks; b++) {
            const uint8_t *q = (const uint8_t *)job->b[0] + ((size_t)r * blocks + b) * 16;
            const int8_t *x = (const int8_t *)job->b[2] + b * 32;
            int d = 0;
            for (int i = 0; i < 16; i++) d += (q[i] & 15) * x[i] + (q[i] >> 4) * x[i + 16];
            s += wscale[(size_t)r * blocks + b] * xscale[b] * (float)(d - 8 * xsum[b]);
        }
        ((float *)job->b[5])[r] = s;
    }
}
NATIVE(matvec_q4) { SPLIT(matvec_q4_part, job->p[0]); }
