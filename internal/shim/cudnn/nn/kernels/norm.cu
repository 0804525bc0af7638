// Norms: y = (x - mean) / deviation * scale + bias, where mean and deviation are those of all elements with the same kept indices. What
// is kept and what is summed over is the caller's: batch, layer, instance and group norms are the same here.
//
// Two ways to go: a warp has one statistic and its lanes neighbours of what is summed over (rows), or lanes have statistics of their
// own (columns), where neighbours are of different ones. Near are rows, and columns of parameters, whose strides are all 1. Sums of 32-bit numbers are added up in 64 bits from time to time.
#include "tensor.h"

// Place is a tensor: strides of what is kept and of what is summed over.
struct Place {
    u64 at;
    s64 kept[DIMS], summed[DIMS];
};

struct Walk {
    u32 kept, summed; // dimensions
    s64 keptDim[DIMS], summedDim[DIMS];
    s64 statistics, elements; // of all kept, and summed for each
};

template <int N> INLINE void keptAt(const Walk &w, u64 i, const Place *(&t)[N], s64 (&off)[N]) {
#pragma unroll
    for (int n = 0; n < N; n++)
        off[n] = 0;
    for (int d = (int)w.kept - 1; d >= 0; d--) {
        u64 r = i;
        if (d > 0) {
            u64 q = i / (u64)w.keptDim[d];
            r = i - q * (u64)w.keptDim[d];
            i = q;
        }
#pragma unroll
        for (int n = 0; n < N; n++)
            off[n] += (s64)r * t[n]->kept[d];
    }
}

// summedAt adds the distances of the element with a number, of the dimensions before `rank`.
template <int N> INLINE void summedAt(const Walk &w, u64 i, int rank, const Place *(&t)[N], const s64 (&base)[N], s64 (&off)[N]) {
#pragma unroll
    for (int n = 0; n < N; n++)
        off[n] = base[n];
    for (int d = rank - 1; d >= 0; d--) {
        u64 r = i;
        if (d > 0) {
            u64 q = i / (u64)w.summedDim[d];
            r = i - q * (u64)w.summedDim[d];
            i = q;
        }
#pragma unroll
        for (int n = 0; n < N; n++)
            off[n] += (s64)r * t[n]->summed[d];
    }
}

// Rows goes over the elements of a statistic with the lanes at neighbours; f gets offsets.
struct Rows {
    enum { SHARED = 1 };
    static INLINE u64 first() { return BLOCK_X; }
    static INLINE u64 step() { return BLOCKS_X; }
    template <int N, class F> static INLINE void each(const Walk &w, const Place *(&t)[N], const s64 (&base)[N], F f) {
        int last = (int)w.summed - 1;
        s64 inner = w.summedDim[last], outer = w.elements / inner;
        for (s64 o = 0; o < outer; o++) {
            s64 off[N];
            summedAt<N>(w, o, last, t, base, off);
            s64 lane[N];
            for (s64 i = LANE; i < inner; i += 32) {
#pragma unroll
                for (int n = 0; n < N; n++)
                    lane[n] = off[n] + i * t[n]->summed[last];
                f(lane);
            }
            f.pause();
        }
    }
    template <class T> static INLINE T all(T v) { return warpSum(v); }
    template <int N> static INLINE void kept(const Walk &w, u64 i, const Place *(&t)[N], s64 (&off)[N], u32) { keptAt<N>(w, i, t, off); }
};

// NearRows are rows of one dimension and of stride 1 in all tensors.
struct NearRows : Rows {
    template <int N, class F> static INLINE void each(const Walk &w, const Place *(&)[N], const s64 (&base)[N], F f) {
        s64 lane[N];
        s64 whole = w.elements & ~(s64)31;
        for (s64 i = 0; i < whole; i += 32) {
#pragma unroll
            for (int n = 0; n < N; n++)
                lane[n] = base[n] + i + LANE;
            f(lane);
        }
        if (whole + LANE < w.elements) {
#pragma unroll
            for (int n = 0; n < N; n++)
                lane[n] = base[n] + whole + LANE;
            f(lane);
        }
        f.pause();
    }
};

// Columns has a statistic a lane.
struct Columns {
    enum { SHARED = 0 };
    static INLINE u64 first() { return (u64)BLOCK_X * 32 + LANE; }
    static INLINE u64 step() { return (u64)BLOCKS_X * 32; }
    template <int N, class F> static INLINE void each(const Walk &w, const Place *(&t)[N], const s64 (&base)[N], F f) {
        for (s64 o = 0; o < w.elements; o++) {
            s64 off[N];
            summedAt<N>(w, o, (int)w.summed, t, base, off);
            f(off);
            if ((o & 255) == 255)
                f.pause();
        }
        f.pause();
    }
    template <class T> static INLINE T all(T v) { return v; }
    template <int N> static INLINE void kept(const Walk &w, u64 i, const Place *(&t)[N], s64 (&off)[N], u32) { keptAt<N>(w, i, t, off); }
};

// NearColumns are columns of one dimension, which those tensors have with stride 1 that `unit` marks, and others do not have.
struct NearColumns : Columns {
    template <int N> static INLINE void kept(const Walk &, u64 i, const Place *(&)[N], s64 (&off)[N], u32 unit) {
#pragma unroll
        for (int n = 0; n < N; n++)
            off[n] = unit >> n & 1 ? (s64)i : 0;
    }
};

struct Norm {
    Walk w;
    Place x, y, scale, bias, z, mean, dev, runMean, runVar, nextMean, nextVar;
    double eps, factor, alpha, beta;
    u32 rms, given, act, unused; // given: 1 mean and variance, 2 mean and one by the deviation
};

INLINE float root(float v) { return __builtin_sqrtf(v); }
INLINE double root(double v) { return __builtin_sqrt(v); }

template <class T, class W> struct Sum {
    const T *x;
    W mean, part;
    double whole;
    int square;
    template <int N> INLINE void operator()(const s64 (&at)[N]) {
        W v = load(x + at[0]) - mean;
        part += square ? v * v : v;
    }
    INLINE void pause() {
        whole += (double)part;
        part = 0;
    }
};

// moments are the mean and the variance of a statistic.
template <class Way, class T, class W> INLINE void moments(const Walk &w, const Place &x, s64 base, u32 rms, W &mean, W &var) {
    const Place *t[1] = {&x};
    s64 at[1] = {base};
    double sum = 0;
    mean = 0;
    if (!rms) {
        struct Ref {
            Sum<T, W> *s;
            INLINE void operator()(const s64 (&at)[1]) { (*s)(at); }
            INLINE void pause() { s->pause(); }
        };
        Sum<T, W> s = {(const T *)x.at, 0, 0, 0, 0};
        Way::template each<1>(w, t, at, Ref{&s});
        sum = Way::all(s.whole);
        mean = (W)(sum / (double)w.elements);
    }
    struct Ref {
        Sum<T, W> *s;
        INLINE void operator()(const s64 (&at)[1]) { (*s)(at); }
        INLINE void pause() { s->pause(); }
    };
    Sum<T, W> s = {(const T *)x.at, mean, 0, 0, 1};
    Way::template each<1>(w, t, at, Ref{&s});
    var = (W)(Way::all(s.whole) / (double)w.elements);
}

template <class T, class P, class W> struct Write {
    const Norm *n;
    W mean, dev;
    INLINE void operator()(const s64 (&at)[5]) {
        W v = (load((const T *)n->x.at + at[0]) - mean) * dev;
        if (n->scale.at)
            v *= load((const P *)n->scale.at + at[2]);
        if (n->bias.at)
            v += load((const P *)n->bias.at + at[3]);
        if (n->z.at)
            v += load((const T *)n->z.at + at[4]);
        if (n->act && !(v > 0 || v != v))
            v = 0;
        T *q = (T *)n->y.at + at[1];
        v *= (W)n->alpha;
        if (n->beta != 0)
            v += (W)n->beta * load(q);
        store(q, v);
    }
    INLINE void pause() {}
};

template <class Way, class T, class P, class W> INLINE void norm(const Norm &n) {
    const Place *t[5] = {&n.x, &n.y, &n.scale, &n.bias, &n.z};
    const Place *s[6] = {&n.mean, &n.dev, &n.runMean, &n.runVar, &n.nextMean, &n.nextVar};
    for (u64 i = Way::first(); i < (u64)n.w.statistics; i += Way::step()) {
        s64 at[5], to[6];
        keptAt<5>(n.w, i, t, at);
        keptAt<6>(n.w, i, s, to);
        W mean = 0, var, dev;
        if (n.given) {
            if (n.mean.at)
                mean = ((const W *)n.mean.at)[to[0]];
            dev = ((const W *)n.dev.at)[to[1]];
            if (n.given == 1)
                dev = 1 / root(dev + (W)n.eps);
        } else {
            moments<Way, T, W>(n.w, n.x, at[0], n.rms, mean, var);
            dev = 1 / root(var + (W)n.eps);
            if (!Way::SHARED || LANE == 0) {
                if (n.mean.at)
                    ((W *)n.mean.at)[to[0]] = mean;
                if (n.dev.at)
                    ((W *)n.dev.at)[to[1]] = dev;
                W f = (W)n.factor, whole = n.w.elements > 1 ? (W)((double)n.w.elements / (double)(n.w.elements - 1)) : 1;
                if (n.nextMean.at)
                    ((W *)n.nextMean.at)[to[4]] = (f == 1 ? 0 : (1 - f) * ((const W *)n.runMean.at)[to[2]]) + f * mean;
                if (n.nextVar.at)
                    ((W *)n.nextVar.at)[to[5]] = (f == 1 ? 0 : (1 - f) * ((const W *)n.runVar.at)[to[3]]) + f * var * whole;
            }
        }
        if (n.y.at)
            Way::template each<5>(n.w, t, at, Write<T, P, W>{&n, mean, dev});
    }
}

struct NormBack {
    Walk w;
    Place x, dy, dx, dz, scale, mean, dev, y; // y: its sign says where the activation let through
    double alpha, beta;
    u32 rms, unused;
};

template <class T, class W> INLINE W upstream(u64 dy, s64 at, u64 y, s64 there) {
    W g = load((const T *)dy + at);
    if (y && !(load((const T *)y + there) > 0))
        g = 0;
    return g;
}

template <class T, class P, class W> struct SumBack {
    const NormBack *n;
    W mean, dev, one, two;
    double sumOne, sumTwo;
    INLINE void operator()(const s64 (&at)[6]) {
        W g = upstream<T, W>(n->dy.at, at[1], n->y.at, at[5]);
        if (n->scale.at)
            g *= load((const P *)n->scale.at + at[4]);
        one += g;
        two += g * ((load((const T *)n->x.at + at[0]) - mean) * dev);
    }
    INLINE void pause() {
        sumOne += (double)one;
        sumTwo += (double)two;
        one = two = 0;
    }
};

template <class T, class P, class W> struct WriteBack {
    const NormBack *n;
    W mean, dev, one, two;
    INLINE void operator()(const s64 (&at)[6]) {
        W g = upstream<T, W>(n->dy.at, at[1], n->y.at, at[5]);
        if (n->dz.at)
            store((T *)n->dz.at + at[3], g);
        if (n->scale.at)
            g *= load((const P *)n->scale.at + at[4]);
        W v = dev * (g - one - (load((const T *)n->x.at + at[0]) - mean) * dev * two);
        T *q = (T *)n->dx.at + at[2];
        v *= (W)n->alpha;
        if (n->beta != 0)
            v += (W)n->beta * load(q);
        store(q, v);
    }
    INLINE void pause() {}
};

template <class Way, class T, class P, class W> INLINE void normBack(const NormBack &n) {
    const Place *t[6] = {&n.x, &n.dy, &n.dx, &n.dz, &n.scale, &n.y};
    const Place *s[2] = {&n.mean, &n.dev};
    for (u64 i = Way::first(); i < (u64)n.w.statistics; i += Way::step()) {
        s64 at[6], from[2];
        keptAt<6>(n.w, i, t, at);
        keptAt<2>(n.w, i, s, from);
        W mean = n.mean.at ? ((const W *)n.mean.at)[from[0]] : 0, dev = ((const W *)n.dev.at)[from[1]];
        SumBack<T, P, W> sum = {&n, mean, dev, 0, 0, 0, 0};
        struct Ref {
            SumBack<T, P, W> *s;
            INLINE void operator()(const s64 (&at)[6]) { (*s)(at); }
            INLINE void pause() { s->pause(); }
        };
        Way::template each<6>(n.w, t, at, Ref{&sum});
        W one = (W)(Way::all(sum.sumOne) / (double)n.w.elements), two = (W)(Way::all(sum.sumTwo) / (double)n.w.elements);
        Way::template each<6>(n.w, t, at, WriteBack<T, P, W>{&n, mean, dev, n.rms ? 0 : one, two});
    }
}

// NormParams: the gradients of scale and bias, summed over all that they serve. Here these are what is kept.
struct NormParams {
    Walk w;
    Place x, dy, mean, dev, y, dscale, dbias;
    double alpha, beta;
};

template <class T, class W> struct SumParams {
    const NormParams *n;
    W one, two;
    double sumOne, sumTwo;
    INLINE void operator()(const s64 (&at)[5]) {
        W g = upstream<T, W>(n->dy.at, at[1], n->y.at, at[4]), mean = n->mean.at ? ((const W *)n->mean.at)[at[2]] : 0;
        one += g;
        two += g * ((load((const T *)n->x.at + at[0]) - mean) * ((const W *)n->dev.at)[at[3]]);
    }
    INLINE void pause() {
        sumOne += (double)one;
        sumTwo += (double)two;
        one = two = 0;
    }
};

template <class P> INLINE void keepParam(const NormParams &n, u64 to, s64 at, double v) {
    P *q = (P *)to + at;
    v *= n.alpha;
    if (n.beta != 0)
        v += n.beta * (double)load(q);
    store(q, (typename Wide<P>::type)v);
}

template <class Way, class T, class P, class W> INLINE void normParams(const NormParams &n) {
    const Place *t[5] = {&n.x, &n.dy, &n.mean, &n.dev, &n.y};
    const Place *s[2] = {&n.dscale, &n.dbias};
    for (u64 i = Way::first(); i < (u64)n.w.statistics; i += Way::step()) {
        s64 at[5], to[2];
        Way::template kept<5>(n.w, i, t, at, 0x13); // not the statistics
        Way::template kept<2>(n.w, i, s, to, 3);
        SumParams<T, W> sum = {&n, 0, 0, 0, 0};
        struct Ref {
            SumParams<T, W> *s;
            INLINE void operator()(const s64 (&at)[5]) { (*s)(at); }
            INLINE void pause() { s->pause(); }
        };
        Way::template each<5>(n.w, t, at, Ref{&sum});
        double one = Way::all(sum.sumOne), two = Way::all(sum.sumTwo);
        if (Way::SHARED && LANE != 0)
            continue;
        if (n.dscale.at)
            keepParam<P>(n, n.dscale.at, to[0], two);
        if (n.dbias.at)
            keepParam<P>(n, n.dbias.at, to[1], one);
    }
}

#define WAY(name, way, params, T, P, W)                                                                                        \
    KERNEL norm_##name(Norm n) { norm<way, T, P, W>(n); }                                                                      \
    KERNEL normBack_##name(NormBack n) { normBack<way, T, P, W>(n); }                                                          \
    KERNEL normParams_##name(NormParams n) { normParams<params, T, P, W>(n); }
#define NORM(name, T, P, W)                                                                                                    \
    WAY(rows_##name, Rows, Rows, T, P, W)                                                                                      \
    WAY(near_##name, NearRows, NearColumns, T, P, W)                                                                           \
    WAY(columns_##name, Columns, Columns, T, P, W)
NORM(f32_f32, float, float, float)
NORM(f64_f64, double, double, double)
NORM(f16_f32, f16, float, float)
NORM(f16_f16, f16, f16, float)
NORM(bf16_f32, bf16, float, float)
NORM(bf16_bf16, bf16, bf16, float)
