// C = A × B for square matrices, 32×32 tiles in shared memory.
#include "../device.h"
#define TILE 32

KERNEL matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[TILE][TILE], tb[TILE][TILE];
    int x = THREAD_X, y = THREAD_Y;
    int col = BLOCK_X * TILE + x, row = BLOCK_Y * TILE + y;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        ta[y][x] = a[row * n + k + x];
        tb[y][x] = b[(k + y) * n + col];
        barrier();
        for (int i = 0; i < TILE; i++) sum = __builtin_fmaf(ta[y][i], tb[i][x], sum);
        barrier();
    }
    c[row * n + col] = sum;
}
