// matmul: tiles in shared memory with barriers in a loop. Checked exactly: both sides add in the same order.
#include "../host.h"

int main(void) {
    int n = small() ? 64 : 1024;
    size_t bytes = (size_t)n * n * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
    for (int i = 0; i < n * n; i++) a[i] = uniform() - 0.5f, b[i] = uniform() - 0.5f;
    CUfunction f = open_device("matmul");
    CUdeviceptr da = upload(a, bytes), db = upload(b, bytes), dc = upload(NULL, bytes);
    void *args[] = {&da, &db, &dc, &n};
    double t = BEST_OF(5, cuLaunchKernel(f, n / 32, n / 32, 1, 32, 32, 1, 0, 0, args, 0));
    CHECK(cuMemcpyDtoH(c, dc, bytes));
    int ok = 1;
    for (int check = 0; check < 2000; check++) {
        int row = (int)(rng() % (uint32_t)n), col = (int)(rng() % (uint32_t)n);
        float sum = 0;
        for (int k = 0; k < n; k++) sum = fmaf(a[row * n + k], b[k * n + col], sum);
        ok &= sum == c[row * n + col];
    }
    return report(ok, checksum(c, bytes), t, 2.0 * n * n * n, "GFLOP/s");
}
