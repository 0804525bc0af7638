// Singular values and vectors by one-sided Jacobi: columns are rotated in pairs until all are orthogonal. A warp has a matrix.
#include "solver.h"

// Out is where a side's vectors go: columns of them, none if 0; conjugated and transposed if `turned`.
struct Out {
    View to;
    u32 columns, turned;
};

template <class T> __device__ inline void put(const Out &o, u32 row, u32 col, T v) {
    T *p = matrix<T>(o.to, BLOCK_X);
    if (o.turned)
        p[(s64)row * o.to.ld + col] = conj(v);
    else
        p[(s64)col * o.to.ld + row] = v;
}

// rotate makes columns x and y orthogonal: y is turned by a phase first, so that their product is real.
template <class T, class R> __device__ inline void rotate(T *x, T *y, u32 n, R c, R s, T phase) {
    for (u32 i = LANE; i < n; i += 32) {
        T a = x[i], b = mul(y[i], phase);
        x[i] = sub(times(a, c), times(b, s));
        y[i] = add(times(a, s), times(b, c));
    }
}

template <class T, class R> __device__ inline R columnNorm2(const T *x, u32 n) {
    R s = 0;
    for (u32 i = LANE; i < n; i += 32)
        s += norm2(x[i]);
    return warpSum(s);
}

// length is |a|, without squares that underflow.
template <class T> __device__ inline typename Real<T>::type length(T a) {
    auto x = size(re(a)), y = size(im(a)), m = x > y ? x : y;
    if (y == 0 || m == 0)
        return m;
    x /= m;
    y /= m;
    return m * root(x * x + y * y);
}

// sweep goes over all pairs once, and gives how many it turned.
template <class T, class R> __device__ u32 sweep(T *g, u32 p, u32 q, T *v, R *norms, R tol, R cut) {
    for (u32 j = 0; j < q; j++) {
        R s = columnNorm2<T, R>(g + (s64)j * p, p);
        SYNC;
        norms[j] = s;
    }
    SYNC;
    u32 turned = 0;
    for (u32 i = 0; i + 1 < q; i++)
        for (u32 j = i + 1; j < q; j++) {
            T *x = g + (s64)i * p, *y = g + (s64)j * p;
            R alpha = norms[i], beta = norms[j];
            if (!(alpha > cut * cut && beta > cut * cut))
                continue;
            T dot = {};
            for (u32 r = LANE; r < p; r += 32)
                dot = fma(conj(x[r]), y[r], dot);
            dot = warpSum(dot);
            R gamma = length(dot);
            if (!(gamma > tol * root(alpha) * root(beta)))
                continue;
            turned++;
            R zeta = (beta - alpha) / (2 * gamma), az = size(zeta);
            R t = 1 / (az + root(1 + az * az));
            t = az > 0x1p60 ? 1 / (2 * az) : t;
            t = zeta < 0 ? -t : t;
            R c = 1 / root(1 + t * t), s = c * t;
            T phase;
            make(&phase, re(dot) / gamma, -im(dot) / gamma);
            rotate(x, y, p, c, s, phase);
            rotate(v + (s64)i * q, v + (s64)j * q, q, c, s, phase);
            R na = alpha - t * gamma, nb = beta + t * gamma;
            SYNC;
            norms[i] = na < 0 ? 0 : na;
            norms[j] = nb < 0 ? 0 : nb;
            SYNC;
        }
    return turned;
}

// leftOver is |U' A V - S| where columns of U have become the columns of g of length 1.
template <class T, class R> __device__ R leftOver(const T *g, u32 p, u32 q, const R *norms, R cut) {
    R sum = 0;
    for (u32 i = 0; i + 1 < q; i++)
        for (u32 j = i + 1; j < q; j++) {
            T dot = {};
            for (u32 r = LANE; r < p; r += 32)
                dot = fma(conj(g[(s64)i * p + r]), g[(s64)j * p + r], dot);
            R gamma = length(warpSum(dot)), a = norms[i] > cut ? gamma / norms[i] : 0, b = norms[j] > cut ? gamma / norms[j] : 0;
            sum += a * a + b * b;
        }
    return root(sum);
}

// complete writes a unit vector to column k of g that is orthogonal to the columns `done` says: those before it in order.
template <class T, class R> __device__ void complete(T *g, u32 p, u32 k, const u32 *order, u32 done, u32 *next) {
    T *x = g + (s64)k * p;
    for (u32 tries = 0; tries < p; tries++) {
        u32 unit = (*next + tries) % p;
        for (u32 i = LANE; i < p; i += 32)
            set(x + i, i == unit, 0);
        SYNC;
        for (u32 pass = 0; pass < 2; pass++)
            for (u32 j = 0; j < done; j++) {
                const T *y = g + (s64)(order ? order[j] : j) * p;
                T dot = {};
                for (u32 i = LANE; i < p; i += 32)
                    dot = fma(conj(y[i]), x[i], dot);
                dot = warpSum(dot);
                for (u32 i = LANE; i < p; i += 32)
                    x[i] = sub(x[i], mul(y[i], dot));
            }
        SYNC;
        R s = columnNorm2<T, R>(x, p);
        if (s * 2 * (R)p >= (R)(p - done)) {
            s = 1 / root(s);
            for (u32 i = LANE; i < p; i += 32)
                x[i] = times(x[i], s);
            SYNC;
            *next = unit + 1;
            return;
        }
    }
}

// svd: A is m × n; p is the longer side and q the other. work has for each matrix p × wide + q × q of T, then q of R and q of u32.
template <class T, class R> __device__ __attribute__((always_inline)) void svd(View x, u32 m, u32 n, R *w, s64 strideW, Out left, Out right, u32 wide, u32 values, u32 sweeps, void *work, s64 strideWork, int *info, double tolerance, Told *told) {
    const T *a = matrix<const T>(x, BLOCK_X);
    bool tall = m >= n;
    u32 p = tall ? m : n, q = tall ? n : m;
    T *g = (T *)((char *)work + strideWork * (s64)BLOCK_X), *v = g + (s64)p * wide;
    R *norms = (R *)(v + (s64)q * q);
    u32 *order = (u32 *)(norms + q);
    w += strideW * (s64)BLOCK_X;
    R largest = 0;
    for (u32 j = 0; j < q; j++)
        for (u32 i = LANE; i < p; i += 32) {
            T e = tall ? a[(s64)j * x.ld + i] : conj(a[(s64)i * x.ld + j]);
            g[(s64)j * p + i] = e;
            R s = size1(e);
            largest = s > largest || s != s ? s : largest;
        }
    largest = warpMax(largest);
    bool finite = largest * 0 == 0;
    R scale = largest > 0 && finite ? 1 / largest : 1;
    if (!(scale * 0 == 0)) // of a subnormal number
        scale = 1 / least(R(0));
    for (u32 j = 0; j < q; j++) {
        for (u32 i = LANE; i < p; i += 32)
            g[(s64)j * p + i] = times(g[(s64)j * p + i], scale);
        for (u32 i = LANE; i < q; i += 32)
            set(v + (s64)j * q + i, i == j, 0);
    }
    SYNC;
    u32 turned = 0;
    R cut = epsilon(R(0)) * epsilon(R(0)); // the largest is 1: what is less than this is nothing, and its square underflows
    R tol = epsilon(R(0)) * root((R)(p < 16 ? 16 : p));
    tol = (R)tolerance > tol ? (R)tolerance : tol;
    u32 done = 0;
    if (finite)
        while (done < sweeps) {
            done++;
            if (!(turned = sweep<T, R>(g, p, q, v, norms, tol, cut)))
                break;
        }
    for (u32 j = 0; j < q; j++) { // the norms as they are now, not as rotations foretold
        R s = root(columnNorm2<T, R>(g + (s64)j * p, p));
        SYNC;
        norms[j] = finite ? s : largest - largest;
        order[j] = j;
    }
    SYNC;
    if (told) {
        double off = finite ? (double)leftOver<T, R>(g, p, q, norms, cut) / (double)scale : (double)(largest - largest);
        if (LANE == 0)
            *told = {off, (int)done, 0};
    }
    for (u32 i = 0; i < q; i++) { // largest first
        u32 k = i;
        for (u32 j = i + 1; j < q; j++)
            if (norms[order[j]] > norms[order[k]])
                k = j;
        u32 o = order[i], best = order[k];
        SYNC;
        order[k] = o;
        order[i] = best;
        SYNC;
        if (i < values)
            w[i] = norms[best] / scale;
    }
    const Out &longer = tall ? left : right, &shorter = tall ? right : left;
    u32 next = 0;
    if (longer.columns) {
        for (u32 i = 0; i < q; i++) {
            T *y = g + (s64)order[i] * p;
            R s = norms[order[i]];
            if (s > cut || s != s)
                for (u32 r = LANE; r < p; r += 32)
                    y[r] = times(y[r], 1 / s);
            else
                complete<T, R>(g, p, order[i], order, i, &next);
            SYNC;
        }
        for (u32 i = q; i < longer.columns; i++)
            complete<T, R>(g, p, i, (const u32 *)0, i, &next);
        for (u32 i = 0; i < longer.columns; i++)
            for (u32 r = LANE; r < p; r += 32)
                put(longer, r, i, g[(s64)(i < q ? order[i] : i) * p + r]);
    }
    for (u32 i = 0; i < shorter.columns; i++)
        for (u32 r = LANE; r < q; r += 32)
            put(shorter, r, i, v[(s64)order[i] * q + r]);
    if (LANE == 0)
        info[BLOCK_X] = finite ? (turned ? (int)q + 1 : 0) : (int)q + 1;
}

// residual is |A - U S V'| of a matrix whose largest value is s[0].
template <class T, class R> __device__ void residual(View x, u32 m, u32 n, const R *s, s64 strideS, View left, View right, u32 rank, double *out) {
    const T *a = matrix<const T>(x, BLOCK_X), *u = matrix<const T>(left, BLOCK_X), *v = matrix<const T>(right, BLOCK_X);
    s += strideS * (s64)BLOCK_X;
    double sum = 0, scale = rank && s[0] > 0 ? (double)s[0] : 1;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < m; i += 32) {
            double dr = re(a[(s64)j * x.ld + i]), di = im(a[(s64)j * x.ld + i]);
            for (u32 k = 0; k < rank; k++) {
                T e = mul(times(u[(s64)k * left.ld + i], s[k]), conj(v[(s64)k * right.ld + j]));
                dr -= re(e);
                di -= im(e);
            }
            dr /= scale;
            di /= scale;
            sum += dr * dr + di * di;
        }
    sum = warpSum(sum);
    if (LANE == 0)
        out[BLOCK_X] = scale * __builtin_sqrt(sum);
}

#define SVD(name, T, R)                                                                                                        \
    KERNEL svd_##name(View x, u32 m, u32 n, R *w, s64 strideW, Out left, Out right, u32 wide, u32 values, u32 sweeps,          \
                      void *work, s64 strideWork, int *info, double tolerance, Told *told) {                                   \
        svd<T, R>(x, m, n, w, strideW, left, right, wide, values, sweeps, work, strideWork, info, tolerance, told);            \
    }                                                                                                                          \
    KERNEL residual_##name(View x, u32 m, u32 n, const R *s, s64 strideS, View left, View right, u32 rank, double *out) {      \
        residual<T, R>(x, m, n, s, strideS, left, right, rank, out);                                                           \
    }
SVD(f32, float, float)
SVD(f64, double, double)
SVD(c32, c32, float)
SVD(c64, c64, double)
