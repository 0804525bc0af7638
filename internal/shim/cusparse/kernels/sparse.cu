// Products and sums of sparse matrices, and colours of their graphs.
#include "device.h"

__device__ inline void sift_columns(s64 *v, s64 i, s64 n) {
    s64 x = v[i];
    for (s64 c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && v[c] < v[c + 1]) c++;
        if (v[c] <= x) break;
        v[i] = v[c];
    }
    v[i] = x;
}
__device__ void sort_columns(s64 *v, s64 n) {
    for (s64 i = n / 2; i-- > 0;) sift_columns(v, i, n);
    for (s64 e = n - 1; e > 0; e--) {
        s64 x = v[0];
        v[0] = v[e], v[e] = x;
        sift_columns(v, 0, e);
    }
}

// Work is the memory of a product: each worker, a thread that takes lines one after another, has a mark and a sum a column.
struct Work {
    u64 marks, sums;
    s64 workers;
};

// gemm_count: the entries of each line of A × B, and the products that make them.
KERNEL gemm_count(Sp a, Sp b, Work w, u64 counts, u64 products) {
    s64 me = INDEX;
    if (me >= w.workers) return;
    s64 *marks = (s64 *)w.marks + me * b.others;
    for (s64 c = 0; c < b.others; c++) marks[c] = -1;
    for (s64 i = me; i < a.lines; i += w.workers) {
        Line l = line_of(a, i);
        s64 n = 0, all = 0, at;
        for (s64 k = 0; k < l.count; k++) {
            Line r = line_of(b, entry(a, l, k, &at));
            all += r.count;
            for (s64 q = 0; q < r.count; q++) {
                s64 c = entry(b, r, q, &at);
                if (marks[c] != i) marks[c] = i, n++;
            }
        }
        ((s64 *)counts)[i] = n;
        ((s64 *)products)[i] = all;
    }
}

// gemm_fill: columns and sums, behind the offsets.
template <class T> __device__ void gemm_fill(const Sp &a, const Sp &b, const Work &w, u64 offsets, u64 columns, u64 values) {
    s64 me = INDEX;
    if (me >= w.workers) return;
    s64 *marks = (s64 *)w.marks + me * b.others;
    T *sums = (T *)w.sums + me * b.others;
    for (s64 c = 0; c < b.others; c++) marks[c] = -1;
    for (s64 i = me; i < a.lines; i += w.workers) {
        s64 begin = ((const s64 *)offsets)[i], n = 0, at;
        s64 *cols = (s64 *)columns + begin;
        T *vals = (T *)values + begin;
        Line l = line_of(a, i);
        for (s64 k = 0; k < l.count; k++) {
            s64 row = entry(a, l, k, &at);
            T v = value_at<T>(a, at);
            Line r = line_of(b, row);
            for (s64 q = 0; q < r.count; q++) {
                s64 c = entry(b, r, q, &at);
                T p = mul(v, value_at<T>(b, at));
                if (marks[c] != i) marks[c] = i, cols[n++] = c, sums[c] = p;
                else sums[c] = add(sums[c], p);
            }
        }
        sort_columns(cols, n);
        for (s64 k = 0; k < n; k++) vals[k] = sums[cols[k]];
    }
}
BOTH(gemm_fill, (Sp a, Sp b, Work w, u64 offsets, u64 columns, u64 values), (a, b, w, offsets, columns, values))

struct Out {
    u64 offsets, indices, rows, values;
    u32 wide_offsets, wide, base, size;
};

// gemm_copy: to the caller's matrix. Offsets and indices are left out where they are there.
template <class T> __device__ void gemm_copy(s64 lines, u64 offsets, u64 columns, u64 values, const Out &o, u32 type, const Scalar &alpha, const Scalar &beta) {
    T al = value<T>(alpha), be = value<T>(beta);
    const s64 *off = (const s64 *)offsets;
    if (o.offsets)
        for (s64 i = INDEX; i <= lines; i += TOTAL) set_index(o.offsets, o.wide_offsets, i, off[i] + o.base);
    s64 n = off[lines];
    for (s64 k = INDEX; k < n; k += TOTAL) {
        if (o.indices) set_index(o.indices, o.wide, k, ((const s64 *)columns)[k] + o.base);
        if (o.values) put(o.values, type, k, combine(al, ((const T *)values)[k], be, [&] { return get<T>(o.values, type, k); }));
    }
}
BOTH(gemm_copy, (s64 lines, u64 offsets, u64 columns, u64 values, Out o, u32 type, Scalar alpha, Scalar beta), (lines, offsets, columns, values, o, type, alpha, beta))

// geam: alpha × A + beta × B, both with sorted lines; counts: only how many entries.
template <class T> __device__ void geam(const Sp &a, const Sp &b, u64 counts, const Out &o, u32 type, const Scalar &alpha, const Scalar &beta) {
    T al = value<T>(alpha), be = value<T>(beta);
    for (s64 i = INDEX; i < a.lines; i += TOTAL) {
        Line la = line_of(a, i), lb = line_of(b, i);
        s64 x = 0, y = 0, n = 0, p = counts ? 0 : index(o.offsets, o.wide_offsets, i) - o.base;
        const s64 none = 0x7fffffffffffffffll;
        while (x < la.count || y < lb.count) {
            s64 ax = 0, ay = 0;
            s64 cx = x < la.count ? entry(a, la, x, &ax) : none, cy = y < lb.count ? entry(b, lb, y, &ay) : none;
            s64 c = cx < cy ? cx : cy;
            if (!counts) {
                T v = {};
                if (cx == c) v = mul(al, value_at<T>(a, ax));
                if (cy == c) v = fma(be, value_at<T>(b, ay), v);
                set_index(o.indices, o.wide, p + n, c + o.base);
                put(o.values, type, p + n, v);
            }
            x += cx == c, y += cy == c, n++;
        }
        if (counts) ((s64 *)counts)[i] = n;
    }
}
BOTH(geam, (Sp a, Sp b, u64 counts, Out o, u32 type, Scalar alpha, Scalar beta), (a, b, counts, o, type, alpha, beta))

// color: the least colour that no neighbour has, one thread; then the lines ordered by colour.
KERNEL color(Sp a, u64 colors, u64 order, u64 total, u64 used) {
    int *col = (int *)colors, most = 0;
    s64 *last = (s64 *)used;
    for (s64 i = 0; i < a.lines; i++) col[i] = -1, last[i] = -1;
    for (s64 i = 0; i < a.lines; i++) {
        Line l = line_of(a, i);
        for (s64 k = 0; k < l.count; k++) {
            s64 at, j = entry(a, l, k, &at);
            if (j != i && col[j] >= 0) last[col[j]] = i;
        }
        int c = 0;
        while (last[c] == i) c++;
        col[i] = c;
        if (c + 1 > most) most = c + 1;
    }
    *(s64 *)total = most;
    if (!order) return;
    s64 n = 0;
    for (int c = 0; c < most; c++)
        for (s64 i = 0; i < a.lines; i++)
            if (col[i] == c) ((int *)order)[i] = (int)n++;
}
