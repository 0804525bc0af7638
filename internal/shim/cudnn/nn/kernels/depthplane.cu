// Depthwise convolutions of images that fit into shared memory. A block has a channel. It copies an image into planes with zeros around it,
// one for each remainder of the stride; then every tap is a run of a plane, and lanes are neighbours of all rows, however short these are.
#include "ending.h"

enum { ROOM = 40960, TAPS = 64, TOGETHER = 8, STAGE = 64 }; // bytes of shared memory; taps whose gradients are made at a time; elements

struct Tap {
    u32 at, filter; // where its run begins in the planes; where it is in the filter
};
struct Plane {
    u64 x, w, y;
    s64 xImage, xChannel, xRow, yImage, yChannel, yRow, wChannel; // strides; columns are neighbours
    u32 batch, each;                                              // output channels of an input channel
    u32 xRows, xColumns, yRows, yColumns;
    u32 stepY, stepX;                 // of the source, 1 or 2
    u32 left, above, columns, height; // zeros before the content of a plane; what is copied
    u32 pitch, rows, size;            // of a plane; of all planes
    u32 positions, span;              // of the sums of a pass, and the distance of passes
    u32 passes;                       // 1, or 4: even and odd rows and columns of the destination
    u32 part;                         // images at a time, of a gradient
    u32 first[5];                     // tap of a pass
    Tap tap[TAPS];
    Ending end;
};

template <class W> INLINE void clear(W *p, u32 n) {
    for (u32 i = LANE; i < n; i += 32)
        p[i] = 0;
}

// fill copies an image into its planes. The zeros stay. Even and odd columns are told apart in stage, where every lane may read: a load
// of all lanes is a few loads of vectors, one of some lanes is a load a lane.
template <class T, class W> INLINE void fill(const Plane &p, const T *x, W *planes, W *stage) {
    for (u32 py = 0; py < p.stepY; py++)
        for (u32 r = 0; r < p.height && r * p.stepY + py < p.xRows; r++) {
            const T *row = x + (s64)(r * p.stepY + py) * p.xRow;
            W *to = planes + (py * p.stepX * p.rows + r + p.above) * p.pitch + p.left;
            if (p.stepX == 1) {
                for (u32 c = LANE; c < p.columns; c += 32)
                    to[c] = load(row + c);
                continue;
            }
            W *odd = to + p.rows * p.pitch;
            for (u32 c0 = 0; c0 < p.columns; c0 += 32) {
                W low = 0, high = 0;
                if (2 * c0 + LANE < p.xColumns)
                    low = load(row + 2 * c0 + LANE);
                if (2 * c0 + 32 + LANE < p.xColumns)
                    high = load(row + 2 * c0 + 32 + LANE);
                stage[LANE] = low, stage[32 + LANE] = high;
                SYNC;
                low = stage[2 * LANE], high = stage[2 * LANE + 1];
                SYNC;
                if (c0 + LANE < p.columns)
                    to[c0 + LANE] = low, odd[c0 + LANE] = high;
            }
        }
}

// strip is N × 32 sums.
template <class W, int N> INLINE void strip(const Plane &p, const W *planes, const W *taps, W *sums, u32 from, u32 to) {
    W sum[N] = {};
    for (u32 t = from; t < to; t++) {
        W v = taps[t];
        const W *run = planes + p.tap[t].at;
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[j] += v * run[32 * j + LANE];
    }
#pragma unroll
    for (int j = 0; j < N; j++)
        sums[32 * j + LANE] = sum[j];
}

template <class T, class W> INLINE void leave(const Plane &p, T *y, const W *sums, W bias) {
    for (u32 r = 0; r < p.yRows; r++, y += p.yRow)
        for (u32 c = LANE; c < p.yColumns; c += 32) {
            W v, old = 0;
            if (p.passes == 1)
                v = sums[r * p.pitch + c];
            else
                v = sums[((r & 1) * 2 + (c & 1)) * p.span + (r >> 1) * p.pitch + (c >> 1)];
            if (p.end.beta != 0)
                old = load(y + c);
            keep(y + c, finish<W>(p.end, v, old, bias));
        }
}

template <class T, class W> INLINE void depthPlane(const Plane &p, W *room) {
    W *taps = room, *stage = taps + TAPS, *planes = stage + STAGE, *sums = planes + p.size, bias = 0;
    u32 k = BLOCK_X;
    const T *w = (const T *)p.w + k * p.wChannel;
    for (u32 t = 0; t < p.first[p.passes]; t++)
        taps[t] = load(w + p.tap[t].filter);
    if (p.end.bias)
        bias = (W)loadAny(p.end.bias, k, p.end.biasType);
    clear(planes, p.size);
    for (u32 b = BLOCK_Y; b < p.batch; b += BLOCKS_Y) {
        SYNC;
        fill<T, W>(p, (const T *)p.x + b * p.xImage + k / p.each * p.xChannel, planes, stage);
        SYNC;
        for (u32 pass = 0; pass < p.passes; pass++) {
            u32 from = p.first[pass], to = p.first[pass + 1], q = 0;
            W *s = sums + pass * p.span;
            for (; q + 64 < p.positions; q += 128)
                strip<W, 4>(p, planes + q, taps, s + q, from, to);
            if (q + 32 < p.positions)
                strip<W, 2>(p, planes + q, taps, s + q, from, to);
            else if (q < p.positions)
                strip<W, 1>(p, planes + q, taps, s + q, from, to);
        }
        SYNC;
        leave<T, W>(p, (T *)p.y + b * p.yImage + k * p.yChannel, sums, bias);
    }
}

// The gradient of the filter: y is that of the output, and lies as the sums above, with zeros between rows.
template <class T, class W> INLINE void depthPlaneFilter(const Plane &p, W *room) {
    u32 k = BLOCK_X, taps = p.first[1];
    W *stage = room, *all = stage + STAGE, *planes = all + (taps + TOGETHER - 1) / TOGETHER * TOGETHER * 32, *dys = planes + p.part * p.size;
    clear(all, (u32)(dys - all) + p.part * p.span);
    for (u32 b = 0; b < p.batch; b += p.part) {
        u32 n = p.batch - b < p.part ? p.batch - b : p.part;
        SYNC;
        for (u32 i = 0; i < n; i++) {
            fill<T, W>(p, (const T *)p.x + (b + i) * p.xImage + k / p.each * p.xChannel, planes + i * p.size, stage);
            const T *y = (const T *)p.y + (b + i) * p.yImage + k * p.yChannel;
            for (u32 r = 0; r < p.yRows; r++)
                for (u32 c = LANE; c < p.yColumns; c += 32)
                    dys[i * p.span + r * p.pitch + c] = load(y + r * p.yRow + c);
        }
        SYNC;
        for (u32 t0 = 0; t0 < taps; t0 += TOGETHER) {
            W sum[TOGETHER];
            u32 at[TOGETHER];
#pragma unroll
            for (int j = 0; j < TOGETHER; j++)
                sum[j] = all[(t0 + j) * 32 + LANE], at[j] = p.tap[t0 + j].at;
            for (u32 i = 0; i < n; i++)
                for (u32 q = 0; q < p.positions; q += 32) {
                    W d = dys[i * p.span + q + LANE];
                    const W *run = planes + i * p.size + q + LANE;
#pragma unroll
                    for (int j = 0; j < TOGETHER; j++)
                        sum[j] += d * run[at[j]];
                }
#pragma unroll
            for (int j = 0; j < TOGETHER; j++)
                all[(t0 + j) * 32 + LANE] = sum[j];
        }
    }
    SYNC;
    T *w = (T *)p.w + k * p.wChannel;
    for (u32 t = 0; t < taps; t++) {
        W sum = warpSum(all[t * 32 + LANE]), old = 0;
        if (LANE == 0) {
            T *to = w + p.tap[t].filter;
            if (p.end.beta != 0)
                old = load(to);
            keep(to, finish<W>(p.end, sum, old, (W)0));
        }
    }
}

#define PLANE(name, T, W)                                                                                              \
    KERNEL depthPlane_##name(Plane p) {                                                                                \
        __shared__ __attribute__((aligned(64))) W room[ROOM / sizeof(W)];                                              \
        depthPlane<T, W>(p, room);                                                                                     \
    }                                                                                                                  \
    KERNEL depthPlaneFilter_##name(Plane p) {                                                                          \
        __shared__ __attribute__((aligned(64))) W room[ROOM / sizeof(W)];                                              \
        depthPlaneFilter<T, W>(p, room);                                                                               \
    }
PLANE(f32, float, float)
PLANE(f64, double, double)
PLANE(f16, f16, float)
PLANE(bf16, bf16, float)
