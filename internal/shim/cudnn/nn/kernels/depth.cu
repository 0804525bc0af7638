// The gradient of filters of depthwise convolutions, where each output channel has one input channel: the tiles of conv.cu would use one
// lane of 32. A warp has one element of a filter, and its lanes are a row of an image; or, where channels are neighbours, it has that
// element of 32 channels.
#include "layer.h"

struct Depth {
    s64 batch, channels;                                     // of the output
    s64 in[3], out[3], filter[3], pad[3], stride[3], dilation[3];
    s64 xAt[5], yAt[5], wAt[5];                              // strides: image, channel, dimensions; of a filter: channel, 0, dimensions
    u64 x, dy, dw;
    s64 each;                                                // output channels of an input channel
    u32 flip, wType;
};

// Tap is an element of the filter, with the outputs that have an input there.
struct Tap {
    s64 at[3], from[3], to[3], first[3]; // first: the input of output 0, perhaps outside
};
INLINE Tap tapOf(const Depth &d, u64 i) {
    Tap t;
#pragma unroll
    for (int a = 2; a >= 0; a--) {
        t.at[a] = i % d.filter[a];
        i /= d.filter[a];
        s64 r = d.flip ? d.filter[a] - 1 - t.at[a] : t.at[a];
        t.first[a] = r * d.dilation[a] - d.pad[a];
        t.from[a] = t.first[a] < 0 ? (-t.first[a] + d.stride[a] - 1) / d.stride[a] : 0;
        s64 last = d.in[a] - 1 - t.first[a]; // of the inputs, from the first one
        t.to[a] = last < 0 ? 0 : last / d.stride[a] + 1;
        t.to[a] = t.to[a] < d.out[a] ? t.to[a] : d.out[a];
    }
    return t;
}
INLINE s64 taps(const Depth &d) { return d.filter[0] * d.filter[1] * d.filter[2]; }
INLINE s64 wPlace(const Depth &d, const Tap &t, s64 c) { return c * d.wAt[0] + t.at[0] * d.wAt[2] + t.at[1] * d.wAt[3] + t.at[2] * d.wAt[4]; }

template <class T, class A> INLINE A product(const T *x, const T *y) { return (A)load(x) * (A)load(y); }
template <> INLINE float product<float, float>(const float *x, const float *y) { return *x * *y; }
template <> INLINE double product<double, double>(const double *x, const double *y) { return *x * *y; }

// Lanes along the last dimension. Where both tensors have neighbours there, the loads are of runs.
template <class T, class A> INLINE void depthPlaces(const Depth &d, const Scale &s) {
    s64 xStep = d.stride[2] * d.xAt[4], yStep = d.yAt[4];
    for (u64 i = BLOCK_X; i < (u64)(d.channels * taps(d)); i += BLOCKS_X) {
        Tap t = tapOf(d, i % taps(d));
        s64 c = i / taps(d), n = t.to[2] - t.from[2];
        A sum = 0;
        for (s64 b = 0; b < d.batch; b++)
            for (s64 z = t.from[0]; z < t.to[0]; z++)
                for (s64 r = t.from[1]; r < t.to[1]; r++) {
                    const T *x = (const T *)d.x + b * d.xAt[0] + c / d.each * d.xAt[1] + (t.first[0] + z * d.stride[0]) * d.xAt[2] +
                                 (t.first[1] + r * d.stride[1]) * d.xAt[3] + (t.first[2] + t.from[2] * d.stride[2]) * d.xAt[4];
                    const T *y = (const T *)d.dy + b * d.yAt[0] + c * d.yAt[1] + z * d.yAt[2] + r * d.yAt[3] + t.from[2] * d.yAt[4];
                    if (xStep == 1 && yStep == 1)
                        for (s64 k = LANE; k < n; k += 32)
                            sum += product<T, A>(x + k, y + k);
                    else if (xStep == 2 && yStep == 1)
                        for (s64 k = LANE; k < n; k += 32)
                            sum += product<T, A>(x + 2 * k, y + k);
                    else
                        for (s64 k = LANE; k < n; k += 32)
                            sum += product<T, A>(x + k * xStep, y + k * yStep);
                }
        sum = warpSum(sum);
        if (LANE == 0)
            mix<A>(s, d.dw, wPlace(d, t, c), d.wType, sum);
    }
}

// Lanes along the channels.
template <class T, class A> INLINE void depthChannels(const Depth &d, const Scale &s) {
    s64 groups = (d.channels + 31) / 32;
    for (u64 i = BLOCK_X; i < (u64)(groups * taps(d)); i += BLOCKS_X) {
        Tap t = tapOf(d, i % taps(d));
        s64 c = i / taps(d) * 32 + LANE;
        if (c >= d.channels)
            continue;
        A sum = 0;
        for (s64 b = 0; b < d.batch; b++)
            for (s64 z = t.from[0]; z < t.to[0]; z++)
                for (s64 r = t.from[1]; r < t.to[1]; r++) {
                    const T *x = (const T *)d.x + b * d.xAt[0] + c / d.each * d.xAt[1] + (t.first[0] + z * d.stride[0]) * d.xAt[2] +
                                 (t.first[1] + r * d.stride[1]) * d.xAt[3] + t.first[2] * d.xAt[4];
                    const T *y = (const T *)d.dy + b * d.yAt[0] + c * d.yAt[1] + z * d.yAt[2] + r * d.yAt[3];
                    for (s64 k = t.from[2]; k < t.to[2]; k++)
                        sum += product<T, A>(x + k * d.stride[2] * d.xAt[4], y + k * d.yAt[4]);
                }
        mix<A>(s, d.dw, wPlace(d, t, c), d.wType, sum);
    }
}

#define DEPTH(name, T, A)                                                                              \
    KERNEL depthPlaces_##name(Depth d, Scale s) { depthPlaces<T, A>(d, s); }                           \
    KERNEL depthChannels_##name(Depth d, Scale s) { depthChannels<T, A>(d, s); }
DEPTH(f32, float, float)
DEPTH(f64, double, double)
DEPTH(f16, f16, float)
DEPTH(bf16, bf16, float)
