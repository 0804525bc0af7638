// histogram: atomics in shared and in global memory.
#include "../host.h"

int main(void) {
    int n = small() ? 20000 : 16 * 1000 * 1000, blocks = small() ? 4 : 64;
    unsigned char *in = malloc((size_t)n);
    unsigned want[256] = {0}, got[256];
    for (int i = 0; i < n; i++) {
        uint32_t r = rng();
        in[i] = (unsigned char)((r & 127) + (r >> 8 & 127)); /* a triangle: some bins are hot */
        want[in[i]]++;
    }
    CUfunction f = open_device("histogram");
    CUdeviceptr din = upload(in, (size_t)n), bins = upload(NULL, sizeof got);
    void *args[] = {&din, &bins, &n};
    double t = 1e30;
    for (int round = 0; round < 5; round++) {
        CHECK(cuMemsetD32(bins, 0, 256));
        double once = BEST_OF(1, cuLaunchKernel(f, blocks, 1, 1, 256, 1, 1, 0, 0, args, 0));
        if (once < t) t = once;
    }
    CHECK(cuMemcpyDtoH(got, bins, sizeof got));
    return report(memcmp(want, got, sizeof got) == 0, checksum(got, sizeof got), t, n, "GB/s");
}
