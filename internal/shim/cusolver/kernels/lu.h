// Panels of LU, and row exchanges.
#pragma once
#include "panel.h"

// Pivots are of 32 or 64 bits.
struct Pivots {
    u64 at; // none: rows stay where they are
    u32 wide, unused;
};
__device__ inline u32 pivot(const Pivots &p, u32 k) { return (u32)(p.wide ? ((const s64 *)p.at)[k] : (s64)((const int *)p.at)[k]) - 1; }
__device__ inline void setPivot(const Pivots &p, u32 k, u32 row) {
    if (p.wide)
        ((s64 *)p.at)[k] = (s64)row + 1;
    else
        ((int *)p.at)[k] = (int)row + 1;
}

// Best is the first element of the largest size that a lane has seen.
template <class R> struct Best {
    R size;
    u32 row;
    __device__ void see(R s, u32 i) {
        if (s > size) {
            size = s;
            row = i;
        }
    }
    // all is the row of the first one of all lanes.
    __device__ u32 all() const {
        R s = size;
#pragma unroll
        for (int d = 16; d; d >>= 1) {
            R o = other(s, d);
            s = o > s ? o : s;
        }
        s = first(s);
        u32 r = size == s ? row : ~0u;
#pragma unroll
        for (int d = 16; d; d >>= 1) {
            u32 o = other(r, d);
            r = o < r ? o : r;
        }
        return first(r);
    }
};

// largestOf is the row of the first largest element of a column from row `from` on.
template <class T> __device__ u32 largestOf(const T *column, u32 from, u32 m) {
    Best<typename Real<T>::type> best = {-1, from};
    column += LANE;
    eachRow(from, m, [&](u32 i) { best.see(size1(column[i]), i + LANE); });
    return best.all();
}

// eliminate divides column k below the diagonal and takes it off `count` columns behind it. It finds the pivot of the
// next one.
template <class T, int COUNT> __device__ __attribute__((always_inline)) u32 eliminate(T *a, s64 ld, u32 m, u32 k) {
    typedef typename Real<T>::type R;
    T *column = a + (s64)k * ld, v = column[k], minus[COUNT ? COUNT : 1];
    bool fine = usual(size1(v));
    T inverse = fine ? div(one<T>(), v) : one<T>();
#pragma unroll
    for (int c = 0; c < COUNT; c++)
        minus[c] = sub(T{}, column[(c + 1) * ld + k]);
    Best<R> best = {-1, k + 1};
    T *mine[COUNT + 1];
#pragma unroll
    for (int c = 0; c <= COUNT; c++)
        mine[c] = column + c * ld + LANE;
    eachRow(k + 1, m, [&](u32 i) {
        T l = fine ? mul(mine[0][i], inverse) : div(mine[0][i], v);
        mine[0][i] = l;
#pragma unroll
        for (int c = 0; c < COUNT; c++) {
            T x = fma(minus[c], l, mine[c + 1][i]);
            mine[c + 1][i] = x;
            if (c == 0)
                best.see(size1(x), i + LANE);
        }
    });
    return COUNT ? best.all() : 0;
}

enum { STRIP = 4 }; // columns of LU that are applied together

// strips takes STRIP columns from k on off WIDE columns from j on: first the rows of the columns themselves.
template <class T, int WIDE> __device__ __attribute__((always_inline)) void strips(T *a, s64 ld, u32 m, u32 k, u32 j) {
    T *l = a + (s64)k * ld, *x = a + (s64)j * ld, u[WIDE][STRIP];
#pragma unroll
    for (int c = 0; c < WIDE; c++)
#pragma unroll
        for (int q = 0; q < STRIP; q++) {
            T v = x[c * ld + k + q];
#pragma unroll
            for (int p = 0; p < q; p++)
                v = fma(l[p * ld + k + q], u[c][p], v);
            u[c][q] = sub(T{}, v);
        }
    SYNC;
    if (LANE == 0)
#pragma unroll
        for (int c = 0; c < WIDE; c++)
#pragma unroll
            for (int q = 1; q < STRIP; q++)
                x[c * ld + k + q] = sub(T{}, u[c][q]);
    SYNC;
    T *to[WIDE];
    const T *from[STRIP];
#pragma unroll
    for (int c = 0; c < WIDE; c++)
        to[c] = x + c * ld + LANE;
#pragma unroll
    for (int q = 0; q < STRIP; q++)
        from[q] = l + q * ld + LANE;
    eachRow(k + STRIP, m, [&](u32 i) {
        T v[WIDE];
#pragma unroll
        for (int c = 0; c < WIDE; c++)
            v[c] = to[c][i];
#pragma unroll
        for (int q = 0; q < STRIP; q++) {
            T w = from[q][i];
#pragma unroll
            for (int c = 0; c < WIDE; c++)
                v[c] = fma(u[c][q], w, v[c]);
        }
#pragma unroll
        for (int c = 0; c < WIDE; c++)
            to[c][i] = v[c];
    });
}

enum { FEW = 8 }; // rows of a panel for which warps are too wide

// luFew is getf2 of at most FEW rows, element by element. Every lane computes the same, which is one computation where lanes
// are a vector's. None stores before all have read: first waits for them, and unlike SYNC it keeps what is one number one number.
// No lane need wait for the others' stores, as it stored the same itself. It returns 1 + the first column without a pivot, or 0.
template <class T> __device__ __attribute__((always_inline)) u32 luFew(T *a, s64 ld, u32 m, u32 n, const Pivots &pivots, u32 at) {
    typedef typename Real<T>::type R;
    u32 bad = 0;
#pragma unroll 1
    for (u32 k = 0; k < m && k < n; k++) {
        T *column = a + (s64)k * ld;
        if (pivots.at) {
            R largest = -1;
            u32 p = k;
#pragma unroll 1
            for (u32 i = k; i < m; i++) {
                R s = size1(column[i]);
                p = s > largest ? i : p;
                largest = s > largest ? s : largest;
            }
            setPivot(pivots, at + k, at + p);
            if (p != k)
#pragma unroll 1
                for (u32 j = 0; j < n; j++) {
                    T *x = a + (s64)j * ld, u = first(x[k]), v = first(x[p]);
                    x[k] = v;
                    x[p] = u;
                }
        }
        T v = column[k];
        if (zero(v)) {
            bad = bad ? bad : k + 1;
            continue;
        }
        bool fine = usual(size1(v));
        T inverse = fine ? div(one<T>(), v) : one<T>();
#pragma unroll 1
        for (u32 i = k + 1; i < m; i++) {
            T l = fine ? mul(column[i], inverse) : div(column[i], v);
            column[i] = first(l);
        }
#pragma unroll 1
        for (u32 j = k + 1; j < n; j++) {
            T *x = a + (s64)j * ld, minus = sub(T{}, x[k]);
#pragma unroll 1
            for (u32 i = k + 1; i < m; i++) {
                T y = fma(minus, column[i], x[i]);
                x[i] = first(y);
            }
        }
    }
    return bad;
}

// getf2 is LU of a panel, which begins at row and column `at` of its matrix, STRIP columns at a time.
template <class T> __device__ __attribute__((always_inline)) void getf2(T *a, s64 ld, u32 m, u32 n, Pivots pivots, int *info, u32 at) {
    enum { WIDE = sizeof(T) == 4 ? 4 : 2 };
    u32 bad = 0, least = m < n ? m : n;
    if (m <= FEW) {
        bad = luFew<T>(a, ld, m, n, pivots, at);
        least = 0;
    }
#pragma unroll 1
    for (u32 k0 = 0; k0 < least; k0 += STRIP) {
        u32 wide = n - k0 < STRIP ? n - k0 : STRIP, rows = m - k0 < STRIP ? m - k0 : STRIP, dead = 0;
        u32 p = pivots.at ? largestOf(a + (s64)k0 * ld, k0, m) : k0;
#pragma unroll 1
        for (u32 q = 0; q < wide && q < rows; q++) {
            u32 k = k0 + q;
            if (pivots.at) {
                if (LANE == 0)
                    setPivot(pivots, at + k, at + p);
                if (p != k)
                    for (u32 j = LANE; j < n; j += 32) {
                        T *x = a + (s64)j * ld;
                        T v = x[k];
                        x[k] = x[p];
                        x[p] = v;
                    }
                SYNC;
            }
            if (zero(a[(s64)k * (ld + 1)])) {
                bad = bad ? bad : k + 1;
                dead |= 1u << q;
                if (q + 1 < wide)
                    p = largestOf(a + (s64)(k + 1) * ld, k + 1, m);
                continue;
            }
            switch (wide - 1 - q) {
            case 0: eliminate<T, 0>(a, ld, m, k); break;
            case 1: p = eliminate<T, 1>(a, ld, m, k); break;
            case 2: p = eliminate<T, 2>(a, ld, m, k); break;
            default: p = eliminate<T, 3>(a, ld, m, k);
            }
        }
        u32 j = k0 + wide;
        if (!dead && wide == STRIP && rows == STRIP)
#pragma unroll 1
            for (; j + WIDE <= n; j += WIDE)
                strips<T, WIDE>(a, ld, m, k0, j);
#pragma unroll 1
        for (; j < n; j++) // what is left, and columns without a pivot: one by one
#pragma unroll 1
            for (u32 q = 0; q < wide && q < rows; q++)
                if (!(dead >> q & 1)) {
                    T w = sub(T{}, a[(s64)j * ld + k0 + q]), *x = a + (s64)j * ld + LANE;
                    const T *l = a + (s64)(k0 + q) * ld + LANE;
                    eachRow(k0 + q + 1, m, [&](u32 i) { x[i] = fma(w, l[i], x[i]); });
                }
    }
    if (LANE == 0 && info) {
        int before = at ? *info : 0;
        *info = before ? before : bad ? (int)(at + bad) : 0;
    }
}

// laswp exchanges rows k1 … k2-1 with those of the pivots, whose numbers count from `base`: column by column, every lane the same
// (luFew). What 32 exchanges make of a column gathered and scattered by 32 lanes took twice to five times as long, and a lane with a column
// of its own would have all lanes meet in a few sets of the cache where the distance of columns is a power of two.
template <class T> __device__ __attribute__((always_inline)) void laswp(T *a, s64 ld, u32 n, u32 k1, u32 k2, Pivots pivots, u32 base, s64 step, u32 *rows) {
    u32 count = k2 - k1;
    for (u32 c = 0; c < count; c += 32) {
        u32 len = count - c < 32 ? count - c : 32;
        u32 low = step > 0 ? k1 + c : k2 - c - len;
        SYNC;
        if (LANE < len)
            rows[LANE] = pivot(pivots, (u32)((step > 0 ? step : -step) * (s64)(low + LANE))) - base;
        SYNC;
#pragma unroll 1
        for (u32 g = BLOCK_X * 32; g < n; g += BLOCKS_X * 32)
#pragma unroll 1
            for (u32 j = g; j < g + 32 && j < n; j++) {
                T *x = a + (s64)j * ld;
#pragma unroll 1
                for (u32 i = 0; i < len; i++) {
                    u32 at = step > 0 ? i : len - 1 - i;
                    T *p = x + low + at, *q = x + rows[at], u = first(*p), v = first(*q);
                    *p = v;
                    *q = u;
                }
            }
    }
}
