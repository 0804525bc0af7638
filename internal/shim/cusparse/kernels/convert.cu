// Conversions between formats, and what they are made of: counts, running sums, transposition.
#include "device.h"

// scan turns counts into offsets, one thread: out[i] is base + what came before. total, if it is there, gets the sum.
KERNEL scan(u64 counts, s64 n, u64 out, u32 wide, s64 base, u64 total) {
    s64 sum = 0;
    for (s64 i = 0; i < n; i++) {
        s64 c = ((const s64 *)counts)[i];
        set_index(out, wide, i, sum + base);
        sum += c;
    }
    set_index(out, wide, n, sum + base);
    if (total) *(s64 *)total = sum;
}

// narrow writes a 64-bit number where an int is wanted.
KERNEL narrow(u64 from, u64 to) { *(int *)to = (int)*(const s64 *)from; }

// transpose lists the entries of a by their position, in the order of lines, one thread: offsets (others + 1), lines and places.
KERNEL transpose(Sp a, u64 offsets, u64 lines, u64 places) {
    s64 *off = (s64 *)offsets, *ln = (s64 *)lines, *pl = (s64 *)places;
    for (s64 i = 0; i <= a.others; i++) off[i] = 0;
    for (s64 i = 0; i < a.lines; i++) {
        Line l = line_of(a, i);
        for (s64 k = 0; k < l.count; k++) {
            s64 at, j = entry(a, l, k, &at);
            if (j >= 0 && j < a.others) off[j + 1]++;
        }
    }
    for (s64 i = 0; i < a.others; i++) off[i + 1] += off[i];
    for (s64 i = 0; i < a.lines; i++) {
        Line l = line_of(a, i);
        for (s64 k = 0; k < l.count; k++) {
            s64 at, j = entry(a, l, k, &at);
            if (j < 0 || j >= a.others) continue;
            s64 p = off[j]++;
            ln[p] = i, pl[p] = at;
        }
    }
    for (s64 i = a.others; i > 0; i--) off[i] = off[i - 1];
    off[0] = 0;
}

// bucket does the same for entries given by two lists of indices: keys are the lines.
KERNEL bucket(u64 keys, u64 others, u32 wide, s64 base, s64 n, s64 lines, u64 offsets, u64 positions, u64 places) {
    s64 *off = (s64 *)offsets, *ps = (s64 *)positions, *pl = (s64 *)places;
    for (s64 i = 0; i <= lines; i++) off[i] = 0;
    for (s64 k = 0; k < n; k++) {
        s64 i = index(keys, wide, k) - base;
        if (i >= 0 && i < lines) off[i + 1]++;
    }
    for (s64 i = 0; i < lines; i++) off[i + 1] += off[i];
    for (s64 k = 0; k < n; k++) {
        s64 i = index(keys, wide, k) - base;
        if (i < 0 || i >= lines) continue;
        s64 p = off[i]++;
        ps[p] = index(others, wide, k) - base, pl[p] = k;
    }
    for (s64 i = lines; i > 0; i--) off[i] = off[i - 1];
    off[0] = 0;
}

// emit writes offsets, indices and values of a matrix of lines in the caller's types; block values are copied for each entry.
KERNEL emit(u64 offsets, u64 positions, u64 places, s64 lines, u64 out_offsets, u64 out_indices, u64 from, u64 to, u32 wide, u32 base, u32 size, u32 block) {
    const s64 *off = (const s64 *)offsets, *ps = (const s64 *)positions, *pl = (const s64 *)places;
    for (s64 i = INDEX; i <= lines; i += TOTAL) set_index(out_offsets, wide, i, off[i] + base);
    s64 n = off[lines];
    for (s64 k = INDEX; k < n; k += TOTAL) {
        set_index(out_indices, wide, k, ps[k] + base);
        for (u32 e = 0; to && e < block; e++) copy(to, k * block + e, from, pl[k] * block + e, size);
    }
}

// compress_rows: offsets of sorted row indices, a thread per line, by bisection.
KERNEL compress_rows(u64 rows, s64 n, s64 m, u64 offsets, u32 base) {
    for (s64 i = INDEX; i <= m; i += TOTAL) {
        s64 lo = 0, hi = n;
        while (lo < hi) {
            s64 mid = (lo + hi) / 2;
            if ((s64)((const int *)rows)[mid] - base < i) lo = mid + 1;
            else hi = mid;
        }
        ((int *)offsets)[i] = (int)(lo + base);
    }
}

KERNEL expand_rows(u64 offsets, s64 m, u64 rows, u32 base) {
    const int *off = (const int *)offsets;
    for (s64 i = INDEX; i < m; i += TOTAL)
        for (s64 k = off[i] - (s64)base; k < off[i + 1] - (s64)base; k++) ((int *)rows)[k] = (int)(i + base);
}

KERNEL identity(u64 p, s64 n) {
    for (s64 i = INDEX; i < n; i += TOTAL) ((int *)p)[i] = (int)i;
}

// clear and fill a dense matrix.
KERNEL clear(Dn d, s64 m, s64 n, u32 size) {
    for (s64 e = INDEX; e < m * n; e += TOTAL) {
        s64 at = (d.down == 1 ? e % m : e / n) * d.down + (d.down == 1 ? e / m : e % n) * d.right;
        u64 nothing[2] = {0, 0};
        copy(d.base, at, (u64)nothing, 0, size);
    }
}
KERNEL spread(Sp a, Dn d, u32 by_column, u32 size) {
    for (s64 line = INDEX; line < a.lines; line += TOTAL) {
        Line l = line_of(a, line);
        for (s64 k = 0; k < l.count; k++) {
            s64 at, p = entry(a, l, k, &at);
            if (p >= 0) copy(d.base, by_column ? p * d.down + line * d.right : line * d.down + p * d.right, a.values, at, size);
        }
    }
}

// count: the entries of each line of a dense matrix that are not zero, or above a threshold.
template <class T> __device__ void count(const Dn &d, s64 m, s64 n, u64 counts, const Scalar &threshold, u32 prune) {
    double t = real_of(value<T>(threshold));
    for (s64 i = INDEX; i < m; i += TOTAL) {
        s64 c = 0;
        for (s64 j = 0; j < n; j++) {
            T v = get<T>(d, i, j);
            c += prune ? size_of(v) > t : !zero(v);
        }
        ((s64 *)counts)[i] = c;
    }
}
BOTH(count, (Dn d, s64 m, s64 n, u64 counts, Scalar threshold, u32 prune), (d, m, n, counts, threshold, prune))

// collect: those entries, behind the offsets. rows is for COO.
struct Out {
    u64 offsets, indices, rows, values;
    u32 wide_offsets, wide, base, size;
};
template <class T> __device__ void collect(const Dn &d, s64 m, s64 n, const Out &o, const Scalar &threshold, u32 prune) {
    double t = real_of(value<T>(threshold));
    for (s64 i = INDEX; i < m; i += TOTAL) {
        s64 p = index(o.offsets, o.wide_offsets, i) - o.base;
        for (s64 j = 0; j < n; j++) {
            T v = get<T>(d, i, j);
            if (prune ? !(size_of(v) > t) : zero(v)) continue;
            set_index(o.indices, o.wide, p, j + o.base);
            if (o.rows) set_index(o.rows, o.wide, p, i + o.base);
            copy(o.values, p++, d.base, i * d.down + j * d.right, o.size);
        }
    }
}
BOTH(collect, (Dn d, s64 m, s64 n, Out o, Scalar threshold, u32 prune), (d, m, n, o, threshold, prune))

// take: the elements of blocks that are there already, from a dense matrix.
KERNEL take(Sp a, Dn d, u32 size) {
    for (s64 line = INDEX; line < a.lines; line += TOTAL) {
        Line l = line_of(a, line);
        u64 nothing[2] = {0, 0};
        for (s64 k = 0; k < l.count; k++) {
            s64 at, p = entry(a, l, k, &at);
            if (p >= 0) copy(a.values, at, d.base, line * d.down + p * d.right, size);
            else copy(a.values, at, (u64)nothing, 0, size);
        }
    }
}

// keep: entries of a sparse matrix above a threshold, counted or copied.
template <class T> __device__ void keep(const Sp &a, u64 counts, const Out &o, const Scalar &threshold) {
    double t = real_of(value<T>(threshold));
    for (s64 i = INDEX; i < a.lines; i += TOTAL) {
        Line l = line_of(a, i);
        s64 c = 0, p = counts ? 0 : index(o.offsets, o.wide_offsets, i) - o.base;
        for (s64 k = 0; k < l.count; k++) {
            s64 at, j = entry(a, l, k, &at);
            if (!(size_of(get<T>(a.values, a.type, at)) > t)) continue;
            c++;
            if (counts) continue;
            set_index(o.indices, o.wide, p, j + o.base);
            copy(o.values, p++, a.values, at, o.size);
        }
        if (counts) ((s64 *)counts)[i] = c;
    }
}
BOTH(keep, (Sp a, u64 counts, Out o, Scalar threshold), (a, counts, o, threshold))

// sizes: the absolute values of a dense matrix or of the entries of a list, for pruning by percentage; then sorted, and one taken.
__device__ void sift(double *v, s64 i, s64 n) {
    double x = v[i];
    for (s64 c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && v[c + 1] > v[c]) c++;
        if (!(v[c] > x)) break;
        v[i] = v[c];
    }
    v[i] = x;
}
KERNEL nth_size(Dn d, s64 m, s64 n, u64 scratch, s64 which, u64 out, u32 type) {
    double *v = (double *)scratch;
    for (s64 i = 0; i < m; i++)
        for (s64 j = 0; j < n; j++) v[i * n + j] = size_of(get<double>(d, i, j));
    s64 total = m * n;
    for (s64 i = total / 2; i-- > 0;) sift(v, i, total);
    for (s64 e = total - 1; e > 0; e--) {
        double x = v[0];
        v[0] = v[e], v[e] = x;
        sift(v, 0, e);
    }
    put(out, type, 0, total ? v[which] : 0.0);
}

// reblock: the blocks of bm × bn that have entries of a, line of blocks by line of blocks. cursors has a number a line of a.
// Without values it only counts.
struct Blocks {
    u64 offsets, indices, values, counts;
    u32 base, bm, bn, by_column, size, pad;
};
KERNEL reblock(Sp a, u64 cursors, Blocks o) {
    s64 *cur = (s64 *)cursors;
    s64 mb = (a.lines + o.bm - 1) / o.bm;
    for (s64 b = INDEX; b < mb; b += TOTAL) {
        s64 first = b * o.bm, last = first + o.bm < a.lines ? first + o.bm : a.lines, n = 0;
        for (s64 i = first; i < last; i++) cur[i] = 0;
        s64 at_block = o.counts ? 0 : (s64)((const int *)o.offsets)[b] - o.base;
        for (;;) {
            s64 next = -1;
            for (s64 i = first; i < last; i++) {
                Line l = line_of(a, i);
                s64 at;
                if (cur[i] >= l.count) continue;
                s64 c = entry(a, l, cur[i], &at) / o.bn;
                if (next < 0 || c < next) next = c;
            }
            if (next < 0) break;
            if (!o.counts) {
                ((int *)o.indices)[at_block + n] = (int)(next + o.base);
                u64 nothing[2] = {0, 0};
                for (s64 e = 0; e < (s64)o.bm * o.bn; e++) copy(o.values, (at_block + n) * o.bm * o.bn + e, (u64)nothing, 0, o.size);
            }
            for (s64 i = first; i < last; i++) {
                Line l = line_of(a, i);
                for (s64 at; cur[i] < l.count; cur[i]++) {
                    s64 j = entry(a, l, cur[i], &at);
                    if (j / o.bn != next) break;
                    s64 r = i - first, c = j % o.bn;
                    if (!o.counts) copy(o.values, (at_block + n) * o.bm * o.bn + (o.by_column ? c * o.bm + r : r * o.bn + c), a.values, at, o.size);
                }
            }
            n++;
        }
        if (o.counts) ((s64 *)o.counts)[b] = n;
    }
}

// unblock: all elements of blocks as lines of entries.
KERNEL unblock(Sp a, Out o) {
    for (s64 i = INDEX; i < a.lines; i += TOTAL) {
        Line l = line_of(a, i);
        s64 p = l.begin * a.bm * a.bn + l.inner * l.count;
        set_index(o.offsets, 0, i, p + o.base);
        if (i == a.lines - 1) set_index(o.offsets, 0, a.lines, p + l.count + o.base);
        for (s64 k = 0; k < l.count; k++) {
            s64 at, j = entry(a, l, k, &at);
            set_index(o.indices, 0, p + k, j + o.base);
            copy(o.values, p + k, a.values, at, o.size);
        }
    }
}

// sort: the entries of each line by position, equal ones as they came. keys and places have a number an entry.
__device__ void sift_keys(u64 *v, s64 i, s64 n) {
    u64 x = v[i];
    for (s64 c; (c = 2 * i + 1) < n; i = c) {
        if (c + 1 < n && v[c] < v[c + 1]) c++;
        if (v[c] <= x) break;
        v[i] = v[c];
    }
    v[i] = x;
}
__device__ void sort_keys(u64 *v, s64 n) {
    if (n <= 24) {
        for (s64 i = 1; i < n; i++) {
            u64 x = v[i];
            s64 j = i;
            for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
            v[j] = x;
        }
        return;
    }
    for (s64 i = n / 2; i-- > 0;) sift_keys(v, i, n);
    for (s64 e = n - 1; e > 0; e--) {
        u64 x = v[0];
        v[0] = v[e], v[e] = x;
        sift_keys(v, 0, e);
    }
}
KERNEL sort_lines(u64 offsets, u64 indices, u64 perm, s64 lines, u32 base, u64 keys, u64 old) {
    const int *off = (const int *)offsets;
    int *ind = (int *)indices, *p = (int *)perm;
    for (s64 i = INDEX; i < lines; i += TOTAL) {
        s64 b = off[i] - (s64)base, n = off[i + 1] - off[i];
        u64 *k = (u64 *)keys + b;
        for (s64 e = 0; e < n; e++) {
            k[e] = (u64)(u32)ind[b + e] << 32 | (u64)e;
            if (p) ((int *)old)[b + e] = p[b + e];
        }
        sort_keys(k, n);
        for (s64 e = 0; e < n; e++) {
            ind[b + e] = (int)(k[e] >> 32);
            if (p) p[b + e] = ((const int *)old)[b + (s64)(k[e] & 0xffffffffu)];
        }
    }
}

// sort_pairs: entries by (major, minor), one thread: a merge sort from below, which keeps the order of equal ones. keys has room for
// a key, two numbers and an old place an entry.
KERNEL sort_pairs(u64 majors, u64 minors, u64 perm, s64 n, u64 keys) {
    int *a = (int *)majors, *b = (int *)minors, *p = (int *)perm;
    u64 *k = (u64 *)keys;
    s64 *order = (s64 *)(k + n);
    int *old = (int *)(order + n);
    for (s64 i = 0; i < n; i++) {
        k[i] = (u64)(u32)a[i] << 32 | (u64)(u32)b[i];
        order[i] = i;
        if (p) old[i] = p[i];
    }
    s64 *from = order, *to = (s64 *)(old + n + (n & 1));
    for (s64 w = 1; w < n; w *= 2) {
        for (s64 lo = 0; lo < n; lo += 2 * w) {
            s64 mid = lo + w < n ? lo + w : n, hi = lo + 2 * w < n ? lo + 2 * w : n, x = lo, y = mid;
            for (s64 o = lo; o < hi; o++) to[o] = x < mid && (y >= hi || k[from[x]] <= k[from[y]]) ? from[x++] : from[y++];
        }
        s64 *t = from;
        from = to, to = t;
    }
    for (s64 i = 0; i < n; i++) {
        s64 s = from[i];
        a[i] = (int)(k[s] >> 32), b[i] = (int)(u32)k[s];
        if (p) p[i] = old[s];
    }
}

// permute moves values: to[i] = from[perm[i]], or to[perm[i]] = from[i].
KERNEL permute(u64 to, u64 from, u64 perm, s64 n, u32 size, u32 back) {
    for (s64 i = INDEX; i < n; i += TOTAL) {
        s64 p = ((const int *)perm)[i];
        if (back) copy(to, p, from, i, size);
        else copy(to, i, from, p, size);
    }
}

KERNEL copy_all(u64 to, u64 from, s64 n, u32 size) {
    for (s64 i = INDEX; i < n; i += TOTAL) copy(to, i, from, i, size);
}

KERNEL narrow_all(u64 from, u64 to, s64 n) {
    for (s64 i = INDEX; i < n; i += TOTAL) ((int *)to)[i] = (int)((const s64 *)from)[i];
}
