// Convolutions as products whose first operand is never written out.
//
// The input is copied once into planes that have their zeros around them, of the type of the sums. The positions of the output are
// numbered as those of a plane. Then what output position i needs for one tap of one channel lies at i + a distance that depends on the
// channel and the tap only: 32 positions are 32 neighbours for every step of the sum. Positions that are no outputs, at the ends of
// rows, are computed and not stored. With a stride there is a plane for each remainder, so that neighbours stay neighbours.
// The weights are packed into panels of N columns as the product of cuBLAS has them.
#include "tensor.h"
#include "ending.h"

// Axis is how one dimension of the input lies in a plane: element t of a phase is source[t * step + phase], left zeros are before it.
// Tap m of the filter is at t = floor((q0 + m dq) / step), phase (q0 + m dq) mod step. byTap: a phase a tap, as there are fewer.
struct Axis {
    s64 size, stride; // of the source
    int taps, q0, dq, step, byTap, phases;
    int left, content, extent, filter, filterStep, unused;
    s64 filterStride; // filter, filterStep: the first tap in the filter, and to the next
};

struct Planes {
    Axis axis[3];
    u32 batch, unused;
    s64 batchStride, channelStride; // of the source
};

INLINE int floorDiv(int a, int b) { return a >= 0 ? a / b : -((b - 1 - a) / b); }

INLINE int phaseOf(const Axis &a, int index) {
    int q = a.q0 + index * a.dq;
    return a.byTap ? q - floorDiv(q, a.step) * a.step : index;
}

// How elements of a row lie in the input: one after another, with other elements between them, or further apart than 31 bits say.
enum Reach { NEXT, NEAR, FAR };

INLINE Reach reachOf(const Axis &w) {
    if (w.stride == 1 && w.step == 1)
        return NEXT;
    return w.size * w.stride <= 0x7fffffff ? NEAR : FAR;
}

// copyRow copies a row of the input between its zeros: elements 0 to last, stride apart.
template <Reach R, class T, class W> INLINE void copyRow(const T *src, W *dst, const Axis &w, s64 stride, int last) {
    for (int t = (int)LANE - w.left; t < w.extent - w.left; t += 32) {
        W v = {};
        if (t >= 0 && t < last)
            v = load(R == NEXT ? src + t : R == NEAR ? src + t * (int)stride : src + t * stride);
        dst[t] = v;
    }
}

// planesOf writes the planes of some channels: a warp an image of a plane.
template <Reach R, class T, class W> INLINE void planesOf(const Planes &p, u64 from, W *to, u32 images) {
    const Axis &z = p.axis[0], &y = p.axis[1], &x = p.axis[2];
    u32 phases = z.phases * y.phases * x.phases;
    s64 image = (s64)z.extent * y.extent * x.extent, stride = x.step * x.stride;
    for (u32 i = BLOCK_X; i < images; i += BLOCKS_X) {
        u32 n = i % p.batch, plane = i / p.batch, c = plane / phases, f = plane % phases;
        int fx = phaseOf(x, f % x.phases), fy = phaseOf(y, f / x.phases % y.phases), fz = phaseOf(z, f / x.phases / y.phases);
        s64 own = (x.size - fx + x.step - 1) / x.step; // elements of this phase
        int last = own < x.content ? (int)own : x.content;
        const T *src = (const T *)from + c * p.channelStride + n * p.batchStride + fx * x.stride;
        W *dst = to + (s64)i * image + x.left;
        for (int a = -z.left; a < z.extent - z.left; a++)
            for (int b = -y.left; b < y.extent - y.left; b++) {
                s64 sa = (s64)a * z.step + fz, sb = (s64)b * y.step + fy;
                bool inside = a >= 0 && a < z.content && sa < z.size && b >= 0 && b < y.content && sb < y.size;
                copyRow<R>(src + sa * z.stride + sb * y.stride, dst, x, stride, inside ? last : 0);
                dst += x.extent;
            }
    }
}

// halo writes the planes of some channels, and zeros behind them.
template <class T, class W> INLINE void halo(const Planes &p, u64 from, W *to, u32 channels, u32 tail) {
    const Axis &z = p.axis[0], &y = p.axis[1], &x = p.axis[2];
    u32 images = channels * z.phases * y.phases * x.phases * p.batch;
    switch (reachOf(x)) {
    case NEXT: planesOf<NEXT, T>(p, from, to, images); break;
    case NEAR: planesOf<NEAR, T>(p, from, to, images); break;
    case FAR: planesOf<FAR, T>(p, from, to, images); break;
    }
    if (BLOCK_X == 0) // what is read past the end
        for (u32 i = LANE; i < tail; i += 32)
            to[images * (s64)z.extent * y.extent * x.extent + i] = W{};
}

#define HALO(name, T, W)                                                                                                       \
    KERNEL halo_##name(Planes p, u64 from, u64 to, u32 channels, u32 tail) {                                               \
        halo<T, W>(p, from, (W *)to, channels, tail);                                                                          \
    }
HALO(f32, float, float)
HALO(f64, double, double)
HALO(f16, f16, float)
HALO(bf16, bf16, float)
HALO(e4m3, e4m3, float)
HALO(e5m2, e5m2, float)
HALO(s8, s8, int)
HALO(u8, u8, int)

// Tables: of every step (channel, tap) its distance in the planes and in the filter, and of every row where it lies in the output.
struct Tables {
    Axis axis[3];
    s64 plane, filterChannel; // a plane of the input; from one channel to the next in the filter
    u64 at, filterAt;         // int, s64
    u32 channels;
    u32 batch;
    u64 rows; // s64: -1 is a row that is none
    s64 batchStride, stride[3];
    int start[3], step[3], count[3], unused;
};

KERNEL tables(Tables t) {
    const Axis &z = t.axis[0], &y = t.axis[1], &x = t.axis[2];
    u32 taps = z.taps * y.taps * x.taps, steps = taps * t.channels;
    u32 first = BLOCK_X * 32 + LANE, stride = BLOCKS_X * 32;
    s64 phase = t.plane;
    for (u32 i = first; i < steps; i += stride) {
        u32 c = i / taps, r = i % taps;
        int m[3] = {(int)(r / x.taps / y.taps), (int)(r / x.taps % y.taps), (int)(r % x.taps)};
        s64 at = 0, index = c, filter = c * t.filterChannel;
#pragma unroll
        for (int d = 0; d < 3; d++) {
            const Axis &a = t.axis[d];
            int q = a.q0 + m[d] * a.dq, h = floorDiv(q, a.step);
            at = at * a.extent + h + a.left;
            index = index * a.phases + (a.byTap ? m[d] : q - h * a.step);
            filter += (a.filter + (s64)m[d] * a.filterStep) * a.filterStride;
        }
        ((int *)t.at)[i] = (int)(index * phase + at);
        ((s64 *)t.filterAt)[i] = filter;
    }
    u32 rows = t.batch * z.extent * y.extent;
    for (u32 i = first; i < rows; i += stride) {
        int b = i % y.extent, a = i / y.extent % z.extent, n = i / y.extent / z.extent;
        s64 v = -1;
        if (a < t.count[0] && b < t.count[1])
            v = n * t.batchStride + (t.start[0] + (s64)a * t.step[0]) * t.stride[0] + (t.start[1] + (s64)b * t.step[1]) * t.stride[1];
        ((s64 *)t.rows)[i] = v;
    }
}

// Panels is N columns of the filter for every step (channel, tap), zero past the end.
struct Panels {
    u64 from, table, to; // table: the steps in the filter
    s64 group, column, channel;
    u32 n, steps, taps;
    u32 form; // how the filter lies: one of the following
};

enum {
    F_ANY,    // anywhere
    F_ROWS,   // the steps of a column lie together
    F_COLUMNS // there is one tap, and its columns lie together
};

enum {
    RUN = 512, // steps that a block packs, at least
    TABLE = 1536
};

// zeroed is what a column has, nothing past the last.
template <class T, class W> INLINE W zeroed(const T *p, bool there) {
    W v = {};
    if (there)
        v = load(p);
    return v;
}

// rows turns 32 steps at a time.
template <class T, class W, int N> INLINE void rows(const Panels &p, const T *src, W *dst, u32 n) {
    u32 l = BLOCK_X * RUN, end = p.steps - l < RUN ? p.steps : l + RUN;
    for (; l + 32 <= end; l += 32) {
        W v[N];
#pragma unroll
        for (int r = 0; r < N; r++)
            v[r] = zeroed<T, W>(src + r * p.column + l + LANE, r < n);
#pragma unroll
        for (int r = 0; r < N; r++)
            dst[(s64)(l + LANE) * N + r] = v[r];
    }
    if (l + LANE < end)
#pragma unroll
        for (int r = 0; r < N; r++)
            dst[(s64)(l + LANE) * N + r] = zeroed<T, W>(src + r * p.column + l + LANE, r < n);
}

// columns copies a run a step.
template <class T, class W, int N> INLINE void columns(const Panels &p, const T *src, W *dst, u32 n) {
    u32 l = BLOCK_X * RUN, end = p.steps - l < RUN ? p.steps : l + RUN;
    src += l * p.channel + LANE;
    dst += (s64)l * N + LANE;
    if (LANE < N)
        for (; l < end; l++, src += p.channel, dst += N)
            *dst = zeroed<T, W>(src, LANE < n);
}

// places gathers some channels at a time: their places from the first of them are the same for all.
template <class T, class W, int N> INLINE void places(const Panels &p, const T *src, W *dst, u32 n, int *table) {
    const s64 *at = (const s64 *)p.table;
    u32 some = p.taps >= 32 ? 1 : 32 / p.taps, channels = p.steps / p.taps, each = RUN / p.taps / some * some;
    if (each == 0)
        each = some;
    u32 c = BLOCK_X * each, end = channels - c < each ? channels : c + each, words = some * p.taps * N;
    if (words > TABLE) {
        for (u32 o = c * p.taps * N + LANE; o < end * p.taps * N; o += 32)
            dst[o] = zeroed<T, W>(src + o % N * p.column + at[o / N], o % N < n);
        return;
    }
    for (u32 o = LANE; o < words; o += 32)
        table[o] = o % N < n ? (int)(o % N * p.column + at[o / N]) : -1;
    SYNC;
    for (; c < end; c += some) {
        u32 count = end - c < some ? (end - c) * p.taps * N : words;
        const T *from = src + c * p.channel;
        W *to = dst + (s64)c * p.taps * N;
        for (u32 o = LANE; o < count; o += 32)
            to[o] = zeroed<T, W>(from + table[o], table[o] >= 0);
    }
}

template <class T, class W, int N> INLINE void panels(const Panels &p, int *table) {
    u32 j0 = BLOCK_Y * N, n = p.n - j0;
    const T *src = (const T *)p.from + BLOCK_Z * p.group + j0 * p.column;
    W *dst = (W *)p.to + (s64)(BLOCK_Z * BLOCKS_Y + BLOCK_Y) * N * p.steps;
    if (p.form == F_ROWS)
        rows<T, W, N>(p, src, dst, n);
    else if (p.form == F_COLUMNS)
        columns<T, W, N>(p, src, dst, n);
    else
        places<T, W, N>(p, src, dst, n, table);
}

#define PANELS(name, T, W, N)                                                                                                  \
    KERNEL panels_##name(Panels p) {                                                                                           \
        __shared__ int table[TABLE];                                                                                           \
        panels<T, W, N>(p, table);                                                                                             \
    }                                                                                                                          \
    KERNEL panels1_##name(Panels p) {                                                                                          \
        __shared__ int table[TABLE];                                                                                           \
        panels<T, W, 1>(p, table);                                                                                             \
    }
PANELS(f32, float, float, 12)
PANELS(f64, double, double, 6)
PANELS(f16, f16, float, 12)
PANELS(bf16, bf16, float, 12)
PANELS(e4m3, e4m3, float, 12)
PANELS(e5m2, e5m2, float, 12)
PANELS(s8, s8, int, 12)
PANELS(u8, u8, int, 12)

// Leave is what becomes of the sums: y = act(alpha sum + beta y + bias), a bias a column.
struct Leave {
    u64 y;
    s64 batch, group, column, step;
    u64 rows;
    u32 pitch, width, every, unused; // every: rows from one to the next, as all of an image may be one
    double alpha, beta, top;
    u64 bias;
    u32 biasType, act; // 1: not below 0, 2: nor above top
};

struct Tile {
    u64 x, b, at;
    s64 xBatch, xGroup, bGroup;
    u32 steps, piece; // all, and those that are packed at a time
    u32 m, n, groups, high, wide;
    float one; // see leaveSum
    u64 sums;
    Leave leave;
};

// leaveSum stores a sum as it is. A NaN in memory has the bits the manual says; that a product gives them anyway keeps the loop before
// from making them in every step.
template <class W> INLINE void leaveSum(W *p, W sum, float one) { *p = sum * (W)one; }

template <class W> struct Outer { // what the last steps are computed in
    typedef W type;
};
template <> struct Outer<int> {
    typedef double type;
};

template <class O, class C> INLINE void leaveOne(const Leave &o, C *p, O v, O bias) {
    O old = 0;
    if (o.beta != 0)
        old = (O)load(p);
    keep(p, finish<O>(o, v, old, bias));
}

// leave stores the sums of positions from `from` to `to` of a panel that begins at i0, row by row: of a row those that are outputs.
template <class W, class C, int N> INLINE void leave(const Leave &o, C *y, W (&sum)[N], u32 n, u32 i0, u32 from, u32 to, u32 j0) {
    typedef typename Outer<W>::type O;
    O bias[N] = {};
    if (o.bias)
#pragma unroll
        for (int j = 0; j < N; j++)
            if (j0 + j < n)
                bias[j] = (O)loadAny(o.bias, j0 + j, o.biasType);
    y += j0 * o.column;
    u32 row = from / o.pitch, begin = row * o.pitch;
#pragma unroll 1
    for (; from < to; from = begin, row++) {
        u32 col = from - begin, lo = from - i0;
        begin += o.pitch;
        s64 at = ((const s64 *)o.rows)[row * o.every];
        if (at < 0 || col >= o.width)
            continue;
        u32 count = o.width - col < to - from ? o.width - col : to - from;
        C *p = y + at;
        if (o.step == 1) {
            p += (s64)col - (s64)lo;
            if (LANE >= lo && LANE < lo + count)
#pragma unroll
                for (int j = 0; j < N; j++)
                    if (j0 + j < n)
                        leaveOne<O, C>(o, p + j * o.column + LANE, (O)sum[j], bias[j]);
        } else if (LANE >= lo && LANE < lo + count) {
#pragma unroll
            for (int j = 0; j < N; j++)
                if (j0 + j < n)
                    leaveOne<O, C>(o, p + j * o.column + (s64)(LANE - lo + col) * o.step, (O)sum[j], bias[j]);
        }
        __nvvm_bar_warp_sync(~0u);
    }
}

// tile is the work of a warp: 32 positions, N columns. See tile of cuBLAS's gemm.cu, whose operands have the same form: a is `steps` times
// 32 positions.
template <class W, int N> INLINE void tile(const W *a, const W *b, u32 steps, W (&sum)[N]) {
#pragma unroll 1
    for (u32 l = 0; l < steps; l++) {
        W av = a[LANE];
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[j] = fma(av, b[j], sum[j]);
        a += 32;
        b += N;
    }
}

// part is where the tiles of a block are.
template <class W, class C> struct Part {
    const W *x, *b;
    C *y;
    W *sums;
    u32 panels, i0, i1, columns, j0, j1;
    Leave leave;
};

template <class W, class C, int N> INLINE Part<W, C> partOf(const Tile &t) {
    Part<W, C> p;
    u32 g = BLOCK_Z % t.groups, n = BLOCK_Z / t.groups;
    p.panels = (t.m + 31) / 32, p.columns = (t.n + N - 1) / N;
    p.x = (const W *)t.x + n * t.xBatch + g * t.xGroup;
    p.b = (const W *)t.b + g * t.bGroup;
    p.y = (C *)t.leave.y + n * t.leave.batch + g * t.leave.group;
    p.sums = (W *)t.sums + (s64)BLOCK_Z * p.panels * p.columns * (32 * N);
    p.i0 = BLOCK_X * t.high, p.i1 = p.i0 + t.high < p.panels ? p.i0 + t.high : p.panels;
    p.j0 = BLOCK_Y * t.wide, p.j1 = p.j0 + t.wide < p.columns ? p.j0 + t.wide : p.columns;
    p.leave = t.leave;
    if (p.leave.bias) {
        const u32 size[] = {4, 8, 2, 2, 1, 1, 1, 1, 4, 8, 1};
        p.leave.bias += (u64)g * t.n * size[p.leave.biasType];
    }
    return p;
}

// A panel of positions: the last ends with the last position, so that nothing past it is read.
struct Panel {
    u32 at, from, to; // its first position; those that are stored
};

INLINE Panel panelOf(u32 panel, u32 m) {
    u32 at = panel * 32, skip = 0;
    if (at + 32 > m && m >= 32) {
        skip = at + 32 - m;
        at -= skip;
    }
    return {at, at + skip, at + 32 < m ? at + 32 : m};
}

// tiles packs some steps of a panel of positions at a time, as they are far from each other in the planes, and goes over the columns.
template <class W, class C, int N> INLINE void tiles(const Tile &t, W *pack) {
    Part<W, C> p = partOf<W, C, N>(t);
    const int *at = (const int *)t.at;
#pragma unroll 1
    for (u32 i = p.i0; i < p.i1; i++) {
        Panel q = panelOf(i, t.m);
        const W *a = p.x + q.at + LANE;
        u32 from = 0;
        do {
            u32 steps = t.steps - from < t.piece ? t.steps - from : t.piece;
#pragma unroll 4
            for (u32 l = 0; l < steps; l++)
                pack[l * 32 + LANE] = a[at[from + l]];
            SYNC;
#pragma unroll 1
            for (u32 j = p.j0; j < p.j1; j++) {
                W *sums = p.sums + ((s64)j * p.panels + i) * (32 * N) + LANE, sum[N] = {};
                if (from)
#pragma unroll
                    for (int k = 0; k < N; k++)
                        sum[k] = sums[k * 32] * (W)t.one; // as in leaveSum
                tile<W, N>(pack, p.b + ((s64)j * t.steps + from) * N, steps, sum);
                if (from + steps < t.steps) {
#pragma unroll
                    for (int k = 0; k < N; k++)
                        leaveSum(sums + k * 32, sum[k], t.one);
                } else
                    leave<W, C, N>(p.leave, p.y, sum, t.n, q.at, q.from, q.to, j * N);
                SYNC;
            }
            from += steps;
        } while (from < t.steps);
    }
}

// tiles1 is for one column.
template <class W, class C> INLINE void tiles1(const Tile &t) {
    Part<W, C> p = partOf<W, C, 1>(t);
    const int *at = (const int *)t.at;
#pragma unroll 1
    for (u32 i = p.i0; i < p.i1; i++) {
        Panel q = panelOf(i, t.m);
        const W *a = p.x + q.at + LANE;
        W sum[1] = {};
#pragma unroll 1
        for (u32 l = 0; l < t.steps; l++)
            sum[0] = fma(a[at[l]], p.b[l], sum[0]);
        leave<W, C, 1>(p.leave, p.y, sum, t.n, q.at, q.from, q.to, 0);
        SYNC;
    }
}

#define TILE(name, W, C, N, DEEP)                                                                                              \
    KERNEL tile_##name(Tile t) {                                                                                               \
        __shared__ __attribute__((aligned(64))) W pack[DEEP * 32];                                                             \
        tiles<W, C, N>(t, pack);                                                                                               \
    }                                                                                                                          \
    KERNEL tile1_##name(Tile t) { tiles1<W, C>(t); }
TILE(f32_f32, float, float, 12, 384)
TILE(f32_f16, float, f16, 12, 384)
TILE(f32_bf16, float, bf16, 12, 384)
TILE(f64_f64, double, double, 6, 192)
TILE(s32_s32, int, int, 12, 384)
TILE(s32_f32, int, float, 12, 384)
TILE(s32_s8, int, s8, 12, 384)

// lanes packs 32 channels of the gradient of the output for every position: zero where there is no output. A block takes LINES
// rows.
enum { LINES = 8 };

struct Lanes {
    u64 from, rows, to;
    s64 group, channel, step;
    u32 k, pitch, width, every, count, unused;
};

template <class T, class W> INLINE void lanes(const Lanes &p, W *turn) {
    u32 k0 = BLOCK_Y * 32, end = (BLOCK_X + 1) * LINES < p.count ? (BLOCK_X + 1) * LINES : p.count;
    for (u32 row = BLOCK_X * LINES; row < end; row++) {
        W *dst = (W *)p.to + ((s64)(BLOCK_Z * BLOCKS_Y + BLOCK_Y) * p.count + row) * p.pitch * 32 + LANE;
        s64 at = ((const s64 *)p.rows)[row * p.every];
        const T *src = (const T *)p.from + BLOCK_Z * p.group + k0 * p.channel + at;
        for (u32 w0 = 0; w0 < p.pitch; w0 += 32) {
            for (u32 r = 0; r < 32; r++) {
                W v = {};
                if (at >= 0 && k0 + r < p.k && w0 + LANE < p.width)
                    v = load(src + r * p.channel + (s64)(w0 + LANE) * p.step);
                turn[r * 33 + LANE] = v;
            }
            SYNC;
#pragma unroll 1
            for (u32 t0 = 0; t0 < 32 && w0 + t0 < p.pitch; t0 += 16) { // a row of a lane at a time
                W v[16];
#pragma unroll
                for (u32 t = 0; t < 16; t++)
                    v[t] = turn[LANE * 33 + t0 + t];
#pragma unroll
                for (u32 t = 0; t < 16; t++)
                    if (w0 + t0 + t < p.pitch)
                        dst[(s64)(w0 + t0 + t) * 32] = v[t];
            }
            SYNC;
        }
    }
}

#define LANES(name, T, W)                                                                                                      \
    KERNEL lanes_##name(Lanes p) {                                                                                             \
        __shared__ W turn[32 * 33];                                                                                            \
        lanes<T, W>(p, turn);                                                                                                  \
    }
LANES(f32, float, float)
LANES(f64, double, double)
LANES(f16, f16, float)
LANES(bf16, bf16, float)

// Filter is the gradient of the filter: 32 output channels are lanes, N steps (channel, tap) columns, and positions are summed over, in
// slices. A column is the planes of the input at a distance.
struct Filter {
    u64 a, x, at, out;
    s64 length, xBatch, xGroup; // positions of the panels of a; from one image and group to the next
    s64 image;                  // positions of an image
    u32 m, slices, per;         // positions that count, slices of an image, positions of a slice
    u32 n, groups, panels, first;
    float one;
};

template <class W, int N> INLINE void filter(const Filter &f) {
    u32 g = BLOCK_Z % f.groups, s = BLOCK_Z / f.groups, image = s / f.slices, from = s % f.slices * f.per;
    u32 count = from >= f.m ? 0 : f.m - from < f.per ? f.m - from : f.per, j0 = BLOCK_X * N;
    const W *a = (const W *)f.a + ((s64)(g * f.panels + BLOCK_Y) * f.length + image * f.image + from) * 32 + LANE;
    const W *x = (const W *)f.x + image * f.xBatch + g * f.xGroup + from;
    const int *at = (const int *)f.at;
    const W *col[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        col[j] = x + at[j0 + j < f.n ? j0 + j : f.n - 1];
    W sum[N] = {};
#pragma unroll 1
    for (u32 l = 0; l < count; l++) {
        W av = a[0];
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[j] = fma(av, col[j][l], sum[j]);
        a += 32;
    }
    W *out = (W *)f.out + ((s64)((f.first + s) * f.groups + g) * f.panels + BLOCK_Y) * f.n * 32 + LANE;
#pragma unroll
    for (int j = 0; j < N; j++)
        if (j0 + j < f.n)
            leaveSum(out + (j0 + j) * 32, sum[j], f.one);
}

KERNEL filter_f32(Filter f) { filter<float, 12>(f); }
KERNEL filter_f64(Filter f) { filter<double, 6>(f); }

// gather adds the slices of the gradient of the filter up, 32 steps of 32 output channels at a time, turned so that steps are lanes.
struct Gather {
    u64 sums, at, out; // at: the steps in the filter
    s64 group, column;
    double alpha, beta;
    u32 slices, n, k, plain;
};

template <class W, class C> INLINE void leaveFilter(const Gather &f, C *q, W sum) {
    W v = (W)f.alpha * sum;
    if (f.beta != 0)
        v += (W)f.beta * load(q);
    store(q, v);
}

template <class W, class C> INLINE void gather(const Gather &f, W *turn) {
    u32 k0 = BLOCK_Y * 32, g = BLOCK_Z, panels = BLOCKS_Y, groups = BLOCKS_Z, rows = f.k - k0 < 32 ? f.k - k0 : 32;
    s64 next = (s64)groups * panels * f.n * 32;
    C *out = (C *)f.out + g * f.group + k0 * f.column;
    for (u32 j0 = BLOCK_X * 32; j0 < f.n; j0 += BLOCKS_X * 32) {
        u32 count = f.n - j0 < 32 ? f.n - j0 : 32;
        const W *p = (const W *)f.sums + ((s64)(g * panels + BLOCK_Y) * f.n + j0) * 32 + LANE;
#pragma unroll 1
        for (u32 h = 0; h < 32; h += 16) { // a row of a lane at a time
            W v[16];
#pragma unroll
            for (u32 j = 0; j < 16; j++) {
                v[j] = W{};
                if (h + j < count)
                    for (u32 s = 0; s < f.slices; s++)
                        v[j] += p[s * next + (h + j) * 32];
            }
#pragma unroll
            for (u32 j = 0; j < 16; j++)
                turn[LANE * 32 + h + j] = v[j];
        }
        SYNC;
        s64 at = f.plain ? j0 + LANE : LANE < count ? ((const s64 *)f.at)[j0 + LANE] : 0;
        if (LANE < count)
            for (u32 r = 0; r < rows; r++)
                leaveFilter<W, C>(f, out + r * f.column + at, turn[r * 32 + LANE]);
        SYNC;
    }
}

#define GATHER(name, W, C)                                                                                                     \
    KERNEL gather_##name(Gather f) {                                                                                           \
        __shared__ W turn[32 * 32];                                                                                            \
        gather<W, C>(f, turn);                                                                                                 \
    }
GATHER(f32_f32, float, float)
GATHER(f32_f16, float, f16)
GATHER(f32_bf16, float, bf16)
GATHER(f64_f64, double, double)
