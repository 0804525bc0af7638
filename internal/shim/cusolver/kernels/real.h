// QR with two shifts at once of a real Hessenberg matrix, so that complex values come in exact pairs; the method is EISPACK's hqr2.
#pragma once
#include "solver.h"

template <class R> struct Square {
    R *p;
    u32 n, ld;
    __device__ R &operator()(int i, int j) const { return p[(s64)j * ld + i]; }
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
template <class R> __device__ void lastTwo(Square<R> h, Square<R> v, int n, R *wr, R *wi, bool vectors) {
    int nn = (int)h.n;
    R w = h(n, n - 1) * h(n - 1, n), p = (h(n - 1, n - 1) - h(n, n)) / 2, q = p * p + w, z = root(size(q));
    R x = h(n, n), below = h(n, n - 1);
    SYNC;
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
    R eps = 2 * epsilon(R(0));
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
            wr[n] = h(n, n);
            wi[n] = 0;
            SYNC;
            n--;
            tries = 0;
            continue;
        }
        if (l == n - 1) {
            lastTwo(h, v, n, wr, wi, vectors);
            n -= 2;
            tries = 0;
            continue;
        }
        if (tries == 60)
            return (u32)n + 1;
        R x = h(n, n), y = h(n - 1, n - 1), w = h(n, n - 1) * h(n - 1, n);
        if (tries && tries % 10 == 0) { // one that is not the matrix's, against cycles
            R s = size(h(n, n - 1)) + size(h(n - 1, n - 2));
            x = y = x + (R)0.75 * s;
            w = (R)-0.4375 * s * s;
        }
        tries++;
        step(h, v, l, n, x, y, w, vectors);
    }
    return 0;
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
