/* Two sets of the bench kernels' PTX on one real driver: pair LIBCUDA FIRST-DIR SECOND-DIR [ROW,..]. Each row's launches are timed by
 * events, the two sets in turn, and their results compared bit for bit. It answers what our compiler costs on NVIDIA's own
 * hardware: the first set is the committed PTX, the second what `kudzu compile --target sm_90 --emit ptx` made of it. */
#include <cuda.h>
#include <dlfcn.h>
#include <math.h>
#include <time.h>
#include "../harness/bench.h"

void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}
size_t buf_bytes(const struct buf *b) { return b->count * (b->type == U8 ? 1 : b->type == F16 ? 2 : 4); }

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
    CUresult (*cuMemAlloc_v2)(CUdeviceptr *, size_t);
    CUresult (*cuMemFree_v2)(CUdeviceptr);
    CUresult (*cuMemcpyHtoD_v2)(CUdeviceptr, const void *, size_t);
    CUresult (*cuMemcpyDtoH_v2)(void *, CUdeviceptr, size_t);
    CUresult (*cuMemsetD8Async)(CUdeviceptr, unsigned char, size_t, CUstream);
    CUresult (*cuEventCreate)(CUevent *, unsigned);
    CUresult (*cuEventRecord)(CUevent, CUstream);
    CUresult (*cuEventElapsedTime)(float *, CUevent, CUevent);
    CUresult (*cuFuncGetAttribute)(int *, CUfunction_attribute, CUfunction);
} fn;

static void check(CUresult r, const char *what) {
    const char *name = "?";
    if (r == CUDA_SUCCESS) return;
    fn.cuGetErrorName(r, &name);
    die("%s: %s", what, name);
}
#define CHECK(call) check(fn.call, #call)

struct side {
    const char *dir;
    CUmodule module;
    CUdeviceptr bufs[MAX_BUFS];
    struct { const char *name; CUfunction f; } known[16];
    int nknown, regs, local;
} sides[2];
static struct side *now_side;
static const struct row *now_row;

static void launch(struct dev *d, const char *kernel, struct dim g, struct dim b, const struct arg *args, int n) {
    (void)d;
    struct side *s = now_side;
    int k = 0;
    while (k < s->nknown && strcmp(s->known[k].name, kernel)) k++;
    if (k == s->nknown) {
        if (k == 16) die("too many kernels in one row");
        s->known[k].name = kernel;
        check(fn.cuModuleGetFunction(&s->known[k].f, s->module, kernel), kernel);
        s->nknown++;
        int v = 0;
        CHECK(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, s->known[k].f));
        if (v > s->regs) s->regs = v;
        CHECK(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, s->known[k].f));
        if (v > s->local) s->local = v;
    }
    void *p[MAX_ARGS];
    for (int i = 0; i < n; i++) p[i] = args[i].kind == ARG_BUF ? (void *)&s->bufs[args[i].i] : (void *)&args[i].i;
    check(fn.cuLaunchKernel(s->known[k].f, g.x, g.y, g.z, b.x, b.y, b.z, 0, 0, p, 0), kernel);
}
static void zero(struct dev *d, int buf) {
    (void)d;
    CHECK(cuMemsetD8Async(now_side->bufs[buf], 0, buf_bytes(&now_row->bufs[buf]), 0));
}
static struct dev dev = {.name = "pair", .launch = launch, .zero = zero};

static char *text_of(const char *dir, const char *module) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.ptx", dir, module);
    FILE *f = fopen(path, "r");
    if (!f) die("%s cannot be read", path);
    fseek(f, 0, SEEK_END);
    long n = ftell(f);
    rewind(f);
    char *t = calloc(1, (size_t)n + 1);
    if (fread(t, 1, (size_t)n, f) != (size_t)n) die("%s cannot be read", path);
    fclose(f);
    return t;
}

static int by_value(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }

enum { REPS = 15 };
static double sum_log, worst = 1e9;
static int rows, differing;
static CUevent start, stop;

static double sample(const struct row *r, int times) {
    float ms;
    CHECK(cuEventRecord(start, 0));
    for (int i = 0; i < times; i++) r->run(r, &dev);
    CHECK(cuEventRecord(stop, 0));
    CHECK(cuCtxSynchronize());
    CHECK(cuEventElapsedTime(&ms, start, stop));
    return ms / times;
}

static void do_row(const struct row *r) {
    now_row = r;
    void *first[MAX_BUFS] = {0}, *got[2];
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) first[i] = calloc(1, buf_bytes(&r->bufs[i]));
    rng_seed(12345);
    r->fill(r, first);
    for (int s = 0; s < 2; s++) {
        now_side = &sides[s];
        char *text = text_of(now_side->dir, r->module);
        check(fn.cuModuleLoadData(&now_side->module, text), r->module);
        free(text);
        now_side->nknown = now_side->regs = now_side->local = 0;
        for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
            CHECK(cuMemAlloc_v2(&now_side->bufs[i], buf_bytes(&r->bufs[i])));
            CHECK(cuMemcpyHtoD_v2(now_side->bufs[i], first[i], buf_bytes(&r->bufs[i])));
        }
        r->run(r, &dev);
        check(fn.cuCtxSynchronize(), r->name);
    }
    size_t bad = 0, all = 0;
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
        size_t n = buf_bytes(&r->bufs[i]);
        if (r->bufs[i].role != OUT && r->bufs[i].role != INOUT) continue;
        for (int s = 0; s < 2; s++) got[s] = malloc(n), check(fn.cuMemcpyDtoH_v2(got[s], sides[s].bufs[i], n), "copy");
        for (size_t j = 0; j < n; j++) bad += ((char *)got[0])[j] != ((char *)got[1])[j];
        all += n;
        free(got[0]), free(got[1]);
    }
    int times[2];
    double t[2][REPS];
    for (int s = 0; s < 2; s++) {
        now_side = &sides[s];
        double ms = sample(r, 3);
        times[s] = ms > 4 ? 1 : ms < 0.004 ? 1000 : (int)(4 / ms) + 1;
    }
    for (int i = 0; i < REPS; i++)
        for (int s = 0; s < 2; s++) now_side = &sides[s], t[s][i] = sample(r, times[s]);
    for (int s = 0; s < 2; s++) {
        qsort(t[s], REPS, sizeof(double), by_value);
        for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) CHECK(cuMemFree_v2(sides[s].bufs[i]));
        CHECK(cuModuleUnload(sides[s].module));
    }
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) free(first[i]);
    double ratio = t[0][REPS / 2] / t[1][REPS / 2];
    printf("%-20s %9.4f %9.4f ms  ratio %.3f  registers %3d %3d  local %3d %3d  %s\n", r->name, t[0][REPS / 2], t[1][REPS / 2], ratio, sides[0].regs,
           sides[1].regs, sides[0].local, sides[1].local, bad ? "DIFFERS" : "same bits");
    if (bad) printf("    %zu of %zu bytes differ\n", bad, all), differing++;
    fflush(stdout);
    sum_log += log(ratio), rows++;
    if (ratio < worst) worst = ratio;
}

static int chosen(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : 0)
        if (strcspn(p, ",") == n && !strncmp(p, name, n)) return 1;
    return !list;
}

int main(int argc, char **argv) {
    if (argc < 4) die("pair LIBCUDA FIRST-DIR SECOND-DIR [ROW,..]");
    void *lib = dlopen(argv[1], RTLD_NOW);
    if (!lib) die("%s", dlerror());
#define LOAD(f) if (!(*(void **)&fn.f = dlsym(lib, #f))) die("%s has no " #f, argv[1]);
    LOAD(cuInit) LOAD(cuDeviceGet) LOAD(cuDeviceGetName) LOAD(cuDevicePrimaryCtxRetain) LOAD(cuCtxSetCurrent) LOAD(cuModuleLoadData)
    LOAD(cuModuleUnload) LOAD(cuModuleGetFunction) LOAD(cuLaunchKernel) LOAD(cuCtxSynchronize) LOAD(cuGetErrorName) LOAD(cuMemAlloc_v2)
    LOAD(cuMemFree_v2) LOAD(cuMemcpyHtoD_v2) LOAD(cuMemcpyDtoH_v2) LOAD(cuMemsetD8Async) LOAD(cuEventCreate) LOAD(cuEventRecord)
    LOAD(cuEventElapsedTime) LOAD(cuFuncGetAttribute)
    CUdevice device;
    CUcontext ctx;
    char name[128];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetName(name, sizeof name, device));
    CHECK(cuDevicePrimaryCtxRetain(&ctx, device));
    CHECK(cuCtxSetCurrent(ctx));
    CHECK(cuEventCreate(&start, 0));
    CHECK(cuEventCreate(&stop, 0));
    sides[0].dir = argv[2], sides[1].dir = argv[3];
    printf("%s: %s, then %s; medians of %d; a ratio above 1: the second is faster\n", name, argv[2], argv[3], REPS);
    const struct row *tables[] = {stream_rows, gemm_rows, compute_rows, atomic_rows, sort_rows, nn_rows, mma_rows};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct row *r = tables[t]; r->name; r++)
            if (chosen(argc > 4 ? argv[4] : 0, r->name)) do_row(r);
    if (rows) printf("geomean of %d: %.3f, worst %.3f; %d differ\n", rows, exp(sum_log / rows), worst, differing);
    return 0;
}
