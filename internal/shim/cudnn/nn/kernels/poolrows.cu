// Pooling by rows, where indices fit 32 bits: a block has a plane of the result, its lanes one or several rows of it, and only what differs
// between lanes is computed for each. Axes are five, the first without a window; the host chooses which one the lanes walk. Results
// are those of pool.cu, sum by sum.
#include "layer.h"

struct Rows {
    int in[5], out[5], window[5], pad[5], stride[5], place[5];
    u32 mode, nan;
};
enum { P_MAX, P_AVERAGE_PADDED, P_AVERAGE };

// Lanes is where a lane is: rows below each other, as many as a warp holds.
struct Lanes {
    int span, per, row, at;
    INLINE Lanes(int length) : span(length < 32 ? length : 32), per(32 / span), row((int)LANE / span), at((int)LANE - row * span) {}
};

// A window's part in an axis.
struct Part {
    int from, to;
    INLINE Part(const Rows &p, int d, int i) : from(i * p.stride[d] - p.pad[d]), to(from + p.window[d]) {
        from = from < 0 ? 0 : from;
        to = to > p.in[d] ? p.in[d] : to;
    }
    INLINE int cells(const Rows &p, int d) const { return p.mode == P_AVERAGE_PADDED ? p.window[d] : to > from ? to - from : 0; }
};

struct Plane {
    int i[3];
    INLINE Plane(const int *dim) {
        u32 b = BLOCK_X, q = b / dim[2];
        i[2] = b - q * dim[2];
        i[0] = q / dim[1];
        i[1] = q - i[0] * dim[1];
    }
    INLINE s64 offset(const Strided &t) const { return i[0] * t.stride[0] + i[1] * t.stride[1] + i[2] * t.stride[2]; }
};

// better says that v takes the place of best: the first of equals stays. A NaN wins where it is to be propagated.
template <class A> INLINE bool better(A v, A best, u32 nan, bool none) { return v != v ? nan && best == best : none || v > best; }

// windows calls f for every element of the windows of a warp's lanes that is in the tensor: with its value and its place.
template <class A, class F> INLINE void windows(const Rows &p, const Strided &x, u32 type, const Plane &b, const Lanes &l, int i3, int i4, F f) {
    const int lane = l.row * p.stride[3] * (int)x.stride[3] + l.at * p.stride[4] * (int)x.stride[4];
    const int low3 = i3 * p.stride[3] - p.pad[3], low4 = i4 * p.stride[4] - p.pad[4];
    const int at3 = low3 + l.row * p.stride[3], at4 = low4 + l.at * p.stride[4];
    const Part u(p, 1, b.i[1]), v(p, 2, b.i[2]);
    for (int k1 = u.from; k1 < u.to; k1++)
        for (int k2 = v.from; k2 < v.to; k2++)
            for (int k3 = 0; k3 < p.window[3]; k3++)
                for (int k4 = 0; k4 < p.window[4]; k4++) {
                    s64 base = b.i[0] * x.stride[0] + k1 * x.stride[1] + k2 * x.stride[2] + (low3 + k3) * x.stride[3] + (low4 + k4) * x.stride[4];
                    if ((u32)(at3 + k3) < (u32)p.in[3] && (u32)(at4 + k4) < (u32)p.in[4])
                        f(As<A>::get(x.at, base + lane, type), k1 * p.place[1] + k2 * p.place[2] + (at3 + k3) * p.place[3] + (at4 + k4) * p.place[4]);
                }
}

template <class A> INLINE void forward(const Rows &p, const Scale &s, const Strided &x, u32 xType, const Strided &y, u32 yType) {
    const Lanes l(p.out[4]);
    const Plane b(p.out);
    const int lane = l.row * (int)y.stride[3] + l.at * (int)y.stride[4];
    for (int i4 = 0; i4 < p.out[4]; i4 += l.span)
        for (int i3 = BLOCK_Y * l.per; i3 < p.out[3]; i3 += BLOCKS_Y * l.per) {
            A sum = 0, most = -__builtin_inff();
            bool none = true;
            if (p.mode == P_MAX)
                windows<A>(p, x, xType, b, l, i3, i4, [&](A e, int) {
                    bool take = better(e, most, p.nan, none);
                    most = take ? e : most;
                    none = none && !take;
                });
            else
                windows<A>(p, x, xType, b, l, i3, i4, [&](A e, int) { sum += e; });
            if (l.row < l.per && i3 + l.row < p.out[3] && i4 + l.at < p.out[4]) {
                if (p.mode != P_MAX) {
                    int n = Part(p, 1, b.i[1]).cells(p, 1) * Part(p, 2, b.i[2]).cells(p, 2) * Part(p, 3, i3 + l.row).cells(p, 3) *
                            Part(p, 4, i4 + l.at).cells(p, 4);
                    most = n ? sum / (A)n : 0;
                }
                mix<A>(s, y.at, b.offset(y) + i3 * y.stride[3] + i4 * y.stride[4] + lane, yType, most);
            }
        }
}

// Which element of a window is its largest: its place, or -1.
template <class A> INLINE void largest(const Rows &p, const Strided &x, u32 xType, const Strided &where) {
    const Lanes l(p.out[4]);
    const Plane b(p.out);
    const int lane = l.row * (int)where.stride[3] + l.at * (int)where.stride[4];
    for (int i4 = 0; i4 < p.out[4]; i4 += l.span)
        for (int i3 = BLOCK_Y * l.per; i3 < p.out[3]; i3 += BLOCKS_Y * l.per) {
            A most = -__builtin_inff();
            int best = -1;
            windows<A>(p, x, xType, b, l, i3, i4, [&](A e, int place) {
                bool take = better(e, most, p.nan, best < 0);
                most = take ? e : most;
                best = take ? place : best;
            });
            if (l.row < l.per && i3 + l.row < p.out[3] && i4 + l.at < p.out[4])
                ((int *)where.at)[b.offset(where) + i3 * where.stride[3] + i4 * where.stride[4] + lane] = best;
        }
}

// Every element gathers from the windows that it is in, in the order of these.
template <class A> INLINE void backward(const Rows &p, const Scale &s, const Strided &dy, u32 dyType, const Strided &dx, u32 dxType,
                                         const Strided &where) {
    const Lanes l(p.in[4]);
    const Plane b(p.in);
    const int lane = l.row * (int)dx.stride[3] + l.at * (int)dx.stride[4];
    int from[3], to[3], many[5];
#pragma unroll
    for (int d = 1; d < 5; d++)
        many[d] = (p.window[d] + p.stride[d] - 1) / p.stride[d];
#pragma unroll
    for (int d = 1; d < 3; d++) {
        int e = b.i[d] + p.pad[d], f = e - p.window[d] + p.stride[d];
        from[d] = f < p.stride[d] ? 0 : f / p.stride[d];
        to[d] = e / p.stride[d] + 1;
        to[d] = to[d] > p.out[d] ? p.out[d] : to[d];
    }
    for (int i4 = 0; i4 < p.in[4]; i4 += l.span) {
        const int e4 = i4 + l.at + p.pad[4], q4 = e4 / p.stride[4];
        for (int i3 = BLOCK_Y * l.per; i3 < p.in[3]; i3 += BLOCKS_Y * l.per) {
            const int e3 = i3 + l.row + p.pad[3], q3 = e3 / p.stride[3];
            const int self = b.i[1] * p.place[1] + b.i[2] * p.place[2] + (i3 + l.row) * p.place[3] + (i4 + l.at) * p.place[4];
            const int laneY = q3 * (int)dy.stride[3] + q4 * (int)dy.stride[4], laneW = q3 * (int)where.stride[3] + q4 * (int)where.stride[4];
            A sum = 0;
            for (int o1 = from[1]; o1 < to[1]; o1++)
                for (int o2 = from[2]; o2 < to[2]; o2++)
                    for (int k3 = many[3] - 1; k3 >= 0; k3--)
                        for (int k4 = many[4] - 1; k4 >= 0; k4--) {
                            const int o3 = q3 - k3, o4 = q4 - k4;
                            if ((u32)o3 < (u32)p.out[3] && (u32)o4 < (u32)p.out[4] && o3 * p.stride[3] + p.window[3] > e3 &&
                                o4 * p.stride[4] + p.window[4] > e4) {
                                const s64 base = b.i[0] * dy.stride[0] + o1 * dy.stride[1] + o2 * dy.stride[2] - k3 * dy.stride[3] - k4 * dy.stride[4];
                                A g = As<A>::get(dy.at, base + laneY, dyType);
                                if (p.mode == P_MAX) {
                                    const s64 w = b.i[0] * where.stride[0] + o1 * where.stride[1] + o2 * where.stride[2] - k3 * where.stride[3] - k4 * where.stride[4];
                                    sum = ((const int *)where.at)[w + laneW] == self ? sum + g : sum;
                                } else {
                                    int n = Part(p, 1, o1).cells(p, 1) * Part(p, 2, o2).cells(p, 2) * Part(p, 3, o3).cells(p, 3) * Part(p, 4, o4).cells(p, 4);
                                    sum += g / (A)n;
                                }
                            }
                        }
            if (l.row < l.per && i3 + l.row < p.in[3] && i4 + l.at < p.in[4])
                mix<A>(s, dx.at, b.offset(dx) + i3 * dx.stride[3] + i4 * dx.stride[4] + lane, dxType, sum);
        }
    }
}

#define POOL(A, SUFFIX)                                                                                                                              \
    KERNEL poolRowsForward##SUFFIX(Rows p, Scale s, Strided x, Strided y, u32 xType, u32 yType) { forward<A>(p, s, x, xType, y, yType); }              \
    KERNEL poolRowsLargest##SUFFIX(Rows p, Strided x, Strided where, u32 xType) { largest<A>(p, x, xType, where); }                                       \
    KERNEL poolRowsBackward##SUFFIX(Rows p, Scale s, Strided dy, Strided dx, Strided where, u32 dyType, u32 dxType) {                               \
        backward<A>(p, s, dy, dyType, dx, dxType, where);                                                                                             \
    }
POOL(float, F32)
POOL(double, F64)
