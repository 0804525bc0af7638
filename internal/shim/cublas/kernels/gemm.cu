// C = alpha op(A) op(B) + beta C, column by column in memory.
//
// Large products are packed first: op(A) into panels of 32 rows, op(B) into panels of N columns, both in the type of the
// sums, so that the inner loop reads two streams forward, one value of A a lane and N values of B that all lanes share.
// The tile of 32 × N sums stays in registers. Small ones have kernels of their own, and skinny ones (skinny.cu).
#include "product.h"

enum { ROWS = 32, TURN = 33 };

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
                q[i * next + r] = load(p + i * WIDTH);
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
            if (mine)
                v = load(from1);
            to1[r] = v;
            from1 += x.ld;
            to1 += WIDTH;
        }
    }
}

// packHalf: one triangle is stored, the lower one with an even op.
template <class T, class W, int WIDTH> __device__ void packHalf(const T *src, View x, W *dst, u32 r0, u32 rows, u32 k, u32 from, u32 to) {
    u32 i = r0 + LANE;
    if (LANE >= WIDTH)
        return;
    for (u32 l = from; l < to; l++) {
        W v = {};
        if (i < rows) {
            bool stored = x.op & 1 ? i <= l : i >= l;
            v = load(stored ? src + (s64)l * x.ld + i : src + (s64)i * x.ld + l);
        }
        dst[(s64)l * WIDTH + LANE] = v;
    }
}

// packTriangle: a triangle of A is all there is: 16, + 1 upper, + 2 with ones on the diagonal, + 4 transposed.
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
            }
        }
        dst[(s64)l * WIDTH + LANE] = v;
    }
}

// packTurned: k lies together. 32 of it from every row are read forward, turned in shared memory, and written forward.
template <class T, class W, int WIDTH> __device__ void packTurned(const T *src, View x, W *dst, u32 rows, u32 k, u32 from, u32 to, W *turn) {
    for (u32 l0 = from; l0 < to; l0 += 32) {
        bool whole = rows >= WIDTH && to - l0 >= 32;
        const T *p = src + l0 + LANE;
        W *out = dst + (s64)l0 * WIDTH;
        if (whole) {
#pragma unroll 4
            for (u32 r = 0; r < WIDTH; r++)
                turn[r * TURN + LANE] = load(p + (s64)r * x.ld);
        } else
            for (u32 r = 0; r < WIDTH; r++) {
                W v = {};
                if (r < rows && l0 + LANE < to)
                    v = load(p + (s64)r * x.ld);
                turn[r * TURN + LANE] = v;
            }
        __nvvm_bar_warp_sync(~0u);
        u32 count = (to - l0 < 32 ? to - l0 : 32) * WIDTH;
        if (WIDTH == 32 && sizeof(W) == 4 && whole) { // sixteen words of a lane's row at a time are turned in registers
            for (u32 l = 0; l < 32; l += 16) {
                W v[16];
#pragma unroll
                for (u32 j = 0; j < 16; j++)
                    v[j] = turn[LANE * TURN + l + j];
#pragma unroll
                for (u32 j = 0; j < 16; j++)
                    out[(l + j) * 32 + LANE] = v[j];
            }
        } else if (WIDTH == 32) {
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
    W *dst = (W *)s.out + s.stride * (s64)batch + (s64)r0 * k;
    u32 from = BLOCK_Y * run, to = k - from < run ? k : from + run;
    u32 panels = (s.rows - r0 + WIDTH - 1) / WIDTH;
    if (panels > s.panels)
        panels = s.panels;
    s64 next = (s64)WIDTH * k;
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
PACK(s8, s8, int, 12)
PACK(s8_f32, s8, float, 12)

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

// tile is the work of a warp: 32 rows from i0, N columns from j0, whose panels a and b are. It and what calls it must be inlined: a call
// passes what all lanes share through local memory, after which nothing is known to be shared, and the same sums take ten times as long.
template <class W, class C, int N> __device__ __attribute__((always_inline)) void tile(const W *a, const W *b, C *out, const Output &o, W alpha, W beta, u32 i0, u32 j0) {
    fetchTile<N>(out + i0 + LANE, o, j0);
    W sum[N] = {};
    u32 k = depth(o, alpha);
#pragma unroll 1
    for (u32 l = 0; l < k; l++) {
        W av = a[LANE];
#pragma unroll
        for (int j = 0; j < N; j++)
            sum[j] = fma(av, b[j], sum[j]);
        a += ROWS;
        b += N;
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
                    tile<W, C, N>(a + (s64)i0 * o.k, b + (s64)j0 * o.k, out, o, alpha, beta, i0, j0);
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
// that could multiply. DEEP: k of B lies together. Of many columns every third is hidden from the compiler then, which would find each as
// the one before and a bit: a chain of N additions for every k, behind which the products wait.
template <class W, int V, int N, bool DEEP> __device__ __attribute__((always_inline)) void wholeTile(Rows<W> r, Columns<W> c, W *out, s64 ld, W alpha, W beta, u32 k) {
    const W *col[N], *a = r.a + LANE;
    s64 column = DEEP ? c.column : 1;
#pragma unroll
    for (int j = 0; j < N; j += 3) {
        const W *first = c.b + j * column;
        if (DEEP && N > 6)
            asm("mov.u64 %0, %1;" : "=l"(col[j]) : "l"(first));
        else
            col[j] = first;
        if (j + 1 < N)
            col[j + 1] = col[j] + column;
        if (j + 2 < N)
            col[j + 2] = col[j] + 2 * column;
    }
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
    if (alpha != 1) {
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int v = 0; v < V; v++)
                sum[v][j] = mul(alpha, sum[v][j]);
    }
    if (zero(beta)) {
#pragma unroll
        for (int j = 0; j < N; j++)
#pragma unroll
            for (int v = 0; v < V; v++)
                out[j * ld + v * ROWS] = sum[v][j];
        return;
    }
#pragma unroll
    for (int j = 0; j < N; j++)
#pragma unroll
        for (int v = 0; v < V; v++) {
            W *p = out + j * ld + v * ROWS;
            *p = fma(beta, *p, sum[v][j]);
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
