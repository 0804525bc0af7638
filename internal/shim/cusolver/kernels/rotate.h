// What the reductions of large matrices and the QR iterations after them share.
#pragma once
#include "solver.h"

// inRange is a factor that brings the largest element where squares neither overflow nor vanish.
template <class R> __device__ inline R inRange(R largest) {
    R low = sizeof(R) == 4 ? (R)0x1p-40 : (R)0x1p-400, high = 1 / low;
    if (largest == 0 || !(largest < low || largest > high))
        return 1;
    return 1 / largest;
}

// dot is x' y.
template <class T> __device__ inline T dot(const T *x, const T *y, u32 n) {
    T s = {};
    u32 i = LANE, whole = n / 32;
    for (u32 k = 0; k < whole; k++, i += 32)
        s = fma(conj(x[i]), y[i], s);
    if (i < n)
        s = fma(conj(x[i]), y[i], s);
    return warpSum(s);
}

// lessProducts takes two groups of columns of x, the second `apart` columns after the first, times factors off y.
template <class T, class F> __device__ inline void lessProducts(T *y, u32 n, u32 columns, const T *x, s64 ld, u32 apart, F factor) {
    for (u32 i = LANE; i < n; i += 32) {
        T s = {}, s2 = {};
        const T *p = x + i, *q = p + (s64)apart * ld;
        for (u32 c = 0; c < columns; c++) {
            s = fma(*p, factor(c), s);
            s2 = fma(*q, factor(apart + c), s2);
            p += ld;
            q += ld;
        }
        y[i] = sub(y[i], add(s, s2));
    }
    SYNC;
}

// Vectors that rotations go over lie in strips: 32 rows of all columns, one column behind the other, so that a strip is read in order.
template <class R> __device__ void toStrips(const R *z, s64 ld, u32 rows, u32 n, R *to, u32 first, u32 last) {
    for (u32 s = first; s < last; s++)
        for (u32 j = 0; j < n; j++) {
            u32 r = s * 32 + LANE;
            to[((s64)s * n + j) * 32 + LANE] = r < rows ? z[(s64)j * ld + r] : (R)0;
        }
}

// Turns collects sweeps of rotations of neighbouring columns. Four are applied in one pass over a strip, so that a column is loaded and
// stored once for eight rotations, and a strip takes all that wait before the next, so that it stays in the cache. A sweep goes from its
// last pair to its first. cs has room for GROUPS (8 n + 72) numbers.
// There may be two sets of vectors, with rotations of their own over the same pairs: those of the second are in the same place of a
// second room like the first, behind it.
#define INLINE __device__ inline __attribute__((always_inline)) // an address of Turns would make everything in it a lane's own
template <class R> struct Turns {
    enum { SWEEPS = 4, GROUPS = 8 };
    R *z, *z2, *cs;
    u32 strips, strips2, n, filled, group;
    int low, high; // all pairs of the sweeps of this group

    INLINE void begin(R *z_, u32 strips_, R *z2_, u32 strips2_, R *cs_, u32 n_) {
        z = z_, strips = strips_, z2 = z2_, strips2 = strips2_, cs = cs_, n = n_, filled = 0, group = 0, low = (int)n_, high = -1;
        for (u32 g = 0; g < (z2 ? 2 * GROUPS : z ? GROUPS : 0); g++)
            clear(table(g), -SWEEPS, (int)n + SWEEPS);
    }

    INLINE R *table(u32 g) { return cs + (s64)g * (8 * n + 72); }

    // clear makes the rotations of steps from … to-1 none.
    INLINE void clear(R *t, int from, int to) {
        SYNC;
        for (int i = 2 * SWEEPS * (from + SWEEPS) + (int)LANE; i < 2 * SWEEPS * (to + SWEEPS); i += 32)
            t[i] = (i & 1) ? (R)0 : (R)1;
        SYNC;
    }

    // at is where rotations of columns i and i + 1 go in the sweep that is being made; the next pair is 2 SWEEPS further.
    INLINE R *at(u32 set, int i) { return table(group + set * GROUPS) + 2 * (SWEEPS * (i - (int)filled + SWEEPS) + (int)filled); }

    // sweep ends a sweep over the pairs from … to-1.
    INLINE void sweep(int from, int to) {
        if ((!z && !z2) || from >= to)
            return;
        low = from < low ? from : low;
        high = to > high ? to : high;
        if (++filled == SWEEPS) {
            endGroup();
            if (group == GROUPS)
                apply();
        }
    }

    INLINE void endGroup() {
        R *t = table(group) + 8 * n + 64;
        t[0] = (R)low;
        t[1] = (R)high;
        filled = 0;
        low = (int)n;
        high = -1;
        group++;
    }

    INLINE R step(R x, R *f, const R *p) {
#pragma unroll
        for (int k = 0; k < SWEEPS; k++) {
            R c = p[2 * k], s = p[2 * k + 1], t = x * s + f[k] * c;
            f[k] = x * c - f[k] * s;
            x = t;
        }
        return x;
    }

    INLINE void strip(R *p, const R *t, int from, int to) {
        R f[SWEEPS] = {0, 0, 0, 0};
        int i = to;
        t += 2 * SWEEPS * (to + SWEEPS);
        p += (s64)to * 32;
        for (; i > to - SWEEPS; i--, p -= 32, t -= 2 * SWEEPS)
            step(i >= from ? *p : (R)0, f, t);
        for (; i >= from; i--, p -= 32, t -= 2 * SWEEPS)
            p[SWEEPS * 32] = step(*p, f, t);
        for (; i >= from - SWEEPS; i--, p -= 32, t -= 2 * SWEEPS)
            if (i + SWEEPS <= to)
                p[SWEEPS * 32] = step((R)0, f, t);
    }

    // apply turns the strips by what waits.
    INLINE void apply() {
        if (filled)
            endGroup();
        SYNC;
        u32 all = (z ? strips : 0) + (z2 ? strips2 : 0);
        for (u32 k = 0; k < all; k++) {
            bool second = k >= (z ? strips : 0);
            R *p = second ? z2 + (s64)(k - (z ? strips : 0)) * n * 32 : z + (s64)k * n * 32;
            for (u32 g = 0; g < group; g++) {
                const R *t = table(g) + 8 * n + 64;
                strip(p + LANE, table(second ? g + GROUPS : g), (int)t[0], (int)t[1]);
            }
        }
        for (u32 g = 0; g < group; g++) {
            const R *t = table(g) + 8 * n + 64;
            int from = (int)t[0] - SWEEPS, to = (int)t[1] + SWEEPS;
            clear(table(g), from, to);
            if (z2)
                clear(table(g + GROUPS), from, to);
        }
        group = 0;
    }

    // end applies the last of all.
    INLINE void end() {
        if (z || z2)
            apply();
    }
};

// ql finds the eigenvalues of a tridiagonal matrix; turns takes the rotations. Every lane computes the same. Gives how many did not
// converge.
template <class R> INLINE u32 ql(R *d, R *e, u32 n, Turns<R> &turns, R scale) {
    R eps = epsilon(R(0)), tiny = eps * eps * scale;
    u32 left = 60 * n;
    for (u32 l = 0; l < n; l++)
        for (;;) {
            u32 m = l;
            for (; m + 1 < n; m++) {
                R x = size(e[m]);
                if (x <= eps * (size(d[m]) + size(d[m + 1])) || x <= tiny)
                    break;
            }
            if (m == l)
                break;
            if (left-- == 0) {
                u32 bad = 0;
                for (u32 i = 0; i + 1 < n; i++)
                    bad += e[i] != 0;
                return bad ? bad : 1;
            }
            R g = (d[l + 1] - d[l]) / (2 * e[l]), r = root(g * g + 1);
            g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
            R s = 1, c = 1, p = 0, next = d[m];
            u32 i = m;
            bool split = false;
            R *put = turns.at(0, (int)m);
            while (i-- > l) {
                R ei = e[i], di = d[i], f = s * ei, b = c * ei;
                r = hypotenuse(f, g);
                e[i + 1] = r;
                if (r == 0) {
                    d[i + 1] = next - p;
                    e[m] = 0;
                    split = true;
                    break;
                }
                R inverse = 1 / r;
                s = f * inverse;
                c = g * inverse;
                g = next - p;
                r = (di - g) * s + 2 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                next = di;
                put -= 2 * Turns<R>::SWEEPS;
                if (turns.z) {
                    put[0] = c;
                    put[1] = s;
                }
            }
            if (!split) {
                d[l] -= p;
                e[l] = g;
                e[m] = 0;
            }
            turns.sweep((int)(split ? i + 1 : l), (int)m);
        }
    return 0;
}
