// Many small matrices: QR, and least squares by it. A warp has a matrix, its lanes rows.
#include "device.h"

#define SYNC __nvvm_bar_warp_sync(~0u)

__device__ inline float root(float a) { return __builtin_sqrtf(a); }
__device__ inline double root(double a) { return __builtin_sqrt(a); }

__device__ inline float re(float a) { return a; }
__device__ inline double re(double a) { return a; }
__device__ inline float re(c32 a) { return a.re; }
__device__ inline double re(c64 a) { return a.re; }
__device__ inline float im(float) { return 0; }
__device__ inline double im(double) { return 0; }
__device__ inline float im(c32 a) { return a.im; }
__device__ inline double im(c64 a) { return a.im; }

__device__ inline float times(float a, float b) { return a * b; }
__device__ inline double times(double a, double b) { return a * b; }
__device__ inline c32 times(c32 a, float b) { return {a.re * b, a.im * b}; }
__device__ inline c64 times(c64 a, double b) { return {a.re * b, a.im * b}; }

__device__ inline void make(float *p, float re, float) { *p = re; }
__device__ inline void make(double *p, double re, double) { *p = re; }
__device__ inline void make(c32 *p, float re, float im) { *p = {re, im}; }
__device__ inline void make(c64 *p, double re, double im) { *p = {re, im}; }

template <class T> __device__ inline T warpSum(T v) {
#pragma unroll
    for (int d = 16; d; d >>= 1)
        v = add(v, other(v, d));
    return v;
}

// mirror is the reflection I - tau v v' that leaves nothing of a column below its first element: v lies there afterwards, its
// first element, which is 1, giving way to what is left of the column. Sums are of numbers scaled by the largest.
template <class T> __device__ T mirror(T *x, u32 n) {
    auto largest = size1(T{});
    for (u32 i = LANE; i < n; i += 32) {
        auto s = size1(x[i]);
        largest = s > largest || s != s ? s : largest;
    }
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        auto o = other(largest, d);
        largest = o > largest || o != o ? o : largest;
    }
    auto below = largest * 0;
    T head = x[0], tau = {};
    if (largest != 0) {
        for (u32 i = 1 + LANE; i < n; i += 32) {
            auto r = re(x[i]) / largest, q = im(x[i]) / largest;
            below += r * r + q * q;
        }
        below = warpSum(below);
    }
    if (below == 0 && im(head) == 0) // nothing to take away
        return tau;
    auto r = re(head) / largest, q = im(head) / largest;
    auto beta = largest * root(r * r + q * q + below);
    if (re(head) >= 0)
        beta = -beta;
    make(&tau, (beta - re(head)) / beta, -im(head) / beta);
    T one, scale;
    set(&one, 1, 0);
    T left;
    make(&left, re(head) - beta, im(head));
    scale = div(one, left);
    SYNC;
    for (u32 i = 1 + LANE; i < n; i += 32)
        x[i] = mul(x[i], scale);
    if (LANE == 0)
        make(x, beta, 0);
    SYNC;
    return tau;
}

// reflect applies it, with the conjugate of tau, to other columns.
template <class T> __device__ void reflect(const T *v, u32 n, T tau, T *c, s64 ld, u32 count) {
    if (zero(tau))
        return;
    for (u32 j = 0; j < count; j++) {
        T *x = c + (s64)j * ld;
        T w = {};
        for (u32 i = LANE; i < n; i += 32)
            w = add(w, i == 0 ? x[0] : mul(conj(v[i]), x[i]));
        w = mul(conj(tau), warpSum(w));
        for (u32 i = LANE; i < n; i += 32)
            x[i] = sub(x[i], i == 0 ? w : mul(v[i], w));
    }
    SYNC;
}

// qr factors a, keeps the taus if there is a place, and takes c along.
template <class T> __device__ void qr(T *a, s64 ld, u32 m, u32 n, T *taus, T *c, s64 ldc, u32 count) {
    for (u32 k = 0; k < m && k < n; k++) {
        T *x = a + (s64)k * (ld + 1);
        T tau = mirror(x, m - k);
        if (taus && LANE == 0)
            taus[k] = tau;
        reflect(x, m - k, tau, x + ld, ld, n - 1 - k);
        reflect(x, m - k, tau, c + k, ldc, count);
    }
}

// gels is min |C - A X| for m >= n: X lies in the first rows of C. A zero on the diagonal of R is told.
template <class T> __device__ void gels(T **list, s64 ld, u32 m, u32 n, T **right, s64 ldc, u32 count, int *info) {
    T *a = list[BLOCK_X], *c = right[BLOCK_X];
    qr(a, ld, m, n, (T *)0, c, ldc, count);
    SYNC;
    u32 bad = 0;
    for (u32 k = n; k-- > 0;)
        if (zero(a[(s64)k * (ld + 1)]))
            bad = k + 1;
    if (info && LANE == 0)
        info[BLOCK_X] = (int)bad;
    if (bad)
        return;
    for (u32 j = LANE; j < count; j += 32) {
        T *x = c + (s64)j * ldc;
        for (u32 k = n; k-- > 0;) {
            T v = div(x[k], a[(s64)k * (ld + 1)]);
            x[k] = v;
            for (u32 i = 0; i < k; i++)
                x[i] = sub(x[i], mul(a[(s64)k * ld + i], v));
        }
    }
}

#define QR(name, T)                                                                                                            \
    KERNEL geqrf_##name(T **list, s64 ld, u32 m, u32 n, T **taus) {                                                            \
        qr<T>(list[BLOCK_X], ld, m, n, taus[BLOCK_X], (T *)0, 0, 0);                                                           \
    }                                                                                                                          \
    KERNEL gels_##name(T **list, s64 ld, u32 m, u32 n, T **right, s64 ldc, u32 count, int *info) {                             \
        gels<T>(list, ld, m, n, right, ldc, count, info);                                                                      \
    }
QR(f32, float)
QR(f64, double)
QR(c32, c32)
QR(c64, c64)
