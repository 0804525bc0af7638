// Copies between tensors of any strides and types, for what is not worth more.
#include "tensor.h"

KERNEL move(Sizes s, Strided from, Strided to, u32 fromType, u32 toType, u64 count) {
    const Strided *t[2] = {&from, &to};
    for (u64 i = (u64)BLOCK_X * 32 + LANE; i < count; i += (u64)BLOCKS_X * 32) {
        s64 off[2];
        place<2>(s, i, t, off);
        storeAny(to.at, off[1], toType, loadAny(from.at, off[0], fromType));
    }
}
