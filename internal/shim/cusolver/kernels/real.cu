// Eigenvalues and right eigenvectors of real matrices of any kind: reflections to an upper Hessenberg matrix, QR with two shifts at
// once, so that complex values come in exact pairs, back substitution. A warp has a matrix; the method is EISPACK's hqr2.
#include "hessenberg.h"
#include "real.h"

template <class R> __device__ R rowDot(Square<R> h, int i, int from, int to, int column) {
    R s = 0;
    for (int j = from + LANE; j <= to; j += 32)
        s += h(i, j) * h(j, column);
    return warpSum(s);
}

// bringDown divides what there is of vectors before their products overflow.
template <class R> __device__ inline void bringDown(Square<R> h, int i, int n, int columns, R t) {
    if (!(2 * epsilon(R(0)) * t * t > 1))
        return;
    for (int j = i + LANE; j <= n; j += 32)
        for (int c = n - columns + 1; c <= n; c++)
            h(j, c) /= t;
    SYNC;
}

// realVector solves (H - wr[n]) x = 0 in column n.
template <class R> __device__ void realVector(Square<R> h, int n, const R *wr, const R *wi, R tiny) {
    R p = wr[n], z = 0, s = 0;
    int l = n;
    h(n, n) = 1;
    SYNC;
    for (int i = n - 1; i >= 0; i--) {
        R w = h(i, i) - p, r = rowDot(h, i, l, n, n);
        if (wi[i] < 0) {
            z = w;
            s = r;
            continue;
        }
        l = i;
        R t, next = 0;
        if (wi[i] == 0)
            t = -r / (size(w) < tiny ? tiny : w);
        else {
            R x = h(i, i + 1), y = h(i + 1, i), q = (wr[i] - p) * (wr[i] - p) + wi[i] * wi[i];
            t = (x * s - z * r) / q;
            next = size(x) > size(z) ? (-r - w * t) / x : (-s - y * t) / z;
        }
        SYNC;
        h(i, n) = t;
        if (wi[i] != 0)
            h(i + 1, n) = next;
        SYNC;
        bringDown(h, i, n, 1, size(t));
    }
}

// pairVector is the same of the pair wr[n] ± i wi[n]: real parts in column n - 1, imaginary ones in column n.
template <class R> __device__ void pairVector(Square<R> h, int n, const R *wr, const R *wi, R tiny) {
    R p = wr[n], q = wi[n], z = 0, r = 0, s = 0;
    int l = n - 1;
    Pair<R> first;
    if (size(h(n, n - 1)) > size(h(n - 1, n)))
        first = {q / h(n, n - 1), -(h(n, n) - p) / h(n, n - 1)};
    else
        first = quotient<R>(0, -h(n - 1, n), h(n - 1, n - 1) - p, q);
    SYNC;
    h(n - 1, n - 1) = first.re;
    h(n - 1, n) = first.im;
    h(n, n - 1) = 0;
    h(n, n) = 1;
    SYNC;
    for (int i = n - 2; i >= 0; i--) {
        R ra = rowDot(h, i, l, n, n - 1), sa = rowDot(h, i, l, n, n), w = h(i, i) - p;
        if (wi[i] < 0) {
            z = w;
            r = ra;
            s = sa;
            continue;
        }
        l = i;
        Pair<R> here, next = {0, 0};
        if (wi[i] == 0)
            here = quotient(-ra, -sa, w, q);
        else {
            R x = h(i, i + 1), y = h(i + 1, i), d = wr[i] - p, vr = d * d + wi[i] * wi[i] - q * q, vi = d * 2 * q;
            if (vr == 0 && vi == 0)
                vr = tiny * (size(w) + size(q) + size(x) + size(y) + size(z));
            here = quotient(x * r - z * ra + q * sa, x * s - z * sa - q * ra, vr, vi);
            if (size(x) > size(z) + size(q))
                next = {(-ra - w * here.re + q * here.im) / x, (-sa - w * here.im - q * here.re) / x};
            else
                next = quotient(-r - y * here.re, -s - y * here.im, z, q);
        }
        SYNC;
        h(i, n - 1) = here.re;
        h(i, n) = here.im;
        if (wi[i] != 0) {
            h(i + 1, n - 1) = next.re;
            h(i + 1, n) = next.im;
        }
        SYNC;
        bringDown(h, i, n, 2, size(here.re) > size(here.im) ? size(here.re) : size(here.im));
    }
}

// eigenvectors makes those of the matrix in v, whose columns were the Schur vectors.
template <class R> __device__ void eigenvectors(Square<R> h, Square<R> v, const R *wr, const R *wi, R norm) {
    int nn = (int)h.n;
    R tiny = 2 * epsilon(R(0)) * (norm > 0 ? norm : 1);
    for (int n = nn - 1; n >= 0; n--)
        if (wi[n] == 0)
            realVector(h, n, wr, wi, tiny);
        else
            pairVector(h, n--, wr, wi, tiny);
    SYNC;
    for (int j = nn - 1; j >= 0; j--) {
        bool pair = wi[j] < 0;
        for (int i = LANE; i < nn; i += 32) {
            R s = 0, first = 0;
            for (int k = 0; k <= j; k++) {
                R x = v(i, k);
                s += x * h(k, j);
                if (pair)
                    first += x * h(k, j - 1);
            }
            v(i, j) = s;
            if (pair)
                v(i, j - 1) = first;
        }
        SYNC;
        R *x = v.p + (s64)j * nn;
        if (pair)
            unit(x - nn, x, h.n);
        else
            unit(x, (R *)0, h.n);
        j -= pair;
    }
}

// How the results are written.
enum { COMPLEX_VALUES = 1, COMPLEX_VECTORS = 2 };

// geev: work has 2 n² + 2 n of R.
template <class R> __device__ void geev(const R *a, s64 ld, u32 n, R *w, R *out, s64 ldv, R *work, int *info, u32 how) {
    Square<R> h = {work, n, n}, v = {work + (s64)n * n, n, n};
    R *wr = v.p + (s64)n * n, *wi = wr + n, largest = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32) {
            R e = a[(s64)j * ld + i], m = size(e);
            h(i, j) = e;
            largest = m > largest || m != m ? m : largest;
        }
    largest = warpMax(largest);
    bool finite = largest * 0 == 0;
    R scale = largest > 0 && finite ? 1 / largest : 1;
    if (!(scale * 0 == 0))
        scale = 1 / least(R(0));
    R norm = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32) {
            h(i, j) *= scale;
            norm = size(h(i, j)) > norm ? size(h(i, j)) : norm;
        }
    norm = warpMax(norm);
    SYNC;
    u32 bad = n;
    if (finite) {
        hessenberg(h.p, v.p, n);
        bad = schur(h, v, wr, wi, norm, out != 0);
    }
    for (u32 i = LANE; i < n; i += 32) {
        R x = finite && i >= bad ? wr[i] / scale : finite ? 0 : largest - largest, y = finite && i >= bad ? wi[i] / scale : 0;
        if (how & COMPLEX_VALUES) {
            w[2 * i] = x;
            w[2 * i + 1] = y;
        } else {
            w[i] = x;
            w[n + i] = y;
        }
    }
    if (LANE == 0)
        *info = (int)bad;
    if (!out || bad)
        return;
    eigenvectors(h, v, wr, wi, norm);
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32)
            if (!(how & COMPLEX_VECTORS))
                out[(s64)j * ldv + i] = v(i, j);
            else {
                R *to = out + 2 * ((s64)j * ldv + i);
                to[0] = wi[j] < 0 ? v(i, j - 1) : v(i, j);
                to[1] = wi[j] < 0 ? -v(i, j) : wi[j] > 0 ? v(i, j + 1) : 0;
            }
}

#define REAL(name, R)                                                                                                          \
    KERNEL geev_##name(const R *a, s64 ld, u32 n, R *w, R *v, s64 ldv, R *work, int *info, u32 how) {                          \
        geev<R>(a, ld, n, w, v, ldv, work, info, how);                                                                         \
    }
REAL(f32, float)
REAL(f64, double)
