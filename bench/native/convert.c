/* Conversions and divisions. */
#include <math.h>
#ifdef __AVX512DQ__
#include <immintrin.h>
#endif
#include "native.h"

PART(f32_to_s32_part) {
    JOB;
    const float *restrict in = job->b[0];
    int32_t *restrict out = job->b[1];
#pragma omp simd
    for (int i = from; i < to; i++) out[i] = (int32_t)(in[i] * 777.0f);
}
NATIVE(f32_to_s32) { SPLIT(f32_to_s32_part, job->p[0]); }

PART(quantize_q8_part) {
    JOB;
    for (int b = from; b < to; b++) {
        const float *restrict x = (const float *)job->b[0] + (size_t)b * 32;
        int8_t *restrict q = (int8_t *)job->b[1] + (size_t)b * 32;
        float top = 0;
#pragma omp simd reduction(max : top)
        for (int i = 0; i < 32; i++) top = fabsf(x[i]) > top ? fabsf(x[i]) : top;
        float inverse = 127.0f / top;
        ((float *)job->b[2])[b] = top / 127.0f;
#pragma omp simd
        for (int i = 0; i < 32; i++) q[i] = (int8_t)(int32_t)rintf(x[i] * inverse);
    }
}
NATIVE(quantize_q8) { SPLIT(quantize_q8_part, job->p[0] / 32); }

/* No processor divides vectors of integers. Doubles give 52 bits of the quotient; a second division of what is left gives the rest. */
PART(divide64_part) {
    JOB;
    const uint64_t *restrict a = job->b[0], *restrict b = job->b[1];
    uint64_t *restrict out = job->b[2];
    int i = from;
#ifdef __AVX512DQ__
    const __m512i one = _mm512_set1_epi64(1);
    for (; i + 8 <= to; i += 8) {
        __m512i n = _mm512_loadu_si512(a + i), d = _mm512_loadu_si512(b + i);
        __m512d dd = _mm512_cvtepu64_pd(d);
        __m512i q = _mm512_cvttpd_epu64(_mm512_div_pd(_mm512_cvtepu64_pd(n), dd));
        __m512i r = _mm512_sub_epi64(n, _mm512_mullo_epi64(q, d)); /* small against n, of either sign */
        __m512i more = _mm512_cvttpd_epi64(_mm512_div_pd(_mm512_cvtepi64_pd(r), dd));
        q = _mm512_add_epi64(q, more), r = _mm512_sub_epi64(r, _mm512_mullo_epi64(more, d));
        __mmask8 low = _mm512_cmplt_epi64_mask(r, _mm512_setzero_si512());
        q = _mm512_mask_sub_epi64(q, low, q, one), r = _mm512_mask_add_epi64(r, low, r, d);
        __mmask8 high = _mm512_cmpge_epu64_mask(r, d);
        q = _mm512_mask_add_epi64(q, high, q, one), r = _mm512_mask_sub_epi64(r, high, r, d);
        __mmask8 large = _mm512_cmplt_epi64_mask(d, _mm512_setzero_si512()); /* r needs all 64 bits: q is 0 or 1 */
        __mmask8 fits = _mm512_cmpge_epu64_mask(n, d);
        q = _mm512_mask_mov_epi64(q, large, _mm512_maskz_mov_epi64(fits, one));
        r = _mm512_mask_mov_epi64(r, large, _mm512_mask_sub_epi64(n, fits, n, d));
        _mm512_storeu_si512(out + i, _mm512_xor_si512(q, _mm512_slli_epi64(r, 1)));
    }
#endif
    for (; i < to; i++) out[i] = (a[i] / b[i]) ^ (a[i] % b[i]) << 1;
}
NATIVE(divide64) { SPLIT(divide64_part, job->p[0]); }
