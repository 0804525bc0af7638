// What is done to rows of numbers before, between and after the steps of a transform. Lanes are neighbours in a row.
#pragma once
#include "device.h"

struct Row {
    const void *src;
    void *dst;
    const void *factors;
    s64 in, out;    // elements from one number of a row to the next
    Dim dims[4];    // the rows
    u64 count;      // numbers that are written in a row
    u64 n;          // numbers that are read
    u64 rows;
    u32 kind, swap; // 1: the parts of what is read change places, 2: of what is written
};

enum {
    MIRROR,  // a row of n from the half that is kept of real numbers' spectra
    PRODUCT, // times the factors; beyond n there are zeros
    TO_HALF, // the spectrum of 2n real numbers from that of n complex ones
    FROM_HALF,
};

template <class T> FN C<T> swapped(C<T> v, u32 yes) { return yes ? C<T>{v.y, v.x} : v; }

template <class T> FN C<T> number(const Row &a, const C<T> *p, u64 k) {
    const C<T> *w = (const C<T> *)a.factors;
    switch (a.kind) {
    case MIRROR: {
        C<T> v = 2 * k <= a.n ? p[(s64)k * a.in] : conj(p[(s64)(a.n - k) * a.in]);
        if (k == 0 || 2 * k == a.n)
            v.y = 0;
        return v;
    }
    case PRODUCT: return k < a.n ? swapped(p[(s64)k * a.in], a.swap & 1) * w[k] : C<T>{0, 0};
    case TO_HALF: {
        C<T> z = p[(s64)(k == a.n ? 0 : k) * a.in], m = conj(p[(s64)(k == 0 ? 0 : a.n - k) * a.in]);
        C<T> e = z + m, o = turn(z - m) * w[k];
        return {(T)0.5 * (e.x + o.x), (T)0.5 * (e.y + o.y)};
    }
    default: {
        C<T> x = p[(s64)k * a.in], y = conj(p[(s64)(a.n - k) * a.in]);
        if (k == 0)
            x.y = 0, y.y = 0;
        C<T> d = (x - y) * conj(w[k]);
        return {x.x + y.x - d.y, x.y + y.y + d.x};
    }
    }
}

// each calls f with the offsets of every row's piece of 32 numbers that is this block's.
template <class F> FN void each(const Row &a, F f) {
    u64 across = (a.count + 31) / 32, chunks = a.rows * across;
    for (u64 c = BLOCK; c < chunks; c += BLOCKS) {
        u64 rest = c / across, k = (c - rest * across) * 32;
        s64 in = 0, out = 0;
#pragma unroll
        for (u32 d = 0; d < 4; d++) {
            u64 q = rest;
            if (rest)
                rest = q / a.dims[d].count, q -= rest * a.dims[d].count;
            in += (s64)q * a.dims[d].in, out += (s64)q * a.dims[d].out;
        }
        k += LANE;
        if (k < a.count)
            f(k, in, out);
    }
}

template <class T> FN void rows(const Row &a) {
    each(a, [&](u64 k, s64 in, s64 out) INLINE {
        C<T> v = number(a, (const C<T> *)a.src + in, k);
        put((C<T> *)a.dst + out + (s64)k * a.out, swapped(v, a.swap & 2));
    });
}

// Storage types of 16 bits.
struct bf16 {
    unsigned short bits;
};
template <class T> FN T read(T v) { return v; }
FN float read(_Float16 v) { return (float)v; }
FN float read(bf16 v) { return __builtin_bit_cast(float, (u32)v.bits << 16); }

FN void write(float v, float *p) { *p = v; }
FN void write(double v, double *p) { *p = v; }
FN void write(float v, _Float16 *p) { *p = (_Float16)v; }
FN void write(float v, bf16 *p) {
    u32 b = __builtin_bit_cast(u32, v);
    u32 r = (b + 0x7fff + (b >> 16 & 1)) >> 16;
    p->bits = (unsigned short)(v != v ? (b >> 16 | 0x40) : r);
}

// copy changes type and kind: kind has 1 where real numbers are read, 2 where real ones are written.
template <class In, class Out> FN void copy(const Row &a) {
    const In *src = (const In *)a.src;
    Out *dst = (Out *)a.dst;
    each(a, [&](u64 k, s64 in, s64 out) INLINE {
        s64 i = in + (s64)k * a.in, o = out + (s64)k * a.out;
        if (a.kind == 3) {
            write(read(src[i]), dst + o);
            return;
        }
        auto x = read(src[a.kind & 1 ? i : 2 * i]);
        decltype(x) y = 0;
        if (!(a.kind & 1))
            y = read(src[2 * i + 1]);
        if (a.kind & 2) {
            write(x, dst + o);
            return;
        }
        write(x, dst + 2 * o), write(y, dst + 2 * o + 1);
    });
}
