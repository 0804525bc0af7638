// Products with one side of at most FEW: a matrix, the big one, times few vectors. What is big is read once, where it lies.
#include "device.h"
#include "shared.h"

enum { FEW = 16 };

// Skinny is a product of op(big), `outer` × k, and `few` vectors of k. Distances are in elements.
struct Skinny {
    View big, small, c;
    Scalar alpha, beta;
    s64 next;                 // of big: where k lies together from one of outer to the next, else from one of k to the next
    s64 smallAt, smallNext;   // of small: from vector to vector, and along k
    s64 along, across;        // of C: from one of outer to the next, and from vector to vector
    u32 outer, few, k, conjugated; // conjugated: 1 the big one, 2 the vectors
    u32 per, unused2; // of outer, that a block of dots takes
};

// finish is what becomes of a sum. Neither A nor C may be seen where their factor is zero: they may be NaN.
template <class W, class C> __device__ __attribute__((always_inline)) void finish(C *p, W sum, W alpha, W beta) {
    W v = {};
    if (!zero(alpha))
        v = mul(alpha, sum);
    if (!zero(beta))
        v = fma(beta, load(p), v);
    store(p, v);
}

// slimPart adds the products of k from l0 to l1 to N sums of each of V · 32 rows. WHOLE: all of these rows are there.
template <class W, int V, int N, bool WHOLE> __device__ __attribute__((always_inline)) void slimPart(const Skinny &s, const W *a, const W *b, W (&sum)[V][N], u32 row, u32 j0, u32 l0, u32 l1) {
    const W *col[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        col[j] = b + (s64)(j0 + j < s.few ? j0 + j : s.few - 1) * s.smallAt;
    a += (s64)l0 * s.next + row;
    s64 at = (s64)l0 * s.smallNext;
#pragma unroll 1
    for (u32 l = l0; l < l1; l++) {
        W av[V];
#pragma unroll
        for (int v = 0; v < V; v++) {
            av[v] = {};
            if (WHOLE || row + v * 32 < s.outer)
                av[v] = a[v * 32];
        }
#pragma unroll
        for (int j = 0; j < N; j++) {
            W bv = col[j][at];
#pragma unroll
            for (int v = 0; v < V; v++)
                sum[v][j] = fma(av[v], bv, sum[v][j]);
        }
        a += s.next;
        at += s.smallNext;
    }
}

// slim is for a big matrix whose outer side lies together, and at most N vectors: a block takes V · 32 of it, as much as registers hold:
// the longer the piece of a column that is read at once, the sooner the next one is on its way (four vectors, 96 numbers at a time, took
// three times as long as one, 256 at a time).
template <class W, int V, int N, bool WHOLE> __device__ __attribute__((always_inline)) void slimRows(const Skinny &s, const W *a, const W *b, W *out) {
    u32 row = BLOCK_X * V * 32 + LANE;
    W alpha = value<W>(s.alpha), beta = value<W>(s.beta), sum[V][N] = {};
    slimPart<W, V, N, WHOLE>(s, a, b, sum, row, 0, 0, s.k);
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int v = 0; v < V; v++) {
            if (j >= s.few || !WHOLE && row + v * 32 >= s.outer)
                continue;
            W *p = out + (s64)j * s.across;
            if (s.along == 1) // known to lie together
                finish(p + row + v * 32, sum[v][j], alpha, beta);
            else
                finish(p + (s64)(row + v * 32) * s.along, sum[v][j], alpha, beta);
        }
}

template <class W, int V, int N> __device__ __attribute__((always_inline)) void slim(const Skinny &s) {
    u32 batch = BLOCK_Z;
    const W *a = matrix<const W>(s.big, batch), *b = matrix<const W>(s.small, batch);
    W *out = matrix<W>(s.c, batch);
    if ((BLOCK_X + 1) * V * 32 <= s.outer)
        slimRows<W, V, N, true>(s, a, b, out);
    else
        slimRows<W, V, N, false>(s, a, b, out);
}

#define SLIM(name, W, V, N) \
    KERNEL slim_##name(Skinny s) { slim<W, V, N>(s); }
SLIM(one_f32, float, 8, 1)
SLIM(one_f64, double, 4, 1)
SLIM(two_f32, float, 6, 2)
SLIM(two_f64, double, 3, 2)

// With more vectors a block lays DEEP of k of its V · 32 rows into shared memory, and multiplies them P · 32 rows and N vectors at a time:
// where they lie, columns at a distance of pages share the few places that a first cache has for them, and each pass over more than a
// dozen of them came from the second. Sums wait in shared memory meanwhile.
enum { DEEP = 32 };

// manyStep adds what one of k gives.
template <class W, int P, int N> __device__ __attribute__((always_inline)) void manyStep(const W *a, const W *const (&col)[N], s64 at, W (&sum)[P][N]) {
    W x[P];
#pragma unroll
    for (int p = 0; p < P; p++)
        x[p] = a[p * 32];
#pragma unroll
    for (int j = 0; j < N; j++) {
        W y = col[j][at];
#pragma unroll
        for (int p = 0; p < P; p++)
            sum[p][j] = fma(x[p], y, sum[p][j]);
    }
}

// manySums adds the products of `deep` of k. TOGETHER: k of the vectors lies together; then a turn of the loop is four of k, as in wholeTile.
template <class W, int V, int P, int N, bool TOGETHER> __device__ __attribute__((always_inline)) void manySums(const W *a, const W *const (&col)[N], s64 step, u32 deep, W (&sum)[P][N]) {
    s64 at = 0;
    u32 l = 0;
#pragma unroll 1
    for (; l + 4 <= deep; l += 4) {
#pragma unroll
        for (int u = 0; u < 4; u++) {
            manyStep<W, P, N>(a + u * V * 32, col, TOGETHER ? at + u : at, sum);
            if (!TOGETHER)
                at += step;
        }
        a += 4 * V * 32;
        if (TOGETHER)
            at += 4;
    }
#pragma unroll 1
    for (; l < deep; l++) {
        manyStep<W, P, N>(a, col, at, sum);
        a += V * 32;
        at += TOGETHER ? 1 : step;
    }
}

// layMany lays `deep` of k out from p on. WHOLE: all of these rows are there.
template <class W, int V, bool WHOLE> __device__ __attribute__((always_inline)) void layMany(W *rows, const W *p, s64 next, u32 row, u32 outer, u32 deep) {
#pragma unroll 1
    for (u32 l = 0; l < deep; l++) {
#pragma unroll
        for (int v = 0; v < V; v++) {
            W x = {};
            if (WHOLE || row + v * 32 < outer)
                x = p[v * 32];
            rows[v * 32] = x;
        }
        p += next;
        rows += V * 32;
    }
}

template <class W, int V, int P, int N> __device__ __attribute__((always_inline)) void many(const Skinny &s, W *rows, W *wait) {
    const W *a = matrix<const W>(s.big, BLOCK_Z), *b = matrix<const W>(s.small, BLOCK_Z);
    W *out = matrix<W>(s.c, BLOCK_Z);
    W alpha = value<W>(s.alpha), beta = value<W>(s.beta);
    u32 top = BLOCK_X * V * 32, left = s.outer - top;
    bool whole = left >= V * 32;
#pragma unroll 1
    for (u32 l = 0; l < s.k; l += DEEP) {
        u32 deep = s.k - l < DEEP ? s.k - l : DEEP;
        const W *from = a + (s64)l * s.next + top + LANE;
        if (whole)
            layMany<W, V, true>(rows + LANE, from, s.next, top + LANE, s.outer, deep);
        else
            layMany<W, V, false>(rows + LANE, from, s.next, top + LANE, s.outer, deep);
        __nvvm_bar_warp_sync(~0u);
#pragma unroll 1
        for (u32 h = 0; h < V && h * 32 < left; h += P)
#pragma unroll 1
            for (u32 j0 = 0; j0 < s.few; j0 += N) {
                const W *col[N];
#pragma unroll
                for (int j = 0; j < N; j++)
                    col[j] = b + (s64)(j0 + j < s.few ? j0 + j : s.few - 1) * s.smallAt + (s64)l * s.smallNext;
                W sum[P][N] = {}, *mine = wait + (j0 * V + h * N) * 32 + LANE;
                const W *at = rows + h * 32 + LANE;
                if (s.smallNext == 1)
                    manySums<W, V, P, N, true>(at, col, 1, deep, sum);
                else
                    manySums<W, V, P, N, false>(at, col, s.smallNext, deep, sum);
                if (l) // not before: f32 sums that begin with what was in memory are looked at for NaNs after each product
#pragma unroll
                    for (int j = 0; j < N; j++)
#pragma unroll
                        for (int p = 0; p < P; p++)
                            sum[p][j] += mine[(j * P + p) * 32];
                if (l + DEEP < s.k) {
#pragma unroll
                    for (int j = 0; j < N; j++)
#pragma unroll
                        for (int p = 0; p < P; p++)
                            mine[(j * P + p) * 32] = sum[p][j];
                    continue;
                }
#pragma unroll
                for (int j = 0; j < N; j++)
#pragma unroll
                    for (int p = 0; p < P; p++) {
                        u32 row = top + (h + p) * 32 + LANE;
                        if (j0 + j >= s.few || row >= s.outer)
                            continue;
                        W *to = out + (s64)(j0 + j) * s.across;
                        if (s.along == 1) // known to lie together
                            finish(to + row, sum[p][j], alpha, beta);
                        else
                            finish(to + (s64)row * s.along, sum[p][j], alpha, beta);
                    }
                __nvvm_bar_warp_sync(~0u);
            }
        __nvvm_bar_warp_sync(~0u);
    }
}

#define MANY(name, W, V, P, N)                                                                                                 \
    KERNEL slim_many_##name(Skinny s) {                                                                                        \
        __shared__ W rows[V * 32 * DEEP], wait[V * 32 * FEW];                                                                  \
        many<W, V, P, N>(s, rows, wait);                                                                                       \
    }
MANY(f32, float, 6, 2, 4)
MANY(f64, double, 3, 1, 4)

// Complex numbers are pairs of reals as they lie, and nothing is shuffled before the end: a lane has one part of a number of the big matrix,
// and its products with either part of the vector's.
struct Signs {
    bool big, small;
    __device__ Signs(const Skinny &s) : big(s.conjugated & 1), small(s.conjugated & 2) {}
    // pair is a complex sum of a lane's own and its neighbour's products: x with real parts of the vector, y with imaginary ones.
    template <class C, class R> __device__ C pair(R x, R y) const {
        bool odd = LANE & 1;
        R ox = other(x, 1), oy = other(y, 1), rr = odd ? ox : x, ir = odd ? x : ox, ri = odd ? oy : y, ii = odd ? y : oy;
        return {big == small ? rr - ii : rr + ii, (small ? -ri : ri) + (big ? -ir : ir)};
    }
};

// slimPairs is slim of complex numbers: V · 32 parts, and one vector at a time.
template <class C, class R, int V, int DEEP, bool WHOLE> __device__ __attribute__((always_inline)) void slimPairs(const Skinny &s, const R *a, const C *b, R *out, R *wait) {
    u32 row = BLOCK_X * V * 32 + LANE, step = s.few == 1 ? s.k : DEEP;
    C alpha = value<C>(s.alpha), beta = value<C>(s.beta);
    Signs signs(s);
#pragma unroll 1
    for (u32 l0 = 0; l0 < s.k; l0 += step) {
        u32 l1 = s.k - l0 < step ? s.k : l0 + step;
#pragma unroll 1
        for (u32 j = 0; j < s.few; j++) {
            R sum[2 * V] = {}, *mine = wait + j * 2 * V * 32 + LANE;
            const R *from = a + (s64)l0 * s.next * 2 + row;
            const C *at = b + (s64)j * s.smallAt + (s64)l0 * s.smallNext;
#pragma unroll 1
            for (u32 l = l0; l < l1; l++) {
                C w = parts<C, R>(at);
#pragma unroll
                for (int v = 0; v < V; v++) {
                    R x = 0;
                    if (WHOLE || row + v * 32 < 2 * s.outer)
                        x = from[v * 32];
                    sum[2 * v] = fma(x, w.re, sum[2 * v]);
                    sum[2 * v + 1] = fma(x, w.im, sum[2 * v + 1]);
                }
                from += s.next * 2;
                at += s.smallNext;
            }
            if (l0) // see many
#pragma unroll
                for (int v = 0; v < 2 * V; v++)
                    sum[v] += mine[v * 32];
            if (l1 < s.k) {
#pragma unroll
                for (int v = 0; v < 2 * V; v++)
                    mine[v * 32] = sum[v];
                continue;
            }
#pragma unroll
            for (int v = 0; v < V; v++) {
                u32 r = row + v * 32;
                bool in = WHOLE || r < 2 * s.outer;
                C w = signs.template pair<C>(sum[2 * v], sum[2 * v + 1]);
                w = zero(alpha) ? C{} : mul(alpha, w);
                R *p = out + (s64)j * s.across * 2 + (s.along == 1 ? (s64)r : (s64)(r >> 1) * s.along * 2 + (r & 1));
                if (!zero(beta)) {
                    R c = in ? *p : R(0), o = other(c, 1);
                    w = fma(beta, LANE & 1 ? C{o, c} : C{c, o}, w);
                }
                if (in)
                    *p = LANE & 1 ? w.im : w.re;
                __nvvm_bar_warp_sync(~0u);
            }
        }
    }
}

#define SLIM_PAIRS(name, C, R, V, DEEP)                                                                                        \
    KERNEL slim_##name(Skinny s) {                                                                                             \
        __shared__ R wait[2 * V * 32 * FEW];                                                                                   \
        const R *a = (const R *)matrix<const C>(s.big, BLOCK_Z);                                                               \
        const C *b = matrix<const C>(s.small, BLOCK_Z);                                                                        \
        R *out = (R *)matrix<C>(s.c, BLOCK_Z);                                                                                 \
        if ((BLOCK_X + 1) * V * 16 <= s.outer)                                                                                 \
            slimPairs<C, R, V, DEEP, true>(s, a, b, out, wait);                                                                \
        else                                                                                                                   \
            slimPairs<C, R, V, DEEP, false>(s, a, b, out, wait);                                                               \
    }
SLIM_PAIRS(c32, c32, float, 6, 32)
SLIM_PAIRS(c64, c64, double, 3, 32)

// halve leaves D / 2 of D numbers, each with what the lane that is D away has of it: lanes with that bit keep the upper ones.
template <int D, class W> __device__ __attribute__((always_inline)) void halve(W (&s)[16]) {
    bool upper = LANE & D;
#pragma unroll
    for (int i = 0; i < D / 2; i++) {
        W a = s[i], b = s[i + D / 2];
        s[i] = add(upper ? b : a, other(upper ? a : b, D));
    }
}

// add16 adds each of 16 numbers up over the lanes: lanes 2i and 2i + 1 get the sum of the i-th.
template <class W> __device__ __attribute__((always_inline)) W add16(W (&s)[16]) {
    halve<16>(s), halve<8>(s), halve<4>(s), halve<2>(s);
    return add(s[0], other(s[0], 1));
}

// dots is for a big matrix whose k lies together, as that of the few vectors does: lanes go along k, Q of outer and P vectors at a time.
template <class T, class W, class C, int Q, int P> __device__ __attribute__((always_inline)) void dots(const Skinny &s) {
    u32 batch = BLOCK_Z, from = BLOCK_X * s.per, to = s.outer - from < s.per ? s.outer : from + s.per;
    const T *big = matrix<const T>(s.big, batch), *small = matrix<const T>(s.small, batch);
    C *out = matrix<C>(s.c, batch);
    W alpha = value<W>(s.alpha), beta = value<W>(s.beta);
#pragma unroll 1
    for (u32 q0 = from; q0 < to; q0 += Q)
#pragma unroll 1
        for (u32 p0 = 0; p0 < s.few; p0 += P) {
            const T *x[Q], *y[P];
#pragma unroll
            for (int q = 0; q < Q; q++)
                x[q] = big + (s64)(q0 + q < to ? q0 + q : to - 1) * s.next + LANE;
#pragma unroll
            for (int p = 0; p < P; p++)
                y[p] = small + (s64)(p0 + p < s.few ? p0 + p : s.few - 1) * s.smallAt + LANE;
            W sum[16] = {};
            u32 l = 0;
#pragma unroll 1
            for (; l + 32 <= s.k; l += 32) {
                W yv[P];
#pragma unroll
                for (int p = 0; p < P; p++)
                    yv[p] = load(y[p] + l);
#pragma unroll
                for (int q = 0; q < Q; q++) {
                    W xv = load(x[q] + l);
#pragma unroll
                    for (int p = 0; p < P; p++)
                        sum[q * P + p] = fma(xv, yv[p], sum[q * P + p]);
                }
            }
            if (l + LANE < s.k) {
#pragma unroll
                for (int q = 0; q < Q; q++)
#pragma unroll
                    for (int p = 0; p < P; p++)
                        sum[q * P + p] = fma(load(x[q] + l), load(y[p] + l), sum[q * P + p]);
            }
            __nvvm_bar_warp_sync(~0u);
            W v = add16(sum);
            u32 i = LANE >> 1, q = q0 + i / P, p = p0 + i % P;
            if (!(LANE & 1) && i < Q * P && q < to && p < s.few)
                finish(out + (s64)q * s.along + (s64)p * s.across, v, alpha, beta);
            __nvvm_bar_warp_sync(~0u);
        }
}

#define DOTS(name, T, W, C, Q, P)                                                                                              \
    KERNEL dots_one_##name(Skinny s) { dots<T, W, C, 8, 1>(s); }                                                               \
    KERNEL dots_some_##name(Skinny s) { dots<T, W, C, Q, P>(s); }
DOTS(f32_f32, float, float, float, 3, 4)
DOTS(f64_f64, double, double, double, 3, 2)
DOTS(f16_f16, f16, float, f16, 3, 4)
DOTS(f16_f32, f16, float, float, 3, 4)
DOTS(bf16_bf16, bf16, float, bf16, 3, 4)
DOTS(bf16_f32, bf16, float, float, 3, 4)

// dotPairs is dots of complex numbers: lanes go along the parts of k. turnPairs laid the vectors out, each twice.
template <class C, class R, int Q, int P> __device__ __attribute__((always_inline)) void dotPairs(const Skinny &s) {
    u32 batch = BLOCK_Z, from = BLOCK_X * s.per, to = s.outer - from < s.per ? s.outer : from + s.per, k = 2 * s.k;
    const C *big = matrix<const C>(s.big, batch), *small = matrix<const C>(s.small, batch);
    C *out = matrix<C>(s.c, batch);
    C alpha = value<C>(s.alpha), beta = value<C>(s.beta);
    bool odd = LANE & 1, bigConj = s.conjugated & 1, smallConj = s.conjugated & 2;
    bool minusRe = odd && bigConj == smallConj, minusIm = odd ? bigConj : smallConj;
#pragma unroll 1
    for (u32 q0 = from; q0 < to; q0 += Q)
#pragma unroll 1
        for (u32 p0 = 0; p0 < s.few; p0 += P) {
            const R *x[Q], *y[P];
#pragma unroll
            for (int q = 0; q < Q; q++)
                x[q] = (const R *)(big + (s64)(q0 + q < to ? q0 + q : to - 1) * s.next) + LANE;
#pragma unroll
            for (int p = 0; p < P; p++)
                y[p] = (const R *)(small + (s64)(p0 + p < s.few ? p0 + p : s.few - 1) * s.smallAt) + LANE;
            R sum[16] = {};
            u32 l = 0;
#pragma unroll 1
            for (; l + 32 <= k; l += 32) {
                R yv[P], turned[P];
#pragma unroll
                for (int p = 0; p < P; p++) {
                    yv[p] = y[p][l];
                    turned[p] = y[p][k + l];
                }
#pragma unroll
                for (int q = 0; q < Q; q++) {
                    R xv = x[q][l];
#pragma unroll
                    for (int p = 0; p < P; p++) {
                        sum[2 * (q * P + p)] = fma(xv, yv[p], sum[2 * (q * P + p)]);
                        sum[2 * (q * P + p) + 1] = fma(xv, turned[p], sum[2 * (q * P + p) + 1]);
                    }
                }
            }
            bool in = l + LANE < k;
#pragma unroll
            for (int p = 0; p < P; p++) {
                R yv = in ? y[p][l] : R(0), turned = in ? y[p][k + l] : R(0);
#pragma unroll
                for (int q = 0; q < Q; q++) {
                    R xv = in ? x[q][l] : R(0);
                    sum[2 * (q * P + p)] = fma(xv, yv, sum[2 * (q * P + p)]);
                    sum[2 * (q * P + p) + 1] = fma(xv, turned, sum[2 * (q * P + p) + 1]);
                }
            }
#pragma unroll
            for (int i = 0; i < Q * P; i++) {
                sum[2 * i] = minusRe ? -sum[2 * i] : sum[2 * i];
                sum[2 * i + 1] = minusIm ? -sum[2 * i + 1] : sum[2 * i + 1];
            }
            __nvvm_bar_warp_sync(~0u);
            R re = add16(sum), im = other(re, 2);
            u32 i = LANE >> 2, q = q0 + i / P, p = p0 + i % P;
            if (!(LANE & 3) && i < Q * P && q < to && p < s.few)
                finish(out + (s64)q * s.along + (s64)p * s.across, C{re, im}, alpha, beta);
            __nvvm_bar_warp_sync(~0u);
        }
}

#define DOT_PAIRS(name, C, R, ONE, Q, P)                                                                                       \
    KERNEL dots_one_##name(Skinny s) { dotPairs<C, R, ONE, 1>(s); }                                                            \
    KERNEL dots_some_##name(Skinny s) { dotPairs<C, R, Q, P>(s); }
DOT_PAIRS(c32_c32, c32, float, 6, 3, 2)
DOT_PAIRS(c64_c64, c64, double, 3, 3, 1)

// turn puts vectors one after the other, k elements each.
template <class T> __device__ void turn(const View &x, T *to, s64 each, s64 at, s64 next, u32 few, u32 k, u32 first) {
    u32 l = BLOCK_X * 32 + LANE;
    if (l >= k)
        return;
    const T *from = matrix<const T>(x, first + BLOCK_Z) + (s64)l * next;
    to += each * (s64)BLOCK_Z + l;
    for (u32 i = 0; i < few; i++)
        to[(s64)i * k] = from[(s64)i * at];
}

#define TURN(name, T)                                                                                                          \
    KERNEL turn_##name(View x, u64 to, s64 each, s64 at, s64 next, u32 few, u32 k, u32 first) {                                \
        turn(x, (T *)to, each, at, next, few, k, first);                                                                       \
    }
TURN(f32, float)
TURN(f64, double)
TURN(f16, f16)
TURN(bf16, bf16)

// turnPairs does that with complex numbers, each vector twice: as it is, and with the parts of its numbers exchanged.
template <class C> __device__ void turnPairs(const View &x, C *to, s64 each, s64 at, s64 next, u32 few, u32 k, u32 first) {
    u32 l = BLOCK_X * 32 + LANE;
    if (l >= k)
        return;
    const C *from = matrix<const C>(x, first + BLOCK_Z) + (s64)l * next;
    to += each * (s64)BLOCK_Z + l;
    for (u32 i = 0; i < few; i++) {
        C v = from[(s64)i * at];
        to[(s64)(2 * i) * k] = v;
        to[(s64)(2 * i + 1) * k] = {v.im, v.re};
    }
}

#define TURN_PAIRS(name, C)                                                                                                    \
    KERNEL turn_##name(View x, u64 to, s64 each, s64 at, s64 next, u32 few, u32 k, u32 first) {                                \
        turnPairs(x, (C *)to, each, at, next, few, k, first);                                                                  \
    }
TURN_PAIRS(c32, c32)
TURN_PAIRS(c64, c64)
