/* The same kernels on PoCL, found at run time through the ICD loader; no OpenCL header is needed to build this. */
#include <dlfcn.h>
#include "bench.h"

typedef struct object *handle;
typedef intptr_t props;
struct image_format { unsigned order, type; };
struct image_desc { unsigned type; size_t width, height, depth, layers, row_pitch, slice_pitch; unsigned levels, samples; handle buffer; };
enum {
    CL_DEVICE_TYPE_CPU = 2, CL_PLATFORM_NAME = 0x0902, CL_DEVICE_NAME = 0x102B, CL_DRIVER_VERSION = 0x102D,
    CL_MEM_READ_WRITE = 1, CL_MEM_USE_HOST_PTR = 8, CL_PROGRAM_BUILD_LOG = 0x1183,
    CL_R = 0x10B0, CL_FLOAT = 0x10DE, CL_MEM_OBJECT_IMAGE2D = 0x10F1, CL_MEM_READ_ONLY = 4,
};

static struct {
    int (*clGetPlatformIDs)(unsigned, handle *, unsigned *);
    int (*clGetPlatformInfo)(handle, unsigned, size_t, void *, size_t *);
    int (*clGetDeviceIDs)(handle, uint64_t, unsigned, handle *, unsigned *);
    int (*clGetDeviceInfo)(handle, unsigned, size_t, void *, size_t *);
    handle (*clCreateContext)(const props *, unsigned, const handle *, void *, void *, int *);
    handle (*clCreateCommandQueue)(handle, handle, uint64_t, int *);
    handle (*clCreateProgramWithSource)(handle, unsigned, const char **, const size_t *, int *);
    int (*clBuildProgram)(handle, unsigned, const handle *, const char *, void *, void *);
    int (*clGetProgramBuildInfo)(handle, handle, unsigned, size_t, void *, size_t *);
    handle (*clCreateKernel)(handle, const char *, int *);
    handle (*clCreateBuffer)(handle, uint64_t, size_t, void *, int *);
    int (*clSetKernelArg)(handle, unsigned, size_t, const void *);
    int (*clEnqueueNDRangeKernel)(handle, handle, unsigned, const size_t *, const size_t *, const size_t *, unsigned, const handle *, handle *);
    int (*clEnqueueReadBuffer)(handle, handle, unsigned, size_t, size_t, void *, unsigned, const handle *, handle *);
    int (*clEnqueueWriteBuffer)(handle, handle, unsigned, size_t, size_t, const void *, unsigned, const handle *, handle *);
    handle (*clCreateImage)(handle, uint64_t, const struct image_format *, const struct image_desc *, void *, int *);
    int (*clEnqueueWriteImage)(handle, handle, unsigned, const size_t *, const size_t *, size_t, size_t, const void *, unsigned, const handle *, handle *);
    int (*clEnqueueFillBuffer)(handle, handle, const void *, size_t, size_t, size_t, unsigned, const handle *, handle *);
    int (*clFinish)(handle);
    int (*clReleaseMemObject)(handle);
    int (*clReleaseKernel)(handle);
} fn;
#define FUNCTIONS(X)                                                                                                   \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext)                   \
    X(clCreateCommandQueue) X(clCreateProgramWithSource) X(clBuildProgram) X(clGetProgramBuildInfo) X(clCreateKernel)  \
    X(clCreateBuffer) X(clSetKernelArg) X(clEnqueueNDRangeKernel) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer)       \
    X(clCreateImage) X(clEnqueueWriteImage) X(clEnqueueFillBuffer) X(clFinish) X(clReleaseMemObject) X(clReleaseKernel)

static struct {
    handle device, context, queue, program;
    char module[64], name[256];
    const char *kernels;
    handle bufs[MAX_BUFS], image;
    const struct row *now;
    void *host[MAX_BUFS];
    size_t bytes[MAX_BUFS];
    struct { const char *name; handle k; } known[16];
    int nknown;
} cl;

static void check(int err, const char *what) {
    if (err) die("pocl: %s: error %d", what, err);
}

static handle kernel_named(const char *name) {
    int err;
    for (int i = 0; i < cl.nknown; i++)
        if (!strcmp(cl.known[i].name, name)) return cl.known[i].k;
    if (cl.nknown == 16) die("too many kernels in one row");
    handle k = fn.clCreateKernel(cl.program, name, &err);
    check(err, name);
    cl.known[cl.nknown].name = name, cl.known[cl.nknown++].k = k;
    return k;
}

static void launch(struct dev *d, const char *kernel, struct dim g, struct dim b, const struct arg *args, int n) {
    (void)d;
    handle k = kernel_named(kernel);
    for (int i = 0; i < n; i++)
        check(args[i].kind == ARG_BUF       ? fn.clSetKernelArg(k, (unsigned)i, sizeof(handle), &cl.bufs[args[i].i])
              : args[i].kind == ARG_TEXTURE ? fn.clSetKernelArg(k, (unsigned)i, sizeof(handle), &cl.image)
                                            : fn.clSetKernelArg(k, (unsigned)i, 4, &args[i].i), kernel);
    size_t local[3] = {b.x, b.y, b.z}, global[3] = {(size_t)g.x * b.x, (size_t)g.y * b.y, (size_t)g.z * b.z};
    check(fn.clEnqueueNDRangeKernel(cl.queue, k, 3, 0, global, local, 0, 0, 0), kernel);
}
static void zero(struct dev *d, int buf) {
    (void)d;
    uint32_t none = 0;
    check(fn.clEnqueueFillBuffer(cl.queue, cl.bufs[buf], &none, 4, 0, cl.bytes[buf], 0, 0, 0), "fill");
}
static void wait_all(struct dev *d) {
    (void)d;
    check(fn.clFinish(cl.queue), "finish");
}
static void upload(struct dev *d, int buf, const void *from) {
    (void)d;
    check(fn.clEnqueueWriteBuffer(cl.queue, cl.bufs[buf], 1, 0, cl.bytes[buf], from, 0, 0, 0), "write");
    if (buf != 0 || !cl.now->texture.width) return;
    size_t origin[3] = {0}, region[3] = {(size_t)cl.now->texture.width, (size_t)cl.now->texture.height, 1};
    check(fn.clEnqueueWriteImage(cl.queue, cl.image, 1, origin, region, 0, 0, from, 0, 0, 0), "write image");
}
static void download(struct dev *d, int buf, void *to) {
    (void)d;
    check(fn.clEnqueueReadBuffer(cl.queue, cl.bufs[buf], 1, 0, cl.bytes[buf], to, 0, 0, 0), "read");
}

static void build(const char *module) {
    if (!strcmp(cl.module, module)) return;
    char path[512], options[600];
    int err;
    snprintf(path, sizeof path, "%s/%s.cu", cl.kernels, module);
    const char *text = read_file(path, 0);
    cl.program = fn.clCreateProgramWithSource(cl.context, 1, &text, 0, &err);
    check(err, path);
    free((void *)text);
    snprintf(options, sizeof options, "-I%s -cl-std=CL1.2 -cl-fast-relaxed-math", cl.kernels);
    if ((err = fn.clBuildProgram(cl.program, 1, &cl.device, options, 0, 0)) != 0) {
        static char log[1 << 16];
        fn.clGetProgramBuildInfo(cl.program, cl.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, 0);
        die("pocl: %s: error %d\n%s", path, err, log);
    }
    snprintf(cl.module, sizeof cl.module, "%s", module);
}

static void open_row(struct dev *d, const struct row *r) {
    (void)d;
    int err;
    build(r->module);
    cl.now = r;
    cl.nknown = 0;
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
        cl.bytes[i] = buf_bytes(&r->bufs[i]);
        cl.host[i] = huge_alloc(cl.bytes[i]); /* the same kind of pages as everybody else's memory */
        cl.bufs[i] = fn.clCreateBuffer(cl.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, cl.bytes[i], cl.host[i], &err);
        check(err, "buffer");
    }
    if (r->texture.width) {
        struct image_format format = {CL_R, CL_FLOAT};
        struct image_desc desc = {.type = CL_MEM_OBJECT_IMAGE2D, .width = (size_t)r->texture.width, .height = (size_t)r->texture.height};
        cl.image = fn.clCreateImage(cl.context, CL_MEM_READ_ONLY, &format, &desc, 0, &err);
        check(err, "image");
    }
}
static void close_row(struct dev *d, const struct row *r) {
    (void)d;
    for (int i = 0; i < cl.nknown; i++) fn.clReleaseKernel(cl.known[i].k);
    if (r->texture.width) fn.clReleaseMemObject(cl.image);
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
        fn.clReleaseMemObject(cl.bufs[i]);
        huge_free(cl.host[i], cl.bytes[i]);
    }
}

static struct dev dev = {"pocl", launch, zero, wait_all, upload, download, open_row, close_row};

struct dev *open_opencl(const char *kernels, int threads, const char **why) {
    char count[16];
    snprintf(count, sizeof count, "%d", threads);
    setenv("POCL_MAX_PTHREAD_COUNT", count, 1); /* older and newer names of the same wish */
    setenv("POCL_CPU_MAX_CU_COUNT", count, 1);
    void *lib = dlopen("libOpenCL.so.1", RTLD_NOW);
    if (!lib) {
        *why = "no OpenCL loader (libOpenCL.so.1)";
        return 0;
    }
#define LOAD(f) if (!(*(void **)&fn.f = dlsym(lib, #f))) { *why = "libOpenCL.so.1 has no " #f; return 0; }
    FUNCTIONS(LOAD)
    handle platforms[8];
    unsigned n = 0;
    if (fn.clGetPlatformIDs(8, platforms, &n) || !n) {
        *why = "no OpenCL platform";
        return 0;
    }
    int err, found = 0;
    for (unsigned i = 0; i < n && i < 8 && !found; i++) {
        char text[256] = "";
        fn.clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof text - 1, text, 0);
        if (!strstr(text, "Portable Computing")) continue;
        found = fn.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &cl.device, 0) == 0;
    }
    if (!found) {
        *why = "no PoCL among the OpenCL platforms";
        return 0;
    }
    char version[96] = "";
    fn.clGetDeviceInfo(cl.device, CL_DRIVER_VERSION, sizeof version - 1, version, 0);
    snprintf(cl.name, sizeof cl.name, "PoCL %s", version);
    cl.context = fn.clCreateContext(0, 1, &cl.device, 0, 0, &err);
    check(err, "context");
    cl.queue = fn.clCreateCommandQueue(cl.context, cl.device, 0, &err);
    check(err, "queue");
    cl.kernels = kernels;
    return &dev;
}

const char *opencl_name(void) { return cl.name; }
