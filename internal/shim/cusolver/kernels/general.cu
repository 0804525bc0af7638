// Eigenvalues and right eigenvectors of matrices of any kind: reflections to an upper Hessenberg matrix, shifted QR with rotations to a
// triangle, back substitution. A warp has a matrix. Real ones are in real.cu.
#include "complex.h"
#include "hessenberg.h"

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
    u32 bad = schur<C, R>(h, v ? z : (C *)0, n, n, c, s);
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
