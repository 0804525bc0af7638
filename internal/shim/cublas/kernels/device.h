// What the kernels of this folder need of CUDA, without the vendor's headers: clang's builtins under the usual names.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define KERNEL extern "C" __global__ void

typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef long long s64;
typedef unsigned long long u64;
typedef _Float16 f16;

struct bf16 {
    u16 bits;
};
struct c32 {
    float re, im;
};
struct c64 {
    double re, im;
};

#define LANE __nvvm_read_ptx_sreg_tid_x()
#define WARP __nvvm_read_ptx_sreg_tid_y()
#define BLOCK_X __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCK_Y __nvvm_read_ptx_sreg_ctaid_y()
#define BLOCK_Z __nvvm_read_ptx_sreg_ctaid_z()
#define BLOCKS_X __nvvm_read_ptx_sreg_nctaid_x()
#define THREADS_X __nvvm_read_ptx_sreg_ntid_x()

template <class T> struct Wide {
    typedef T type;
};
template <> struct Wide<f16> {
    typedef float type;
};
template <> struct Wide<bf16> {
    typedef float type;
};

// load and store convert between what lies in memory and what is computed with.
__device__ inline float load(const float *p) { return *p; }
__device__ inline double load(const double *p) { return *p; }
__device__ inline float load(const f16 *p) { return (float)*p; }
__device__ inline float load(const bf16 *p) {
    union {
        u32 u;
        float f;
    } x = {(u32)p->bits << 16};
    return x.f;
}
__device__ inline c32 load(const c32 *p) { return *p; }
__device__ inline c64 load(const c64 *p) { return *p; }
__device__ inline int load(const s8 *p) { return *p; }
__device__ inline int load(const int *p) { return *p; }

__device__ inline void store(float *p, float v) { *p = v; }
__device__ inline void store(double *p, double v) { *p = v; }
__device__ inline void store(f16 *p, float v) { *p = (f16)v; }
__device__ inline void store(bf16 *p, float v) {
    union {
        float f;
        u32 u;
    } x = {v};
    u32 round = x.u + 0x7fff + (x.u >> 16 & 1);
    p->bits = v != v ? 0x7fff : (u16)(round >> 16);
}
__device__ inline void store(c32 *p, c32 v) { *p = v; }
__device__ inline void store(c64 *p, c64 v) { *p = v; }
__device__ inline void store(int *p, int v) { *p = v; }

__device__ inline float conj(float a) { return a; }
__device__ inline double conj(double a) { return a; }
__device__ inline int conj(int a) { return a; }
__device__ inline c32 conj(c32 a) { return {a.re, -a.im}; }
__device__ inline c64 conj(c64 a) { return {a.re, -a.im}; }

__device__ inline float mul(float a, float b) { return a * b; }
__device__ inline double mul(double a, double b) { return a * b; }
__device__ inline int mul(int a, int b) { return a * b; }
__device__ inline c32 mul(c32 a, c32 b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
__device__ inline c64 mul(c64 a, c64 b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }

__device__ inline float add(float a, float b) { return a + b; }
__device__ inline double add(double a, double b) { return a + b; }
__device__ inline int add(int a, int b) { return a + b; }
__device__ inline c32 add(c32 a, c32 b) { return {a.re + b.re, a.im + b.im}; }
__device__ inline c64 add(c64 a, c64 b) { return {a.re + b.re, a.im + b.im}; }

__device__ inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
__device__ inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
__device__ inline int fma(int a, int b, int c) { return a * b + c; }
__device__ inline c32 fma(c32 a, c32 b, c32 c) {
    return {__builtin_fmaf(a.re, b.re, __builtin_fmaf(-a.im, b.im, c.re)), __builtin_fmaf(a.re, b.im, __builtin_fmaf(a.im, b.re, c.im))};
}
__device__ inline c64 fma(c64 a, c64 b, c64 c) {
    return {__builtin_fma(a.re, b.re, __builtin_fma(-a.im, b.im, c.re)), __builtin_fma(a.re, b.im, __builtin_fma(a.im, b.re, c.im))};
}

__device__ inline bool zero(float a) { return a == 0; }
__device__ inline bool zero(double a) { return a == 0; }
__device__ inline bool zero(int a) { return a == 0; }
__device__ inline bool zero(c32 a) { return a.re == 0 && a.im == 0; }
__device__ inline bool zero(c64 a) { return a.re == 0 && a.im == 0; }

__device__ inline float sub(float a, float b) { return a - b; }
__device__ inline double sub(double a, double b) { return a - b; }
__device__ inline c32 sub(c32 a, c32 b) { return {a.re - b.re, a.im - b.im}; }
__device__ inline c64 sub(c64 a, c64 b) { return {a.re - b.re, a.im - b.im}; }

// div divides complex numbers by the larger part of the divisor, so that no square overflows.
template <class C, class R> __device__ inline C quotient(C a, C b) {
    R x = b.re < 0 ? -b.re : b.re, y = b.im < 0 ? -b.im : b.im;
    if (x >= y) {
        R r = b.im / b.re, d = b.re + b.im * r;
        return {(a.re + a.im * r) / d, (a.im - a.re * r) / d};
    }
    R r = b.re / b.im, d = b.re * r + b.im;
    return {(a.re * r + a.im) / d, (a.im * r - a.re) / d};
}
__device__ inline float div(float a, float b) { return a / b; }
__device__ inline double div(double a, double b) { return a / b; }
__device__ inline c32 div(c32 a, c32 b) { return quotient<c32, float>(a, b); }
__device__ inline c64 div(c64 a, c64 b) { return quotient<c64, double>(a, b); }

// real is what stays of a number on the diagonal of a Hermitian matrix.
__device__ inline float real(float a) { return a; }
__device__ inline double real(double a) { return a; }
__device__ inline int real(int a) { return a; }
__device__ inline c32 real(c32 a) { return {a.re, 0}; }
__device__ inline c64 real(c64 a) { return {a.re, 0}; }

// size1 is BLAS's size of a number: |re| + |im|.
__device__ inline float size1(float a) { return __builtin_fabsf(a); }
__device__ inline double size1(double a) { return __builtin_fabs(a); }
__device__ inline float size1(c32 a) { return __builtin_fabsf(a.re) + __builtin_fabsf(a.im); }
__device__ inline double size1(c64 a) { return __builtin_fabs(a.re) + __builtin_fabs(a.im); }

// other is the value another lane of the warp has.
template <class T> __device__ inline T other(T v, int distance) {
    union {
        T t;
        int w[sizeof(T) / 4];
    } u;
    u.t = v;
#pragma unroll
    for (int i = 0; i < (int)(sizeof(T) / 4); i++)
        u.w[i] = __nvvm_shfl_sync_bfly_i32(~0u, u.w[i], distance, 31);
    return u.t;
}

// Scalar is alpha or beta: a value, or the device address of one that is read when the kernel runs.
struct Scalar {
    double re, im;
    const void *at; // 0: re and im count
    u32 type;       // of *at, a TYPE_ number
    u32 conj;       // the conjugate of it is meant
};

// The numbers of Elem in elem.go.
enum { TYPE_F32, TYPE_F64, TYPE_F16, TYPE_BF16, TYPE_C32, TYPE_C64, TYPE_S8, TYPE_S32 };

__device__ inline void set(float *p, double re, double) { *p = (float)re; }
__device__ inline void set(double *p, double re, double) { *p = re; }
__device__ inline void set(int *p, double re, double) { *p = (int)re; }
__device__ inline void set(c32 *p, double re, double im) { *p = {(float)re, (float)im}; }
__device__ inline void set(c64 *p, double re, double im) { *p = {re, im}; }

template <class T> __device__ inline T value(const Scalar &s) {
    double re = s.re, im = s.im;
    if (s.at) {
        im = 0;
        switch (s.type) {
        case TYPE_F32: re = *(const float *)s.at; break;
        case TYPE_F64: re = *(const double *)s.at; break;
        case TYPE_F16: re = (double)(float)*(const f16 *)s.at; break;
        case TYPE_S32: re = *(const int *)s.at; break;
        case TYPE_C32: re = ((const c32 *)s.at)->re, im = ((const c32 *)s.at)->im; break;
        case TYPE_C64: re = ((const c64 *)s.at)->re, im = ((const c64 *)s.at)->im; break;
        }
    }
    T v;
    set(&v, re, s.conj ? -im : im);
    return v;
}

// Vec is a vector: its first element in BLAS's order, and elements to the next, which may be negative.
struct Vec {
    u64 base;
    s64 inc;
};

template <class T> __device__ inline T *at(const Vec &v, u64 i) { return (T *)v.base + (s64)i * v.inc; }

// View is a matrix of a batch: base + i × stride elements, or the i-th address of a list in device memory.
struct View {
    u64 base;
    s64 stride; // in elements, between matrices of the batch; with a list: where in every matrix to begin
    s64 ld;     // between columns
    u32 list;   // base is the address of an array of addresses
    u32 op;     // 0 as it is, 1 transposed, 2 conjugated and transposed, 3 conjugated
};

template <class T> __device__ inline T *matrix(const View &v, u32 i) {
    return v.list ? ((T **)v.base)[i] + v.stride : (T *)v.base + v.stride * (s64)i;
}
