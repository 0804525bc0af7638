// What the kernels of products share: operands that are packed, claims of tiles, and what is written.
#pragma once
#include "device.h"

enum { PANELS = 8 };

// Side is one operand that is packed: where its panels go, how far the next matrix's are, and its rows; none if it is packed already.
// A block takes `panels` of them, PANELS at most. `same`: one matrix serves the whole batch.
struct Side {
    View x;
    u64 out;
    s64 stride;
    u32 rows, panels, same, unused;
};

// clear writes the claims of a matrix (see tiles), by the first block.
__device__ inline void clear(u32 *p, u32 n) {
    if (BLOCK_X == 0 && BLOCK_Y == 0)
        for (u32 i = LANE; i < n; i += 32)
            p[i] = 0;
}

// Of a triangle (1 lower, 2 upper) only its elements are written; with 4 the diagonal is real.
__device__ inline bool within(u32 part, u32 row, u32 col) { return (part & 3) == 0 || ((part & 1) ? row >= col : row <= col); }

template <class W, class C> __device__ inline void put(C *p, W v, u32 part, u32 row, u32 col) {
    store(p, part >= 4 && row == col ? real(v) : v);
}

// fetch asks for what will be stored to.
__device__ inline void fetch(const void *p) { asm volatile("prefetch.global.L1 [%0];" ::"l"(p)); }

// Claims are where the blocks of a product say what they take next: groups of panels of A, and of each group panels of B. A group
// is worked on by the block that claimed it, so that it stays in the cache of one core; blocks that find no group left help with the
// columns of the others. Two cores that go through one group together took a fifth longer: see RATIONALE.md.
struct Claims {
    u64 at;                  // groups + 1 numbers a matrix, 0 at the beginning
    u32 group, groups, step; // panels of A in a group, groups, panels of B that are claimed at once
    u32 unused;
};

// claim takes n of what is counted at p and returns the first of them. It goes through shared memory, as what all lanes read there
// is known to be the same in all.
__device__ inline u32 claim(u32 *p, u32 n, u32 *box) {
    __nvvm_bar_warp_sync(~0u);
    if (LANE == 0)
        *box = __nvvm_atom_add_gen_i((int *)p, n);
    __nvvm_bar_warp_sync(~0u);
    return *box;
}

struct Output {
    View c;
    Scalar alpha, beta;
    u32 m, n, k, first, part;
};

// depth is how much of k is added: nothing with an alpha of 0, as A may be NaN.
template <class W> __device__ inline u32 depth(const Output &o, W alpha) { return zero(alpha) ? 0 : o.k; }
