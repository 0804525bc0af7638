// reduce: shuffles, shared memory and a barrier; two launches of one kernel make one number.
#include "../host.h"

int main(void) {
    int n = small() ? 20000 : 16 * 1000 * 1000, blocks = small() ? 8 : 256;
    size_t bytes = (size_t)n * sizeof(float);
    float *in = malloc(bytes);
    double want = 0;
    for (int i = 0; i < n; i++) want += in[i] = (float)(rng() & 255);
    CUfunction f = open_device("reduce");
    CUdeviceptr din = upload(in, bytes), part = upload(NULL, blocks * sizeof(float)), out = upload(NULL, sizeof(float));
    void *first[] = {&din, &part, &n}, *second[] = {&part, &out, &blocks};
    double t = BEST_OF(5, cuLaunchKernel(f, blocks, 1, 1, 256, 1, 1, 0, 0, first, 0));
    CHECK(cuLaunchKernel(f, 1, 1, 1, 256, 1, 1, 0, 0, second, 0));
    float got;
    CHECK(cuMemcpyDtoH(&got, out, sizeof got));
    printf("sum: %.0f (exact %.0f)\n", got, want);
    int ok = fabs(got - want) <= 1e-5 * want;
    return report(ok, checksum(&got, sizeof got), t, bytes, "GB/s");
}
