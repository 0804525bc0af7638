/* A CUDA driver by name: the functions that the programs of the bench call, and what they do with them. For one file of a program. */
#ifndef DRIVER_H
#define DRIVER_H
#include <cuda.h>
#include <dlfcn.h>
#include "bench.h"

/* The versions of a name are names of their own here: the header would turn one into the other. */
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemcpyHtoD
#undef cuMemcpyDtoH
#undef cuMemcpy2D
#undef cuArrayCreate

#define DRIVER_FUNCTIONS(X)                                                                                            \
    X(cuInit, "", (unsigned))                                                                                          \
    X(cuDeviceGet, "", (CUdevice *, int))                                                                              \
    X(cuDeviceGetName, "", (char *, int, CUdevice))                                                                    \
    X(cuDevicePrimaryCtxRetain, "", (CUcontext *, CUdevice))                                                           \
    X(cuCtxSetCurrent, "", (CUcontext))                                                                                \
    X(cuModuleLoadData, "", (CUmodule *, const void *))                                                                \
    X(cuModuleUnload, "", (CUmodule))                                                                                  \
    X(cuModuleGetFunction, "", (CUfunction *, CUmodule, const char *))                                                 \
    X(cuLaunchKernel, "", (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **)) \
    X(cuCtxSynchronize, "", (void))                                                                                    \
    X(cuGetErrorName, "", (CUresult, const char **))                                                                   \
    X(cuMemAlloc, "_v2", (CUdeviceptr *, size_t))                                                                      \
    X(cuMemFree, "_v2", (CUdeviceptr))                                                                                 \
    X(cuMemcpyHtoD, "_v2", (CUdeviceptr, const void *, size_t))                                                        \
    X(cuMemcpyDtoH, "_v2", (void *, CUdeviceptr, size_t))                                                              \
    X(cuMemcpy2D, "_v2", (const CUDA_MEMCPY2D *))                                                                      \
    X(cuArrayCreate, "_v2", (CUarray *, const CUDA_ARRAY_DESCRIPTOR *))                                                \
    X(cuArrayDestroy, "", (CUarray))                                                                                   \
    X(cuTexObjectCreate, "", (CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *, const CUDA_RESOURCE_VIEW_DESC *)) \
    X(cuTexObjectDestroy, "", (CUtexObject))                                                                           \
    X(cuMemsetD8Async, "", (CUdeviceptr, unsigned char, size_t, CUstream))                                             \
    X(cuEventCreate, "", (CUevent *, unsigned))                                                                        \
    X(cuEventRecord, "", (CUevent, CUstream))                                                                          \
    X(cuEventElapsedTime, "", (float *, CUevent, CUevent))                                                             \
    X(cuFuncGetAttribute, "", (int *, CUfunction_attribute, CUfunction))

static struct {
#define DECLARE(f, version, params) CUresult(*f) params;
    DRIVER_FUNCTIONS(DECLARE)
} fn;

static void check(CUresult r, const char *what) {
    const char *name = "?";
    if (r == CUDA_SUCCESS) return;
    fn.cuGetErrorName(r, &name);
    die("%s: %s", what, name);
}
#define CHECK(call) check(fn.call, #call)

/* Loads a driver and makes its first device current; name gets the device's. 0, with dlerror's reason, if there is none. */
static int driver_open(const char *library, char *name, int room, const char **why) {
    void *lib = dlopen(library, RTLD_NOW);
    if (!lib) {
        *why = dlerror();
        return 0;
    }
#define LOAD(f, version, params) \
    if (!(*(void **)&fn.f = dlsym(lib, #f version))) die("%s has no " #f version, library);
    DRIVER_FUNCTIONS(LOAD)
    CUdevice device;
    CUcontext ctx;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, room, device));
    CHECK(cuDevicePrimaryCtxRetain(&ctx, device));
    CHECK(cuCtxSetCurrent(ctx));
    return 1;
}

/* A row's module and memory. */
struct loaded {
    CUmodule module;
    CUdeviceptr bufs[MAX_BUFS];
    CUarray array; /* of the row's texture */
    CUtexObject texture;
    struct { const char *name; CUfunction f; } known[16];
    int nknown;
};

static void driver_texture(struct loaded *l, int width, int height) {
    CUDA_ARRAY_DESCRIPTOR shape = {(size_t)width, (size_t)height, CU_AD_FORMAT_FLOAT, 1};
    CUDA_RESOURCE_DESC from = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC how = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}, .filterMode = CU_TR_FILTER_MODE_LINEAR};
    CHECK(cuArrayCreate(&l->array, &shape));
    from.res.array.hArray = l->array;
    CHECK(cuTexObjectCreate(&l->texture, &from, &how, 0));
}

static void driver_load(struct loaded *l, const char *dir, const struct row *r) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.ptx", dir, r->module);
    char *text = read_file(path, 0);
    check(fn.cuModuleLoadData(&l->module, text), path);
    free(text);
    l->nknown = 0;
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) CHECK(cuMemAlloc(&l->bufs[i], buf_bytes(&r->bufs[i])));
    if (r->texture.width) driver_texture(l, r->texture.width, r->texture.height);
}

static void driver_upload(struct loaded *l, const struct row *r, int buf, const void *from) {
    CHECK(cuMemcpyHtoD(l->bufs[buf], from, buf_bytes(&r->bufs[buf])));
    if (buf != 0 || !r->texture.width) return;
    size_t width = (size_t)r->texture.width * 4;
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = from, .srcPitch = width, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = l->array,
                          .WidthInBytes = width, .Height = (size_t)r->texture.height};
    CHECK(cuMemcpy2D(&copy));
}

static void driver_unload(struct loaded *l, const struct row *r) {
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) CHECK(cuMemFree(l->bufs[i]));
    if (r->texture.width) {
        CHECK(cuTexObjectDestroy(l->texture));
        CHECK(cuArrayDestroy(l->array));
    }
    CHECK(cuModuleUnload(l->module));
}

/* Finds a kernel; fresh tells the first time. */
static CUfunction driver_kernel(struct loaded *l, const char *kernel, int *fresh) {
    *fresh = 0;
    for (int i = 0; i < l->nknown; i++)
        if (l->known[i].name == kernel || !strcmp(l->known[i].name, kernel)) return l->known[i].f;
    if (l->nknown == 16) die("too many kernels in one row");
    CUfunction f;
    check(fn.cuModuleGetFunction(&f, l->module, kernel), kernel);
    l->known[l->nknown].name = kernel, l->known[l->nknown++].f = f;
    *fresh = 1;
    return f;
}

static void driver_launch(struct loaded *l, CUfunction f, const char *kernel, struct dim g, struct dim b, const struct arg *args, int n) {
    void *p[MAX_ARGS];
    for (int i = 0; i < n; i++)
        p[i] = args[i].kind == ARG_BUF ? (void *)&l->bufs[args[i].i] : args[i].kind == ARG_TEXTURE ? (void *)&l->texture : (void *)&args[i].i;
    check(fn.cuLaunchKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, 0, 0, p, 0), kernel);
}
#endif
