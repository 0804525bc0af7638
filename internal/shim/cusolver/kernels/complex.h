// Shifted QR with rotations of a complex Hessenberg matrix.
#pragma once
#include "solver.h"

// csize is |a| without overflow.
template <class C, class R> __device__ inline R csize(C a) {
    R x = size(a.re), y = size(a.im), m = x > y ? x : y, n = x > y ? y : x;
    if (m == 0)
        return 0;
    n /= m;
    return m * root(1 + n * n);
}

// croot is the root with a real part that is not negative.
template <class C, class R> __device__ inline C croot(C a) {
    R m = csize<C, R>(a);
    if (m == 0)
        return {0, 0};
    R x = root((m + size(a.re)) / 2);
    if (x == 0) // of a subnormal number
        return {0, 0};
    R y = a.im / (2 * x);
    if (a.re >= 0)
        return {x, y};
    return {size(y), a.im < 0 ? -x : x};
}

// shiftOf is the eigenvalue of the last two rows that is nearer to the last element.
template <class C, class R> __device__ inline C shiftOf(const C *h, s64 n, u32 e) {
    C a = h[(s64)(e - 1) * (n + 1)], b = h[(s64)e * n + e - 1], c = h[(s64)(e - 1) * n + e], d = h[(s64)e * (n + 1)];
    C half = {(a.re - d.re) / 2, (a.im - d.im) / 2};
    C bc = mul(b, c);
    if (zero(bc))
        return d;
    C r = croot<C, R>(add(mul(half, half), bc));
    if (half.re * r.re + half.im * r.im < 0)
        r = {-r.re, -r.im};
    C both = add(half, r);
    return zero(both) ? d : sub(d, div(bc, both));
}

// schur makes h triangular by QR with shifts; z takes the rotations. Gives how many values did not converge. cs has room for n.
template <class C, class R> __device__ u32 schur(C *h, C *z, u32 n, s64 ld, R *c, C *s) {
    R eps = epsilon(R(0)), norm = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i <= j + 1 && i < n; i += 32) {
            R x = size1(h[(s64)j * ld + i]);
            norm = x > norm ? x : norm;
        }
    norm = warpMax(norm);
    u32 end = n, tries = 0, left = 40 * n + 40;
    while (end > 1) {
        u32 e = end - 1, l = e;
        for (; l > 0; l--) {
            R near = size1(h[(s64)(l - 1) * (ld + 1)]) + size1(h[(s64)l * (ld + 1)]);
            if (near == 0)
                near = norm;
            R below = size1(h[(s64)(l - 1) * ld + l]);
            if (below <= eps * near || below <= eps * eps * norm)
                break;
        }
        if (l > 0) {
            SYNC;
            h[(s64)(l - 1) * ld + l] = {0, 0};
            SYNC;
        }
        if (l == e) {
            end--;
            tries = 0;
            continue;
        }
        if (left-- == 0)
            return end;
        tries++;
        C shift = shiftOf<C, R>(h, ld, e);
        if (tries % 10 == 0) { // one that is not the matrix's, against cycles
            R x = size1(h[(s64)(e - 1) * ld + e]);
            shift = {h[(s64)e * (ld + 1)].re + x * (R)0.75, h[(s64)e * (ld + 1)].im};
        }
        // H - shift = Q R: rotations from the left, a lane a column
        SYNC;
        for (u32 i = l + LANE; i <= e; i += 32)
            h[(s64)i * (ld + 1)] = sub(h[(s64)i * (ld + 1)], shift);
        SYNC;
        for (u32 k = l; k < e; k++) {
            C x = h[(s64)k * (ld + 1)], y = h[(s64)k * ld + k + 1];
            R ax = csize<C, R>(x), ay = csize<C, R>(y), m = ax > ay ? ax : ay, r = 0;
            R cc = 1;
            C ss = {0, 0};
            if (m > 0) {
                r = m * root(ax / m * (ax / m) + ay / m * (ay / m));
                if (ax == 0)
                    cc = 0, ss = {y.re / r, -y.im / r};
                else {
                    cc = ax / r; // s = (x/|x|) conj(y) / r
                    C unit = {x.re / ax, x.im / ax}, yr = {y.re / r, -y.im / r};
                    ss = mul(unit, yr);
                }
            }
            SYNC;
            c[k] = cc;
            s[k] = ss;
            for (u32 j = k + LANE; j < n; j += 32) {
                C *p = h + (s64)j * ld + k;
                C u = p[0], v = p[1];
                p[0] = add(times(u, cc), mul(ss, v));
                p[1] = sub(times(v, cc), mul(conj(ss), u));
            }
            SYNC;
        }
        // R Q + shift, and z Q: a lane a row
        for (u32 k = l; k < e; k++) {
            R cc = c[k];
            C ss = s[k];
            u32 last = k + 1 < e ? k + 2 : e + 1;
            for (u32 i = LANE; i < last; i += 32) {
                C *p = h + (s64)k * ld + i;
                C u = p[0], v = p[ld];
                p[0] = add(times(u, cc), mul(conj(ss), v));
                p[ld] = sub(times(v, cc), mul(ss, u));
            }
            if (z)
                for (u32 i = LANE; i < n; i += 32) {
                    C *p = z + (s64)k * ld + i;
                    C u = p[0], v = p[ld];
                    p[0] = add(times(u, cc), mul(conj(ss), v));
                    p[ld] = sub(times(v, cc), mul(ss, u));
                }
            SYNC;
        }
        for (u32 i = l + LANE; i <= e; i += 32)
            h[(s64)i * (ld + 1)] = add(h[(s64)i * (ld + 1)], shift);
        // what lies above the part that is worked on sees no shift: rows above l were rotated only from the right
        SYNC;
    }
    return 0;
}
