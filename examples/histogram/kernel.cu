// 256-bin histogram of bytes: shared-memory atomics per block, global atomics to merge.
#include "../device.h"

KERNEL histogram(const unsigned char *in, unsigned *bins, int n) {
    __shared__ unsigned part[256];
    for (int i = THREAD_X; i < 256; i += BLOCK_DIM_X) part[i] = 0;
    barrier();
    for (int i = BLOCK_X * BLOCK_DIM_X + THREAD_X; i < n; i += BLOCK_DIM_X * GRID_DIM_X) atomic_add(&part[in[i]], 1);
    barrier();
    for (int i = THREAD_X; i < 256; i += BLOCK_DIM_X)
        if (part[i]) atomic_add(&bins[i], part[i]);
}
