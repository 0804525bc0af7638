// C = alpha op(A) op(B) + beta C, column by column in memory.
//
// Large products are packed first: op(A) into panels of 32 rows, op(B) into panels of N columns, both in the type of the
// sums, so that the inner loop reads two streams forward, one value of A a lane and N values of B that all lanes share.
// The tile of 32 × N sums stays in registers. Small ones and rows times columns have kernels of their own.
#include "device.h"

enum { ROWS = 32, TURN = 33 };

// packRows: lanes take rows. There are `rows` of them.
template <class T, class W, int WIDTH> __device__ void packRows(const T *src, View x, W *dst, u32 rows, u32 from, u32 to) {
    u32 r = LANE;
    bool mine = r < rows, whole = rows >= WIDTH;
    if (r >= WIDTH)
        return;
    const T *p = src + (s64)from * x.ld + r;
    W *q = dst + (s64)from * WIDTH + r;
    if (whole && x.op == 0) {
#pragma unroll 4
        for (u32 l = from; l < to; l++) {
            *q = load(p);
            p += x.ld;
            q += WIDTH;
        }
        return;
    }
    for (u32 l = from; l < to; l++) {
        W v = {};
        if (mine) {
            v = load(p);
            if (x.op == 3)
                v = conj(v);
        }
        *q = v;
        p += x.ld;
        q += WIDTH;
    }
}

// packHalf: one triangle is stored: 4 lower, 5 upper; 6 and 7 Hermitian, 8 and 9 its transpose.
template <class T, class W, int WIDTH> __device__ void packHalf(const T *src, View x, W *dst, u32 r0, u32 rows, u32 from, u32 to) {
    u32 i = r0 + LANE;
    if (LANE >= WIDTH)
        return;
    for (u32 l = from; l < to; l++) {
        W v = {};
        if (i < rows) {
            bool stored = x.op & 1 ? i <= l : i >= l;
            v = load(stored ? src + (s64)l * x.ld + i : src + (s64)i * x.ld + l);
            if (x.op >= 6)
                v = i == l ? real(v) : stored == (x.op >= 8) ? conj(v) : v;
        }
        dst[(s64)l * WIDTH + LANE] = v;
    }
}

// packTriangle: a triangle of A is all there is: 16, + 1 upper, + 2 with ones on the diagonal, + 4 transposed, + 8 conjugated.
template <class T, class W, int WIDTH> __device__ void packTriangle(const T *src, View x, W *dst, u32 r0, u32 rows, u32 from, u32 to) {
    u32 i = r0 + LANE;
    if (LANE >= WIDTH)
        return;
    for (u32 l = from; l < to; l++) {
        W v = {};
        u32 row = x.op & 4 ? l : i, col = x.op & 4 ? i : l;
        if (i < rows && (x.op & 1 ? row <= col : row >= col)) {
            if (row == col && (x.op & 2)) {
                set(&v, 1, 0);
            } else {
                v = load(src + (s64)col * x.ld + row);
                if (x.op & 8)
                    v = conj(v);
            }
        }
        dst[(s64)l * WIDTH + LANE] = v;
    }
}

// packTurned: k lies together. 32 of it from every row are read forward, turned in shared memory, and written forward.
template <class T, class W, int WIDTH> __device__ void packTurned(const T *src, View x, W *dst, u32 rows, u32 from, u32 to, W *turn) {
    for (u32 l0 = from; l0 < to; l0 += 32) {
        bool whole = rows >= WIDTH && to - l0 >= 32;
        const T *p = src + l0 + LANE;
        W *out = dst + (s64)l0 * WIDTH;
        if (whole && x.op == 1) {
#pragma unroll 4
            for (u32 r = 0; r < WIDTH; r++)
                turn[r * TURN + LANE] = load(p + (s64)r * x.ld);
        } else
            for (u32 r = 0; r < WIDTH; r++) {
                W v = {};
                if (r < rows && l0 + LANE < to) {
                    v = load(p + (s64)r * x.ld);
                    if (x.op == 2)
                        v = conj(v);
                }
                turn[r * TURN + LANE] = v;
            }
        __nvvm_bar_warp_sync(~0u);
        u32 count = (to - l0 < 32 ? to - l0 : 32) * WIDTH;
        if (WIDTH == 32) {
#pragma unroll 4
            for (u32 l = 0; l < count; l += 32)
                out[l + LANE] = turn[LANE * TURN + l / 32];
        } else {
#pragma unroll
            for (u32 i = 0; i < WIDTH; i++) {
                u32 o = i * 32 + LANE;
                if (whole || o < count)
                    out[o] = turn[o % WIDTH * TURN + o / WIDTH];
            }
        }
        __nvvm_bar_warp_sync(~0u);
    }
}

// pack writes panels of WIDTH rows of op(X), k long: panel p holds for every l the rows p·WIDTH …, zero past the end. A block
// takes one panel and `run` of k, a multiple of 32. WIDTH is a constant so that what is read, turned and written is known
// to lie together: with a width in a register the same loops took ten times as long.
template <class T, class W, int WIDTH> __device__ void pack(View x, u64 out, s64 outStride, u32 rows, u32 k, u32 run, u32 first, W *turn) {
    u32 batch = BLOCK_Z, r0 = BLOCK_X * WIDTH;
    const T *src = matrix<const T>(x, first + batch);
    W *dst = (W *)out + outStride * (s64)batch + (s64)r0 * k;
    u32 from = BLOCK_Y * run, to = k - from < run ? k : from + run;
    if (x.op == 0 || x.op == 3) // rows lie together: lanes take rows
        packRows<T, W, WIDTH>(src + r0, x, dst, rows - r0, from, to);
    else if (x.op >= 16)
        packTriangle<T, W, WIDTH>(src, x, dst, r0, rows, from, to);
    else if (x.op >= 4)
        packHalf<T, W, WIDTH>(src, x, dst, r0, rows, from, to);
    else
        packTurned<T, W, WIDTH>(src + (s64)r0 * x.ld, x, dst, rows - r0, from, to, turn);
}

#define PACK(name, T, W, N)                                                                                                    \
    KERNEL packa_##name(View x, u64 out, s64 outStride, u32 rows, u32 k, u32 run, u32 first) {                                 \
        __shared__ W turn[ROWS * TURN];                                                                                        \
        pack<T, W, ROWS>(x, out, outStride, rows, k, run, first, turn);                                                        \
    }                                                                                                                          \
    KERNEL packb_##name(View x, u64 out, s64 outStride, u32 rows, u32 k, u32 run, u32 first) {                                 \
        __shared__ W turn[N * TURN];                                                                                           \
        pack<T, W, N>(x, out, outStride, rows, k, run, first, turn);                                                           \
    }
PACK(f32, float, float, 12)
PACK(f64, double, double, 6)
PACK(f16, f16, float, 12)
PACK(bf16, bf16, float, 12)
PACK(c32, c32, c32, 4)
PACK(c64, c64, c64, 2)
PACK(s8, s8, int, 12)

// Of a triangle (1 lower, 2 upper) only its elements are written; with 4 the diagonal is real.
__device__ inline bool within(u32 part, u32 row, u32 col) { return (part & 3) == 0 || ((part & 1) ? row >= col : row <= col); }

template <class W, class C> __device__ inline void put(C *p, W v, u32 part, u32 row, u32 col) {
    store(p, part >= 4 && row == col ? real(v) : v);
}

// tile is one warp: 32 rows, N columns. Blocks go through all columns with a group of panels of A before the next group, so
// that the group stays in the cache of the core.
template <class W, class C, int N>
__device__ void tile(u64 pa, s64 strideA, u64 pb, s64 strideB, View c, Scalar salpha, Scalar sbeta, u32 m, u32 n, u32 k, u32 first, u32 part, u32 group) {
    u32 batch = BLOCK_Z;
    u32 wide = (n + N - 1) / N, panels = (m + ROWS - 1) / ROWS, whole = panels / group * group;
    u32 id = BLOCK_X, from = 0, size = group;
    if (id >= whole * wide) { // the last group is smaller
        id -= whole * wide;
        from = whole;
        size = panels - whole;
    } else {
        from = id / (group * wide) * group;
        id %= group * wide;
    }
    u32 i0 = (from + id % size) * ROWS, j0 = id / size * N;
    if (((part & 3) == 1 && i0 + ROWS <= j0) || ((part & 3) == 2 && i0 >= j0 + N))
        return;
    const W *a = (const W *)pa + strideA * (s64)batch + (s64)i0 * k + LANE;
    const W *b = (const W *)pb + strideB * (s64)batch + (s64)j0 * k;
    W sum[N] = {};
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        W av = a[0];
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[j] = fma(av, b[j], sum[j]);
        a += ROWS;
        b += N;
    }
    u32 row = i0 + LANE;
    if (row >= m)
        return;
    W alpha = value<W>(salpha), beta = value<W>(sbeta);
    C *out = matrix<C>(c, first + batch) + row;
#pragma unroll
    for (int j = 0; j < N; j++) {
        if (j0 + j >= n)
            break;
        if (!within(part, row, j0 + j))
            continue;
        C *p = out + (s64)(j0 + j) * c.ld;
        W v = mul(alpha, sum[j]);
        if (!zero(beta)) // what C held must not be looked at otherwise: it may be NaN
            v = fma(beta, load(p), v);
        put(p, v, part, row, j0 + j);
    }
}

#define TILE(name, W, C, N)                                                                                                    \
    KERNEL tile_##name(u64 pa, s64 strideA, u64 pb, s64 strideB, View c, Scalar alpha, Scalar beta, u32 m, u32 n, u32 k, u32 first, u32 part, u32 group) { \
        tile<W, C, N>(pa, strideA, pb, strideB, c, alpha, beta, m, n, k, first, part, group);                                               \
    }
TILE(f32_f32, float, float, 12)
TILE(f32_f16, float, f16, 12)
TILE(f32_bf16, float, bf16, 12)
TILE(f64_f64, double, double, 6)
TILE(c32_c32, c32, c32, 4)
TILE(c64_c64, c64, c64, 2)
TILE(s32_s32, int, int, 12)

// dots is for few columns of a transposed A: both vectors lie together, a warp takes one row and up to four columns.
template <class A, class W, class C> __device__ void dots(View a, View b, View c, Scalar salpha, Scalar sbeta, u32 m, u32 n, u32 k) {
    u32 batch = BLOCK_Z, row = BLOCK_X * 8 + WARP, j0 = BLOCK_Y * 4;
    if (row >= m)
        return;
    const A *x = matrix<const A>(a, batch) + (s64)row * a.ld;
    const A *y = matrix<const A>(b, batch);
    const A *col[4];
#pragma unroll
    for (int j = 0; j < 4; j++)
        col[j] = y + (s64)(j0 + j < n ? j0 + j : n - 1) * b.ld;
    W sum[4] = {};
    for (u32 l = LANE; l < k; l += 32) {
        W v = load(x + l);
#pragma unroll
        for (int j = 0; j < 4; j++)
            sum[j] = fma(v, load(col[j] + l), sum[j]);
    }
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int d = 16; d; d >>= 1)
            sum[j] += __nvvm_shfl_sync_bfly_f32(~0u, sum[j], d, 31);
    if (LANE != 0)
        return;
    W alpha = value<W>(salpha), beta = value<W>(sbeta);
    C *out = matrix<C>(c, batch) + row;
#pragma unroll
    for (int j = 0; j < 4; j++) {
        if (j0 + j >= n)
            break;
        C *p = out + (s64)(j0 + j) * c.ld;
        W v = mul(alpha, sum[j]);
        if (!zero(beta))
            v = fma(beta, load(p), v);
        store(p, v);
    }
}

#define DOTS(name, A, C)                                                                                                       \
    KERNEL dots_##name(View a, View b, View c, Scalar alpha, Scalar beta, u32 m, u32 n, u32 k) {                               \
        dots<A, float, C>(a, b, c, alpha, beta, m, n, k);                                                                      \
    }
DOTS(f32_f32, float, float)
DOTS(f16_f16, f16, f16)
DOTS(f16_f32, f16, float)
DOTS(bf16_bf16, bf16, bf16)
DOTS(bf16_f32, bf16, float)

// scale is what is left of a product when k or alpha is 0: C = beta C.
template <class W, class C> __device__ void scale(View c, Scalar sbeta, u32 m, u32 n, u32 col, u32 part) {
    C *p = matrix<C>(c, BLOCK_Z) + (s64)BLOCK_Y * c.ld;
    W beta = value<W>(sbeta);
    for (u32 i = BLOCK_X * THREADS_X + LANE; i < m; i += BLOCKS_X * THREADS_X) {
        W v = {};
        if (!within(part, i, col + BLOCK_Y))
            continue;
        if (!zero(beta))
            v = mul(beta, load(p + i));
        put(p + i, v, part, i, col + BLOCK_Y);
    }
}

#define SCALE(name, W, C)                                                                                                      \
    KERNEL scale_##name(View c, Scalar beta, u32 m, u32 n, u32 col, u32 part) { scale<W, C>(c, beta, m, n, col, part); }
SCALE(f32, float, float)
SCALE(f64, double, double)
SCALE(f16, float, f16)
SCALE(bf16, float, bf16)
SCALE(c32, c32, c32)
SCALE(c64, c64, c64)
SCALE(s32, int, int)
