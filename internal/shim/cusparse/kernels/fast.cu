// Products of CSR with indices of 32 bits, in the types that are common. On a CPU a warp is a vector and a block of one thread is
// scalar code: what has no contiguous direction for lanes is written for one thread, with several sums at a time.
#include "device.h"

// Rows is CSR.
struct Rows {
    s64 m;
    u64 offsets, indices, values;
    u32 base, pad;
};

// spmv: a thread takes a run of rows. Four sums hide the latency of additions; their order is fixed.
template <class T> __device__ inline T row_sum(const int *ind, const T *val, const T *x, int n) {
    T s0 = {}, s1 = {}, s2 = {}, s3 = {};
    int k = 0;
    for (; k + 4 <= n; k += 4) {
        s0 = fma(val[k], x[ind[k]], s0);
        s1 = fma(val[k + 1], x[ind[k + 1]], s1);
        s2 = fma(val[k + 2], x[ind[k + 2]], s2);
        s3 = fma(val[k + 3], x[ind[k + 3]], s3);
    }
    for (; k < n; k++) s0 = fma(val[k], x[ind[k]], s0);
    return add(add(s0, s1), add(s2, s3));
}


// short_sum is for rows of few entries, where the fewest instructions win.
template <class T> __device__ inline T short_sum(const int *ind, const T *val, const T *x, int n) {
    T s = {};
#pragma unroll 1
    for (int k = 0; k < n; k++) s = fma(val[k], x[ind[k]], s);
    return s;
}

template <class T, bool Short> __device__ void spmv(const Rows &a, u64 xs, u64 ys, const Scalar &alpha, const Scalar &beta, u32 run) {
    T al = value<T>(alpha), be = value<T>(beta);
    const int *off = (const int *)a.offsets;
    const int *ind = (const int *)a.indices - a.base;
    const T *val = (const T *)a.values - a.base;
    const T *x = (const T *)xs - a.base;
    T *y = (T *)ys;
    s64 begin = (s64)BLOCK_X * run, end = begin + run < a.m ? begin + run : a.m;
    for (s64 i = begin; i < end; i++) {
        int b = off[i];
        T s = mul(al, (Short ? short_sum<T> : row_sum<T>)(ind + b, val + b, x, off[i + 1] - b));
        y[i] = zero(be) ? s : fma(be, y[i], s);
    }
}

// spmm: B and C row by row, lanes over columns, U × 32 of them; a warp takes a run of rows. S sums for every column hide the latency of
// additions; their order is fixed.
template <class T, int U, int S, bool Whole> __device__ inline void spmm_row(const int *ind, const T *val, const T *b, s64 down, s64 room, int k, int e, T *s) {
    T sums[S][U] = {};
    for (; k + S <= e; k += S)
#pragma unroll
        for (int q = 0; q < S; q++) {
            const T *row = b + ind[k + q] * down;
            T v = val[k + q];
#pragma unroll
            for (int u = 0; u < U; u++)
                if (Whole || u * 32 < room) sums[q][u] = fma(v, row[u * 32], sums[q][u]);
        }
    for (; k < e; k++) {
        const T *row = b + ind[k] * down;
        T v = val[k];
#pragma unroll
        for (int u = 0; u < U; u++)
            if (Whole || u * 32 < room) sums[0][u] = fma(v, row[u * 32], sums[0][u]);
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
#pragma unroll
        for (int q = 1; q < S; q++) sums[0][u] = add(sums[0][u], sums[q][u]);
        s[u] = sums[0][u];
    }
}

template <class T, int U, int S, bool Whole> __device__ inline void spmm_rows(const Rows &a, const Dn &b, const Dn &c, T al, T be, s64 first, s64 room, s64 begin, s64 end) {
    const int *off = (const int *)a.offsets;
    const int *ind = (const int *)a.indices - a.base;
    const T *val = (const T *)a.values - a.base;
    const T *from = (const T *)b.base + first - (s64)a.base * b.down;
    for (s64 i = begin; i < end; i++) {
        T s[U];
        spmm_row<T, U, S, Whole>(ind, val, from, b.down, room, off[i], off[i + 1], s);
        T *to = (T *)c.base + i * c.down + first;
#pragma unroll
        for (int u = 0; u < U; u++) {
            if (!Whole && u * 32 >= room) continue;
            T r = mul(al, s[u]);
            to[u * 32] = zero(be) ? r : fma(be, to[u * 32], r);
        }
    }
}

template <class T, int U, int S> __device__ void spmm(const Rows &a, const Dn &b, const Dn &c, const Scalar &alpha, const Scalar &beta, s64 n, u32 run) {
    T al = value<T>(alpha), be = value<T>(beta);
    s64 tile = (s64)BLOCK_X * 32 * U, first = tile + LANE;
    s64 begin = (s64)BLOCK_Y * run, end = begin + run < a.m ? begin + run : a.m;
    if (tile + 32 * U <= n) spmm_rows<T, U, S, true>(a, b, c, al, be, first, 0, begin, end);
    else spmm_rows<T, U, S, false>(a, b, c, al, be, first, n - first, begin, end);
}

// spmm_columns: B and C column by column, or few columns: a thread takes a run of rows, four columns at a time.
template <class T> __device__ void spmm_columns(const Rows &a, const Dn &b, const Dn &c, const Scalar &alpha, const Scalar &beta, s64 n, u32 run) {
    T al = value<T>(alpha), be = value<T>(beta);
    const int *off = (const int *)a.offsets;
    const int *ind = (const int *)a.indices - a.base;
    const T *val = (const T *)a.values - a.base;
    s64 begin = (s64)BLOCK_X * run, end = begin + run < a.m ? begin + run : a.m;
    for (s64 j = 0; j < n; j += 4) {
        s64 j1 = j + 1 < n ? 1 : 0, j2 = j + 2 < n ? 2 : 0, j3 = j + 3 < n ? 3 : 0;
        const T *b0 = (const T *)b.base + j * b.right, *b1 = b0 + j1 * b.right, *b2 = b0 + j2 * b.right, *b3 = b0 + j3 * b.right;
        for (s64 i = begin; i < end; i++) {
            T s[4] = {};
            for (int k = off[i], e = off[i + 1]; k < e; k++) {
                s64 p = (s64)(ind[k] - (int)a.base) * b.down;
                T v = val[k];
                s[0] = fma(v, b0[p], s[0]);
                s[1] = fma(v, b1[p], s[1]);
                s[2] = fma(v, b2[p], s[2]);
                s[3] = fma(v, b3[p], s[3]);
            }
            T *to = (T *)c.base + i * c.down + j * c.right;
            for (s64 u = 0; u < 4 && j + u < n; u++) {
                T r = mul(al, s[u]), *t = to + u * c.right;
                *t = zero(be) ? r : fma(be, *t, r);
            }
        }
    }
}

#define FAST(T)                                                                                                                    \
    KERNEL spmv_##T(Rows a, u64 x, u64 y, Scalar alpha, Scalar beta, u32 run) { spmv<T, false>(a, x, y, alpha, beta, run); }        \
    KERNEL short_##T(Rows a, u64 x, u64 y, Scalar alpha, Scalar beta, u32 run) { spmv<T, true>(a, x, y, alpha, beta, run); }        \
    KERNEL spmm1_##T(Rows a, Dn b, Dn c, Scalar alpha, Scalar beta, s64 n, u32 run) { spmm<T, 1, 4>(a, b, c, alpha, beta, n, run); } \
    KERNEL spmm2_##T(Rows a, Dn b, Dn c, Scalar alpha, Scalar beta, s64 n, u32 run) { spmm<T, 2, 2>(a, b, c, alpha, beta, n, run); } \
    KERNEL spmm4_##T(Rows a, Dn b, Dn c, Scalar alpha, Scalar beta, s64 n, u32 run) { spmm<T, 4, 1>(a, b, c, alpha, beta, n, run); } \
    KERNEL columns_##T(Rows a, Dn b, Dn c, Scalar alpha, Scalar beta, s64 n, u32 run) { spmm_columns<T>(a, b, c, alpha, beta, n, run); }
typedef float f32;
typedef double f64;
FAST(f32)
FAST(f64)
FAST(c32)
FAST(c64)
