// Reading what all lanes share: from memory into every lane at once.
#pragma once

// keep has a number read where it stands: else clang picks the address before it reads, and what all lanes share becomes a gather.
__device__ inline void keep(float &v) { asm("" : "+f"(v)); }
__device__ inline void keep(double &v) { asm("" : "+d"(v)); }

// parts reads a complex number that all lanes share, one part after the other: as one number of 64 bits it comes into every lane by
// way of a register, and the two shuffles cost as much as two products.
template <class C, class R> __device__ inline C parts(const C *p) {
    R re = ((const R *)p)[0];
    keep(re);
    R im = ((const R *)p)[1];
    keep(im);
    return {re, im};
}

// pick is the group's own of G numbers. All are read by all lanes: what all share comes from memory into every lane at once.
template <int G, class W> __device__ __attribute__((always_inline)) W pick(const W (&v)[G], u32 group) {
    W a = v[0], b = v[1 % G], c = v[2 % G], d = v[G - 1];
    if (G == 2)
        return group & 1 ? d : a;
    W low = group & 1 ? b : a, high = group & 1 ? d : c;
    return group & 2 ? high : low;
}
