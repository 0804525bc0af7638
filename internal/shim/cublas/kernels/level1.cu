// Vectors: y = alpha x + y and its like element by element, and sums over a vector in two steps whose order depends on
// nothing but the length, so that a result is the same every time.
#include "device.h"

#define EACH(i, n) for (u64 i = (u64)BLOCK_X * THREADS_X + LANE; i < (n); i += (u64)BLOCKS_X * THREADS_X)

// The compiler knows that neighbours lie together only where the increment is written as 1.
#define UNIT2(x, y) ((x).inc == 1 && (y).inc == 1)

template <class T, class W> __device__ void axpy(Vec x, Vec y, Scalar salpha, u64 n) {
    W alpha = value<W>(salpha);
    if (zero(alpha)) // x must not be looked at
        return;
    if (UNIT2(x, y)) {
        const T *px = (const T *)x.base;
        T *py = (T *)y.base;
        EACH(i, n) store(py + i, fma(alpha, load(px + i), load(py + i)));
        return;
    }
    EACH(i, n) store(at<T>(y, i), fma(alpha, load(at<const T>(x, i)), load(at<T>(y, i))));
}

template <class T, class W> __device__ void scal(Vec x, Scalar salpha, u64 n) {
    W alpha = value<W>(salpha);
    if (x.inc == 1) {
        T *p = (T *)x.base;
        EACH(i, n) store(p + i, mul(alpha, load(p + i)));
        return;
    }
    EACH(i, n) store(at<T>(x, i), mul(alpha, load(at<T>(x, i))));
}

// scalr scales complex numbers by a real one: an infinite part must not meet a zero.
template <class T, class R> __device__ void scalr(Vec x, Scalar salpha, u64 n) {
    R alpha = value<R>(salpha);
    EACH(i, n) {
        T *p = at<T>(x, i), v = *p;
        *p = {alpha * v.re, alpha * v.im};
    }
}

template <class T> __device__ void copy(Vec x, Vec y, u64 n) {
    if (UNIT2(x, y)) {
        const T *px = (const T *)x.base;
        T *py = (T *)y.base;
        EACH(i, n) py[i] = px[i];
        return;
    }
    EACH(i, n) *at<T>(y, i) = *at<const T>(x, i);
}

template <class T> __device__ void swap(Vec x, Vec y, u64 n) {
    EACH(i, n) {
        T *p = at<T>(x, i), *q = at<T>(y, i);
        T v = *p;
        *p = *q;
        *q = v;
    }
}

// rot turns every pair: x = c x + s y, y = c y - conj(s) x. c is real.
template <class T, class R> __device__ void rot(Vec x, Vec y, Scalar sc, Scalar ss, u64 n) {
    R c = value<R>(sc);
    T s = value<T>(ss), neg = sub(T{}, conj(s));
    T cc;
    set(&cc, c, 0);
    EACH(i, n) {
        T *p = at<T>(x, i), *q = at<T>(y, i);
        T a = *p, b = *q;
        *p = fma(s, b, mul(cc, a));
        *q = fma(neg, a, mul(cc, b));
    }
}

// rotr is rot with a real s, for complex vectors.
template <class T, class R> __device__ void rotr(Vec x, Vec y, Scalar sc, Scalar ss, u64 n) {
    R c = value<R>(sc), s = value<R>(ss);
    EACH(i, n) {
        T *p = at<T>(x, i), *q = at<T>(y, i);
        T a = *p, b = *q;
        *p = {c * a.re + s * b.re, c * a.im + s * b.im};
        *q = {c * b.re - s * a.re, c * b.im - s * a.im};
    }
}

#define ELEMENTWISE(name, T, W)                                                                                                \
    KERNEL axpy_##name(Vec x, Vec y, Scalar alpha, u64 n) { axpy<T, W>(x, y, alpha, n); }                                      \
    KERNEL scal_##name(Vec x, Scalar alpha, u64 n) { scal<T, W>(x, alpha, n); }
ELEMENTWISE(f32, float, float)
ELEMENTWISE(f64, double, double)
ELEMENTWISE(f16, f16, float)
ELEMENTWISE(bf16, bf16, float)
ELEMENTWISE(c32, c32, c32)
ELEMENTWISE(c64, c64, c64)

KERNEL scalr_c32(Vec x, Scalar alpha, u64 n) { scalr<c32, float>(x, alpha, n); }
KERNEL scalr_c64(Vec x, Scalar alpha, u64 n) { scalr<c64, double>(x, alpha, n); }

#define MOVES(name, T)                                                                                                         \
    KERNEL copy_##name(Vec x, Vec y, u64 n) { copy<T>(x, y, n); }                                                              \
    KERNEL swap_##name(Vec x, Vec y, u64 n) { swap<T>(x, y, n); }
MOVES(f32, float)
MOVES(f64, double)
MOVES(f16, u16)
MOVES(bf16, u16)
MOVES(c32, c32)
MOVES(c64, c64)

#define ROT(name, T, R)                                                                                                        \
    KERNEL rot_##name(Vec x, Vec y, Scalar c, Scalar s, u64 n) { rot<T, R>(x, y, c, s, n); }
ROT(f32, float, float)
ROT(f64, double, double)
ROT(c32, c32, float)
ROT(c64, c64, double)

KERNEL rotr_c32(Vec x, Vec y, Scalar c, Scalar s, u64 n) { rotr<c32, float>(x, y, c, s, n); }
KERNEL rotr_c64(Vec x, Vec y, Scalar c, Scalar s, u64 n) { rotr<c64, double>(x, y, c, s, n); }

// ---- sums

__device__ inline float join(float a, float b) { return a + b; }
__device__ inline double join(double a, double b) { return a + b; }
__device__ inline c32 join(c32 a, c32 b) { return add(a, b); }
__device__ inline c64 join(c64 a, c64 b) { return add(a, b); }

// Squares keeps squares of f64 in three ranges, so that none overflows or vanishes: numbers above BIG are scaled down
// before they are squared, those below SMALL up.
struct Squares {
    double small, mid, big;
};
__device__ inline Squares join(Squares a, Squares b) { return {a.small + b.small, a.mid + b.mid, a.big + b.big}; }

#define SMALL 0x1p-511
#define BIG 0x1p486
#define UP 0x1p537
#define DOWN 0x1p-538

__device__ inline void square(double &a, float v) { a += (double)v * (double)v; } // no square of an f32 overflows an f64
__device__ inline void square(double &a, c32 v) { square(a, v.re), square(a, v.im); }
__device__ inline void square(Squares &a, double v) {
    double s = __builtin_fabs(v);
    if (s > BIG)
        a.big += s * DOWN * (s * DOWN);
    else if (s < SMALL)
        a.small += s * UP * (s * UP);
    else // NaN too
        a.mid += s * s;
}
__device__ inline void square(Squares &a, c64 v) { square(a, v.re), square(a, v.im); }

__device__ inline double root(double a) { return __builtin_sqrt(a); }
__device__ inline double root(Squares a) {
    if (a.big > 0 || a.big != a.big) {
        if (a.mid > 0 || a.mid != a.mid)
            a.big += a.mid * DOWN * DOWN;
        return __builtin_sqrt(a.big) / DOWN;
    }
    if (a.small > 0 && a.mid == 0)
        return __builtin_sqrt(a.small) / UP;
    return __builtin_sqrt(a.mid + a.small / UP / UP);
}

// Best is the largest (or smallest) element so far; the first one where several are equal. NaN is never better.
struct Best {
    double size;
    u64 index; // 0: none
};
__device__ inline Best join(Best a, Best b) {
    if (!b.index)
        return a;
    if (!a.index || b.size > a.size || (b.size == a.size && b.index < a.index))
        return b;
    return a;
}

// across is the sum over the warp, in all lanes.
template <class A> __device__ inline A across(A a) {
#pragma unroll
    for (int d = 16; d; d >>= 1)
        a = join(a, other(a, d));
    return a;
}

// over takes one block's part of a vector, four sums a lane.
template <class A, class Step> __device__ inline A over(u64 n, u64 per, Step step) {
    u64 lo = BLOCK_X * per, hi = lo + per < n ? lo + per : n;
    A a[4] = {};
    u64 i = lo + LANE;
    for (; i + 96 < hi; i += 128) {
        step(a[0], i);
        step(a[1], i + 32);
        step(a[2], i + 64);
        step(a[3], i + 96);
    }
    for (; i < hi; i += 32)
        step(a[0], i);
    return across(join(join(a[0], a[1]), join(a[2], a[3])));
}

// rest joins what the blocks left.
template <class A> __device__ inline A rest(u64 in, u32 count) {
    A a = {};
    for (u32 i = LANE; i < count; i += 32)
        a = join(a, ((const A *)in)[i]);
    return across(a);
}

template <class A> __device__ inline void leave(u64 out, A a) {
    if (LANE == 0)
        ((A *)out)[BLOCK_X] = a;
}

template <class T, class W> __device__ void dot(Vec x, Vec y, u64 n, u64 per, u64 out, u32 conjugate) {
    if (UNIT2(x, y) && !conjugate) {
        const T *px = (const T *)x.base, *py = (const T *)y.base;
        leave(out, over<W>(n, per, [=](W &a, u64 i) { a = fma(load(px + i), load(py + i), a); }));
        return;
    }
    leave(out, over<W>(n, per, [=](W &a, u64 i) {
              W v = load(at<const T>(x, i));
              a = fma(conjugate ? conj(v) : v, load(at<const T>(y, i)), a);
          }));
}

#define DOT(name, T, W)                                                                                                        \
    KERNEL dot_##name(Vec x, Vec y, u64 n, u64 per, u64 out, u32 conjugate) { dot<T, W>(x, y, n, per, out, conjugate); }       \
    KERNEL dotend_##name(u64 in, u32 count, u64 out) {                                                                         \
        W v = rest<W>(in, count);                                                                                              \
        if (LANE == 0)                                                                                                         \
            store((T *)out, v);                                                                                                \
    }
DOT(f32, float, float)
DOT(f64, double, double)
DOT(f16, f16, float)
DOT(bf16, bf16, float)
DOT(c32, c32, c32)
DOT(c64, c64, c64)

template <class T, class R> __device__ void asum(Vec x, u64 n, u64 per, u64 out) {
    if (x.inc == 1) {
        const T *p = (const T *)x.base;
        leave(out, over<R>(n, per, [=](R &a, u64 i) { a += size1(load(p + i)); }));
        return;
    }
    leave(out, over<R>(n, per, [=](R &a, u64 i) { a += size1(load(at<const T>(x, i))); }));
}

// nrm2's results have the type of x's parts; A is what squares are kept in.
template <class T, class A> __device__ void nrm2(Vec x, u64 n, u64 per, u64 out) {
    if (x.inc == 1) {
        const T *p = (const T *)x.base;
        leave(out, over<A>(n, per, [=](A &a, u64 i) { square(a, load(p + i)); }));
        return;
    }
    leave(out, over<A>(n, per, [=](A &a, u64 i) { square(a, load(at<const T>(x, i))); }));
}

#define NORMS(name, T, R, A)                                                                                                   \
    KERNEL nrm2_##name(Vec x, u64 n, u64 per, u64 out) { nrm2<T, A>(x, n, per, out); }                                         \
    KERNEL nrm2end_##name(u64 in, u32 count, u64 out) {                                                                        \
        A v = rest<A>(in, count);                                                                                              \
        if (LANE == 0)                                                                                                         \
            store((R *)out, root(v));                                                                                          \
    }
NORMS(f32, float, float, double)
NORMS(f64, double, double, Squares)
NORMS(f16, f16, f16, double)
NORMS(bf16, bf16, bf16, double)
NORMS(c32, c32, float, double)
NORMS(c64, c64, double, Squares)

#define SIZES(name, T, R, W)                                                                                                   \
    KERNEL asum_##name(Vec x, u64 n, u64 per, u64 out) { asum<T, W>(x, n, per, out); }                                         \
    KERNEL asumend_##name(u64 in, u32 count, u64 out) {                                                                        \
        W v = rest<W>(in, count);                                                                                              \
        if (LANE == 0)                                                                                                         \
            store((R *)out, v);                                                                                                \
    }                                                                                                                          \
    KERNEL best_##name(Vec x, u64 n, u64 per, u64 out, u32 least) {                                                            \
        leave(out, over<Best>(n, per, [=](Best &a, u64 i) {                                                                    \
                  double s = size1(load(at<const T>(x, i)));                                                                   \
                  if (s == s)                                                                                                  \
                      a = join(a, Best{least ? -s : s, i + 1});                                                                \
              }));                                                                                                             \
    }
SIZES(f32, float, float, float)
SIZES(f64, double, double, double)
SIZES(f16, f16, f16, float)
SIZES(bf16, bf16, bf16, float)
SIZES(c32, c32, float, float)
SIZES(c64, c64, double, double)

// bestend writes an index counted from 1, of 4 or 8 bytes; 1 where every element is NaN.
KERNEL bestend(u64 in, u32 count, u64 out, u32 wide) {
    Best b = rest<Best>(in, count);
    if (LANE != 0)
        return;
    u64 i = b.index ? b.index : 1;
    if (wide)
        *(u64 *)out = i;
    else
        *(u32 *)out = (u32)i;
}
