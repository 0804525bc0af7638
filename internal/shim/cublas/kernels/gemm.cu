// C = alpha op(A) op(B) + beta C, column by column in memory.
//
// Large products are packed first: op(A) into panels of 32 rows, op(B) into panels of N columns, both in the type of the
// sums, so that the inner loop reads two streams forward, one value of A a lane and N values of B that all lanes share.
// The tile of 32 × N sums stays in registers. Small ones have kernels of their own, and skinny ones (skinny.cu).
//
// Panels of A are split complex (32 real parts, then 32 imaginary ones): lanes read what lies together, without shuffles. Panels of B in
// c64 have their negative imaginary parts behind them, as a negation costs as much as a product.
#include "aligned.h"
#include "device.h"
#include "shared.h"

enum { ROWS = 32, TURN = 33, PANELS = 8 };
enum { C32 = 4, C64 = 2 }; // columns of tiles of complex numbers

struct c8 {
    s8 re, im;
};
__device__ inline c32 load(const c8 *p) { return {(float)p->re, (float)p->im}; }

// deep is the elements of memory of a panel of WIDTH rows, k deep; lay writes one of row l. Panels of 32 rows are A's.
template <class W, int WIDTH> __device__ inline s64 deep(u32 k) { return sizeof(W) == 16 && WIDTH < ROWS ? (s64)(WIDTH * 3 / 2) * k : (s64)WIDTH * k; }
template <class W> __device__ inline void layRow(W *row, u32 r, W v) { row[r] = v; }
template <class C, class R> __device__ inline void laySplit(C *row, u32 r, C v) {
    ((R *)row)[r] = v.re;
    ((R *)row)[ROWS + r] = v.im;
}
__device__ inline void layRow(c32 *row, u32 r, c32 v) { laySplit<c32, float>(row, r, v); }
__device__ inline void layRow(c64 *row, u32 r, c64 v) { laySplit<c64, double>(row, r, v); }
template <class W> __device__ inline void layColumn(W *row, u32 r, W v, W *, u32) { row[r] = v; }
__device__ inline void layColumn(c64 *row, u32 r, c64 v, c64 *panel, u32 k) {
    row[r] = v;
    ((double *)(panel + (s64)C64 * k) + (row - panel))[r] = -v.im;
}
template <int WIDTH, class W> __device__ inline void lay(W *row, u32 r, W v, W *panel, u32 k) {
    if (WIDTH == ROWS)
        layRow(row, r, v);
    else
        layColumn(row, r, v, panel, k);
}

// packRows: lanes take rows of one panel, of `panels` panels in turn for each l: then a long piece of each column of the matrix is
// read at once. There are `rows` rows; `next` is the distance of panels.
template <class T, class W, int WIDTH> __device__ void packRows(const T *src, View x, W *dst, s64 next, u32 rows, u32 panels, u32 k, u32 from, u32 to) {
    u32 r = LANE;
    if (r >= WIDTH)
        return;
    const T *p = src + (s64)from * x.ld + r;
    W *q = dst + (s64)from * WIDTH;
    if (panels == PANELS && rows >= PANELS * WIDTH && x.op == 0) {
        for (u32 l = from; l < to; l++) {
#pragma unroll
            for (u32 i = 0; i < PANELS; i++)
                lay<WIDTH, W>(q + i * next, r, load(p + i * WIDTH), dst + i * next, k);
            p += x.ld;
            q += WIDTH;
        }
        return;
    }
    for (u32 i = 0; i < panels; i++) {
        bool mine = i * WIDTH + r < rows;
        const T *from1 = p + i * WIDTH;
        W *to1 = q + i * next;
        for (u32 l = from; l < to; l++) {
            W v = {};
            if (mine) {
                v = load(from1);
                if (x.op == 3)
                    v = conj(v);
            }
            lay<WIDTH>(to1, r, v, dst + i * next, k);
            from1 += x.ld;
            to1 += WIDTH;
        }
    }
}

// packHalf: one triangle is stored: 4 lower, 5 upper; 6 and 7 Hermitian, 8 and 9 its transpose.
template <class T, class W, int WIDTH> __device__ void packHalf(const T *src, View x, W *dst, u32 r0, u32 rows, u32 k, u32 from, u32 to) {
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
        lay<WIDTH>(dst + (s64)l * WIDTH, LANE, v, dst, k);
    }
}

// packTriangle: a triangle of A is all there is: 16, + 1 upper, + 2 with ones on the diagonal, + 4 transposed, + 8 conjugated.
template <class T, class W, int WIDTH> __device__ void packTriangle(const T *src, View x, W *dst, u32 r0, u32 rows, u32 k, u32 from, u32 to) {
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
        lay<WIDTH>(dst + (s64)l * WIDTH, LANE, v, dst, k);
    }
}

// packTurned: k lies together. 32 of it from every row are read forward, turned in shared memory, and written forward.
template <class T, class W, int WIDTH> __device__ void packTurned(const T *src, View x, W *dst, u32 rows, u32 k, u32 from, u32 to, W *turn) {
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
                lay<WIDTH>(out + l, LANE, turn[LANE * TURN + l / 32], dst, k);
        } else {
#pragma unroll
            for (u32 i = 0; i < WIDTH; i++) {
                u32 o = i * 32 + LANE;
                if (whole || o < count)
                    lay<WIDTH>(out, o, turn[o % WIDTH * TURN + o / WIDTH], dst, k);
            }
        }
        __nvvm_bar_warp_sync(~0u);
    }
}

// Side is one operand that is packed: where its panels go, how far the next matrix's are, and its rows; none if it is packed already.
// A block takes `panels` of them, PANELS at most. `same`: one matrix serves the whole batch.
struct Side {
    View x;
    u64 out;
    s64 stride;
    u32 rows, panels, same, unused;
};

// pack writes panels of WIDTH rows of op(X), k long: panel p holds for every l the rows p·WIDTH …, zero past the end. A block
// takes some panels and `run` of k, a multiple of 32. WIDTH is a constant so that what is read, turned and written is known
// to lie together: with a width in a register the same loops took ten times as long.
template <class T, class W, int WIDTH> __device__ __attribute__((always_inline)) void pack(Side s, u32 block, u32 k, u32 run, u32 first, W *turn) {
    u32 batch = BLOCK_Z, r0 = block * WIDTH * s.panels;
    if (r0 >= s.rows)
        return;
    if (s.same) {
        if (batch != 0)
            return;
        first = 0;
    }
    const T *src = matrix<const T>(s.x, first + batch);
    W *dst = (W *)s.out + s.stride * (s64)batch + r0 / WIDTH * deep<W, WIDTH>(k);
    u32 from = BLOCK_Y * run, to = k - from < run ? k : from + run;
    u32 panels = (s.rows - r0 + WIDTH - 1) / WIDTH;
    if (panels > s.panels)
        panels = s.panels;
    s64 next = deep<W, WIDTH>(k);
    if (s.x.op == 0 || s.x.op == 3) { // rows lie together: lanes take rows
        packRows<T, W, WIDTH>(src + r0, s.x, dst, next, s.rows - r0, panels, k, from, to);
        return;
    }
    for (u32 i = 0; i < panels; i++, r0 += WIDTH, dst += next)
        if (s.x.op >= 16)
            packTriangle<T, W, WIDTH>(src, s.x, dst, r0, s.rows, k, from, to);
        else if (s.x.op >= 4)
            packHalf<T, W, WIDTH>(src, s.x, dst, r0, s.rows, k, from, to);
        else
            packTurned<T, W, WIDTH>(src + (s64)r0 * s.x.ld, s.x, dst, s.rows - r0, k, from, to, turn);
}

// clear writes the claims of a matrix (see tiles), by the first block.
__device__ inline void clear(u32 *p, u32 n) {
    if (BLOCK_X == 0 && BLOCK_Y == 0)
        for (u32 i = LANE; i < n; i += 32)
            p[i] = 0;
}

// Both operands are packed by one launch: the first `blocks` blocks of a row take A, the others B.
#define PACK(name, T, W, N)                                                                                                    \
    KERNEL pack_##name(Side a, Side b, u64 claims, u32 numbers, u32 blocks, u32 k, u32 run, u32 first) {                       \
        clear((u32 *)claims + (s64)numbers * BLOCK_Z, numbers);                                                                \
        __shared__ W turn[ROWS * TURN];                                                                                        \
        if (BLOCK_X < blocks)                                                                                                  \
            pack<T, W, ROWS>(a, BLOCK_X, k, run, first, turn);                                                                 \
        else                                                                                                                   \
            pack<T, W, N>(b, BLOCK_X - blocks, k, run, first, turn);                                                           \
    }
PACK(f32, float, float, 12)
PACK(f64, double, double, 6)
PACK(f16, f16, float, 12)
PACK(bf16, bf16, float, 12)
PACK(c32, c32, c32, C32)
PACK(c64, c64, c64, C64)
PACK(s8, s8, int, 12)
PACK(s8_f32, s8, float, 12)
PACK(c8, c8, c32, C32)

// Of a triangle (1 lower, 2 upper) only its elements are written; with 4 the diagonal is real.
__device__ inline bool within(u32 part, u32 row, u32 col) { return (part & 3) == 0 || ((part & 1) ? row >= col : row <= col); }

template <class W, class C> __device__ inline void put(C *p, W v, u32 part, u32 row, u32 col) {
    store(p, part >= 4 && row == col ? real(v) : v);
}

// fetch asks for what will be stored to.
__device__ inline void fetch(const void *p) { asm volatile("prefetch.global.L1 [%0];" ::"l"(p)); }

// Claims are where the blocks of a product say what they take next: groups of panels of A, and of each group panels of B. A group
// is worked on by the block that claimed it, so that it stays in the cache of one core; blocks that find no group left help with the
// columns of the others. Two cores that go through one group together took a fifth longer: see RATIONALE.md.
struct Claims {
    u64 at;                  // groups + 1 numbers a matrix, 0 at the beginning
    u32 group, groups, step; // panels of A in a group, groups, panels of B that are claimed at once
    u32 unused;
};

// claim takes n of what is counted at p and returns the first of them. It goes through shared memory, as what all lanes read there
// is known to be the same in all.
__device__ inline u32 claim(u32 *p, u32 n, u32 *box) {
    __nvvm_bar_warp_sync(~0u);
    if (LANE == 0)
        *box = __nvvm_atom_add_gen_i((int *)p, n);
    __nvvm_bar_warp_sync(~0u);
    return *box;
}

struct Output {
    View c;
    Scalar alpha, beta;
    u32 m, n, k, first, part;
};

// fetchTile asks for the tile of C while its sums are made; a prefetch past its end does nothing.
template <int N, class C> __device__ __attribute__((always_inline)) void fetchTile(C *out, const Output &o, u32 j0) {
#pragma unroll
    for (int j = 0; j < N; j++)
        fetch(out + (s64)(j0 + j) * o.c.ld);
}

// leaveTile writes the sums of 32 rows from i0 and N columns from j0 to C. With an alpha of 0 they are 0: there was nothing to add (depth).
template <class W, class C, int N> __device__ __attribute__((always_inline)) void leaveTile(W (&sum)[N], C *out, const Output &o, W alpha, W beta, u32 i0, u32 j0) {
    u32 row = i0 + LANE;
    if (row >= o.m)
        return;
    out += row;
    if (o.part == 0 && zero(beta)) { // what C held must not be looked at: it may be NaN
#pragma unroll
        for (int j = 0; j < N; j++)
            if (j0 + j < o.n)
                store(out + (s64)(j0 + j) * o.c.ld, mul(alpha, sum[j]));
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
        if (j0 + j >= o.n)
            break;
        if (!within(o.part, row, j0 + j))
            continue;
        C *p = out + (s64)(j0 + j) * o.c.ld;
        W v = mul(alpha, sum[j]);
        if (!zero(beta))
            v = fma(beta, load(p), v);
        put(p, v, o.part, row, j0 + j);
    }
}

// depth is how much of k is added: nothing with an alpha of 0, as A may be NaN.
template <class W> __device__ inline u32 depth(const Output &o, W alpha) { return zero(alpha) ? 0 : o.k; }

// Panel is a step of a product: what a lane reads of a panel of A, multiplied with what all read of one of B, N wide.
template <class W, int N> struct Panel {
    const W *a, *b;
    __device__ Panel(const W *a, const W *b, u32) : a(a), b(b) {}
    __device__ W row() const { return a[LANE]; }
    __device__ W add(W row, int j, W sum) const { return fma(row, b[j], sum); }
    __device__ void next() {
        a += ROWS;
        b += N;
    }
};
template <int N> struct Panel<c32, N> {
    const c32 *a, *b;
    __device__ Panel(const c32 *a, const c32 *b, u32) : a(a), b(b) {}
    __device__ c32 row() const { return {((const float *)a)[LANE], ((const float *)a)[ROWS + LANE]}; }
    __device__ c32 add(c32 row, int j, c32 sum) const { return fma(row, parts<c32, float>(b + j), sum); }
    __device__ void next() {
        a += ROWS;
        b += N;
    }
};
template <int N> struct Panel<c64, N> {
    const c64 *a, *b;
    const double *minus;
    __device__ Panel(const c64 *a, const c64 *b, u32 k) : a(a), b(b), minus((const double *)(b + (s64)N * k)) {}
    __device__ c64 row() const { return {((const double *)a)[LANE], ((const double *)a)[ROWS + LANE]}; }
    __device__ c64 add(c64 row, int j, c64 sum) const {
        return {fma(row.re, b[j].re, fma(row.im, minus[j], sum.re)), fma(row.re, b[j].im, fma(row.im, b[j].re, sum.im))};
    }
    __device__ void next() {
        a += ROWS;
        b += N;
        minus += N;
    }
};

// tile is the work of a warp: 32 rows from i0, N columns from j0, whose panels a and b are. It and what calls it must be inlined: a call
// passes what all lanes share through local memory, after which nothing is known to be shared, and the same sums take ten times as long.
template <class W, class C, int N> __device__ __attribute__((always_inline)) void tile(const W *a, const W *b, C *out, const Output &o, W alpha, W beta, u32 i0, u32 j0) {
    fetchTile<N>(out + i0 + LANE, o, j0);
    Panel<W, N> p(a, b, o.k);
    W sum[N] = {};
    u32 k = depth(o, alpha);
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        W av = p.row();
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[j] = p.add(av, j, sum[j]);
        p.next();
    }
    leaveTile<W, C, N>(sum, out, o, alpha, beta, i0, j0);
}

// tiles has copies of its parameters: clang 22 reads one again behind the atomic of claim, in the one lane that does it, and what it says is
// then no longer known to be the same in all. The same sums took twice as long, by gathers.
template <class W, class C, int N> __device__ __attribute__((always_inline)) void tiles(u64 pa, s64 strideA, u64 pb, s64 strideB, Output o, Claims claims, u32 *box) {
    u32 batch = BLOCK_Z;
    u32 wide = (o.n + N - 1) / N, panels = (o.m + ROWS - 1) / ROWS;
    const W *a = (const W *)pa + strideA * (s64)batch;
    const W *b = (const W *)pb + strideB * (s64)batch;
    C *out = matrix<C>(o.c, o.first + batch);
    W alpha = value<W>(o.alpha), beta = value<W>(o.beta);
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
                    tile<W, C, N>(a + (s64)i0 * o.k, b + j * deep<W, N>(o.k), out, o, alpha, beta, i0, j0);
                    __nvvm_bar_warp_sync(~0u); // lanes without a row and those with one go on together: the loops stay the warp's
                }
        }
    }
}

#define TILE(name, W, C, N)                                                                                                    \
    KERNEL tile_##name(u64 pa, s64 strideA, u64 pb, s64 strideB, Output o, Claims claims) {                                    \
        __shared__ u32 box;                                                                                                    \
        tiles<W, C, N>(pa, strideA, pb, strideB, o, claims, &box);                                                             \
    }
TILE(f32_f32, float, float, 12)
TILE(f32_f16, float, f16, 12)
TILE(f32_bf16, float, bf16, 12)
TILE(f64_f64, double, double, 6)
TILE(c32_c32, c32, c32, C32)
TILE(c64_c64, c64, c64, C64)
TILE(s32_s32, int, int, 12)

// small is a product of at most SMALL_K in k, or one of few rows that are packed already: one launch, and no other
// memory where nothing is packed. A block has HIGH panels of rows of A, in shared memory where they must be turned,
// and multiplies them with its columns of B, which are read as they lie: one element at a time all lanes take the
// same, so that no order is better than another.
enum { SMALL_K = 128 };

// Rows is what a tile reads of A: V · 32 rows, and how far the next of k are. Columns likewise of B, from the block's first column on.
template <class W> struct Rows {
    const W *a;
    s64 next;
};
template <class W> struct Columns {
    const W *b;
    s64 column, step;
};

// smallTile is V · 32 rows and N columns, of which some may not be there.
template <class W, int V, int N> __device__ __attribute__((always_inline)) void smallTile(Rows<W> r, Columns<W> c, W *out, const Output &o, W alpha, W beta, u32 i0, u32 j0) {
    const W *col[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        col[j] = c.b + (s64)(j0 + j < o.n ? j0 + j : o.n - 1) * c.column;
    const W *a = r.a + LANE;
    W sum[V][N] = {};
    s64 at = 0;
    u32 k = depth(o, alpha);
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        W x[V] = {};
#pragma unroll
        for (int v = 0; v < V; v++)
            if (i0 + v * ROWS + LANE < o.m)
                x[v] = a[v * ROWS];
#pragma unroll
        for (int j = 0; j < N; j++) {
            W y = col[j][at];
#pragma unroll
            for (int v = 0; v < V; v++)
                sum[v][j] = fma(x[v], y, sum[v][j]);
        }
        a += r.next;
        at += c.step;
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
        leaveTile<W, W, N>(sum[v], out, o, alpha, beta, i0 + v * ROWS, j0);
        __nvvm_bar_warp_sync(~0u);
    }
}

// addStep adds what one of k gives.
template <class W, int V, int N> __device__ __attribute__((always_inline)) void addStep(const W *a, const W *const (&col)[N], s64 at, W (&sum)[V][N]) {
    W x[V];
#pragma unroll
    for (int v = 0; v < V; v++)
        x[v] = a[v * ROWS];
#pragma unroll
    for (int j = 0; j < N; j++) {
        W y = col[j][at];
#pragma unroll
        for (int v = 0; v < V; v++)
            sum[v][j] = fma(x[v], y, sum[v][j]);
    }
}

// wholeTile is V · 32 rows and N columns that are all there. A turn of its loop is four of k: what counts and moves addresses takes ports
// that could multiply. DEEP: k of B lies together.
template <class W, int V, int N, bool DEEP> __device__ __attribute__((always_inline)) void wholeTile(Rows<W> r, Columns<W> c, W *out, s64 ld, W alpha, W beta, u32 k) {
    const W *col[N], *a = r.a + LANE;
#pragma unroll
    for (int j = 0; j < N; j++)
        col[j] = DEEP ? c.b + j * c.column : c.b + j;
    W sum[V][N] = {};
    s64 at = 0;
    u32 l = 0;
#pragma unroll 1
    for (; l + 4 <= k; l += 4) {
#pragma unroll
        for (int u = 0; u < 4; u++) {
            addStep<W, V, N>(a, col, DEEP ? at + u : at, sum);
            a += r.next;
            if (!DEEP)
                at += c.step;
        }
        if (DEEP)
            at += 4;
    }
#pragma unroll 1
    for (; l < k; l++) {
        addStep<W, V, N>(a, col, at, sum);
        a += r.next;
        at += DEEP ? 1 : c.step;
    }
    out += LANE;
    if (zero(beta)) {
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int v = 0; v < V; v++)
                out[j * ld + v * ROWS] = mul(alpha, sum[v][j]);
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int v = 0; v < V; v++) {
            W *p = out + j * ld + v * ROWS;
            *p = fma(beta, *p, mul(alpha, sum[v][j]));
        }
}

// smallColumns are the tiles of V · 32 rows from i0 on and columns from `from` to `end`: N at a time, and NARROW, N · 2 / 3, where that ends
// with the last column. deep: k of B lies together.
template <class W, int V, int N, int NARROW> __device__ __attribute__((always_inline)) void smallColumns(Rows<W> r, Columns<W> c, bool deep, W *out, const Output &o, W alpha, W beta, u32 i0, u32 from, u32 end) {
    bool whole = i0 + V * ROWS <= o.m && o.part == 0;
    u32 k = depth(o, alpha), wide = N;
#pragma unroll 1
    for (u32 j0 = from; j0 < end; j0 += wide) {
        u32 left = end - j0;
        wide = left <= NARROW || left == 2 * NARROW ? NARROW : N;
        Columns<W> own = {c.b + (s64)j0 * c.column, c.column, c.step};
        W *to = out + (s64)j0 * o.c.ld + i0;
        if (!whole || left < wide) {
            if (wide == N)
                smallTile<W, V, N>(r, c, out, o, alpha, beta, i0, j0);
            else
                smallTile<W, V, NARROW>(r, c, out, o, alpha, beta, i0, j0);
        } else if (deep) {
            if (wide == N)
                wholeTile<W, V, N, true>(r, own, to, o.c.ld, alpha, beta, k);
            else
                wholeTile<W, V, NARROW, true>(r, own, to, o.c.ld, alpha, beta, k);
        } else {
            if (wide == N)
                wholeTile<W, V, N, false>(r, own, to, o.c.ld, alpha, beta, k);
            else
                wholeTile<W, V, NARROW, false>(r, own, to, o.c.ld, alpha, beta, k);
        }
        __nvvm_bar_warp_sync(~0u);
    }
}

// Small is what a block of small has: its matrices, and its columns of C.
template <class W, int N> struct Small {
    const W *a;
    Columns<W> b;
    bool deep;
    W *out, alpha, beta;
    u32 from, end;
    __device__ __attribute__((always_inline)) Small(const View &xa, const View &xb, const Output &o, u32 per) {
        u32 batch = o.first + BLOCK_Z;
        a = matrix<const W>(xa, batch);
        deep = xb.op == 0;
        b = {matrix<const W>(xb, batch), deep ? xb.ld : 1, deep ? 1 : xb.ld};
        out = matrix<W>(o.c, batch);
        alpha = value<W>(o.alpha), beta = value<W>(o.beta);
        from = BLOCK_Y * per * N;
        end = o.n - from < per * N ? o.n : from + per * N;
    }
};

// pairs is small for more than 32 rows of an A that lies as it is: a block has 64 of them, two of a lane's. With N columns what all
// lanes share is read for twice as many products, and there are half as many tiles to end.
template <class W, int N> __device__ __attribute__((always_inline)) void pairs(const View &xa, const View &xb, const Output &o, u32 per) {
    Small<W, N> s(xa, xb, o, per);
    u32 i0 = BLOCK_X * 2 * ROWS;
    smallColumns<W, 2, N, N * 2 / 3>({s.a + i0, xa.ld}, s.b, s.deep, s.out, o, s.alpha, s.beta, i0, s.from, s.end);
}

KERNEL pairs6_f32(View a, View b, Output o, u32 per, u32) { pairs<float, 6>(a, b, o, per); }

template <class W, int N, int HIGH> __device__ __attribute__((always_inline)) void small(const View &xa, const View &xb, const Output &o, u32 per, u32 packed, W *rows, W *turn) {
    Small<W, N> s(xa, xb, o, per);
    u32 top = BLOCK_X * HIGH * ROWS, panels = (o.m - top + ROWS - 1) / ROWS;
    if (panels > HIGH)
        panels = HIGH;
#pragma unroll 1
    for (u32 i = 0; i < panels; i++) {
        u32 i0 = top + i * ROWS;
        Rows<W> r = {rows, ROWS};
        if (packed) {
            r.a = s.a + (s64)i0 * o.k;
        } else if (xa.op == 0) { // rows lie together
            r = {s.a + i0, xa.ld};
        } else {
            packTurned<W, W, ROWS>(s.a + (s64)i0 * xa.ld, xa, rows, o.m - i0, o.k, 0, o.k, turn);
            __nvvm_bar_warp_sync(~0u);
        }
        smallColumns<W, 1, N, N * 2 / 3>(r, s.b, s.deep, s.out, o, s.alpha, s.beta, i0, s.from, s.end);
    }
}

#define SMALL(name, W, N)                                                                                                      \
    KERNEL small##N##_##name(View a, View b, Output o, u32 per, u32 packed) {                                                  \
        __shared__ W rows[ROWS * SMALL_K], turn[ROWS * TURN];                                                                  \
        small<W, N, 2>(a, b, o, per, packed, rows, turn);                                                                      \
    }
SMALL(f32, float, 12)
SMALL(f64, double, 6)

// Small products of complex numbers have at most PARTS_K in k. The rows of A are laid into shared memory, split complex,
// and what is multiplied with imaginary parts for real ones is there with its sign: a negation in the loop costs as much
// as a product. op(B) conjugated: A is conjugated instead, and the sum. With few rows that are packed already k is any.
enum { PARTS_K = 64 };

template <class C, class R, int N, bool PACKED> __device__ __attribute__((always_inline)) void partsTile(const R *rows, const C *b, s64 column, s64 step, u32 conjugated, C *out, const Output &o, C alpha, C beta, u32 i0, u32 j0) {
    fetchTile<N>(out + i0 + LANE, o, j0);
    const C *col[N];
#pragma unroll
    for (int j = 0; j < N; j++)
        col[j] = b + (s64)(j0 + j < o.n ? j0 + j : o.n - 1) * column;
    C sum[N] = {};
    s64 at = 0;
    u32 k = depth(o, alpha);
    rows += LANE;
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        R re = rows[0], im = rows[ROWS], minus = PACKED ? -im : rows[2 * ROWS];
#pragma unroll
        for (int j = 0; j < N; j++) {
            C c = parts<C, R>(col[j] + at);
            sum[j] = {fma(re, c.re, fma(minus, c.im, sum[j].re)), fma(re, c.im, fma(im, c.re, sum[j].im))};
        }
        rows += (PACKED ? 2 : 3) * ROWS;
        at += step;
    }
    if (conjugated) {
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[j] = conj(sum[j]);
    }
    leaveTile<C, C, N>(sum, out, o, alpha, beta, i0, j0);
}

// layParts lays a lane's row out.
template <class C, class R> __device__ __attribute__((always_inline)) void layParts(R *rows, const C *p, s64 right, bool mine, u32 k, bool conjugated) {
    rows += LANE;
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        C v = {};
        if (mine)
            v = *p;
        R minus = -v.im;
        rows[0] = v.re;
        rows[ROWS] = conjugated ? minus : v.im;
        rows[2 * ROWS] = conjugated ? v.im : minus;
        rows += 3 * ROWS;
        p += right;
    }
}

template <class C, class R, int N, int HIGH> __device__ __attribute__((always_inline)) void smallParts(const View &xa, const View &xb, const Output &o, u32 per, u32 packed, R *rows) {
    u32 batch = o.first + BLOCK_Z, top = BLOCK_X * HIGH * ROWS;
    u32 panels = (o.m - top + ROWS - 1) / ROWS, wide = (o.n + N - 1) / N;
    if (panels > HIGH)
        panels = HIGH;
    const C *a = matrix<const C>(xa, batch), *b = matrix<const C>(xb, batch);
    C *out = matrix<C>(o.c, batch);
    C alpha = value<C>(o.alpha), beta = value<C>(o.beta);
    u32 from = BLOCK_Y * per, end = wide - from < per ? wide : from + per;
    s64 column = xb.op == 0 ? xb.ld : 1, step = xb.op == 0 ? 1 : xb.ld;
    bool conjugated = (xa.op == 2) != (xb.op == 2);
#pragma unroll 1
    for (u32 i = 0; i < panels; i++) {
        u32 i0 = top + i * ROWS;
        if (packed) {
#pragma unroll 1
            for (u32 j = from; j < end; j++) {
                partsTile<C, R, N, true>((const R *)(a + (s64)i0 * o.k), b, column, step, 0, out, o, alpha, beta, i0, j * N);
                __nvvm_bar_warp_sync(~0u);
            }
            continue;
        }
        __nvvm_bar_warp_sync(~0u);
        if (xa.op == 0)
            layParts(rows, a + i0 + LANE, xa.ld, i0 + LANE < o.m, o.k, conjugated);
        else
            layParts(rows, a + (s64)(i0 + LANE) * xa.ld, 1, i0 + LANE < o.m, o.k, conjugated);
        __nvvm_bar_warp_sync(~0u);
#pragma unroll 1
        for (u32 j = from; j < end; j++) {
            partsTile<C, R, N, false>(rows, b, column, step, xb.op == 2, out, o, alpha, beta, i0, j * N);
            __nvvm_bar_warp_sync(~0u);
        }
    }
}

#define PARTS(name, C, R, N)                                                                                                   \
    KERNEL small##N##_##name(View a, View b, Output o, u32 per, u32 packed) {                                                  \
        __shared__ R rows[3 * ROWS * PARTS_K];                                                                                 \
        smallParts<C, R, N, 2>(a, b, o, per, packed, rows);                                                                            \
    }
PARTS(c32, c32, float, 4)
PARTS(c64, c64, double, 2)

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
