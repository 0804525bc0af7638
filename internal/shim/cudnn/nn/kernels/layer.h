// What the layers of this folder share that scale their result: y = alpha * result + beta * y. Types are chosen when a kernel runs; A is
// the type that is computed with, f32 or f64.
#pragma once
#include "tensor.h"

#pragma clang force_cuda_host_device begin
#define whole wholeOf // tensor.h has one, too
#include "../../../../libdevice/c/kd.h"
#undef FN
#define FN static inline // only what is called becomes part of a module
#include "../../../../libdevice/c/special.h"
#include "../../../../libdevice/c/specialf.h"
#undef whole
#pragma clang force_cuda_host_device end

__device__ inline float expOf(float x) { return __nv_expf(x); }
__device__ inline double expOf(double x) { return __nv_exp(x); }
__device__ inline float logOf(float x) { return __nv_logf(x); }
__device__ inline double logOf(double x) { return __nv_log(x); }
__device__ inline float powOf(float x, float y) { return __nv_powf(x, y); }
__device__ inline double powOf(double x, double y) { return __nv_pow(x, y); }

// get and put are loadAny and storeAny for floats of at most the size of A.
template <class A> struct As;
template <> struct As<float> {
    static INLINE float get(u64 at, s64 i, u32 type) {
        if (type == E_F32)
            return ((const float *)at)[i];
        if (type == E_F16)
            return load((const f16 *)at + i);
        if (type == E_BF16)
            return load((const bf16 *)at + i);
        return (float)loadAny(at, i, type);
    }
    static INLINE void put(u64 at, s64 i, u32 type, float v) {
        if (type == E_F32)
            ((float *)at)[i] = v;
        else if (type == E_F16)
            ((f16 *)at)[i] = (f16)v;
        else if (type == E_BF16)
            store((bf16 *)at + i, v);
        else
            storeAny(at, i, type, v);
    }
};
template <> struct As<double> {
    static INLINE double get(u64 at, s64 i, u32 type) { return type == E_F64 ? ((const double *)at)[i] : loadAny(at, i, type); }
    static INLINE void put(u64 at, s64 i, u32 type, double v) {
        if (type == E_F64)
            ((double *)at)[i] = v;
        else
            storeAny(at, i, type, v);
    }
};

struct Scale {
    double alpha, beta;
};

// mix puts a result where beta keeps a part of what was there. With a beta of 0 that is not read.
template <class A> INLINE void mix(const Scale &s, u64 at, s64 i, u32 type, A v) {
    v = (A)s.alpha * v;
    if (s.beta != 0)
        v += (A)s.beta * As<A>::get(at, i, type);
    As<A>::put(at, i, type, v);
}

#define FIRST ((u64)BLOCK_X * 32 + LANE)
#define STEP ((u64)BLOCKS_X * 32)
