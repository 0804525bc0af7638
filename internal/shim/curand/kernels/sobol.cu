// Sobol's sequences: point i of a dimension is the exclusive or of the direction vectors that the bits of i's Gray code name, and
// of the dimension's scramble constant. The numbers of a dimension lie together.
#include "device.h"

template <class T> struct Dimension {
    const T *vectors;
    T scramble;
    __device__ T at(u64 i) const {
        T gray = (T)(i ^ i >> 1), x = scramble;
        for (int b = 0; gray; b++, gray >>= 1)
            x ^= vectors[b] & -(gray & 1);
        return x;
    }
};

template <class T, class F>
__device__ inline void each(const T *vectors, const T *scramble, u32 dimensions, u64 offset, u64 n, F put) {
    for (u32 d = __nvvm_read_ptx_sreg_ctaid_y(); d < dimensions; d += __nvvm_read_ptx_sreg_nctaid_y()) {
        Dimension<T> dim = {vectors + (u64)d * 8 * sizeof(T), scramble ? scramble[d] : (T)0};
        for (u64 i = THREAD; i < n; i += THREADS)
            put(d * n + i, dim.at(offset + i));
    }
}

__device__ inline float uniform32(u32 x) { return uniform(x); }
__device__ inline float uniform32(u64 x) { return uniform((u32)(x >> 32)); }
__device__ inline double uniform64(u32 x) { return ((double)x + 1) * 0x1p-32; }
__device__ inline double uniform64(u64 x) { return (double)(x >> 11) * 0x1p-53 + 0x1p-54; }
__device__ inline double cell(u32 x) { return narrow(x); }
__device__ inline double cell(u64 x) { return uniform64(x); }

#define POINTS(T) const T *vectors, const T *scramble, u32 dimensions, u64 offset, u64 n
#define GENERATOR(T, name)                                                                                                    \
    KERNEL name##_bits(POINTS(T), T *out) {                                                                                   \
        each(vectors, scramble, dimensions, offset, n, [=](u64 i, T x) { out[i] = x; });                                      \
    }                                                                                                                         \
    KERNEL name##_f32(POINTS(T), float *out) {                                                                                \
        each(vectors, scramble, dimensions, offset, n, [=](u64 i, T x) { out[i] = uniform32(x); });                           \
    }                                                                                                                         \
    KERNEL name##_f64(POINTS(T), double *out) {                                                                               \
        each(vectors, scramble, dimensions, offset, n, [=](u64 i, T x) { out[i] = uniform64(x); });                           \
    }                                                                                                                         \
    KERNEL name##_normal32(POINTS(T), float *out, float mean, float deviation, u32 log) {                                     \
        Scale<float> s = {mean, deviation, log};                                                                              \
        each(vectors, scramble, dimensions, offset, n,                                                                        \
             [=](u64 i, T x) { out[i] = s.of(__nv_normcdfinvf(uniform32(x))); });                                             \
    }                                                                                                                         \
    KERNEL name##_normal64(POINTS(T), double *out, double mean, double deviation, u32 log) {                                  \
        Scale<double> s = {mean, deviation, log};                                                                             \
        each(vectors, scramble, dimensions, offset, n, [=](u64 i, T x) { out[i] = s.of(__nv_normcdfinv(cell(x))); });         \
    }                                                                                                                         \
    KERNEL name##_cells(POINTS(T), u32 *out, const double *bound, const u32 *other, u32 shift, u32 cells) {                   \
        Histogram h = {bound, other, shift, cells};                                                                           \
        each(vectors, scramble, dimensions, offset, n, [=](u64 i, T x) { out[i] = h.of(uniform64(x)); });                     \
    }                                                                                                                         \
    KERNEL name##_quantile(POINTS(T), u32 *out, const double *sum, u32 shift, u32 cells) {                                    \
        Quantiles q = {sum, shift, cells};                                                                                    \
        each(vectors, scramble, dimensions, offset, n, [=](u64 i, T x) { out[i] = q.of(uniform64(x)); });                          \
    }                                                                                                                         \
    KERNEL name##_rounded(POINTS(T), u32 *out, double lambda, double root) {                                                  \
        each(vectors, scramble, dimensions, offset, n,                                                                        \
             [=](u64 i, T x) { out[i] = rounded(__nv_normcdfinvf(uniform32(x)), lambda, root); });                            \
    }
GENERATOR(u32, sobol32)
GENERATOR(u64, sobol64)
