// Eigenvalues of one large real Hessenberg matrix, its Schur form and vectors, and the eigenvectors of the Schur form.
#include "multishift.h"
#include "real.h"

// RealKind: blocks of two rows are pairs of complex values.
template <class R> struct RealKind {
    R *wr, *wi;    // of the whole matrix
    R *few;        // of a window: its values, shifts, and a small system
    R norm;
    enum { WHOLE = WINDOW }; // rows that are done without chains
    enum { SHIFTS = 2 * WINDOW, SYSTEM = 2 * WINDOW + 4 * WINDOW, ROOM = 6 * WINDOW + 64 };

    INLINE int last(R *h, R *z, int n, int bottom, int rows) {
        if (rows > 2)
            return 0;
        if (rows == 1) {
            SYNC;
            wr[bottom] = h[(s64)bottom * (n + 1)];
            wi[bottom] = 0;
            SYNC;
            return 1;
        }
        lastTwo<R>({h, (u32)n, (u32)n}, {z, (u32)n, (u32)n}, bottom, wr, wi, z != 0);
        return 2;
    }

    INLINE u32 small(Window<R> &w) {
        u32 bad = schur<R>({w.w, (u32)w.n, WLD}, {w.u, (u32)w.n, WLD}, few, few + WINDOW, norm, true);
        SYNC;
        for (int j = 0; j < w.n; j++) // where the bulges were
            for (int i = j + 2 + (int)LANE; i < w.n; i += 32)
                w.at(i, j) = 0;
        SYNC;
        return bad;
    }

    INLINE int two(Window<R> &w, int i) { return i > 0 && w.at(i, i - 1) != 0; }

    INLINE R diagonal(Window<R> &w, int i, int two) {
        R s = size(w.at(i, i));
        return two ? s + root(size(w.at(i, i - 1))) * root(size(w.at(i - 1, i))) : s;
    }

    // solve finds X of A X - X B = C, with A in rows k and the next p-1, B in q rows behind: columns of X one behind the other.
    INLINE R *solve(Window<R> &w, int k, int p, int q) {
        R *a = few + SYSTEM, *x = a + 16, tiny = 2 * epsilon(R(0)) * norm;
        int n = p * q;
        SYNC;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                R v = 0;
                if (i / p == j / p)
                    v += w.at(k + i % p, k + j % p);
                if (i % p == j % p)
                    v -= w.at(k + p + j / p, k + p + i / p);
                a[j * n + i] = v;
            }
        for (int i = 0; i < n; i++)
            x[i] = w.at(k + i % p, k + p + i / p);
        SYNC;
        for (int c = 0; c < n; c++) {
            int at = c;
            for (int i = c + 1; i < n; i++)
                at = size(a[c * n + i]) > size(a[c * n + at]) ? i : at;
            for (int j = c; j < n; j++) {
                R t = a[j * n + c], o = a[j * n + at];
                SYNC;
                a[j * n + c] = o;
                a[j * n + at] = t;
                SYNC;
            }
            R t = x[c], o = x[at];
            SYNC;
            x[c] = o;
            x[at] = t;
            if (size(a[c * n + c]) < tiny)
                a[c * n + c] = tiny;
            SYNC;
            for (int i = c + 1; i < n; i++) {
                R f = a[c * n + i] / a[c * n + c];
                for (int j = c + 1; j < n; j++)
                    a[j * n + i] -= f * a[j * n + c];
                x[i] -= f * x[c];
            }
            SYNC;
        }
        for (int c = n - 1; c >= 0; c--) {
            R v = x[c];
            for (int j = c + 1; j < n; j++)
                v -= a[j * n + c] * x[j];
            v /= a[c * n + c];
            SYNC;
            x[c] = v;
            SYNC;
        }
        return x;
    }

    // swap exchanges the blocks of p and q rows at k: false if that cannot be done exactly enough.
    INLINE bool swap(Window<R> &w, int k, int p, int q) {
        Mirror3<R> m, second = {};
        if (p * q == 1)
            m = mirror3<R>(-w.at(k, k + 1), w.at(k, k) - w.at(k + 1, k + 1), 0);
        else {
            R *x = solve(w, k, p, q);
            m = p == 1 ? mirror3<R>(-x[0], 1, 0) : mirror3<R>(-x[0], -x[1], 1);
            if (q == 2) { // the second column, as the first reflection leaves it
                R a = p == 1 ? -x[1] : -x[2], b = p == 1 ? 0 : -x[3], c = 0;
                R s = m.tau * (a + m.v1 * b + m.v2 * c);
                b -= s * m.v1;
                c -= s * m.v2;
                second = p == 1 ? mirror3<R>(b, 1, 0) : mirror3<R>(b, c, 1);
            }
        }
        int n = p + q;
        if (n > 2) { // try it on a copy
            R *d = few + SYSTEM + 20, largest = 0, wrong = 0;
            SYNC;
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    R v = w.at(k + i, k + j);
                    largest = size(v) > largest ? size(v) : largest;
                    d[j * 4 + i] = v;
                }
            SYNC;
            fromLeft(d, 4, 0, n, m, p == 2);
            SYNC;
            fromRight(d, 4, 0, n, m, p == 2);
            SYNC;
            if (q == 2) {
                fromLeft(d + 1, 4, 0, n, second, p == 2);
                SYNC;
                fromRight(d + 4, 4, 0, n, second, p == 2);
                SYNC;
            }
            for (int j = 0; j < q; j++)
                for (int i = q; i < n; i++)
                    wrong = size(d[j * 4 + i]) > wrong ? size(d[j * 4 + i]) : wrong;
            if (!(wrong <= 20 * epsilon(R(0)) * largest))
                return false;
        }
        w.turn(k, k, k + n, m, p == 2);
        if (q == 2)
            w.turn(k + 1, k, k + n, second, p == 2);
        for (int j = 0; j < q; j++)
            for (int i = q; i < n; i++)
                w.at(k + i, k + j) = 0;
        SYNC;
        return true;
    }

    INLINE bool up(Window<R> &w, int from, int to, int isTwo) {
        while (from > to) {
            int p = 1 + (from - 1 > to && two(w, from - 1));
            if (!swap(w, from - p, p, 1 + isTwo))
                return false;
            from -= p;
        }
        return true;
    }

    // take notes the values of the first rows.
    INLINE void take(Window<R> &w, int rows) {
        SYNC;
        for (int i = 0; i < rows;) {
            if (i + 1 >= rows || !two(w, i + 1)) {
                few[i] = w.at(i, i);
                few[WINDOW + i] = 0;
                i++;
                continue;
            }
            R a = w.at(i, i), d = w.at(i + 1, i + 1), p = (a - d) / 2, q = p * p + w.at(i + 1, i) * w.at(i, i + 1), r = root(size(q));
            few[i] = q < 0 ? d + p : d + p + r;
            few[i + 1] = q < 0 ? d + p : d + p - r;
            few[WINDOW + i] = q < 0 ? r : 0;
            few[WINDOW + i + 1] = q < 0 ? -r : 0;
            i += 2;
        }
        SYNC;
    }

    // pair makes shifts of them: two real ones, or a complex pair. A shift is its real and its imaginary part.
    INLINE int pair(int values, int most) {
        int have = 0, alone = -1;
        for (int i = 0; i < values && have < most; i++) {
            R re = few[i], im = few[WINDOW + i];
            R *to = few + SHIFTS + 4 * have;
            if (im != 0) {
                SYNC;
                to[0] = to[2] = re;
                to[1] = im;
                to[3] = -im;
                have++;
                i++;
            } else if (alone < 0)
                alone = i;
            else {
                R first = few[alone];
                SYNC;
                to[0] = first;
                to[2] = re;
                to[1] = to[3] = 0;
                have++;
                alone = -1;
            }
        }
        SYNC;
        return have;
    }

    // strange makes shifts that are not the matrix's; h is its last element.
    INLINE int strange(const R *h, int n) {
        for (int m = 0; m < 4; m++) {
            const R *d = h - (s64)2 * m * (n + 1);
            R s = size(d[-n]) + size(d[-2 * n - 1]);
            R *to = few + SHIFTS + 4 * m;
            to[0] = to[2] = d[0] + (R)0.75 * s;
            to[1] = (R)0.6614 * s;
            to[3] = (R)-0.6614 * s;
        }
        SYNC;
        return 4;
    }

    // first is the reflection that begins a bulge.
    INLINE Mirror3<R> first(Window<R> &w, int m) {
        const R *s = few + SHIFTS + 4 * m;
        R a = w.at(0, 0), b = w.at(0, 1), c = w.at(1, 0), d = w.at(1, 1), e = w.at(2, 1);
        R by = size(a - s[2]) + size(s[3]) + size(c);
        if (by == 0)
            return mirror3<R>(0, 0, 0);
        R f = c / by;
        return mirror3<R>(f * b + (a - s[0]) * ((a - s[2]) / by) - s[1] * (s[3] / by), f * (a + d - s[0] - s[2]), f * e);
    }
};

enum { COMPLEX_VALUES = 1 };

// hqr: factor says how the matrix was scaled, and its largest element. places are the values whose vectors are looked for, one of a pair,
// and behind n of them how many.
template <class R>
__device__ void hqr(R *h, R *z, u32 n, const R *factor, R *wr, R *wi, R *room, R *w, u32 how, u32 *places, int *info) {
    R scale = factor[0];
    bool finite = scale * 0 == 0;
    int bad = (int)n;
    if (finite) {
        for (u32 j = 0; j < n; j++)
            for (u32 i = j + 2 + LANE; i < n; i += 32)
                h[(s64)j * n + i] = 0;
        Schur<R, RealKind<R>> s;
        s.h = h, s.z = z, s.n = (int)n, s.norm = factor[1];
        s.win.w = room, s.win.u = room + WLD * WINDOW, s.win.ut = s.win.u + WLD * WINDOW, s.win.tile = s.win.ut + WLD * WINDOW;
        s.kind.few = s.win.tile + WLD * 32, s.kind.wr = wr, s.kind.wi = wi, s.kind.norm = factor[1];
        SYNC;
        bad = s.run();
    }
    SYNC;
    u32 count = 0;
    for (u32 i = 0; i < n; i++)
        if ((int)i >= bad && !(wi[i] > 0)) {
            places[count] = i;
            count++;
        }
    places[n] = count;
    for (u32 i = LANE; i < n; i += 32) {
        bool good = finite && (int)i >= bad;
        R x = good ? wr[i] / scale : finite ? 0 : scale - scale, y = good ? wi[i] / scale : 0;
        if (how & COMPLEX_VALUES) {
            w[2 * i] = x;
            w[2 * i + 1] = y;
        } else {
            w[i] = x;
            w[n + i] = y;
        }
    }
    if (LANE == 0)
        *info = bad;
}

#include "trevc.h"

#define REAL(name, R)                                                                                                          \
    KERNEL hqr_##name(R *h, R *z, u32 n, const R *factor, R *wr, R *wi, R *room, R *w, u32 how, u32 *places, int *info) {      \
        hqr<R>(h, z, n, factor, wr, wi, room, w, how, places, info);                                                           \
    }                                                                                                                          \
    KERNEL trevc_##name(const R *t, u32 n, const R *factor, const R *wr, const R *wi, const u32 *places, R *strips, R *x,      \
                        const int *info) {                                                                                     \
        if (*info == 0)                                                                                                        \
            trevc<R>(t, n, factor[1], wr, wi, places, strips, x);                                                              \
    }                                                                                                                          \
    KERNEL spread_##name(const R *v, u32 n, const R *wi, R *out, s64 ld, u32 how, const int *info) {                           \
        if (*info == 0)                                                                                                        \
            spread<R>(v, n, wi, out, ld, how);                                                                                 \
    }
REAL(f32, float)
REAL(f64, double)
