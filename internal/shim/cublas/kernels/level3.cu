// Matrices beside the product: triangular systems, sums of matrices, and products with a diagonal.
#include "aligned.h"
#include "device.h"

enum { SIDE = 32, TURN = 33 };

// Triangle is how T of T X = B is read from A.
struct Triangle {
    s64 down, right;
    u32 conj;
};
template <class T> __device__ inline T element(const T *t, const Triangle &x, u32 i, u32 l) {
    T c = t[(s64)i * x.down + (s64)l * x.right];
    return x.conj ? conj(c) : c;
}

// usual: 1 / c is a number whose error is its rounding.
__device__ inline bool usual(float a) { return a > 0x1p-120f && a < 0x1p120f; }
__device__ inline bool usual(double a) { return a > 0x1p-1000 && a < 0x1p1000; }

// substitute finds `size` unknowns of every lane, in s[unknown][lane], STEP at a time. Sums of what is known stay in
// registers and are taken off at the end: a negation of PTX costs as much as a product, as it keeps NaNs as they are.
template <class T> __device__ __attribute__((always_inline)) void substitute(const T *t, const Triangle &x, u32 size, u32 lower, u32 unit, T (*s)[32]) {
    enum { STEP = sizeof(T) == 16 ? 2 : 4 }; // sums that stay in registers
    for (u32 k = 0; k < size; k += STEP) {
        u32 row[STEP];
        T sum[STEP] = {};
#pragma unroll
        for (u32 r = 0; r < STEP; r++) {
            u32 i = k + r < size ? k + r : size - 1; // past the end: again the last one, which is not kept
            row[r] = lower ? i : size - 1 - i;
        }
#pragma unroll 1
        for (u32 q = 0; q < k; q++) {
            u32 l = lower ? q : size - 1 - q;
            T known = s[l][LANE];
#pragma unroll
            for (u32 r = 0; r < STEP; r++)
                sum[r] = fma(element(t, x, row[r], l), known, sum[r]);
        }
#pragma unroll
        for (u32 r = 0; r < STEP; r++) {
            if (k + r >= size)
                break;
            T v = sub(s[row[r]][LANE], sum[r]);
            if (!unit) {
                T c = element(t, x, row[r], row[r]), one;
                set(&one, 1, 0);
                v = usual(size1(c)) ? mul(v, div(one, c)) : div(v, c);
            }
            s[row[r]][LANE] = v;
#pragma unroll
            for (u32 p = r + 1; p < STEP; p++)
                sum[p] = fma(element(t, x, row[p], row[r]), v, sum[p]);
        }
    }
}

// solve is one diagonal block of a triangular system, for 32 right-hand sides a warp. Written for T X = B with T
// lower triangular or upper; the caller says how to read T from A (turned, conjugated) and in which direction the
// unknowns of one right-hand side lie (step) and the right-hand sides beside each other (beside): one of them is 1.
// Where unknowns lie together they are turned in shared memory: lanes that read columns a power of two apart would
// meet in a few sets of the cache.
template <class T>
__device__ __attribute__((always_inline)) void solve(View a, View b, s64 step, s64 beside, u32 size, u32 count, u32 turned, u32 lower, u32 unit, T (*s)[32], T *turn) {
    u32 batch = BLOCK_Z, first = BLOCK_X * 32;
    const T *t = matrix<const T>(a, batch);
    T *x = matrix<T>(b, batch);
    Triangle how = {turned ? a.ld : 1, turned ? 1 : a.ld, a.op >= 2};
    u32 here = count - first < 32 ? count - first : 32;
    if (step == 1) {
        for (u32 j = 0; j < here; j++)
            if (LANE < size)
                turn[j * TURN + LANE] = x[(s64)(first + j) * beside + LANE];
        __nvvm_bar_warp_sync(~0u);
        for (u32 i = 0; i < size; i++)
            s[i][LANE] = LANE < here ? turn[LANE * TURN + i] : T{};
    } else
        for (u32 i = 0; i < size; i++)
            s[i][LANE] = LANE < here ? x[first + LANE + (s64)i * step] : T{};
    substitute(t, how, size, lower, unit, s);
    __nvvm_bar_warp_sync(~0u);
    if (step == 1) {
        for (u32 i = 0; i < size; i++)
            turn[LANE * TURN + i] = s[i][LANE];
        __nvvm_bar_warp_sync(~0u);
        for (u32 j = 0; j < here; j++)
            if (LANE < size)
                x[(s64)(first + j) * beside + LANE] = turn[j * TURN + LANE];
    } else
        for (u32 i = 0; i < size; i++)
            if (LANE < here)
                x[first + LANE + (s64)i * step] = s[i][LANE];
}

// geam is C = alpha op(A) + beta op(B). What is multiplied by zero is not looked at.
template <class T> __device__ inline T part(const View &v, T scale, u32 row, u32 col) {
    if (zero(scale))
        return {};
    const T *p = (const T *)v.base;
    T x = v.op == 0 ? p[(s64)col * v.ld + row] : p[(s64)row * v.ld + col];
    return mul(scale, v.op == 2 ? conj(x) : x);
}

template <class T> __device__ __attribute__((always_inline)) void geam(View a, View b, View c, Scalar salpha, Scalar sbeta, u32 m, u32 n) {
    u32 row = BLOCK_X * 32 + LANE;
    if (row >= m)
        return;
    T alpha = value<T>(salpha), beta = value<T>(sbeta);
    for (u32 col = BLOCK_Y * 32; col < n && col < BLOCK_Y * 32 + 32; col++)
        ((T *)c.base)[(s64)col * c.ld + row] = add(part(a, alpha, row, col), part(b, beta, row, col));
}

// dgmm is C = A diag(x), or diag(x) A.
template <class T> __device__ __attribute__((always_inline)) void dgmm(View a, Vec x, View c, u32 m, u32 n, u32 left) {
    u32 row = BLOCK_X * 32 + LANE;
    if (row >= m)
        return;
    for (u32 col = BLOCK_Y * 32; col < n && col < BLOCK_Y * 32 + 32; col++)
        ((T *)c.base)[(s64)col * c.ld + row] = mul(((const T *)a.base)[(s64)col * a.ld + row], *at<const T>(x, left ? row : col));
}

#define LEVEL3(name, T)                                                                                                        \
    KERNEL solve_##name(View a, View b, s64 step, s64 beside, u32 size, u32 count, u32 turned, u32 lower, u32 unit) {          \
        __shared__ T s[SIDE][32], turn[32 * TURN];                                                                             \
        solve<T>(a, b, step, beside, size, count, turned, lower, unit, s, turn);                                               \
    }                                                                                                                          \
    KERNEL geam_##name(View a, View b, View c, Scalar alpha, Scalar beta, u32 m, u32 n) {                                      \
        geam<T>(a, b, c, alpha, beta, m, n);                                                                                   \
    }                                                                                                                          \
    KERNEL dgmm_##name(View a, Vec x, View c, u32 m, u32 n, u32 left) { dgmm<T>(a, x, c, m, n, left); }
LEVEL3(f32, float)
LEVEL3(f64, double)
LEVEL3(c32, c32)
LEVEL3(c64, c64)
