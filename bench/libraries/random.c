/* Generators of libcurand beside the speed at which one thread writes memory, in turn: random [-cpu]. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "cuda_runtime_api.h"
#include "curand.h"

enum { COUNT = 1 << 24, REPS = 15 };

static const struct row {
    const char *name;
    curandRngType_t type;
} rows[] = {{"Philox", CURAND_RNG_PSEUDO_PHILOX4_32_10}, {"XORWOW", CURAND_RNG_PSEUDO_XORWOW}};

static double generate(curandGenerator_t g, unsigned *p) {
    double t = now();
    check(curandGenerate(g, p, COUNT), "generate");
    check(cudaDeviceSynchronize(), "synchronize");
    return now() - t;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-cpu"))
            timer = CLOCK_PROCESS_CPUTIME_ID;
    volatile unsigned char fill = 1;
    unsigned *host = malloc(COUNT * sizeof *host), *device;
    check(cudaMalloc((void **)&device, COUNT * sizeof *device), "memory");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        curandGenerator_t g;
        check(curandCreateGenerator(&g, rows[i].type), "generator");
        double ours = 1e9, write = 1e9;
        generate(g, device);
        for (int r = 0; r < REPS; r++) {
            ours = fmin(ours, generate(g, device));
            double t = now();
            memset(host, fill++, COUNT * sizeof *host);
            write = fmin(write, now() - t);
        }
        printf("%-24s kudzu %9.1f us  memset %9.1f us  ratio %5.2f (target 0.5: %s)\n", rows[i].name, ours * 1e6, write * 1e6, write / ours, write / ours >= 0.5 ? "met" : "MISSED");
        check(curandDestroyGenerator(g), "generator");
    }
    cudaFree(device), free(host);
    return 0;
}
