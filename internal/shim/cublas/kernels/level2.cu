// A matrix and a vector.
#include "device.h"

// gemvn is y = alpha A x + beta y, with A and x of T, sums of W and y of Y: a lane takes a row, so that neighbours of a column are read together.
template <class T, class W, class Y> __device__ void gemvn(View a, View x, View y, Scalar salpha, Scalar sbeta, u32 m, u32 n) {
    u32 row = BLOCK_X * 32 + LANE, batch = BLOCK_Z;
    if (row >= m)
        return;
    W alpha = value<W>(salpha), beta = value<W>(sbeta), sum = {};
    if (!zero(alpha)) {
        const T *p = matrix<const T>(a, batch) + row, *v = matrix<const T>(x, batch);
        for (u32 j = 0; j < n; j++)
            sum = fma(load(p + (s64)j * a.ld), load(v + (s64)j * x.ld), sum);
        sum = mul(alpha, sum);
    }
    Y *out = matrix<Y>(y, batch) + (s64)row * y.ld;
    store(out, zero(beta) ? sum : fma(beta, load(out), sum));
}

// gemvt is y = alpha op(A) x + beta y for the transposes: a warp takes a column.
template <class T, class W, class Y> __device__ void gemvt(View a, View x, View y, Scalar salpha, Scalar sbeta, u32 m, u32 n) {
    u32 col = BLOCK_X * 8 + WARP, batch = BLOCK_Z;
    if (col >= n)
        return;
    W alpha = value<W>(salpha), beta = value<W>(sbeta), sum = {};
    if (!zero(alpha)) {
        const T *p = matrix<const T>(a, batch) + (s64)col * a.ld, *v = matrix<const T>(x, batch);
        if (x.ld == 1 && a.op == 1) {
            for (u32 i = LANE; i < m; i += 32)
                sum = fma(load(p + i), load(v + i), sum);
        } else {
            for (u32 i = LANE; i < m; i += 32)
                sum = fma(a.op == 2 ? conj(load(p + i)) : load(p + i), load(v + (s64)i * x.ld), sum);
        }
#pragma unroll
        for (int d = 16; d; d >>= 1)
            sum = add(sum, other(sum, d));
        sum = mul(alpha, sum);
    }
    if (LANE != 0)
        return;
    Y *out = matrix<Y>(y, batch) + (s64)col * y.ld;
    store(out, zero(beta) ? sum : fma(beta, load(out), sum));
}

// ger is A = alpha x y' + A, y' being conjugated if asked for.
template <class T> __device__ void ger(View a, Vec x, Vec y, Scalar salpha, u32 m, u32 n, u32 conjugate) {
    u32 row = BLOCK_X * 32 + LANE;
    T alpha = value<T>(salpha);
    if (row >= m || zero(alpha))
        return;
    T v = mul(alpha, *at<const T>(x, row));
    T *p = (T *)a.base + row;
    for (u32 j = BLOCK_Y * 32; j < n && j < BLOCK_Y * 32 + 32; j++) {
        T w = *at<const T>(y, j);
        T *q = p + (s64)j * a.ld;
        *q = fma(v, conjugate ? conj(w) : w, *q);
    }
}

// symv is y = alpha A x + beta y with one triangle of A stored: a lane takes a row.
template <class T> __device__ void symv(View a, Vec x, Vec y, Scalar salpha, Scalar sbeta, u32 n, u32 upper, u32 hermitian) {
    u32 row = BLOCK_X * 32 + LANE;
    if (row >= n)
        return;
    T alpha = value<T>(salpha), beta = value<T>(sbeta), sum = {};
    if (!zero(alpha)) {
        const T *p = (const T *)a.base;
        for (u32 j = 0; j < n; j++) {
            bool stored = upper ? row <= j : row >= j;
            T v = stored ? p[(s64)j * a.ld + row] : p[(s64)row * a.ld + j];
            if (hermitian)
                v = row == j ? real(v) : stored ? v : conj(v);
            sum = fma(v, *at<const T>(x, j), sum);
        }
        sum = mul(alpha, sum);
    }
    T *out = at<T>(y, row);
    *out = zero(beta) ? sum : fma(beta, *out, sum);
}

// rank is A = alpha x y' + A in one triangle; with two, + alpha' y x' too. Hermitian: what is primed is conjugated, and
// the diagonal is real. Columns begin at col.
template <class T>
__device__ void rank(View a, Vec x, Vec y, Scalar salpha, u32 n, u32 columns, u32 col, u32 upper, u32 hermitian, u32 two) {
    u32 row = BLOCK_X * 32 + LANE;
    T alpha = value<T>(salpha);
    if (row >= n || zero(alpha))
        return;
    T left = mul(alpha, *at<const T>(x, row)), right = mul(hermitian ? conj(alpha) : alpha, *at<const T>(y, row));
    for (u32 j = BLOCK_Y * 32; j < columns && j < BLOCK_Y * 32 + 32; j++) {
        u32 c = col + j;
        if (upper ? row > c : row < c)
            continue;
        T vy = *at<const T>(y, c), vx = *at<const T>(x, c);
        T *q = (T *)a.base + (s64)j * a.ld + row;
        T v = fma(left, hermitian ? conj(vy) : vy, *q);
        if (two)
            v = fma(right, hermitian ? conj(vx) : vx, v);
        *q = hermitian && row == c ? real(v) : v;
    }
}

#define GEMV(name, T, W, Y)                                                                                                    \
    KERNEL gemvn_##name(View a, View x, View y, Scalar alpha, Scalar beta, u32 m, u32 n) {                                     \
        gemvn<T, W, Y>(a, x, y, alpha, beta, m, n);                                                                            \
    }                                                                                                                          \
    KERNEL gemvt_##name(View a, View x, View y, Scalar alpha, Scalar beta, u32 m, u32 n) {                                     \
        gemvt<T, W, Y>(a, x, y, alpha, beta, m, n);                                                                            \
    }
GEMV(f32_f32, float, float, float)
GEMV(f64_f64, double, double, double)
GEMV(c32_c32, c32, c32, c32)
GEMV(c64_c64, c64, c64, c64)
GEMV(f16_f16, f16, float, f16)
GEMV(f16_f32, f16, float, float)
GEMV(bf16_bf16, bf16, float, bf16)
GEMV(bf16_f32, bf16, float, float)

#define LEVEL2(name, T)                                                                                                        \
    KERNEL ger_##name(View a, Vec x, Vec y, Scalar alpha, u32 m, u32 n, u32 conjugate) {                                       \
        ger<T>(a, x, y, alpha, m, n, conjugate);                                                                               \
    }                                                                                                                          \
    KERNEL symv_##name(View a, Vec x, Vec y, Scalar alpha, Scalar beta, u32 n, u32 upper, u32 hermitian) {                     \
        symv<T>(a, x, y, alpha, beta, n, upper, hermitian);                                                                    \
    }                                                                                                                          \
    KERNEL rank_##name(View a, Vec x, Vec y, Scalar alpha, u32 n, u32 columns, u32 col, u32 upper, u32 hermitian, u32 two) {   \
        rank<T>(a, x, y, alpha, n, columns, col, upper, hermitian, two);                                                       \
    }
LEVEL2(f32, float)
LEVEL2(f64, double)
LEVEL2(c32, c32)
LEVEL2(c64, c64)
