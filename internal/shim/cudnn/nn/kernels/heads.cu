// Attention of several heads between their projections. Rows are vectors of sequences in the order of memory; a head's part of a row is
// a run. Sums go in one order: results are the same every time.
#include "layer.h"

struct Heads {
    s64 batch, beams, keyBeams, heads, queries, keys, size, values; // size: of a query and a key of a head; values: of a value
    s64 queryRow[3], keyRow[3];                                     // how many rows a step of time, batch, beam is
    s64 only;                                                       // the one step of time that is computed, or -1
    const int *queryLength, *keyLength, *from, *to;                 // lengths by batch and beam, windows by the time of queries
    double scale;
};

// Part is where a tensor has the vectors of a head.
template <class A> struct Part {
    A *at;
    s64 row, head; // from one to the next; all heads may share a row
    INLINE A *of(s64 r, s64 h) const { return at + r * row + h * head; }
};

struct Query {
    s64 batch, beam, head, time, row;
    bool inside;
};
INLINE Query queryOf(const Heads &g, u64 i) {
    Query q;
    q.time = i % g.queries;
    i /= g.queries;
    q.head = i % g.heads;
    i /= g.heads;
    q.beam = i % g.beams;
    q.batch = i / g.beams;
    q.row = q.time * g.queryRow[0] + q.batch * g.queryRow[1] + q.beam * g.queryRow[2];
    q.inside = q.time < g.queryLength[q.batch * g.beams + q.beam] && (g.only < 0 || g.only == q.time);
    return q;
}
INLINE s64 keyRow(const Heads &g, s64 batch, s64 beam, s64 time) {
    return time * g.keyRow[0] + batch * g.keyRow[1] + (g.keyBeams > 1 ? beam : 0) * g.keyRow[2];
}
INLINE bool sees(const Heads &g, const Query &q, s64 time) {
    s64 beam = g.keyBeams > 1 ? q.beam : 0;
    return q.inside && time >= g.from[q.time] && time < g.to[q.time] && time < g.keyLength[q.batch * g.keyBeams + beam];
}

#define QUERIES(g) (u64)((g).batch * (g).beams * (g).heads * (g).queries)

// A warp has a query of a head: weight has the probabilities of its keys, z the sum of their values.
template <class A> INLINE void attend(const Heads &g, Part<A> q, Part<A> k, Part<A> v, A *weight, Part<A> z) {
    for (u64 i = BLOCK_X; i < QUERIES(g); i += BLOCKS_X) {
        Query at = queryOf(g, i);
        A *p = weight + i * g.keys, top = -__builtin_inff(), sum = 0;
        const A *query = q.of(at.row, at.head);
        for (s64 t = LANE; t < g.keys; t += 32) {
            p[t] = 0;
            if (!sees(g, at, t))
                continue;
            const A *key = k.of(keyRow(g, at.batch, at.beam, t), at.head);
            A s = 0;
            for (s64 j = 0; j < g.size; j++)
                s += query[j] * key[j];
            p[t] = s * (A)g.scale;
            top = p[t] > top ? p[t] : top;
        }
        top = warpMax(top);
        for (s64 t = LANE; t < g.keys; t += 32)
            if (sees(g, at, t)) {
                p[t] = expOf(p[t] - top);
                sum += p[t];
            }
        sum = warpSum(sum);
        for (s64 t = LANE; t < g.keys; t += 32)
            p[t] = sum > 0 ? p[t] / sum : 0;
        SYNC;
        for (s64 j = LANE; j < g.values; j += 32) {
            A y = 0;
            for (s64 t = 0; t < g.keys; t++)
                if (sees(g, at, t))
                    y += p[t] * v.of(keyRow(g, at.batch, at.beam, t), at.head)[j];
            z.of(at.row, at.head)[j] = y;
        }
    }
}

// The gradient of a query: slope becomes that of its scores.
template <class A> INLINE void attendBackQuery(const Heads &g, Part<A> k, Part<A> v, const A *weight, A *slope, Part<A> dz, Part<A> dq) {
    for (u64 i = BLOCK_X; i < QUERIES(g); i += BLOCKS_X) {
        Query at = queryOf(g, i);
        const A *p = weight + i * g.keys, *d = dz.of(at.row, at.head);
        A *s = slope + i * g.keys, mean = 0;
        for (s64 t = LANE; t < g.keys; t += 32) {
            A y = 0;
            if (sees(g, at, t)) {
                const A *value = v.of(keyRow(g, at.batch, at.beam, t), at.head);
                for (s64 j = 0; j < g.values; j++)
                    y += d[j] * value[j];
            }
            s[t] = y;
            mean += y * p[t];
        }
        mean = warpSum(mean);
        for (s64 t = LANE; t < g.keys; t += 32)
            s[t] = p[t] * (s[t] - mean) * (A)g.scale;
        SYNC;
        for (s64 j = LANE; j < g.size; j += 32) {
            A y = 0;
            for (s64 t = 0; t < g.keys; t++)
                if (sees(g, at, t))
                    y += s[t] * k.of(keyRow(g, at.batch, at.beam, t), at.head)[j];
            dq.of(at.row, at.head)[j] = y;
        }
    }
}

// The gradients of a key and its value: a warp has one of a head, and goes through all queries that see it.
template <class A> INLINE void attendBackKey(const Heads &g, Part<A> q, const A *weight, const A *slope, Part<A> dz, Part<A> dk, Part<A> dv) {
    for (u64 i = BLOCK_X; i < (u64)(g.batch * g.keyBeams * g.heads * g.keys); i += BLOCKS_X) {
        s64 time = i % g.keys, h = i / g.keys % g.heads, beam = i / g.keys / g.heads % g.keyBeams, b = i / g.keys / g.heads / g.keyBeams;
        s64 first = g.keyBeams > 1 ? beam : 0, last = g.keyBeams > 1 ? beam + 1 : g.beams, row = keyRow(g, b, beam, time);
        for (s64 j = LANE; j < (g.size > g.values ? g.size : g.values); j += 32) {
            A key = 0, value = 0;
            for (s64 m = first; m < last; m++)
                for (s64 t = 0; t < g.queries; t++) {
                    u64 n = ((b * g.beams + m) * g.heads + h) * g.queries + t;
                    Query at = queryOf(g, n);
                    if (!sees(g, at, time))
                        continue;
                    if (j < g.size)
                        key += slope[n * g.keys + time] * q.of(at.row, h)[j];
                    if (j < g.values)
                        value += weight[n * g.keys + time] * dz.of(at.row, h)[j];
                }
            if (j < g.size)
                dk.of(row, h)[j] = key;
            if (j < g.values)
                dv.of(row, h)[j] = value;
        }
    }
}

// Rows of a bias, and of what is added to the result; 0 without either.
template <class A> INLINE void headsFill(A *to, u64 bias, u64 more, u32 type, u64 rows, u64 width) {
    for (u64 i = FIRST; i < rows * width; i += STEP)
        to[i] = (bias ? As<A>::get(bias, i % width, type) : 0) + (more ? As<A>::get(more, i, type) : 0);
}

// Copies rows of results, between A and a type of a program; with one step of time, the others stay as they are. Rows outside of their
// sequence have what is added to all rows, as on an H200.
template <class A> INLINE void headsRows(const Heads &g, u64 from, u32 fromType, u64 to, u32 toType, s64 width) {
    u64 n = g.batch * g.beams * g.queries * width;
    for (u64 i = FIRST; i < n; i += STEP) {
        Query at = queryOf(g, i / width / g.queries * g.heads * g.queries + i / width % g.queries);
        s64 e = at.row * width + i % width;
        if (g.only < 0 || g.only == at.time)
            As<A>::put(to, e, toType, As<A>::get(from, e, fromType));
    }
}

// Sums over the heads of a row, for what all heads share; over all rows, for a bias.
template <class A> INLINE void headsSum(const A *from, u64 outer, u64 n, u64 step, u64 inner, u64 to, u32 type, u32 add) {
    for (u64 i = FIRST; i < outer * inner; i += STEP) {
        A sum = add ? As<A>::get(to, i, type) : 0;
        const A *p = from + i / inner * n * step + i % inner;
        for (u64 k = 0; k < n; k++)
            sum += p[k * step];
        As<A>::put(to, i, type, sum);
    }
}

#define HEADS(A, SUFFIX)                                                                                                                      \
    KERNEL headsAttend##SUFFIX(Heads g, Part<A> q, Part<A> k, Part<A> v, A *weight, Part<A> z) { attend<A>(g, q, k, v, weight, z); }          \
    KERNEL headsBackQuery##SUFFIX(Heads g, Part<A> k, Part<A> v, A *weight, A *slope, Part<A> dz, Part<A> dq) {                               \
        attendBackQuery<A>(g, k, v, weight, slope, dz, dq);                                                                                   \
    }                                                                                                                                         \
    KERNEL headsBackKey##SUFFIX(Heads g, Part<A> q, A *weight, A *slope, Part<A> dz, Part<A> dk, Part<A> dv) {                                \
        attendBackKey<A>(g, q, weight, slope, dz, dk, dv);                                                                                    \
    }                                                                                                                                         \
    KERNEL headsFill##SUFFIX(A *to, u64 bias, u64 more, u64 rows, u64 width, u32 type) { headsFill<A>(to, bias, more, type, rows, width); }   \
    KERNEL headsRows##SUFFIX(Heads g, u64 from, u64 to, s64 width, u32 fromType, u32 toType) {                                                \
        headsRows<A>(g, from, fromType, to, toType, width);                                                                                   \
    }                                                                                                                                         \
    KERNEL headsSum##SUFFIX(A *from, u64 outer, u64 n, u64 step, u64 inner, u64 to, u32 type, u32 add) {                                      \
        headsSum<A>(from, outer, n, step, inner, to, type, add);                                                                              \
    }
HEADS(float, F32)
HEADS(double, F64)
