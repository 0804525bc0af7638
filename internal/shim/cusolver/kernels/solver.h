// What the kernels of this folder share: a warp has a matrix or a panel, its lanes rows.
#pragma once
#include "../../cublas/kernels/aligned.h"
#include "../../cublas/kernels/device.h"

#define SYNC __nvvm_bar_warp_sync(~0u)

// What is passed complex numbers or structures must be inlined: a call passes them through local memory, after which nothing is
// known to be the same in all lanes, and rows are gathered.

template <class T> struct Real {
    typedef T type;
};
template <> struct Real<c32> {
    typedef float type;
};
template <> struct Real<c64> {
    typedef double type;
};

__device__ inline float root(float a) { return __builtin_sqrtf(a); }
__device__ inline double root(double a) { return __builtin_sqrt(a); }
__device__ inline float size(float a) { return __builtin_fabsf(a); }
__device__ inline double size(double a) { return __builtin_fabs(a); }

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

// Told is what a Jacobi method did, for the parameters that the host asks later.
struct Told {
    double residual;
    int sweeps, unused;
};

// norm2 is |a|².
template <class T> __device__ inline typename Real<T>::type norm2(T a) { return re(a) * re(a) + im(a) * im(a); }

__device__ inline float epsilon(float) { return 0x1p-24f; }
__device__ inline double epsilon(double) { return 0x1p-53; }
__device__ inline float least(float) { return 0x1p-126f; }
__device__ inline double least(double) { return 0x1p-1022; }

template <class T> __device__ inline T one() {
    T v;
    set(&v, 1, 0);
    return v;
}

template <class T> __device__ inline T warpSum(T v) {
#pragma unroll
    for (int d = 16; d; d >>= 1)
        v = add(v, other(v, d));
    return v;
}

// warpMax keeps a NaN.
template <class R> __device__ inline R warpMax(R v) {
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        R o = other(v, d);
        v = o > v || o != o ? o : v;
    }
    return v;
}

__device__ inline bool kept(float sum) { return sum > 0x1p-100f; }
__device__ inline bool kept(double sum) { return sum > 0x1p-960; }

// hypotenuse is the root of f² + g², also where squares lose digits; 0 if 1 by it might overflow.
template <class R> __device__ inline R hypotenuse(R f, R g) {
    R sum = f * f + g * g;
    if (kept(sum))
        return root(sum);
    R a = size(f), b = size(g), m = a > b ? a : b;
    if (m < 4 * least(R(0)))
        return 0;
    a /= m;
    b /= m;
    return m * root(a * a + b * b);
}

// mirror is the reflection I - tau v v' that leaves nothing of a column below its first element: v lies there afterwards, its
// first element, which is 1, giving way to what is left of the column. Sums are of numbers scaled by the largest.
template <class T> __device__ __attribute__((always_inline)) T mirror(T *x, u32 n) {
    typedef typename Real<T>::type R;
    R largest = 0;
    for (u32 i = LANE; i < n; i += 32) {
        R s = size1(x[i]);
        largest = s > largest || s != s ? s : largest;
    }
    largest = warpMax(largest);
    R below = 0;
    T head = x[0], tau = {};
    if (largest != 0) {
        for (u32 i = 1 + LANE; i < n; i += 32) {
            R r = re(x[i]) / largest, q = im(x[i]) / largest;
            below += r * r + q * q;
        }
        below = warpSum(below);
    }
    if (below == 0 && im(head) == 0) // nothing to take away
        return tau;
    R r = re(head) / largest, q = im(head) / largest, b = root(r * r + q * q + below); // of scaled numbers
    b = re(head) >= 0 ? -b : b;
    R beta = largest * b;
    make(&tau, (b - r) / b, -q / b);
    bool subnormal = largest < 4 * least(R(0)); // beta has few digits then
    T left;
    make(&left, subnormal ? r - b : re(head) - beta, subnormal ? q : im(head));
    T scale = div(one<T>(), left);
    SYNC;
    for (u32 i = 1 + LANE; i < n; i += 32) {
        T v = x[i];
        if (subnormal)
            make(&v, re(v) / largest, im(v) / largest);
        x[i] = mul(v, scale);
    }
    if (LANE == 0)
        make(x, beta, 0);
    SYNC;
    return tau;
}

// reflect applies I - tau v v' to other columns; v[0] is 1 whatever lies there.
template <class T> __device__ __attribute__((always_inline)) void reflect(const T *v, u32 n, T tau, T *c, s64 ld, u32 count) {
    if (zero(tau))
        return;
    for (u32 j = 0; j < count; j++) {
        T *x = c + (s64)j * ld;
        T w = {};
        for (u32 i = LANE; i < n; i += 32)
            w = i == 0 ? add(w, x[0]) : fma(conj(v[i]), x[i], w);
        w = mul(tau, warpSum(w));
        for (u32 i = LANE; i < n; i += 32)
            x[i] = sub(x[i], i == 0 ? w : mul(v[i], w));
    }
    SYNC;
}
