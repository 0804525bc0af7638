// A small matrix of one warp.
#pragma once
#include "panel.h"

enum { SIDE = 32 }; // rows, and lanes

// Tile is a small matrix in shared memory, columns together, split complex: real parts, then imaginary ones, so that
// lanes read what lies together.
template <class T, u32 COLUMNS = SIDE> struct Tile {
    typedef typename Real<T>::type R;
    R *p;
    __device__ T get(u32 i, u32 j) const {
        T v;
        make(&v, p[j * SIDE + i], sizeof(T) > sizeof(R) ? p[SIDE * COLUMNS + j * SIDE + i] : R(0));
        return v;
    }
    __device__ void put(u32 i, u32 j, T v) const {
        p[j * SIDE + i] = re(v);
        if (sizeof(T) > sizeof(R))
            p[SIDE * COLUMNS + j * SIDE + i] = im(v);
    }
};
