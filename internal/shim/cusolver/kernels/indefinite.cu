// Symmetric matrices that are not definite: L D L' with blocks of one and two on the diagonal of D, by Bunch and Kaufman. A warp has
// a matrix. An upper triangle is a lower one read from its end. H: the matrix is Hermitian, and ' the conjugate transpose.
#include "solver.h"

// Tri is a triangle as a lower one: `rs` and `cs` are the steps between rows and columns.
template <class T> struct Tri {
    T *p;
    s64 rs, cs;
    __device__ T &operator()(u32 i, u32 j) const { return p[(s64)i * rs + (s64)j * cs]; }
};
template <class T> __device__ inline Tri<T> lowerOf(T *a, s64 ld, u32 n, u32 upper) {
    if (upper)
        return {a + (s64)(n - 1) * (ld + 1), -1, -ld};
    return {a, 1, ld};
}

struct Rows {
    u64 at;
    u32 wide, upper;
};
// Rows are numbered from 1 in the matrix as it is; negative: of a block of two.
__device__ inline void setRow(const Rows &r, u32 n, u32 k, u32 to, bool two) {
    s64 v = r.upper ? n - to : to + 1;
    u32 at = r.upper ? n - 1 - k : k;
    v = two ? -v : v;
    if (r.wide)
        ((s64 *)r.at)[at] = v;
    else
        ((int *)r.at)[at] = (int)v;
}
__device__ inline u32 rowAt(const Rows &r, u32 n, u32 k, bool *two) {
    u32 at = r.upper ? n - 1 - k : k;
    s64 v = r.wide ? ((const s64 *)r.at)[at] : (s64)((const int *)r.at)[at];
    *two = v < 0;
    v = v < 0 ? -v : v;
    return (u32)(r.upper ? n - v : v - 1);
}

template <class T> __device__ inline void swap(T &a, T &b) {
    T v = a;
    a = b;
    b = v;
}

// cj conjugates, and pure leaves the imaginary part out, of Hermitian matrices.
template <bool H, class T> __device__ inline T cj(T v) { return H ? conj(v) : v; }
template <bool H> __device__ inline float pure(float v) { return v; }
template <bool H> __device__ inline double pure(double v) { return v; }
template <bool H> __device__ inline c32 pure(c32 v) { return {v.re, H ? 0 : v.im}; }
template <bool H> __device__ inline c64 pure(c64 v) { return {v.re, H ? 0 : v.im}; }

// largest is the largest of the lanes' numbers, and the first place that has it.
template <class R> __device__ inline R largest(R best, u32 *at) {
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        R b = other(best, d);
        u32 q = other(*at, d);
        if (b > best || (b == best && q < *at)) {
            best = b;
            *at = q;
        }
    }
    return best;
}

template <class T, class R, bool H> __device__ __attribute__((always_inline)) void sytf2(T *base, s64 ld, u32 n, Rows rows, int *info) {
    Tri<T> a = lowerOf(base, ld, n, rows.upper);
    const R alpha = (R)0.6403882032022076;
    u32 bad = 0;
    for (u32 k = 0; k < n;) {
        R own = size1(pure<H>(a(k, k))), most = 0;
        u32 imax = ~0u;
        for (u32 i = k + 1 + LANE; i < n; i += 32) {
            R s = size1(a(i, k));
            if (s > most) {
                most = s;
                imax = i;
            }
        }
        most = largest(most, &imax);
        u32 kp = k, step = 1;
        bool none = !(own > 0 || most > 0);
        if (none) {
            if (!bad)
                bad = k + 1;
        } else if (rows.at && !(own >= alpha * most)) {
            R across = 0;
            u32 unused = 0;
            for (u32 j = k + LANE; j < n; j += 32) {
                R s = j == imax ? 0 : size1(j < imax ? a(imax, j) : a(j, imax));
                across = s > across ? s : across;
            }
            across = largest(across, &unused);
            if (own >= alpha * most * (most / across))
                kp = k;
            else if (size1(pure<H>(a(imax, imax))) >= alpha * across)
                kp = imax;
            else {
                kp = imax;
                step = 2;
            }
        }
        u32 kk = k + step - 1;
        SYNC;
        if (kp != kk) {
            for (u32 i = kp + 1 + LANE; i < n; i += 32)
                swap(a(i, kk), a(i, kp));
            for (u32 i = kk + 1 + LANE; i < kp; i += 32) {
                T v = cj<H>(a(i, kk));
                a(i, kk) = cj<H>(a(kp, i));
                a(kp, i) = v;
            }
            if (LANE == 0) {
                a(kp, kk) = cj<H>(a(kp, kk));
                swap(a(kk, kk), a(kp, kp));
                if (step == 2)
                    swap(a(k + 1, k), a(kp, k));
            }
            SYNC;
        }
        if (H && LANE == 0) {
            a(k, k) = pure<H>(a(k, k));
            a(kk, kk) = pure<H>(a(kk, kk));
        }
        SYNC;
        if (step == 1 && !none) {
            T r = div(one<T>(), a(k, k));
            for (u32 j = k + 1; j < n; j++) {
                T v = mul(r, cj<H>(a(j, k)));
                for (u32 i = j + LANE; i < n; i += 32)
                    a(i, j) = sub(a(i, j), mul(a(i, k), v));
            }
            SYNC;
            for (u32 i = k + 1 + LANE; i < n; i += 32)
                a(i, k) = mul(a(i, k), r);
        } else if (step == 2) {
            // W = X inv(D) of rows (x, y), D = [a c'; c b]
            T d21 = a(k + 1, k), d12 = cj<H>(d21), d11 = div(a(k + 1, k + 1), d21), d22 = div(a(k, k), d12);
            T t = div(one<T>(), sub(mul(d11, d22), one<T>()));
            d21 = div(t, d21);
            d12 = div(t, d12);
            for (u32 j = k + 2; j < n; j++) {
                T x = a(j, k), y = a(j, k + 1);
                T wk = mul(d12, sub(mul(d11, x), y)), wk1 = mul(d21, sub(mul(d22, y), x));
                for (u32 i = j + LANE; i < n; i += 32)
                    a(i, j) = sub(sub(a(i, j), mul(a(i, k), cj<H>(wk))), mul(a(i, k + 1), cj<H>(wk1)));
                SYNC;
                if (LANE == 0) {
                    a(j, k) = wk;
                    a(j, k + 1) = wk1;
                }
                SYNC;
            }
        }
        SYNC;
        if (LANE == 0 && rows.at) {
            setRow(rows, n, k, kp, step == 2);
            if (step == 2)
                setRow(rows, n, k + 1, kp, true);
        }
        k += step;
    }
    if (LANE == 0)
        *info = (int)(bad && rows.upper ? n + 1 - bad : bad);
}

// sytrs solves with it, a lane a right-hand side.
template <class T, bool H> __device__ void sytrs(const T *base, s64 ld, u32 n, Rows rows, T *right, s64 ldb, u32 count) {
    Tri<const T> a = lowerOf(base, ld, n, rows.upper);
    u32 c = BLOCK_X * 32 + LANE;
    if (c >= count)
        return;
    T *column = right + (s64)c * ldb;
    struct {
        T *p;
        s64 s;
        __device__ T &operator()(u32 i) const { return p[(s64)i * s]; }
    } b = {rows.upper ? column + n - 1 : column, rows.upper ? -1 : 1};
    for (u32 k = 0; k < n;) {
        bool two = false;
        u32 kp = rows.at ? rowAt(rows, n, k, &two) : k;
        if (!two) {
            swap(b(k), b(kp));
            T v = b(k);
            for (u32 i = k + 1; i < n; i++)
                b(i) = sub(b(i), mul(a(i, k), v));
            b(k) = div(v, a(k, k));
            k++;
            continue;
        }
        swap(b(k + 1), b(kp));
        T v = b(k), w = b(k + 1);
        for (u32 i = k + 2; i < n; i++)
            b(i) = sub(sub(b(i), mul(a(i, k), v)), mul(a(i, k + 1), w));
        T off = a(k + 1, k), d1 = div(a(k, k), cj<H>(off)), d2 = div(a(k + 1, k + 1), off);
        T denom = sub(mul(d1, d2), one<T>());
        v = div(v, cj<H>(off));
        w = div(w, off);
        b(k) = div(sub(mul(d2, v), w), denom);
        b(k + 1) = div(sub(mul(d1, w), v), denom);
        k += 2;
    }
    for (u32 k = n; k-- > 0;) {
        bool two = false;
        u32 kp = rows.at ? rowAt(rows, n, k, &two) : k;
        T v = b(k);
        for (u32 i = k + 1; i < n; i++)
            v = sub(v, mul(cj<H>(a(i, k)), b(i)));
        if (two) {
            T w = b(k - 1);
            for (u32 i = k + 1; i < n; i++)
                w = sub(w, mul(cj<H>(a(i, k - 1)), b(i)));
            b(k - 1) = w;
        }
        b(k) = v;
        swap(b(k), b(kp));
        if (two)
            k--;
    }
}

// sytriInfo tells the pivot that is zero, as LAPACK looks for it: blocks of one only, and of an upper triangle the last.
template <class T> __device__ void sytriInfo(const T *a, s64 ld, u32 n, Rows rows, int *info) {
    u32 first = ~0u; // as a lower triangle from its beginning
    for (u32 k = LANE; k < n; k += 32) {
        bool two = false;
        if (rows.at)
            rowAt(rows, n, k, &two);
        u32 at = rows.upper ? n - 1 - k : k;
        if (!two && zero(a[(s64)at * (ld + 1)]) && k < first)
            first = k;
    }
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        u32 o = other(first, d);
        first = o < first ? o : first;
    }
    if (LANE == 0)
        *info = first == ~0u ? 0 : (int)(rows.upper ? n - first : first + 1);
}

#define INDEFINITE(name, T, R)                                                                                                 \
    KERNEL sytf2_##name(T *a, s64 ld, u32 n, Rows rows, int *info) { sytf2<T, R, false>(a, ld, n, rows, info); }               \
    KERNEL sytrs_##name(const T *a, s64 ld, u32 n, Rows rows, T *b, s64 ldb, u32 count) {                                      \
        sytrs<T, false>(a, ld, n, rows, b, ldb, count);                                                                        \
    }                                                                                                                          \
    KERNEL sytri_##name(const T *a, s64 ld, u32 n, Rows rows, int *info) { sytriInfo<T>(a, ld, n, rows, info); }
INDEFINITE(f32, float, float)
INDEFINITE(f64, double, double)
INDEFINITE(c32, c32, float)
INDEFINITE(c64, c64, double)

#define HERMITIAN(name, T, R)                                                                                                  \
    KERNEL hetf2_##name(T *a, s64 ld, u32 n, Rows rows, int *info) { sytf2<T, R, true>(a, ld, n, rows, info); }                \
    KERNEL hetrs_##name(const T *a, s64 ld, u32 n, Rows rows, T *b, s64 ldb, u32 count) {                                      \
        sytrs<T, true>(a, ld, n, rows, b, ldb, count);                                                                         \
    }
HERMITIAN(c32, c32, float)
HERMITIAN(c64, c64, double)
