// Eigenvalues and right eigenvectors of real matrices of any kind: reflections to an upper Hessenberg matrix, QR with two shifts at
// once, so that complex values come in exact pairs, back substitution. A warp has a matrix; the method is EISPACK's hqr2.
#include "hessenberg.h"

template <class R> struct Square {
    R *p;
    u32 n;
    __device__ R &operator()(int i, int j) const { return p[(s64)j * n + i]; }
};

template <class R> struct Pair {
    R re, im;
};
template <class R> __device__ inline Pair<R> quotient(R xr, R xi, R yr, R yi) {
    if (size(yr) > size(yi)) {
        R r = yi / yr, d = yr + r * yi;
        return {(xr + r * xi) / d, (xi - r * xr) / d};
    }
    R r = yr / yi, d = yi + r * yr;
    return {(r * xr + xi) / d, (r * xi - xr) / d};
}

// lastTwo makes values of the block of rows n-1 and n: a triangle of it if they are real.
template <class R> __device__ void lastTwo(Square<R> h, Square<R> v, int n, R shift, R *wr, R *wi, bool vectors) {
    int nn = (int)h.n;
    R w = h(n, n - 1) * h(n - 1, n), p = (h(n - 1, n - 1) - h(n, n)) / 2, q = p * p + w, z = root(size(q));
    R x = h(n, n) + shift, y = h(n - 1, n - 1) + shift, below = h(n, n - 1);
    SYNC;
    h(n, n) = x;
    h(n - 1, n - 1) = y;
    if (q < 0) {
        wr[n - 1] = wr[n] = x + p;
        wi[n - 1] = z;
        wi[n] = -z;
        SYNC;
        return;
    }
    z = p >= 0 ? p + z : p - z;
    wr[n - 1] = x + z;
    wr[n] = z != 0 ? x - w / z : x + z;
    wi[n - 1] = wi[n] = 0;
    SYNC;
    R s = size(below) + size(z);
    p = below / s;
    q = z / s;
    R r = root(p * p + q * q);
    p /= r;
    q /= r;
    for (int j = n - 1 + LANE; j < nn; j += 32) {
        R a = h(n - 1, j), b = h(n, j);
        h(n - 1, j) = q * a + p * b;
        h(n, j) = q * b - p * a;
    }
    SYNC;
    for (int i = LANE; i <= n; i += 32) {
        R a = h(i, n - 1), b = h(i, n);
        h(i, n - 1) = q * a + p * b;
        h(i, n) = q * b - p * a;
    }
    if (vectors)
        for (int i = LANE; i < nn; i += 32) {
            R a = v(i, n - 1), b = v(i, n);
            v(i, n - 1) = q * a + p * b;
            v(i, n) = q * b - p * a;
        }
    SYNC;
    h(n, n - 1) = 0;
    SYNC;
}

// step is one step of QR on rows l to n with the shifts whose sum is x + y and whose product is x y - w.
template <class R> __device__ void step(Square<R> h, Square<R> v, int l, int n, R x, R y, R w, bool vectors) {
    int nn = (int)h.n, m = n - 2;
    R eps = 2 * epsilon(R(0)), p = 0, q = 0, r = 0, s, z;
    for (;; m--) {
        z = h(m, m);
        r = x - z;
        s = y - z;
        p = (r * s - w) / h(m + 1, m) + h(m, m + 1);
        q = h(m + 1, m + 1) - z - r - s;
        r = h(m + 2, m + 1);
        s = size(p) + size(q) + size(r);
        p /= s;
        q /= s;
        r /= s;
        if (m == l || size(h(m, m - 1)) * (size(q) + size(r)) < eps * size(p) * (size(h(m - 1, m - 1)) + size(z) + size(h(m + 1, m + 1))))
            break;
    }
    SYNC;
    for (int i = m + 2 + LANE; i <= n; i += 32) {
        h(i, i - 2) = 0;
        if (i > m + 2)
            h(i, i - 3) = 0;
    }
    SYNC;
    for (int k = m; k < n; k++) {
        bool three = k != n - 1;
        R scale = 1;
        if (k != m) {
            p = h(k, k - 1);
            q = h(k + 1, k - 1);
            r = three ? h(k + 2, k - 1) : 0;
            scale = size(p) + size(q) + size(r);
            if (scale == 0)
                continue;
            p /= scale;
            q /= scale;
            r /= scale;
        }
        s = root(p * p + q * q + r * r);
        if (s == 0)
            continue;
        s = p < 0 ? -s : s;
        R before = k > l ? h(k, k - 1) : 0;
        SYNC;
        if (k != m)
            h(k, k - 1) = -s * scale;
        else if (l != m)
            h(k, k - 1) = -before;
        p += s;
        x = p / s;
        y = q / s;
        z = r / s;
        q /= p;
        r /= p;
        SYNC;
        for (int j = k + LANE; j < nn; j += 32) {
            R t = h(k, j) + q * h(k + 1, j);
            if (three) {
                t += r * h(k + 2, j);
                h(k + 2, j) -= t * z;
            }
            h(k, j) -= t * x;
            h(k + 1, j) -= t * y;
        }
        SYNC;
        int last = n < k + 3 ? n : k + 3;
        for (int side = 0; side < (vectors ? 2 : 1); side++) {
            Square<R> b = side ? v : h;
            int end = side ? nn - 1 : last;
            for (int i = LANE; i <= end; i += 32) {
                R t = x * b(i, k) + y * b(i, k + 1);
                if (three) {
                    t += z * b(i, k + 2);
                    b(i, k + 2) -= t * r;
                }
                b(i, k) -= t;
                b(i, k + 1) -= t * q;
            }
        }
        SYNC;
    }
}

// schur finds the values; h becomes a triangle with blocks of two. Gives how many did not converge.
template <class R> __device__ u32 schur(Square<R> h, Square<R> v, R *wr, R *wi, R norm, bool vectors) {
    R eps = 2 * epsilon(R(0)), shift = 0;
    int tries = 0;
    for (int n = (int)h.n - 1; n >= 0;) {
        int l = n;
        for (; l > 0; l--) {
            R s = size(h(l - 1, l - 1)) + size(h(l, l)), below = size(h(l, l - 1));
            if (below < eps * (s == 0 ? norm : s) || below <= eps * eps * norm)
                break;
        }
        if (l > 0) {
            SYNC;
            h(l, l - 1) = 0;
            SYNC;
        }
        if (l == n) {
            R x = h(n, n) + shift;
            SYNC;
            h(n, n) = x;
            wr[n] = x;
            wi[n] = 0;
            SYNC;
            n--;
            tries = 0;
            continue;
        }
        if (l == n - 1) {
            lastTwo(h, v, n, shift, wr, wi, vectors);
            n -= 2;
            tries = 0;
            continue;
        }
        if (tries == 60)
            return (u32)n + 1;
        R x = h(n, n), y = h(n - 1, n - 1), w = h(n, n - 1) * h(n - 1, n);
        if (tries && tries % 10 == 0) { // one that is not the matrix's, against cycles
            R s = size(h(n, n - 1)) + size(h(n - 1, n - 2));
            SYNC;
            shift += x;
            for (int i = LANE; i <= n; i += 32)
                h(i, i) -= x;
            SYNC;
            x = y = (R)0.75 * s;
            w = (R)-0.4375 * s * s;
        }
        tries++;
        step(h, v, l, n, x, y, w, vectors);
    }
    return 0;
}

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

// unit makes a vector of one or two columns one of length 1, whose largest element is real, as LAPACK does.
template <class R> __device__ void unit(R *x, R *y, u32 n) {
    R largest = 0, sum = 0, best = -1;
    for (u32 i = LANE; i < n; i += 32) {
        R a = size(x[i]), b = y ? size(y[i]) : 0;
        a = a > b ? a : b;
        largest = a > largest ? a : largest;
    }
    largest = warpMax(largest);
    u32 at = 0;
    for (u32 i = LANE; i < n; i += 32) {
        R a = x[i] / largest, b = y ? y[i] / largest : 0, t = a * a + b * b;
        sum += t;
        if (t > best) {
            best = t;
            at = i;
        }
    }
    R scale = 1 / root(warpSum(sum)) / largest, c = 1, s = 0;
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        R b = other(best, d);
        u32 o = other(at, d);
        if (b > best || (b == best && o < at)) {
            best = b;
            at = o;
        }
    }
    if (y) {
        R a = x[at] / largest, b = y[at] / largest, t = root(a * a + b * b);
        c = a / t;
        s = b / t;
    }
    SYNC;
    for (u32 i = LANE; i < n; i += 32) {
        R a = x[i] * scale, b = y ? y[i] * scale : 0;
        x[i] = c * a + s * b;
        if (y)
            y[i] = i == at ? 0 : c * b - s * a;
    }
    SYNC;
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
    Square<R> h = {work, n}, v = {work + (s64)n * n, n};
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
