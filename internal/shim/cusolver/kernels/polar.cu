// What a polar decomposition needs beside singular values and products.
#include "solver.h"

// stretch multiplies columns with values.
template <class T, class R> __device__ void stretch(const T *v, u32 n, const R *s, T *out) {
    for (u32 j = BLOCK_X; j < n; j += BLOCKS_X) {
        R f = s[j];
        for (u32 i = LANE; i < n; i += 32)
            out[(s64)j * n + i] = times(v[(s64)j * n + i], f);
    }
}

// frobenius is the root of the sum of all squares, of numbers scaled by the largest.
template <class T> __device__ double frobenius(const T *a, s64 ld, u32 m, u32 n) {
    double largest = 0, sum = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < m; i += 32) {
            double s = (double)size1(a[(s64)j * ld + i]);
            largest = s > largest || s != s ? s : largest;
        }
    largest = warpMax(largest);
    if (largest == 0 || !(largest * 0 == 0))
        return largest;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < m; i += 32) {
            double r = (double)re(a[(s64)j * ld + i]) / largest, q = (double)im(a[(s64)j * ld + i]) / largest;
            sum += r * r + q * q;
        }
    return largest * __builtin_sqrt(warpSum(sum));
}

// measures tells norms of a matrix and of what is left of it, and the least value by the largest. Each may be unasked.
template <class T, class R>
__device__ void measures(const T *a, s64 ld, u32 m, u32 n, const T *left, const R *s, double *residual, double *norm, double *rcond) {
    if (residual) {
        double v = frobenius(left, m, m, n);
        if (LANE == 0)
            *residual = v;
    }
    if (norm) {
        double v = frobenius(a, ld, m, n);
        if (LANE == 0)
            *norm = v;
    }
    if (rcond && LANE == 0)
        *rcond = s[0] == 0 ? 0 : (double)s[n - 1] / (double)s[0];
}

#define POLAR(name, T, R)                                                                                                      \
    KERNEL stretch_##name(const T *v, u32 n, const R *s, T *out) { stretch<T, R>(v, n, s, out); }                              \
    KERNEL measures_##name(const T *a, s64 ld, u32 m, u32 n, const T *left, const R *s, double *residual, double *norm,        \
                           double *rcond) {                                                                                    \
        measures<T, R>(a, ld, m, n, left, s, residual, norm, rcond);                                                           \
    }
POLAR(f32, float, float)
POLAR(f64, double, double)
POLAR(c32, c32, float)
POLAR(c64, c64, double)
