// Pooling over at most three spatial dimensions, and its gradient.
#include "layer.h"

struct Pool {
    s64 n, c;
    s64 in[3], out[3], window[3], pad[3], stride[3];
    u32 mode, nan;
};
enum { P_MAX, P_AVERAGE_PADDED, P_AVERAGE };

// Where is an element: image, channel, place. The fastest index is the last.
INLINE void split(u64 i, const Pool &p, const s64 *dim, s64 *at) {
#pragma unroll
    for (int d = 2; d >= 0; d--) {
        at[2 + d] = i % dim[d];
        i /= dim[d];
    }
    at[1] = i % p.c;
    at[0] = i / p.c;
}

INLINE s64 offset(const Strided &t, const s64 *at) {
    s64 o = 0;
#pragma unroll
    for (int d = 0; d < 5; d++)
        o += at[d] * t.stride[d];
    return o;
}

// bounds are those of a window inside of the tensor.
struct Bounds {
    s64 from[3], to[3];
};
INLINE Bounds bounds(const Pool &p, const s64 *at) {
    Bounds b;
#pragma unroll
    for (int d = 0; d < 3; d++) {
        s64 f = at[2 + d] * p.stride[d] - p.pad[d], t = f + p.window[d];
        b.from[d] = f < 0 ? 0 : f;
        b.to[d] = t > p.in[d] ? p.in[d] : t;
    }
    return b;
}
INLINE s64 cells(const Pool &p, const Bounds &b) {
    s64 n = 1;
#pragma unroll
    for (int d = 0; d < 3; d++)
        n *= p.mode == P_AVERAGE_PADDED ? p.window[d] : b.to[d] > b.from[d] ? b.to[d] - b.from[d] : 0;
    return n;
}

// better says that v takes the place of best: the first of equals stays. A NaN wins where it is to be propagated.
template <class A> INLINE bool better(A v, A best, u32 nan, bool none) {
    if (v != v)
        return nan && best == best;
    return none || v > best;
}

template <class A> INLINE void forward(const Pool &p, const Scale &s, const Strided &x, u32 xType, const Strided &y, u32 yType, u64 count) {
    for (u64 i = FIRST; i < count; i += STEP) {
        s64 at[5];
        split(i, p, p.out, at);
        Bounds b = bounds(p, at);
        s64 base = at[0] * x.stride[0] + at[1] * x.stride[1];
        A sum = 0, most = -__builtin_inff();
        bool none = true;
        for (s64 u = b.from[0]; u < b.to[0]; u++)
            for (s64 v = b.from[1]; v < b.to[1]; v++)
                for (s64 w = b.from[2]; w < b.to[2]; w++) {
                    A e = As<A>::get(x.at, base + u * x.stride[2] + v * x.stride[3] + w * x.stride[4], xType);
                    sum += e;
                    if (better(e, most, p.nan, none)) {
                        most = e;
                        none = false;
                    }
                }
        s64 n = cells(p, b);
        mix<A>(s, y.at, offset(y, at), yType, p.mode == P_MAX ? most : n ? sum / (A)n : 0);
    }
}

// Which element of a window is its largest: the place in the tensor, or -1.
template <class A> INLINE void largest(const Pool &p, const Strided &x, u32 xType, s64 *where, u64 count) {
    for (u64 i = FIRST; i < count; i += STEP) {
        s64 at[5];
        split(i, p, p.out, at);
        Bounds b = bounds(p, at);
        s64 base = at[0] * x.stride[0] + at[1] * x.stride[1], best = -1;
        A most = -__builtin_inff();
        for (s64 u = b.from[0]; u < b.to[0]; u++)
            for (s64 v = b.from[1]; v < b.to[1]; v++)
                for (s64 w = b.from[2]; w < b.to[2]; w++) {
                    A e = As<A>::get(x.at, base + u * x.stride[2] + v * x.stride[3] + w * x.stride[4], xType);
                    if (better(e, most, p.nan, best < 0)) {
                        most = e;
                        best = (u * p.in[1] + v) * p.in[2] + w;
                    }
                }
        where[i] = best;
    }
}

// Every element gathers from the windows that it is in, in the order of these.
template <class A> INLINE void backward(const Pool &p, const Scale &s, const Strided &dy, u32 dyType, const Strided &dx, u32 dxType, const s64 *where, u64 count) {
    for (u64 i = FIRST; i < count; i += STEP) {
        s64 at[5], from[3], to[3];
        split(i, p, p.in, at);
        s64 self = (at[2] * p.in[1] + at[3]) * p.in[2] + at[4];
#pragma unroll
        for (int d = 0; d < 3; d++) {
            s64 e = at[2 + d] + p.pad[d], f = e - p.window[d] + p.stride[d];
            from[d] = f < p.stride[d] ? 0 : f / p.stride[d];
            to[d] = e / p.stride[d] + 1;
            if (e < 0)
                to[d] = 0;
            if (to[d] > p.out[d])
                to[d] = p.out[d];
        }
        A sum = 0;
        s64 o[5] = {at[0], at[1], 0, 0, 0};
        for (o[2] = from[0]; o[2] < to[0]; o[2]++)
            for (o[3] = from[1]; o[3] < to[1]; o[3]++)
                for (o[4] = from[2]; o[4] < to[2]; o[4]++) {
                    A g = As<A>::get(dy.at, offset(dy, o), dyType);
                    if (p.mode != P_MAX)
                        sum += g / (A)cells(p, bounds(p, o));
                    else if (where[(((o[0] * p.c + o[1]) * p.out[0] + o[2]) * p.out[1] + o[3]) * p.out[2] + o[4]] == self)
                        sum += g;
                }
        mix<A>(s, dx.at, offset(dx, at), dxType, sum);
    }
}

#define POOL(A, SUFFIX)                                                                                                                            \
    KERNEL poolForward##SUFFIX(Pool p, Scale s, Strided x, Strided y, u32 xType, u32 yType, u64 count) { forward<A>(p, s, x, xType, y, yType, count); } \
    KERNEL poolLargest##SUFFIX(Pool p, Strided x, s64 *where, u64 count, u32 xType) { largest<A>(p, x, xType, where, count); }                         \
    KERNEL poolBackward##SUFFIX(Pool p, Scale s, Strided dy, Strided dx, u32 dyType, u32 dxType, s64 *where, u64 count) {                              \
        backward<A>(p, s, dy, dyType, dx, dxType, where, count);                                                                                       \
    }
POOL(float, F32)
POOL(double, F64)
