// Products of sparse matrices of any kind with vectors and matrices, and functions of sparse vectors.
#include "device.h"

// spmv: a thread per line.
template <class T> __device__ void spmv(const Sp &a, const Dn &x, const Dn &y, const Scalar &alpha, const Scalar &beta) {
    T al = value<T>(alpha), be = value<T>(beta);
    for (s64 i = INDEX; i < a.lines; i += TOTAL) {
        Line l = line_of(a, i);
        T sum = {};
        for (s64 k = 0; k < l.count; k++) {
            s64 at, j = entry(a, l, k, &at);
            if (j >= 0) sum = fma(value_at<T>(a, at), get<T>(x, j, 0), sum);
        }
        put(y, i, 0, combine(al, sum, be, [&] { return get<T>(y, i, 0); }));
    }
}
BOTH(spmv, (Sp a, Dn x, Dn y, Scalar alpha, Scalar beta), (a, x, y, alpha, beta))

// masked: the same for the block lines of a list.
template <class T> __device__ void masked(const Sp &a, const Dn &x, const Dn &y, const Scalar &alpha, const Scalar &beta, u64 mask, s64 n) {
    T al = value<T>(alpha), be = value<T>(beta);
    for (s64 m = INDEX; m < n * a.bm; m += TOTAL) {
        s64 i = ((s64)((const int *)mask)[m / a.bm] - a.base) * a.bm + m % a.bm;
        Line l = line_of(a, i);
        T sum = {};
        for (s64 k = 0; k < l.count; k++) {
            s64 at, j = entry(a, l, k, &at);
            sum = fma(value_at<T>(a, at), get<T>(x, j, 0), sum);
        }
        put(y, i, 0, combine(al, sum, be, [&] { return get<T>(y, i, 0); }));
    }
}
BOTH(masked, (Sp a, Dn x, Dn y, Scalar alpha, Scalar beta, u64 mask, s64 n), (a, x, y, alpha, beta, mask, n))

// spmm: lanes over the columns of the dense matrix.
template <class T> __device__ void spmm(const Sp &a, const Dn &b, const Dn &c, const Scalar &alpha, const Scalar &beta, s64 n) {
    T al = value<T>(alpha), be = value<T>(beta);
    s64 j = (s64)BLOCK_X * THREADS_X + LANE;
    if (j >= n) return;
    for (s64 i = (s64)BLOCK_Y * THREADS_Y + WARP; i < a.lines; i += (s64)BLOCKS_Y * THREADS_Y) {
        Line l = line_of(a, i);
        T sum = {};
        for (s64 k = 0; k < l.count; k++) {
            s64 at, p = entry(a, l, k, &at);
            if (p >= 0) sum = fma(value_at<T>(a, at), get<T>(b, p, j), sum);
        }
        put(c, i, j, combine(al, sum, be, [&] { return get<T>(c, i, j); }));
    }
}
BOTH(spmm, (Sp a, Dn b, Dn c, Scalar alpha, Scalar beta, s64 n), (a, b, c, alpha, beta, n))

// sddmm: a thread per line of the sparse matrix; by_column says that lines are columns.
template <class T> __device__ void sddmm(const Sp &c, const Dn &a, const Dn &b, const Scalar &alpha, const Scalar &beta, s64 depth, u32 by_column) {
    T al = value<T>(alpha), be = value<T>(beta);
    for (s64 line = INDEX; line < c.lines; line += TOTAL) {
        Line l = line_of(c, line);
        for (s64 k = 0; k < l.count; k++) {
            s64 at, p = entry(c, l, k, &at);
            if (p < 0) continue;
            s64 i = by_column ? p : line, j = by_column ? line : p;
            T sum = {};
            for (s64 d = 0; d < depth; d++) sum = fma(get<T>(a, i, d), get<T>(b, d, j), sum);
            put(c.values, c.type, at, combine(al, sum, be, [&] { return get<T>(c.values, c.type, at); }));
        }
    }
}
BOTH(sddmm, (Sp c, Dn a, Dn b, Scalar alpha, Scalar beta, s64 depth, u32 by_column), (c, a, b, alpha, beta, depth, by_column))

// Sv is a sparse vector.
struct Sv {
    s64 n;
    u64 indices, values;
    u32 base, wide, type, size;
};

__device__ inline s64 place(const Sv &x, s64 k) { return index(x.indices, x.wide, k) - x.base; }

template <class T> __device__ void scale(u64 y, u32 type, s64 n, const Scalar &beta) {
    T be = value<T>(beta);
    for (s64 i = INDEX; i < n; i += TOTAL) put(y, type, i, zero(be) ? T{} : mul(be, get<T>(y, type, i)));
}
BOTH(scale, (u64 y, u32 type, s64 n, Scalar beta), (y, type, n, beta))

template <class T> __device__ void axpy(const Sv &x, u64 y, u32 type, const Scalar &alpha) {
    T al = value<T>(alpha);
    for (s64 k = INDEX; k < x.n; k += TOTAL) {
        s64 i = place(x, k);
        put(y, type, i, fma(al, get<T>(x.values, x.type, k), get<T>(y, type, i)));
    }
}
BOTH(axpy, (Sv x, u64 y, u32 type, Scalar alpha), (x, y, type, alpha))

template <class T> __device__ void rot(const Sv &x, u64 y, u32 type, const Scalar &c, const Scalar &s) {
    T cv = value<T>(c), sv = value<T>(s);
    for (s64 k = INDEX; k < x.n; k += TOTAL) {
        s64 i = place(x, k);
        T a = get<T>(x.values, x.type, k), b = get<T>(y, type, i);
        put(x.values, x.type, k, add(mul(cv, a), mul(sv, b)));
        put(y, type, i, sub(mul(cv, b), mul(sv, a)));
    }
}
BOTH(rot, (Sv x, u64 y, u32 type, Scalar c, Scalar s), (x, y, type, c, s))

KERNEL gather(Sv x, u64 y, u32) {
    for (s64 k = INDEX; k < x.n; k += TOTAL) copy(x.values, k, y, place(x, k), x.size);
}
KERNEL scatter(Sv x, u64 y, u32) {
    for (s64 k = INDEX; k < x.n; k += TOTAL) copy(y, place(x, k), x.values, k, x.size);
}

// dot: one thread, so that the order of the sum does not change.
template <class T> __device__ void dot(const Sv &x, u64 y, u32 type, u64 out, u32 out_type, u32 conjugate) {
    T sum = {};
    for (s64 k = 0; k < x.n; k++) sum = fma(maybe_conj(get<T>(x.values, x.type, k), conjugate), get<T>(y, type, place(x, k)), sum);
    put(out, out_type, 0, sum);
}
BOTH(dot, (Sv x, u64 y, u32 type, u64 out, u32 out_type, u32 conjugate), (x, y, type, out, out_type, conjugate))

// gemvi: a dense matrix and a sparse vector, a thread per row.
template <class T> __device__ void gemvi(const Dn &a, const Sv &x, u64 y, s64 m, const Scalar &alpha, const Scalar &beta) {
    T al = value<T>(alpha), be = value<T>(beta);
    for (s64 i = INDEX; i < m; i += TOTAL) {
        T sum = {};
        for (s64 k = 0; k < x.n; k++) sum = fma(get<T>(a, i, place(x, k)), get<T>(x.values, x.type, k), sum);
        put(y, x.type, i, combine(al, sum, be, [&] { return get<T>(y, x.type, i); }));
    }
}
BOTH(gemvi, (Dn a, Sv x, u64 y, s64 m, Scalar alpha, Scalar beta), (a, x, y, m, alpha, beta))
