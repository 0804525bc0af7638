// Sum of an array: each thread sums a stride, warps sum by shuffles, blocks through shared memory.
#include "../device.h"

KERNEL reduce(const float *in, float *out, int n) {
    __shared__ float part[32];
    int tid = THREAD_X;
    float sum = 0;
    for (int i = BLOCK_X * BLOCK_DIM_X + tid; i < n; i += BLOCK_DIM_X * GRID_DIM_X) sum += in[i];
    for (int d = 16; d > 0; d >>= 1) sum += shuffle_down(sum, d);
    if ((tid & 31) == 0) part[tid >> 5] = sum;
    barrier();
    if (tid < 32) {
        sum = tid < (BLOCK_DIM_X >> 5) ? part[tid] : 0.0f;
        for (int d = 16; d > 0; d >>= 1) sum += shuffle_down(sum, d);
        if (tid == 0) out[BLOCK_X] = sum;
    }
}
