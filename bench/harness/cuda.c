/* Kernels on a CUDA driver: Kudzu's libcuda.so.1, or any other that is named. */
#include "driver.h"

static struct {
    struct loaded row;
    const struct row *now;
    size_t bytes[MAX_BUFS];
    char name[256];
    const char *kernels;
} cu;

static void launch(struct dev *d, const char *kernel, struct dim g, struct dim b, const struct arg *args, int n) {
    (void)d;
    int fresh;
    driver_launch(&cu.row, driver_kernel(&cu.row, kernel, &fresh), kernel, g, b, args, n);
}
static void zero(struct dev *d, int buf) {
    (void)d;
    CHECK(cuMemsetD8Async(cu.row.bufs[buf], 0, cu.bytes[buf], 0));
}
static void wait_all(struct dev *d) {
    (void)d;
    CHECK(cuCtxSynchronize());
}
static void upload(struct dev *d, int buf, const void *from) {
    (void)d;
    driver_upload(&cu.row, cu.now, buf, from);
}
static void download(struct dev *d, int buf, void *to) {
    (void)d;
    CHECK(cuMemcpyDtoH(to, cu.row.bufs[buf], cu.bytes[buf]));
}

static void open_row(struct dev *d, const struct row *r) {
    (void)d;
    cu.now = r;
    driver_load(&cu.row, cu.kernels, r);
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) cu.bytes[i] = buf_bytes(&r->bufs[i]);
}
static void close_row(struct dev *d, const struct row *r) {
    (void)d;
    driver_unload(&cu.row, r);
}

static struct dev dev = {"kudzu", launch, zero, wait_all, upload, download, open_row, close_row};

struct dev *open_cuda(const char *library, const char *kernels, const char **why) {
    cu.kernels = kernels;
    return driver_open(library, cu.name, sizeof cu.name, why) ? &dev : 0;
}

const char *cuda_name(void) { return cu.name; }
