// saxpy: a grid-stride loop, launched through the parameter buffer ("extra") instead of kernelParams.
#include "../host.h"
#include <stddef.h>

int main(void) {
    int n = small() ? 5000 : 8 * 1000 * 1000;
    float s = 2.5f;
    size_t bytes = (size_t)n * sizeof(float);
    float *x = malloc(bytes), *y = malloc(bytes), *z = malloc(bytes);
    for (int i = 0; i < n; i++) x[i] = uniform(), y[i] = uniform();
    CUfunction f = open_device("saxpy");
    CUdeviceptr dx = upload(x, bytes), dy = upload(y, bytes);
    struct params {
        float s;
        CUdeviceptr x, y;
        int n;
    } p = {s, dx, dy, n};
    /* The driver wants the size of the parameters: without the padding that C puts behind n. */
    size_t size = offsetof(struct params, n) + sizeof p.n;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    double t = 1e30;
    for (int round = 0; round < 5; round++) {
        CHECK(cuMemcpyHtoD(dy, y, bytes));
        double once = BEST_OF(1, cuLaunchKernel(f, 512, 1, 1, 256, 1, 1, 0, 0, 0, extra));
        if (once < t) t = once;
    }
    CHECK(cuMemcpyDtoH(z, dy, bytes));
    int ok = 1;
    for (int i = 0; i < n; i++) ok &= z[i] == fmaf(s, x[i], y[i]);
    return report(ok, checksum(z, bytes), t, 3.0 * bytes, "GB/s");
}
