// One step of a transform: a lane has a whole transform of up to a few hundred numbers in the block's scratch, 32 lanes side by side, so
// that every access is to neighbours and every twiddle factor is the same in all lanes.
#pragma once
#include "butterfly.h"

enum {
    SWAP = 1,      // real and imaginary parts change places, which makes the transform the inverse one
    UNIT_IN = 2,   // lanes are neighbours in the source
    UNIT_OUT = 4,  // and in the destination
    ROWS_OUT = 8,  // a transform is contiguous in the destination and lanes are not
    FROM_HALF = 16, // the source is half a spectrum, of twice the length
    TO_HALF = 32,   // the destination is
};

#define DIMS 6
#define NO_AXIS 255

struct Step {
    const void *src;
    void *dst;
    const void *twiddles; // of the passes, one after another
    const u32 *places;    // where in the scratch a result is
    const void *turns;    // w^(k lane)
    const void *low;      // w^j for j below 2^shift
    const void *high;     // w^(j 2^shift)
    const void *halves;   // of spectra of real numbers
    s64 in, out;          // elements from one number of a transform to the next
    Dim dims[DIMS];       // the first one is the lanes'
    u64 chunks;           // of 32 lanes
    u64 radices;          // a byte each
    u32 n, passes, flags, shift, axis;
};

extern __shared__ char scratch[];

// A pass of decimation in frequency, in place: len is the length of the transforms that are left.
template <int R, class T> FN void pass(T *s, u64 n, u64 len, const C<T> *w) {
    u64 m = len / R;
    for (u64 j = 0; j < m; j++, w += R - 1) {
        C<T> f[R];
#pragma unroll
        for (int k = 1; k < R; k++)
            f[k] = w[k - 1];
        for (u64 g = j; g < n; g += len) {
            T *p = s + g * 64;
            C<T> v[R];
#pragma unroll
            for (int k = 0; k < R; k++)
                v[k] = {p[k * m * 64], p[k * m * 64 + 32]};
            dft(v);
            p[0] = v[0].x, p[32] = v[0].y;
#pragma unroll
            for (int k = 1; k < R; k++) {
                C<T> y = v[k] * f[k];
                p[k * m * 64] = y.x, p[k * m * 64 + 32] = y.y;
            }
        }
    }
}

// The last pass has no factors.
template <int R, class T> FN void last(T *s, u64 n) {
    for (u64 g = 0; g < n; g += R) {
        T *p = s + g * 64;
        C<T> v[R];
#pragma unroll
        for (int k = 0; k < R; k++)
            v[k] = {p[k * 64], p[k * 64 + 32]};
        dft(v);
#pragma unroll
        for (int k = 0; k < R; k++)
            p[k * 64] = v[k].x, p[k * 64 + 32] = v[k].y;
    }
}

template <int R, class T> FN void either(T *s, u32 n, u32 len, const C<T> *w) {
    if (len == R)
        last<R>(s, n);
    else
        pass<R>(s, n, len, w);
}

template <class T, bool MIXED> FN void transform(const Step &a, T *s) {
    const C<T> *w = (const C<T> *)a.twiddles;
    u64 radices = a.radices;
    u32 len = a.n;
    for (u32 i = 0; i < a.passes; i++, radices >>= 8) {
        u32 r = (u32)radices & 255;
        switch (r) {
        case 2: either<2>(s, a.n, len, w); break;
        case 4: either<4>(s, a.n, len, w); break;
        case 8: either<8>(s, a.n, len, w); break;
        }
        if (MIXED)
            switch (r) {
            case 3: either<3>(s, a.n, len, w); break;
            case 5: either<5>(s, a.n, len, w); break;
            case 7: either<7>(s, a.n, len, w); break;
            case 11: either<11>(s, a.n, len, w); break;
            case 13: either<13>(s, a.n, len, w); break;
            }
        w += (len / r) * (r - 1);
        len /= r;
    }
}

template <class T> FN void keep(T *row, C<T> v, bool swap) {
    row[0] = swap ? v.y : v.x, row[32] = swap ? v.x : v.y;
}

template <class T> FN void fill(const Step &a, const C<T> *p, T *s, bool swap) {
    for (u32 i = 0; i < a.n; i++, p += a.in, s += 64)
        keep(s, *p, swap);
}

// Two real numbers are one complex one; z is what their transform must have been.
template <class T> FN void fill_half(const Step &a, const C<T> *p, T *s, bool swap) {
    const C<T> *w = (const C<T> *)a.halves;
    for (u32 k = 0; k < a.n; k++, s += 64) {
        C<T> x = p[k * a.in], y = conj(p[(a.n - k) * a.in]);
        if (k == 0)
            x.y = 0, y.y = 0;
        C<T> d = (x - y) * conj(w[k]);
        keep(s, C<T>{x.x + y.x - d.y, x.y + y.y + d.x}, swap);
    }
}

template <class T> FN C<T> kept(const T *s, u32 place, bool swap) {
    const T *row = s + (u64)place * 64;
    return swap ? C<T>{row[32], row[0]} : C<T>{row[0], row[32]};
}

// half is number k of the spectrum of twice as many real numbers.
template <class T> FN C<T> half(C<T> z, C<T> mirror, C<T> w) {
    C<T> m = conj(mirror), e = z + m, o = turn(z - m) * w;
    return {(T)0.5 * (e.x + o.x), (T)0.5 * (e.y + o.y)};
}

// Results of a lane go to its own transform.
template <class T> FN void drain(const Step &a, C<T> *p, const T *s, u64 r, bool swap) {
    const C<T> *low = (const C<T> *)a.low, *high = (const C<T> *)a.high, *turns = (const C<T> *)a.turns + LANE;
    u64 e = 0, mask = (1ull << a.shift) - 1;
    if (a.flags & TO_HALF) {
        const C<T> *w = (const C<T> *)a.halves;
        for (u32 k = 0; k <= a.n; k++, p += a.out)
            *p = half(kept(s, a.places[k == a.n ? 0 : k], false), kept(s, a.places[k == 0 ? 0 : a.n - k], false), w[k]);
    } else if (a.axis == NO_AXIS) {
        for (u32 k = 0; k < a.n; k++, p += a.out)
            *p = kept(s, a.places[k], swap);
    } else if (a.axis == 0) {
        for (u32 k = 0; k < a.n; k++, p += a.out, e += r) {
            C<T> v = kept(s, a.places[k], false) * (turns[k * 32] * (high[e >> a.shift] * low[e & mask]));
            *p = swap ? C<T>{v.y, v.x} : v;
        }
    } else {
        for (u32 k = 0; k < a.n; k++, p += a.out, e += r) {
            C<T> v = kept(s, a.places[k], false) * (high[e >> a.shift] * low[e & mask]);
            *p = swap ? C<T>{v.y, v.x} : v;
        }
    }
}

// Results of a transform are written side by side, one transform after another.
template <class T> FN void drain_rows(const Step &a, C<T> *p, const T *s, u32 rows, bool swap) {
    s -= LANE;
    if (a.flags & TO_HALF) {
        const C<T> *w = (const C<T> *)a.halves;
        for (u32 r = 0; r < rows; r++, p += a.dims[0].out, s++)
            for (u32 k = LANE; k <= a.n; k += 32)
                p[k] = half(kept(s, a.places[k == a.n ? 0 : k], false), kept(s, a.places[k == 0 ? 0 : a.n - k], false), w[k]);
        return;
    }
    for (u32 r = 0; r < rows; r++, p += a.dims[0].out, s++)
        for (u32 k0 = 0; k0 < a.n; k0 += 32) {
            u32 k = k0 + LANE;
            if (k0 + 32 <= a.n)
                p[k] = kept(s, a.places[k], swap);
            else if (k < a.n)
                p[k] = kept(s, a.places[k], swap);
        }
}

template <class T> FN void load(const Step &a, const C<T> *p, T *s, bool swap) {
    if (a.flags & FROM_HALF)
        fill_half(a, p, s, swap);
    else
        fill(a, p, s, swap);
}

template <class T, bool MIXED> FN void step(const Step &a) {
    T *s = (T *)scratch + LANE;
    bool swap = a.flags & SWAP;
    u64 across = (a.dims[0].count + 31) / 32;
    for (u64 c = BLOCK; c < a.chunks; c += BLOCKS) {
        u64 rest = c / across, first = (c - rest * across) * 32, r = first;
        const C<T> *src = (const C<T> *)a.src + (s64)first * a.dims[0].in;
        C<T> *dst = (C<T> *)a.dst + (s64)first * a.dims[0].out;
#pragma unroll
        for (u32 d = 1; d < DIMS; d++) {
            u64 q = rest;
            if (rest)
                rest = q / a.dims[d].count, q -= rest * a.dims[d].count;
            src += (s64)q * a.dims[d].in, dst += (s64)q * a.dims[d].out;
            if (d == a.axis)
                r = q;
        }
        u64 left = a.dims[0].count - first;
        u32 rows = left < 32 ? (u32)left : 32;
        if (rows == 32 && a.flags & UNIT_IN)
            load(a, src + LANE, s, swap);
        else if (rows == 32)
            load(a, src + (s64)LANE * a.dims[0].in, s, swap);
        else if (LANE < rows)
            load(a, src + (s64)LANE * a.dims[0].in, s, swap);
        // Lanes that had nothing to do come back here, and not where the loop begins, whose numbers would no longer be uniform.
        __nvvm_bar_warp_sync(~0u);
        transform<T, MIXED>(a, s);
        __nvvm_bar_warp_sync(~0u);
        if (a.flags & ROWS_OUT)
            drain_rows(a, dst, s, rows, swap);
        else if (rows == 32 && a.flags & UNIT_OUT)
            drain(a, dst + LANE, s, r, swap);
        else if (LANE < rows)
            drain(a, dst + (s64)LANE * a.dims[0].out, s, r, swap);
        __nvvm_bar_warp_sync(~0u);
    }
}
