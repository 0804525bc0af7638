// vecadd: the smallest useful CUDA program.
#include "../host.h"

int main(void) {
    int n = small() ? 5000 : 8 * 1000 * 1000;
    size_t bytes = (size_t)n * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
    for (int i = 0; i < n; i++) a[i] = uniform(), b[i] = uniform();
    CUfunction f = open_device("vecadd");
    CUdeviceptr da = upload(a, bytes), db = upload(b, bytes), dc = upload(NULL, bytes);
    void *args[] = {&da, &db, &dc, &n};
    double t = BEST_OF(5, cuLaunchKernel(f, (n + 255) / 256, 1, 1, 256, 1, 1, 0, 0, args, 0));
    CHECK(cuMemcpyDtoH(c, dc, bytes));
    int ok = 1;
    for (int i = 0; i < n; i++) ok &= c[i] == a[i] + b[i];
    return report(ok, checksum(c, bytes), t, 3.0 * bytes, "GB/s");
}
