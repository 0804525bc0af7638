// What panels of factorizations share: rows by whole lines of a cache, a few columns at a time.
#pragma once
#include "solver.h"

// usual: 1 / c is a number whose error is its rounding.
__device__ inline bool usual(float a) { return a > 0x1p-120f && a < 0x1p120f; }
__device__ inline bool usual(double a) { return a > 0x1p-1000 && a < 0x1p1000; }

// first is the value of lane 0. Unlike one that happens to be the same in all lanes it is known to be that: what
// depends on it is computed once, and branches on it are the warp's.
template <class T> __device__ inline T first(T v) {
    union {
        T t;
        int w[sizeof(T) / 4];
    } u;
    u.t = v;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / 4); i++)
        u.w[i] = __nvvm_shfl_sync_idx_i32(~0u, u.w[i], 0, 31);
    return u.t;
}

template <class T> __device__ inline T sumOf(T v) { return first(warpSum(v)); }

// eachRow takes rows from `from` to m by 32, from a multiple of 32 on, so that lanes read whole lines of a cache. f
// gets the row of lane 0 and reads from pointers that are a lane's: a row as a number of 32 bits might wrap, and its
// element would be gathered.
template <class F> __device__ __attribute__((always_inline)) void eachRow(u32 from, u32 m, F f) {
    u32 i = from & ~31u;
    if (i < from && i < m) {
        if (i + LANE >= from && i + LANE < m)
            f(i);
        SYNC;
        i += 32;
    }
#pragma unroll 1
    for (; i + 32 <= m; i += 32)
        f(i);
    if (i < m) {
        if (i + LANE < m)
            f(i);
    }
    SYNC;
}

__device__ inline bool squares(float a) { return a > 0x1p-40f && a < 0x1p40f; }
__device__ inline bool squares(double a) { return a > 0x1p-400 && a < 0x1p400; }

// mirrorAt is the reflection I - tau v v' that leaves nothing of a column below row `at`: v lies there afterwards,
// its first element, which is 1, giving way to what is left of the column. Where squares of the largest number may
// overflow or be lost, sums are of numbers scaled by it.
template <class T> __device__ __attribute__((always_inline)) T mirrorAt(T *x, u32 at, u32 m) {
    typedef typename Real<T>::type R;
    T head = x[at], tau = {}, *mine = x + LANE;
    R largest = size1(head), below = 0;
    eachRow(at + 1, m, [&](u32 i) {
        T v = mine[i];
        R s = size1(v);
        largest = s > largest || s != s ? s : largest;
        below += norm2(v);
    });
    largest = first(warpMax(largest));
    R unit = 1;
    if (squares(largest))
        below = sumOf(below);
    else {
        below = 0;
        if (largest != 0) {
            unit = largest;
            eachRow(at + 1, m, [&](u32 i) {
                R r = re(mine[i]) / unit, q = im(mine[i]) / unit;
                below += r * r + q * q;
            });
            below = sumOf(below);
        }
    }
    if (below == 0 && im(head) == 0) // nothing to take away
        return tau;
    R r = re(head) / unit, q = im(head) / unit, b = root(r * r + q * q + below);
    b = re(head) >= 0 ? -b : b;
    R beta = unit * b;
    make(&tau, (b - r) / b, -q / b);
    bool subnormal = largest < 4 * least(R(0)); // beta has few digits then
    T left;
    make(&left, subnormal ? r - b : re(head) - beta, subnormal ? q : im(head));
    T scale = div(one<T>(), left);
    SYNC;
    if (subnormal)
        eachRow(at + 1, m, [&](u32 i) {
            T v = mine[i];
            make(&v, re(v) / unit, im(v) / unit);
            mine[i] = mul(v, scale);
        });
    else
        eachRow(at + 1, m, [&](u32 i) { mine[i] = mul(mine[i], scale); });
    if (LANE == 0)
        make(x + at, beta, 0);
    SYNC;
    return tau;
}

// reflectSome applies I - tau v v' to COUNT columns; v[at] is 1 whatever lies there, and rows above it are 0.
template <class T, int COUNT> __device__ __attribute__((always_inline)) void reflectSome(const T *v, u32 at, u32 m, T tau, T *x, s64 ld) {
    T w[COUNT] = {}, *mine[COUNT];
#pragma unroll
    for (int c = 0; c < COUNT; c++)
        mine[c] = x + c * ld + LANE;
    const T *vector = v + LANE;
    eachRow(at + 1, m, [&](u32 i) {
        T y = conj(vector[i]);
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            w[c] = fma(y, mine[c][i], w[c]);
    });
#pragma unroll
    for (int c = 0; c < COUNT; c++) {
        T head = x[c * ld + at];
        w[c] = sub(T{}, mul(tau, add(head, sumOf(w[c]))));
        SYNC;
        if (LANE == 0)
            x[c * ld + at] = add(head, w[c]);
    }
    eachRow(at + 1, m, [&](u32 i) {
        T y = vector[i];
#pragma unroll
        for (int c = 0; c < COUNT; c++)
            mine[c][i] = fma(w[c], y, mine[c][i]);
    });
}

// reflectAt applies I - tau v v' to `count` columns, a few at a time: their sums do not wait for each other then.
template <class T> __device__ __attribute__((always_inline)) void reflectAt(const T *v, u32 at, u32 m, T tau, T *c, s64 ld, u32 count) {
    enum { MANY = sizeof(T) == 16 ? 2 : 4 }; // sums that stay in registers
    if (zero(tau))
        return;
    u32 j = 0;
#pragma unroll 1
    for (; j + MANY <= count; j += MANY)
        reflectSome<T, MANY>(v, at, m, tau, c + (s64)j * ld, ld);
#pragma unroll 1
    for (; j < count; j++)
        reflectSome<T, 1>(v, at, m, tau, c + (s64)j * ld, ld);
    SYNC;
}
