// What one warp does with a matrix of up to 32 rows in shared memory: a lane has a row.
#pragma once
#include "tile.h"

#define INLINE __device__ inline __attribute__((always_inline))

// Room is a vector of the warp's, which lanes read one element of.
template <class T> struct Room {
    typename Real<T>::type *p;
    INLINE T get(u32 i) const {
        T v;
        make(&v, p[i], sizeof(T) > sizeof(*p) ? p[SIDE + i] : 0);
        return v;
    }
    INLINE void put(u32 i, T v) const {
        p[i] = re(v);
        if (sizeof(T) > sizeof(*p))
            p[SIDE + i] = im(v);
    }
};

// Mirror is I - tau v v', which leaves beta of a column from row `at` on. v is a lane's element, 0 above `at`.
template <class T> struct Mirror {
    typename Real<T>::type beta;
    T tau, v;
};

// mirrorOf is the one of a column whose elements are 0 above row `at`. Where squares of the largest number may overflow
// or be lost, sums are of numbers scaled by it.
template <class T> INLINE Mirror<T> mirrorOf(T x, T head, u32 at) {
    typedef typename Real<T>::type R;
    R largest = first(warpMax(size1(x))), unit = squares(largest) ? (R)1 : largest;
    T rest = LANE > at ? x : T{};
    Mirror<T> m = {re(head), T{}, T{}};
    m.v = LANE == at ? one<T>() : T{};
    if (largest == 0)
        return m;
    T scaled = rest;
    if (unit != 1)
        make(&scaled, re(rest) / unit, im(rest) / unit);
    R below = sumOf(norm2(scaled));
    if (below == 0 && im(head) == 0)
        return m;
    R r = re(head) / unit, i = im(head) / unit, b = root(r * r + i * i + below); // beta may have few digits
    b = re(head) >= 0 ? -b : b;
    m.beta = unit * b;
    make(&m.tau, (b - r) / b, -i / b);
    T left;
    make(&left, r - b, i);
    m.v = LANE == at ? one<T>() : mul(scaled, div(one<T>(), left));
    return m;
}

// timesMirror is Q = Q H: columns from `at` to n, v as `all` has it.
template <class Q, class T> INLINE void timesMirror(const Q &q, u32 at, u32 n, T tau, const Room<T> &all) {
    T sum = {};
#pragma unroll 2
    for (u32 j = at; j < n; j++)
        sum = fma(q.get(LANE, j), all.get(j), sum);
    sum = sub(T{}, mul(tau, sum));
#pragma unroll 2
    for (u32 j = at; j < n; j++)
        q.put(LANE, j, fma(sum, conj(all.get(j)), q.get(LANE, j)));
    SYNC;
}

template <class Q, class T> INLINE void identity(const Q &q, u32 n, T) {
    for (u32 j = 0; j < n; j++)
        q.put(LANE, j, LANE == j ? one<T>() : T{});
    SYNC;
}

// Turner applies rotations of neighbouring columns while they are found, from the last to the first; `carried` is the
// column that the next one changes again.
template <class Q, class T> struct Turner {
    typedef typename Real<T>::type R;
    Q q;
    bool on;
    T carried;
    INLINE void begin(u32 last) {
        if (on)
            carried = q.get(LANE, last);
    }
    // turn changes columns i and i + 1.
    INLINE void turn(u32 i, R c, R s) {
        if (!on)
            return;
        T g = q.get(LANE, i);
        q.put(LANE, i + 1, add(times(g, s), times(carried, c)));
        carried = sub(times(g, c), times(carried, s));
    }
    INLINE void end(u32 i) {
        if (on)
            q.put(LANE, i, carried);
        SYNC;
    }
};

// inRange is a factor that brings the largest element where squares neither overflow nor vanish.
template <class R> INLINE R inRange(R largest) {
    R low = sizeof(R) == 4 ? (R)0x1p-40 : (R)0x1p-400, high = 1 / low;
    if (largest == 0 || !(largest < low || largest > high))
        return 1;
    return 1 / largest;
}

// notDone counts what did not converge.
template <class R> INLINE u32 notDone(const R *e, u32 n) {
    u32 bad = 0;
    for (u32 i = 0; i + 1 < n; i++)
        bad += e[i] != 0;
    return bad ? bad : 1;
}
