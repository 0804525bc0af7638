// What the kernels of this folder need of CUDA, without the vendor's headers, and the distributions that every generator shares.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define KERNEL extern "C" __global__ void

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define THREAD (__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define THREADS (__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())

// The mathematics is libdevice's. Products and sums are rounded one by one where a sequence is defined by it.
#pragma clang force_cuda_host_device begin
#include "../../../libdevice/c/kd.h"
#undef FN
#define FN static inline // only what is called becomes part of a module
#include "../../../libdevice/c/special.h"
#include "../../../libdevice/c/specialf.h"
#include "../../../libdevice/c/trig.h"
#include "../../../libdevice/c/trigf.h"
#pragma clang force_cuda_host_device end

// Uniform numbers of one 32-bit word and of two, never 0, 1 included.
__device__ inline float uniform(u32 x) { return (float)x * 0x1p-32f + 0x1p-33f; }
__device__ inline double uniform(u32 x, u32 y) { return (double)((u64)x ^ (u64)y << 21) * 0x1p-53 + 0x1p-54; }
// A double of one word, as the quasirandom generators and the tables have it.
__device__ inline double narrow(u32 x) { return (double)x * 0x1p-32 + 0x1p-33; }

template <class T> struct Pair {
    T a, b;
};

// Box and Muller's pair. The angle in single precision is rounded twice, which is how the sequence is defined.
__device__ inline Pair<float> normals(float u, float angle) {
    float s = __builtin_sqrtf(-2 * __nv_logf(u));
    return {s * __nv_sinf(angle), s * __nv_cosf(angle)};
}
__device__ inline float turned(u32 y) {
    float p = (float)y * 1.46291807926715968e-9f; // 2 pi / 2^32
    return __nvvm_add_rn_f(p, 0.73145903963357984e-9f);
}
__device__ inline Pair<double> normals(double u, double v) {
    double s = __builtin_sqrt(-2 * __nv_log(u));
    return {s * __nv_sinpi(2 * v), s * __nv_cospi(2 * v)};
}

// Scale is what is made of a standard normal number.
template <class T> struct Scale {
    T mean, deviation;
    u32 log;
    __device__ T of(T z) const;
};
template <> __device__ inline float Scale<float>::of(float z) const {
    float y = z * deviation + mean;
    return log ? __nv_expf(y) : y;
}
template <> __device__ inline double Scale<double>::of(double z) const {
    double y = z * deviation + mean;
    return log ? __nv_exp(y) : y;
}

// Histogram is a discrete distribution of Marsaglia's square form: cell j gives j below its bound and other[j] above it.
struct Histogram {
    const double *bound;
    const u32 *other;
    u32 shift, cells;
    __device__ u32 of(double u) const {
        u32 j = (u32)(u * cells);
        j = j < cells ? j : cells - 1;
        return shift + (u < bound[j] ? j : other[j]);
    }
};

// Quantiles is a discrete distribution by the sums of its probabilities.
struct Quantiles {
    const double *sum;
    u32 shift, cells;
    __device__ u32 of(double u) const {
        u32 low = 0, high = cells - 1;
        while (low < high) {
            u32 middle = (low + high) / 2;
            if (u <= sum[middle])
                high = middle;
            else
                low = middle + 1;
        }
        return shift + low;
    }
};

// rounded is the Poisson number of a normal one, for large expected values.
__device__ inline u32 rounded(float z, double lambda, double root) {
    double v = (double)z * root + lambda;
    return (u32)(v + 0.5);
}
