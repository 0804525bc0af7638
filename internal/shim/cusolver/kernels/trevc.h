// Eigenvectors of a real Schur form, and how they are written.
#pragma once

// Lanes are values: each solves (T - w) x = 0 from its last row up. A strip has 32 real parts and 32 imaginary ones of every row.
template <class R, bool PAIRS>
INLINE void solveUp(const R *t, u32 n, R norm, R p, R q, int own, int from, R *x) {
    R tiny = 2 * epsilon(R(0)) * (norm > 0 ? norm : 1), limit = sizeof(R) == 4 ? (R)0x1p40 : (R)0x1p300;
    for (int i = from; i >= 0; i--) {
        const R *row = t + i;
        bool two = i > 0 && t[(s64)(i - 1) * n + i] != 0;
        R sr = 0, si = 0, rr = 0, ri = 0; // sums of row i, and of the row above it
        for (int j = i + 1; j <= from; j++) {
            R a = row[(s64)j * n], xr = x[j * 64], xi = PAIRS ? x[j * 64 + 32] : (R)0;
            sr += a * xr;
            if (PAIRS)
                si += a * xi;
            if (two) {
                R b = row[(s64)j * n - 1];
                rr += b * xr;
                if (PAIRS)
                    ri += b * xi;
            }
        }
        R big = 0;
        R d = row[(s64)i * n];
        if (!two) {
            R dr = d - p, yr, yi = 0;
            if (PAIRS) {
                if (size(dr) + size(q) < tiny)
                    dr = tiny;
                Pair<R> y = quotient<R>(-sr, -si, dr, -q);
                yr = y.re, yi = y.im;
            } else
                yr = -sr / (size(dr) < tiny ? tiny : dr);
            yr = i > own ? 0 : i == own ? 1 : yr;
            yi = i >= own ? 0 : yi;
            x[i * 64] = yr;
            if (PAIRS)
                x[i * 64 + 32] = yi;
            big = size(yr) > size(yi) ? size(yr) : size(yi);
        } else {
            R a = row[(s64)(i - 1) * n - 1], b = row[(s64)i * n - 1], c = row[(s64)(i - 1) * n];
            // (a - w) x + b y = -r, c x + (d - w) y = -s
            R ar = a - p, dr = d - p, h = (a - d) / 2, w = -(h * h + b * c), mid = (a + d) / 2 - p; // the pair is mid ± i root(w)
            R vr = mid * mid + w - q * q, vi = -2 * mid * q; // (a - w)(d - w) - b c
            if (size(vr) + size(vi) < tiny * tiny)
                vr = tiny * tiny;
            // x = (b s - (d - w) r) / v
            R xr = b * sr - (dr * rr + q * ri), xi = b * si - (dr * ri - q * rr);
            Pair<R> u = quotient<R>(xr, xi, vr, vi), y;
            if (size(b) > size(dr) + size(q))
                y = {(-rr - (ar * u.re + q * u.im)) / b, (-ri - (ar * u.im - q * u.re)) / b};
            else
                y = quotient<R>(-sr - c * u.re, -si - c * u.im, dr, -q);
            if (i == own) { // its own: y is 1
                y = {1, 0};
                if (size(c) > size(b))
                    u = {-dr / c, q / c};
                else
                    u = quotient<R>(-b, 0, ar, -q);
            }
            bool later = i > own;
            x[i * 64] = later ? 0 : y.re;
            x[(i - 1) * 64] = later ? 0 : u.re;
            if (PAIRS) {
                x[i * 64 + 32] = later ? 0 : y.im;
                x[(i - 1) * 64 + 32] = later ? 0 : u.im;
            }
            big = size(u.re) > size(u.im) ? size(u.re) : size(u.im);
            R other = size(y.re) > size(y.im) ? size(y.re) : size(y.im);
            big = later ? 0 : other > big ? other : big;
            i--;
        }
        if (warpMax(big) > limit) { // before products overflow
            R down = big > limit ? 1 / big : 1;
            for (int j = i; j <= from; j++) {
                x[j * 64] *= down;
                if (PAIRS)
                    x[j * 64 + 32] *= down;
            }
        }
    }
}

// trevc: columns of x are vectors, of a pair the real parts and then the imaginary ones, of the value above the axis.
template <class R>
__device__ void trevc(const R *t, u32 n, R norm, const R *wr, const R *wi, const u32 *places, R *strips, R *x) {
    u32 count = places[n], block = BLOCK_X;
    if (block * 32 >= count)
        return;
    u32 at = block * 32 + LANE, end = block * 32 + 32 < count ? block * 32 + 32 : count;
    int from = (int)places[end - 1], own = (int)places[at < end ? at : end - 1];
    R p = wr[own], q = -wi[own]; // a pair's second value is below the axis
    R *s = strips + (s64)block * 64 * n + LANE;
    bool pairs = warpMax(q) != 0;
    if (pairs)
        solveUp<R, true>(t, n, norm, p, q, own, from, s);
    else
        solveUp<R, false>(t, n, norm, p, q, own, from, s);
    SYNC;
    const R *all = strips + (s64)block * 64 * n;
    for (u32 k = block * 32; k < end; k++) { // to columns
        u32 column = places[k], lane = k - block * 32;
        bool two = wi[column] != 0;
        R *re = x + (s64)(two ? column - 1 : column) * n, *im = x + (s64)column * n;
        for (u32 i = LANE; i < n; i += 32) {
            bool in = (int)i <= from;
            re[i] = in ? all[(s64)i * 64 + lane] : (R)0;
            if (two)
                im[i] = in ? all[(s64)i * 64 + 32 + lane] : (R)0;
        }
    }
}

enum { COMPLEX_VECTORS = 2 };

// spread makes columns of length 1, and writes them.
template <class R> __device__ void spread(const R *v, u32 n, const R *wi, R *out, s64 ld, u32 how) {
    for (u32 j = BLOCK_X; j < n; j += BLOCKS_X) {
        if (wi[j] < 0)
            continue;
        bool two = wi[j] > 0;
        R *x = (R *)v + (s64)j * n, *y = two ? x + n : (R *)0;
        unit(x, y, n);
        for (u32 i = LANE; i < n; i += 32)
            if (how & COMPLEX_VECTORS) {
                R *to = out + 2 * ((s64)j * ld + i);
                to[0] = x[i];
                to[1] = y ? y[i] : 0;
                if (y) {
                    to[2 * ld] = x[i];
                    to[2 * ld + 1] = -y[i];
                }
            } else {
                out[(s64)j * ld + i] = x[i];
                if (y)
                    out[(s64)(j + 1) * ld + i] = y[i];
            }
    }
}
