// Numbers of 8 and 4 bits of which blocks share a factor: out of wider ones, and back.
#include "tensor.h"

// The last two numbers of Elem: four bits, two in a byte, and powers of two.
enum { E_E2M1 = E_BOOL + 1, E_E8M0 };

// Blocks are sizes, of elements or of blocks, and where these lie. Factors may lie in tiles of 128 × 4: 32 rows of 16 bytes, in which
// every fourth is of 32 rows further down.
struct Blocks {
    Sizes s;
    Strided wide, few, scale; // of tiles, scale.stride counts matrices
    s64 block[DIMS];
    u32 wideType, fewType, scaleType, axis;
    u32 tiled, row, column, across; // the axes of a matrix of factors, and how many tiles are side by side
    s64 tiles;                      // of a matrix
    s64 extent;                     // elements along the axis
    u64 count;
};

INLINE double loadFew(u64 at, s64 i, u32 type) {
    if (type == E_E8M0) {
        u32 code = ((const u8 *)at)[i];
        return code == 255 ? bitsToFloat(0x7fc00000) : code ? bitsToFloat(code << 23) : bitsToFloat(0x400000);
    }
    if (type != E_E2M1)
        return loadAny(at, i, type);
    u32 code = ((const u8 *)at)[i >> 1] >> (i & 1) * 4 & 15, e = code >> 1 & 3, frac = code & 1;
    float v = e ? (float)((frac + 2) << e) * 0.25f : (float)frac * 0.5f;
    return code & 8 ? -v : v;
}

INLINE u32 four(float v) { return v != v ? 7 : narrow<1, 1, 7>(v) | (floatToBits(v) >> 28 & 8); }

// factor is where the factor of a block lies.
INLINE s64 factor(const Blocks &b, const s64 (&index)[DIMS]) {
    s64 at = 0;
    for (u32 d = 0; d < b.s.rank; d++)
        at += index[d] * b.scale.stride[d];
    if (!b.tiled)
        return at;
    s64 row = index[b.row], column = index[b.column];
    return ((at * b.tiles + row / 128 * b.across + column / 4) * 32 + row % 32) * 16 + row % 128 / 32 * 4 + column % 4;
}

// dequantise gives every element its number times the factor of its block.
KERNEL dequantise(Blocks b) {
    for (u64 i = (u64)BLOCK_X * 32 + LANE; i < b.count; i += (u64)BLOCKS_X * 32) {
        s64 index[DIMS], from = 0, to = 0;
        u64 rest = i;
        for (int d = (int)b.s.rank - 1; d >= 0; d--) {
            s64 x = (s64)(rest % (u64)b.s.dim[d]);
            rest /= (u64)b.s.dim[d];
            from += x * b.few.stride[d];
            to += x * b.wide.stride[d];
            index[d] = x / b.block[d];
        }
        float v = (float)loadFew(b.few.at, from, b.fewType) * (float)loadFew(b.scale.at, factor(b, index), b.scaleType);
        storeAny(b.wide.at, to, b.wideType, v);
    }
}

// quantise makes the factor of every block what brings its largest size to the largest number of the type, rounded up to what the
// factor's type has, and rounds the elements divided by it to the nearest.
KERNEL quantise(Blocks b) {
    for (u64 i = (u64)BLOCK_X * 32 + LANE; i < b.count; i += (u64)BLOCKS_X * 32) {
        s64 index[DIMS], from = 0, to = 0, n = 0;
        u64 rest = i;
        for (int d = (int)b.s.rank - 1; d >= 0; d--) {
            s64 x = (s64)(rest % (u64)b.s.dim[d]);
            rest /= (u64)b.s.dim[d];
            index[d] = x;
            s64 first = x * b.block[d];
            if ((u32)d == b.axis)
                n = b.extent - first < b.block[d] ? b.extent - first : b.block[d];
            from += first * b.wide.stride[d];
            to += first * b.few.stride[d];
        }
        s64 step = b.wide.stride[b.axis], few = b.few.stride[b.axis];
        u32 most = 0;
        for (s64 k = 0; k < n; k++) {
            u32 size = floatToBits((float)loadAny(b.wide.at, from + k * step, b.wideType)) & 0x7fffffff;
            most = size > most ? size : most;
        }
        float top = b.fewType == E_E2M1 ? 6.0f : b.fewType == E_E4M3 ? 448.0f : 57344.0f;
        float wanted = bitsToFloat(most) / top, by;
        u32 code;
        if (b.scaleType == E_E8M0) {
            u32 bits = floatToBits(wanted);
            code = bits > 0x7f800000 ? 255 : bits <= 0x400000 ? 0 : (bits + 0x7fffff) >> 23;
            by = bitsToFloat(code == 255 ? 0x7fc00000 : code ? code << 23 : 0x400000);
        } else {
            e4m3 c = {(u8)(wanted != wanted ? 0x7f : narrow<3, 7, 0x7e>(wanted))};
            by = load(&c);
            if (by < wanted && c.bits < 0x7e) {
                c.bits++;
                by = load(&c);
            }
            code = c.bits;
        }
        ((u8 *)b.scale.at)[factor(b, index)] = (u8)code;
        u32 before = 0;
        for (s64 k = 0; k < n; k++) {
            float v = (float)loadAny(b.wide.at, from + k * step, b.wideType);
            v = by == 0 ? 0 : v / by;
            if (b.fewType != E_E2M1) {
                storeAny(b.few.at, to + k * few, b.fewType, v);
                continue;
            }
            u32 now = four(v); // two in a byte: blocks begin at whole ones, and lie without gaps
            if (k % 2)
                ((u8 *)b.few.at)[(to + k) >> 1] = (u8)(before | now << 4);
            else if (k == n - 1)
                ((u8 *)b.few.at)[(to + k) >> 1] = (u8)now;
            before = now;
        }
    }
}
