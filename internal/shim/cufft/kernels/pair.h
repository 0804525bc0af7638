// A whole transform of n1 x n2 numbers that are neighbours, in a block's scratch: lanes are neighbouring columns first, then rows. It is
// read and written once, and what is between stays in the nearest caches.
#pragma once
#include "step.h"

struct Pair {
    const void *src;
    void *dst;
    const void *twiddles[2]; // of the columns' passes and the rows'
    const u32 *places[2];
    const void *turns;       // w^(k c), a row of n2 for each k
    Dim dims[4];             // the transforms
    u64 count;
    u64 radices[2];
    u32 n[2], passes[2];
    u32 flags, unused;
};

template <class T, bool MIXED> FN void pair(const Pair &a) {
    T *s = (T *)scratch + TILE + LANE, *z = s + (u64)a.n[0] * 64;
    bool swap = a.flags & SWAP;
    u32 n1 = a.n[0], n2 = a.n[1];
    for (u64 t = BLOCK; t < a.count; t += BLOCKS) {
        const C<T> *src = (const C<T> *)a.src, *turns = (const C<T> *)a.turns + LANE;
        C<T> *dst = (C<T> *)a.dst;
        u64 rest = t;
#pragma unroll
        for (u32 d = 0; d < 4; d++) {
            u64 q = rest;
            if (rest)
                rest = q / a.dims[d].count, q -= rest * a.dims[d].count;
            src += (s64)q * a.dims[d].in, dst += (s64)q * a.dims[d].out;
        }
        for (u32 c0 = 0; c0 < n2; c0 += 32) {
            u32 some = n2 - c0;
            if (some >= 32)
                fill(n1, n2, src + c0 + LANE, s, swap);
            else if (LANE < some)
                fill(n1, n2, src + c0 + LANE, s, swap);
            __nvvm_bar_warp_sync(~0u);
            transform<T, MIXED>({(const C<T> *)a.twiddles[0], a.radices[0], n1, a.passes[0]}, s);
            // Lane c has column c; afterwards lane k has row k, side by side with 31 others.
            for (u32 k0 = 0; k0 < n1; k0 += 32) {
                T *to = z + ((u64)(k0 / 32) * n2 + c0) * 64;
                u32 last = n1 - 1 - k0;
                turned<T>(
                    [&](u32 k) INLINE {
                        u32 at = k0 + (k < last ? k : last);
                        return kept(s, a.places[0][at], false) * number(turns + (u64)at * n2 + c0);
                    },
                    [&](u32 c, C<T> v) INLINE {
                        if (c < some)
                            keep(to + c * 64, v, false);
                    });
            }
        }
        for (u32 k0 = 0; k0 < n1; k0 += 32) {
            T *from = z + (u64)k0 * 2 * n2;
            transform<T, MIXED>({(const C<T> *)a.twiddles[1], a.radices[1], n2, a.passes[1]}, from);
            C<T> *p = dst + k0 + LANE;
            if (n1 - k0 >= 32)
                for (u32 k = 0; k < n2; k++, p += n1)
                    *p = kept(from, a.places[1][k], swap);
            else if (LANE < n1 - k0)
                for (u32 k = 0; k < n2; k++, p += n1)
                    *p = kept(from, a.places[1][k], swap);
            __nvvm_bar_warp_sync(~0u);
        }
    }
}
