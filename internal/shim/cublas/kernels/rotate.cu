// Plane rotations: what they are made of, and the modified ones; beside them those of half types, whose scalars are halves too.
#include "device.h"

__device__ inline void set(f16 *p, double re, double) { store(p, (float)re); }
__device__ inline void set(bf16 *p, double re, double) { store(p, (float)re); }

#define EACH(i, n) for (u64 i = (u64)BLOCK_X * THREADS_X + LANE; i < (n); i += (u64)BLOCKS_X * THREADS_X)

// number is value for scalars that may be bf16, which only rotations have.
__device__ inline float number(const Scalar &s) {
    return s.at && s.type == TYPE_BF16 ? load((const bf16 *)s.at) : value<float>(s);
}

template <class T> __device__ void rot(Vec x, Vec y, Scalar sc, Scalar ss, u64 n) {
    float c = number(sc), s = number(ss);
    EACH(i, n) {
        T *p = at<T>(x, i), *q = at<T>(y, i);
        float a = load(p), b = load(q);
        store(p, fma(c, a, s * b));
        store(q, fma(c, b, -s * a));
    }
}

KERNEL rot_f16(Vec x, Vec y, Scalar c, Scalar s, u64 n) { rot<f16>(x, y, c, s, n); }
KERNEL rot_bf16(Vec x, Vec y, Scalar c, Scalar s, u64 n) { rot<bf16>(x, y, c, s, n); }

// Modified is a rotation with two of its four entries left out as ones: flag -1 has all, 0 the off-diagonal, 1 the diagonal,
// -2 nothing to turn.
struct Modified {
    double flag, h11, h21, h12, h22;
};

template <class T, class W> __device__ void rotm(Vec x, Vec y, Modified h, u64 param, u64 n) {
    if (param) {
        const T *p = (const T *)param;
        h = {(double)load(p), (double)load(p + 1), (double)load(p + 2), (double)load(p + 3), (double)load(p + 4)};
    }
    if (h.flag == -2)
        return;
    W h11 = (W)h.h11, h21 = (W)h.h21, h12 = (W)h.h12, h22 = (W)h.h22;
    if (h.flag == 0)
        h11 = h22 = 1;
    else if (h.flag == 1)
        h12 = 1, h21 = -1;
    EACH(i, n) {
        T *p = at<T>(x, i), *q = at<T>(y, i);
        W a = load(p), b = load(q);
        store(p, fma(h11, a, h12 * b));
        store(q, fma(h21, a, h22 * b));
    }
}

KERNEL rotm_f32(Vec x, Vec y, Modified h, u64 param, u64 n) { rotm<float, float>(x, y, h, param, n); }
KERNEL rotm_f64(Vec x, Vec y, Modified h, u64 param, u64 n) { rotm<double, double>(x, y, h, param, n); }
KERNEL rotm_f16(Vec x, Vec y, Modified h, u64 param, u64 n) { rotm<f16, float>(x, y, h, param, n); }
KERNEL rotm_bf16(Vec x, Vec y, Modified h, u64 param, u64 n) { rotm<bf16, float>(x, y, h, param, n); }

// length is the root of a sum of squares of which none overflows or vanishes.
__device__ inline double length(double a, double b, double c, double d) {
    double s = __builtin_fmax(__builtin_fmax(__builtin_fabs(a), __builtin_fabs(b)), __builtin_fmax(__builtin_fabs(c), __builtin_fabs(d)));
    if (a != a || b != b || c != c || d != d)
        return a + b + c + d;
    if (s == 0 || s > 0x1.fffffffffffffp1023)
        return s;
    a /= s, b /= s, c /= s, d /= s;
    return s * __builtin_sqrt(a * a + b * b + c * c + d * d);
}

// givens finds c and s that turn (a, b) into (r, 0). a becomes r, b what both can be found from again. The same is in rotate.go.
template <class T> __device__ void givens(T *pa, T *pb, T *pc, T *ps) {
    double a = load(pa), b = load(pb), c = 1, s = 0, r = a, z = 0;
    double sa = __builtin_fabs(a), sb = __builtin_fabs(b);
    if (b != 0 && a == 0) {
        c = 0, s = 1, r = b, z = 1;
    } else if (b != 0) {
        r = __builtin_copysign(length(a, b, 0, 0), sa > sb ? a : b);
        c = a / r, s = b / r;
        z = sa > sb ? s : c != 0 ? 1 / c : 1;
    }
    set(pa, r, 0), set(pb, z, 0), set(pc, c, 0), set(ps, s, 0);
}

// givens of complex numbers: c is real, b stays.
template <class T, class R> __device__ void givens(T *pa, const T *pb, R *pc, T *ps) {
    double ar = pa->re, ai = pa->im, br = pb->re, bi = pb->im;
    if (ar == 0 && ai == 0) {
        *pa = *pb;
        set(pc, 0, 0), set(ps, 1, 0);
        return;
    }
    double sa = length(ar, ai, 0, 0), r = length(ar, ai, br, bi);
    double ur = ar / sa, ui = ai / sa; // the direction of a
    br /= r, bi /= r;
    set(pc, sa / r, 0);
    set(ps, ur * br + ui * bi, ui * br - ur * bi);
    set(pa, ur * r, ui * r);
}

KERNEL rotg_f32(u64 a, u64 b, u64 c, u64 s) { givens((float *)a, (float *)b, (float *)c, (float *)s); }
KERNEL rotg_f64(u64 a, u64 b, u64 c, u64 s) { givens((double *)a, (double *)b, (double *)c, (double *)s); }
KERNEL rotg_f16(u64 a, u64 b, u64 c, u64 s) { givens((f16 *)a, (f16 *)b, (f16 *)c, (f16 *)s); }
KERNEL rotg_bf16(u64 a, u64 b, u64 c, u64 s) { givens((bf16 *)a, (bf16 *)b, (bf16 *)c, (bf16 *)s); }
KERNEL rotg_c32(u64 a, u64 b, u64 c, u64 s) { givens((c32 *)a, (const c32 *)b, (float *)c, (c32 *)s); }
KERNEL rotg_c64(u64 a, u64 b, u64 c, u64 s) { givens((c64 *)a, (const c64 *)b, (double *)c, (c64 *)s); }

// Weighted are the numbers a modified rotation is made of.
struct Weighted {
    double d1, d2, x1;
    Modified h;

    __device__ void refuse() {
        d1 = d2 = x1 = 0;
        h = {-1, 0, 0, 0, 0};
    }

    // all makes every entry count, before one is scaled.
    __device__ void all() {
        if (h.flag == 0)
            h.h11 = h.h22 = 1;
        else if (h.flag == 1)
            h.h21 = -1, h.h12 = 1;
        h.flag = -1;
    }
};

__device__ inline bool strange(double d) { return d != 0 && (d <= 0x1p-24 || d >= 0x1p24) && d < 0x1p1000; }

// modified finds a rotation without square roots that turns (sqrt(d1) x1, sqrt(d2) y1) into (…, 0). The same is in rotate.go.
__device__ inline void modified(Weighted &w, double y1) {
    const double gam = 4096;
    if (w.d1 < 0)
        return w.refuse();
    double p2 = w.d2 * y1;
    if (p2 == 0) {
        w.h.flag = -2;
        return;
    }
    double p1 = w.d1 * w.x1, q1 = p1 * w.x1, q2 = p2 * y1;
    if (__builtin_fabs(q1) > __builtin_fabs(q2)) {
        w.h.h21 = -y1 / w.x1, w.h.h12 = p2 / p1;
        double u = 1 - w.h.h12 * w.h.h21;
        if (!(u > 0))
            return w.refuse();
        w.h.flag = 0;
        w.d1 /= u, w.d2 /= u, w.x1 *= u;
    } else {
        if (q2 < 0)
            return w.refuse();
        w.h.flag = 1;
        w.h.h11 = p1 / p2, w.h.h22 = w.x1 / y1;
        double u = 1 + w.h.h11 * w.h.h22, d = w.d2 / u;
        w.d2 = w.d1 / u, w.d1 = d, w.x1 = y1 * u;
    }
    while (strange(w.d1)) {
        w.all();
        bool small = w.d1 <= 0x1p-24;
        double g = small ? 1 / gam : gam;
        w.d1 = small ? w.d1 * (gam * gam) : w.d1 / (gam * gam);
        w.x1 *= g, w.h.h11 *= g, w.h.h12 *= g;
    }
    while (strange(__builtin_fabs(w.d2))) {
        w.all();
        bool small = __builtin_fabs(w.d2) <= 0x1p-24;
        double g = small ? 1 / gam : gam;
        w.d2 = small ? w.d2 * (gam * gam) : w.d2 / (gam * gam);
        w.h.h21 *= g, w.h.h22 *= g;
    }
}

template <class T> __device__ void rotmg(T *d1, T *d2, T *x1, const T *y1, T *param) {
    Weighted w = {load(d1), load(d2), load(x1), {0, 0, 0, 0, 0}};
    modified(w, load(y1));
    set(param, w.h.flag, 0);
    if (w.h.flag == -2)
        return;
    set(d1, w.d1, 0), set(d2, w.d2, 0), set(x1, w.x1, 0);
    if (w.h.flag != 0)
        set(param + 1, w.h.h11, 0), set(param + 4, w.h.h22, 0);
    if (w.h.flag != 1)
        set(param + 2, w.h.h21, 0), set(param + 3, w.h.h12, 0);
}

KERNEL rotmg_f32(u64 d1, u64 d2, u64 x1, u64 y1, u64 p) { rotmg((float *)d1, (float *)d2, (float *)x1, (const float *)y1, (float *)p); }
KERNEL rotmg_f64(u64 d1, u64 d2, u64 x1, u64 y1, u64 p) { rotmg((double *)d1, (double *)d2, (double *)x1, (const double *)y1, (double *)p); }
KERNEL rotmg_f16(u64 d1, u64 d2, u64 x1, u64 y1, u64 p) { rotmg((f16 *)d1, (f16 *)d2, (f16 *)x1, (const f16 *)y1, (f16 *)p); }
KERNEL rotmg_bf16(u64 d1, u64 d2, u64 x1, u64 y1, u64 p) { rotmg((bf16 *)d1, (bf16 *)d2, (bf16 *)x1, (const bf16 *)y1, (bf16 *)p); }
