// Matrix transforms: C = alpha op(A) + beta op(B), every matrix of its own type and order.
#include "../../cublas/kernels/device.h"

// Tiled is a matrix with its order and type.
struct Tiled {
    View v;
    u32 order; // ORDER_
    u32 type;  // a TYPE_ number
};

struct Transform {
    Tiled a, b, c; // an address of 0: there is none
    Scalar alpha, beta;
    u32 rows, cols; // of C
    u32 col;        // the first column
    u32 first;      // matrix of the batch
};

// The numbers of cublasLtOrder_t.
enum { ORDER_COL, ORDER_ROW, ORDER_COL32, ORDER_COL4_4R2_8C, ORDER_COL32_2R_4R4 };

// place is where the element of row i and column j lies. In the last three, ld is the distance of groups of 32 columns.
__device__ inline s64 place(const Tiled &t, u32 i, u32 j) {
    s64 group = (s64)(j >> 5) * t.v.ld;
    switch (t.order) {
    case ORDER_ROW: return (s64)i * t.v.ld + j;
    case ORDER_COL32: return group + (s64)i * 32 + (j & 31);
    case ORDER_COL4_4R2_8C: // tiles of 8 rows: even and odd rows, of each 4 times 8 columns, of each 2 times 4 rows of 4 columns
        return group + (s64)(i >> 3) * 256 + (i & 1) * 128 + (j >> 3 & 3) * 32 + (j >> 2 & 1) * 16 + (i >> 1 & 3) * 4 + (j & 3);
    case ORDER_COL32_2R_4R4: return group + (s64)(i >> 5) * 1024 + (((i & 7) / 2 * 4 + (i & 31) / 8) * 2 + i % 2) * 32 + (j & 31);
    }
    return i + (s64)j * t.v.ld;
}

template <class W> __device__ inline W get(const Tiled &t, u32 batch, s64 at) {
    W w;
    switch (t.type) {
    case TYPE_F32: set(&w, matrix<const float>(t.v, batch)[at], 0); break;
    case TYPE_F64: set(&w, matrix<const double>(t.v, batch)[at], 0); break;
    case TYPE_F16: set(&w, load(matrix<const f16>(t.v, batch) + at), 0); break;
    case TYPE_BF16: set(&w, load(matrix<const bf16>(t.v, batch) + at), 0); break;
    case TYPE_S8: set(&w, matrix<const s8>(t.v, batch)[at], 0); break;
    case TYPE_S32: set(&w, matrix<const int>(t.v, batch)[at], 0); break;
    case TYPE_C32: {
        c32 c = matrix<const c32>(t.v, batch)[at];
        set(&w, c.re, c.im);
        break;
    }
    default: {
        c64 c = matrix<const c64>(t.v, batch)[at];
        set(&w, c.re, c.im);
    }
    }
    return w;
}

__device__ inline double re(float v) { return v; }
__device__ inline double re(double v) { return v; }
__device__ inline double re(int v) { return v; }
__device__ inline double re(c32 v) { return v.re; }
__device__ inline double re(c64 v) { return v.re; }
template <class W> __device__ inline double im(W) { return 0; }
__device__ inline double im(c32 v) { return v.im; }
__device__ inline double im(c64 v) { return v.im; }

// whole is the integer towards zero, as an H200 has it, within limits; what is no number is 0.
__device__ inline int whole(double v, double low, double high) {
    v = __builtin_trunc(v);
    return v != v ? 0 : (int)(v < low ? low : v > high ? high : v);
}

template <class W> __device__ inline void put(const Tiled &t, u32 batch, s64 at, W w) {
    switch (t.type) {
    case TYPE_F32: matrix<float>(t.v, batch)[at] = (float)re(w); break;
    case TYPE_F64: matrix<double>(t.v, batch)[at] = re(w); break;
    case TYPE_F16: store(matrix<f16>(t.v, batch) + at, (float)re(w)); break;
    case TYPE_BF16: store(matrix<bf16>(t.v, batch) + at, (float)re(w)); break;
    case TYPE_S8: matrix<s8>(t.v, batch)[at] = (s8)whole(re(w), -128, 127); break;
    case TYPE_S32: matrix<int>(t.v, batch)[at] = whole(re(w), -2147483648.0, 2147483647.0); break;
    case TYPE_C32: matrix<c32>(t.v, batch)[at] = {(float)re(w), (float)im(w)}; break;
    default: matrix<c64>(t.v, batch)[at] = {re(w), im(w)};
    }
}

template <class W> __device__ inline W entry(const Tiled &t, u32 batch, u32 i, u32 j) {
    W w = get<W>(t, batch, t.v.op ? place(t, j, i) : place(t, i, j));
    return t.v.op == 2 ? conj(w) : w;
}

template <class W> __device__ void transform(const Transform &t) {
    u32 row = BLOCK_X * 32 + LANE, at = t.first + BLOCK_Z;
    if (row >= t.rows)
        return;
    W alpha = value<W>(t.alpha), beta = value<W>(t.beta);
    u32 begin = t.col + BLOCK_Y * 32;
    for (u32 col = begin; col < t.cols && col < begin + 32; col++) {
        W v = {};
        if (t.a.v.base && !zero(alpha))
            v = mul(alpha, entry<W>(t.a, at, row, col));
        if (t.b.v.base && !zero(beta))
            v = fma(beta, entry<W>(t.b, at, row, col), v);
        put(t.c, at, place(t.c, row, col), v);
    }
}

KERNEL transform_f32(Transform t) { transform<float>(t); }
KERNEL transform_f64(Transform t) { transform<double>(t); }
KERNEL transform_s32(Transform t) { transform<int>(t); }
KERNEL transform_c32(Transform t) { transform<c32>(t); }
KERNEL transform_c64(Transform t) { transform<c64>(t); }
