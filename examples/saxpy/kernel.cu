// y = s*x + y over a grid-stride loop.
#include "../device.h"

KERNEL saxpy(float s, const float *x, float *y, int n) {
    for (int i = BLOCK_X * BLOCK_DIM_X + THREAD_X; i < n; i += BLOCK_DIM_X * GRID_DIM_X) y[i] = __builtin_fmaf(s, x[i], y[i]);
}
