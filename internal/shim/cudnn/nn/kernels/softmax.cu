// Softmax over rows and its gradient. A row is the elements that are summed; rows lie one beside another in any way.
#include "layer.h"

enum { S_FAST, S_ACCURATE, S_LOG };

// Row walks a row: one warp with a lane an element, or one thread.
template <class A> struct Row {
    const Sizes &inner;
    s64 first, step;
    bool warp;
    INLINE A sum(A v) const { return warp ? warpSum(v) : v; }
    INLINE A max(A v) const { return warp ? warpMax(v) : v; }
};

INLINE s64 inside(const Sizes &s, const Strided &t, u64 i) {
    if (s.rank == 1)
        return (s64)i * t.stride[0];
    const Strided *ts[1] = {&t};
    s64 off[1];
    place<1>(s, i, ts, off);
    return off[0];
}

// Tensors come twice: with the strides between rows, and with those of a row.
struct Rows {
    Sizes outer, inner;
    u64 rows, length;
    u32 algo, warp;
    Scale s;
};

template <class A> INLINE void forward(const Rows &r, const Strided &x, const Strided &xIn, u32 xType, const Strided &y, const Strided &yIn, u32 yType) {
    u64 first = r.warp ? BLOCK_X : FIRST, step = r.warp ? BLOCKS_X : STEP;
    for (u64 row = first; row < r.rows; row += step) {
        Row<A> w = {r.inner, r.warp ? (s64)LANE : 0, r.warp ? 32 : 1, r.warp != 0};
        u64 from = x.at, to = y.at;
        s64 xo = inside(r.outer, x, row), yo = inside(r.outer, y, row);
        A top = 0;
        if (r.algo != S_FAST) {
            top = -__builtin_inff();
            for (s64 i = w.first; i < (s64)r.length; i += w.step) {
                A v = As<A>::get(from, xo + inside(r.inner, xIn, i), xType);
                top = v > top || v != v ? v : top;
            }
            top = w.max(top);
        }
        A sum = 0;
        for (s64 i = w.first; i < (s64)r.length; i += w.step)
            sum += expOf(As<A>::get(from, xo + inside(r.inner, xIn, i), xType) - top);
        sum = w.sum(sum);
        A log = logOf(sum), inverse = 1 / sum;
        for (s64 i = w.first; i < (s64)r.length; i += w.step) {
            A v = As<A>::get(from, xo + inside(r.inner, xIn, i), xType) - top;
            mix<A>(r.s, to, yo + inside(r.inner, yIn, i), yType, r.algo == S_LOG ? v - log : expOf(v) * inverse);
        }
    }
}

template <class A> INLINE void backward(const Rows &r, const Strided &y, const Strided &yIn, const Strided &dy, const Strided &dyIn, const Strided &dx, const Strided &dxIn, u32 yType, u32 dyType, u32 dxType) {
    u64 first = r.warp ? BLOCK_X : FIRST, step = r.warp ? BLOCKS_X : STEP;
    for (u64 row = first; row < r.rows; row += step) {
        Row<A> w = {r.inner, r.warp ? (s64)LANE : 0, r.warp ? 32 : 1, r.warp != 0};
        s64 yo = inside(r.outer, y, row), go = inside(r.outer, dy, row), xo = inside(r.outer, dx, row);
        A sum = 0;
        for (s64 i = w.first; i < (s64)r.length; i += w.step) {
            A g = As<A>::get(dy.at, go + inside(r.inner, dyIn, i), dyType);
            sum += r.algo == S_LOG ? g : g * As<A>::get(y.at, yo + inside(r.inner, yIn, i), yType);
        }
        sum = w.sum(sum);
        for (s64 i = w.first; i < (s64)r.length; i += w.step) {
            A g = As<A>::get(dy.at, go + inside(r.inner, dyIn, i), dyType), v = As<A>::get(y.at, yo + inside(r.inner, yIn, i), yType);
            mix<A>(r.s, dx.at, xo + inside(r.inner, dxIn, i), dxType, r.algo == S_LOG ? g - expOf(v) * sum : v * (g - sum));
        }
    }
}

// each calls f with every element of a row whose elements are neighbours: all lanes, then those that are left.
template <class F> INLINE void each(u32 n, F f) {
    u32 whole = n & ~31u;
#pragma unroll 2
    for (u32 i = 0; i < whole; i += 32)
        f(i + LANE);
    if (LANE < n - whole)
        f(whole + LANE);
    SYNC;
}

template <class T> INLINE void leaveNear(const Scale &s, T *p, float v) {
    v = (float)s.alpha * v;
    if (s.beta != 0)
        v += (float)s.beta * load(p);
    store(p, v);
}

// nearForward is forward where the elements of a row are neighbours, of one type.
template <class T> INLINE void nearForward(const Rows &r, const Strided &x, const Strided &y) {
    u32 n = (u32)r.length;
    for (u64 row = BLOCK_X; row < r.rows; row += BLOCKS_X) {
        const T *p = (const T *)x.at + inside(r.outer, x, row);
        T *q = (T *)y.at + inside(r.outer, y, row);
        float top = 0, sum = 0;
        if (r.algo != S_FAST) {
            top = -__builtin_inff();
            each(n, [&](u32 i) {
                float v = load(p + i);
                top = v > top || v != v ? v : top;
            });
            top = warpMax(top);
        }
        each(n, [&](u32 i) { sum += expOf(load(p + i) - top); });
        sum = warpSum(sum);
        float log = logOf(sum), inverse = 1 / sum;
        if (r.algo == S_LOG)
            each(n, [&](u32 i) { leaveNear(r.s, q + i, load(p + i) - top - log); });
        else
            each(n, [&](u32 i) { leaveNear(r.s, q + i, expOf(load(p + i) - top) * inverse); });
    }
}

template <class T> INLINE void nearBackward(const Rows &r, const Strided &y, const Strided &dy, const Strided &dx) {
    u32 n = (u32)r.length;
    for (u64 row = BLOCK_X; row < r.rows; row += BLOCKS_X) {
        const T *p = (const T *)y.at + inside(r.outer, y, row), *g = (const T *)dy.at + inside(r.outer, dy, row);
        T *q = (T *)dx.at + inside(r.outer, dx, row);
        float sum = 0;
        if (r.algo == S_LOG)
            each(n, [&](u32 i) { sum += load(g + i); });
        else
            each(n, [&](u32 i) { sum += load(g + i) * load(p + i); });
        sum = warpSum(sum);
        if (r.algo == S_LOG)
            each(n, [&](u32 i) { leaveNear(r.s, q + i, load(g + i) - expOf(load(p + i)) * sum); });
        else
            each(n, [&](u32 i) { leaveNear(r.s, q + i, load(p + i) * (load(g + i) - sum)); });
    }
}

#define NEIGHBOURS(name, T)                                                                                                       \
    KERNEL softmaxForward_##name(Rows r, Strided x, Strided xIn, Strided y, Strided yIn) { nearForward<T>(r, x, y); }             \
    KERNEL softmaxBackward_##name(Rows r, Strided y, Strided yIn, Strided dy, Strided dyIn, Strided dx, Strided dxIn) {           \
        nearBackward<T>(r, y, dy, dx);                                                                                            \
    }
NEIGHBOURS(f32, float)
NEIGHBOURS(f16, f16)
NEIGHBOURS(bf16, bf16)

#define SOFTMAX(A, SUFFIX)                                                                                                        \
    KERNEL softmaxForward##SUFFIX(Rows r, Strided x, Strided xIn, Strided y, Strided yIn, u32 xType, u32 yType) {                 \
        forward<A>(r, x, xIn, xType, y, yIn, yType);                                                                              \
    }                                                                                                                             \
    KERNEL softmaxBackward##SUFFIX(Rows r, Strided y, Strided yIn, Strided dy, Strided dyIn, Strided dx, Strided dxIn, u32 yType, \
                                   u32 dyType, u32 dxType) {                                                                      \
        backward<A>(r, y, yIn, dy, dyIn, dx, dxIn, yType, dyType, dxType);                                                        \
    }
SOFTMAX(float, F32)
SOFTMAX(double, F64)
