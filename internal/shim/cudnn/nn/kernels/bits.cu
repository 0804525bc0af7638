// A bit for every element, in words of 32: the first element has the lowest bit.
#include "tensor.h"

// positive says of every element whether it is above zero.
KERNEL positive(u64 from, u32 *words, u32 type, u32 pad, u64 count) {
    for (u64 w = BLOCK_X; w * 32 < count; w += BLOCKS_X) {
        u64 i = w * 32 + LANE;
        u32 bits = __nvvm_vote_ballot_sync(~0u, i < count && loadAny(from, (s64)i, type) > 0);
        if (LANE == 0)
            words[w] = bits;
    }
}

// keep copies the elements whose bit is set; the others become zero.
KERNEL keep(u64 from, u64 to, const u32 *words, u32 type, u32 pad, u64 count) {
    for (u64 i = (u64)BLOCK_X * 32 + LANE; i < count; i += (u64)BLOCKS_X * 32)
        storeAny(to, (s64)i, type, words[i / 32] >> (i & 31) & 1 ? loadAny(from, (s64)i, type) : 0);
}
