// Matrices that are not stored whole: bands beside the diagonal, and triangles column after column without gaps. A lane takes
// a row of the result; the columns a warp goes over are the same for all its lanes, so that what lies together is read together.
#include "device.h"

#define SYNC __nvvm_bar_warp_sync(~0u)

// Half is a triangle: packed, or those of its diagonals that lie at most reach from the main one.
struct Half {
    u64 base;
    s64 ld;    // of a band
    s64 reach; // packed: n
    u32 n, how;
};

enum { UPPER = 1, PACKED = 2, HERMITIAN = 4, UNIT = 8, TURNED = 16, CONJ = 32 };

// place is where an element of the stored triangle lies.
__device__ inline s64 place(const Half &a, s64 i, s64 j) {
    if (a.how & PACKED)
        return a.how & UPPER ? i + j * (j + 1) / 2 : i + j * (2 * (s64)a.n - j - 1) / 2;
    return (a.how & UPPER ? a.reach + i - j : i - j) + j * a.ld;
}

__device__ inline bool stored(const Half &a, s64 i, s64 j) {
    return a.how & UPPER ? i <= j && j - i <= a.reach : i >= j && i - j <= a.reach;
}

__device__ inline s64 least(s64 a, s64 b) { return a < b ? a : b; }
__device__ inline s64 most(s64 a, s64 b) { return a > b ? a : b; }

template <class T> __device__ inline void leave(T *out, T alpha, T beta, T sum) {
    if (!zero(alpha))
        sum = mul(alpha, sum);
    *out = zero(beta) ? sum : fma(beta, *out, sum);
}

// gbmv is y = alpha op(A) x + beta y: A(i, j) lies in row above + i - j of column j.
template <class T> __device__ void gbmv(View a, Vec x, Vec y, Scalar salpha, Scalar sbeta, u32 m, u32 n, u32 below, u32 above) {
    bool turned = a.op != 0;
    s64 first = (s64)BLOCK_X * 32, at0 = first + LANE, count = turned ? n : m, others = turned ? m : n;
    if (at0 >= count)
        return;
    s64 back = turned ? above : below, ahead = turned ? below : above;
    T alpha = value<T>(salpha), beta = value<T>(sbeta), sum = {};
    if (!zero(alpha)) {
        const T *p = (const T *)a.base;
        for (s64 j = most(0, first - back), end = least(others - 1, first + 31 + ahead); j <= end; j++) {
            if (j < at0 - back || j > at0 + ahead)
                continue;
            T v = turned ? p[(s64)above + j - at0 + at0 * a.ld] : p[(s64)above + at0 - j + j * a.ld];
            sum = fma(a.op == 2 ? conj(v) : v, *at<const T>(x, j), sum);
        }
    }
    leave(at<T>(y, at0), alpha, beta, sum);
}

// halfmv is y = alpha A x + beta y for a symmetric or Hermitian A.
template <class T> __device__ void halfmv(Half a, Vec x, Vec y, Scalar salpha, Scalar sbeta) {
    s64 first = (s64)BLOCK_X * 32, row = first + LANE, n = a.n;
    if (row >= n)
        return;
    T alpha = value<T>(salpha), beta = value<T>(sbeta), sum = {};
    if (!zero(alpha)) {
        const T *p = (const T *)a.base;
        for (s64 j = most(0, first - a.reach), end = least(n - 1, first + 31 + a.reach); j <= end; j++) {
            if (j < row - a.reach || j > row + a.reach)
                continue;
            bool here = stored(a, row, j);
            T v = p[here ? place(a, row, j) : place(a, j, row)];
            if (a.how & HERMITIAN)
                v = row == j ? real(v) : here ? v : conj(v);
            sum = fma(v, *at<const T>(x, j), sum);
        }
    }
    leave(at<T>(y, row), alpha, beta, sum);
}

// trimv is y = op(A) x for a triangular A; x is a copy.
template <class T> __device__ void trimv(Half a, Vec x, Vec y) {
    s64 first = (s64)BLOCK_X * 32, row = first + LANE, n = a.n;
    if (row >= n)
        return;
    const T *p = (const T *)a.base;
    bool turned = a.how & TURNED, unit = a.how & UNIT;
    T sum = {};
    for (s64 j = most(0, first - a.reach), end = least(n - 1, first + 31 + a.reach); j <= end; j++) {
        s64 r = turned ? j : row, c = turned ? row : j;
        if (!stored(a, r, c))
            continue;
        T v = *at<const T>(x, j);
        if (r == c && unit) {
            sum = add(sum, v);
            continue;
        }
        T w = p[place(a, r, c)];
        sum = fma(a.how & CONJ ? conj(w) : w, v, sum);
    }
    *at<T>(y, row) = sum;
}

// trisv solves op(A) x = b in place, a warp for the whole. Columns of A are what lies together: as it is, each found element
// is taken out of the rest; turned, each is found from those before.
template <class T> __device__ void trisv(Half a, Vec x) {
    const T *p = (const T *)a.base;
    bool turned = a.how & TURNED, unit = a.how & UNIT, upper = a.how & UPPER;
    s64 n = a.n;
    for (s64 step = 0; step < n; step++) {
        s64 c = upper == turned ? step : n - 1 - step;
        s64 lo = upper ? most(0, c - a.reach) : c + 1, hi = upper ? c : least(n, c + a.reach + 1);
        T *v = at<T>(x, c), sum = {};
        if (turned) {
            for (s64 i = lo + LANE; i < hi; i += 32) {
                T w = p[place(a, i, c)];
                sum = fma(a.how & CONJ ? conj(w) : w, *at<const T>(x, i), sum);
            }
#pragma unroll
            for (int d = 16; d; d >>= 1)
                sum = add(sum, other(sum, d));
        }
        if (LANE == 0) {
            T w = sub(*v, sum);
            if (!unit) {
                T pivot = p[place(a, c, c)];
                w = div(w, a.how & CONJ ? conj(pivot) : pivot);
            }
            *v = w;
        }
        SYNC;
        if (!turned) {
            T found = sub(T{}, *v);
            for (s64 i = lo + LANE; i < hi; i += 32) {
                T *q = at<T>(x, i);
                *q = fma(p[place(a, i, c)], found, *q);
            }
            SYNC;
        }
    }
}

// halfrank is A = alpha x y' + A, with two + alpha' y x' too, in a packed triangle.
template <class T> __device__ void halfrank(Half a, Vec x, Vec y, Scalar salpha, u32 columns, u32 col, u32 two) {
    s64 row = (s64)BLOCK_X * 32 + LANE;
    T alpha = value<T>(salpha);
    if (row >= a.n || zero(alpha))
        return;
    bool hermitian = a.how & HERMITIAN;
    T left = mul(alpha, *at<const T>(x, row)), right = mul(hermitian ? conj(alpha) : alpha, *at<const T>(y, row));
    for (u32 j = BLOCK_Y * 32; j < columns && j < BLOCK_Y * 32 + 32; j++) {
        s64 c = (s64)col + j;
        if (!stored(a, row, c))
            continue;
        T vy = *at<const T>(y, c), vx = *at<const T>(x, c);
        T *q = (T *)a.base + place(a, row, c);
        T v = fma(left, hermitian ? conj(vy) : vy, *q);
        if (two)
            v = fma(right, hermitian ? conj(vx) : vx, v);
        *q = hermitian && row == c ? real(v) : v;
    }
}

#define STORED(name, T)                                                                                                        \
    KERNEL gbmv_##name(View a, Vec x, Vec y, Scalar alpha, Scalar beta, u32 m, u32 n, u32 below, u32 above) {                  \
        gbmv<T>(a, x, y, alpha, beta, m, n, below, above);                                                                     \
    }                                                                                                                          \
    KERNEL halfmv_##name(Half a, Vec x, Vec y, Scalar alpha, Scalar beta) { halfmv<T>(a, x, y, alpha, beta); }                 \
    KERNEL trimv_##name(Half a, Vec x, Vec y) { trimv<T>(a, x, y); }                                                           \
    KERNEL trisv_##name(Half a, Vec x) { trisv<T>(a, x); }                                                                     \
    KERNEL halfrank_##name(Half a, Vec x, Vec y, Scalar alpha, u32 columns, u32 col, u32 two) {                                \
        halfrank<T>(a, x, y, alpha, columns, col, two);                                                                        \
    }
STORED(f32, float)
STORED(f64, double)
STORED(c32, c32)
STORED(c64, c64)
