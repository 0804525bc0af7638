/* Kernels on a CUDA driver: Kudzu's libcuda.so.1, or any other that is named. */
#include <dlfcn.h>
#include <cuda.h>
#include "bench.h"

static struct {
    void *lib;
    CUmodule module;
    CUdeviceptr bufs[MAX_BUFS];
    size_t bytes[MAX_BUFS];
    char name[256];
    const char *kernels;
    struct { const char *name; CUfunction f; } known[16];
    int nknown;
    char module_name[64];
} cu;

#define FUNCTIONS(X)                                                                                                   \
    X(cuInit) X(cuDeviceGet) X(cuDeviceGetName) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadData)     \
    X(cuModuleUnload) X(cuModuleGetFunction) X(cuLaunchKernel) X(cuCtxSynchronize) X(cuGetErrorName)
#define FUNCTIONS_V2(X) X(cuMemAlloc) X(cuMemFree) X(cuMemcpyHtoD) X(cuMemcpyDtoH)
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemcpyHtoD
#undef cuMemcpyDtoH
static struct {
    CUresult (*cuInit)(unsigned);
    CUresult (*cuDeviceGet)(CUdevice *, int);
    CUresult (*cuDeviceGetName)(char *, int, CUdevice);
    CUresult (*cuDevicePrimaryCtxRetain)(CUcontext *, CUdevice);
    CUresult (*cuCtxSetCurrent)(CUcontext);
    CUresult (*cuModuleLoadData)(CUmodule *, const void *);
    CUresult (*cuModuleUnload)(CUmodule);
    CUresult (*cuModuleGetFunction)(CUfunction *, CUmodule, const char *);
    CUresult (*cuLaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
    CUresult (*cuCtxSynchronize)(void);
    CUresult (*cuGetErrorName)(CUresult, const char **);
    CUresult (*cuMemAlloc)(CUdeviceptr *, size_t);
    CUresult (*cuMemFree)(CUdeviceptr);
    CUresult (*cuMemcpyHtoD)(CUdeviceptr, const void *, size_t);
    CUresult (*cuMemcpyDtoH)(void *, CUdeviceptr, size_t);
    CUresult (*cuMemsetD8Async)(CUdeviceptr, unsigned char, size_t, CUstream);
} fn;

static void check(CUresult r, const char *what) {
    const char *name = "?";
    if (r == CUDA_SUCCESS) return;
    fn.cuGetErrorName(r, &name);
    die("kudzu: %s: %s", what, name);
}
#define CHECK(call) check(fn.call, #call)

static CUfunction function(const char *kernel) {
    for (int i = 0; i < cu.nknown; i++)
        if (cu.known[i].name == kernel || !strcmp(cu.known[i].name, kernel)) return cu.known[i].f;
    if (cu.nknown == 16) die("too many kernels in one row");
    CUfunction f;
    check(fn.cuModuleGetFunction(&f, cu.module, kernel), kernel);
    cu.known[cu.nknown].name = kernel, cu.known[cu.nknown++].f = f;
    return f;
}

static void launch(struct dev *d, const char *kernel, struct dim g, struct dim b, const struct arg *args, int n) {
    (void)d;
    void *p[MAX_ARGS];
    for (int i = 0; i < n; i++) p[i] = args[i].kind == ARG_BUF ? (void *)&cu.bufs[args[i].i] : (void *)&args[i].i;
    check(fn.cuLaunchKernel(function(kernel), g.x, g.y, g.z, b.x, b.y, b.z, 0, 0, p, 0), kernel);
}
static void zero(struct dev *d, int buf) {
    (void)d;
    CHECK(cuMemsetD8Async(cu.bufs[buf], 0, cu.bytes[buf], 0));
}
static void wait_all(struct dev *d) {
    (void)d;
    CHECK(cuCtxSynchronize());
}
static void upload(struct dev *d, int buf, const void *from) {
    (void)d;
    CHECK(cuMemcpyHtoD(cu.bufs[buf], from, cu.bytes[buf]));
}
static void download(struct dev *d, int buf, void *to) {
    (void)d;
    CHECK(cuMemcpyDtoH(to, cu.bufs[buf], cu.bytes[buf]));
}

static void open_row(struct dev *d, const struct row *r) {
    (void)d;
    char path[512];
    snprintf(path, sizeof path, "%s/%s.ptx", cu.kernels, r->module);
    char *text = read_file(path, 0);
    check(fn.cuModuleLoadData(&cu.module, text), path);
    free(text);
    cu.nknown = 0;
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
        cu.bytes[i] = buf_bytes(&r->bufs[i]);
        CHECK(cuMemAlloc(&cu.bufs[i], cu.bytes[i]));
    }
}
static void close_row(struct dev *d, const struct row *r) {
    (void)d;
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) CHECK(cuMemFree(cu.bufs[i]));
    CHECK(cuModuleUnload(cu.module));
}

static struct dev dev = {"kudzu", launch, zero, wait_all, upload, download, open_row, close_row};

struct dev *open_cuda(const char *library, const char *kernels, const char **why) {
    cu.lib = dlopen(library, RTLD_NOW);
    if (!cu.lib) {
        *why = dlerror();
        return 0;
    }
#define LOAD(f) if (!(*(void **)&fn.f = dlsym(cu.lib, #f))) die("%s has no " #f, library);
#define LOAD2(f) if (!(*(void **)&fn.f = dlsym(cu.lib, #f "_v2"))) die("%s has no " #f "_v2", library);
    FUNCTIONS(LOAD) LOAD(cuMemsetD8Async)
    FUNCTIONS_V2(LOAD2)
    CUdevice device;
    CUcontext ctx;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(cu.name, sizeof cu.name, device));
    CHECK(cuDevicePrimaryCtxRetain(&ctx, device));
    CHECK(cuCtxSetCurrent(ctx));
    cu.kernels = kernels;
    return &dev;
}

const char *cuda_name(void) { return cu.name; }
