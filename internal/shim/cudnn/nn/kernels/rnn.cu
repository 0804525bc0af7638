// What recurrent networks do between products: sequences to and from rows, cells and their gradients, sums of biases. Rows are ordered
// by time, then by sequence; all of it is computed in A.
#include "layer.h"
#pragma clang force_cuda_host_device begin
#include "../../../../libdevice/c/trig.h"
#include "../../../../libdevice/c/trigf.h"
#pragma clang force_cuda_host_device end

__device__ inline float tanhOf(float x) { return __nv_tanhf(x); }
__device__ inline double tanhOf(double x) { return __nv_tanh(x); }
template <class A> INLINE A sigmoid(A x) { return 1 / (1 + expOf(-x)); }

enum { C_RELU, C_TANH, C_LSTM, C_GRU };
enum { WORDS = 512 };

struct Words {
    int v[WORDS];
};

KERNEL rnnWords(Words w, int *to, u32 n) {
    for (u32 i = LANE; i < n; i += 32)
        to[i] = w.v[i];
}

// Batch is how sequences lie: row(t, b) of a vector. Those that have ended have none.
struct Batch {
    const int *length, *first; // of sequences, and of packed times; first may be missing
    s64 time, batch, ofTime, ofBatch;
};
INLINE s64 row(const Batch &s, s64 t, s64 b) { return s.first ? s.first[t] + b : t * s.ofTime + b * s.ofBatch; }

// Gather makes rows of sequences, with zeros after the end of each.
template <class A> INLINE void gather(const Batch &s, u64 from, u32 type, s64 width, A *to) {
    u64 count = s.time * s.batch * width;
    for (u64 i = FIRST; i < count; i += STEP) {
        s64 j = i % width, r = i / width, b = r % s.batch, t = r / s.batch;
        to[i] = t < s.length[b] ? As<A>::get(from, row(s, t, b) * width + j, type) : 0;
    }
}

// Scatter makes sequences of rows, a part of whose vectors it is, with a fill after the end of each where there is room.
struct Fill {
    double v;
    u32 wanted, unused;
};
template <class A> INLINE void scatter(const Batch &s, const A *from, s64 width, u64 to, u32 type, s64 whole, s64 part, const Fill &f) {
    u64 count = s.time * s.batch * width;
    for (u64 i = FIRST; i < count; i += STEP) {
        s64 j = i % width, r = i / width, b = r % s.batch, t = r / s.batch;
        bool inside = t < s.length[b];
        if (inside || f.wanted && !s.first)
            As<A>::put(to, row(s, t, b) * whole + part + j, type, inside ? from[i] : (A)f.v);
    }
}

// Join makes rows of parts of wider rows, or the other way round: to[r][toAt + j] = from[r][fromAt + j], or the sum.
template <class A> INLINE void join(const A *from, s64 fromWidth, s64 fromAt, A *to, s64 toWidth, s64 toAt, s64 width, u64 rows, u32 add) {
    for (u64 i = FIRST; i < rows * width; i += STEP) {
        s64 j = i % width, r = i / width;
        A v = from[r * fromWidth + fromAt + j], *p = to + r * toWidth + toAt + j;
        *p = add ? *p + v : v;
    }
}

// Cell is one step of one layer in one direction.
template <class A> struct Cell {
    const A *x, *h, *bias, *biasR; // what products gave, G x H a sequence; or, without a matrix for the input, H
    const A *before, *cBefore;     // state before the step, and after it
    A *after, *cAfter;
    A *gates, *hn; // what the gradient needs
    const int *length;
    s64 batch, hidden, t;
    u32 cell, skip, projected, clip;
    double low, high;
};

// A cell's state is clipped where it is read, by the next step and by the output; what is kept is not.
template <class A, class C> INLINE A clipped(const C &c, A m) { return !c.clip ? m : m < (A)c.low ? (A)c.low : m > (A)c.high ? (A)c.high : m; }
template <class A, class C> INLINE bool moves(const C &c, A m) { return !c.clip || (m >= (A)c.low && m <= (A)c.high); }

template <class A> INLINE A gate(const Cell<A> &c, s64 b, s64 j, int g, int n, bool h) {
    s64 at = (b * n + g) * c.hidden + j;
    A v = h ? c.h[at] : c.skip ? c.x[b * c.hidden + j] : c.x[at];
    const A *bias = h ? c.biasR : c.bias;
    return bias ? v + bias[g * c.hidden + j] : v;
}

template <class A> INLINE void step(const Cell<A> &c) {
    for (u64 i = FIRST; i < (u64)(c.batch * c.hidden); i += STEP) {
        s64 b = i / c.hidden, j = i % c.hidden;
        bool inside = c.t < c.length[b];
        A h = 0, was = c.projected ? 0 : c.before[i];
        if (c.cell <= C_TANH) {
            A v = gate(c, b, j, 0, 1, false) + gate(c, b, j, 0, 1, true);
            h = c.cell == C_TANH ? tanhOf(v) : v > 0 ? v : 0;
            c.gates[i] = h;
        } else if (c.cell == C_LSTM) {
            A g[4];
#pragma unroll
            for (int k = 0; k < 4; k++) {
                A v = gate(c, b, j, k, 4, false) + gate(c, b, j, k, 4, true);
                g[k] = k == 2 ? tanhOf(v) : sigmoid(v);
                c.gates[(b * 4 + k) * c.hidden + j] = g[k];
            }
            A m = g[1] * clipped(c, c.cBefore[i]) + g[0] * g[2];
            h = g[3] * tanhOf(clipped(c, m));
            c.cAfter[i] = inside ? m : c.cBefore[i];
        } else {
            A r = sigmoid(gate(c, b, j, 0, 3, false) + gate(c, b, j, 0, 3, true));
            A z = sigmoid(gate(c, b, j, 1, 3, false) + gate(c, b, j, 1, 3, true));
            A hn = gate(c, b, j, 2, 3, true), n = tanhOf(gate(c, b, j, 2, 3, false) + r * hn);
            A *g = c.gates + b * 3 * c.hidden + j;
            g[0] = r;
            g[c.hidden] = z;
            g[2 * c.hidden] = n;
            c.hn[i] = hn;
            h = (1 - z) * n + z * was;
        }
        c.after[i] = inside || c.projected ? h : was;
    }
}

// Keep puts back the states of sequences that have ended, after a projection.
template <class A> INLINE void keep(const A *before, A *after, const int *length, s64 t, s64 batch, s64 width) {
    for (u64 i = FIRST; i < (u64)(batch * width); i += STEP)
        if (t >= length[i / width])
            after[i] = before[i];
}

// Carry takes over the gradient of a state where a sequence goes on: total is that of what the step gave, and 0 where it has ended.
template <class A> INLINE void carry(const A *dy, s64 whole, s64 part, A *state, A *total, const int *length, s64 t, s64 batch, s64 width) {
    for (u64 i = FIRST; i < (u64)(batch * width); i += STEP) {
        s64 b = i / width, j = i % width;
        bool inside = t < length[b];
        total[i] = inside ? state[i] + dy[(t * batch + b) * whole + part + j] : 0;
        if (inside)
            state[i] = 0;
    }
}

// Back is the gradient of a step.
template <class A> struct Back {
    const A *dh, *gates, *hn;
    const A *before, *cBefore, *cAfter;
    A *state, *dc; // gradients of the states
    A *dx, *dr;    // of what the products gave; dr is dx for all cells but GRU
    const int *length;
    s64 batch, hidden, t;
    u32 cell, clip;
    double low, high;
};

template <class A> INLINE void back(const Back<A> &c) {
    for (u64 i = FIRST; i < (u64)(c.batch * c.hidden); i += STEP) {
        s64 b = i / c.hidden, j = i % c.hidden, H = c.hidden;
        bool inside = c.t < c.length[b];
        A dh = c.dh[i];
        if (c.cell <= C_TANH) {
            A h = c.gates[i];
            c.dx[i] = !inside ? 0 : c.cell == C_TANH ? dh * (1 - h * h) : h > 0 ? dh : 0;
        } else if (c.cell == C_LSTM) {
            const A *g = c.gates + b * 4 * H + j;
            A *d = c.dx + b * 4 * H + j;
            A in = g[0], forget = g[H], fresh = g[2 * H], out = g[3 * H], m = c.cAfter[i], tm = tanhOf(clipped(c, m));
            A dm = c.dc[i] + (moves(c, m) ? dh * out * (1 - tm * tm) : 0);
            d[0] = inside ? dm * fresh * in * (1 - in) : 0;
            d[H] = inside ? dm * clipped(c, c.cBefore[i]) * forget * (1 - forget) : 0;
            d[2 * H] = inside ? dm * in * (1 - fresh * fresh) : 0;
            d[3 * H] = inside ? dh * tm * out * (1 - out) : 0;
            if (inside)
                c.dc[i] = moves(c, c.cBefore[i]) ? dm * forget : 0;
        } else {
            const A *g = c.gates + b * 3 * H + j;
            A *d = c.dx + b * 3 * H + j, *e = c.dr + b * 3 * H + j;
            A r = g[0], z = g[H], n = g[2 * H];
            A dn = dh * (1 - z) * (1 - n * n);
            A gr = dn * c.hn[i] * r * (1 - r), gz = dh * (c.before[i] - n) * z * (1 - z);
            e[0] = d[0] = inside ? gr : 0;
            e[H] = d[H] = inside ? gz : 0;
            d[2 * H] = inside ? dn : 0;
            e[2 * H] = inside ? dn * r : 0;
            if (inside)
                c.state[i] += dh * z;
        }
    }
}

// Columns are the sums of rows, or with add what is there and them: a thread a column.
template <class A> INLINE void columns(const A *from, u64 rows, u64 width, A *to, u32 add) {
    for (u64 j = FIRST; j < width; j += STEP) {
        A sum = add ? to[j] : 0;
        for (u64 r = 0; r < rows; r++)
            sum += from[r * width + j];
        to[j] = sum;
    }
}

// Folded are the sums of gates, for an input that all gates share: to[r][j] = sum of from[r][g][j].
template <class A> INLINE void folded(const A *from, u64 rows, u64 gates, u64 width, A *to) {
    for (u64 i = FIRST; i < rows * width; i += STEP) {
        A sum = 0;
        for (u64 g = 0; g < gates; g++)
            sum += from[((i / width) * gates + g) * width + i % width];
        to[i] = sum;
    }
}

// Convert copies n numbers between A and a type of a program, and adds to what is there if it is wanted.
template <class A> INLINE void narrowed(const A *from, u64 to, u32 type, u64 n, u32 add) {
    for (u64 i = FIRST; i < n; i += STEP)
        As<A>::put(to, i, type, add ? As<A>::get(to, i, type) + from[i] : from[i]);
}
template <class A> INLINE void widened(u64 from, u32 type, A *to, u64 n) {
    for (u64 i = FIRST; i < n; i += STEP)
        to[i] = from ? As<A>::get(from, i, type) : 0;
}

#define RNN(A, S)                                                                                                                               \
    KERNEL rnnGather##S(Batch s, u64 from, s64 width, A *to, u32 type) { gather<A>(s, from, type, width, to); }                                     \
    KERNEL rnnScatter##S(Batch s, A *from, s64 width, u64 to, s64 whole, s64 part, Fill f, u32 type) { scatter<A>(s, from, width, to, type, whole, part, f); } \
    KERNEL rnnJoin##S(A *from, s64 fromWidth, s64 fromAt, A *to, s64 toWidth, s64 toAt, s64 width, u64 rows, u32 add) {                             \
        join<A>(from, fromWidth, fromAt, to, toWidth, toAt, width, rows, add);                                                                      \
    }                                                                                                                                              \
    KERNEL rnnStep##S(Cell<A> c) { step<A>(c); }                                                                                                    \
    KERNEL rnnKeep##S(A *before, A *after, int *length, s64 t, s64 batch, s64 width) { keep<A>(before, after, length, t, batch, width); }           \
    KERNEL rnnCarry##S(A *dy, s64 whole, s64 part, A *state, A *total, int *length, s64 t, s64 batch, s64 width) {                                  \
        carry<A>(dy, whole, part, state, total, length, t, batch, width);                                                                           \
    }                                                                                                                                              \
    KERNEL rnnBack##S(Back<A> c) { back<A>(c); }                                                                                                    \
    KERNEL rnnColumns##S(A *from, u64 rows, u64 width, A *to, u32 add) { columns<A>(from, rows, width, to, add); }                                   \
    KERNEL rnnFolded##S(A *from, u64 rows, u64 gates, u64 width, A *to) { folded<A>(from, rows, gates, width, to); }                                \
    KERNEL rnnNarrowed##S(A *from, u64 to, u64 n, u32 type, u32 add) { narrowed<A>(from, to, type, n, add); }                                       \
    KERNEL rnnWidened##S(u64 from, A *to, u64 n, u32 type) { widened<A>(from, type, to, n); }
RNN(float, F32)
RNN(double, F64)
