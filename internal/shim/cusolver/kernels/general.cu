// Eigenvalues and right eigenvectors of matrices of any kind: reflections to an upper Hessenberg matrix, shifted QR with rotations to a
// triangle, back substitution. A warp has a matrix. Real ones are in real.cu.
#include "hessenberg.h"

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
template <class C, class R> __device__ inline C shiftOf(const C *h, u32 n, u32 e) {
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
template <class C, class R> __device__ u32 schur(C *h, C *z, u32 n, R *c, C *s) {
    R eps = epsilon(R(0)), norm = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i <= j + 1 && i < n; i += 32) {
            R x = size1(h[(s64)j * n + i]);
            norm = x > norm ? x : norm;
        }
    norm = warpMax(norm);
    u32 end = n, tries = 0, left = 40 * n + 40;
    while (end > 1) {
        u32 e = end - 1, l = e;
        for (; l > 0; l--) {
            R near = size1(h[(s64)(l - 1) * (n + 1)]) + size1(h[(s64)l * (n + 1)]);
            if (near == 0)
                near = norm;
            R below = size1(h[(s64)(l - 1) * n + l]);
            if (below <= eps * near || below <= eps * eps * norm)
                break;
        }
        if (l > 0) {
            SYNC;
            h[(s64)(l - 1) * n + l] = {0, 0};
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
        C shift = shiftOf<C, R>(h, n, e);
        if (tries % 10 == 0) { // one that is not the matrix's, against cycles
            R x = size1(h[(s64)(e - 1) * n + e]);
            shift = {h[(s64)e * (n + 1)].re + x * (R)0.75, h[(s64)e * (n + 1)].im};
        }
        // H - shift = Q R: rotations from the left, a lane a column
        SYNC;
        for (u32 i = l + LANE; i <= e; i += 32)
            h[(s64)i * (n + 1)] = sub(h[(s64)i * (n + 1)], shift);
        SYNC;
        for (u32 k = l; k < e; k++) {
            C x = h[(s64)k * (n + 1)], y = h[(s64)k * n + k + 1];
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
                C *p = h + (s64)j * n + k;
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
                C *p = h + (s64)k * n + i;
                C u = p[0], v = p[n];
                p[0] = add(times(u, cc), mul(conj(ss), v));
                p[n] = sub(times(v, cc), mul(ss, u));
            }
            if (z)
                for (u32 i = LANE; i < n; i += 32) {
                    C *p = z + (s64)k * n + i;
                    C u = p[0], v = p[n];
                    p[0] = add(times(u, cc), mul(conj(ss), v));
                    p[n] = sub(times(v, cc), mul(ss, u));
                }
            SYNC;
        }
        for (u32 i = l + LANE; i <= e; i += 32)
            h[(s64)i * (n + 1)] = add(h[(s64)i * (n + 1)], shift);
        // what lies above the part that is worked on sees no shift: rows above l were rotated only from the right
        SYNC;
    }
    return 0;
}

// vectors solves (T - w) x = 0 for every value, and makes columns of length 1 of z x.
template <class C, class R> __device__ void vectors(const C *t, const C *z, u32 n, C *out, C *x) {
    R norm = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i <= j; i += 32) {
            R v = size1(t[(s64)j * n + i]);
            norm = v > norm ? v : norm;
        }
    norm = warpMax(norm);
    R tiny = epsilon(R(0)) * norm;
    if (tiny < least(R(0)))
        tiny = least(R(0));
    for (u32 k = 0; k < n; k++) {
        C w = t[(s64)k * (n + 1)];
        for (u32 i = LANE; i < k; i += 32) {
            C v = t[(s64)k * n + i];
            x[i] = {-v.re, -v.im};
        }
        SYNC;
        R scale = 1; // x[k], brought down where the others would overflow
        for (u32 j = k; j-- > 0;) {
            C d = sub(t[(s64)j * (n + 1)], w);
            if (size1(d) < tiny)
                d = {tiny, 0};
            C v = div(x[j], d);
            R big = size1(v), limit = sizeof(R) == 4 ? (R)0x1p50 : (R)0x1p300;
            R down = big > limit ? 1 / big : 1;
            SYNC;
            if (down != 1) {
                for (u32 i = LANE; i < k; i += 32)
                    x[i] = times(x[i], down);
                v = times(v, down);
                scale *= down;
                SYNC;
            }
            for (u32 i = LANE; i < j; i += 32)
                x[i] = sub(x[i], mul(t[(s64)j * n + i], v));
            if (LANE == 0)
                x[j] = v;
            SYNC;
        }
        R largest = 0;
        for (u32 i = LANE; i < n; i += 32) {
            C sum = times(z[(s64)k * n + i], scale);
            for (u32 j = 0; j < k; j++)
                sum = fma(z[(s64)j * n + i], x[j], sum);
            out[(s64)k * n + i] = sum;
            R a = size1(sum);
            largest = a > largest ? a : largest;
        }
        largest = warpMax(largest);
        R total = 0;
        for (u32 i = LANE; i < n; i += 32) {
            C v = times(out[(s64)k * n + i], 1 / largest);
            total += norm2(v);
            out[(s64)k * n + i] = v;
        }
        total = 1 / root(warpSum(total));
        for (u32 i = LANE; i < n; i += 32)
            out[(s64)k * n + i] = times(out[(s64)k * n + i], total);
        SYNC;
    }
}

template <class T, class C, class R> __device__ void geev(const T *a, s64 ld, u32 n, C *w, C *v, s64 ldv, C *work, int *info) {
    C *h = work, *z = h + (s64)n * n, *out = z + (s64)n * n, *x = out + (s64)n * n, *s = x + n;
    R *c = (R *)(s + n);
    R largest = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32) {
            T e = a[(s64)j * ld + i];
            h[(s64)j * n + i] = {re(e), im(e)};
            R m = size1(e);
            largest = m > largest || m != m ? m : largest;
        }
    largest = warpMax(largest);
    if (!(largest * 0 == 0)) {
        for (u32 i = LANE; i < n; i += 32)
            w[i] = {largest - largest, largest - largest};
        if (LANE == 0)
            *info = (int)n;
        return;
    }
    R scale = largest > 0 ? 1 / largest : 1;
    if (!(scale * 0 == 0))
        scale = 1 / least(R(0));
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32)
            h[(s64)j * n + i] = times(h[(s64)j * n + i], scale);
    SYNC;
    hessenberg(h, z, n);
    u32 bad = schur<C, R>(h, v ? z : (C *)0, n, c, s);
    for (u32 i = LANE; i < n; i += 32)
        w[i] = times(h[(s64)i * (n + 1)], 1 / scale);
    if (v && !bad) {
        vectors<C, R>(h, z, n, out, x);
        for (u32 j = 0; j < n; j++)
            for (u32 i = LANE; i < n; i += 32)
                v[(s64)j * ldv + i] = out[(s64)j * n + i];
    }
    if (LANE == 0)
        *info = (int)bad;
}

#define GENERAL(name, T, R)                                                                                                    \
    KERNEL geev_##name(const T *a, s64 ld, u32 n, T *w, T *v, s64 ldv, T *work, int *info) {                                   \
        geev<T, T, R>(a, ld, n, w, v, ldv, work, info);                                                                        \
    }
GENERAL(c32, c32, float)
GENERAL(c64, c64, double)
