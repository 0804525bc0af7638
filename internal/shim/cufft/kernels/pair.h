// A whole transform of n1 x n2 numbers that are neighbours, in a block's scratch: lanes are neighbouring columns first, then rows. It is
// read and written once, and what is between stays in the nearest caches.
#pragma once
#include "step.h"

struct Pair {
    const void *src;
    void *dst;
    const void *twiddles[2]; // of the columns' passes and the rows'
    const u32 *places;       // where the scratch has number k of a column
    const u32 *order;        // of powers of two, which number of a row is at a place, else where number k is
    const void *turns;       // w^(k c), a row of n2 for each k
    Dim dims[4];             // the transforms
    u64 count;
    u64 radices[2];
    u32 n[2], passes[2];
    u32 flags, unused;
};

// row is the first row of the q-th 32; the last 32 are taken together.
FN u32 row(u32 q, u32 n) { return n < 32 ? 0 : n - 32 * q < 32 ? n - 32 : 32 * q; }

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
        // There are at least 32 columns; the last 32 of them are taken together, whichever were done before.
        for (u32 c = 0; c < n2; c += 32) {
            u32 c0 = n2 - c < 32 ? n2 - 32 : c;
            if (MIXED)
                fill(n1, n2, src + c0 + LANE, s, swap);
            else {
                FEW(a.radices[0] & 255, first_pass, src + c0 + LANE, n2, s, n1, (const C<T> *)a.twiddles[0], swap)
            }
            transform<T, MIXED>({(const C<T> *)a.twiddles[0], a.radices[0], n1, a.passes[0]}, s, !MIXED, false);
            // Lane c has column c; afterwards lane k has row k, side by side with 31 others.
            for (u32 q = 0; 32 * q < n1; q++) {
                T *to = z + ((u64)q * n2 + c0) * 64;
                u32 k0 = row(q, n1), last = n1 - 1 - k0;
                turned<T>(
                    [&](u32 k) INLINE {
                        u32 at = k0 + (k < last ? k : last);
                        return kept(s, a.places[at], false) * number(turns + (u64)at * n2 + c0);
                    },
                    [&](u32 i, C<T> v) INLINE { keep(to + i * 64, v, false); });
            }
        }
        Passes<T> across = {(const C<T> *)a.twiddles[1], a.radices[1], n2, a.passes[1]};
        u32 radix = (u32)(a.radices[1] >> (8 * (a.passes[1] - 1)));
        for (u32 q = 0; 32 * q < n1; q++) {
            T *from = z + (u64)q * n2 * 64;
            transform<T, MIXED>(across, from, false, !MIXED);
            C<T> *p = dst + row(q, n1) + LANE;
            if (!MIXED) {
                auto result = [&](u32 k, C<T> v) INLINE { put(p + (u64)k * n1, swap ? C<T>{v.y, v.x} : v); };
                FEW(radix, last_pass, from, n2, a.order, result)
                continue;
            }
            // Lanes without a row write into the next one, which comes later. Behind the last one nothing may be written.
            for (u32 k = 0; k + 1 < n2; k++, p += n1)
                put(p, kept(from, a.order[k], swap));
            if (n1 >= 32 || LANE < n1)
                put(p, kept(from, a.order[n2 - 1], swap));
            __nvvm_bar_warp_sync(~0u);
        }
    }
}
