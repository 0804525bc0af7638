/* Scans, compactions and sorts. Two passes where the device has one: threads are few here, and each first finds out where it begins. */
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif
#include "native.h"

static uint32_t begins[MAX_THREADS][16];

/* Turns the threads' figures into where each begins; returns the whole. */
static uint32_t begin_parts(int threads) {
    uint32_t s = 0;
    for (int t = 0; t < threads; t++) {
        uint32_t n = begins[t][0];
        begins[t][0] = s;
        s += n;
    }
    return s;
}

PART(device_scan_sum) {
    JOB;
    const uint32_t *in = job->b[0];
    uint32_t s = 0;
#pragma omp simd reduction(+ : s)
    for (int i = from; i < to; i++) s += in[i];
    begins[part][0] = s;
}
PART(device_scan_write) {
    JOB;
    const uint32_t *restrict in = job->b[0];
    uint32_t *restrict out = job->b[1], s = begins[part][0];
    int i = from;
#ifdef __AVX512F__
    __m512i carry = _mm512_set1_epi32((int)s), none = _mm512_setzero_si512(), last = _mm512_set1_epi32(15);
    for (; i + 16 <= to; i += 16) {
        __m512i v = _mm512_loadu_si512(in + i);
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 15));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 14));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 12));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, none, 8));
        v = _mm512_add_epi32(v, carry);
        carry = _mm512_permutexvar_epi32(last, v);
        _mm512_storeu_si512(out + i, v);
    }
    if (i > from) s = out[i - 1];
#endif
    for (; i < to; i++) out[i] = s += in[i];
}
NATIVE(device_scan) {
    SPLIT(device_scan_sum, job->p[0]);
    begin_parts(job->env->threads);
    SPLIT(device_scan_write, job->p[0]);
}

PART(device_select_count) {
    JOB;
    const uint32_t *in = job->b[0];
    uint32_t s = 0, bound = (uint32_t)job->p[1];
#pragma omp simd reduction(+ : s)
    for (int i = from; i < to; i++) s += in[i] < bound;
    begins[part][0] = s;
}
PART(device_select_write) {
    JOB;
    const uint32_t *restrict in = job->b[0];
    uint32_t *restrict out = (uint32_t *)job->b[1] + begins[part][0], bound = (uint32_t)job->p[1];
    int i = from;
#ifdef __AVX512F__
    for (; i + 16 <= to; i += 16) {
        __m512i v = _mm512_loadu_si512(in + i);
        __mmask16 keep = _mm512_cmplt_epu32_mask(v, _mm512_set1_epi32((int)bound));
        int n = __builtin_popcount(keep);
        /* Compressing to memory is microcode on some processors: compress in a register, store what counts. */
        _mm512_mask_storeu_epi32(out, (__mmask16)((1u << n) - 1), _mm512_maskz_compress_epi32(keep, v));
        out += n;
    }
#endif
    for (; i < to; i++) {
        if (in[i] < bound) *out++ = in[i];
    }
}
NATIVE(device_select) {
    SPLIT(device_select_count, job->p[0]);
    *(uint32_t *)job->b[2] = begin_parts(job->env->threads);
    SPLIT(device_select_write, job->p[0]);
}

PART(reduce_by_key_count) {
    JOB;
    const uint32_t *keys = job->b[0];
    uint32_t s = 0;
    int i = from;
    if (i == 0 && to > 0) s = 1, i = 1;
#pragma omp simd reduction(+ : s)
    for (int k = i; k < to; k++) s += keys[k] != keys[k - 1];
    begins[part][0] = s;
}
/* A part sums up the runs that begin in it, to their ends. */
PART(reduce_by_key_write) {
    JOB;
    const uint32_t *keys = job->b[0], *values = job->b[1];
    uint32_t *unique = job->b[2], *sums = job->b[3], at = begins[part][0];
    int n = job->p[0], i = from;
    while (i > 0 && i < to && keys[i] == keys[i - 1]) i++;
    while (i < to) {
        uint32_t key = keys[i], s = values[i++];
        while (i < n && keys[i] == key) s += values[i++];
        unique[at] = key, sums[at++] = s;
    }
}
NATIVE(reduce_by_key) {
    SPLIT(reduce_by_key_count, job->p[0]);
    *(uint32_t *)job->b[4] = begin_parts(job->env->threads);
    SPLIT(reduce_by_key_write, job->p[0]);
}

/* Digits of eight bits: a tile and its copy lie in the first cache. All counts in one reading. */
PART(block_sort_part) {
    JOB;
    enum { TILE = 1024 };
    for (int b = from; b < to; b++) {
        const uint32_t *in = (const uint32_t *)job->b[0] + (size_t)b * TILE;
        uint32_t *out = (uint32_t *)job->b[1] + (size_t)b * TILE, other[TILE];
        uint16_t count[4][256] = {{0}};
        for (int i = 0; i < TILE; i++) {
            uint32_t k = in[i];
            count[0][k & 255]++, count[1][k >> 8 & 255]++, count[2][k >> 16 & 255]++, count[3][k >> 24]++;
        }
        for (int pass = 0; pass < 4; pass++) {
            const uint32_t *src = pass == 0 ? in : pass & 1 ? other : out;
            uint32_t *dst = pass & 1 ? out : other;
            uint16_t sum = 0;
            for (int d = 0; d < 256; d++) {
                uint16_t c = count[pass][d];
                count[pass][d] = sum;
                sum = (uint16_t)(sum + c);
            }
            for (int i = 0; i < TILE; i++) dst[count[pass][src[i] >> (8 * pass) & 255]++] = src[i];
        }
    }
}
NATIVE(block_sort) { SPLIT(block_sort_part, job->p[0] / 1024); }

static uint32_t byte_counts[MAX_THREADS][256];
static struct { const uint32_t *from; uint32_t *to; int shift; } sweep;
PART(sweep_count) {
    JOB;
    uint32_t c[4][256] = {{0}};
    const uint32_t *in = sweep.from;
    int shift = sweep.shift, i = from;
    for (; i + 4 <= to; i += 4)
        for (int u = 0; u < 4; u++) c[u][in[i + u] >> shift & 255]++;
    for (; i < to; i++) c[0][in[i] >> shift & 255]++;
    for (int d = 0; d < 256; d++) byte_counts[part][d] = c[0][d] + c[1][d] + c[2][d] + c[3][d];
}
/* Keys of a digit gather in a line of their own before they leave, so that memory sees whole lines. */
PART(sweep_move) {
    JOB;
    uint32_t line[256][16] __attribute__((aligned(64))), at[256], begin[256];
    const uint32_t *in = sweep.from;
    uint32_t *out = sweep.to;
    int shift = sweep.shift;
    memcpy(at, byte_counts[part], sizeof at);
    memcpy(begin, at, sizeof begin);
    for (int i = from; i < to; i++) {
        uint32_t k = in[i], d = k >> shift & 255, a = at[d]++;
        line[d][a & 15] = k;
        if ((a & 15) != 15) continue;
        uint32_t first = a & ~15u;
        if (first < begin[d]) /* the first line of the digit is somebody else's too */
            memcpy(out + begin[d], &line[d][begin[d] & 15], (size_t)(a + 1 - begin[d]) * 4);
        else
            memcpy(out + first, line[d], 64);
    }
    for (int d = 0; d < 256; d++) {
        uint32_t first = at[d] & ~15u;
        if (first < begin[d]) first = begin[d];
        for (uint32_t a = first; a < at[d]; a++) out[a] = line[d][a & 15];
    }
}
NATIVE(sweep_sort) {
    int n = job->p[0];
    sweep.from = job->b[0];
    for (int pass = 0; pass < 4; pass++) {
        sweep.to = job->b[pass & 1 ? 1 : 2];
        sweep.shift = pass * 8;
        SPLIT(sweep_count, n);
        uint32_t sum = 0;
        for (int d = 0; d < 256; d++)
            for (int t = 0; t < job->env->threads; t++) {
                uint32_t c = byte_counts[t][d];
                byte_counts[t][d] = sum;
                sum += c;
            }
        SPLIT(sweep_move, n);
        sweep.from = sweep.to;
    }
}

/* A sorted list of the best; vectors find what could enter it. */
PART(topk_part) {
    JOB;
    enum { K = 32 };
    int cols = job->p[1];
    for (int r = from; r < to; r++) {
        const float *x = (const float *)job->b[0] + (size_t)r * cols;
        float *best = (float *)job->b[1] + (size_t)r * K;
        int *where = (int *)job->b[2] + (size_t)r * K;
        for (int i = 0; i < K; i++) best[i] = -3.4e38f, where[i] = -1;
        for (int c = 0; c < cols; c += 16) {
            uint32_t above = 0;
            float least = best[K - 1];
#ifdef __AVX512F__
            above = _mm512_cmp_ps_mask(_mm512_loadu_ps(x + c), _mm512_set1_ps(least), _CMP_GT_OQ);
#else
            for (int i = 0; i < 16; i++) above |= (uint32_t)(x[c + i] > least) << i;
#endif
            for (; above; above &= above - 1) {
                int i = c + __builtin_ctz(above), at = K - 1;
                float v = x[i];
                if (v <= best[K - 1]) continue;
                for (; at > 0 && best[at - 1] < v; at--) best[at] = best[at - 1], where[at] = where[at - 1];
                best[at] = v, where[at] = i;
            }
        }
    }
}
NATIVE(topk_bitonic) { SPLIT(topk_part, job->p[0]); }
