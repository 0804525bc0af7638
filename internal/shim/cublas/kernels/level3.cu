// Matrices beside the product: triangular systems, sums of matrices, and products with a diagonal.
#include "device.h"

enum { SIDE = 32 };

// solve is one diagonal block of a triangular system, for 32 right-hand sides a warp. Written for T X = B with T lower
// triangular or upper; the caller says how to read T from A (turned, conjugated) and in which direction the unknowns of
// one right-hand side lie (step) and the right-hand sides beside each other (beside).
template <class T>
__device__ void solve(View a, View b, s64 step, s64 beside, u32 size, u32 count, u32 turned, u32 lower, u32 unit, T (*s)[32]) {
    u32 batch = BLOCK_Z, j = BLOCK_X * 32 + LANE;
    const T *t = matrix<const T>(a, batch);
    T *x = matrix<T>(b, batch) + (s64)j * beside;
    s64 down = turned ? a.ld : 1, right = turned ? 1 : a.ld;
    bool mine = j < count;
    for (u32 i = 0; i < size; i++)
        s[i][LANE] = mine ? x[(s64)i * step] : T{};
    for (u32 k = 0; k < size; k++) {
        u32 i = lower ? k : size - 1 - k;
        T v = s[i][LANE];
        for (u32 q = 0; q < k; q++) {
            u32 l = lower ? q : size - 1 - q;
            T c = t[(s64)i * down + (s64)l * right];
            if (a.op >= 2)
                c = conj(c);
            v = sub(v, mul(c, s[l][LANE]));
        }
        if (!unit) {
            T c = t[(s64)i * (down + right)];
            if (a.op >= 2)
                c = conj(c);
            v = div(v, c);
        }
        s[i][LANE] = v;
    }
    if (mine)
        for (u32 i = 0; i < size; i++)
            x[(s64)i * step] = s[i][LANE];
}

// geam is C = alpha op(A) + beta op(B). What is multiplied by zero is not looked at.
template <class T> __device__ inline T part(const View &v, T scale, u32 row, u32 col) {
    if (zero(scale))
        return {};
    const T *p = (const T *)v.base;
    T x = v.op == 0 ? p[(s64)col * v.ld + row] : p[(s64)row * v.ld + col];
    return mul(scale, v.op == 2 ? conj(x) : x);
}

template <class T> __device__ void geam(View a, View b, View c, Scalar salpha, Scalar sbeta, u32 m, u32 n) {
    u32 row = BLOCK_X * 32 + LANE;
    if (row >= m)
        return;
    T alpha = value<T>(salpha), beta = value<T>(sbeta);
    for (u32 col = BLOCK_Y * 32; col < n && col < BLOCK_Y * 32 + 32; col++)
        ((T *)c.base)[(s64)col * c.ld + row] = add(part(a, alpha, row, col), part(b, beta, row, col));
}

// dgmm is C = A diag(x), or diag(x) A.
template <class T> __device__ void dgmm(View a, Vec x, View c, u32 m, u32 n, u32 left) {
    u32 row = BLOCK_X * 32 + LANE;
    if (row >= m)
        return;
    for (u32 col = BLOCK_Y * 32; col < n && col < BLOCK_Y * 32 + 32; col++)
        ((T *)c.base)[(s64)col * c.ld + row] = mul(((const T *)a.base)[(s64)col * a.ld + row], *at<const T>(x, left ? row : col));
}

#define LEVEL3(name, T)                                                                                                        \
    KERNEL solve_##name(View a, View b, s64 step, s64 beside, u32 size, u32 count, u32 turned, u32 lower, u32 unit) {          \
        __shared__ T s[SIDE][32];                                                                                              \
        solve<T>(a, b, step, beside, size, count, turned, lower, unit, s);                                                     \
    }                                                                                                                          \
    KERNEL geam_##name(View a, View b, View c, Scalar alpha, Scalar beta, u32 m, u32 n) {                                      \
        geam<T>(a, b, c, alpha, beta, m, n);                                                                                   \
    }                                                                                                                          \
    KERNEL dgmm_##name(View a, Vec x, View c, u32 m, u32 n, u32 left) { dgmm<T>(a, x, c, m, n, left); }
LEVEL3(f32, float)
LEVEL3(f64, double)
LEVEL3(c32, c32)
LEVEL3(c64, c64)
