// The gradient of filters with few output channels: conv.cu has lanes for 32 of them. Here lanes are neighbours of a row, and a block has
// CHANNELS output channels and STEPS steps of the filter. The sums go where those of conv.cu's filter go.
#include "tensor.h"

enum { CHANNELS = 4, STEPS = 3 };

struct Rows {
    u64 dy, rows, x, at, out;   // rows: where those of dy begin, negative for none; x: planes; at: where the steps begin in these
    s64 group, channel, xGroup; // strides of dy, and of the planes
    u32 k, n, groups, first;    // output channels, steps; slice of the first block
    u32 pitch, width, every;    // of rows
    u32 count, per;             // rows of all slices, of one
    u32 unused;
};

template <class T, class W, bool TAIL> INLINE void add(const T *const (&y)[CHANNELS], const W *const (&x)[STEPS], W (&sum)[CHANNELS][STEPS], u32 c, u32 width) {
    W d[CHANNELS];
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) {
        d[k] = 0;
        if (!TAIL || c + LANE < width)
            d[k] = load(y[k] + c + LANE);
    }
#pragma unroll
    for (int j = 0; j < STEPS; j++) {
        W v = 0;
        if (!TAIL || c + LANE < width)
            v = x[j][c + LANE];
#pragma unroll
        for (int k = 0; k < CHANNELS; k++)
            sum[k][j] += d[k] * v;
    }
}

template <class T, class W> INLINE void filterRows(const Rows &f) {
    u32 j0 = BLOCK_X * STEPS, k0 = BLOCK_Y * CHANNELS, g = BLOCK_Z % f.groups, s = BLOCK_Z / f.groups;
    u32 from = s * f.per, to = from + f.per < f.count ? from + f.per : f.count;
    const int *at = (const int *)f.at;
    const W *col[STEPS];
#pragma unroll
    for (int j = 0; j < STEPS; j++)
        col[j] = (const W *)f.x + g * f.xGroup + at[j0 + j < f.n ? j0 + j : f.n - 1];
    W sum[CHANNELS][STEPS] = {};
    for (u32 row = from; row < to; row++) {
        s64 place = ((const s64 *)f.rows)[row * f.every];
        if (place < 0)
            continue;
        const T *y[CHANNELS];
        const W *x[STEPS];
#pragma unroll
        for (int k = 0; k < CHANNELS; k++)
            y[k] = (const T *)f.dy + g * f.group + (k0 + k < f.k ? k0 + k : f.k - 1) * f.channel + place;
#pragma unroll
        for (int j = 0; j < STEPS; j++)
            x[j] = col[j] + (s64)row * f.pitch;
        u32 c = 0;
        for (; c + 32 <= f.width; c += 32)
            add<T, W, false>(y, x, sum, c, f.width);
        if (c < f.width)
            add<T, W, true>(y, x, sum, c, f.width);
    }
    W *out = (W *)f.out + (s64)((f.first + s) * f.groups + g) * f.n * 32;
#pragma unroll
    for (int k = 0; k < CHANNELS; k++)
#pragma unroll
        for (int j = 0; j < STEPS; j++) {
            W v = warpSum(sum[k][j]);
            if (LANE == 0 && k0 + k < f.k && j0 + j < f.n)
                out[(j0 + j) * 32 + k0 + k] = v;
        }
}

KERNEL filterRows_f32(Rows f) { filterRows<float, float>(f); }
KERNEL filterRows_f64(Rows f) { filterRows<double, double>(f); }
KERNEL filterRows_f16(Rows f) { filterRows<f16, float>(f); }
KERNEL filterRows_bf16(Rows f) { filterRows<bf16, float>(f); }
