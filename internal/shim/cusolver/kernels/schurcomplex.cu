// Eigenvalues of one large complex Hessenberg matrix, its Schur form and vectors, and the eigenvectors of the Schur form.
#include "complex.h"
#include "multishift.h"

// ComplexKind: every value is a row of its own.
template <class C, class R> struct ComplexKind {
    C *few; // of a window: rotations, values, shifts
    R norm;
    enum { WHOLE = 64 }; // rows that are done without chains
    enum { VALUES = 2 * WINDOW, SHIFTS = 3 * WINDOW };

    INLINE int last(C *, C *, int, int, int rows) { return rows == 1; }

    INLINE u32 small(Window<C> &w) {
        u32 bad = schur<C, R>(w.w, w.u, (u32)w.n, WLD, (R *)few, few + WINDOW);
        SYNC;
        for (int j = 0; j < w.n; j++)
            for (int i = j + 1 + (int)LANE; i < w.n; i += 32)
                w.at(i, j) = {0, 0};
        SYNC;
        return bad;
    }

    INLINE int two(Window<C> &, int) { return 0; }

    INLINE R diagonal(Window<C> &w, int i, int) { return size1(w.at(i, i)); }

    INLINE bool up(Window<C> &w, int from, int to, int) {
        for (; from > to; from--) {
            int k = from - 1;
            C b = w.at(k, from), d = sub(w.at(k, k), w.at(from, from));
            Mirror3<C> m = mirror3<C>({-b.re, -b.im}, d, {0, 0});
            w.turn(k, k, from + 1, m, false);
            w.at(from, k) = {0, 0};
            SYNC;
        }
        return true;
    }

    INLINE void take(Window<C> &w, int rows) {
        SYNC;
        for (int i = LANE; i < rows; i += 32)
            few[VALUES + i] = w.at(i, i);
        SYNC;
    }

    INLINE int pair(int values, int most) {
        int have = values / 2 < most ? values / 2 : most;
        SYNC;
        for (int i = LANE; i < 2 * have; i += 32)
            few[SHIFTS + i] = few[VALUES + i];
        SYNC;
        return have;
    }

    INLINE int strange(const C *h, int n) {
        SYNC;
        for (int m = 0; m < 4; m++) {
            const C *d = h - (s64)2 * m * (n + 1);
            R s = size1(d[-n]) * (R)0.75;
            few[SHIFTS + 2 * m] = {d[0].re + s, d[0].im};
            few[SHIFTS + 2 * m + 1] = {d[0].re, d[0].im + s};
        }
        SYNC;
        return 4;
    }

    INLINE Mirror3<C> first(Window<C> &w, int m) {
        C s1 = few[SHIFTS + 2 * m], s2 = few[SHIFTS + 2 * m + 1];
        C a = w.at(0, 0), b = w.at(0, 1), c = w.at(1, 0), d = w.at(1, 1), e = w.at(2, 1), t = sub(a, s2);
        R by = size1(t) + size1(c);
        if (by == 0)
            return mirror3<C>({0, 0}, {0, 0}, {0, 0});
        C f = times(c, 1 / by);
        return mirror3<C>(add(mul(f, b), mul(sub(a, s1), times(t, 1 / by))), mul(f, sub(add(a, d), add(s1, s2))), mul(f, e));
    }
};

// hqr: factor says how the matrix was scaled, and its largest element.
template <class C, class R> __device__ void hqr(C *h, C *z, u32 n, const R *factor, C *room, C *w, int *info) {
    R scale = factor[0];
    bool finite = scale * 0 == 0;
    int bad = (int)n;
    if (finite) {
        for (u32 j = 0; j < n; j++)
            for (u32 i = j + 2 + LANE; i < n; i += 32)
                h[(s64)j * n + i] = {0, 0};
        Schur<C, ComplexKind<C, R>> s;
        s.h = h, s.z = z, s.n = (int)n, s.norm = factor[1];
        s.win.w = room, s.win.u = room + WLD * WINDOW, s.win.ut = s.win.u + WLD * WINDOW, s.win.tile = s.win.ut + WLD * WINDOW;
        s.kind.few = s.win.tile + WLD * 32, s.kind.norm = factor[1];
        SYNC;
        bad = s.run();
    }
    SYNC;
    for (u32 i = LANE; i < n; i += 32)
        w[i] = finite ? times(h[(s64)i * (n + 1)], 1 / scale) : C{scale - scale, scale - scale};
    if (LANE == 0)
        *info = bad;
}

// trevc: lanes are values, each solves (T - w) x = 0 from its last row up. A strip has 32 numbers of every row; x has them by columns.
template <class C, class R> __device__ void trevc(const C *t, u32 n, R norm, C *strips, C *x) {
    u32 block = BLOCK_X, end = block * 32 + 32 < n ? block * 32 + 32 : n, own = block * 32 + LANE < end ? block * 32 + LANE : end - 1;
    int from = (int)end - 1;
    C w = t[(s64)own * (n + 1)], *all = strips + (s64)block * 32 * n, *s = all + LANE;
    R tiny = 2 * epsilon(R(0)) * (norm > 0 ? norm : 1), limit = sizeof(R) == 4 ? (R)0x1p40 : (R)0x1p300;
    for (int i = from; i >= 0; i--) {
        C sum = {0, 0};
        const C *row = t + i;
        for (int j = i + 1; j <= from; j++)
            sum = fma(row[(s64)j * n], s[(s64)j * 32], sum);
        C d = sub(row[(s64)i * n], w);
        if (size1(d) < tiny)
            d = {tiny, 0};
        C y = div({-sum.re, -sum.im}, d);
        y = i > (int)own ? C{0, 0} : i == (int)own ? C{1, 0} : y;
        s[(s64)i * 32] = y;
        R big = size1(y);
        if (warpMax(big) > limit) { // before products overflow
            R down = big > limit ? 1 / big : 1;
            for (int j = i; j <= from; j++)
                s[(s64)j * 32] = times(s[(s64)j * 32], down);
        }
    }
    SYNC;
    for (u32 k = block * 32; k < end; k++)
        for (u32 i = LANE; i < n; i += 32)
            x[(s64)k * n + i] = (int)i <= from ? all[(s64)i * 32 + k - block * 32] : C{0, 0};
}

// spread makes columns of length 1, and writes them.
template <class C, class R> __device__ void spread(const C *v, u32 n, C *out, s64 ld) {
    for (u32 j = BLOCK_X; j < n; j += BLOCKS_X) {
        const C *x = v + (s64)j * n;
        R largest = 0, sum = 0;
        for (u32 i = LANE; i < n; i += 32) {
            R s = size1(x[i]);
            largest = s > largest ? s : largest;
        }
        largest = warpMax(largest);
        for (u32 i = LANE; i < n; i += 32)
            sum += norm2(times(x[i], 1 / largest));
        R scale = 1 / root(warpSum(sum)) / largest;
        for (u32 i = LANE; i < n; i += 32)
            out[(s64)j * ld + i] = times(x[i], scale);
    }
}

#define COMPLEX(name, C, R)                                                                                                    \
    KERNEL hqr_##name(C *h, C *z, u32 n, const R *factor, R *, R *, C *room, C *w, u32, u32 *, int *info) {                    \
        hqr<C, R>(h, z, n, factor, room, w, info);                                                                             \
    }                                                                                                                          \
    KERNEL trevc_##name(const C *t, u32 n, const R *factor, const R *, const R *, const u32 *, C *strips, C *x,                \
                        const int *info) {                                                                                     \
        if (*info == 0)                                                                                                        \
            trevc<C, R>(t, n, factor[1], strips, x);                                                                           \
    }                                                                                                                          \
    KERNEL spread_##name(const C *v, u32 n, const R *, C *out, s64 ld, u32, const int *info) {                                 \
        if (*info == 0)                                                                                                        \
            spread<C, R>(v, n, out, ld);                                                                                       \
    }
COMPLEX(c32, c32, float)
COMPLEX(c64, c64, double)
