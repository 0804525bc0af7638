// Many small matrices, and sums that meet in memory.
#include "program.h"

#ifdef __OPENCL_VERSION__
FUNCTION void atomic_add_f(volatile GLOBAL float *p, float v) {
    volatile GLOBAL uint *u = (volatile GLOBAL uint *)p;
    uint seen = *u, next;
    for (;;) {
        next = as_uint(as_float(seen) + v);
        uint now = atomic_cmpxchg(u, seen, next);
        if (now == seen) return;
        seen = now;
    }
}
#define ATOMIC_ADD_F(p, v) atomic_add_f(p, v)
#elif defined(__AMDGCN__)
#define ATOMIC_ADD_F(p, v) __hip_atomic_fetch_add((p), (v), __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT)
#else
#define ATOMIC_ADD_F(p, v) __nvvm_atom_add_gen_f((p), (v))
#endif

// Cholesky of 8 x 8, a thread a matrix, in registers. A matrix's 64 elements lie together; the upper half is not read.
KERNEL cholesky8(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out) {
    float a[8][8];
    int base = (BX * NX + TX) * 64;
#pragma unroll
    for (int r = 0; r < 8; r++)
#pragma unroll
        for (int c = 0; c <= r; c++) a[r][c] = in[base + r * 8 + c];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float d = SQRT(a[k][k]);
        a[k][k] = d;
#pragma unroll
        for (int r = k + 1; r < 8; r++) a[r][k] = a[r][k] / d;
#pragma unroll
        for (int c = k + 1; c < 8; c++)
#pragma unroll
            for (int r = c; r < 8; r++) a[r][c] = FMA(-a[r][k], a[c][k], a[r][c]);
    }
#pragma unroll
    for (int r = 0; r < 8; r++)
#pragma unroll
        for (int c = 0; c < 8; c++) out[base + r * 8 + c] = c <= r ? a[r][c] : 0;
}

// LU with pivots of 8 x 8, a block of 64 threads a matrix, in shared memory.
KERNEL lu8_pivot(GLOBAL const float *RESTRICT in, GLOBAL float *RESTRICT out, GLOBAL int *RESTRICT pivots) {
    SHARED float a[8][8];
    int r = TX >> 3, c = TX & 7;
    a[r][c] = in[BX * 64 + TX];
    SYNC;
    for (int k = 0; k < 8; k++) {
        int p = k;
        for (int i = k + 1; i < 8; i++)
            if (ABS(a[i][k]) > ABS(a[p][k])) p = i;
        float low = a[k][c], high = a[p][c];
        SYNC;
        if (r == k) a[k][c] = high;
        if (r == p && p != k) a[p][c] = low;
        if (TX == 0) pivots[BX * 8 + k] = p;
        SYNC;
        float factor = a[r][k] / a[k][k];
        SYNC;
        if (r > k) a[r][c] = c > k ? FMA(-factor, a[k][c], a[r][c]) : c == k ? factor : a[r][c];
        SYNC;
    }
    out[BX * 64 + TX] = a[r][c];
}

// Gradients of an embedding: rows of 64 floats are added to the rows that an index names.
KERNEL scatter_add(GLOBAL const float *RESTRICT in, GLOBAL const int *RESTRICT index, GLOBAL float *RESTRICT out) {
    int i = BX * NX + TX;
    ATOMIC_ADD_F(&out[index[i >> 6] * 64 + (i & 63)], in[i]);
}
// Weights of particles on a grid: every thread adds to a cell of its own choice.
KERNEL deposit(GLOBAL const int *RESTRICT cell, GLOBAL const float *RESTRICT weight, GLOBAL float *RESTRICT grid) {
    int i = BX * NX + TX;
    ATOMIC_ADD_F(&grid[cell[i]], weight[i]);
}
