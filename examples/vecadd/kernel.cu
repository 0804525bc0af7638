// c = a + b, one element a thread.
#include "../device.h"

KERNEL vecadd(const float *a, const float *b, float *c, int n) {
    int i = BLOCK_X * BLOCK_DIM_X + THREAD_X;
    if (i < n) c[i] = a[i] + b[i];
}
