// Many small matrices: LU and what follows from it, and packed triangles. A warp has a matrix, its lanes rows; what is solved
// for has a lane a right-hand side.
#include "device.h"

#define SYNC __nvvm_bar_warp_sync(~0u)

enum { SMALL = 32, SMALL_LD = 33 }; // what matinv takes

// factor is LU in place. Pivots count from 1; none are taken if there is no place for them. Gives the first zero pivot, from 1.
template <class T> __device__ u32 factor(T *a, s64 ld, u32 n, int *pivots) {
    u32 bad = 0;
    for (u32 k = 0; k < n; k++) {
        T *column = a + (s64)k * ld;
        if (pivots) {
            auto best = size1(T{}) - 1;
            u32 p = k;
            for (u32 i = k + LANE; i < n; i += 32) {
                auto s = size1(column[i]);
                if (s > best) {
                    best = s;
                    p = i;
                }
            }
#pragma unroll
            for (int d = 16; d; d >>= 1) {
                auto b = other(best, d);
                u32 q = other(p, d);
                if (b > best || (b == best && q < p)) {
                    best = b;
                    p = q;
                }
            }
            if (LANE == 0)
                pivots[k] = (int)p + 1;
            if (p != k)
                for (u32 j = LANE; j < n; j += 32) {
                    T *x = a + (s64)j * ld;
                    T v = x[k];
                    x[k] = x[p];
                    x[p] = v;
                }
            SYNC;
        }
        T pivot = column[k];
        if (zero(pivot)) {
            bad = bad ? bad : k + 1;
            continue;
        }
        for (u32 i = k + 1 + LANE; i < n; i += 32)
            column[i] = div(column[i], pivot);
        SYNC;
        for (u32 j = k + 1; j < n; j++) {
            T *x = a + (s64)j * ld;
            T v = x[k];
            for (u32 i = k + 1 + LANE; i < n; i += 32)
                x[i] = sub(x[i], mul(column[i], v));
        }
        SYNC;
    }
    return bad;
}

template <class T> __device__ inline void exchange(T *x, u32 i, u32 j) {
    T v = x[i];
    x[i] = x[j];
    x[j] = v;
}

// forward solves P L U x = b in place.
template <class T> __device__ void forward(const T *a, s64 ld, u32 n, const int *pivots, T *x) {
    if (pivots)
        for (u32 k = 0; k < n; k++)
            exchange(x, k, pivots[k] - 1);
    for (u32 k = 0; k < n; k++)
        for (u32 i = k + 1; i < n; i++)
            x[i] = sub(x[i], mul(a[(s64)k * ld + i], x[k]));
    for (u32 k = n; k-- > 0;) {
        x[k] = div(x[k], a[(s64)k * ld + k]);
        for (u32 i = 0; i < k; i++)
            x[i] = sub(x[i], mul(a[(s64)k * ld + i], x[k]));
    }
}

// backward solves with the transpose, op 1, or the conjugate transpose, op 2.
template <class T> __device__ void backward(const T *a, s64 ld, u32 n, const int *pivots, T *x, u32 op) {
    for (u32 k = 0; k < n; k++) {
        T v = x[k];
        for (u32 i = 0; i < k; i++) {
            T c = a[(s64)k * ld + i];
            v = sub(v, mul(op == 2 ? conj(c) : c, x[i]));
        }
        T d = a[(s64)k * ld + k];
        x[k] = div(v, op == 2 ? conj(d) : d);
    }
    for (u32 k = n; k-- > 0;) {
        T v = x[k];
        for (u32 i = k + 1; i < n; i++) {
            T c = a[(s64)k * ld + i];
            v = sub(v, mul(op == 2 ? conj(c) : c, x[i]));
        }
        x[k] = v;
    }
    if (pivots)
        for (u32 k = n; k-- > 0;)
            exchange(x, k, pivots[k] - 1);
}

template <class T> __device__ void getrf(T **list, s64 ld, u32 n, int *pivots, int *info) {
    u32 bad = factor(list[BLOCK_X], ld, n, pivots ? pivots + (s64)BLOCK_X * n : pivots);
    if (LANE == 0)
        info[BLOCK_X] = (int)bad;
}

template <class T> __device__ void getrs(T **list, s64 ld, u32 n, const int *pivots, T **right, s64 ldb, u32 count, u32 op) {
    u32 j = BLOCK_Y * 32 + LANE;
    if (j >= count)
        return;
    T *x = right[BLOCK_X] + (s64)j * ldb;
    const int *p = pivots ? pivots + (s64)BLOCK_X * n : pivots;
    if (op == 0)
        forward(list[BLOCK_X], ld, n, p, x);
    else
        backward(list[BLOCK_X], ld, n, p, x, op);
}

// unit makes column j of the identity.
template <class T> __device__ inline void unit(T *x, u32 n, u32 j) {
    for (u32 i = 0; i < n; i++)
        set(x + i, i == j, 0);
}

// getri is the inverse, from LU, in another place. A zero on the diagonal of U is told and nothing computed.
template <class T> __device__ void getri(T **list, s64 ld, u32 n, const int *pivots, T **out, s64 ldc, int *info) {
    const T *a = list[BLOCK_X];
    u32 bad = 0, j = BLOCK_Y * 32 + LANE;
    for (u32 k = n; k-- > 0;)
        if (zero(a[(s64)k * (ld + 1)]))
            bad = k + 1;
    if (LANE == 0 && BLOCK_Y == 0)
        info[BLOCK_X] = (int)bad;
    if (bad || j >= n)
        return;
    T *x = out[BLOCK_X] + (s64)j * ldc;
    unit(x, n, j);
    forward(a, ld, n, pivots ? pivots + (s64)BLOCK_X * n : pivots, x);
}

// matinv is both for up to 32 rows; A stays.
template <class T> __device__ void matinv(T **list, s64 ld, u32 n, T **out, s64 ldc, int *info, T *s, int *pivots) {
    const T *a = list[BLOCK_X];
    for (u32 j = 0; j < n; j++)
        if (LANE < n)
            s[j * SMALL_LD + LANE] = a[(s64)j * ld + LANE];
    SYNC;
    u32 bad = factor(s, SMALL_LD, n, pivots);
    SYNC;
    if (LANE == 0)
        info[BLOCK_X] = (int)bad;
    if (bad || LANE >= n)
        return;
    T *x = out[BLOCK_X] + (s64)LANE * ldc;
    unit(x, n, LANE);
    forward(s, SMALL_LD, n, pivots, x);
}

// packed moves a triangle between a matrix and its columns one after the other.
template <class T> __device__ void packed(T *ap, T *a, s64 ld, u32 n, u32 upper, u32 out) {
    u32 row = BLOCK_X * 32 + LANE;
    for (u32 col = BLOCK_Y; col < n; col += __nvvm_read_ptx_sreg_nctaid_y()) {
        if (row >= n || (upper ? row > col : row < col))
            continue;
        T *p = ap + (upper ? row + (s64)col * (col + 1) / 2 : row + (s64)col * (2 * (s64)n - col - 1) / 2);
        T *q = a + (s64)col * ld + row;
        if (out)
            *p = *q;
        else
            *q = *p;
    }
}

#define LAPACK(name, T)                                                                                                        \
    KERNEL getrf_##name(T **list, s64 ld, u32 n, int *pivots, int *info) { getrf<T>(list, ld, n, pivots, info); }              \
    KERNEL getrs_##name(T **list, s64 ld, u32 n, const int *pivots, T **right, s64 ldb, u32 count, u32 op) {                   \
        getrs<T>(list, ld, n, pivots, right, ldb, count, op);                                                                  \
    }                                                                                                                          \
    KERNEL getri_##name(T **list, s64 ld, u32 n, const int *pivots, T **out, s64 ldc, int *info) {                             \
        getri<T>(list, ld, n, pivots, out, ldc, info);                                                                         \
    }                                                                                                                          \
    KERNEL matinv_##name(T **list, s64 ld, u32 n, T **out, s64 ldc, int *info) {                                               \
        __shared__ T s[SMALL * SMALL_LD];                                                                                      \
        __shared__ int pivots[SMALL];                                                                                          \
        matinv<T>(list, ld, n, out, ldc, info, s, pivots);                                                                     \
    }                                                                                                                          \
    KERNEL packed_##name(T *ap, T *a, s64 ld, u32 n, u32 upper, u32 out) { packed<T>(ap, a, ld, n, upper, out); }
LAPACK(f32, float)
LAPACK(f64, double)
LAPACK(c32, c32)
LAPACK(c64, c64)
