// One step of a transform: a lane has a whole transform of up to a few hundred numbers in the block's scratch, 32 lanes side by side, so
// that every access is to neighbours and every twiddle factor is the same in all lanes.
#pragma once
#include "butterfly.h"

enum {
    SWAP = 1,      // real and imaginary parts change places, which makes the transform the inverse one
    UNIT_IN = 2,   // lanes are neighbours in the source
    UNIT_OUT = 4,  // and in the destination
    ROWS_IN = 8,   // a transform is contiguous in the source and lanes are not
    ROWS_OUT = 16, // and in the destination
    FROM_HALF = 32, // the source is half a spectrum, of twice the length
    TO_HALF = 64,   // the destination is
};

#define DIMS 6
#define NO_AXIS 255
#define TILE 2048 // real numbers: 32 complex ones of 32 transforms

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

// Passes is a transform in scratch: its length, the factors of all passes, and a byte of radices for each.
template <class T> struct Passes {
    const C<T> *twiddles;
    u64 radices;
    u32 n, count;
};

// first_pass is the first pass, of numbers that are not in the scratch yet: they are in apart from each other.
template <int R, class T> FN void first_pass(const C<T> *p, s64 in, T *s, u32 n, const C<T> *w, bool swap) {
    u64 m = n / R;
    for (u64 j = 0; j < m; j++, w += R - 1) {
        C<T> v[R];
#pragma unroll
        for (int k = 0; k < R; k++) {
            C<T> x = number(p + (s64)(j + k * m) * in);
            v[k] = swap ? C<T>{x.y, x.x} : x;
        }
        dft(v);
        T *to = s + j * 64;
        to[0] = v[0].x, to[32] = v[0].y;
#pragma unroll
        for (int k = 1; k < R; k++) {
            C<T> y = v[k] * w[k - 1];
            to[k * m * 64] = y.x, to[k * m * 64 + 32] = y.y;
        }
    }
}

// last_pass is the last pass, whose results leave the scratch: result(k, ..) is called with number k.
template <int R, class T, class Result> FN void last_pass(const T *s, u32 n, const u32 *order, Result result) {
    for (u32 g = 0; g < n; g += R) {
        const T *p = s + (u64)g * 64;
        C<T> v[R];
#pragma unroll
        for (int k = 0; k < R; k++)
            v[k] = {p[k * 64], p[k * 64 + 32]};
        dft(v);
        u32 at = order[g];
#pragma unroll
        for (int k = 0; k < R; k++)
            result(at + k * (n / R), v[k]);
    }
}

// FEW calls f<R>(..) with the radix r of lengths that are powers of two, EACH with any that there is.
#define FEW(r, f, ...)                                                                                                                     \
    switch (r) {                                                                                                                           \
    case 2: f<2>(__VA_ARGS__); break;                                                                                                      \
    case 4: f<4>(__VA_ARGS__); break;                                                                                                      \
    case 8: f<8>(__VA_ARGS__); break;                                                                                                      \
    }
#define EACH(r, f, ...)                                                                                                                    \
    FEW(r, f, __VA_ARGS__)                                                                                                                 \
    if (MIXED)                                                                                                                             \
        switch (r) {                                                                                                                       \
        case 3: f<3>(__VA_ARGS__); break;                                                                                                  \
        case 5: f<5>(__VA_ARGS__); break;                                                                                                  \
        case 7: f<7>(__VA_ARGS__); break;                                                                                                  \
        case 11: f<11>(__VA_ARGS__); break;                                                                                                \
        case 13: f<13>(__VA_ARGS__); break;                                                                                                \
        }

// transform does the first pass over all numbers, and the others piece by piece, since a piece stays in the nearest cache. The first and
// the last one may have been left to first_pass and last_pass. Steps have neither: where
// their numbers are far apart that costs more than it gains.
template <class T, bool MIXED> FN void transform(const Passes<T> &a, T *s, bool begun, bool ends) {
    if (a.count == 0)
        return; // one number
    u64 radices = a.radices;
    u32 pieces = (u32)radices & 255, n = a.n, len = n, i = 0, piece = 0, count = a.count - ends;
    const C<T> *w = a.twiddles, *second = w + (u64)(n / pieces) * (pieces - 1);
    if (begun)
        w = second, n /= pieces, len = n, radices >>= 8, i = 1;
    if (i >= count)
        return;
    for (;;) {
        u32 r = (u32)radices & 255;
        EACH(r, either, s, n, len, w)
        w += (u64)(len / r) * (r - 1), len /= r, radices >>= 8;
        if (i == 0)
            n = len;
        if (++i < count)
            continue;
        if (count <= 1 || ++piece == pieces)
            return;
        s += (u64)n * 64, w = second, radices = a.radices >> 8, len = n, i = 1;
    }
}

template <class T> FN void keep(T *row, C<T> v, bool swap) {
    row[0] = swap ? v.y : v.x, row[32] = swap ? v.x : v.y;
}

template <class T> FN C<T> kept(const T *s, u32 place, bool swap) {
    const T *row = s + (u64)place * 64;
    return swap ? C<T>{row[32], row[0]} : C<T>{row[0], row[32]};
}

// A lane reads its own transform.
template <class T> FN void fill(u32 n, s64 in, const C<T> *p, T *s, bool swap) {
    for (u32 i = 0; i < n; i++, p += in, s += 64)
        keep(s, number(p), swap);
}

// exchange makes bit M of the lane and bit S of the index change places.
template <u32 M, u32 S, int N> FN void exchange(u32 (&v)[N]) {
#pragma unroll
    for (u32 i = 0; i < N; i++)
        if (!(i & S)) {
            u32 a = v[i], b = v[i + S];
            u32 over = __nvvm_shfl_sync_bfly_i32(~0u, b, M, 31), under = __nvvm_shfl_sync_bfly_i32(~0u, a, M, 31);
            v[i] = LANE & M ? over : a;
            v[i + S] = LANE & M ? b : under;
        }
}

// turned calls put(i, ..) in lane l with what get(l) gave in lane i. It exchanges lanes in registers, a word at a time, since loads from
// 32 places take longer than all the arithmetic of a transform: three bits of the index, and the other two by way of the tile.
template <class T, class Get, class Put> FN void turned(Get get, Put put) {
    constexpr u32 W = sizeof(C<T>) / 4;
    struct Words {
        u32 at[W];
    };
    u32 *tile = (u32 *)scratch + LANE;
    for (u32 g = 0; g < 4; g++) {
        u32 v[W][8];
#pragma unroll
        for (u32 j = 0; j < 8; j++) {
            Words t = __builtin_bit_cast(Words, get(8 * g + j));
#pragma unroll
            for (u32 w = 0; w < W; w++)
                v[w][j] = t.at[w];
        }
#pragma unroll
        for (u32 w = 0; w < W; w++) {
            exchange<1, 1>(v[w]), exchange<2, 2>(v[w]), exchange<4, 4>(v[w]);
#pragma unroll
            for (u32 j = 0; j < 8; j++)
                tile[((4 * j + g) * W + w) * 32] = v[w][j];
        }
    }
    for (u32 j = 0; j < 8; j++) {
        u32 v[W][4];
#pragma unroll
        for (u32 w = 0; w < W; w++) {
#pragma unroll
            for (u32 g = 0; g < 4; g++)
                v[w][g] = tile[((4 * j + g) * W + w) * 32];
            exchange<8, 1>(v[w]), exchange<16, 2>(v[w]);
        }
#pragma unroll
        for (u32 q = 0; q < 4; q++) {
            Words t;
#pragma unroll
            for (u32 w = 0; w < W; w++)
                t.at[w] = v[w][q];
            put(8 * q + j, __builtin_bit_cast(C<T>, t));
        }
    }
}

// Transforms that are contiguous are read side by side, 32 numbers of each.
template <class T> FN void fill_rows(const Step &a, u32 n, const C<T> *p, T *s, u32 rows, bool swap) {
    for (u32 k0 = 0; k0 < n; k0 += 32, p += 32, s += 32 * 64) {
        u32 some = n - k0;
        if (some >= 32 && rows == 32)
            turned<T>([&](u32 r) INLINE { return number(p + r * a.dims[0].in + LANE); }, [&](u32 k, C<T> v) INLINE { keep(s + k * 64, v, swap); });
        else
            turned<T>(
                [&](u32 r) INLINE {
                    C<T> v = {0, 0};
                    if (r < rows && LANE < some)
                        v = number(p + r * a.dims[0].in + LANE);
                    return v;
                },
                [&](u32 k, C<T> v) INLINE {
                    if (k < some)
                        keep(s + k * 64, v, swap);
                });
    }
}

// The scratch has half a spectrum. Two real numbers are one complex one; z is what their transform must have been.
template <class T> FN void unhalve(const Step &a, T *s, bool swap) {
    const C<T> *w = (const C<T> *)a.halves;
    for (u32 k = 0; 2 * k <= a.n; k++) {
        C<T> x = kept(s, k, false), y = conj(kept(s, a.n - k, false));
        if (k == 0)
            x.y = 0, y.y = 0;
        C<T> e = x + y, d = (x - y) * conj(w[k]);
        keep(s + (u64)k * 64, C<T>{e.x - d.y, e.y + d.x}, swap);
        if (k != 0)
            keep(s + (u64)(a.n - k) * 64, C<T>{e.x + d.y, d.x - e.y}, swap);
    }
}

// half is number k of the spectrum of twice as many real numbers.
template <class T> FN C<T> half(C<T> z, C<T> mirror, C<T> w) {
    C<T> m = conj(mirror), e = z + m, o = turn(z - m) * w;
    return {(T)0.5 * (e.x + o.x), (T)0.5 * (e.y + o.y)};
}

template <class T> FN C<T> halved(const Step &a, const T *s, u32 k) {
    return half(kept(s, a.places[k == a.n ? 0 : k], false), kept(s, a.places[k == 0 ? 0 : a.n - k], false), ((const C<T> *)a.halves)[k]);
}

// Results of a lane go to its own transform.
template <class T> FN void drain(const Step &a, C<T> *p, const T *s, u64 r, bool swap) {
    const C<T> *low = (const C<T> *)a.low, *high = (const C<T> *)a.high, *turns = (const C<T> *)a.turns + LANE;
    u64 e = 0, mask = (1ull << a.shift) - 1;
    if (a.flags & TO_HALF) {
        for (u32 k = 0; k <= a.n; k++, p += a.out)
            put(p, halved(a, s, k));
    } else if (a.axis == NO_AXIS) {
        for (u32 k = 0; k < a.n; k++, p += a.out)
            put(p, kept(s, a.places[k], swap));
    } else if (a.axis == 0) {
        for (u32 k = 0; k < a.n; k++, p += a.out, e += r) {
            C<T> v = kept(s, a.places[k], false) * (turns[k * 32] * (high[e >> a.shift] * low[e & mask]));
            put(p, swap ? C<T>{v.y, v.x} : v);
        }
    } else {
        for (u32 k = 0; k < a.n; k++, p += a.out, e += r) {
            C<T> v = kept(s, a.places[k], false) * (high[e >> a.shift] * low[e & mask]);
            put(p, swap ? C<T>{v.y, v.x} : v);
        }
    }
}

// Results are written side by side, 32 numbers of each transform. result(k) is number k.
template <class T, class Result> FN void drain_rows(const Step &a, C<T> *p, u32 n, u32 rows, Result result) {
    for (u32 k0 = 0; k0 < n; k0 += 32, p += 32) {
        u32 some = n - k0;
        if (some >= 32 && rows == 32)
            turned<T>([&](u32 k) INLINE { return result(k0 + k); }, [&](u32 r, C<T> v) INLINE { put(p + r * a.dims[0].out + LANE, v); });
        else
            turned<T>([&](u32 k) INLINE { return result(k0 + (k < some ? k : 0)); },
                      [&](u32 r, C<T> v) INLINE {
                          if (r < rows && LANE < some)
                              put(p + r * a.dims[0].out + LANE, v);
                      });
    }
}

template <class T, bool MIXED> FN void step(const Step &a) {
    T *s = (T *)scratch + TILE + LANE; // the tile comes first
    bool swap = a.flags & SWAP, from_half = a.flags & FROM_HALF, swap_in = swap && !from_half;
    u32 n = from_half ? a.n + 1 : a.n;
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
        if (a.flags & ROWS_IN)
            fill_rows(a, n, src, s, rows, swap_in);
        else if (rows == 32 && a.flags & UNIT_IN)
            fill(n, a.in, src + LANE, s, swap_in);
        else if (rows == 32)
            fill(n, a.in, src + (s64)LANE * a.dims[0].in, s, swap_in);
        else if (LANE < rows)
            fill(n, a.in, src + (s64)LANE * a.dims[0].in, s, swap_in);
        // Lanes that had nothing to do come back here, and not where the loop begins, whose numbers would no longer be uniform.
        __nvvm_bar_warp_sync(~0u);
        if (from_half)
            unhalve(a, s, swap);
        transform<T, MIXED>({(const C<T> *)a.twiddles, a.radices, a.n, a.passes}, s, false, false);
        __nvvm_bar_warp_sync(~0u);
        if (a.flags & ROWS_OUT && a.flags & TO_HALF)
            drain_rows(a, dst, a.n + 1, rows, [&](u32 k) INLINE { return halved(a, s, k); });
        else if (a.flags & ROWS_OUT)
            drain_rows(a, dst, a.n, rows, [&](u32 k) INLINE { return kept(s, a.places[k], swap); });
        else if (rows == 32 && a.flags & UNIT_OUT)
            drain(a, dst + LANE, s, r, swap);
        else if (LANE < rows)
            drain(a, dst + (s64)LANE * a.dims[0].out, s, r, swap);
        __nvvm_bar_warp_sync(~0u);
    }
}
