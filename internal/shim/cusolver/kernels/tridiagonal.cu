// Eigenvalues of one large symmetric or Hermitian matrix, in steps: panels of the reduction to a tridiagonal one (the rest of the matrix
// is changed by products), implicit QL, order. The product of the reflections is made by QR's kernels and products.
#include "rotate.h"

// prepare fills the upper triangle, scales, and tells the factor, NaN if there is an infinity or NaN.
template <class T, class R> __device__ void prepare(T *a, s64 ld, u32 n, u32 upper, R *factor) {
    R largest = 0;
    for (u32 j = 0; j < n; j++) {
        const T *x = upper ? a + j : a + (s64)j * ld;
        s64 step = upper ? ld : 1;
        for (u32 i = j + LANE; i < n; i += 32) {
            R s = i == j ? size(re(x[i * step])) : size1(x[i * step]);
            largest = s > largest || s != s ? s : largest;
        }
    }
    largest = warpMax(largest);
    R scale = inRange(largest);
    if (upper || scale != 1)
        for (u32 j = 0; j < n; j++)
            for (u32 i = j + LANE; i < n; i += 32) {
                T v = upper ? conj(a[(s64)i * ld + j]) : a[(s64)j * ld + i];
                a[(s64)j * ld + i] = times(v, scale);
            }
    if (LANE == 0) {
        factor[0] = largest * 0 == 0 ? scale : largest - largest;
        factor[1] = largest * scale;
    }
}

// symmetricTimes is w = A v of the lower triangle: COLUMNS columns at once, each read once for itself and once for its mirror image.
template <class T, int COLUMNS> __device__ void symmetricTimes(const T *a, s64 ld, u32 m, const T *v, T *w) {
    for (u32 i = LANE; i < m; i += 32)
        w[i] = T{};
    SYNC;
    for (u32 j = 0; j < m; j += COLUMNS) {
        const T *col[COLUMNS];
        T vj[COLUMNS], sum[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            u32 at = j + c < m ? j + c : j;
            col[c] = a + (s64)at * ld;
            vj[c] = j + c < m ? v[at] : T{};
            sum[c] = T{};
        }
        u32 i = j + LANE; // rows that some of these columns have above their diagonal
        if (i < m) {
            T x = v[i], y = w[i];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                if (i >= j + c && j + c < m) {
                    T e = col[c][i];
                    if (i == j + c)
                        y = fma(real(e), vj[c], y);
                    else {
                        y = fma(e, vj[c], y);
                        sum[c] = fma(conj(e), x, sum[c]);
                    }
                }
            w[i] = y;
        }
        u32 whole = j + 32 < m ? (m - j - 32) / 32 : 0;
        for (u32 k = 0; k < whole; k++) {
            i += 32;
            T x = v[i], y = w[i];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                T e = col[c][i];
                y = fma(e, vj[c], y);
                sum[c] = fma(conj(e), x, sum[c]);
            }
            w[i] = y;
        }
        i += 32;
        if (i < m) {
            T x = v[i], y = w[i];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) {
                T e = col[c][i];
                y = fma(e, vj[c], y);
                sum[c] = fma(conj(e), x, sum[c]);
            }
            w[i] = y;
        }
        SYNC;
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            T s = warpSum(sum[c]);
            if (LANE == 0 && j + c < m)
                w[j + c] = add(w[j + c], s);
        }
        SYNC;
    }
}

// latrd makes the first k columns of the lower triangle a, m × m, tridiagonal. What is right of them stays; the caller takes X Y' off
// it, where X is [V W] and Y is [W V], V the reflections. few has room for 2 k numbers.
template <class T, class R, int COLUMNS>
__device__ __attribute__((always_inline)) void latrd(T *a, s64 ld, u32 m, u32 k, R *d, R *e, T *taus, T *x, T *y, s64 ldx, T *few) {
    for (u32 j = 0; j < k; j++) {
        T *column = a + (s64)j * (ld + 1);
        if (j) { // bring the column up to date
            lessProducts(column, m - j, j, x + j, ldx, k, [&](u32 p) { return conj(y[(s64)p * ldx + j]); });
            if (LANE == 0)
                column[0] = real(column[0]);
            SYNC;
        }
        if (LANE == 0)
            d[j] = re(column[0]);
        if (j + 1 == m)
            return;
        T *v = column + 1;
        u32 rows = m - j - 1;
        T tau = mirror(v, rows);
        if (LANE == 0) {
            e[j] = re(v[0]);
            taus[j] = tau;
            v[0] = one<T>();
        }
        SYNC;
        T *vx = x + (s64)j * ldx + j + 1, *w = x + (s64)(k + j) * ldx + j + 1;
        symmetricTimes<T, COLUMNS>(a + (s64)(j + 1) * (ld + 1), ld, rows, v, w);
        for (u32 p = 0; p < j; p++) { // few = Y' v
            T s = dot(y + (s64)p * ldx + j + 1, v, rows), s2 = dot(y + (s64)(k + p) * ldx + j + 1, v, rows);
            if (LANE == 0) {
                few[p] = s;
                few[k + p] = s2;
            }
        }
        SYNC;
        lessProducts(w, rows, j, x + j + 1, ldx, k, [&](u32 p) { return few[p]; });
        T half = times(mul(tau, conj(mul(tau, dot(v, w, rows)))), (R)-0.5);
        T *vy = y + (s64)(k + j) * ldx + j + 1, *wy = y + (s64)j * ldx + j + 1;
        for (u32 i = LANE; i < rows; i += 32) {
            T vi = v[i], wi = fma(half, vi, mul(tau, w[i]));
            vx[i] = vi;
            vy[i] = vi;
            w[i] = wi;
            wy[i] = wi;
        }
        SYNC;
    }
}

// rank tells where each value goes, smallest first, and writes the values in order. A lane has a value.
template <class R> __device__ void rank(const R *d, u32 n, const R *factor, R *w, u32 *to) {
    for (u32 i = LANE; i < n; i += 32) {
        R v = d[i];
        u32 r = 0;
        for (u32 j = 0; j < n; j++) {
            R o = d[j];
            r += o < v || (o == v && j < i);
        }
        r = factor[0] == factor[0] ? r : i;
        to[i] = r;
        w[r] = v / factor[0];
    }
}

// spread brings columns of strips to their places; a block has every so many.
template <class R> __device__ void spread(const R *from, R *a, s64 ld, u32 rows, u32 n, const u32 *to) {
    for (u32 j = BLOCK_X; j < n; j += BLOCKS_X) {
        R *y = a + (s64)to[j] * ld;
        for (u32 i = LANE; i < rows; i += 32)
            y[i] = from[((s64)(i / 32) * n + j) * 32 + LANE];
    }
}

// steqr is implicit QL on a tridiagonal matrix, whose rotations z takes, in strips afterwards. Every block goes the whole way by itself,
// on its own copy of d and e, and turns its own strips. room has 66 n + 576 of R for each block.
template <class R> __device__ void steqr(const R *d, const R *e, u32 n, const R *z, s64 ld, u32 rows, R *out, const R *factor, R *room, int *info) {
    R *mine = room + (s64)BLOCK_X * (66 * n + 576), *off = mine + n;
    bool finite = factor[0] == factor[0];
    for (u32 i = LANE; i < n; i += 32) {
        mine[i] = finite ? d[i] : factor[0];
        off[i] = i + 1 < n ? e[i] : (R)0;
    }
    u32 strips = (rows + 31) / 32, first = (u32)((u64)strips * BLOCK_X / BLOCKS_X), last = (u32)((u64)strips * (BLOCK_X + 1) / BLOCKS_X);
    if (z)
        toStrips(z, ld, rows, n, out, first, last);
    SYNC;
    u32 bad = n;
    if (finite) {
        Turns<R> turns;
        turns.begin(z ? out + (s64)first * n * 32 : (R *)0, last - first, (R *)0, 0, off + n, n);
        bad = ql(mine, off, n, turns, factor[1]);
        turns.end();
    } else if (z)
        for (s64 i = (s64)first * n * 32 + LANE; i < (s64)last * n * 32; i += 32)
            out[i] = factor[0];
    if (LANE == 0 && BLOCK_X == 0)
        *info = (int)bad;
}

#define TRIDIAGONAL(name, T, R, COLUMNS)                                                                                       \
    KERNEL prepare_##name(T *a, s64 ld, u32 n, u32 upper, R *factor) { prepare<T, R>(a, ld, n, upper, factor); }               \
    KERNEL latrd_##name(T *a, s64 ld, u32 m, u32 k, R *d, R *e, T *taus, T *x, T *y, s64 ldx, T *few) {                        \
        latrd<T, R, COLUMNS>(a, ld, m, k, d, e, taus, x, y, ldx, few);                                                         \
    }
TRIDIAGONAL(f32, float, float, 4)
TRIDIAGONAL(f64, double, double, 4)
TRIDIAGONAL(c32, c32, float, 2)
TRIDIAGONAL(c64, c64, double, 2)

#define QL(name, R)                                                                                                            \
    KERNEL steqr_##name(const R *d, const R *e, u32 n, const R *z, s64 ld, u32 rows, R *out, const R *factor, R *room,         \
                        int *info) {                                                                                           \
        steqr<R>(d, e, n, z, ld, rows, out, factor, room, info);                                                               \
    }                                                                                                                          \
    KERNEL rank_##name(const R *d, u32 n, const R *factor, R *w, u32 *to) { rank<R>(d, n, factor, w, to); }                    \
    KERNEL spread_##name(const R *from, R *a, s64 ld, u32 rows, u32 n, const u32 *to) { spread<R>(from, a, ld, rows, n, to); }
QL(f32, float)
QL(f64, double)
