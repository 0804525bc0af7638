/* The bench suite's own words. A row is one algorithm in two spellings: a kernel (bench/kernels, compiled to PTX by clang
 * for Kudzu and read by PoCL as OpenCL C) and a native C function (bench/native, compiled by gcc and by clang). The row's
 * host side (bench/rows) fills the inputs and says what to launch; the harness runs all of them in one process,
 * interleaved, and compares every result with the native one. */
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../native/native.h"

enum { MAX_BUFS = 10, MAX_PARAMS = 8, MAX_ARGS = 16 };

enum type { F32, I32, U32, U8, F16, I8 };
/* IN is never written, OUT is compared, INOUT is compared and given its first contents again before a check, TMP is neither. */
enum role { IN, OUT, INOUT, TMP };

struct buf {
    const char *name;
    enum type type;
    enum role role;
    size_t count;
};

struct dim { unsigned x, y, z; };
struct arg {
    enum { ARG_BUF, ARG_TEXTURE, ARG_I32, ARG_F32 } kind;
    union { int i; float f; };
};

struct row;

/* A device runs kernels by name: Kudzu, PoCL, or nobody (which only writes down what would be launched). */
struct dev {
    const char *name;
    void (*launch)(struct dev *d, const char *kernel, struct dim grid, struct dim block, const struct arg *args, int n);
    void (*zero)(struct dev *d, int buf);
    void (*wait)(struct dev *d);
    void (*upload)(struct dev *d, int buf, const void *from);
    void (*download)(struct dev *d, int buf, void *to);
    void (*open_row)(struct dev *d, const struct row *r);  /* loads the module, makes the buffers */
    void (*close_row)(struct dev *d, const struct row *r);
};

struct row {
    const char *name;
    const char *module;       /* bench/kernels/<module>.ptx and .cu */
    const char *what;         /* the problem and its size, for the table */
    double bytes, ops;        /* moved and computed by one run; 0 where it says nothing */
    double tolerance;         /* relative to the larger of the value and the output's rms; 0 is exact */
    double outliers;          /* share of the values that may be outside, for results that are chaotic */
    int compute;              /* bound by arithmetic: a row of the scaling run */
    int mma;                  /* uses tensor-core instructions */
    int p[MAX_PARAMS];        /* sizes, given to the native function too */
    struct buf bufs[MAX_BUFS];
    struct { int width, height; } texture; /* the first buffer is one too: a float a texel, clamped, filtered */
    void (*fill)(const struct row *r, void **host);
    void (*run)(const struct row *r, struct dev *d);
    const char *native;       /* function name in the native libraries; the row's name if null */
};

#define DIM1(a) ((struct dim){(unsigned)(a), 1, 1})
#define DIM2(a, b) ((struct dim){(unsigned)(a), (unsigned)(b), 1})
#define DIM3(a, b, c) ((struct dim){(unsigned)(a), (unsigned)(b), (unsigned)(c)})
#define B(n) ((struct arg){ARG_BUF, {.i = (n)}})
#define TEXTURE ((struct arg){ARG_TEXTURE, {.i = 0}})
#define I(n) ((struct arg){ARG_I32, {.i = (n)}})
#define F(v) ((struct arg){ARG_F32, {.f = (v)}})
#define LAUNCH(d, kernel, grid, block, ...)                                                                            \
    do {                                                                                                               \
        const struct arg args_[] = {__VA_ARGS__};                                                                      \
        (d)->launch((d), (kernel), (grid), (block), args_, (int)(sizeof args_ / sizeof args_[0]));                     \
    } while (0)

/* rows/\*.c: each file one null-ended table. */
extern const struct row stream_rows[], gemm_rows[], compute_rows[], atomic_rows[], sort_rows[], nn_rows[], mma_rows[];
extern const struct row convert_rows[], local_rows[], torch_rows[], primitives_rows[], cipher_rows[], linalg_rows[], image_rows[];

/* fill.c */
uint32_t rng(void);
void rng_seed(uint32_t s);
float uniform(void); /* [0, 1) */
void fill_f32(float *p, size_t n, float lo, float hi);

/* main.c */
double now(void);
void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void *huge_alloc(size_t bytes);
void huge_free(void *p, size_t bytes);
size_t buf_bytes(const struct buf *b);
double median(double *v, int n);
char *read_file(const char *path, size_t *size);

/* cuda.c, opencl.c; null when there is none, with the reason in *why. */
struct dev *open_cuda(const char *library, const char *kernels, const char **why);
const char *cuda_name(void);
struct dev *open_opencl(const char *kernels, int threads, const char **why);
const char *opencl_name(void);
/* pool.c */
void pool_start(int threads);
const struct env *pool_env(void);
/* launch.c: the launch and start-up figures, printed and written as JSON objects. */
int launch_bench(FILE *json, const char *library, const char *kernels, const char *self);
int launch_child(const char *what, const char *library, const char *kernels);
