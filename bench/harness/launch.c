/* Launch and start-up: what a program waits for besides its kernels. What needs a fresh process starts this program again
 * with -child; everything is a median of 20. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda.h>
#include "bench.h"

enum { SAMPLES = 20, BURST = 1000, MODULE_BYTES = 10 << 20 };

static struct {
    CUresult (*cuInit)(unsigned);
    CUresult (*cuDeviceGet)(CUdevice *, int);
    CUresult (*cuDevicePrimaryCtxRetain)(CUcontext *, CUdevice);
    CUresult (*cuCtxSetCurrent)(CUcontext);
    CUresult (*cuModuleLoadData)(CUmodule *, const void *);
    CUresult (*cuModuleGetFunction)(CUfunction *, CUmodule, const char *);
    CUresult (*cuLaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);
    CUresult (*cuCtxSynchronize)(void);
    CUresult (*cuMemAlloc_v2)(CUdeviceptr *, size_t);
    CUresult (*cuMemcpyDtoH_v2)(void *, CUdeviceptr, size_t);
    CUresult (*cuMemsetD8_v2)(CUdeviceptr, unsigned char, size_t);
} fn;
#define FUNCTIONS(X)                                                                                                   \
    X(cuInit) X(cuDeviceGet) X(cuDevicePrimaryCtxRetain) X(cuCtxSetCurrent) X(cuModuleLoadData) X(cuModuleGetFunction) \
    X(cuLaunchKernel) X(cuCtxSynchronize) X(cuMemAlloc_v2) X(cuMemcpyDtoH_v2) X(cuMemsetD8_v2)
#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int check_ = (int)(fn.call);                                                                                   \
        if (check_) die("launch: %s: error %d", #call, check_);                                                        \
    } while (0)

static const char small_ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry empty() { ret; }\n"
    ".visible .entry increment(.param .u64 p) {\n"
    ".reg .u64 %a, %o; .reg .u32 %t, %v;\n"
    "ld.param.u64 %a, [p]; cvta.to.global.u64 %a, %a; mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;\n"
    "ld.global.u32 %v, [%a]; add.u32 %v, %v, 1; st.global.u32 [%a], %v; ret; }\n";

static void open_driver(const char *library) {
    void *lib = dlopen(library, RTLD_NOW);
    if (!lib) die("%s", dlerror());
#define LOAD(f) if (!(*(void **)&fn.f = dlsym(lib, #f))) die("%s has no " #f, library);
    FUNCTIONS(LOAD)
}
static void open_context(void) {
    CUdevice device;
    CUcontext ctx;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&ctx, device));
    CHECK(cuCtxSetCurrent(ctx));
}

/* Sizes of the process in KiB. own is what no other process and no file has: pages that were written. */
struct memory {
    double rss, pss, own;
};

static struct memory memory(void) {
    struct memory m = {0};
    char line[256];
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    while (f && fgets(line, sizeof line, f)) {
        sscanf(line, "Rss: %lf", &m.rss);
        sscanf(line, "Pss: %lf", &m.pss);
        sscanf(line, "Private_Dirty: %lf", &m.own);
    }
    if (f) fclose(f);
    return m;
}

/* big_module writes PTX of at least MODULE_BYTES: the kernels of one of the bench modules again and again, each time under
 * other names. */
static char *big_module(const char *kernels, char *first, size_t size) {
    char path[512];
    snprintf(path, sizeof path, "%s/nn.ptx", kernels);
    char *text = read_file(path, 0), *entry = strstr(text, ".visible .entry");
    if (!entry) die("%s has no kernel", path);
    size_t at = (size_t)(entry - text), capacity = MODULE_BYTES + (1 << 20);
    char *out = malloc(capacity);
    memcpy(out, text, at);
    first[0] = 0;
    for (int copy = 0; at < MODULE_BYTES; copy++)
        for (char *e = entry; e && at < MODULE_BYTES;) {
            char *end = strstr(e, "\n}\n"), name[64] = "", made[80];
            if (!end || sscanf(e, ".visible .entry %63[^(]", name) != 1) break;
            end += 3;
            snprintf(made, sizeof made, "%s_%d", name, copy);
            if (!strcmp(name, "softmax") && !first[0]) snprintf(first, size, "%s", made);
            for (char *p = e; p < end;) {
                size_t n = strlen(name);
                int word = p > e && (p[-1] == ' ' || p[-1] == '[' || p[-1] == '\t');
                if (at + 128 > capacity) die("module: more than %zu bytes", capacity);
                /* The kernel's own name and its parameters; shared variables stay where they are. */
                if (word && !strncmp(p, name, n) && (p[n] == '(' || !strncmp(p + n, "_param_", 7))) at += (size_t)sprintf(out + at, "%s", made), p += n;
                else out[at++] = *p++;
            }
            e = strstr(end, ".visible .entry");
        }
    out[at] = 0;
    free(text);
    return out;
}

/* ---- fresh processes ---- */

/* child runs one thing from nothing and prints its figures in one line; what: init, module, idle. */
int launch_child(const char *what, const char *library, const char *kernels) {
    struct memory before, after;
    char name[96], *text = 0;
    if (strcmp(what, "init")) text = big_module(kernels, name, sizeof name);
    before = memory();
    double t0 = now();
    open_driver(library);
    open_context();
    double t1 = now();
    if (text) {
        CUmodule module;
        CUfunction f;
        CUdeviceptr a;
        int cols = 256;
        CHECK(cuMemAlloc_v2(&a, 4096));
        void *args[] = {&a, &a, &cols};
        double t2 = now();
        CHECK(cuModuleLoadData(&module, text));
        double t3 = now();
        CHECK(cuModuleGetFunction(&f, module, name));
        CHECK(cuLaunchKernel(f, 1, 1, 1, 256, 1, 1, 0, 0, args, 0));
        CHECK(cuCtxSynchronize());
        double t4 = now();
        free(text);
        after = memory();
        printf("%.9f %.9f %.0f %.0f %.0f\n", t4 - t2, t3 - t2, after.rss, after.pss, after.own);
        return 0;
    }
    after = memory();
    printf("%.9f %.9f %.0f %.0f %.0f\n", t1 - t0, 0.0, after.rss - before.rss, after.pss - before.pss, after.own - before.own);
    return 0;
}

static void run_child(const char *self, const char *what, const char *library, const char *kernels, double v[5]) {
    char command[2048];
    snprintf(command, sizeof command, "'%s' -child %s -lib '%s' -kernels '%s'", self, what, library, kernels);
    FILE *f = popen(command, "r");
    if (!f || fscanf(f, "%lf %lf %lf %lf %lf", &v[0], &v[1], &v[2], &v[3], &v[4]) != 5 || pclose(f) != 0) die("launch: the process for \"%s\" failed", what);
}

/* ---- the figures ---- */

static struct { FILE *json; int n, missed; } out;

static void figure(const char *name, double value, const char *unit, double target) {
    int missed = target > 0 && value > target;
    out.missed += missed;
    printf("%-58s %9.3f %-3s", name, value, unit);
    if (target > 0) printf("  target %5.2f  %s", target, missed ? "MISSED" : "ok");
    printf("\n");
    fflush(stdout);
    if (out.json)
        fprintf(out.json, "%s\n    {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"target\": %g}", out.n++ ? "," : "", name, value, unit, target);
}

static void in_process(void) {
    CUmodule module;
    CUfunction empty, increment;
    CUdeviceptr p;
    double burst[SAMPLES], drain[SAMPLES], single[SAMPLES], chain[SAMPLES], fence[SAMPLES];
    CHECK(cuModuleLoadData(&module, small_ptx));
    CHECK(cuModuleGetFunction(&empty, module, "empty"));
    CHECK(cuModuleGetFunction(&increment, module, "increment"));
    CHECK(cuMemAlloc_v2(&p, 1024));
    CHECK(cuMemsetD8_v2(p, 0, 1024));
    void *args[] = {&p};
    for (int s = -1; s < SAMPLES; s++) { /* the first round compiles and warms */
        int i = s < 0 ? 0 : s;
        double t = now();
        for (int k = 0; k < BURST; k++) CHECK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
        burst[i] = (now() - t) / BURST * 1e6;
        CHECK(cuCtxSynchronize());
        drain[i] = (now() - t) / BURST * 1e6;
        t = now();
        for (int k = 0; k < BURST; k++) {
            CHECK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
            CHECK(cuCtxSynchronize());
        }
        single[i] = (now() - t) / BURST * 1e6;
        t = now();
        for (int k = 0; k < BURST; k++) CHECK(cuLaunchKernel(increment, 1, 1, 1, 256, 1, 1, 0, 0, args, 0));
        CHECK(cuCtxSynchronize());
        chain[i] = (now() - t) * 1e3;
        t = now();
        for (int k = 0; k < BURST; k++) CHECK(cuCtxSynchronize());
        fence[i] = (now() - t) / BURST * 1e6;
    }
    uint32_t counts[256];
    CHECK(cuMemcpyDtoH_v2(counts, p, sizeof counts));
    for (int i = 0; i < 256; i++)
        if (counts[i] != (SAMPLES + 1) * BURST) die("launch: %u increments of %d arrived", counts[i], (SAMPLES + 1) * BURST);
    figure("enqueue an empty kernel, in a burst of 1,000", median(burst, SAMPLES), "us", 0.35);
    figure("the same, until all have run, per kernel", median(drain, SAMPLES), "us", 0);
    figure("launch + synchronize an empty kernel", median(single, SAMPLES), "us", 1.2);
    figure("synchronize with nothing to wait for", median(fence, SAMPLES), "us", 0);
    figure("1,000 dependent kernels of 256 threads", median(chain, SAMPLES), "ms", 0);
}

/* launch_bench prints and writes every figure and returns how many missed their target. */
int launch_bench(FILE *json, const char *library, const char *kernels, const char *self) {
    double init[SAMPLES], load[SAMPLES], parse[SAMPLES], v[5], rss[SAMPLES], pss[SAMPLES], rss0[SAMPLES], pss0[SAMPLES], own0[SAMPLES];
    out.json = json;
    printf("launch and start-up, medians of %d\n", SAMPLES);
    open_driver(library);
    open_context();
    in_process();
    run_child(self, "module", library, kernels, v); /* fills the cache */
    for (int i = 0; i < SAMPLES; i++) {
        run_child(self, "init", library, kernels, v);
        init[i] = v[0] * 1e3, rss0[i] = v[2] / 1024, pss0[i] = v[3] / 1024, own0[i] = v[4] / 1024;
        run_child(self, "module", library, kernels, v);
        load[i] = v[0] * 1e3, parse[i] = v[1] * 1e3, rss[i] = v[2] / 1024, pss[i] = v[3] / 1024;
    }
    figure("cuInit + context in a new process, libcuda's loading included", median(init, SAMPLES), "ms", 3);
    figure("10 MB module, warm cache: load + first launch", median(load, SAMPLES), "ms", 20);
    figure("the load alone", median(parse, SAMPLES), "ms", 0);
    figure("memory added by cuInit + context, resident", median(rss0, SAMPLES), "MB", 8);
    figure("memory added by cuInit + context, proportional", median(pss0, SAMPLES), "MB", 0);
    figure("of it the process's own, which no file has", median(own0, SAMPLES), "MB", 0);
    figure("memory of a process idle after the 10 MB module, resident", median(rss, SAMPLES), "MB", 0);
    figure("memory of a process idle after the 10 MB module, proportional", median(pss, SAMPLES), "MB", 0);
    return out.missed;
}
