// Sparse and dense operands of any format, type and index width, as the general kernels see them. They compute in f64, real or
// complex: what a narrower type asks for is met in any order of sums. The kernels for common types are in fast.cu.
#pragma once
#include "../../cublas/kernels/device.h"

#define THREADS_Y __nvvm_read_ptx_sreg_ntid_y()
#define BLOCKS_Y __nvvm_read_ptx_sreg_nctaid_y()
#define INDEX ((s64)BLOCK_X * THREADS_X + LANE)
#define TOTAL ((s64)BLOCKS_X * THREADS_X)

// get reads element i of an array of some type.
template <class T> __device__ T get(u64 base, u32 type, s64 i);
template <> __device__ inline double get<double>(u64 base, u32 type, s64 i) {
    switch (type) {
    case TYPE_F32: return ((const float *)base)[i];
    case TYPE_F64: return ((const double *)base)[i];
    case TYPE_F16: return (double)load((const f16 *)base + i);
    case TYPE_BF16: return (double)load((const bf16 *)base + i);
    case TYPE_S8: return ((const s8 *)base)[i];
    case TYPE_S32: return ((const int *)base)[i];
    }
    return 0;
}
template <> __device__ inline c64 get<c64>(u64 base, u32 type, s64 i) {
    if (type == TYPE_C32) {
        c32 v = ((const c32 *)base)[i];
        return {v.re, v.im};
    }
    if (type == TYPE_C64) return ((const c64 *)base)[i];
    return {get<double>(base, type, i), 0};
}

// put writes it.
__device__ inline void put(u64 base, u32 type, s64 i, double v) {
    switch (type) {
    case TYPE_F32: ((float *)base)[i] = (float)v; break;
    case TYPE_F64: ((double *)base)[i] = v; break;
    case TYPE_F16: ((f16 *)base)[i] = (f16)v; break;
    case TYPE_BF16: store((bf16 *)base + i, (float)v); break;
    case TYPE_S8: ((s8 *)base)[i] = (s8)v; break;
    case TYPE_S32: ((int *)base)[i] = (int)v; break;
    }
}
__device__ inline void put(u64 base, u32 type, s64 i, c64 v) {
    if (type == TYPE_C32) ((c32 *)base)[i] = {(float)v.re, (float)v.im};
    else if (type == TYPE_C64) ((c64 *)base)[i] = v;
    else put(base, type, i, v.re);
}

// copy moves an element as it is.
__device__ inline void copy(u64 to, s64 i, u64 from, s64 k, u32 size) {
    switch (size) {
    case 1: ((u8 *)to)[i] = ((const u8 *)from)[k]; break;
    case 2: ((u16 *)to)[i] = ((const u16 *)from)[k]; break;
    case 4: ((u32 *)to)[i] = ((const u32 *)from)[k]; break;
    case 8: ((u64 *)to)[i] = ((const u64 *)from)[k]; break;
    case 16: ((c64 *)to)[i] = ((const c64 *)from)[k]; break;
    }
}

__device__ inline s64 index(u64 base, u32 wide, s64 i) { return wide ? ((const s64 *)base)[i] : ((const int *)base)[i]; }
__device__ inline void set_index(u64 base, u32 wide, s64 i, s64 v) {
    if (wide) ((s64 *)base)[i] = v;
    else ((int *)base)[i] = (int)v;
}

template <class T> __device__ inline T maybe_conj(T v, u32 yes) { return yes ? conj(v) : v; }

// Sp is a sparse matrix: lines of entries. A line is a row, or a column where the matrix is stored or used by columns.
struct Sp {
    s64 lines, others;    // lines, and the positions there are in one
    u64 offsets, indices; // where lines begin, and the positions of entries
    u64 ends;             // 0: a line ends where the next begins
    u64 values, perm;     // perm, if there is one, is the place of each entry's value
    s64 width;            // blocks of a line of FORMAT_ELL; lines of a slice
    u32 format, base, wide_offsets, wide_indices, type;
    u32 bm, bn, by_column; // blocks: their size, and how their elements lie
    u32 conj, pad;
};
enum { FORMAT_LINES, FORMAT_BLOCKS, FORMAT_ELL, FORMAT_SLICES };

// Line is what of a line is found once.
struct Line {
    s64 begin, count, inner;
};

__device__ inline s64 ends_at(const Sp &a, s64 line) { return a.ends ? index(a.ends, a.wide_offsets, line) : index(a.offsets, a.wide_offsets, line + 1); }

__device__ inline Line line_of(const Sp &a, s64 line) {
    if (a.format == FORMAT_LINES) {
        s64 b = index(a.offsets, a.wide_offsets, line);
        return {b - a.base, ends_at(a, line) - b, 0};
    }
    if (a.format == FORMAT_BLOCKS) {
        s64 l = line / a.bm, b = index(a.offsets, a.wide_offsets, l);
        return {b - a.base, (ends_at(a, l) - b) * a.bn, line % a.bm};
    }
    if (a.format == FORMAT_ELL) return {line / a.bm * a.width, a.width * a.bn, line};
    s64 s = line / a.width, b = index(a.offsets, a.wide_offsets, s);
    return {b - a.base + line % a.width, (index(a.offsets, a.wide_offsets, s + 1) - b) / a.width, 0};
}

// entry is the position of entry k of a line, -1 for padding; *at is the place of its value.
__device__ inline s64 entry(const Sp &a, const Line &l, s64 k, s64 *at) {
    if (a.format == FORMAT_LINES) {
        s64 p = l.begin + k;
        *at = a.perm ? ((const s64 *)a.perm)[p] : p;
        return index(a.indices, a.wide_indices, p) - a.base;
    }
    if (a.format == FORMAT_SLICES) {
        *at = l.begin + k * a.width;
        s64 i = index(a.indices, a.wide_indices, *at);
        return i < 0 ? -1 : i - a.base;
    }
    s64 b = l.begin + k / a.bn, j = k % a.bn;
    s64 i = index(a.indices, a.wide_indices, b);
    if (a.format == FORMAT_ELL) { // values are a dense matrix, row by row
        *at = l.inner * a.width * a.bn + k;
        return i < 0 ? -1 : (i - a.base) * a.bn + j;
    }
    *at = b * a.bm * a.bn + (a.by_column ? j * a.bm + l.inner : l.inner * a.bn + j);
    return (i - a.base) * a.bn + j;
}

template <class T> __device__ inline T value_at(const Sp &a, s64 at) { return maybe_conj(get<T>(a.values, a.type, at), a.conj); }

// Dn is a dense matrix: element (i, j) is i × down + j × right elements behind the first.
struct Dn {
    u64 base;
    s64 down, right;
    u32 type, conj;
};
template <class T> __device__ inline T get(const Dn &d, s64 i, s64 j) {
    return maybe_conj(get<T>(d.base, d.type, i * d.down + j * d.right), d.conj);
}
template <class T> __device__ inline void put(const Dn &d, s64 i, s64 j, T v) { put(d.base, d.type, i * d.down + j * d.right, v); }

// combine is alpha × v + beta × old; what is old is not read if beta is zero.
template <class T, class F> __device__ inline T combine(T alpha, T v, T beta, F old) {
    T r = mul(alpha, v);
    return zero(beta) ? r : fma(beta, old(), r);
}

__device__ inline double size_of(double v) { return v < 0 ? -v : v; }
__device__ inline double size_of(c64 v) { return __builtin_sqrt(v.re * v.re + v.im * v.im); }
__device__ inline double real_of(double v) { return v; }
__device__ inline double real_of(c64 v) { return v.re; }

// A kernel for real and one for complex numbers.
#define BOTH(name, params, args)                                                                                                   \
    KERNEL name##_r params { name<double> args; }                                                                                  \
    KERNEL name##_c params { name<c64> args; }
