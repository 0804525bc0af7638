// Eigenvalues of symmetric and Hermitian matrices, singular values, and Hessenberg matrices, of up to 32 rows: one warp
// does everything in one launch. The reductions and iterations are those of tridiagonal.cu and bidiagonal.cu, one
// column and one rotation at a time; vectors are changed from the right, where no sums over lanes are needed.
#include "small.h"

// tridiagonal makes d and e of a whole Hermitian matrix; q, if on, takes the reflections.
template <class T, class R> INLINE void tridiagonal(const Tile<T> &a, const Tile<T> &q, bool on, u32 n, R *d, R *e, const Room<T> &v, const Room<T> &w) {
#pragma unroll 1
    for (u32 k = 0; k + 1 < n; k++) {
        Mirror<T> m = mirrorOf<T>(LANE > k && LANE < n ? a.get(LANE, k) : T{}, a.get(k + 1, k), k + 1);
        d[k] = re(a.get(k, k));
        e[k] = m.beta;
        T tau = first(m.tau);
        if (zero(tau))
            continue;
        v.put(LANE, m.v);
        SYNC;
        T sum = {};
#pragma unroll 2
        for (u32 j = k + 1; j < n; j++)
            sum = fma(a.get(LANE, j), v.get(j), sum);
        sum = LANE > k && LANE < n ? mul(tau, sum) : T{};
        T half = times(mul(tau, sumOf(mul(conj(sum), m.v))), (R)-0.5);
        sum = fma(half, m.v, sum);
        w.put(LANE, sum);
        SYNC;
        T minusV = sub(T{}, m.v), minusW = sub(T{}, sum);
#pragma unroll 2
        for (u32 j = k + 1; j < n; j++)
            a.put(LANE, j, fma(minusW, conj(v.get(j)), fma(minusV, conj(w.get(j)), a.get(LANE, j))));
        SYNC;
        if (on)
            timesMirror(q, k + 1, n, tau, v);
    }
    d[n - 1] = re(a.get(n - 1, n - 1));
    e[n - 1] = 0;
    SYNC;
}

// ql finds the eigenvalues of a tridiagonal matrix. Every lane computes the same. Gives how many did not converge.
template <class T, class R> INLINE u32 ql(R *d, R *e, u32 n, Turner<Tile<T>, T> &turner, R scale) {
    R eps = epsilon(R(0)), tiny = eps * eps * scale;
    u32 left = 60 * n;
    for (u32 l = 0; l < n; l++)
        for (;;) {
            u32 m = l;
            for (; m + 1 < n; m++) {
                R x = size(e[m]);
                if (x <= eps * (size(d[m]) + size(d[m + 1])) || x <= tiny)
                    break;
            }
            if (m == l)
                break;
            if (left-- == 0)
                return notDone(e, n);
            R g = (d[l + 1] - d[l]) / (2 * e[l]), r = root(g * g + 1);
            g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
            R s = 1, c = 1, p = 0, next = d[m];
            u32 i = m;
            bool split = false;
            turner.begin(m);
#pragma unroll 1
            while (i-- > l) {
                R ei = e[i], di = d[i], f = s * ei, b = c * ei;
                r = hypotenuse(f, g);
                e[i + 1] = r;
                if (r == 0) {
                    d[i + 1] = next - p;
                    e[m] = 0;
                    split = true;
                    break;
                }
                R inverse = 1 / r;
                s = f * inverse;
                c = g * inverse;
                g = next - p;
                r = (di - g) * s + 2 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                next = di;
                turner.turn(i, c, s);
            }
            if (!split) {
                d[l] -= p;
                e[l] = g;
                e[m] = 0;
            }
            turner.end(split ? i + 1 : l);
        }
    return 0;
}

// place tells where a lane's value goes: those before it are smaller or, if SIZES, larger in size.
template <class R, bool SIZES> INLINE u32 place(const R *d, u32 n) {
    u32 r = 0;
    R mine = d[LANE < n ? LANE : 0];
    mine = SIZES ? -size(mine) : mine;
    for (u32 j = 0; j < n; j++) {
        R o = SIZES ? -size(d[j]) : d[j];
        r += o < mine || (o == mine && j < LANE);
    }
    return r;
}

// Vectors is where vectors go: the first `columns` of them, conjugated and transposed if `turned`.
struct Vectors {
    View to;
    u32 columns, turned;
};

template <class Q, class T> INLINE void write(const Q &q, u32 rows, u32 n, u32 count, const u32 *places, const Vectors &out, const typename Real<T>::type *signs, T) {
    typedef typename Real<T>::type R;
    T *p = matrix<T>(out.to, BLOCK_X);
    for (u32 j = 0; j < count; j++) {
        u32 at = j < n ? places[j] : j;
        R sign = signs && j < n && signs[j] < 0 ? (R)-1 : (R)1;
        if (at < out.columns && LANE < rows) {
            T v = times(q.get(LANE, j), sign);
            if (out.turned)
                p[(s64)LANE * out.to.ld + at] = conj(v);
            else
                p[(s64)at * out.to.ld + LANE] = v;
        }
    }
}

// writeNone is for matrices with an infinity or NaN.
template <class T> INLINE void writeNone(u32 rows, const Vectors &out, T v) {
    T *p = matrix<T>(out.to, BLOCK_X);
    for (u32 j = 0; j < out.columns; j++)
        if (LANE < rows)
            p[out.turned ? (s64)LANE * out.to.ld + j : (s64)j * out.to.ld + LANE] = v;
}

// syevSmall: values go to w, vectors to the matrix.
template <class T, class R> INLINE void syevSmall(View x, u32 n, u32 upper, u32 vectors, R *w, int *info, R *memory) {
    const T *from = matrix<const T>(x, BLOCK_X);
    enum { PARTS = sizeof(T) / sizeof(R), AREA = SIDE * SIDE * PARTS };
    Tile<T> a = {memory}, q = {memory + AREA};
    R *d = memory + 2 * AREA, *e = d + SIDE, largest = 0;
    Room<T> v = {e + SIDE}, u = {v.p + SIDE * PARTS};
    u32 *places = (u32 *)u.p;
    w += (s64)BLOCK_X * n;
    Vectors out = {x, vectors ? n : 0, 0};
    for (u32 j = 0; j < n; j++) {
        T c = {};
        if (LANE < n) {
            bool below = upper ? LANE <= j : LANE >= j; // stored
            c = below ? from[(s64)j * x.ld + LANE] : conj(from[(s64)LANE * x.ld + j]);
            c = LANE == j ? real(c) : c;
        }
        R s = size1(c);
        largest = s > largest || s != s ? s : largest;
        a.put(LANE, j, c);
    }
    largest = first(warpMax(largest));
    SYNC;
    if (!(largest * 0 == 0)) { // an infinity or NaN: nothing to find
        T none;
        make(&none, largest - largest, 0);
        if (LANE < n)
            w[LANE] = largest - largest;
        writeNone(n, out, none);
        if (LANE == 0)
            info[BLOCK_X] = (int)n;
        return;
    }
    R scale = inRange(largest);
    if (scale != 1)
        for (u32 j = 0; j < n; j++)
            a.put(LANE, j, times(a.get(LANE, j), scale));
    if (vectors)
        identity(q, n, T{});
    SYNC;
    tridiagonal<T, R>(a, q, vectors, n, d, e, v, u);
    Turner<Tile<T>, T> turner = {q, vectors != 0, T{}};
    u32 bad = ql<T, R>(d, e, n, turner, largest * scale);
    u32 at = place<R, false>(d, n);
    places[LANE] = at;
    if (LANE < n)
        w[at] = d[LANE] / scale;
    SYNC;
    if (vectors)
        write(q, n, n, n, places, out, (const R *)0, T{});
    if (LANE == 0)
        info[BLOCK_X] = (int)bad;
}

enum { TOGETHER = 4 }; // columns whose sums do not wait for each other

// applyLeft is G = H' G for columns from `at` on.
template <class Q, class T> INLINE void applyLeft(const Q &g, u32 at, u32 n, T v, T tau) {
    T minus = sub(T{}, conj(tau)), vc = conj(v);
#pragma unroll 1
    for (u32 j = at; j < n; j += TOGETHER) {
        T c[TOGETHER], s[TOGETHER];
#pragma unroll
        for (u32 k = 0; k < TOGETHER; k++) {
            c[k] = g.get(LANE, j + k < n ? j + k : j);
            s[k] = mul(vc, c[k]);
        }
#pragma unroll
        for (u32 k = 0; k < TOGETHER; k++)
            s[k] = mul(minus, sumOf(s[k]));
#pragma unroll
        for (u32 k = 0; k < TOGETHER; k++)
            if (j + k < n)
                g.put(LANE, j + k, fma(v, s[k], c[k]));
    }
    SYNC;
}

// bidiagonal makes d and e of g, p × q with p >= q; u and v, if on, take the reflections.
template <class Q, class T, class R> INLINE void bidiagonal(const Q &g, const Q &u, bool left, const Q &v, bool right, u32 p, u32 q, R *d, R *e, const Room<T> &all) {
#pragma unroll 1
    for (u32 k = 0; k < q; k++) {
        Mirror<T> m = mirrorOf<T>(LANE >= k && LANE < p ? g.get(LANE, k) : T{}, g.get(k, k), k);
        d[k] = m.beta;
        T tau = first(m.tau);
        if (!zero(tau)) {
            applyLeft(g, k + 1, q, m.v, tau);
            if (left) {
                all.put(LANE, m.v);
                SYNC;
                timesMirror(u, k, p, tau, all);
            }
        }
        if (k + 1 == q)
            break;
        Mirror<T> r = mirrorOf<T>(LANE > k && LANE < q ? conj(g.get(k, LANE)) : T{}, conj(g.get(k, k + 1)), k + 1);
        e[k] = r.beta;
        T across = first(r.tau);
        if (zero(across))
            continue;
        all.put(LANE, r.v);
        SYNC;
        timesMirror(g, k + 1, q, across, all);
        if (right)
            timesMirror(v, k + 1, q, across, all);
    }
    e[q - 1] = 0;
    SYNC;
}

// qr finds the singular values of an upper bidiagonal matrix, some of them negative. Every lane computes the same.
template <class R, class U> INLINE u32 qr(R *d, R *e, u32 n, U &left, U &right) {
    R eps = epsilon(R(0)), norm = 0;
    for (u32 i = 0; i < n; i++) {
        R x = size(d[i]), y = size(e[i]);
        norm = x > norm ? x : norm;
        norm = y > norm ? y : norm;
    }
    R tiny = eps * norm / 16;
    u32 tries = 60 * n;
    for (u32 l = 0; l < n; l++)
        for (;;) {
            u32 m = l;
            bool singular = size(d[l]) <= tiny;
            for (; m + 1 < n; m++) {
                R x = size(e[m]), y = size(d[m + 1]);
                if (x <= eps * (size(d[m]) + y) || x <= tiny)
                    break;
                singular = singular || y <= tiny;
            }
            if (m == l)
                break;
            if (tries-- == 0)
                return notDone(e, n);
            // The shift is the smaller singular value of the first two rows; none if a value is 0, which comes out at once.
            R f = d[m], g = e[m - 1];
            if (!singular) {
                R a = size(d[l]), b = size(d[l + 1]), c = e[l];
                R largest = (root((a + b) * (a + b) + c * c) + root((a - b) * (a - b) + c * c)) / 2;
                R shift = a * b / largest, am = size(f);
                f = (am - shift) * ((f < 0 ? (R)-1 : (R)1) + shift / f);
            }
            R di = d[m], before = e[m - 1];
            left.begin(m);
            right.begin(m);
#pragma unroll 1
            for (u32 i = m; i > l; i--) {
                R h = hypotenuse(f, g), c = 1, s = 0;
                if (h > 0) {
                    R inverse = 1 / h;
                    c = f * inverse;
                    s = g * inverse;
                }
                if (i < m)
                    e[i] = h;
                R dp = d[i - 1], next = i - 1 > l ? e[i - 2] : (R)0;
                R f2 = c * di + s * before, e2 = c * before - s * di, g2 = s * dp, d2 = c * dp;
                R h2 = hypotenuse(f2, g2), c2 = 1, s2 = 0;
                if (h2 > 0) {
                    R inverse = 1 / h2;
                    c2 = f2 * inverse;
                    s2 = g2 * inverse;
                }
                d[i] = h2;
                f = c2 * e2 + s2 * d2;
                di = c2 * d2 - s2 * e2;
                g = s2 * next;
                before = c2 * next;
                left.turn(i - 1, c, s);
                right.turn(i - 1, c2, s2);
            }
            d[l] = di;
            e[l] = f;
            e[m] = 0;
            left.end(l);
            right.end(l);
        }
    return 0;
}

// gesvdSmall: p is the longer side and q the other. COLUMNS are the most that fit.
template <class T, class R, u32 COLUMNS>
INLINE void gesvdSmall(View x, u32 m, u32 n, R *w, s64 strideW, Vectors left, Vectors right, u32 values, int *info, R *memory) {
    typedef Tile<T, COLUMNS> Q;
    enum { PARTS = sizeof(T) / sizeof(R), AREA = SIDE * COLUMNS * PARTS };
    const T *from = matrix<const T>(x, BLOCK_X);
    bool tall = m >= n;
    u32 p = tall ? m : n, q = tall ? n : m;
    const Vectors &longer = tall ? left : right, &shorter = tall ? right : left;
    Q g = {memory}, u = {memory + AREA}, v = {memory + 2 * AREA};
    R *d = memory + 3 * AREA, *e = d + SIDE, largest = 0;
    Room<T> all = {e + SIDE};
    u32 *places = (u32 *)all.p;
    w += strideW * (s64)BLOCK_X;
    for (u32 j = 0; j < q; j++) {
        T c = {};
        if (LANE < p)
            c = tall ? from[(s64)j * x.ld + LANE] : conj(from[(s64)LANE * x.ld + j]);
        R s = size1(c);
        largest = s > largest || s != s ? s : largest;
        g.put(LANE, j, c);
    }
    largest = first(warpMax(largest));
    SYNC;
    if (!(largest * 0 == 0)) {
        T none;
        make(&none, largest - largest, 0);
        if (LANE < values)
            w[LANE] = largest - largest;
        writeNone(p, longer, none);
        writeNone(q, shorter, none);
        if (LANE == 0)
            info[BLOCK_X] = (int)q + 1;
        return;
    }
    R scale = inRange(largest);
    if (scale != 1)
        for (u32 j = 0; j < q; j++)
            g.put(LANE, j, times(g.get(LANE, j), scale));
    bool both = longer.columns != 0, other = shorter.columns != 0;
    if (both)
        identity(u, p, T{});
    if (other)
        identity(v, q, T{});
    SYNC;
    bidiagonal<Q, T, R>(g, u, both, v, other, p, q, d, e, all);
    Turner<Q, T> turnU = {u, both, T{}}, turnV = {v, other, T{}};
    u32 bad = qr<R>(d, e, q, turnU, turnV);
    u32 at = place<R, true>(d, q);
    SYNC;
    places[LANE] = at;
    if (LANE < q && at < values)
        w[at] = size(d[LANE]) / scale;
    SYNC;
    if (both)
        write(u, p, q, p, places, longer, (const R *)0, T{});
    if (other)
        write(v, q, q, q, places, shorter, d, T{});
    if (LANE == 0)
        info[BLOCK_X] = (int)bad;
}

// hessenbergSmall makes a Hessenberg matrix, scaled, and q; it tells the factor, NaN if there is an infinity or NaN, and
// the largest element.
template <class T, class R> INLINE void hessenbergSmall(const T *from, s64 ld, u32 n, T *h, T *z, R *factor, R *memory) {
    enum { PARTS = sizeof(T) / sizeof(R), AREA = SIDE * SIDE * PARTS };
    Tile<T> a = {memory}, q = {memory + AREA};
    Room<T> all = {memory + 2 * AREA};
    R largest = 0;
    for (u32 j = 0; j < n; j++) {
        T c = LANE < n ? from[(s64)j * ld + LANE] : T{};
        R s = size1(c);
        largest = s > largest || s != s ? s : largest;
        a.put(LANE, j, c);
    }
    largest = first(warpMax(largest));
    bool finite = largest * 0 == 0;
    R scale = largest > 0 && finite ? 1 / largest : 1;
    if (!(scale * 0 == 0))
        scale = 1 / least(R(0));
    SYNC;
    if (LANE == 0) {
        factor[0] = finite ? scale : largest - largest;
        factor[1] = largest * scale;
    }
    if (!finite)
        return;
    for (u32 j = 0; j < n; j++)
        a.put(LANE, j, times(a.get(LANE, j), scale));
    if (z)
        identity(q, n, T{});
    SYNC;
#pragma unroll 1
    for (u32 k = 0; k + 2 < n; k++) {
        T c = LANE < n ? a.get(LANE, k) : T{};
        Mirror<T> m = mirrorOf<T>(LANE > k ? c : T{}, a.get(k + 1, k), k + 1);
        T tau = first(m.tau);
        if (zero(tau))
            continue;
        T beta;
        make(&beta, m.beta, 0);
        SYNC;
        a.put(LANE, k, LANE <= k ? c : LANE == k + 1 ? beta : T{});
        all.put(LANE, m.v);
        SYNC;
        applyLeft(a, k + 1, n, m.v, tau);
        timesMirror(a, k + 1, n, tau, all);
        if (z)
            timesMirror(q, k + 1, n, tau, all);
    }
    if (LANE < n)
        for (u32 j = 0; j < n; j++) {
            h[(s64)j * n + LANE] = a.get(LANE, j);
            if (z)
                z[(s64)j * n + LANE] = q.get(LANE, j);
        }
}

#define SMALL(name, T, R, COLUMNS)                                                                                             \
    KERNEL syevSmall_##name(View x, u32 n, u32 upper, u32 vectors, R *w, int *info) {                                          \
        __shared__ R s[2 * SIDE * SIDE * (sizeof(T) / sizeof(R)) + 2 * SIDE + 2 * SIDE * (sizeof(T) / sizeof(R))];             \
        syevSmall<T, R>(x, n, upper, vectors, w, info, s);                                                                     \
    }                                                                                                                          \
    KERNEL hessenbergSmall_##name(const T *a, s64 ld, u32 n, T *h, T *z, R *factor) {                                          \
        __shared__ R s[2 * SIDE * SIDE * (sizeof(T) / sizeof(R)) + SIDE * (sizeof(T) / sizeof(R))];                            \
        hessenbergSmall<T, R>(a, ld, n, h, z, factor, s);                                                                      \
    }                                                                                                                          \
    KERNEL gesvdSmall_##name(View x, u32 m, u32 n, R *w, s64 strideW, Vectors left, Vectors right, u32 values, int *info) {    \
        __shared__ R s[3 * SIDE * COLUMNS * (sizeof(T) / sizeof(R)) + 2 * SIDE + SIDE * (sizeof(T) / sizeof(R))];              \
        gesvdSmall<T, R, COLUMNS>(x, m, n, w, strideW, left, right, values, info, s);                                          \
    }
SMALL(f32, float, float, 32)
SMALL(f64, double, double, 32)
SMALL(c32, c32, float, 32)
SMALL(c64, c64, double, 24)
