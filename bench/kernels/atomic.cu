// Histograms and sparse matrices: addresses that the data choose.
#include "device.h"

// Counts of a block in shared memory, merged by global atomics.
KERNEL histogram_shared(GLOBAL const uchar *RESTRICT in, GLOBAL uint *RESTRICT bins, int n) {
    SHARED uint part[256];
    for (int i = TX; i < 256; i += NX) part[i] = 0;
    SYNC;
    for (int i = BX * NX + TX; i < n; i += NX * GX) ATOMIC_ADD(&part[in[i]], 1u);
    SYNC;
    for (int i = TX; i < 256; i += NX)
        if (part[i]) ATOMIC_ADD(&bins[i], part[i]);
}

KERNEL histogram_global(GLOBAL const uint *RESTRICT in, GLOBAL uint *RESTRICT bins, int n, int mask) {
    int i = BX * NX + TX;
    if (i < n) ATOMIC_ADD(&bins[in[i] & (uint)mask], 1u);
}

// CSR, a thread for each row.
KERNEL spmv_scalar(GLOBAL const int *RESTRICT start, GLOBAL const int *RESTRICT col, GLOBAL const float *RESTRICT val,
                   GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT y, int rows) {
    int r = BX * NX + TX;
    if (r >= rows) return;
    float s = 0;
    for (int i = start[r]; i < start[r + 1]; i++) s = FMA(val[i], x[col[i]], s);
    y[r] = s;
}

// CSR, a warp for each row, the lanes' sums added by shuffles.
KERNEL spmv_vector(GLOBAL const int *RESTRICT start, GLOBAL const int *RESTRICT col, GLOBAL const float *RESTRICT val,
                   GLOBAL const float *RESTRICT x, GLOBAL float *RESTRICT y, int rows) {
    int r = (BX * NX + TX) >> 5, lane = TX & 31;
    float s = 0;
    if (r < rows)
        for (int i = start[r] + lane; i < start[r + 1]; i += 32) s = FMA(val[i], x[col[i]], s);
#ifdef __OPENCL_VERSION__
    SHARED float part[256];
    part[TX] = s;
    for (int d = 16; d; d >>= 1) {
        SYNC;
        if (lane < d) part[TX] += part[TX + d];
    }
    SYNC;
    if (r < rows && lane == 0) y[r] = part[TX];
#else
    for (int d = 16; d; d >>= 1) s += SHFL_XOR(s, d);
    if (r < rows && lane == 0) y[r] = s;
#endif
}
