// Transforms of a few numbers that a thread has in registers.
#pragma once
#include "device.h"

template <class T> FN void dft(C<T> (&v)[2]) {
    C<T> a = v[0];
    v[0] = a + v[1], v[1] = a - v[1];
}

template <class T> FN void dft(C<T> (&v)[4]) {
    C<T> a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = turn(v[1] - v[3]);
    v[0] = a + c, v[1] = b + d, v[2] = a - c, v[3] = b - d;
}

template <class T> FN void dft(C<T> (&v)[8]) {
    const T h = (T)0.70710678118654752440;
    C<T> even[4] = {v[0] + v[4], v[1] + v[5], v[2] + v[6], v[3] + v[7]};
    C<T> b = v[1] - v[5], d = v[3] - v[7];
    C<T> odd[4] = {v[0] - v[4], {h * (b.x + b.y), h * (b.y - b.x)}, turn(v[2] - v[6]), {h * (d.y - d.x), -h * (d.x + d.y)}};
    dft(even), dft(odd);
#pragma unroll
    for (int k = 0; k < 4; k++)
        v[2 * k] = even[k], v[2 * k + 1] = odd[k];
}

// The cosines and sines of the first half circle's points, for odd lengths.
template <int R> struct Circle;
#define CIRCLE(r, ...)                                                                                                                     \
    template <> struct Circle<r> {                                                                                                         \
        static __device__ constexpr double at(int k, bool sine) {                                                                          \
            constexpr double t[] = {__VA_ARGS__};                                                                                          \
            return k > r / 2 ? (sine ? -t[2 * (r - k) + 1] : t[2 * (r - k)]) : t[2 * k + sine];                                            \
        }                                                                                                                                  \
    };
CIRCLE(3, 1, 0, -0.500000000000000000000, 0.866025403784438646764)
CIRCLE(5, 1, 0, 0.309016994374947424102, 0.951056516295153572116, -0.809016994374947424102, 0.587785252292473129169)
CIRCLE(7, 1, 0, 0.623489801858733530525, 0.781831482468029808708, -0.222520933956314404289, 0.974927912181823607018, -0.900968867902419126236, 0.433883739117558120476)
CIRCLE(11, 1, 0, 0.841253532831181168862, 0.540640817455597582108, 0.415415013001886425529, 0.909631995354518371412, -0.142314838273285140444, 0.989821441880932732376, -0.654860733945285064057, 0.755749574354258283774, -0.959492973614497389890, 0.281732556841429697711)
CIRCLE(13, 1, 0, 0.885456025653209895900, 0.464723172043768545656, 0.568064746731155802512, 0.822983865893656394580, 0.120536680255323053349, 0.992708874098053992801, -0.354604887042535625970, 0.935016242685414823440, -0.748510748171101098635, 0.663122658240795202377, -0.970941817426052027157, 0.239315664287557767149)

// Pairs that are mirrored share their products.
template <class T, int R> FN void dft(C<T> (&v)[R]) {
    constexpr int H = R / 2;
    C<T> sum[H], dif[H], first = v[0];
#pragma unroll
    for (int k = 0; k < H; k++) {
        sum[k] = v[k + 1] + v[R - 1 - k], dif[k] = v[k + 1] - v[R - 1 - k];
        v[0] = v[0] + sum[k];
    }
#pragma unroll
    for (int q = 1; q <= H; q++) {
        C<T> a = first, b = {0, 0};
#pragma unroll
        for (int k = 1; k <= H; k++) {
            const T c = (T)Circle<R>::at(q * k % R, false), s = (T)Circle<R>::at(q * k % R, true);
            a.x += c * sum[k - 1].x, a.y += c * sum[k - 1].y;
            b.x += s * dif[k - 1].y, b.y -= s * dif[k - 1].x;
        }
        v[q] = a + b, v[R - q] = a - b;
    }
}
