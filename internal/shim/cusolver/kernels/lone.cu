// Eigenvalues and right eigenvectors of a small complex matrix of any kind by one thread: for so few rows the lanes of a warp mostly wait, and
// rows that lie apart were gathered. Nothing differs between threads here, so that a CPU runs it as plain scalar code.
#include "solver.h"

#define INLINE __device__ inline __attribute__((always_inline))

// Lone is what the steps share: the scaled matrix and Schur vectors, n × n, columns together.
template <class C, class R> struct Lone {
    C *h, *z;
    int n;
    R norm; // the largest size in the Hessenberg matrix, 1 if that is 0

    INLINE C &at(int i, int j) const { return h[j * n + i]; }
};

// safe is what a square may be divided by.
INLINE float safe(float) { return 0x1p-50f; }
INLINE double safe(double) { return 0x1p-400; }

// over is a / b for a b whose square is neither lost nor too large.
template <class C, class R> INLINE C over(C a, C b) {
    R d = 1 / (b.re * b.re + b.im * b.im);
    return {(a.re * b.re + a.im * b.im) * d, (a.im * b.re - a.re * b.im) * d};
}

// lift is a power of two that makes squares of tiny numbers countable.
INLINE float lift(float largest) { return largest < 0x1p-40f ? 0x1p60f : 1.0f; }
INLINE double lift(double largest) { return largest < 0x1p-300 ? 0x1p500 : 1.0; }

// hessenberg takes what is below the first subdiagonal away by reflections from both sides. What is too small to be squared even when lifted
// is nothing beside the matrix, whose largest number is 1.
template <class C, class R> INLINE void hessenberg(const Lone<C, R> &x) {
    int n = x.n;
    for (int k = 0; k + 2 < n; k++) {
        C *v = x.h + k * n;
        R largest = 0, below = 0;
        for (int i = k + 1; i < n; i++) {
            R s = size1(v[i]);
            largest = s > largest ? s : largest;
        }
        R up = lift(largest);
        for (int i = k + 2; i < n; i++)
            below += norm2(times(v[i], up));
        C head = times(v[k + 1], up);
        if (below == 0 && head.im == 0) {
            for (int i = k + 2; i < n; i++)
                v[i] = {0, 0};
            continue;
        }
        R b = root(norm2(head) + below);
        if (b == 0) {
            for (int i = k + 1; i < n; i++)
                v[i] = {0, 0};
            continue;
        }
        b = head.re >= 0 ? -b : b;
        C tau = {(b - head.re) / b, -head.im / b}, scale = div(one<C>(), C{head.re - b, head.im});
        for (int i = k + 2; i < n; i++)
            v[i] = mul(times(v[i], up), scale);
        v[k + 1] = {1, 0};
        for (int j = k + 1; j < n; j++) { // from the left
            C *c = x.h + j * n, w = {0, 0};
            for (int i = k + 1; i < n; i++)
                w = fma(conj(v[i]), c[i], w);
            w = mul(conj(tau), w);
            w = {-w.re, -w.im};
            for (int i = k + 1; i < n; i++)
                c[i] = fma(v[i], w, c[i]);
        }
        for (int side = x.z ? 0 : 1; side < 2; side++) { // from the right
            C *a = side ? x.h : x.z;
            for (int i = 0; i < n; i++) {
                C w = {0, 0};
                for (int j = k + 1; j < n; j++)
                    w = fma(a[j * n + i], v[j], w);
                w = mul(w, tau);
                w = {-w.re, -w.im};
                for (int j = k + 1; j < n; j++)
                    a[j * n + i] = fma(w, conj(v[j]), a[j * n + i]);
            }
        }
        v[k + 1] = {b / up, 0};
        for (int i = k + 2; i < n; i++)
            v[i] = {0, 0};
    }
}

// length is |a| without overflow.
template <class C, class R> INLINE R length(C a) {
    R x = size(a.re), y = size(a.im), m = x > y ? x : y, l = x > y ? y : x;
    if (m == 0)
        return 0;
    l /= m;
    return m * root(1 + l * l);
}

// Turn is a rotation of two rows that leaves nothing of the second one's first element, and r of the first one's.
template <class C, class R> struct Turn {
    R c;
    C s, r;
};

template <class C, class R> INLINE Turn<C, R> turnOf(C x, C y) {
    R xx = norm2(x), all = xx + norm2(y);
    if (xx > safe(R(0))) {
        R d = 1 / root(xx * all);
        return {xx * d, times(mul(x, conj(y)), d), times(x, all * d)};
    }
    R ax = length<C, R>(x), ay = length<C, R>(y), m = ax > ay ? ax : ay;
    if (m == 0)
        return {1, {0, 0}, {0, 0}};
    R r = m * root(ax / m * (ax / m) + ay / m * (ay / m));
    if (ax == 0)
        return {0, {y.re / r, -y.im / r}, {r, 0}};
    C unit = {x.re / ax, x.im / ax};
    return {ax / r, mul(unit, C{y.re / r, -y.im / r}), times(unit, r)};
}

// shiftOf is the eigenvalue of rows e - 1 and e that is nearer to the last element.
template <class C, class R> INLINE C shiftOf(const Lone<C, R> &x, int e) {
    C a = x.at(e - 1, e - 1), b = x.at(e - 1, e), c = x.at(e, e - 1), d = x.at(e, e), bc = mul(b, c);
    if (zero(bc))
        return d;
    C half = {(a.re - d.re) / 2, (a.im - d.im) / 2}, square = add(mul(half, half), bc), r = {0, 0};
    R m = length<C, R>(square), up = root((m + size(square.re)) / 2);
    if (up != 0) {
        R other = square.im / (2 * up);
        r = square.re >= 0 ? C{up, other} : C{size(other), square.im < 0 ? -up : up};
    }
    if (half.re * r.re + half.im * r.im < 0)
        r = {-r.re, -r.im};
    C both = add(half, r);
    return zero(both) ? d : sub(d, div(bc, both));
}

// small reports an element below the diagonal that is nothing beside its neighbours.
template <class C, class R> INLINE bool small(const Lone<C, R> &x, int l) {
    R eps = epsilon(R(0)), near = size1(x.at(l - 1, l - 1)) + size1(x.at(l, l)), below = size1(x.at(l, l - 1));
    if (near == 0)
        near = x.norm;
    return below <= eps * near || below <= eps * eps * x.norm;
}

// sweep chases a bulge from row l to row e.
template <class C, class R> INLINE void sweep(const Lone<C, R> &x, int l, int e, C shift) {
    int n = x.n;
    C head = sub(x.at(l, l), shift), below = x.at(l + 1, l);
    for (int k = l; k < e; k++) {
        Turn<C, R> t = turnOf<C, R>(head, below);
        if (k > l) {
            x.at(k, k - 1) = t.r;
            x.at(k + 1, k - 1) = {0, 0};
        }
        C back = {-t.s.re, t.s.im}, s = t.s;
        for (int j = k; j < n; j++) {
            C *p = x.h + j * n + k, u = p[0], v = p[1];
            p[0] = fma(s, v, times(u, t.c));
            p[1] = fma(back, u, times(v, t.c));
        }
        C turned = conj(s), minus = {-s.re, -s.im};
        int last = k + 2 < e ? k + 2 : e;
        C *p = x.h + k * n, *q = p + n;
        for (int i = 0; i <= last; i++) {
            C u = p[i], v = q[i];
            p[i] = fma(turned, v, times(u, t.c));
            q[i] = fma(minus, u, times(v, t.c));
        }
        if (x.z) {
            C *f = x.z + k * n, *g = f + n;
            for (int i = 0; i < n; i++) {
                C u = f[i], v = g[i];
                f[i] = fma(turned, v, times(u, t.c));
                g[i] = fma(minus, u, times(v, t.c));
            }
        }
        head = x.at(k + 1, k);
        below = k + 2 <= e ? x.at(k + 2, k) : C{0, 0};
    }
}

// triangle makes the Hessenberg matrix triangular, and tells how many values it did not find.
template <class C, class R> INLINE int triangle(const Lone<C, R> &x) {
    int end = x.n, tries = 0, left = 40 * x.n + 40;
    while (end > 1) {
        int e = end - 1, l = e;
        while (l > 0 && !small(x, l))
            l--;
        if (l > 0)
            x.at(l, l - 1) = {0, 0};
        if (l == e) {
            end--;
            tries = 0;
            continue;
        }
        if (left-- == 0)
            return end;
        C shift = shiftOf(x, e);
        if (++tries % 10 == 0) // one that is not the matrix's, against cycles
            shift = {x.at(e, e).re + size1(x.at(e, e - 1)) * (R)0.75, x.at(e, e).im};
        sweep(x, l, e, shift);
    }
    return 0;
}

// vectors solves (T - w) x = 0 for every value, and leaves z x with a length of 1.
template <class C, class R> INLINE void vectors(const Lone<C, R> &m, C *x, C *out, s64 ld) {
    int n = m.n;
    R tiny = epsilon(R(0)) * m.norm, limit = sizeof(R) == 4 ? (R)0x1p40 : (R)0x1p300;
    for (int k = 0; k < n; k++) {
        C w = m.at(k, k);
        for (int i = 0; i < k; i++) {
            C v = m.at(i, k);
            x[i] = {-v.re, -v.im};
        }
        x[k] = {1, 0};
        for (int j = k; j-- > 0;) {
            C d = sub(m.at(j, j), w);
            if (size1(d) < tiny)
                d = {tiny, 0};
            C v = over<C, R>(x[j], d);
            R big = size1(v);
            x[j] = v;
            if (big > limit) { // before products overflow
                for (int i = 0; i <= k; i++)
                    x[i] = times(x[i], 1 / big);
                v = x[j];
            }
            v = {-v.re, -v.im};
            for (int i = 0; i < j; i++)
                x[i] = fma(m.at(i, j), v, x[i]);
        }
        C *to = out + (s64)k * ld;
        for (int i = 0; i < n; i++)
            to[i] = mul(m.z[i], x[0]);
        for (int j = 1; j <= k; j++)
            for (int i = 0; i < n; i++)
                to[i] = fma(m.z[j * n + i], x[j], to[i]);
        R largest = 0, total = 0;
        for (int i = 0; i < n; i++) {
            R s = size1(to[i]);
            largest = s > largest ? s : largest;
        }
        R down = 1 / largest;
        for (int i = 0; i < n; i++)
            total += norm2(times(to[i], down));
        R scale = 1 / root(total) / largest;
        for (int i = 0; i < n; i++)
            to[i] = times(to[i], scale);
    }
}

// geev has room for a matrix, or with vectors for two and a vector.
template <class C, class R> INLINE void geev(const C *a, s64 ld, int n, C *w, C *v, s64 ldv, C *room, int *info) {
    Lone<C, R> x = {room, v ? room + n * n : (C *)0, n, 0};
    R largest = 0;
    bool finite = true;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            R s = size1(a[(s64)j * ld + i]);
            finite &= s * 0 == 0;
            largest = s > largest ? s : largest;
        }
    if (!finite) {
        R nan = largest * 0 == 0 ? root(R(-1)) : largest - largest;
        for (int i = 0; i < n; i++)
            w[i] = {nan, nan};
        *info = n;
        return;
    }
    R scale = largest > 0 ? 1 / largest : 1;
    if (!(scale * 0 == 0))
        scale = 1 / least(R(0));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            x.at(i, j) = times(a[(s64)j * ld + i], scale);
            if (v)
                x.z[j * n + i] = {i == j ? (R)1 : (R)0, 0};
        }
    hessenberg(x);
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j + 1 && i < n; i++) {
            R s = size1(x.at(i, j));
            x.norm = s > x.norm ? s : x.norm;
        }
    if (x.norm == 0)
        x.norm = 1;
    int bad = triangle(x);
    for (int i = 0; i < n; i++)
        w[i] = times(x.at(i, i), 1 / scale);
    if (v && !bad)
        vectors(x, x.z + n * n, v, ldv);
    *info = bad;
}

#define LONE(name, C, R)                                                                                                       \
    KERNEL geevLone_##name(const C *a, s64 ld, int n, C *w, C *v, s64 ldv, C *room, int *info) {                               \
        geev<C, R>(a, ld, n, w, v, ldv, room, info);                                                                           \
    }
LONE(c32, c32, float)
LONE(c64, c64, double)
