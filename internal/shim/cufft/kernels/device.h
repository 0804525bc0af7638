// What the kernels of this folder need of CUDA, without the vendor's headers, and complex numbers.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define KERNEL extern "C" __global__ void
// Parameters stay where they are when nothing is called with their address.
#define FN __device__ inline __attribute__((always_inline))
#define INLINE __attribute__((always_inline))

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long s64;

#define LANE __nvvm_read_ptx_sreg_tid_x()
#define BLOCK __nvvm_read_ptx_sreg_ctaid_x()
#define BLOCKS __nvvm_read_ptx_sreg_nctaid_x()
#define THREAD (BLOCK * (u64)__nvvm_read_ptx_sreg_ntid_x() + LANE)
#define THREADS (BLOCKS * (u64)__nvvm_read_ptx_sreg_ntid_x())

template <class T> struct alignas(2 * sizeof(T)) Complex {
    T x, y;
};
template <class T> using C = Complex<T>;

// number reads both parts at once, as two numbers and not as one of twice the size.
template <class T> FN C<T> number(const C<T> *p) {
    typedef T Pair __attribute__((ext_vector_type(2)));
    Pair v = *(const Pair *)p;
    return {v.x, v.y};
}

// put writes both parts at once.
template <class T> FN void put(C<T> *p, C<T> v) {
    typedef T Pair __attribute__((ext_vector_type(2)));
    *(Pair *)p = Pair{v.x, v.y};
}

template <class T> FN C<T> operator+(C<T> a, C<T> b) { return {a.x + b.x, a.y + b.y}; }
template <class T> FN C<T> operator-(C<T> a, C<T> b) { return {a.x - b.x, a.y - b.y}; }
template <class T> FN C<T> operator*(C<T> a, C<T> b) { return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }
// A quarter turn clockwise: times -i.
template <class T> FN C<T> turn(C<T> a) { return {a.y, -a.x}; }
template <class T> FN C<T> conj(C<T> a) { return {a.x, -a.y}; }

// Dim is one of the indices that number the transforms of a launch.
struct Dim {
    u64 count;
    s64 in, out; // elements from one to the next
};
