/* What every example's host program shares: the kernel's PTX inside the program, error checks, a clock. */
#pragma once
#include <cuda.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The build names the PTX file; .incbin puts its text, ended by a NUL, into the program. */
__asm__(".section .rodata\n.globl kernel_ptx\nkernel_ptx:\n.incbin \"" KERNEL_FILE "\"\n.byte 0\n.previous\n");
extern const char kernel_ptx[];

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        CUresult check_ = (call);                                                                                      \
        if (check_ != CUDA_SUCCESS) {                                                                                  \
            const char *name_ = "?";                                                                                   \
            cuGetErrorName(check_, &name_);                                                                            \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, name_);                                      \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static CUmodule module;

/* open_device makes device 0 current, says which it is, loads the kernels and returns the one called name. */
static CUfunction open_device(const char *name) {
    CUdevice dev;
    CUcontext ctx;
    CUfunction f;
    char text[256];
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&dev, 0));
    CHECK(cuDeviceGetName(text, sizeof text, dev));
    printf("device: %s\n", text);
    CHECK(cuDevicePrimaryCtxRetain(&ctx, dev));
    CHECK(cuCtxSetCurrent(ctx));
    CHECK(cuModuleLoadData(&module, kernel_ptx));
    CHECK(cuModuleGetFunction(&f, module, name));
    return f;
}

static CUdeviceptr upload(const void *data, size_t bytes) {
    CUdeviceptr p;
    CHECK(cuMemAlloc(&p, bytes));
    if (data) CHECK(cuMemcpyHtoD(p, data, bytes));
    return p;
}

/* best_of runs a launch a few times and returns the quickest in seconds; the first run also compiles. */
#define BEST_OF(times, launch)                                                                                         \
    ({                                                                                                                 \
        double best_ = 1e30;                                                                                           \
        for (int i_ = 0; i_ < (times); i_++) {                                                                         \
            double start_ = now();                                                                                     \
            CHECK(launch);                                                                                             \
            CHECK(cuCtxSynchronize());                                                                                 \
            double took_ = now() - start_;                                                                             \
            if (took_ < best_) best_ = took_;                                                                          \
        }                                                                                                              \
        best_;                                                                                                         \
    })

/* KUDZU_EXAMPLE_SMALL=1 shrinks the problem, for slow executors such as the interpreter. */
static int small(void) {
    const char *s = getenv("KUDZU_EXAMPLE_SMALL");
    return s && *s == '1';
}

/* checksum is FNV-1a over bytes: the same on every device when the results are the same bits. */
static uint64_t checksum(const void *data, size_t n) {
    const unsigned char *p = data;
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3ull;
    return h;
}

/* report prints the line that tests compare (result), then the ones a person reads. */
static int report(int ok, uint64_t sum, double seconds, double amount, const char *unit) {
    printf("result: %016llx\n", (unsigned long long)sum);
    printf("time: %.3f ms, %.2f %s\n", seconds * 1e3, amount / seconds * 1e-9, unit);
    printf("%s\n", ok ? "ok" : "WRONG");
    return ok ? 0 : 1;
}

/* A small deterministic generator, so that every machine computes the same thing. */
static uint32_t rng_state = 12345;
static uint32_t rng(void) {
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 17;
    rng_state ^= rng_state << 5;
    return rng_state;
}
static float uniform(void) { return (float)(rng() >> 8) * (1.0f / 16777216.0f); }
