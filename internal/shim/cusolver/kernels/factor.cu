// Panels of Cholesky and QR, kernels of LU, and small things around them.
#include "lu.h"
#include "tile.h"

// Step is how many columns of a Cholesky leaf, or products of columns, are made together: their sums stay in registers.
template <class T> struct Step {
    enum { COUNT = sizeof(T) == 16 ? 2 : 4 };
};

// cholesky factors a leaf, some columns at a time: what the columns before take off them is summed in registers. It
// returns 1 + the column that cannot be, or 0. Lanes above the diagonal compute what nobody reads.
template <class T> __device__ __attribute__((always_inline)) u32 cholesky(const Tile<T> &s, u32 n) {
    typedef typename Real<T>::type R;
    enum { STEP = Step<T>::COUNT };
    for (u32 j = 0; j < n; j += STEP) {
        T sum[STEP] = {};
#pragma unroll 1
        for (u32 k = 0; k < j; k++) {
            T v = s.get(LANE, k);
#pragma unroll
            for (u32 q = 0; q < STEP; q++)
                sum[q] = fma(conj(s.get(j + q, k)), v, sum[q]);
        }
#pragma unroll
        for (u32 q = 0; q < STEP; q++) {
            T c = sub(s.get(LANE, j + q), sum[q]);
            s.put(LANE, j + q, c);
            SYNC;
            R d = re(s.get(j + q, j + q));
            if (j + q < n && !(d > 0))
                return j + q + 1;
            d = root(d);
            c = times(c, 1 / d);
            if (LANE == j + q)
                make(&c, d, 0);
            SYNC;
            s.put(LANE, j + q, c);
            SYNC;
#pragma unroll
            for (u32 p = q + 1; p < STEP; p++)
                sum[p] = fma(conj(s.get(j + p, j + q)), c, sum[p]);
        }
    }
    return 0;
}

enum { TINY = 8 }; // rows of a leaf for which a warp is too wide

// choleskyFew is cholesky of at most TINY rows where they lie, element by element: every lane computes the same (luFew).
template <class T> __device__ __attribute__((always_inline)) u32 choleskyFew(T *a, s64 ld, u32 n, u32 upper) {
    typedef typename Real<T>::type R;
    s64 down = upper ? ld : 1, right = upper ? 1 : ld; // the upper factor is the lower one's conjugate transpose
#pragma unroll 1
    for (u32 j = 0; j < n; j++) {
        T *row = a + (s64)j * down;
        R d = 0, scale = 0;
#pragma unroll 1
        for (u32 i = j; i < n; i++) {
            T *x = a + (s64)i * down, sum = {};
#pragma unroll 1
            for (u32 k = 0; k < j; k++) {
                T l = x[(s64)k * right], r = row[(s64)k * right];
                sum = upper ? fma(conj(l), r, sum) : fma(conj(r), l, sum);
            }
            T c = upper ? sub(conj(x[(s64)j * right]), sum) : sub(x[(s64)j * right], sum);
            if (i == j) {
                d = re(c);
                if (!(d > 0)) {
                    x[(s64)j * right] = first(upper ? conj(c) : c);
                    return j + 1;
                }
                d = root(d);
                scale = 1 / d;
                make(&c, d, 0);
            } else
                c = times(c, scale);
            x[(s64)j * right] = first(upper ? conj(c) : c);
        }
    }
    return 0;
}

// potf2 is Cholesky of up to 32 rows, in shared memory and as a lower triangle. Once info is set nothing more is
// computed.
template <class T> __device__ __attribute__((always_inline)) void potf2(View x, u32 n, u32 upper, int *info, u32 at, typename Real<T>::type *memory) {
    T *a = matrix<T>(x, BLOCK_X);
    Tile<T> s = {memory};
    info += BLOCK_X;
    if (at == 0) {
        if (LANE == 0)
            *info = 0;
    } else if (*info)
        return;
    if (n <= TINY) {
        u32 bad = choleskyFew(a, x.ld, n, upper);
        if (bad && LANE == 0)
            *info = (int)(at + bad);
        return;
    }
    u32 all = (n + Step<T>::COUNT - 1) / Step<T>::COUNT * Step<T>::COUNT;
    for (u32 j = 0; j < all; j++) {
        T v = {};
        if (LANE >= j && LANE < n)
            v = upper ? conj(a[(s64)LANE * x.ld + j]) : a[(s64)j * x.ld + LANE];
        s.put(LANE, j, v);
    }
    SYNC;
    u32 bad = cholesky(s, n);
    SYNC;
    for (u32 j = 0; j < n; j++)
        if (LANE >= j && LANE < n) {
            T v = s.get(LANE, j);
            if (upper)
                a[(s64)LANE * x.ld + j] = conj(v);
            else
                a[(s64)j * x.ld + LANE] = v;
        }
    if (bad && LANE == 0)
        *info = (int)(at + bad);
}

// geqr2 is QR of a panel, or of a whole matrix, which has an info.
template <class T> __device__ __attribute__((always_inline)) void geqr2(T *a, s64 ld, u32 m, u32 n, T *taus, int *info) {
    if (LANE == 0 && info)
        *info = 0;
#pragma unroll 1
    for (u32 k = 0; k < m && k < n; k++) {
        T *x = a + (s64)k * ld;
        T tau = mirrorAt(x, k, m);
        if (LANE == 0)
            taus[k] = tau;
        reflectAt(x, k, m, conj(tau), x + ld, ld, n - 1 - k);
    }
}

// org2rFew is org2r of at most FEWEST rows, element by element: every lane computes the same (luFew).
enum { FEWEST = 8 };
template <class T> __device__ __attribute__((always_inline)) void org2rFew(T *a, s64 ld, u32 m, u32 n, u32 k, const T *taus) {
#pragma unroll 1
    for (u32 j = k; j-- > 0;) {
        T *x = a + (s64)j * ld, tau = taus[j], minus = sub(T{}, tau);
#pragma unroll 1
        for (u32 c = zero(tau) ? n : j + 1; c < n; c++) {
            T *y = a + (s64)c * ld, w = y[j], head = w;
#pragma unroll 1
            for (u32 i = j + 1; i < m; i++)
                w = fma(conj(x[i]), y[i], w);
            w = mul(minus, w);
            y[j] = first(add(head, w));
#pragma unroll 1
            for (u32 i = j + 1; i < m; i++)
                y[i] = first(fma(w, x[i], y[i]));
        }
#pragma unroll 1
        for (u32 i = 0; i < m; i++) {
            T v = mul(minus, x[i]);
            v = i < j ? T{} : i == j ? add(one<T>(), minus) : v;
            x[i] = first(v);
        }
    }
}

// org2r makes n columns of Q, of k reflections, in their place: the last first.
template <class T> __device__ __attribute__((always_inline)) void org2r(T *a, s64 ld, u32 m, u32 n, u32 k, const T *taus, int *info) {
    for (u32 j = k; j < n; j++)
        for (u32 i = LANE; i < m; i += 32)
            a[(s64)j * ld + i] = i == j ? one<T>() : T{};
    SYNC;
    if (m <= FEWEST) {
        org2rFew(a, ld, m, n, k, taus);
        k = 0;
    }
#pragma unroll 1
    for (u32 j = k; j-- > 0;) {
        T *x = a + (s64)j * ld, tau = taus[j], minus = sub(T{}, tau);
        reflectAt(x, j, m, tau, x + ld, ld, n - 1 - j);
        for (u32 i = LANE; i < m; i += 32) {
            T v = mul(minus, x[i]);
            x[i] = i < j ? T{} : i == j ? add(one<T>(), minus) : v;
        }
        SYNC;
    }
    if (LANE == 0 && info)
        *info = 0;
}

// larft copies k reflections of m rows out, ones and zeros written, and makes the triangle T of I - V T V' = H1 … Hk.
template <class T> __device__ __attribute__((always_inline)) void larft(const T *a, s64 ld, u32 m, u32 k, const T *taus, T *v, T *t, s64 ldt) {
    enum { DOTS = Step<T>::COUNT };
    for (u32 j = 0; j < k; j++)
        for (u32 i = LANE; i < m; i += 32) {
            T e = {};
            v[(s64)j * m + i] = i < j ? e : i == j ? one<T>() : a[(s64)j * ld + i];
        }
    SYNC;
#pragma unroll 1
    for (u32 j = 0; j < k; j++) {
        const T *x = v + (s64)j * m + LANE;
        T tau = taus[j];
        T mine = {}; // lane i < j: -tau V(:,i)' x
#pragma unroll 1
        for (u32 i = 0; i < j; i += DOTS) {
            T w[DOTS] = {};
            const T *y[DOTS];
#pragma unroll
            for (u32 q = 0; q < DOTS; q++)
                y[q] = v + (s64)(i + q < k ? i + q : i) * m + LANE;
            eachRow(j, m, [&](u32 r) {
                T at = conj(x[r]); // one negation for all: sums are conjugated instead
#pragma unroll
                for (u32 q = 0; q < DOTS; q++)
                    w[q] = fma(y[q][r], at, w[q]);
            });
#pragma unroll
            for (u32 q = 0; q < DOTS; q++)
                w[q] = conj(sumOf(w[q]));
#pragma unroll
            for (u32 q = 0; q < DOTS; q++)
                if (LANE == i + q)
                    mine = sub(T{}, mul(tau, w[q]));
        }
        if (LANE < k)
            t[(s64)j * ldt + LANE] = LANE < j ? mine : LANE == j ? tau : T{};
        SYNC;
        T sum = {};
        for (u32 i = 0; i < j; i++) // T(0:j,0:j) times it
            if (LANE <= i)
                sum = fma(t[(s64)i * ldt + LANE], t[(s64)j * ldt + i], sum);
        SYNC;
        if (LANE < j)
            t[(s64)j * ldt + LANE] = sum;
        SYNC;
    }
}

// eye writes zeros, and ones from row `diag` of the first column on, to columns.
template <class T> __device__ void eye(View x, u32 m, u32 n, s64 diag) {
    T *a = matrix<T>(x, BLOCK_Z);
    for (u32 j = BLOCK_Y; j < n; j += __nvvm_read_ptx_sreg_nctaid_y())
        for (u32 i = BLOCK_X * 32 + LANE; i < m; i += BLOCKS_X * 32) {
            T v = {};
            a[(s64)j * x.ld + i] = (s64)i == (s64)j + diag ? one<T>() : v;
        }
}

// copy moves a matrix, or a triangle of it: 0 all, 1 lower, 2 upper; 4: conjugated and transposed; 8: from its end.
template <class T> __device__ void copy(View from, View to, u32 m, u32 n, u32 part) {
    const T *a = matrix<const T>(from, BLOCK_Z);
    T *b = matrix<T>(to, BLOCK_Z);
    for (u32 j = BLOCK_Y; j < n; j += __nvvm_read_ptx_sreg_nctaid_y())
        for (u32 i = BLOCK_X * 32 + LANE; i < m; i += BLOCKS_X * 32)
            if ((part & 3) == 0 || ((part & 3) == 1 ? i >= j : i <= j))
                b[(s64)j * to.ld + i] = part & 8 ? a[(s64)(n - 1 - j) * from.ld + m - 1 - i] : part & 4 ? conj(a[(s64)i * from.ld + j]) : a[(s64)j * from.ld + i];
}

// checkDiagonal tells the first zero on a diagonal.
template <class T> __device__ void checkDiagonal(View x, u32 n, int *info) {
    const T *a = matrix<const T>(x, BLOCK_X);
    u32 bad = ~0u;
    for (u32 i = LANE; i < n; i += 32)
        if (zero(a[(s64)i * (x.ld + 1)]) && i < bad)
            bad = i;
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        u32 o = other(bad, d);
        bad = o < bad ? o : bad;
    }
    if (LANE == 0)
        info[BLOCK_X] = (int)(bad + 1);
}

// realDiagonal leaves the real parts of a diagonal.
template <class T> __device__ void realDiagonal(View x, u32 n) {
    T *a = matrix<T>(x, 0);
    for (u32 i = BLOCK_X * 32 + LANE; i < n; i += BLOCKS_X * 32)
        a[(s64)i * (x.ld + 1)] = real(a[(s64)i * (x.ld + 1)]);
}
KERNEL realDiagonal_c32(View x, u32 n) { realDiagonal<c32>(x, n); }
KERNEL realDiagonal_c64(View x, u32 n) { realDiagonal<c64>(x, n); }

// fill writes the triangle that is not stored, so that both are there.
template <class T> __device__ void fill(View x, u32 n, u32 upper) {
    T *a = matrix<T>(x, BLOCK_Z);
    for (u32 j = BLOCK_Y; j < n; j += __nvvm_read_ptx_sreg_nctaid_y())
        for (u32 i = BLOCK_X * 32 + LANE; i < n; i += BLOCKS_X * 32)
            if (i >= j) {
                T *low = a + (s64)j * x.ld + i, *high = a + (s64)i * x.ld + j;
                T v = upper ? conj(*high) : *low;
                if (i == j)
                    *low = real(v);
                else if (upper)
                    *low = v;
                else
                    *high = conj(v);
            }
}

// laterInfo: what an earlier step told counts, n beyond it.
KERNEL laterInfo(int *info, const int *before, u32 n) {
    if (LANE == 0 && *before)
        *info = *before + (int)n;
}

KERNEL setInfo(int *info, int v, u32 n) {
    for (u32 i = BLOCK_X * 32 + LANE; i < n; i += BLOCKS_X * 32)
        info[i] = v;
}

#define FACTOR(name, T)                                                                                                        \
    KERNEL potf2_##name(View x, u32 n, u32 upper, int *info, u32 at) {                                                         \
        __shared__ Real<T>::type s[SIDE * SIDE * (sizeof(T) / sizeof(Real<T>::type))];                                         \
        potf2<T>(x, n, upper, info, at, s);                                                                                    \
    }                                                                                                                          \
    KERNEL getf2_##name(T *a, s64 ld, u32 m, u32 n, Pivots pivots, int *info, u32 at) {                                        \
        getf2<T>(a, ld, m, n, pivots, info, at);                                                                               \
    }                                                                                                                          \
    KERNEL laswp_##name(T *a, s64 ld, u32 n, u32 k1, u32 k2, Pivots pivots, u32 base, s64 step) {                              \
        __shared__ u32 rows[32];                                                                                               \
        laswp<T>(a, ld, n, k1, k2, pivots, base, step, rows);                                                                  \
    }                                                                                                                          \
    KERNEL geqr2_##name(T *a, s64 ld, u32 m, u32 n, T *taus, int *info) { geqr2<T>(a, ld, m, n, taus, info); }                 \
    KERNEL org2r_##name(T *a, s64 ld, u32 m, u32 n, u32 k, const T *taus, int *info) {                                         \
        org2r<T>(a, ld, m, n, k, taus, info);                                                                                  \
    }                                                                                                                          \
    KERNEL larft_##name(const T *a, s64 ld, u32 m, u32 k, const T *taus, T *v, T *t, s64 ldt) {                                \
        larft<T>(a, ld, m, k, taus, v, t, ldt);                                                                                \
    }                                                                                                                          \
    KERNEL eye_##name(View x, u32 m, u32 n, s64 diag) { eye<T>(x, m, n, diag); }                                               \
    KERNEL copy_##name(View from, View to, u32 m, u32 n, u32 part) { copy<T>(from, to, m, n, part); }                          \
    KERNEL fill_##name(View x, u32 n, u32 upper) { fill<T>(x, n, upper); }                                                     \
    KERNEL diagonal_##name(View x, u32 n, int *info) { checkDiagonal<T>(x, n, info); }
FACTOR(f32, float)
FACTOR(f64, double)
FACTOR(c32, c32)
FACTOR(c64, c64)
