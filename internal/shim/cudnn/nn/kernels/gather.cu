// Copies where only the device knows where elements lie: sequences that lie packed one after another, and the pages of a cache. A tensor
// has four sides; bytes are moved, whatever they mean.
#include "tensor.h"

struct Lying {
    u64 at;
    s64 stride[4]; // in elements
};

struct Shape {
    u32 dim[4];
    u32 size; // bytes an element
    u32 axis; // the side that is a sequence
};

INLINE void copyOne(u64 to, s64 i, u64 from, s64 j, u32 size, bool inside) {
    switch (size) {
    case 1: ((u8 *)to)[i] = inside ? ((const u8 *)from)[j] : 0; break;
    case 2: ((u16 *)to)[i] = inside ? ((const u16 *)from)[j] : 0; break;
    case 4: ((u32 *)to)[i] = inside ? ((const u32 *)from)[j] : 0; break;
    default: ((u64 *)to)[i] = inside ? ((const u64 *)from)[j] : 0;
    }
}

INLINE s64 number(u64 at, u32 i, u32 wide) { return wide ? ((const s64 *)at)[i] : (s64)((const int *)at)[i]; }

INLINE void split(const Shape &s, u64 i, u32 (&index)[4]) {
#pragma unroll
    for (int d = 3; d >= 0; d--) {
        index[d] = (u32)(i % s.dim[d]);
        i /= s.dim[d];
    }
}

// packedSequences copies sequences that begin where offsets say to a tensor of its own strides, zero past their ends; or with back the
// other way, where nothing past an end is written.
KERNEL packedSequences(Shape s, Lying packed, Lying dense, u64 offsets, s64 unit, u32 wide, u32 back, u64 count) {
    for (u64 i = (u64)BLOCK_X * THREADS_X + LANE; i < count; i += (u64)BLOCKS_X * THREADS_X) {
        u32 x[4];
        split(s, i, x);
        s64 begin = number(offsets, x[0], wide) * unit, length = number(offsets, x[0] + 1, wide) * unit - begin;
        s64 there = begin, here = x[0] * dense.stride[0];
#pragma unroll
        for (int d = 1; d < 4; d++) {
            there += x[d] * packed.stride[d];
            here += x[d] * dense.stride[d];
        }
        bool inside = (s64)x[s.axis] * packed.stride[s.axis] < length;
        if (!back)
            copyOne(dense.at, here, packed.at, there, s.size, inside);
        else if (inside)
            copyOne(packed.at, there, dense.at, here, s.size, true);
    }
}

// pages copies from the pages of a container: [page, head, position in the page, element] to [batch, head, position, element], zero past
// the end of a sequence. The side of positions may be the last.
KERNEL pages(Shape s, Lying from, Lying to, Lying table, u64 lengths, u32 page, u32 blocks, u64 count) {
    for (u64 i = (u64)BLOCK_X * THREADS_X + LANE; i < count; i += (u64)BLOCKS_X * THREADS_X) {
        u32 x[4];
        split(s, i, x);
        u32 at = x[s.axis], element = x[5 - s.axis];
        bool inside = !lengths || (s64)at < number(lengths, x[0], 0);
        s64 block = 0;
        if (inside) {
            block = ((const int *)table.at)[x[0] * table.stride[0] + at / page * table.stride[2]];
            inside = block >= 0 && block < (s64)blocks;
        }
        s64 here = x[0] * to.stride[0] + x[1] * to.stride[1] + x[2] * to.stride[2] + x[3] * to.stride[3];
        s64 there = inside ? block * from.stride[0] + x[1] * from.stride[1] + at % page * from.stride[2] + element * from.stride[3] : 0;
        copyOne(to.at, here, from.at, there, s.size, inside);
    }
}
