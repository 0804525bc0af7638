// Products of numbers of 8 and 4 bits: these are widened to f16, or scaled to f32, and multiplied as such. What follows has
// matrices of any type.
#include "../../cublas/kernels/device.h"
#include "gelu.h"

// After TYPE_S32.
enum { TYPE_E4M3 = 8, TYPE_E5M2, TYPE_E2M1 };

// The numbers of cublasLtMatmulMatrixScale_t.
enum { SCALE_SCALAR, SCALE_VEC16_UE4M3, SCALE_VEC32_UE8M0, SCALE_OUTER, SCALE_VEC128, SCALE_BLK128 };

#define BLOCKS_Y __nvvm_read_ptx_sreg_nctaid_y()

// Format is a sign, an exponent and a fraction.
struct Format {
    int frac, least; // bits of the fraction, least exponent
    u32 largest;     // finite number
    u32 nan;
};

__device__ inline Format format_of(u32 type) {
    switch (type) {
    case TYPE_E4M3: return {3, -6, 0x7e, 0x7f};
    case TYPE_E5M2: return {2, -14, 0x7b, 0x7f};
    }
    return {1, 0, 7, 7};
}

__device__ inline float from_bits(u32 u) {
    union {
        u32 u;
        float f;
    } x = {u};
    return x.f;
}
__device__ inline u32 to_bits(float f) {
    union {
        float f;
        u32 u;
    } x = {f};
    return x.u;
}
__device__ inline float power(int e) { return from_bits((u32)(e + 127) << 23); }

__device__ inline float widen(u32 type, u32 code) {
    Format f = format_of(type);
    u32 sign = type == TYPE_E2M1 ? 8 : 128, size = code & (sign - 1);
    float v;
    if (type == TYPE_E4M3 && size == 0x7f || type == TYPE_E5M2 && size > 0x7c)
        v = from_bits(0x7fc00000);
    else if (type == TYPE_E5M2 && size == 0x7c)
        v = from_bits(0x7f800000);
    else {
        int e = (int)(size >> f.frac), frac = (int)(size & ((1u << f.frac) - 1));
        v = (float)(e ? frac + (1 << f.frac) : frac) * power(f.least + (e ? e - 1 : 0) - f.frac);
    }
    return code & sign ? -v : v;
}

// narrow rounds to the nearest, to the largest number what is beyond it.
__device__ inline u32 narrow(u32 type, float v) {
    Format f = format_of(type);
    u32 bits = to_bits(v), sign = bits >> 31 ? (type == TYPE_E2M1 ? 8 : 128) : 0;
    float a = from_bits(bits & 0x7fffffff);
    if (v != v)
        return f.nan | sign;
    int e = (int)(bits >> 23 & 255) - 127;
    if (e > 20)
        return f.largest | sign;
    if (e < f.least)
        e = f.least;
    u32 code = (u32)(int)__builtin_rintf(a * power(f.frac - e)) + ((u32)(e - f.least) << f.frac);
    return (code > f.largest ? f.largest : code) | sign;
}

__device__ inline u64 bytes(u32 type, s64 n) {
    switch (type) {
    case TYPE_F16: case TYPE_BF16: return (u64)n * 2;
    case TYPE_F64: return (u64)n * 8;
    case TYPE_E4M3: case TYPE_E5M2: case TYPE_S8: return (u64)n;
    case TYPE_E2M1: return (u64)n / 2;
    }
    return (u64)n * 4;
}

// start is the address of a matrix of a batch.
__device__ inline u64 start(const View &v, u32 i, u32 type) {
    return v.list ? ((const u64 *)v.base)[i] + bytes(type, v.stride) : v.base + bytes(type, v.stride * (s64)i);
}

__device__ inline float read(u64 at, u32 type, s64 i) {
    switch (type) {
    case TYPE_F16: return load((const f16 *)at + i);
    case TYPE_BF16: return load((const bf16 *)at + i);
    case TYPE_E4M3: case TYPE_E5M2: return widen(type, ((const u8 *)at)[i]);
    }
    return ((const float *)at)[i];
}

__device__ inline void write(u64 at, u32 type, s64 i, float v) {
    switch (type) {
    case TYPE_F16: store((f16 *)at + i, v); break;
    case TYPE_BF16: store((bf16 *)at + i, v); break;
    case TYPE_E4M3: case TYPE_E5M2: ((u8 *)at)[i] = (u8)narrow(type, v); break;
    default: ((float *)at)[i] = v;
    }
}

struct Expand {
    View v;
    u64 to;
    s64 each; // between matrices of the result
    u64 scales;
    u32 rows, cols; // as they lie
    u32 type, mode;
    u32 wide;  // the result is f32
    u32 deep;  // sums go along rows
    u32 outer; // the other side of the matrix
    u32 k;
    u32 first; // matrix of the batch
    u32 pad;
};

// place is where the factor of a block of size numbers lies, in line i of k numbers. Tiles have 128 × 4 factors: 32 rows of
// 16, in which every fourth is of 32 rows further down.
__device__ inline u64 place(u32 i, u32 block, u32 k, u32 size) {
    u32 across = ((k + size - 1) / size + 3) / 4;
    return ((u64)(i / 128) * across + block / 4) * 512 + i % 32 * 16 + i % 128 / 32 * 4 + block % 4;
}

// scale is the factor of number (i, l), l being along the sum.
__device__ inline float scale(const Expand &e, u32 i, u32 l) {
    const float *f = (const float *)e.scales;
    u32 block;
    switch (e.mode) {
    case SCALE_OUTER: return f[i];
    case SCALE_VEC128: return f[(u64)(l / 128) * e.outer + i];
    case SCALE_BLK128: return f[(u64)(i / 128) * (((e.k + 127) / 128 + 3) / 4 * 4) + l / 128];
    case SCALE_VEC16_UE4M3: block = l / 16; break;
    case SCALE_VEC32_UE8M0: block = l / 32; break;
    default: return 1;
    }
    u32 code = ((const u8 *)e.scales)[place(i, block, e.k, e.mode == SCALE_VEC16_UE4M3 ? 16 : 32)];
    if (e.mode == SCALE_VEC16_UE4M3)
        return widen(TYPE_E4M3, code & 127);
    return code == 255 ? from_bits(0x7fc00000) : code ? power((int)code - 127) : from_bits(0x400000);
}

KERNEL expand(Expand e) {
    u32 row = BLOCK_X * 256 + LANE, batch = BLOCK_Z, from = e.first + batch;
    if (row >= e.rows)
        return;
    const u8 *p = (const u8 *)(e.v.list ? ((const u64 *)e.v.base)[from] : e.v.base);
    s64 begin = e.v.list ? e.v.stride : e.v.stride * (s64)from;
    for (u32 col = BLOCK_Y; col < e.cols; col += BLOCKS_Y) {
        s64 at = begin + (s64)col * e.v.ld + row, to = e.each * (s64)batch + (s64)col * e.rows + row;
        u32 code = e.type == TYPE_E2M1 ? p[at >> 1] >> (at & 1) * 4 & 15 : p[at];
        float v = widen(e.type, code);
        if (e.wide)
            ((float *)e.to)[to] = v * (e.deep ? scale(e, col, row) : scale(e, row, col));
        else
            ((f16 *)e.to)[to] = (f16)v;
    }
}

struct Finish {
    u64 sums;
    s64 sumsStride;
    View c, d;
    Scalar alpha, beta;
    u64 bias;
    s64 biasStride;
    u64 aux;
    s64 auxLD, auxStride;
    const float *scaleA, *scaleB, *scaleC, *scaleD, *scaleAux; // factors on the device, 0: none
    u32 *most, *mostAux;                                       // largest sizes before scaling, 0: not wanted
    u8 *blocks;                                                // gets the factors of D's blocks, 0: it has none
    u32 m, n, act, cType, dType, biasType, auxType, flags, first, pad;
};

enum { FLAG_BIAS_COLUMNS = 1, FLAG_BITS = 16, FLAG_KEEP = 32 };

__device__ inline float factor(const float *p) { return p ? *p : 1.0f; }

// widest is the largest size among as many lanes. Sizes are in the order of their bits, NaN is above all.
__device__ inline u32 widest(u32 size, int lanes) {
    for (int d = lanes / 2; d; d /= 2) {
        u32 o = other(size, d);
        size = o > size ? o : size;
    }
    return size;
}

// largest raises what lies there to the largest size in the warp.
__device__ inline void largest(u32 *to, u32 size) {
    if (!to)
        return;
    size = widest(size, 32);
    if (LANE == 0)
        __nvvm_atom_max_gen_ui(to, size);
}

// quantise stores one number of a block of D, and the block's factor: what brings its largest size to the largest number of
// the type, rounded up to what the factor's type has. Every lane of the warp comes here.
__device__ inline void quantise(const Finish &e, u32 row, u32 col, u32 at, float v) {
    bool fours = e.dType == TYPE_E2M1;
    u32 by = fours ? 16 : 32, code;
    float top = fours ? 6.0f : e.dType == TYPE_E4M3 ? 448.0f : 57344.0f;
    float wanted = from_bits(widest(row < e.m ? to_bits(v) & 0x7fffffff : 0, (int)by)) / top;
    if (fours) {
        code = narrow(TYPE_E4M3, wanted);
        float f = widen(TYPE_E4M3, code);
        if (f < wanted && code < 0x7e)
            f = widen(TYPE_E4M3, ++code);
        v = f == 0 ? 0 : v / f;
    } else {
        u32 bits = to_bits(wanted);
        code = bits > 0x7f800000 ? 255 : bits <= 0x400000 ? 0 : (bits + 0x7fffff) >> 23;
        v = code == 255 ? wanted : v * power(127 - (int)(code < 254 ? code : 253));
    }
    if (row < e.m && row % by == 0)
        e.blocks[place(col, row / by, e.m, by)] = (u8)code;
    u64 d = start(e.d, at, e.dType);
    s64 i = (s64)col * e.d.ld + row;
    if (!fours) {
        if (row < e.m)
            write(d, e.dType, i, v);
        return;
    }
    u32 mine = narrow(TYPE_E2M1, v), next = other(mine, 1); // two in a byte: m and the leading dimension are even
    if (row < e.m && row % 2 == 0)
        ((u8 *)d)[i >> 1] = (u8)(mine | next << 4);
}

KERNEL finish(Finish e) {
    u32 row = BLOCK_X * 32 + LANE, batch = BLOCK_Z, at = e.first + batch, most = 0, mostAux = 0;
    float *sums = (float *)e.sums + e.sumsStride * (s64)batch + row;
    float alpha = value<float>(e.alpha) * (factor(e.scaleA) * factor(e.scaleB)), beta = value<float>(e.beta) * factor(e.scaleC);
    float sd = factor(e.scaleD), sx = factor(e.scaleAux);
    bool gradient = e.act >= 3;
    for (u32 col = BLOCK_Y * 32; col < e.n && col < BLOCK_Y * 32 + 32; col++) {
        bool above = false;
        float v = 0;
        s64 aux = e.auxStride * (s64)at + (s64)col * e.auxLD;
        if (row < e.m) {
            v = alpha * sums[(s64)col * e.m];
            if (beta != 0)
                v = fma(beta, read(start(e.c, at, e.cType), e.cType, (s64)col * e.c.ld + row), v);
            if (e.bias)
                v += read(e.bias, e.biasType, e.biasStride * (s64)at + (e.flags & FLAG_BIAS_COLUMNS ? col : row));
            above = !(v < 0); // 0 has a bit in the mask of RELU_AUX too
            if (e.aux && !gradient && !(e.flags & FLAG_BITS)) {
                u32 size = to_bits(v) & 0x7fffffff;
                mostAux = size > mostAux ? size : mostAux;
                write(e.aux, e.auxType, aux + row, v * sx);
            }
            if (e.act == 1 && !above)
                v = 0;
            if (e.act == 2)
                v = gelu(v);
            if (e.act == 3 && !(*(const u32 *)(e.aux + (u64)((aux + BLOCK_X * 32) / 8)) >> LANE & 1))
                v = 0;
            if (e.act == 4)
                v *= slope(read(e.aux, e.auxType, aux + row) * sx);
            if (e.flags & FLAG_KEEP) // for a sum of what D gets
                sums[(s64)col * e.m] = v;
            u32 size = to_bits(v) & 0x7fffffff;
            most = size > most ? size : most;
            if (!e.blocks)
                write(start(e.d, at, e.dType), e.dType, (s64)col * e.d.ld + row, v * sd);
        }
        if (e.blocks)
            quantise(e, row, col, at, v * sd);
        if (e.aux && !gradient && e.flags & FLAG_BITS) {
            u32 bits = __nvvm_vote_ballot_sync(~0u, above);
            if (LANE == 0)
                *(u32 *)(e.aux + (u64)((aux + BLOCK_X * 32) / 8)) = bits;
        }
    }
    largest(e.most, most);
    largest(e.mostAux, mostAux);
}

// nothing is where a largest size begins.
KERNEL nothing(u32 *most, u32 *mostAux) {
    if (most)
        *most = 0;
    if (mostAux)
        *mostAux = 0;
}
