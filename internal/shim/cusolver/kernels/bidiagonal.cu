// Singular values of one large matrix, in steps: panels of the reduction to a bidiagonal one (the rest of the matrix is changed by
// products), implicit QR, order. Products of the reflections are made by QR's kernels and products.
#include "rotate.h"

// scaled copies a matrix of at least as many rows as columns, or with `turned` the conjugate transpose of one, scaled; it tells the
// factor, NaN if there is an infinity or NaN.
template <class T, class R> __device__ void scaled(const T *a, s64 ld, u32 turned, u32 p, u32 q, T *g, R *factor) {
    R largest = 0;
    for (u32 j = 0; j < q; j++)
        for (u32 i = LANE; i < p; i += 32) {
            T e = turned ? conj(a[(s64)i * ld + j]) : a[(s64)j * ld + i];
            g[(s64)j * p + i] = e;
            R s = size1(e);
            largest = s > largest || s != s ? s : largest;
        }
    largest = warpMax(largest);
    R scale = inRange(largest);
    SYNC;
    if (scale != 1)
        for (s64 i = LANE; i < (s64)p * q; i += 32)
            g[i] = times(g[i], scale);
    if (LANE == 0)
        factor[0] = largest * 0 == 0 ? scale : largest - largest;
}

enum { COLUMNS = 4 };

// columnDots is y = A' v.
template <class T> __device__ void columnDots(const T *a, s64 ld, u32 m, u32 n, const T *v, T *y) {
    for (u32 j = 0; j < n; j += COLUMNS) {
        const T *col[COLUMNS];
        T sum[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            col[c] = a + (s64)(j + c < n ? j + c : j) * ld;
            sum[c] = T{};
        }
        u32 i = LANE, whole = m / 32;
        for (u32 k = 0; k < whole; k++, i += 32) {
            T x = v[i];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                sum[c] = fma(conj(col[c][i]), x, sum[c]);
        }
        if (i < m) {
            T x = v[i];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                sum[c] = fma(conj(col[c][i]), x, sum[c]);
        }
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            T s = warpSum(sum[c]);
            if (LANE == 0 && j + c < n)
                y[j + c] = s;
        }
    }
    SYNC;
}

// columnSum is y = A u.
template <class T> __device__ void columnSum(const T *a, s64 ld, u32 m, u32 n, const T *u, T *y) {
    for (u32 i = LANE; i < m; i += 32)
        y[i] = T{};
    SYNC;
    for (u32 j = 0; j < n; j += COLUMNS) {
        const T *col[COLUMNS];
        T f[COLUMNS];
#pragma unroll
        for (int c = 0; c < COLUMNS; c++) {
            col[c] = a + (s64)(j + c < n ? j + c : j) * ld;
            f[c] = j + c < n ? u[j + c] : T{};
        }
        u32 i = LANE, whole = m / 32;
        for (u32 k = 0; k < whole; k++, i += 32) {
            T s = y[i];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                s = fma(col[c][i], f[c], s);
            y[i] = s;
        }
        if (i < m) {
            T s = y[i];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++)
                s = fma(col[c][i], f[c], s);
            y[i] = s;
        }
    }
    SYNC;
}

// labrd makes the first k columns and rows of a, m × n with m >= n, bidiagonal. What is beyond stays; the caller takes L R' off it,
// where L is [V X] and R is [Y U], V and U the reflections from the left and from the right. V stays in a too, and U goes to `right`,
// a column further right than the row it is of. few has room for 2 k numbers.
template <class T, class R>
__device__ __attribute__((always_inline)) void labrd(T *a, s64 ld, u32 m, u32 n, u32 k, R *d, R *e, T *tauq, T *taup, T *l, s64 ldl, T *r, s64 ldr, T *right, s64 ldv, T *few) {
    for (u32 j = 0; j < k; j++) {
        T *column = a + (s64)j * (ld + 1);
        u32 rows = m - j, columns = n - j - 1;
        if (j)
            lessProducts(column, rows, j, l + j, ldl, k, [&](u32 p) { return conj(r[(s64)p * ldr + j]); });
        T tau = mirror(column, rows);
        T *v = l + (s64)j * ldl + j;
        for (u32 i = LANE; i < rows; i += 32)
            v[i] = i == 0 ? one<T>() : column[i];
        if (LANE == 0) {
            d[j] = re(column[0]);
            tauq[j] = tau;
        }
        SYNC;
        if (!columns)
            return;
        T *y = r + (s64)j * ldr + j + 1, *u = r + (s64)(k + j) * ldr + j + 1;
        columnDots(column + ld, ld, rows, columns, v, y);
        for (u32 p = 0; p < j; p++) { // few = L' v
            T s = dot(l + (s64)p * ldl + j, v, rows), s2 = dot(l + (s64)(k + p) * ldl + j, v, rows);
            if (LANE == 0) {
                few[p] = s;
                few[k + p] = s2;
            }
        }
        SYNC;
        lessProducts(y, columns, j, r + j + 1, ldr, k, [&](u32 p) { return few[p]; });
        for (u32 i = LANE; i < columns; i += 32) {
            y[i] = mul(tau, y[i]);
            u[i] = conj(column[(s64)(i + 1) * ld]);
        }
        SYNC;
        // the row as it is now; V's own column j counts too
        lessProducts(u, columns, j, r + j + 1, ldr, k, [&](u32 p) { return conj(l[(s64)p * ldl + j]); });
        for (u32 i = LANE; i < columns; i += 32)
            u[i] = sub(u[i], y[i]);
        SYNC;
        T across = mirror(u, columns);
        if (LANE == 0) {
            e[j] = re(u[0]);
            taup[j] = across;
        }
        SYNC;
        if (LANE == 0)
            u[0] = one<T>();
        SYNC;
        for (u32 i = LANE; i < columns; i += 32)
            right[(s64)(j + 1) * (ldv + 1) + i] = u[i];
        T *x = l + (s64)(k + j) * ldl + j + 1;
        columnSum(column + ld + 1, ld, rows - 1, columns, u, x);
        for (u32 p = 0; p <= j; p++) { // few = R' u
            T s = dot(r + (s64)p * ldr + j + 1, u, columns), s2 = {};
            if (p < j)
                s2 = dot(r + (s64)(k + p) * ldr + j + 1, u, columns);
            if (LANE == 0) {
                few[p] = s;
                few[k + p] = s2;
            }
        }
        SYNC;
        lessProducts(x, rows - 1, j, l + j + 1, ldl, k, [&](u32 p) { return few[p]; });
        for (u32 i = LANE; i + 1 < rows; i += 32)
            x[i] = mul(across, sub(x[i], mul(v[i + 1], few[j])));
        SYNC;
    }
}

// qr finds the singular values of an upper bidiagonal matrix, some of them negative: sweeps from the last rows to the first. turns
// takes the rotations of rows and, as its second set, of columns. Every lane computes the same. Gives how many did not converge.
template <class R> INLINE u32 qr(R *d, R *e, u32 n, Turns<R> &turns) {
    R eps = epsilon(R(0)), norm = 0;
    for (u32 i = 0; i < n; i++) {
        R x = size(d[i]), y = i + 1 < n ? size(e[i]) : (R)0;
        norm = x > norm ? x : norm;
        norm = y > norm ? y : norm;
    }
    R tiny = eps * norm / 16;
    u32 tries = 60 * n;
    for (u32 l = 0; l < n; l++)
        for (;;) {
            u32 m = l;
            bool singular = size(d[l]) <= tiny;
            for (; m + 1 < n; m++) {
                R x = size(e[m]), y = size(d[m + 1]);
                if (x <= eps * (size(d[m]) + y) || x <= tiny)
                    break;
                singular = singular || y <= tiny;
            }
            if (m == l)
                break;
            if (tries-- == 0) {
                u32 bad = 0;
                for (u32 i = 0; i + 1 < n; i++)
                    bad += e[i] != 0;
                return bad ? bad : 1;
            }
            // The shift is the smaller singular value of the first two rows; none if a value is 0, which comes out at once then.
            R f = d[m], g = e[m - 1];
            if (!singular) {
                R a = size(d[l]), b = size(d[l + 1]), c = e[l];
                R largest = (root((a + b) * (a + b) + c * c) + root((a - b) * (a - b) + c * c)) / 2;
                R shift = a * b / largest, am = size(f);
                f = (am - shift) * ((f < 0 ? (R)-1 : (R)1) + shift / f);
            }
            R *putLeft = turns.at(0, (int)m), *putRight = turns.at(1, (int)m);
            R di = d[m], before = e[m - 1];
            for (u32 i = m; i > l; i--) {
                R h = hypotenuse(f, g), c = 1, s = 0;
                if (h > 0) {
                    R inverse = 1 / h;
                    c = f * inverse;
                    s = g * inverse;
                }
                if (i < m)
                    e[i] = h;
                R dp = d[i - 1], next = i - 1 > l ? e[i - 2] : (R)0;
                R f2 = c * di + s * before, e2 = c * before - s * di, g2 = s * dp, d2 = c * dp;
                R h2 = hypotenuse(f2, g2), c2 = 1, s2 = 0;
                if (h2 > 0) {
                    R inverse = 1 / h2;
                    c2 = f2 * inverse;
                    s2 = g2 * inverse;
                }
                d[i] = h2;
                f = c2 * e2 + s2 * d2;
                di = c2 * d2 - s2 * e2;
                g = s2 * next;
                before = c2 * next;
                putLeft -= 2 * Turns<R>::SWEEPS;
                putRight -= 2 * Turns<R>::SWEEPS;
                if (turns.z) {
                    putLeft[0] = c;
                    putLeft[1] = s;
                }
                if (turns.z2) {
                    putRight[0] = c2;
                    putRight[1] = s2;
                }
            }
            d[l] = di;
            e[l] = f;
            e[m] = 0;
            turns.sweep((int)l, (int)m);
        }
    return 0;
}

// share is where the strips of `rows` rows begin that are a block's own.
__device__ inline u32 share(u32 rows, u32 block) { return (u32)((u64)((rows + 31) / 32) * block / BLOCKS_X); }

// bdsqr: every block goes the whole way by itself and turns its own strips. room has 130 n + 1152 of R for each block.
// u and v become strips; each may be none.
template <class R>
__device__ void bdsqr(const R *d, const R *e, u32 n, const R *u, s64 ldu, R *us, u32 rowsU, const R *v, s64 ldv, R *vs, u32 rowsV, const R *factor, R *room, int *info) {
    R *mine = room + (s64)BLOCK_X * (130 * n + 1152), *off = mine + n;
    bool finite = factor[0] == factor[0];
    for (u32 i = LANE; i < n; i += 32) {
        mine[i] = finite ? d[i] : factor[0];
        off[i] = i + 1 < n ? e[i] : (R)0;
    }
    u32 firstU = share(rowsU, BLOCK_X), lastU = share(rowsU, BLOCK_X + 1), firstV = share(rowsV, BLOCK_X), lastV = share(rowsV, BLOCK_X + 1);
    if (u)
        toStrips(u, ldu, rowsU, n, us, firstU, lastU);
    if (v)
        toStrips(v, ldv, rowsV, n, vs, firstV, lastV);
    Turns<R> turns;
    turns.begin(u ? us + (s64)firstU * n * 32 : (R *)0, lastU - firstU, v ? vs + (s64)firstV * n * 32 : (R *)0, lastV - firstV, off + n, n);
    SYNC;
    u32 bad = n + 1;
    if (finite) {
        bad = qr(mine, off, n, turns);
        turns.end();
    }
    if (LANE == 0 && BLOCK_X == 0)
        *info = (int)bad;
}

// order tells where each value goes, largest first, and writes the first `values`. A lane has a value.
template <class R> __device__ void order(const R *d, u32 n, const R *factor, R *w, u32 values, u32 *to) {
    for (u32 i = LANE; i < n; i += 32) {
        R v = size(d[i]);
        u32 r = 0;
        for (u32 j = 0; j < n; j++) {
            R o = size(d[j]);
            r += o > v || (o == v && j < i);
        }
        r = factor[0] == factor[0] ? r : i;
        to[i] = r;
        if (r < values)
            w[r] = v / factor[0];
    }
}

// vectors writes columns of strips to their places, those from n on as they are in `more`; negated where the value was negative and
// `signs` is given; conjugated and transposed if `turned`.
template <class T, class R>
__device__ void vectors(const R *strips, u32 rows, u32 n, const T *more, s64 ldm, const u32 *to, const R *signs, const R *factor, View out, u32 columns, u32 turned) {
    enum { PART = sizeof(T) / sizeof(R), HEIGHT = 32 / PART };
    T *a = matrix<T>(out, 0);
    for (u32 j = BLOCK_X; j < (n > columns ? n : columns); j += BLOCKS_X) {
        u32 at = j < n ? to[j] : j;
        if (at >= columns)
            continue;
        R sign = signs && j < n && signs[j] < 0 ? (R)-1 : (R)1;
        sign = factor[0] == factor[0] ? sign : factor[0];
        for (u32 i = LANE; i < rows; i += 32) {
            T v = j < n ? ((const T *)strips)[((s64)(i / HEIGHT) * n + j) * HEIGHT + i % HEIGHT] : more[(s64)j * ldm + i];
            v = times(v, sign);
            if (turned)
                a[(s64)i * out.ld + at] = conj(v);
            else
                a[(s64)at * out.ld + i] = v;
        }
    }
}

#define BIDIAGONAL(name, T, R)                                                                                                 \
    KERNEL scaled_##name(const T *a, s64 ld, u32 turned, u32 p, u32 q, T *g, R *factor) {                                      \
        scaled<T, R>(a, ld, turned, p, q, g, factor);                                                                          \
    }                                                                                                                          \
    KERNEL labrd_##name(T *a, s64 ld, u32 m, u32 n, u32 k, R *d, R *e, T *tauq, T *taup, T *l, s64 ldl, T *r, s64 ldr,         \
                        T *right, s64 ldv, T *few) {                                                                           \
        labrd<T, R>(a, ld, m, n, k, d, e, tauq, taup, l, ldl, r, ldr, right, ldv, few);                                        \
    }                                                                                                                          \
    KERNEL vectors_##name(const R *strips, u32 rows, u32 n, const T *more, s64 ldm, const u32 *to, const R *signs,             \
                          const R *factor, View out, u32 columns, u32 turned) {                                                \
        vectors<T, R>(strips, rows, n, more, ldm, to, signs, factor, out, columns, turned);                                    \
    }
BIDIAGONAL(f32, float, float)
BIDIAGONAL(f64, double, double)
BIDIAGONAL(c32, c32, float)
BIDIAGONAL(c64, c64, double)

#define VALUES(name, R)                                                                                                        \
    KERNEL bdsqr_##name(const R *d, const R *e, u32 n, const R *u, s64 ldu, R *us, u32 rowsU, u32, const R *v, s64 ldv,        \
                        R *vs, u32 rowsV, u32, const R *factor, R *room, int *info) {                                          \
        bdsqr<R>(d, e, n, u, ldu, us, rowsU, v, ldv, vs, rowsV, factor, room, info);                                           \
    }                                                                                                                          \
    KERNEL order_##name(const R *d, u32 n, const R *factor, R *w, u32 values, u32 *to) {                                       \
        order<R>(d, n, factor, w, values, to);                                                                                 \
    }
VALUES(f32, float)
VALUES(f64, double)
