// What the kernels of this folder share: types of elements, tensors, and sums over a warp.
#pragma once
#include "../../../cublas/kernels/device.h"

#define SYNC __nvvm_bar_warp_sync(~0u)
#define BLOCKS_Y __nvvm_read_ptx_sreg_nctaid_y()
#define BLOCKS_Z __nvvm_read_ptx_sreg_nctaid_z()
#define INLINE __device__ __attribute__((always_inline)) inline

struct e4m3 {
    u8 bits;
};
struct e5m2 {
    u8 bits;
};
struct boolean {
    u8 bits;
};

__device__ inline float bitsToFloat(u32 u) {
    union {
        u32 u;
        float f;
    } x = {u};
    return x.f;
}
__device__ inline u32 floatToBits(float f) {
    union {
        float f;
        u32 u;
    } x = {f};
    return x.u;
}

// Eight bits: the magnitude moved to where f32 has it and multiplied by the difference of the biases, so that subnormals need no branch.
__device__ inline float load(const e4m3 *p) {
    u32 b = p->bits, m = b & 0x7f;
    float v = bitsToFloat(m << 20) * 0x1p120f;
    if (m == 0x7f)
        v = bitsToFloat(0x7fffffff);
    return b & 0x80 ? -v : v;
}
__device__ inline float load(const e5m2 *p) {
    union {
        u16 u;
        f16 f;
    } x = {(u16)(p->bits << 8)};
    return (float)x.f;
}
__device__ inline int load(const u8 *p) { return *p; }
__device__ inline s64 load(const s64 *p) { return *p; }
__device__ inline int load(const boolean *p) { return p->bits != 0; }

// narrow rounds the magnitude of v to a format of 8 bits with FRAC bits of fraction: to the nearest, ties to even; finite values that
// are too large become LARGEST.
template <int FRAC, int BIAS, int LARGEST> __device__ inline u32 narrow(float v) {
    u32 u = floatToBits(v) & 0x7fffffff;
    if (u < (u32)(127 - BIAS + 1) << 23) { // a subnormal: the bits that stay are those of a sum with a number of the right size
        const float magic = bitsToFloat((u32)(127 - BIAS + 1 + 23 - FRAC) << 23);
        return floatToBits(bitsToFloat(u) + magic) - floatToBits(magic);
    }
    u32 r = u + ((1u << (22 - FRAC)) - 1) + (u >> (23 - FRAC) & 1);
    r = (r >> (23 - FRAC)) - ((u32)(127 - BIAS) << FRAC);
    return r > LARGEST ? LARGEST : r;
}

__device__ inline void store(e4m3 *p, float v) { p->bits = v != v ? 0x7f : (u8)(narrow<3, 7, 0x7e>(v) | (floatToBits(v) >> 24 & 0x80)); }
__device__ inline void store(e5m2 *p, float v) { p->bits = v != v ? 0x7f : (u8)(narrow<2, 15, 0x7b>(v) | (floatToBits(v) >> 24 & 0x80)); }
__device__ inline void store(boolean *p, int v) { p->bits = v != 0; }
__device__ inline void store(s8 *p, int v) { *p = v < -128 ? -128 : v > 127 ? 127 : v; }
__device__ inline void store(u8 *p, int v) { *p = v < 0 ? 0 : v > 255 ? 255 : v; }
__device__ inline void store(s64 *p, s64 v) { *p = v; }

// Whole numbers of a float: the nearest, ties to even; what is too large becomes the largest.
__device__ inline int whole(float v) { return __nvvm_f2i_rn(v); }
__device__ inline int whole(double v) { return __nvvm_d2i_rn(v); }
__device__ inline void store(int *p, float v) { *p = whole(v); }
__device__ inline void store(s8 *p, float v) { store(p, whole(v)); }
__device__ inline void store(u8 *p, float v) { store(p, whole(v)); }

// The numbers of Elem in tensor.go.
enum { E_F32, E_F64, E_F16, E_BF16, E_E4M3, E_E5M2, E_S8, E_U8, E_S32, E_S64, E_BOOL };

// loadAny and storeAny are for what is not worth a kernel a type.
__device__ inline double loadAny(u64 at, s64 i, u32 type) {
    switch (type) {
    case E_F32: return ((const float *)at)[i];
    case E_F64: return ((const double *)at)[i];
    case E_F16: return load((const f16 *)at + i);
    case E_BF16: return load((const bf16 *)at + i);
    case E_E4M3: return load((const e4m3 *)at + i);
    case E_E5M2: return load((const e5m2 *)at + i);
    case E_S8: return ((const s8 *)at)[i];
    case E_U8: return ((const u8 *)at)[i];
    case E_S32: return ((const int *)at)[i];
    case E_S64: return (double)((const s64 *)at)[i];
    default: return ((const u8 *)at)[i] != 0;
    }
}

__device__ inline void storeAny(u64 at, s64 i, u32 type, double v) {
    switch (type) {
    case E_F32: ((float *)at)[i] = (float)v; break;
    case E_F64: ((double *)at)[i] = v; break;
    case E_F16: ((f16 *)at)[i] = (f16)v; break;
    case E_BF16: store((bf16 *)at + i, (float)v); break;
    case E_E4M3: store((e4m3 *)at + i, (float)v); break;
    case E_E5M2: store((e5m2 *)at + i, (float)v); break;
    case E_S8: store((s8 *)at + i, whole(v)); break;
    case E_U8: store((u8 *)at + i, whole(v)); break;
    case E_S32: ((int *)at)[i] = whole(v); break;
    case E_S64: ((s64 *)at)[i] = __nvvm_d2ll_rn(v); break;
    default: ((u8 *)at)[i] = v != 0;
    }
}

enum { DIMS = 8 };

// Strided is where the elements of a tensor lie, for the sizes that a kernel has of its own.
struct Strided {
    u64 at;
    s64 stride[DIMS];
};

struct Sizes {
    u32 rank, unused;
    s64 dim[DIMS];
};

// each has the offsets in N tensors of the element with a number, in the order of indices.
template <int N> INLINE void place(const Sizes &s, u64 i, const Strided *(&t)[N], s64 (&off)[N]) {
#pragma unroll
    for (int n = 0; n < N; n++)
        off[n] = 0;
    for (int d = (int)s.rank - 1; d >= 0; d--) {
        u64 q = i / (u64)s.dim[d];
        s64 r = (s64)(i - q * (u64)s.dim[d]);
        i = q;
#pragma unroll
        for (int n = 0; n < N; n++)
            off[n] += r * t[n]->stride[d];
    }
}

template <class T> __device__ inline T warpSum(T v) {
#pragma unroll
    for (int d = 16; d; d >>= 1)
        v = v + other(v, d);
    return v;
}

template <class T> __device__ inline T warpMax(T v) {
#pragma unroll
    for (int d = 16; d; d >>= 1) {
        T w = other(v, d);
        v = w > v || w != w ? w : v;
    }
    return v;
}
