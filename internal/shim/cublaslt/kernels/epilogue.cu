// What follows a product: D = act(alpha S + beta C + bias), S being the sums that cuBLAS's kernels left.
#include "../../cublas/kernels/device.h"
#include "gelu.h"

// Epilogue is everything but the numbers' types.
struct Epilogue {
    u64 sums;       // columns of m
    s64 sumsStride; // between matrices of the batch
    View c, d;
    Scalar alpha, beta;
    u64 bias;
    s64 biasStride;
    u64 aux;
    s64 auxLD, auxStride;
    const float *scaleA, *scaleB, *scaleC, *scaleD; // factors on the device, 0: none
    u32 m, n;
    u32 act;      // 1 relu, 2 gelu; 3 and 4 their gradients at what aux has
    u32 biasType; // a TYPE_ number
    u32 flags;    // FLAG_
    u32 first;    // matrix of the batch
};

enum { FLAG_BIAS_COLUMNS = 1, FLAG_ALPHA_VECTOR = 2, FLAG_BETA_VECTOR = 4, FLAG_VECTOR_COLUMNS = 8, FLAG_BITS = 16, FLAG_KEEP = 32 };

__device__ inline void round_to(s8 *p, float v) {
    v = __builtin_rintf(v);
    *p = v != v ? 0 : v < -128 ? -128 : v > 127 ? 127 : (s8)(int)v;
}
template <class D, class W> __device__ inline void round_to(D *p, W v) { store(p, v); }

__device__ inline u32 bytes_of(u32 type) {
    switch (type) {
    case TYPE_F16: case TYPE_BF16: return 2;
    case TYPE_F64: case TYPE_C32: return 8;
    case TYPE_C64: return 16;
    case TYPE_S8: return 1;
    }
    return 4;
}

template <class W> __device__ inline W element(u64 at, u32 type, u64 i) {
    Scalar s = {0, 0, (const void *)(at + i * bytes_of(type)), type, 0};
    if (type == TYPE_BF16) {
        W v;
        set(&v, load((const bf16 *)s.at), 0);
        return v;
    }
    return value<W>(s);
}

__device__ inline float factor(const float *p) { return p ? *p : 1.0f; }
__device__ inline float times(float v, float f) { return v * f; }
__device__ inline double times(double v, float f) { return v * f; }
__device__ inline int times(int v, float) { return v; } // scales are for floating point
__device__ inline c32 times(c32 v, float f) { return {v.re * f, v.im * f}; }
__device__ inline c64 times(c64 v, float f) { return {v.re * f, v.im * f}; }

__device__ inline double gelu(double x) { return gelu((float)x); }
__device__ inline int gelu(int x) { return x; }
__device__ inline c32 gelu(c32 x) { return x; }
__device__ inline c64 gelu(c64 x) { return x; }

__device__ inline float slope(double x) { return slope((float)x); }
template <class T> __device__ inline float slope(T x) { return 1; }

// The mask of RELU_AUX has a bit for 0 too, as an H200's.
__device__ inline bool positive(float x) { return x >= 0; }
__device__ inline bool positive(double x) { return x >= 0; }
__device__ inline bool positive(int x) { return x >= 0; }
__device__ inline bool positive(c32 x) { return true; }
__device__ inline bool positive(c64 x) { return true; }

template <class T> __device__ inline bool is_nan(T v) { return false; }
__device__ inline bool is_nan(float v) { return v != v; }
__device__ inline bool is_nan(double v) { return v != v; }

__device__ inline float widen(int v, float *) { return (float)v; }
template <class S> __device__ inline S widen(S v, S *) { return v; }

template <class S> __device__ inline void narrow(S *p, S v) { *p = v; }
template <class S, class W> __device__ inline void narrow(S *, W) {} // sums of integers: there are no gradients

template <class S, class W, class D> __device__ void epilogue(const Epilogue &e) {
    u32 row = BLOCK_X * 32 + LANE, batch = BLOCK_Z, at = e.first + batch;
    bool mine = row < e.m;
    S *sums = (S *)e.sums + e.sumsStride * (s64)batch + row;
    bool gradient = e.act >= 3;
    float ab = factor(e.scaleA) * factor(e.scaleB), sc = factor(e.scaleC), sd = factor(e.scaleD);
    for (u32 col = BLOCK_Y * 32; col < e.n && col < BLOCK_Y * 32 + 32; col++) {
        W v = {};
        bool above = false;
        if (mine) {
            u32 across = e.flags & FLAG_VECTOR_COLUMNS ? col : row;
            W alpha = e.flags & FLAG_ALPHA_VECTOR ? element<W>((u64)e.alpha.at, e.alpha.type, across) : value<W>(e.alpha);
            W beta = e.flags & FLAG_BETA_VECTOR ? element<W>((u64)e.beta.at, e.beta.type, across) : value<W>(e.beta);
            v = mul(times(alpha, ab), widen(sums[(s64)col * e.m], (W *)0));
            if (!zero(beta)) {
                W c = load(matrix<const D>(e.c, at) + (s64)col * e.c.ld + row);
                v = fma(times(beta, sc), c, v);
            }
            if (e.bias)
                v = add(v, element<W>(e.bias, e.biasType, (u64)(e.biasStride * (s64)at) + (e.flags & FLAG_BIAS_COLUMNS ? col : row)));
            above = positive(v) || is_nan(v);
            if (e.aux && !gradient && !(e.flags & FLAG_BITS))
                round_to((D *)e.aux + e.auxStride * (s64)at + (s64)col * e.auxLD + row, v);
            if (e.act == 1 && !above)
                v = W{};
            if (e.act == 2)
                v = gelu(v);
            if (e.act == 3 && !(*(const u32 *)(e.aux + (u64)((e.auxStride * (s64)at + (s64)col * e.auxLD + BLOCK_X * 32) / 8)) >> LANE & 1))
                v = W{};
            if (e.act == 4)
                v = times(v, slope(load((const D *)e.aux + e.auxStride * (s64)at + (s64)col * e.auxLD + row)));
            if (e.flags & FLAG_KEEP) // for a sum of what D gets
                narrow(sums + (s64)col * e.m, v);
            round_to(matrix<D>(e.d, at) + (s64)col * e.d.ld + row, times(v, sd));
        }
        if (e.aux && !gradient && e.flags & FLAG_BITS) { // one bit an element, whole words of 32 rows
            u32 bits = __nvvm_vote_ballot_sync(~0u, above);
            if (LANE == 0)
                *(u32 *)(e.aux + (u64)((e.auxStride * (s64)at + (s64)col * e.auxLD + BLOCK_X * 32) / 8)) = bits;
        }
    }
}

#define EPILOGUE(name, S, W, D)                                                                                                \
    KERNEL epilogue_##name(Epilogue e) { epilogue<S, W, D>(e); }
EPILOGUE(f32_f32, float, float, float)
EPILOGUE(f32_f16, float, float, f16)
EPILOGUE(f32_bf16, float, float, bf16)
EPILOGUE(f64_f64, double, double, double)
EPILOGUE(c32_c32, c32, c32, c32)
EPILOGUE(c64_c64, c64, c64, c64)
EPILOGUE(s32_s32, int, int, int)
EPILOGUE(s32_s8, int, float, s8)
EPILOGUE(s32_f32, int, float, float)

// Gradient is of a bias: the sum of each row of a matrix, or of each column.
struct Gradient {
    View v;
    s64 along, step; // from one sum to the next, and within a sum
    u64 bias;
    s64 biasStride;
    u32 n, k;
    u32 biasType;
    u32 first; // matrix of the batch
    u32 warps, pad; // a sum is a warp's, not a lane's
};

// gradient adds in f64: the order of the sum does not show.
template <class T> __device__ void gradient(const Gradient &g) {
    u32 i = g.warps ? BLOCK_X : BLOCK_X * 32 + LANE, batch = BLOCK_Z;
    const T *p = matrix<const T>(g.v, batch) + (s64)i * g.along;
    double sum = 0;
    if (g.warps) {
        for (u32 l = LANE; l < g.k; l += 32)
            sum += load(p + (s64)l * g.step);
        for (int d = 16; d; d /= 2)
            sum += other(sum, d);
    } else if (i < g.n) {
        for (u32 l = 0; l < g.k; l++)
            sum += load(p + (s64)l * g.step);
    }
    if (i >= g.n || (g.warps && LANE != 0))
        return;
    u64 at = g.bias + (u64)(g.biasStride * (s64)(g.first + batch) + i) * bytes_of(g.biasType);
    switch (g.biasType) {
    case TYPE_F16: store((f16 *)at, (float)sum); break;
    case TYPE_BF16: store((bf16 *)at, (float)sum); break;
    case TYPE_F64: *(double *)at = sum; break;
    default: *(float *)at = (float)sum;
    }
}

KERNEL gradient_f32(Gradient g) { gradient<float>(g); }
KERNEL gradient_f64(Gradient g) { gradient<double>(g); }
KERNEL gradient_f16(Gradient g) { gradient<f16>(g); }
KERNEL gradient_bf16(Gradient g) { gradient<bf16>(g); }
