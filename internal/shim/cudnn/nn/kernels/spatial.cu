// Spatial transformers of images: a grid of places, from -1 to 1 over an image, made of an affine map a sample, and the image read at
// these places, bilinear, 0 outside.
#include "layer.h"

struct Image {
    s64 n, c, h, w;    // of the result
    s64 inH, inW;      // of the image that is read
    u32 type, unused;
};

template <class A> INLINE A along(s64 i, s64 n) { return n > 1 ? -1 + 2 * (A)i / (A)(n - 1) : -1; }

template <class A> INLINE void gridForward(const Image &m, u64 theta, u64 grid) {
    for (u64 i = FIRST; i < (u64)(m.n * m.h * m.w); i += STEP) {
        s64 n = i / (m.h * m.w);
        A x = along<A>(i % m.w, m.w), y = along<A>(i / m.w % m.h, m.h);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            s64 at = n * 6 + k * 3;
            As<A>::put(grid, 2 * i + k, m.type, As<A>::get(theta, at, m.type) * x + As<A>::get(theta, at + 1, m.type) * y + As<A>::get(theta, at + 2, m.type));
        }
    }
}

// A warp has one number of a map.
template <class A> INLINE void gridBackward(const Image &m, u64 dgrid, u64 dtheta) {
    for (u64 i = BLOCK_X; i < (u64)m.n * 6; i += BLOCKS_X) {
        s64 n = i / 6, k = i % 6 / 3, by = i % 3;
        A sum = 0;
        for (s64 p = LANE; p < m.h * m.w; p += 32) {
            A f = by == 0 ? along<A>(p % m.w, m.w) : by == 1 ? along<A>(p / m.w, m.h) : 1;
            sum += f * As<A>::get(dgrid, 2 * (n * m.h * m.w + p) + k, m.type);
        }
        sum = warpSum(sum);
        if (LANE == 0)
            As<A>::put(dtheta, i, m.type, sum);
    }
}

// Corner is one of the four pixels around a place: where, and how much of it.
template <class A> struct Place {
    A x, y;
    s64 left, top;
};
template <class A> INLINE Place<A> place(const Image &m, u64 grid, s64 i) {
    Place<A> p;
    A x = (As<A>::get(grid, 2 * i, m.type) + 1) * (A)(m.inW - 1) / 2, y = (As<A>::get(grid, 2 * i + 1, m.type) + 1) * (A)(m.inH - 1) / 2;
    A fx = __builtin_floor((double)x), fy = __builtin_floor((double)y);
    p.x = x - fx;
    p.y = y - fy;
    p.left = fx > -2 && fx < (A)m.inW ? (s64)fx : -2; // far outside is outside
    p.top = fy > -2 && fy < (A)m.inH ? (s64)fy : -2;
    return p;
}
template <class A, class F> INLINE void corners(const Image &m, const Place<A> &p, F f) {
#pragma unroll
    for (int k = 0; k < 4; k++) {
        s64 u = p.top + k / 2, v = p.left + k % 2;
        if (u >= 0 && u < m.inH && v >= 0 && v < m.inW)
            f(u, v, k % 2 ? p.x : 1 - p.x, k / 2 ? p.y : 1 - p.y, k);
    }
}

template <class A> INLINE void sampleForward(const Image &m, const Scale &s, const Strided &x, u64 grid, const Strided &y) {
    for (u64 i = FIRST; i < (u64)(m.n * m.c * m.h * m.w); i += STEP) {
        s64 w = i % m.w, h = i / m.w % m.h, c = i / (m.w * m.h) % m.c, n = i / (m.w * m.h * m.c);
        s64 base = n * x.stride[0] + c * x.stride[1];
        A sum = 0;
        corners<A>(m, place<A>(m, grid, (n * m.h + h) * m.w + w), [&](s64 u, s64 v, A fx, A fy, int) {
            sum += As<A>::get(x.at, base + u * x.stride[2] + v * x.stride[3], m.type) * fx * fy;
        });
        mix<A>(s, y.at, n * y.stride[0] + c * y.stride[1] + h * y.stride[2] + w * y.stride[3], m.type, sum);
    }
}

// A thread has a channel of a sample: places are added in their order.
template <class A> INLINE void imageBackward(const Image &m, const Scale &s, u64 grid, const Strided &dy, const Strided &dx) {
    for (u64 i = FIRST; i < (u64)(m.n * m.c); i += STEP) {
        s64 n = i / m.c, c = i % m.c, base = n * dx.stride[0] + c * dx.stride[1];
        for (s64 q = 0; q < m.inH * m.inW; q++) {
            s64 at = base + q / m.inW * dx.stride[2] + q % m.inW * dx.stride[3];
            As<A>::put(dx.at, at, m.type, s.beta != 0 ? (A)s.beta * As<A>::get(dx.at, at, m.type) : 0);
        }
        for (s64 q = 0; q < m.h * m.w; q++) {
            A g = (A)s.alpha * As<A>::get(dy.at, n * dy.stride[0] + c * dy.stride[1] + q / m.w * dy.stride[2] + q % m.w * dy.stride[3], m.type);
            corners<A>(m, place<A>(m, grid, n * m.h * m.w + q), [&](s64 u, s64 v, A fx, A fy, int) {
                s64 at = base + u * dx.stride[2] + v * dx.stride[3];
                As<A>::put(dx.at, at, m.type, As<A>::get(dx.at, at, m.type) + g * fx * fy);
            });
        }
    }
}

// A thread has a place.
template <class A> INLINE void placeBackward(const Image &m, const Scale &s, const Strided &x, u64 grid, const Strided &dy, u64 dgrid) {
    for (u64 i = FIRST; i < (u64)(m.n * m.h * m.w); i += STEP) {
        s64 n = i / (m.h * m.w), h = i / m.w % m.h, w = i % m.w;
        Place<A> p = place<A>(m, grid, i);
        A gx = 0, gy = 0;
        for (s64 c = 0; c < m.c; c++) {
            A g = As<A>::get(dy.at, n * dy.stride[0] + c * dy.stride[1] + h * dy.stride[2] + w * dy.stride[3], m.type);
            corners<A>(m, p, [&](s64 u, s64 v, A fx, A fy, int k) {
                A e = g * As<A>::get(x.at, n * x.stride[0] + c * x.stride[1] + u * x.stride[2] + v * x.stride[3], m.type);
                gx += k % 2 ? e * fy : -e * fy;
                gy += k / 2 ? e * fx : -e * fx;
            });
        }
        mix<A>(s, dgrid, 2 * i, m.type, gx * (A)(m.inW - 1) / 2);
        mix<A>(s, dgrid, 2 * i + 1, m.type, gy * (A)(m.inH - 1) / 2);
    }
}

#define SPATIAL(A, S)                                                                                                                  \
    KERNEL gridForward##S(Image m, u64 theta, u64 grid) { gridForward<A>(m, theta, grid); }                                              \
    KERNEL gridBackward##S(Image m, u64 dgrid, u64 dtheta) { gridBackward<A>(m, dgrid, dtheta); }                                        \
    KERNEL sampleForward##S(Image m, Scale s, Strided x, u64 grid, Strided y) { sampleForward<A>(m, s, x, grid, y); }                    \
    KERNEL imageBackward##S(Image m, Scale s, u64 grid, Strided dy, Strided dx) { imageBackward<A>(m, s, grid, dy, dx); }                \
    KERNEL placeBackward##S(Image m, Scale s, Strided x, u64 grid, Strided dy, u64 dgrid) { placeBackward<A>(m, s, x, grid, dy, dgrid); }
SPATIAL(float, F32)
SPATIAL(double, F64)
