// Products of rows with the matrix of the group that they are in. Where a group begins, only the device knows.
#include "tensor.h"

struct Grouped {
    Strided token, weight, out; // of three sides
    u64 offsets;                // of s32: the first row of each group
    s64 rows, depth, columns;
    u32 tokenType, weightType, outType, groups, experts, pad;
};

// begin is the first row of a group; the one behind the last has all rows before it.
INLINE s64 begin(const Grouped &p, u32 g) {
    if (g >= p.groups)
        return p.rows;
    s64 n = ((const int *)p.offsets)[g];
    return n < 0 ? 0 : n > p.rows ? p.rows : n;
}

// grouped: out[row] = token[row] × weight of its group. Rows before all groups are zero.
KERNEL grouped(Grouped p) {
    s64 across = (p.columns + 31) / 32;
    for (s64 w = BLOCK_X; w < p.rows * across; w += BLOCKS_X) {
        s64 row = w / across, column = w % across * 32 + LANE;
        u32 g = p.groups;
        while (g > 0 && begin(p, g - 1) > row)
            g--;
        if (column >= p.columns)
            continue;
        double sum = 0;
        if (g > 0) {
            s64 a = row * p.token.stride[1], b = (s64)((g - 1) % p.experts) * p.weight.stride[0] + column * p.weight.stride[2];
            for (s64 k = 0; k < p.depth; k++)
                sum += loadAny(p.token.at, a + k * p.token.stride[2], p.tokenType) * loadAny(p.weight.at, b + k * p.weight.stride[1], p.weightType);
        }
        storeAny(p.out.at, row * p.out.stride[1] + column * p.out.stride[2], p.outType, sum);
    }
}

// groupedBack: out of a group = the tokens of its rows, transposed, × the gradients of what they gave, which are in weight.
KERNEL groupedBack(Grouped p) {
    s64 across = (p.columns + 31) / 32;
    for (s64 w = BLOCK_X; w < p.groups * p.depth * across; w += BLOCKS_X) {
        s64 column = w % across * 32 + LANE, k = w / across % p.depth;
        u32 g = (u32)(w / across / p.depth);
        if (column >= p.columns)
            continue;
        double sum = 0;
        for (s64 row = begin(p, g), end = begin(p, g + 1); row < end; row++)
            sum += loadAny(p.token.at, row * p.token.stride[1] + k * p.token.stride[2], p.tokenType) * loadAny(p.weight.at, row * p.weight.stride[1] + column * p.weight.stride[2], p.weightType);
        storeAny(p.out.at, g * p.out.stride[0] + k * p.out.stride[1] + column * p.out.stride[2], p.outType, sum);
    }
}
