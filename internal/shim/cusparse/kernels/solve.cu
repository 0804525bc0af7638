// Triangular systems, incomplete factors and systems with few diagonals.
#include "device.h"

// trsm: a thread per right-hand side, the lines one after another. Entries of the other triangle are not used. A diagonal that is not 0
// has the numbers that count instead of the matrix's own.
template <class T> __device__ void trsm(const Sp &a, const Dn &b, const Dn &x, const Scalar &alpha, s64 n, u32 lower, u32 unit, u64 diagonal) {
    T al = value<T>(alpha);
    for (s64 j = INDEX; j < n; j += TOTAL)
        for (s64 s = 0; s < a.lines; s++) {
            s64 i = lower ? s : a.lines - 1 - s;
            Line l = line_of(a, i);
            T sum = mul(al, get<T>(b, i, j)), d = {};
            for (s64 k = 0; k < l.count; k++) {
                s64 at, p = entry(a, l, k, &at);
                if (p == i) d = value_at<T>(a, at);
                else if (lower ? p < i : p > i) sum = sub(sum, mul(value_at<T>(a, at), get<T>(x, p, j)));
            }
            if (diagonal) {
                Sp own = a;
                own.values = diagonal;
                d = value_at<T>(own, i);
            }
            put(x, i, j, unit ? sum : div(sum, d));
        }
}
BOTH(trsm, (Sp a, Dn b, Dn x, Scalar alpha, s64 n, u32 lower, u32 unit, u64 diagonal), (a, b, x, alpha, n, lower, unit, diagonal))

// Pivots are what a factorisation or an analysis finds: the first line, or line of blocks, without a diagonal or with a zero one.
struct Pivots {
    s64 missing, zero;
};
__device__ inline s64 first(s64 old, s64 v) { return old < 0 || v < old ? v : old; }

KERNEL missing(Sp a, u64 pivots) {
    Pivots *p = (Pivots *)pivots;
    p->missing = p->zero = -1;
    for (s64 i = 0; i < a.lines; i++) {
        Line l = line_of(a, i);
        bool there = false;
        for (s64 k = 0; k < l.count; k++) {
            s64 at;
            there |= entry(a, l, k, &at) == i;
        }
        if (!there) p->missing = first(p->missing, i / a.bm + a.base);
    }
}

// zero_diagonal: the same after the values are known, for solves.
template <class T> __device__ void zero_diagonal(const Sp &a, u64 pivots) {
    Pivots *p = (Pivots *)pivots;
    p->zero = -1;
    for (s64 i = 0; i < a.lines; i++) {
        Line l = line_of(a, i);
        for (s64 k = 0; k < l.count; k++) {
            s64 at;
            if (entry(a, l, k, &at) == i && zero(value_at<T>(a, at))) p->zero = first(p->zero, i / a.bm + a.base);
        }
    }
}
BOTH(zero_diagonal, (Sp a, u64 pivots), (a, pivots))

__device__ inline double root(double v) { return __builtin_sqrt(v); }
__device__ inline c64 root(c64 v) { return {__builtin_sqrt(v.re), 0}; }

// ilu: A ≈ L U in place, one thread. where has a number a line: the place of each entry of the line in work, and of all diagonals.
template <class T> __device__ void ilu(const Sp &a, u64 where, u64 pivots, const Scalar &boost, const Scalar &tolerance, u32 boosted) {
    s64 *w = (s64 *)where, *diagonal = w + a.lines;
    Pivots *pv = (Pivots *)pivots;
    pv->zero = -1;
    double tol = value<double>(tolerance);
    for (s64 i = 0; i < a.lines; i++) w[i] = diagonal[i] = -1;
    for (s64 i = 0; i < a.lines; i++) {
        Line l = line_of(a, i);
        s64 at, p;
        for (s64 k = 0; k < l.count; k++) p = entry(a, l, k, &at), w[p] = at;
        diagonal[i] = w[i];
        for (s64 k = 0; k < l.count; k++) {
            p = entry(a, l, k, &at);
            if (p >= i) continue;
            T d = diagonal[p] < 0 ? T{} : get<T>(a.values, a.type, diagonal[p]);
            T f = div(get<T>(a.values, a.type, at), d);
            put(a.values, a.type, at, f);
            f = get<T>(a.values, a.type, at);
            Line o = line_of(a, p);
            for (s64 q = 0; q < o.count; q++) {
                s64 from, c = entry(a, o, q, &from);
                if (c > p && w[c] >= 0) put(a.values, a.type, w[c], sub(get<T>(a.values, a.type, w[c]), mul(f, get<T>(a.values, a.type, from))));
            }
        }
        if (diagonal[i] >= 0) {
            T d = get<T>(a.values, a.type, diagonal[i]);
            if (boosted && size_of(d) <= tol) put(a.values, a.type, diagonal[i], value<T>(boost));
            else if (zero(d)) pv->zero = first(pv->zero, i / a.bm + a.base);
        } else {
            pv->zero = first(pv->zero, i / a.bm + a.base);
        }
        for (s64 k = 0; k < l.count; k++) p = entry(a, l, k, &at), w[p] = -1;
    }
}
BOTH(ilu, (Sp a, u64 where, u64 pivots, Scalar boost, Scalar tolerance, u32 boosted), (a, where, pivots, boost, tolerance, boosted))

// ic: A ≈ L L^H in place, one thread; what lies above the diagonal stays.
template <class T> __device__ void ic(const Sp &a, u64 where, u64 pivots) {
    s64 *w = (s64 *)where, *diagonal = w + a.lines;
    Pivots *pv = (Pivots *)pivots;
    pv->zero = -1;
    for (s64 i = 0; i < a.lines; i++) w[i] = diagonal[i] = -1;
    for (s64 i = 0; i < a.lines; i++) {
        Line l = line_of(a, i);
        s64 at, p;
        for (s64 k = 0; k < l.count; k++) p = entry(a, l, k, &at), w[p] = at;
        diagonal[i] = w[i];
        for (s64 k = 0; k < l.count; k++) {
            p = entry(a, l, k, &at);
            if (p > i) continue;
            T sum = get<T>(a.values, a.type, at);
            Line o = line_of(a, p);
            for (s64 q = 0; q < o.count; q++) {
                s64 from, c = entry(a, o, q, &from);
                if (c < p && w[c] >= 0) sum = sub(sum, mul(get<T>(a.values, a.type, w[c]), conj(get<T>(a.values, a.type, from))));
            }
            if (p < i) {
                T d = diagonal[p] < 0 ? T{} : get<T>(a.values, a.type, diagonal[p]);
                put(a.values, a.type, at, div(sum, d));
            } else {
                if (!(real_of(sum) > 0)) pv->zero = first(pv->zero, i / a.bm + a.base);
                put(a.values, a.type, at, root(sum));
            }
        }
        if (diagonal[i] < 0) pv->zero = first(pv->zero, i / a.bm + a.base);
        for (s64 k = 0; k < l.count; k++) p = entry(a, l, k, &at), w[p] = -1;
    }
}
BOTH(ic, (Sp a, u64 where, u64 pivots), (a, where, pivots))

// Band is a matrix of five diagonals, or of three where the outer ones are 0; element i of system s is at i × down + s × right.
struct Band {
    u64 ds, dl, d, du, dw;
    s64 m, down, right;
    u32 type, pivot;
};

// band solves a system a thread by elimination with a window of three rows. The rows of the upper factor, five numbers each, go to
// scratch with the right-hand side after them.
template <class T> __device__ void band(const Band &g, const Dn &x, s64 systems, u64 scratch) {
    for (s64 s = INDEX; s < systems; s += TOTAL) {
        T *u = (T *)scratch + s * g.m * 6;
        auto at = [&](u64 base, s64 i) { return base ? get<T>(base, g.type, i * g.down + s * g.right) : T{}; };
        // Row r of the window holds columns i … i + 4 and the right-hand side.
        T w[3][6];
        auto fetch = [&](s64 i, s64 column, T *row) {
            for (int c = 0; c < 6; c++) row[c] = T{};
            if (i >= g.m) return;
            T v[5] = {at(g.ds, i), at(g.dl, i), at(g.d, i), at(g.du, i), at(g.dw, i)};
            for (int c = 0; c < 5; c++) {
                s64 j = i - 2 + c, to = j - column;
                if (j >= 0 && j < g.m && to >= 0 && to < 5) row[to] = v[c];
            }
            row[5] = get<T>(x, i, s);
        };
        for (s64 r = 0; r < 3; r++) fetch(r, 0, w[r]);
        for (s64 i = 0; i < g.m; i++) {
            if (g.pivot)
                for (int r = 1; r < 3; r++)
                    if (i + r < g.m && size1(w[r][0]) > size1(w[0][0]))
                        for (int c = 0; c < 6; c++) {
                            T t = w[0][c];
                            w[0][c] = w[r][c], w[r][c] = t;
                        }
            for (int c = 0; c < 6; c++) u[i * 6 + c] = w[0][c];
            for (int r = 1; r < 3; r++) { // the rows below lose their first column, and move up
                T f = zero(w[r][0]) ? T{} : div(w[r][0], u[i * 6]);
                for (int c = 0; c < 4; c++) w[r - 1][c] = sub(w[r][c + 1], mul(f, u[i * 6 + c + 1]));
                w[r - 1][4] = T{};
                w[r - 1][5] = sub(w[r][5], mul(f, u[i * 6 + 5]));
            }
            fetch(i + 3, i + 1, w[2]);
        }
        for (s64 i = g.m - 1; i >= 0; i--) {
            T sum = u[i * 6 + 5];
            for (int c = 1; c < 5; c++)
                if (i + c < g.m) sum = sub(sum, mul(u[i * 6 + c], get<T>(x, i + c, s)));
            put(x, i, s, div(sum, u[i * 6]));
        }
    }
}
BOTH(band, (Band g, Dn x, s64 systems, u64 scratch), (g, x, systems, scratch))
