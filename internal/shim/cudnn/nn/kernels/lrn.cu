// Local response normalization: y = x * (k + alpha/n * sum of squares in a window)^-beta. The window is over channels, or over the
// places of one channel; the squares may be of distances from a mean that belongs to the window.
#include "layer.h"

struct LRN {
    s64 dim[5];    // image, channel, places
    s64 before[5]; // how far a window goes: 0 in the dimensions that it does not span
    s64 after[5];
    double alpha, beta, k; // alpha is divided already
};

struct Place {
    s64 at[5];
};
INLINE Place split(u64 i, const LRN &l) {
    Place p;
#pragma unroll
    for (int d = 4; d >= 0; d--) {
        p.at[d] = i % l.dim[d];
        i /= l.dim[d];
    }
    return p;
}
INLINE s64 offset(const Strided &t, const Place &p) {
    s64 o = 0;
#pragma unroll
    for (int d = 0; d < 5; d++)
        o += p.at[d] * t.stride[d];
    return o;
}

template <class A> struct Input {
    Strided x, mean;
    u32 type;
    INLINE A at(const Place &p) const { return As<A>::get(x.at, offset(x, p), type); }
    INLINE A center(const Place &p) const { return mean.at ? As<A>::get(mean.at, offset(mean, p), type) : 0; }
};

// window calls f with every place of the window around p, or of those whose windows p is in.
template <class F> INLINE void window(const LRN &l, const Place &p, bool mirrored, F f) {
    s64 from[5], to[5];
#pragma unroll
    for (int d = 1; d < 5; d++) {
        from[d] = p.at[d] - (mirrored ? l.after[d] : l.before[d]);
        to[d] = p.at[d] + (mirrored ? l.before[d] : l.after[d]) + 1;
        from[d] = from[d] < 0 ? 0 : from[d];
        to[d] = to[d] > l.dim[d] ? l.dim[d] : to[d];
    }
    Place q;
    q.at[0] = p.at[0];
    for (q.at[1] = from[1]; q.at[1] < to[1]; q.at[1]++)
        for (q.at[2] = from[2]; q.at[2] < to[2]; q.at[2]++)
            for (q.at[3] = from[3]; q.at[3] < to[3]; q.at[3]++)
                for (q.at[4] = from[4]; q.at[4] < to[4]; q.at[4]++)
                    f(q);
}

template <class A> INLINE A energy(const LRN &l, const Input<A> &x, const Place &p) {
    A sum = 0, m = x.center(p);
    window(l, p, false, [&](const Place &q) {
        A v = x.at(q) - m;
        sum += v * v;
    });
    return (A)l.k + (A)l.alpha * sum;
}

template <class A> INLINE void forward(const LRN &l, const Scale &s, Input<A> x, const Strided &y, u32 yType, u64 count) {
    for (u64 i = FIRST; i < count; i += STEP) {
        Place p = split(i, l);
        mix<A>(s, y.at, offset(y, p), yType, x.at(p) * powOf(energy(l, x, p), -(A)l.beta));
    }
}

template <class A>
INLINE void backward(const LRN &l, const Scale &s, Input<A> x, const Strided &dy, const Strided &dx, const Strided &dmean, u32 dyType, u32 dxType, u64 count) {
    for (u64 i = FIRST; i < count; i += STEP) {
        Place p = split(i, l);
        A v = x.at(p), g = As<A>::get(dy.at, offset(dy, p), dyType), e = energy(l, x, p), f = 2 * (A)l.alpha * (A)l.beta, sum = 0;
        // An even window goes further to one side, so that its mirror image is what the gradient needs. Windows of places are not
        // mirrored: an H200 does not.
        window(l, p, l.after[1] != 0, [&](const Place &q) {
            sum += As<A>::get(dy.at, offset(dy, q), dyType) * x.at(q) * powOf(energy(l, x, q), -(A)l.beta - 1) * (v - x.center(q));
        });
        mix<A>(s, dx.at, offset(dx, p), dxType, g * powOf(e, -(A)l.beta) - f * sum);
        if (dmean.at) {
            A far = 0, m = x.center(p);
            window(l, p, false, [&](const Place &q) { far += x.at(q) - m; });
            mix<A>(s, dmean.at, offset(dmean, p), dxType, f * g * v * powOf(e, -(A)l.beta - 1) * far);
        }
    }
}

#define LRNS(A, SUFFIX)                                                                                                                       \
    KERNEL lrnForward##SUFFIX(LRN l, Scale s, Strided x, Strided mean, Strided y, u32 xType, u32 yType, u64 count) {                          \
        forward<A>(l, s, Input<A>{x, mean, xType}, y, yType, count);                                                                          \
    }                                                                                                                                         \
    KERNEL lrnBackward##SUFFIX(LRN l, Scale s, Strided x, Strided mean, Strided dy, Strided dx, Strided dmean, u32 xType, u32 dyType,         \
                               u32 dxType, u64 count) {                                                                                       \
        backward<A>(l, s, Input<A>{x, mean, xType}, dy, dx, dmean, dyType, dxType, count);                                                    \
    }
LRNS(float, F32)
LRNS(double, F64)
