// Eigenvalues and eigenvectors of symmetric and Hermitian matrices: reflections to a tridiagonal one, the product of the
// reflections, implicit QL. A warp has a matrix.
#include "solver.h"

// symmetric fills the other triangle, and gives the largest size of an element, NaN if there is one.
template <class T> __device__ typename Real<T>::type symmetric(T *a, s64 ld, u32 n, u32 upper) {
    typename Real<T>::type largest = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = j + LANE; i < n; i += 32) {
            T *low = a + (s64)j * ld + i, *high = a + (s64)i * ld + j;
            T v = upper ? conj(*high) : *low;
            if (i == j)
                v = real(v);
            *low = v;
            *high = conj(v);
            auto s = size1(v);
            largest = s > largest || s != s ? s : largest;
        }
    SYNC;
    return warpMax(largest);
}

// tridiagonal makes d and e of a matrix whose both triangles are there; the reflections stay below the diagonal.
template <class T, class R> __device__ void tridiagonal(T *a, s64 ld, u32 n, R *d, R *e, T *taus, T *w) {
    for (u32 k = 0; k + 1 < n; k++) {
        u32 m = n - k - 1;
        T *v = a + (s64)k * ld + k + 1, *b = a + (s64)(k + 1) * (ld + 1);
        T tau = mirror(v, m);
        if (LANE == 0) {
            d[k] = re(a[(s64)k * (ld + 1)]);
            e[k] = re(v[0]);
            taus[k] = tau;
        }
        if (zero(tau))
            continue;
        T dots = {};
        for (u32 i = LANE; i < m; i += 32) {
            T sum = b[i]; // v[0] is 1
            const T *p = b + i;
            for (u32 j = 1; j < m; j++) {
                p += ld;
                sum = fma(*p, v[j], sum);
            }
            sum = mul(tau, sum);
            w[i] = sum;
            dots = i == 0 ? add(dots, conj(sum)) : fma(conj(sum), v[i], dots);
        }
        dots = times(mul(tau, warpSum(dots)), (R)-0.5);
        SYNC;
        for (u32 i = LANE; i < m; i += 32)
            w[i] = i == 0 ? add(w[0], dots) : fma(dots, v[i], w[i]);
        SYNC;
        for (u32 j = 0; j < m; j++) {
            T vj = j == 0 ? one<T>() : v[j], wj = w[j];
            T nv = conj(vj), nw = conj(wj);
            T *x = b + (s64)j * ld;
            for (u32 i = LANE; i < m; i += 32) {
                T vi = i == 0 ? one<T>() : v[i];
                T s = sub(sub(x[i], mul(vi, nw)), mul(w[i], nv));
                x[i] = i == j ? real(s) : s;
            }
        }
        SYNC;
    }
    if (LANE == 0 && n) {
        d[n - 1] = re(a[(s64)(n - 1) * (ld + 1)]);
        e[n - 1] = 0;
    }
    SYNC;
}

// formQ is the product of the reflections that tridiagonal left, in their place.
template <class T> __device__ void formQ(T *a, s64 ld, u32 n, const T *taus, s64 step) {
    for (u32 k = n; k-- > 0;) { // column k of Q has reflection k - 1 below row k
        T *x = a + (s64)k * ld;
        if (k > 0)
            for (u32 i = k + LANE; i < n; i += 32)
                x[i] = a[(s64)(k - 1) * ld + i];
        SYNC;
        for (u32 i = LANE; i < n; i += 32)
            if (k == 0 || i < k)
                set(x + i, k == 0 && i == 0, 0);
        SYNC;
    }
    for (u32 k = n - 1; k > 0; k--) {
        T *v = a + (s64)k * (ld + 1);
        T tau = taus[(s64)(k - 1) * step];
        u32 m = n - k;
        reflect(v, m, tau, v + ld, ld, m - 1);
        T none = {};
        for (u32 i = LANE; i < m; i += 32)
            v[i] = i == 0 ? sub(one<T>(), tau) : sub(none, mul(tau, v[i]));
        SYNC;
    }
}

// turn applies the rotations of columns lo … hi, the last first, to all rows: c in even places of cs, s in odd ones.
template <class T, class R> __device__ void turn(T *z, s64 ld, u32 rows, const R *cs, u32 lo, u32 hi) {
    for (u32 r = LANE; r < rows; r += 32) {
        T *p = z + r + (s64)hi * ld;
        T f = *p;
        for (u32 i = hi; i-- > lo;) {
            R c = cs[2 * i], s = cs[2 * i + 1];
            T g = *(p - ld);
            *p = add(times(g, s), times(f, c));
            f = sub(times(g, c), times(f, s));
            p -= ld;
        }
        *p = f;
    }
    SYNC;
}

// ql finds the eigenvalues of a tridiagonal matrix; z, if any, takes the rotations. Every lane computes the same. Gives how many
// did not converge.
template <class T, class R> __device__ u32 ql(R *d, R *e, u32 n, T *z, s64 ld, u32 rows, R *cs, R scale) {
    R eps = epsilon(R(0)), tiny = eps * eps * scale;
    u32 left = 60 * n;
    for (u32 l = 0; l < n; l++)
        for (;;) {
            u32 m = l;
            for (; m + 1 < n; m++) {
                R x = size(e[m]);
                if (x <= eps * (size(d[m]) + size(d[m + 1])) || x <= tiny)
                    break;
            }
            if (m == l)
                break;
            if (left-- == 0) {
                u32 bad = 0;
                for (u32 i = 0; i + 1 < n; i++)
                    bad += e[i] != 0;
                return bad ? bad : 1;
            }
            R g = (d[l + 1] - d[l]) / (2 * e[l]), r = root(g * g + 1);
            g = d[m] - d[l] + e[l] / (g + (g >= 0 ? r : -r));
            R s = 1, c = 1, p = 0;
            u32 i = m;
            bool split = false;
            SYNC;
            while (i-- > l) {
                R f = s * e[i], b = c * e[i];
                r = root(f * f + g * g);
                R di1 = d[i + 1], di = d[i];
                SYNC;
                e[i + 1] = r;
                if (r == 0) {
                    d[i + 1] = di1 - p;
                    e[m] = 0;
                    split = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = di1 - p;
                r = (di - g) * s + 2 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                cs[2 * i] = c;
                cs[2 * i + 1] = s;
            }
            SYNC;
            u32 low = split ? i + 1 : l;
            if (!split) {
                R dl = d[l] - p;
                SYNC;
                d[l] = dl;
                e[l] = g;
                e[m] = 0;
            }
            SYNC;
            if (z && low < m)
                turn(z, ld, rows, cs, low, m);
        }
    return 0;
}

// sortColumns puts eigenvalues in order, smallest first, and the columns with them.
template <class T, class R> __device__ void sortColumns(R *d, u32 n, T *z, s64 ld, u32 rows) {
    for (u32 i = 0; i + 1 < n; i++) {
        u32 k = i;
        R best = d[i];
        for (u32 j = i + 1; j < n; j++)
            if (d[j] < best) {
                best = d[j];
                k = j;
            }
        if (k == i)
            continue;
        R di = d[i];
        SYNC;
        d[k] = di;
        d[i] = best;
        SYNC;
        if (z)
            for (u32 r = LANE; r < rows; r += 32) {
                T v = z[(s64)i * ld + r];
                z[(s64)i * ld + r] = z[(s64)k * ld + r];
                z[(s64)k * ld + r] = v;
            }
    }
    SYNC;
}

// inRange is a factor that brings the largest element where squares neither overflow nor vanish.
template <class R> __device__ inline R inRange(R largest) {
    R low = sizeof(R) == 4 ? (R)0x1p-40 : (R)0x1p-400, high = 1 / low;
    if (largest == 0 || !(largest < low || largest > high))
        return 1;
    return 1 / largest;
}

// syev: work has for each matrix 4 n of R and 2 n of T.
template <class T, class R> __device__ __attribute__((always_inline)) void syev(View x, u32 n, u32 upper, u32 vectors, R *w, void *work, int *info) {
    T *a = matrix<T>(x, BLOCK_X);
    R *d = w + (s64)BLOCK_X * n;
    T *taus = (T *)work + (s64)BLOCK_X * 6 * n, *pieces = taus + n;
    R *e = (R *)(pieces + n), *cs = e + n;
    R largest = symmetric(a, x.ld, n, upper);
    R scale = inRange(largest);
    if (!(largest * 0 == 0)) { // an infinity or NaN: nothing to find
        for (u32 i = LANE; i < n; i += 32)
            d[i] = largest - largest;
        if (vectors)
            for (u32 j = 0; j < n; j++)
                for (u32 i = LANE; i < n; i += 32)
                    set(a + (s64)j * x.ld + i, largest - largest, 0);
        if (LANE == 0)
            info[BLOCK_X] = (int)n;
        return;
    }
    if (scale != 1) {
        for (u32 j = 0; j < n; j++)
            for (u32 i = LANE; i < n; i += 32)
                a[(s64)j * x.ld + i] = times(a[(s64)j * x.ld + i], scale);
        SYNC;
    }
    tridiagonal(a, x.ld, n, d, e, taus, pieces);
    if (vectors)
        formQ(a, x.ld, n, taus, 1);
    u32 bad = ql(d, e, n, vectors ? a : (T *)0, x.ld, n, cs, largest * scale);
    sortColumns(d, n, vectors ? a : (T *)0, x.ld, n);
    if (scale != 1)
        for (u32 i = LANE; i < n; i += 32)
            d[i] /= scale;
    if (LANE == 0)
        info[BLOCK_X] = (int)bad;
}

// offDiagonal is the norm of what is not on the diagonal.
template <class T, class R> __device__ R offDiagonal(const T *b, u32 n) {
    R sum = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32)
            sum += i == j ? 0 : norm2(b[(s64)j * n + i]);
    return root(warpSum(sum));
}

// jacobiSweep makes every element of b that is above `least` zero once; v takes the rotations.
template <class T, class R> __device__ void jacobiSweep(T *b, T *v, s64 ld, u32 n, R least) {
    for (u32 p = 0; p + 1 < n; p++)
        for (u32 q = p + 1; q < n; q++) {
            T g = b[(s64)q * n + p];
            R gamma = root(norm2(g));
            if (!(gamma > least))
                continue;
            R bp = re(b[(s64)p * (n + 1)]), bq = re(b[(s64)q * (n + 1)]);
            R zeta = (bq - bp) / (2 * gamma), az = size(zeta);
            R t = az > 0x1p60 ? 1 / (2 * az) : 1 / (az + root(1 + az * az));
            t = zeta < 0 ? -t : t;
            R c = 1 / root(1 + t * t), s = c * t;
            T phase;
            make(&phase, re(g) / gamma, -im(g) / gamma);
            SYNC;
            for (u32 i = LANE; i < n; i += 32) {
                T x = v[(s64)p * ld + i], y = mul(v[(s64)q * ld + i], phase);
                v[(s64)p * ld + i] = sub(times(x, c), times(y, s));
                v[(s64)q * ld + i] = add(times(x, s), times(y, c));
                if (i == p || i == q)
                    continue;
                x = b[(s64)p * n + i];
                y = mul(b[(s64)q * n + i], phase);
                T nx = sub(times(x, c), times(y, s)), ny = add(times(x, s), times(y, c));
                b[(s64)p * n + i] = nx;
                b[(s64)q * n + i] = ny;
                b[(s64)i * n + p] = conj(nx);
                b[(s64)i * n + q] = conj(ny);
            }
            if (LANE == 0) {
                make(b + (s64)p * (n + 1), bp - t * gamma, 0);
                make(b + (s64)q * (n + 1), bq + t * gamma, 0);
                make(b + (s64)q * n + p, 0, 0);
                make(b + (s64)p * n + q, 0, 0);
            }
            SYNC;
        }
}

// jacobi ends what syev began: b = V' A V is turned until what is off its diagonal is less than tol |A|, or all sweeps are done.
template <class T, class R> __device__ void jacobi(T *b, View x, u32 n, R *w, double tol, u32 sweeps, u32 sorted, Told *told, int *info) {
    b += (s64)BLOCK_X * n * n;
    T *v = matrix<T>(x, BLOCK_X);
    R *d = w + (s64)BLOCK_X * n, largest = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32) {
            R s = size1(b[(s64)j * n + i]);
            largest = s > largest || s != s ? s : largest;
        }
    largest = warpMax(largest);
    if (!(largest * 0 == 0)) { // syev told that there is nothing to find
        if (told && LANE == 0)
            *told = {(double)(largest - largest), 0, 0};
        return;
    }
    R scale = largest > 0 ? 1 / largest : 1;
    if (!(scale * 0 == 0))
        scale = 1 / least(R(0));
    R norm = 0;
    for (u32 j = 0; j < n; j++)
        for (u32 i = LANE; i < n; i += 32) {
            T e = times(b[(s64)j * n + i], scale);
            e = i == j ? real(e) : e;
            b[(s64)j * n + i] = e;
            norm += norm2(e);
        }
    SYNC;
    R limit = (R)tol * root(warpSum(norm)), off;
    u32 done = 0;
    while ((off = offDiagonal<T, R>(b, n)) > limit && done < sweeps) {
        jacobiSweep<T, R>(b, v, x.ld, n, limit / (R)n);
        done++;
    }
    for (u32 i = LANE; i < n; i += 32)
        d[i] = re(b[(s64)i * (n + 1)]) / scale;
    SYNC;
    if (sorted)
        sortColumns(d, n, v, x.ld, n);
    if (LANE == 0) {
        info[BLOCK_X] = off > limit ? (int)n + 1 : 0;
        if (told)
            *told = {(double)off / (double)scale, (int)done, 0};
    }
}

// choose brings the eigenvalues above low and up to high, or those from first to last (from 1), to the front, their vectors with
// them, and tells how many there are.
template <class T, class R> __device__ void choose(T *a, s64 ld, u32 n, R *w, u32 vectors, u32 first, u32 last, double low, double high, int *count) {
    if (first == 0) {
        first = 1;
        for (last = 0; last < n && (double)w[last] <= high; last++)
            first += (double)w[last] <= low;
    }
    u32 found = last >= first ? last - first + 1 : 0;
    SYNC;
    if (first > 1)
        for (u32 k = 0; k < found; k++) {
            u32 from = first - 1 + k;
            R v = w[from];
            SYNC;
            w[k] = v;
            if (vectors)
                for (u32 i = LANE; i < n; i += 32)
                    a[(s64)k * ld + i] = a[(s64)from * ld + i];
            SYNC;
        }
    if (LANE == 0)
        *count = (int)found;
}

// sytrd works on a copy, lower, whose other triangle is made here. `back`: it is an upper one from its end, and so are the results.
template <class T, class R> __device__ __attribute__((always_inline)) void sytrd(T *a, u32 n, R *d, R *e, T *taus, T *work, u32 back) {
    T *w = work, *t = work + n;
    R *dd = (R *)(t + n), *ee = dd + n;
    symmetric(a, n, n, 0);
    tridiagonal(a, n, n, dd, ee, t, w);
    for (u32 i = LANE; i < n; i += 32) {
        d[back ? n - 1 - i : i] = dd[i];
        if (i + 1 < n) {
            e[back ? n - 2 - i : i] = ee[i];
            taus[back ? n - 2 - i : i] = t[i];
        }
    }
}

// gebrd makes a matrix of at least as many rows as columns bidiagonal. v has room for a row, w for a column.
template <class T, class R> __device__ __attribute__((always_inline)) void gebrd(T *a, s64 ld, u32 m, u32 n, R *d, R *e, T *tauq, T *taup, T *v, T *w) {
    for (u32 k = 0; k < n; k++) {
        T *x = a + (s64)k * (ld + 1);
        T tau = mirror(x, m - k);
        reflect(x, m - k, conj(tau), x + ld, ld, n - 1 - k);
        if (LANE == 0) {
            d[k] = re(x[0]);
            tauq[k] = tau;
        }
        T across = {};
        u32 c = n - 1 - k, r = m - 1 - k;
        if (c) {
            for (u32 j = LANE; j < c; j += 32)
                v[j] = conj(x[(s64)(j + 1) * ld]);
            SYNC;
            across = mirror(v, c);
            if (LANE == 0)
                e[k] = re(v[0]);
            SYNC;
            for (u32 j = LANE; j < c; j += 32)
                x[(s64)(j + 1) * ld] = j == 0 ? real(v[0]) : conj(v[j]);
            T *b = x + ld + 1;
            for (u32 i = LANE; i < r; i += 32) {
                T sum = b[i];
                for (u32 j = 1; j < c; j++)
                    sum = fma(b[(s64)j * ld + i], v[j], sum);
                w[i] = mul(across, sum);
            }
            for (u32 j = 0; j < c; j++) {
                T s = j == 0 ? one<T>() : conj(v[j]);
                for (u32 i = LANE; i < r; i += 32)
                    b[(s64)j * ld + i] = sub(b[(s64)j * ld + i], mul(w[i], s));
            }
        }
        if (LANE == 0)
            taup[k] = across;
        SYNC;
    }
}

#define EIGEN(name, T, R)                                                                                                      \
    KERNEL syev_##name(View x, u32 n, u32 upper, u32 vectors, R *w, void *work, int *info) {                                   \
        syev<T, R>(x, n, upper, vectors, w, work, info);                                                                       \
    }                                                                                                                          \
    KERNEL jacobi_##name(T *b, View x, u32 n, R *w, double tol, u32 sweeps, u32 sorted, Told *told, int *info) {               \
        jacobi<T, R>(b, x, n, w, tol, sweeps, sorted, told, info);                                                             \
    }                                                                                                                          \
    KERNEL choose_##name(T *a, s64 ld, u32 n, R *w, u32 vectors, u32 first, u32 last, double low, double high, int *count) {   \
        choose<T, R>(a, ld, n, w, vectors, first, last, low, high, count);                                                     \
    }                                                                                                                          \
    KERNEL sytrd_##name(T *a, u32 n, R *d, R *e, T *taus, T *work, u32 back) { sytrd<T, R>(a, n, d, e, taus, work, back); }    \
    KERNEL formq_##name(T *a, s64 ld, u32 n, const T *taus, s64 step) { formQ<T>(a, ld, n, taus, step); }                      \
    KERNEL gebrd_##name(T *a, s64 ld, u32 m, u32 n, R *d, R *e, T *tauq, T *taup, T *v, T *w) {                                \
        gebrd<T, R>(a, ld, m, n, d, e, tauq, taup, v, w);                                                                      \
    }
EIGEN(f32, float, float)
EIGEN(f64, double, double)
EIGEN(c32, c32, float)
EIGEN(c64, c64, double)
