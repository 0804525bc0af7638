// Products of batches of matrices with at most 16 rows, A as it lies: a warp has as many groups of 8 or 16 lanes as it can, a lane is a row,
// and every group takes other columns. With 32 rows to a warp a matrix of 8 x 8 took three times as long.
#include "device.h"
#include "shared.h"

// Tiny is a batch of products. A block takes `each` matrices.
struct Tiny {
    View a, b, c;
    Scalar alpha, beta;
    s64 column, step; // of op(B): from column to column, and along k
    u32 m, n, k, unused, batch, each;
};

// leaveTiny writes the sums. Every group has columns of its own, whose rows lie together: stored by all groups at once, while one group after
// the other had all vectors of the warp rounded and stored for each, the others' under an empty mask. WHOLE: all rows and columns are there.
template <class W, int R, int N, bool WHOLE> __device__ __attribute__((always_inline)) void leaveTiny(const Tiny &t, const W (&sum)[N], W *out, W alpha, W beta, u32 j0) {
    u32 row = LANE % R, column = j0 + LANE / R * N;
    if (!WHOLE && row >= t.m)
        return;
    W *p = out + (s64)column * t.c.ld + row;
    if (zero(beta)) {
#pragma unroll
        for (int j = 0; j < N; j++)
            if (WHOLE || column + j < t.n)
                p[j * t.c.ld] = mul(alpha, sum[j]);
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        if (WHOLE || column + j < t.n)
            p[j * t.c.ld] = fma(beta, p[j * t.c.ld], mul(alpha, sum[j]));
}

// tinyTile is R rows and 32 / R · N columns from j0 on.
template <class W, int R, int N, bool WHOLE> __device__ __attribute__((always_inline)) void tinyTile(const Tiny &t, const W *a, const W *b, W *out, W alpha, W beta, u32 k, u32 j0) {
    const int G = 32 / R;
    u32 row = LANE % R, group = LANE / R;
    const W *col[G * N];
#pragma unroll
    for (int j = 0; j < G * N; j++)
        col[j] = b + (s64)(WHOLE || j0 + j < t.n ? j0 + j : t.n - 1) * t.column;
    a += row;
    W sum[N] = {};
    s64 at = 0;
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        W av = {};
        if (WHOLE || row < t.m)
            av = a[0];
#pragma unroll
        for (int j = 0; j < N; j++) {
            W bv[G];
#pragma unroll
            for (int g = 0; g < G; g++) {
                bv[g] = col[g * N + j][at];
                keep(bv[g]);
            }
            sum[j] = fma(av, pick<G>(bv, group), sum[j]);
        }
        a += t.a.ld;
        at += t.step;
    }
    leaveTiny<W, R, N, WHOLE>(t, sum, out, alpha, beta, j0);
}

template <class W, int R, int N> __device__ __attribute__((always_inline)) void tiny(const Tiny &t) {
    W alpha = value<W>(t.alpha), beta = value<W>(t.beta);
    u32 k = zero(alpha) ? 0 : t.k; // with an alpha of 0 nothing is added: A may be NaN
    u32 from = BLOCK_X * t.each, to = t.batch - from < t.each ? t.batch : from + t.each;
#pragma unroll 1
    for (u32 i = from; i < to; i++) {
        const W *a = matrix<const W>(t.a, i), *b = matrix<const W>(t.b, i);
        W *out = matrix<W>(t.c, i);
#pragma unroll 1
        for (u32 j0 = 0; j0 < t.n; j0 += 32 / R * N) {
            if (t.m == R && j0 + 32 / R * N <= t.n)
                tinyTile<W, R, N, true>(t, a, b, out, alpha, beta, k, j0);
            else
                tinyTile<W, R, N, false>(t, a, b, out, alpha, beta, k, j0);
            __nvvm_bar_warp_sync(~0u);
        }
    }
}

#define TINY(name, W, R, N) \
    KERNEL tiny_##name(Tiny t) { tiny<W, R, N>(t); }
TINY(8_f32, float, 8, 2)
TINY(16_f32, float, 16, 8)
TINY(8_f64, double, 8, 2)
TINY(16_f64, double, 16, 4)
