// Products of complex numbers: C = alpha op(A) op(B) + beta C.
//
// A lane has one part of a number of A, real or imaginary, as it lies in memory, and multiplies it with both parts of a number of B,
// which all lanes share: a product of 2m × 2n real numbers. Nothing is shuffled or negated before the sums are complete. Then a lane's
// neighbour has what it lacks: (re + i im)(x + i y) is re x - im y, where im y is the neighbour's, and im x + re y.
#include "aligned.h"
#include "product.h"
#include "shared.h"

enum { ROWS = 16, SMALL_K = 128, PITCH = 34, WHOLE = 40 }; // rows of a warp's tile, k of a small product, parts of a row that is turned, numbers of one
enum { LANES_CONJ = 8, SHARED_CONJ = 16 };      // beside a part of C: what lanes have, or what they share, is conjugated

struct c8 {
    s8 re, im;
};
template <class C> struct Parts;
template <> struct Parts<c8> {
    typedef s8 type;
};
template <> struct Parts<c32> {
    typedef float type;
};
template <> struct Parts<c64> {
    typedef double type;
};

// packRows: lanes take the parts of the rows of a panel, of `panels` panels in turn for each l. Distances are in parts.
template <class T, class R, int WIDTH> __device__ void packRows(const T *src, s64 ld, R *dst, s64 next, u32 rows, u32 panels, u32 from, u32 to) {
    u32 r = LANE;
    if (r >= 2 * WIDTH)
        return;
    const T *p = src + from * ld + r;
    R *q = dst + (s64)from * 2 * WIDTH + r;
    if (panels == PANELS && rows >= PANELS * WIDTH) {
        for (u32 l = from; l < to; l++) {
#pragma unroll
            for (u32 i = 0; i < PANELS; i++)
                q[i * next] = (R)p[i * 2 * WIDTH];
            p += ld;
            q += 2 * WIDTH;
        }
        return;
    }
    for (u32 i = 0; i < panels; i++) {
        bool mine = i * 2 * WIDTH + r < 2 * rows;
        const T *from1 = p + i * 2 * WIDTH;
        R *to1 = q + i * next;
        for (u32 l = from; l < to; l++) {
            R v = 0;
            if (mine)
                v = (R)from1[0];
            to1[0] = v;
            from1 += ld;
            to1 += 2 * WIDTH;
        }
    }
}

// packHalf: one triangle is stored: 4 lower, 5 upper; 6 and 7 Hermitian, 8 and 9 its transpose.
template <class T, class R, int WIDTH> __device__ void packHalf(const T *src, const View &x, R *dst, u32 r0, u32 rows, u32 from, u32 to) {
    u32 i = r0 + LANE / 2, part = LANE & 1;
    if (LANE >= 2 * WIDTH)
        return;
    for (u32 l = from; l < to; l++) {
        R v = 0;
        if (i < rows) {
            bool stored = x.op & 1 ? i <= l : i >= l;
            v = (R)src[2 * (stored ? (s64)l * x.ld + i : (s64)i * x.ld + l) + part];
            if (x.op >= 6 && part)
                v = i == l ? R(0) : stored == (x.op >= 8) ? -v : v;
        }
        dst[(s64)l * 2 * WIDTH + LANE] = v;
    }
}

// packTriangle: a triangle of A is all there is: 16, + 1 upper, + 2 with ones on the diagonal, + 4 transposed, + 8 conjugated.
template <class T, class R, int WIDTH> __device__ void packTriangle(const T *src, const View &x, R *dst, u32 r0, u32 rows, u32 from, u32 to) {
    u32 i = r0 + LANE / 2, part = LANE & 1;
    if (LANE >= 2 * WIDTH)
        return;
    for (u32 l = from; l < to; l++) {
        R v = 0;
        u32 row = x.op & 4 ? l : i, col = x.op & 4 ? i : l;
        if (i < rows && (x.op & 1 ? row <= col : row >= col)) {
            if (row == col && (x.op & 2)) {
                v = part ? R(0) : R(1);
            } else {
                v = (R)src[2 * ((s64)col * x.ld + row) + part];
                if ((x.op & 8) && part)
                    v = -v;
            }
        }
        dst[(s64)l * 2 * WIDTH + LANE] = v;
    }
}

// Turn packs where k lies together. 16 of it from every row are read forward, turned in shared memory, and written forward.
template <class T, class R, int WIDTH> struct Turn {
    static __device__ __attribute__((always_inline)) void pack(const T *src, s64 ld, R *dst, u32 rows, u32 from, u32 to, R *turn) {
        for (u32 l0 = from; l0 < to; l0 += 16) {
            u32 many = to - l0 < 16 ? to - l0 : 16;
            const T *p = src + 2 * (s64)l0 + LANE;
            R *out = dst + (s64)l0 * 2 * WIDTH + LANE;
            __nvvm_bar_warp_sync(~0u);
            if (rows >= WIDTH && many == 16) {
#pragma unroll
                for (u32 r = 0; r < WIDTH; r++)
                    turn[r * PITCH + LANE] = (R)p[(s64)r * ld];
                __nvvm_bar_warp_sync(~0u);
#pragma unroll
                for (u32 i = 0; i < WIDTH; i++) {
                    u32 o = i * 32 + LANE;
                    out[i * 32] = turn[o % (2 * WIDTH) / 2 * PITCH + o / (2 * WIDTH) * 2 + o % 2];
                }
                continue;
            }
            for (u32 r = 0; r < WIDTH; r++) {
                R v = 0;
                if (r < rows && LANE < 2 * many)
                    v = (R)p[(s64)r * ld];
                turn[r * PITCH + LANE] = v;
            }
            __nvvm_bar_warp_sync(~0u);
#pragma unroll
            for (u32 i = 0; i < WIDTH; i++) {
                u32 o = i * 32 + LANE;
                if (o < many * 2 * WIDTH)
                    out[i * 32] = turn[o % (2 * WIDTH) / 2 * PITCH + o / (2 * WIDTH) * 2 + o % 2];
            }
        }
    }
};

// Numbers of 64 bits are moved whole, 32 of every row: half as many places are gathered.
template <int WIDTH> struct Turn<float, float, WIDTH> {
    static __device__ __attribute__((always_inline)) void pack(const float *src, s64 ld, float *dst, u32 rows, u32 from, u32 to, float *box) {
        u64 *turn = (u64 *)box;
        for (u32 l0 = from; l0 < to; l0 += 32) {
            u32 many = to - l0 < 32 ? to - l0 : 32;
            const u64 *p = (const u64 *)src + l0 + LANE;
            u64 *out = (u64 *)dst + (s64)l0 * WIDTH + LANE;
            __nvvm_bar_warp_sync(~0u);
            if (rows >= WIDTH && many == 32) {
#pragma unroll
                for (u32 r = 0; r < WIDTH; r++)
                    turn[r * WHOLE + LANE] = p[(s64)r * (ld / 2)];
                __nvvm_bar_warp_sync(~0u);
#pragma unroll
                for (u32 i = 0; i < WIDTH; i++) {
                    u32 o = i * 32 + LANE;
                    out[i * 32] = turn[o % WIDTH * WHOLE + o / WIDTH];
                }
                continue;
            }
            for (u32 r = 0; r < WIDTH; r++) {
                u64 v = 0;
                if (r < rows && LANE < many)
                    v = p[(s64)r * (ld / 2)];
                turn[r * WHOLE + LANE] = v;
            }
            __nvvm_bar_warp_sync(~0u);
#pragma unroll
            for (u32 i = 0; i < WIDTH; i++) {
                u32 o = i * 32 + LANE;
                if (o < many * WIDTH)
                    out[i * 32] = turn[o % WIDTH * WHOLE + o / WIDTH];
            }
        }
    }
};

#define TURN(C) (sizeof(C) == 8 ? ROWS * 2 * WHOLE : ROWS * PITCH) // parts that it needs

template <class T, class R, int WIDTH> __device__ __attribute__((always_inline)) void packTurned(const T *src, s64 ld, R *dst, u32 rows, u32 from, u32 to, R *turn) {
    Turn<T, R, WIDTH>::pack(src, ld, dst, rows, from, to, turn);
}

// pack writes panels of WIDTH rows of op(X), k long: panel p holds for every l the rows p·WIDTH …, zero past the end. A block takes some
// panels and `run` of k, a multiple of 32. What is conjugated as a whole is packed as it is: leave has the signs.
template <class T, class C, int WIDTH> __device__ __attribute__((always_inline)) void pack(const Side &s, u32 block, u32 k, u32 run, u32 first, typename Parts<C>::type *turn) {
    typedef typename Parts<T>::type P;
    typedef typename Parts<C>::type R;
    u32 batch = BLOCK_Z, r0 = block * WIDTH * s.panels;
    if (r0 >= s.rows)
        return;
    if (s.same) {
        if (batch != 0)
            return;
        first = 0;
    }
    const P *src = (const P *)matrix<const T>(s.x, first + batch);
    R *dst = (R *)((C *)s.out + s.stride * (s64)batch + (s64)r0 * k);
    u32 from = BLOCK_Y * run, to = k - from < run ? k : from + run;
    u32 panels = (s.rows - r0 + WIDTH - 1) / WIDTH;
    if (panels > s.panels)
        panels = s.panels;
    s64 next = (s64)2 * WIDTH * k;
    if (s.x.op == 0 || s.x.op == 3) { // rows lie together: lanes take rows
        packRows<P, R, WIDTH>(src + 2 * r0, 2 * s.x.ld, dst, next, s.rows - r0, panels, from, to);
        return;
    }
    for (u32 i = 0; i < panels; i++, r0 += WIDTH, dst += next)
        if (s.x.op >= 16)
            packTriangle<P, R, WIDTH>(src, s.x, dst, r0, s.rows, from, to);
        else if (s.x.op >= 4)
            packHalf<P, R, WIDTH>(src, s.x, dst, r0, s.rows, from, to);
        else
            packTurned<P, R, WIDTH>(src + 2 * (s64)r0 * s.x.ld, 2 * s.x.ld, dst, s.rows - r0, from, to, turn);
}

// Both operands are packed by one launch: the first `blocks` blocks of a row take A, the others B.
#define PACK(name, T, C, N)                                                                                                    \
    KERNEL pack_##name(Side a, Side b, u64 claims, u32 numbers, u32 blocks, u32 k, u32 run, u32 first) {                       \
        clear((u32 *)claims + (s64)numbers * BLOCK_Z, numbers);                                                                \
        __shared__ Parts<C>::type turn[TURN(C)];                                                                               \
        if (BLOCK_X < blocks)                                                                                                  \
            pack<T, C, ROWS>(a, BLOCK_X, k, run, first, turn);                                                                 \
        else                                                                                                                   \
            pack<T, C, N>(b, BLOCK_X - blocks, k, run, first, turn);                                                           \
    }
PACK(c32, c32, c32, 6)
PACK(c64, c64, c64, 3)
PACK(c8, c8, c32, 6)

// beside is what the neighbour has. Numbers of 64 bits go through memory, as a shuffle moves 32: from there they are one permutation, which
// the halves, taken apart and put together again, are not.
__device__ inline float beside(float v) { return other(v, 1); }
__device__ inline double beside(double v) {
    __shared__ double box[32];
    box[LANE] = v;
    __nvvm_bar_warp_sync(~0u);
    v = box[LANE ^ 1];
    __nvvm_bar_warp_sync(~0u);
    return v;
}

// Ends is what becomes of sums: x of a lane's products with real parts, y of those with imaginary ones. What a lane adds of its
// neighbour's has a sign, and its own too where what lanes have is conjugated.
template <class C, class R> struct Ends {
    R own, others, alpha, cross, beta, crossBeta;
    bool odd, plain; // plain: nothing of C is read, and all of it written
    u32 part;
    __device__ Ends(const Output &o, C a, C b) {
        bool lanes = o.part & LANES_CONJ, shared = o.part & SHARED_CONJ;
        odd = LANE & 1;
        part = o.part & 7;
        plain = part == 0 && zero(b);
        own = odd && lanes ? R(-1) : R(1);
        others = odd ? (shared ? R(-1) : R(1)) : (lanes == shared ? R(-1) : R(1));
        alpha = a.re, cross = odd ? a.im : -a.im;
        beta = b.re, crossBeta = odd ? b.im : -b.im;
    }
    __device__ R value(R x, R y) const {
        R v = fma(others, beside(y), own * x);
        return fma(alpha, v, cross * beside(v));
    }
};

// leave writes the sums of a lane: of its part of row `row` and of N columns from `col` on, `across` parts from one to the next.
template <class C, class R, int N> __device__ __attribute__((always_inline)) void leave(const R (&x)[N], const R (&y)[N], R *p, s64 across, const Output &o, const Ends<C, R> &e, u32 row, u32 col) {
    if (e.plain) { // what C held must not be looked at: it may be NaN
#pragma unroll
        for (int j = 0; j < N; j++) {
            R v = e.value(x[j], y[j]);
            if (row < o.m && col + j < o.n)
                p[j * across] = v;
        }
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
        R v = e.value(x[j], y[j]), *at = p + j * across;
        bool in = row < o.m && col + j < o.n && within(e.part, row, col + j);
        if (!(e.beta == 0 && e.crossBeta == 0)) {
            R c = 0;
            if (in)
                c = *at;
            v = fma(e.beta, c, fma(e.crossBeta, beside(c), v));
        }
        if (e.part >= 4 && e.odd && row == col + j)
            v = 0;
        if (in)
            *at = v;
    }
}

// fetchTile asks for the tile of C while its sums are made: 128 bytes at once.
template <int N, class R> __device__ __attribute__((always_inline)) void fetchTile(const R *p, s64 across) {
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int i = 0; i < 2 * ROWS; i += 128 / (int)sizeof(R))
            fetch(p + j * across + i);
}

// tiles: see gemm.cu. A tile is 16 rows, a lane for each part, and N columns.
template <class C, class R, int N> __device__ __attribute__((always_inline)) void tile(const R *a, const R *b, C *out, const Output &o, const Ends<C, R> &e, u32 k, u32 i0, u32 j0) {
    R *p = (R *)(out + i0) + LANE;
    s64 across = 2 * o.c.ld;
    p += j0 * across;
    fetchTile<N>(p, across);
    R x[N] = {}, y[N] = {};
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        R v = a[LANE];
#pragma unroll
        for (int j = 0; j < N; j++) {
            x[j] = fma(v, b[2 * j], x[j]);
            y[j] = fma(v, b[2 * j + 1], y[j]);
        }
        a += 2 * ROWS;
        b += 2 * N;
    }
    leave<C, R, N>(x, y, p, across, o, e, i0 + LANE / 2, j0);
}

template <class C, int N> __device__ __attribute__((always_inline)) void tiles(u64 pa, s64 strideA, u64 pb, s64 strideB, Output o, Claims claims, u32 *box) {
    typedef typename Parts<C>::type R;
    u32 batch = BLOCK_Z;
    u32 wide = (o.n + N - 1) / N, panels = (o.m + ROWS - 1) / ROWS;
    const C *a = (const C *)pa + strideA * (s64)batch;
    const C *b = (const C *)pb + strideB * (s64)batch;
    C *out = matrix<C>(o.c, o.first + batch);
    C alpha = value<C>(o.alpha), beta = value<C>(o.beta);
    Ends<C, R> e(o, alpha, beta);
    u32 k = depth(o, alpha);
    u32 *next = (u32 *)claims.at + (s64)batch * (claims.groups + 1), *columns = next + 1;
    u32 g = claim(next, 1, box), last = g + 1;
    if (g >= claims.groups) {
        g = 0;
        last = claims.groups;
    }
#pragma unroll 1
    for (; g < last; g++) {
        u32 from = g * claims.group, to = panels - from < claims.group ? panels : from + claims.group;
#pragma unroll 1
        for (;;) {
            u32 j = claim(columns + g, claims.step, box), end = wide - j < claims.step ? wide : j + claims.step;
            if (j >= wide)
                break;
#pragma unroll 1
            for (; j < end; j++)
#pragma unroll 1
                for (u32 i = from; i < to; i++) {
                    u32 i0 = i * ROWS, j0 = j * N;
                    if (((o.part & 3) == 1 && i0 + ROWS <= j0) || ((o.part & 3) == 2 && i0 >= j0 + N))
                        continue;
                    tile<C, R, N>((const R *)(a + (s64)i0 * o.k), (const R *)(b + (s64)j0 * o.k), out, o, e, k, i0, j0);
                    __nvvm_bar_warp_sync(~0u); // lanes without a row and those with one go on together: the loops stay the warp's
                }
        }
    }
}

#define TILE(name, C, N)                                                                                                       \
    KERNEL tile_##name(u64 pa, s64 strideA, u64 pb, s64 strideB, Output o, Claims claims) {                                    \
        __shared__ u32 box;                                                                                                    \
        tiles<C, N>(pa, strideA, pb, strideB, o, claims, &box);                                                                \
    }
TILE(c32_c32, c32, 6)
TILE(c64_c64, c64, 3)

// sums adds up the products of a tile of 16 / G rows, whose parts lie at a and every `next` parts behind that, and of N columns for each
// of G groups of lanes, which are read as they lie: one at a time all lanes take the same. WHOLE: all rows are there.
template <class C, class R, int G, int N, bool WHOLE> __device__ __attribute__((always_inline)) void sums(R (&x)[N], R (&y)[N], const R *a, s64 next, u32 parts, const C *b, s64 column, s64 step, u32 n, u32 k, u32 j0) {
    const C *col[G * N];
#pragma unroll
    for (int j = 0; j < G * N; j++)
        col[j] = b + (s64)(j0 + j < n ? j0 + j : n - 1) * column;
    u32 row = LANE % (32 / G), group = LANE / (32 / G);
    a += row;
    s64 at = 0;
#pragma unroll
    for (int j = 0; j < N; j++)
        x[j] = 0, y[j] = 0;
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        R v = 0;
        if (WHOLE || row < parts)
            v = a[0];
#pragma unroll
        for (int j = 0; j < N; j++) {
            R re[G], im[G];
#pragma unroll
            for (int g = 0; g < G; g++) {
                C c = ::parts<C, R>(col[g * N + j] + at);
                re[g] = c.re, im[g] = c.im;
            }
            x[j] = fma(v, G == 1 ? re[0] : pick<G>(re, group), x[j]);
            y[j] = fma(v, G == 1 ? im[0] : pick<G>(im, group), y[j]);
        }
        a += next;
        at += step;
    }
}

// Small is a product of at most SMALL_K in k, or one of few rows that are packed already: one launch, and no other memory where nothing is
// packed. A block has `high` panels of rows of A, in shared memory where they must be turned or are read more than a few times.
struct Small {
    View a, b;
    Output o;
    s64 column, step;            // of op(B): from column to column, and along k
    u32 high, per, packed, lies; // per: panels of columns that a block takes; lies: A's rows are read where they lie
};

// layRows lays a panel's rows out, as packed ones.
template <class R> __device__ __attribute__((always_inline)) void layRows(R *rows, const R *a, s64 ld, u32 parts, u32 k) {
    rows += LANE;
    a += LANE;
    if (parts >= 32) {
#pragma unroll 4
        for (u32 l = 0; l < k; l++)
            rows[l * 32] = a[(s64)l * ld];
        return;
    }
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        R v = 0;
        if (LANE < parts)
            v = a[(s64)l * ld];
        rows[l * 32] = v;
    }
}

template <class C, int N> __device__ __attribute__((always_inline)) void small(const Small &s, typename Parts<C>::type *rows, typename Parts<C>::type *turn) {
    typedef typename Parts<C>::type R;
    u32 batch = s.o.first + BLOCK_Z, top = BLOCK_X * s.high * ROWS;
    u32 panels = (s.o.m - top + ROWS - 1) / ROWS, wide = (s.o.n + N - 1) / N;
    if (panels > s.high)
        panels = s.high;
    const C *a = matrix<const C>(s.a, batch), *b = matrix<const C>(s.b, batch);
    C *out = matrix<C>(s.o.c, batch);
    C alpha = value<C>(s.o.alpha), beta = value<C>(s.o.beta);
    Ends<C, R> e(s.o, alpha, beta);
    u32 k = depth(s.o, alpha);
    u32 from = BLOCK_Y * s.per, end = wide - from < s.per ? wide : from + s.per;
    s64 across = 2 * s.o.c.ld;
#pragma unroll 1
    for (u32 i = 0; i < panels; i++) {
        u32 i0 = top + i * ROWS, parts = 2 * (s.o.m - i0);
        const R *at = rows;
        s64 next = 32;
        __nvvm_bar_warp_sync(~0u);
        if (s.packed)
            at = (const R *)(a + (s64)i0 * s.o.k);
        else if (s.a.op != 0)
            packTurned<R, R, ROWS>((const R *)(a + (s64)i0 * s.a.ld), 2 * s.a.ld, rows, s.o.m - i0, 0, k, turn);
        else if (s.lies && parts >= 32)
            at = (const R *)(a + i0), next = 2 * s.a.ld;
        else
            layRows(rows, (const R *)(a + i0), 2 * s.a.ld, parts, k);
        __nvvm_bar_warp_sync(~0u);
#pragma unroll 1
        for (u32 j = from; j < end; j++) {
            if (((s.o.part & 3) == 1 && i0 + ROWS <= j * N) || ((s.o.part & 3) == 2 && i0 >= (j + 1) * N))
                continue;
            R x[N], y[N], *p = (R *)(out + i0) + LANE + j * N * across;
            fetchTile<N>(p, across);
            sums<C, R, 1, N, true>(x, y, at, next, 32, b, s.column, s.step, s.o.n, k, j * N);
            leave<C, R, N>(x, y, p, across, s.o, e, i0 + LANE / 2, j * N);
            __nvvm_bar_warp_sync(~0u);
        }
    }
}

// With two widths of tiles fewer columns are computed for nothing.
#define SMALL(name, C, N)                                                                                                      \
    KERNEL small##N##_##name(Small s) {                                                                                        \
        __shared__ Parts<C>::type rows[2 * ROWS * SMALL_K], turn[TURN(C)];                                                     \
        small<C, N>(s, rows, turn);                                                                                            \
    }
SMALL(c32, c32, 4)
SMALL(c32, c32, 6)
SMALL(c64, c64, 2)
SMALL(c64, c64, 3)

// Flat is a product of few rows, packed, with a big matrix that is read once, where it lies. C may be turned: `along` is from row to row,
// `across` from column to column, in elements.
struct Flat {
    u64 rows;
    s64 stride;
    View b;
    Output o;
    s64 column, step, along, across;
    u32 per, unused;
};

template <class C, int G, int N> __device__ __attribute__((always_inline)) void flat(const Flat &s) {
    typedef typename Parts<C>::type R;
    u32 batch = s.o.first + BLOCK_Z, wide = (s.o.n + G * N - 1) / (G * N);
    const R *a = (const R *)((const C *)s.rows + s.stride * (s64)batch);
    const C *b = matrix<const C>(s.b, batch);
    R *out = (R *)matrix<C>(s.o.c, batch);
    C alpha = value<C>(s.o.alpha), beta = value<C>(s.o.beta);
    Ends<C, R> e(s.o, alpha, beta);
    u32 k = depth(s.o, alpha);
    u32 from = BLOCK_X * s.per, end = wide - from < s.per ? wide : from + s.per;
    u32 part = LANE % (32 / G), mine = LANE / (32 / G) * N;
#pragma unroll 1
    for (u32 j = from; j < end; j++) {
        u32 col = j * G * N + mine;
        R x[N], y[N];
        sums<C, R, G, N, true>(x, y, a, 32 / G, 32, b, s.column, s.step, s.o.n, k, j * G * N);
        R *p = out + 2 * s.across * (s64)col;
        if (s.along == 1) // known to lie together
            leave<C, R, N>(x, y, p + part, 2 * s.across, s.o, e, part / 2, col);
        else
            leave<C, R, N>(x, y, p + 2 * s.along * (s64)(part / 2) + part % 2, 2 * s.across, s.o, e, part / 2, col);
        __nvvm_bar_warp_sync(~0u);
    }
}

// layFew packs up to WIDTH vectors from l0 to l1 of k, as one panel: from one to the next and along k these are numbers.
template <class R, int WIDTH> __device__ __attribute__((always_inline)) void layFew(const R *from, R *out, s64 at, s64 next, u32 few, u32 l0, u32 l1, R *turn) {
    if (next == 1) {
        packTurned<R, R, WIDTH>(from, 2 * at, out, few, l0, l1, turn);
        return;
    }
    if (LANE >= 2 * WIDTH)
        return;
#pragma unroll 1
    for (u32 l = l0; l < l1; l++) {
        R v = 0;
        if (LANE < 2 * few) {
            if (at == 1)
                v = from[2 * (s64)l * next + LANE];
            else
                v = from[2 * ((s64)l * next + (s64)(LANE / 2) * at) + LANE % 2];
        }
        out[l * 2 * WIDTH + LANE] = v;
    }
}

#define FLAT(name, C, G, N)                                                                                                    \
    KERNEL lay##G##_##name(View x, u64 to, s64 each, s64 at, s64 next, u32 few, u32 k) {                                       \
        __shared__ Parts<C>::type turn[TURN(C)];                                                                               \
        typedef Parts<C>::type R;                                                                                              \
        u32 l0 = BLOCK_X * 64;                                                                                                 \
        const R *from = (const R *)matrix<const C>(x, BLOCK_Z);                                                                \
        layFew<R, ROWS / G>(from, (R *)((C *)to + each * (s64)BLOCK_Z), at, next, few, l0, k - l0 < 64 ? k : l0 + 64, turn);   \
    }                                                                                                                          \
    KERNEL flat##G##_##name(Flat s) { flat<C, G, N>(s); }
FLAT(c32, c32, 1, 6)
FLAT(c32, c32, 2, 6)
FLAT(c64, c64, 1, 3)
FLAT(c64, c64, 2, 3)

// Slab is a product of a big matrix as it lies, its rows together, with up to 16 columns: read once. A block takes V · 32 parts of rows; a
// piece of SHALLOW in k is laid out in shared memory, multiplied with all columns, N at a time, and left for the next. Sums wait there too.
struct Slab {
    View a, b;
    Output o;
    s64 column, step, along, across; // of op(B) and of C, as Flat's
};
enum { FEW = 16, SHALLOW = 32 };

template <class C, int V, int N> __device__ __attribute__((always_inline)) void slab(const Slab &s, typename Parts<C>::type *rows, typename Parts<C>::type *wait) {
    typedef typename Parts<C>::type R;
    u32 batch = s.o.first + BLOCK_Z, top = BLOCK_X * V * ROWS, parts = 2 * (s.o.m - top);
    const R *a = (const R *)(matrix<const C>(s.a, batch) + top) + LANE;
    const C *b = matrix<const C>(s.b, batch);
    R *out = (R *)(matrix<C>(s.o.c, batch) + (s64)top * s.along);
    C alpha = value<C>(s.o.alpha), beta = value<C>(s.o.beta);
    Ends<C, R> e(s.o, alpha, beta);
    u32 k = depth(s.o, alpha);
    s64 ld = 2 * s.a.ld, across = 2 * s.across;
    bool whole = parts >= V * 32;
    u32 l0 = 0;
#pragma unroll 1
    do {
        u32 deep = k - l0 < SHALLOW ? k - l0 : SHALLOW;
        bool last = l0 + deep >= k;
        const R *from = a + (s64)l0 * ld;
        __nvvm_bar_warp_sync(~0u);
        if (whole) {
#pragma unroll 1
            for (u32 l = 0; l < deep; l++) {
#pragma unroll
                for (int v = 0; v < V; v++)
                    rows[(l * V + v) * 32 + LANE] = from[v * 32];
                from += ld;
            }
        } else {
#pragma unroll 1
            for (u32 l = 0; l < deep; l++) {
#pragma unroll
                for (int v = 0; v < V; v++) {
                    R x = 0;
                    if (v * 32 + LANE < parts)
                        x = from[v * 32];
                    rows[(l * V + v) * 32 + LANE] = x;
                }
                from += ld;
            }
        }
        __nvvm_bar_warp_sync(~0u);
        R *mine = wait + LANE;
        u32 tiles = (s.o.n + N - 1) / N * V, each = (SHALLOW + tiles - 1) / tiles, to = last ? 0 : k - l0 - deep, ahead = 0;
        if (to > SHALLOW)
            to = SHALLOW;
#pragma unroll 1
        for (u32 j0 = 0; j0 < s.o.n; j0 += N) {
            const C *col[N];
#pragma unroll
            for (int j = 0; j < N; j++)
                col[j] = b + (s64)(j0 + j < s.o.n ? j0 + j : s.o.n - 1) * s.column + (s64)l0 * s.step;
#pragma unroll 1
            for (u32 v = 0; v < V; v++, mine += 2 * N * 32) {
                R x[N] = {}, y[N] = {};
#pragma unroll 1
                for (u32 i = 0; i < each && ahead < to; i++, ahead++) // the next piece's part, while this one is multiplied
#pragma unroll
                    for (int c = 0; c < V * 32; c += 128 / (int)sizeof(R))
                        fetch(from + ahead * ld + c);
                const R *p = rows + v * 32 + LANE;
                s64 at = 0;
#pragma unroll 1
                for (u32 l = 0; l < deep; l++) {
                    R r = p[0];
#pragma unroll
                    for (int j = 0; j < N; j++) {
                        C c = ::parts<C, R>(col[j] + at);
                        x[j] = fma(r, c.re, x[j]);
                        y[j] = fma(r, c.im, y[j]);
                    }
                    p += V * 32;
                    at += s.step;
                }
                if (l0) // not before: f32 sums that begin with what was in memory are looked at for NaNs after each product
#pragma unroll
                    for (int j = 0; j < N; j++)
                        x[j] += mine[2 * j * 32], y[j] += mine[(2 * j + 1) * 32];
                if (last) {
                    R *q = out + j0 * across;
                    u32 row = v * ROWS + LANE / 2;
                    if (s.along == 1) // known to lie together
                        leave<C, R, N>(x, y, q + v * 32 + LANE, across, s.o, e, top + row, j0);
                    else
                        leave<C, R, N>(x, y, q + 2 * s.along * (s64)row + LANE % 2, across, s.o, e, top + row, j0);
                } else {
#pragma unroll
                    for (int j = 0; j < N; j++)
                        mine[2 * j * 32] = x[j], mine[(2 * j + 1) * 32] = y[j];
                }
                __nvvm_bar_warp_sync(~0u);
            }
        }
        l0 += deep;
    } while (l0 < k);
}

#define SLAB(name, C, V, N)                                                                                                    \
    KERNEL slab##N##_##name(Slab s) {                                                                                          \
        __shared__ Parts<C>::type rows[V * 32 * SHALLOW], wait[(FEW + N - 1) / N * V * 2 * N * 32];                            \
        slab<C, V, N>(s, rows, wait);                                                                                          \
    }
SLAB(c32, c32, 6, 4)
SLAB(c32, c32, 6, 6)
SLAB(c64, c64, 3, 2)
SLAB(c64, c64, 3, 3)

// Deep is a product of up to 16 vectors of k with few more, whose k lies together: vectors a power of two apart, as they often are, share few
// places of a cache. A piece of LONG in k of the first ones is laid out in shared memory and multiplied with the block's columns, N at a
// time, while the next is asked for. Sums wait there too.
struct Deep {
    View a, b;
    Output o;
    s64 at, next, column, along, across; // of a from vector to vector and along k, of b from column to column, and of C, as Flat's
    u32 per, unused;
};
enum { LONG = 64, TILES = 8 }; // and the most tiles of a block

template <class C, int N> __device__ __attribute__((always_inline)) void deep(const Deep &s, typename Parts<C>::type *rows, typename Parts<C>::type *wait, typename Parts<C>::type *turn) {
    typedef typename Parts<C>::type R;
    enum { LINE = 128 / (int)sizeof(C) };
    u32 batch = s.o.first + BLOCK_Z, wide = (s.o.n + N - 1) / N;
    const R *a = (const R *)matrix<const C>(s.a, batch);
    const C *b = matrix<const C>(s.b, batch);
    R *out = (R *)matrix<C>(s.o.c, batch);
    C alpha = value<C>(s.o.alpha), beta = value<C>(s.o.beta);
    Ends<C, R> e(s.o, alpha, beta);
    u32 k = depth(s.o, alpha);
    u32 from = BLOCK_X * s.per, end = wide - from < s.per ? wide : from + s.per, each = (s.o.m + end - from - 1) / (end - from);
    s64 across = 2 * s.across;
    u32 l0 = 0;
#pragma unroll 1
    do {
        u32 many = k - l0 < LONG ? k - l0 : LONG, row = 0;
        bool last = l0 + many >= k;
        __nvvm_bar_warp_sync(~0u);
        layFew<R, ROWS>(a + 2 * (s64)l0 * s.next, rows, s.at, s.next, s.o.m, 0, many, turn);
        __nvvm_bar_warp_sync(~0u);
        const R *ahead = a + 2 * (s64)(l0 + LONG);
        R *mine = wait + LANE;
#pragma unroll 1
        for (u32 j = from; j < end; j++, mine += 2 * N * 32) {
            const C *col[N];
#pragma unroll
            for (int i = 0; i < N; i++)
                col[i] = b + (s64)(j * N + i < s.o.n ? j * N + i : s.o.n - 1) * s.column + l0;
            R x[N] = {}, y[N] = {};
            if (!last && s.next == 1)
#pragma unroll 1
                for (u32 i = 0; i < each && row < s.o.m; i++, row++)
#pragma unroll
                    for (int c = 0; c < LONG; c += LINE)
                        fetch(ahead + 2 * (row * s.at + c));
            if (!last)
#pragma unroll
                for (int i = 0; i < N; i++)
#pragma unroll
                    for (int c = 0; c < LONG; c += LINE)
                        fetch(col[i] + LONG + c);
            const R *p = rows + LANE;
            s64 at = 0;
#pragma unroll 1
            for (u32 l = 0; l < many; l++) {
                R r = p[0];
#pragma unroll
                for (int i = 0; i < N; i++) {
                    C c = ::parts<C, R>(col[i] + at);
                    x[i] = fma(r, c.re, x[i]);
                    y[i] = fma(r, c.im, y[i]);
                }
                p += 32;
                at++;
            }
            if (l0) // not before: f32 sums that begin with what was in memory are looked at for NaNs after each product
#pragma unroll
                for (int i = 0; i < N; i++)
                    x[i] += mine[2 * i * 32], y[i] += mine[(2 * i + 1) * 32];
            if (last) {
                R *q = out + j * N * across;
                if (s.along == 1) // known to lie together
                    leave<C, R, N>(x, y, q + LANE, across, s.o, e, LANE / 2, j * N);
                else
                    leave<C, R, N>(x, y, q + 2 * s.along * (s64)(LANE / 2) + LANE % 2, across, s.o, e, LANE / 2, j * N);
            } else {
#pragma unroll
                for (int i = 0; i < N; i++)
                    mine[2 * i * 32] = x[i], mine[(2 * i + 1) * 32] = y[i];
            }
            __nvvm_bar_warp_sync(~0u);
        }
        l0 += many;
    } while (l0 < k);
}

#define DEEP(name, C, N)                                                                                                       \
    KERNEL deep##N##_##name(Deep s) {                                                                                          \
        __shared__ Parts<C>::type rows[2 * ROWS * LONG], wait[TILES * 2 * N * 32], turn[TURN(C)];                              \
        deep<C, N>(s, rows, wait, turn);                                                                                       \
    }
DEEP(c32, c32, 4)
DEEP(c32, c32, 6)
DEEP(c64, c64, 2)
DEEP(c64, c64, 3)

// Tiny is a batch of products of at most 8 rows, A as it lies: half of a warp's lanes take a row's parts, the others other columns. A block
// takes `each` matrices.
struct Tiny {
    View a, b;
    Output o;
    s64 column, step;
    u32 batch, each;
};

template <class C, int N> __device__ __attribute__((always_inline)) void tiny(const Tiny &t) {
    typedef typename Parts<C>::type R;
    C alpha = value<C>(t.o.alpha), beta = value<C>(t.o.beta);
    Ends<C, R> e(t.o, alpha, beta);
    u32 k = depth(t.o, alpha), part = LANE % 16, mine = LANE / 16 * N;
    u32 from = BLOCK_X * t.each, to = t.batch - from < t.each ? t.batch : from + t.each;
    s64 across = 2 * t.o.c.ld;
#pragma unroll 1
    for (u32 i = from; i < to; i++) {
        const C *a = matrix<const C>(t.a, i), *b = matrix<const C>(t.b, i);
        R *out = (R *)matrix<C>(t.o.c, i) + part;
#pragma unroll 1
        for (u32 j0 = 0; j0 < t.o.n; j0 += 2 * N) {
            R x[N], y[N];
            if (t.o.m == 8)
                sums<C, R, 2, N, true>(x, y, (const R *)a, 2 * t.a.ld, 16, b, t.column, t.step, t.o.n, k, j0);
            else
                sums<C, R, 2, N, false>(x, y, (const R *)a, 2 * t.a.ld, 2 * t.o.m, b, t.column, t.step, t.o.n, k, j0);
            __nvvm_bar_warp_sync(~0u);
            leave<C, R, N>(x, y, out + (j0 + mine) * across, across, t.o, e, part / 2, j0 + mine);
            __nvvm_bar_warp_sync(~0u);
        }
    }
}

#define TINY(name, C, N) \
    KERNEL tiny_##name(Tiny t) { tiny<C, N>(t); }
TINY(c32, c32, 4)
TINY(c64, c64, 2)
