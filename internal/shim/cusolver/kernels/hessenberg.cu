// One large matrix of any kind to a Hessenberg matrix: panels, between which the rest of the matrix is changed by products.
#include "rotate.h"

// prepare copies a, scaled, and tells the factor, NaN if there is an infinity or NaN, and the largest element.
template <class T, class R> __device__ void prepare(const T *a, s64 ld, u32 n, T *to, R *factor) {
    R largest = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32) {
            R s = size1(a[(s64)j * ld + i]);
            largest = s > largest || s != s ? s : largest;
        }
    largest = warpMax(largest);
    bool finite = largest * 0 == 0;
    R scale = largest > 0 && finite ? 1 / largest : 1;
    if (!(scale * 0 == 0))
        scale = 1 / least(R(0));
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32)
            to[(s64)j * n + i] = times(a[(s64)j * ld + i], scale);
    if (LANE == 0) {
        factor[0] = finite ? scale : largest - largest;
        factor[1] = largest * scale;
    }
}

// timesVector is y = A v, m × n: strips of 128 rows, so that columns are read in runs.
template <class T> __device__ void timesVector(const T *a, s64 ld, u32 m, u32 n, const T *v, T *y) {
    enum { RUN = 4 };
    u32 r = 0;
    for (; r + RUN * 32 <= m; r += RUN * 32) {
        T s[RUN];
#pragma unroll
        for (int k = 0; k < RUN; k++)
            s[k] = T{};
        const T *p = a + r + LANE;
        for (u32 j = 0; j < n; j++, p += ld) {
            T x = v[j];
#pragma unroll
            for (int k = 0; k < RUN; k++)
                s[k] = fma(p[k * 32], x, s[k]);
        }
#pragma unroll
        for (int k = 0; k < RUN; k++)
            y[r + k * 32 + LANE] = s[k];
    }
    for (; r < m; r += 32)
        if (r + LANE < m) {
            T s = T{};
            const T *p = a + r + LANE;
            for (u32 j = 0; j < n; j++, p += ld)
                s = fma(*p, v[j], s);
            y[r + LANE] = s;
        }
    SYNC;
}

// less takes the product of the first columns of x and factors off y.
template <class T, class F> __device__ inline void less(T *y, u32 m, u32 columns, const T *x, s64 ld, F factor) {
    for (u32 i = LANE; i < m; i += 32) {
        T s = {};
        const T *p = x + i;
        for (u32 c = 0; c < columns; c++, p += ld)
            s = fma(*p, factor(c), s);
        y[i] = sub(y[i], s);
    }
    SYNC;
}

// lahr2 makes k columns of a Hessenberg's, a being the first of them from the row below its diagonal on, m rows; the columns behind them
// are those that A's other ones begin with. V are the reflections with ones and zeros, H = I - V T V', and Y = A V T in these rows.
// few has room for k numbers. What is right of the panel stays: the caller takes Y V' off it and applies H' from the left.
template <class T> __device__ __attribute__((always_inline)) void lahr2(T *a, s64 ld, u32 m, u32 k, T *taus, T *v, T *t, s64 ldt, T *y, s64 ldy, T *few) {
    for (u32 j = 0; j < k; j++) {
        T *column = a + (s64)j * ld;
        if (j) {
            less(column, m, j, y, ldy, [&](u32 c) { return conj(v[(s64)c * m + j - 1]); }); // this column is row j - 1 of V'
            for (u32 c = 0; c < j; c++) {
                T s = dot(v + (s64)c * m, column, m);
                if (LANE == 0)
                    few[c] = s;
            }
            SYNC;
            for (u32 c = j; c-- > 0;) { // T' few, in place
                T s = {};
                for (u32 r = 0; r <= c; r++)
                    s = fma(conj(t[(s64)c * ldt + r]), few[r], s);
                SYNC;
                few[c] = s;
                SYNC;
            }
            less(column, m, j, v, m, [&](u32 c) { return few[c]; });
        }
        T *vj = v + (s64)j * m, tau = T{};
        if (j + 1 < m)
            tau = mirror(column + j, m - j);
        for (u32 i = LANE; i < m; i += 32)
            vj[i] = i < j ? T{} : i == j ? one<T>() : column[i];
        taus[j] = tau;
        SYNC;
        T *yj = y + (s64)j * ldy;
        timesVector(a + (s64)(j + 1) * ld, ld, m, m - j, vj + j, yj);
        for (u32 c = 0; c < j; c++) {
            T s = dot(v + (s64)c * m, vj, m);
            if (LANE == 0)
                few[c] = s;
        }
        SYNC;
        less(yj, m, j, y, ldy, [&](u32 c) { return few[c]; });
        for (u32 i = LANE; i < m; i += 32)
            yj[i] = mul(yj[i], tau);
        for (u32 r = 0; r < k; r++) {
            T s = {};
            for (u32 c = r; c < j; c++)
                s = fma(t[(s64)c * ldt + r], few[c], s);
            s = mul(s, tau);
            T now = sub(T{}, s);
            t[(s64)j * ldt + r] = r < j ? now : r == j ? tau : T{};
        }
        SYNC;
    }
}

#define HESSENBERG(name, T, R)                                                                                                 \
    KERNEL prepare_##name(const T *a, s64 ld, u32 n, T *to, R *factor) { prepare<T, R>(a, ld, n, to, factor); }                \
    KERNEL lahr2_##name(T *a, s64 ld, u32 m, u32 k, T *taus, T *v, T *t, s64 ldt, T *y, s64 ldy, T *few) {                     \
        lahr2<T>(a, ld, m, k, taus, v, t, ldt, y, ldy, few);                                                                   \
    }
HESSENBERG(f32, float, float)
HESSENBERG(f64, double, double)
HESSENBERG(c32, c32, float)
HESSENBERG(c64, c64, double)
