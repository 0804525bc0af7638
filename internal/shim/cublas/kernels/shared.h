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
