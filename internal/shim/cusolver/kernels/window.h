// Windows on the diagonal of a Hessenberg matrix: what changes one is done to a copy of it, whose product of reflections the rest of the
// matrix and the Schur vectors take at once.
#pragma once
#include "hessenberg.h"

#define INLINE __device__ inline __attribute__((always_inline))

enum { WINDOW = 128, WLD = WINDOW + 8 }; // the rows of a window at most, and the distance of its columns

// COLUMNS are the sums that a lane has at once: as many as fill the registers.
template <class T> struct Columns {
    enum { n = sizeof(T) == 4 ? 12 : sizeof(T) == 8 ? 6 : 3 };
};
template <> struct Columns<c32> {
    enum { n = 6 };
};

// Mirror3 is a reflection I - tau v v' of three rows, v = 1, v1, v2, that makes (beta, 0, 0) of what it was made of if conjugated.
template <class T> struct Mirror3 {
    T tau, v1, v2, beta;
};
template <class T> INLINE Mirror3<T> mirror3(T x0, T x1, T x2) {
    typedef typename Real<T>::type R;
    Mirror3<T> m = {T{}, T{}, T{}, x0};
    R s = size1(x0) + size1(x1) + size1(x2);
    if (s == 0 || (size1(x1) + size1(x2) == 0 && im(x0) == 0))
        return m;
    R by = 1 / s;
    if (!(by * 0 == 0)) // of a subnormal number
        return m;
    x0 = times(x0, by), x1 = times(x1, by), x2 = times(x2, by);
    R beta = root(norm2(x0) + norm2(x1) + norm2(x2));
    beta = re(x0) >= 0 ? -beta : beta;
    make(&m.tau, (beta - re(x0)) / beta, -im(x0) / beta);
    T left = x0;
    make(&left, re(x0) - beta, im(x0));
    T inverse = div(one<T>(), left);
    m.v1 = mul(x1, inverse);
    m.v2 = mul(x2, inverse);
    make(&m.beta, beta * s, 0);
    return m;
}

// fromLeft does it to rows of columns from … to-1, a lane a column; p is the first row of column 0.
template <class T> INLINE void fromLeft(T *p, s64 ld, int from, int to, Mirror3<T> m, bool three) {
    T tau = conj(m.tau), w1 = conj(m.v1), w2 = conj(m.v2);
    for (int j = from + (int)LANE; j < to; j += 32) {
        T *x = p + j * ld;
        T a = x[0], b = x[1], c = three ? x[2] : T{};
        T s = mul(tau, fma(w2, c, fma(w1, b, a)));
        x[0] = sub(a, s);
        x[1] = sub(b, mul(s, m.v1));
        if (three)
            x[2] = sub(c, mul(s, m.v2));
    }
}

// fromRight does it to columns of rows from … to-1, a lane a row; p is row 0 of the first column.
template <class T> INLINE void fromRight(T *p, s64 ld, int from, int to, Mirror3<T> m, bool three) {
    T w1 = conj(m.v1), w2 = conj(m.v2);
    for (int i = from + (int)LANE; i < to; i += 32) {
        T *x = p + i;
        T a = x[0], b = x[ld], c = three ? x[2 * ld] : T{};
        T s = mul(m.tau, fma(m.v2, c, fma(m.v1, b, a)));
        x[0] = sub(a, s);
        x[ld] = sub(b, mul(s, w1));
        if (three)
            x[2 * ld] = sub(c, mul(s, w2));
    }
}

// Window is the copy of rows and columns first … first+n-1 of h, with u, what the rest takes.
template <class T> struct Window {
    T *w, *u, *ut, *tile; // tile has room for 32 WINDOW
    int first, n;

    INLINE T &at(int i, int j) { return w[j * WLD + i]; }

    INLINE void open(const T *h, s64 ld, int first_, int n_) {
        first = first_, n = n_;
        SYNC;
        for (int j = 0; j < n; j++)
            for (int i = LANE; i < n; i += 32) {
                w[j * WLD + i] = h[(first + j) * ld + first + i];
                set(u + j * WLD + i, i == j, 0);
            }
        SYNC;
    }

    // close puts it back, and turns rows above from `top` on, columns to its right up to `end`, and all rows of z.
    INLINE void close(T *h, s64 ld, int top, int end, T *z, int rows) {
        SYNC;
        for (int j = 0; j < n; j++)
            for (int i = LANE; i < n; i += 32) {
                h[(first + j) * ld + first + i] = w[j * WLD + i];
                ut[i * WLD + j] = u[j * WLD + i];
            }
        enum { C = Columns<T>::n };
        for (int j = n; j < (n + C - 1) / C * C; j++) // what the last sums read
            for (int i = LANE; i < n; i += 32)
                ut[i * WLD + j] = T{};
        SYNC;
        right(h + first * ld + top, ld, first - top);
        if (z)
            right(z + first * ld, ld, rows);
        left(h + (first + n) * ld + first, ld, end - first - n);
    }

    // right is c = c u.
    INLINE void right(T *c, s64 ld, int rows) {
        enum { C = Columns<T>::n };
        for (int r = 0; r < rows; r += 32) {
            bool in = r + (int)LANE < rows;
            T *p = c + r + LANE;
            for (int k = 0; k < n; k++)
                tile[k * 32 + LANE] = in ? p[k * ld] : T{};
            SYNC;
            for (int j = 0; j < n; j += C) {
                T sum[C];
#pragma unroll
                for (int x = 0; x < C; x++)
                    sum[x] = T{};
                const T *a = tile + LANE, *b = ut + j;
                for (int k = 0; k < n; k++, a += 32, b += WLD) {
                    T v = *a;
#pragma unroll
                    for (int x = 0; x < C; x++)
                        sum[x] = fma(v, b[x], sum[x]);
                }
#pragma unroll
                for (int x = 0; x < C; x++)
                    if (in && j + x < n)
                        p[(j + x) * ld] = sum[x];
            }
            SYNC;
        }
    }

    // left is c = u' c.
    INLINE void left(T *c, s64 ld, int columns) {
        enum { C = Columns<T>::n };
        for (int j = 0; j < columns; j += C) {
            for (int x = 0; x < C; x++)
                for (int i = LANE; i < n; i += 32)
                    tile[x * WLD + i] = j + x < columns ? c[(j + x) * ld + i] : T{};
            SYNC;
            for (int r = 0; r < n; r += 32) {
                T sum[C];
#pragma unroll
                for (int x = 0; x < C; x++)
                    sum[x] = T{};
                int row = r + (int)LANE;
                bool in = row < n;
                const T *a = ut + (in ? row : r), *b = tile;
                for (int k = 0; k < n; k++, a += WLD, b++) {
                    T v = conj(*a);
#pragma unroll
                    for (int x = 0; x < C; x++)
                        sum[x] = fma(v, b[x * WLD], sum[x]);
                }
#pragma unroll
                for (int x = 0; x < C; x++)
                    if (in && j + x < columns)
                        c[(j + x) * ld + row] = sum[x];
            }
            SYNC;
        }
    }

    // turn does a reflection of rows and columns k, k+1 and k+2; what is left of column `left` and below row `low` is nothing.
    INLINE void turn(int k, int left, int low, Mirror3<T> m, bool three) {
        SYNC;
        fromLeft(w + k, WLD, left, n, m, three);
        SYNC;
        fromRight(w + k * WLD, WLD, 0, low, m, three);
        fromRight(u + k * WLD, WLD, 0, n, m, three);
        SYNC;
    }
};
