/* SpMV and SpMM of cuSPARSE against a C loop and MKL, on ten structures: one process, interleaved, the least of several runs.
 *   KUDZU_THREADS=N sparse [-reps N] [-only NAME] [-clock cpu]
 * All three use N threads, or as many as there are processors. The clock is the wall's, or the processor
 * time of all threads, for a machine that others use.
 * The C loop is what SciPy does, with rows dealt out to threads by their entries, and vectors for SpMM. MKL is used where
 * libmkl_rt is found: as it is called, and after its inspector made a copy of the matrix for 1,000 products (mkl_sparse_optimize). */
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"

enum { COLUMNS = 32, MAX_THREADS = 64 };

static int threads = 1, reps = 7;

static unsigned long long seed = 88172645463325252ull;
static unsigned random_below(unsigned n) {
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (unsigned)((seed >> 32) * n >> 32);
}
static double random_value(void) { return random_below(2000001) / 1e6 - 1; }

/* A matrix by rows, in both types. */
struct matrix {
    int m, n, nnz, room;
    int *offsets, *indices;
    double *values;
    float *narrow;
};

static void entry(struct matrix *a, int column) {
    if (column < 0 || column >= a->n) return;
    if (a->nnz == a->room) a->indices = realloc(a->indices, sizeof(int) * (size_t)(a->room = a->room ? 2 * a->room : 1 << 16));
    a->indices[a->nnz++] = column;
}
static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static void end_row(struct matrix *a, int row) {
    int b = a->offsets[row], to = b;
    qsort(a->indices + b, (size_t)(a->nnz - b), sizeof(int), ascending);
    for (int k = b; k < a->nnz; k++)
        if (k == b || a->indices[k] != a->indices[k - 1]) a->indices[to++] = a->indices[k];
    a->offsets[row + 1] = a->nnz = to;
}

typedef void fill(struct matrix *a, int row);
static void banded(struct matrix *a, int i) {
    for (int d = -16; d <= 16; d++) entry(a, i + d);
}
static void uniform(struct matrix *a, int i) {
    (void)i;
    for (int k = 0; k < 16; k++) entry(a, (int)random_below((unsigned)a->n));
}
static void power_law(struct matrix *a, int i) {
    (void)i;
    int n = (int)(2 / pow((random_below(1000000) + 1) / 1e6, 0.7));
    for (int k = 0; k < (n < 3000 ? n : 3000); k++) entry(a, (int)random_below((unsigned)a->n));
}
static void blocks(struct matrix *a, int i) {
    static int at[4];
    if (i % 8 == 0)
        for (int k = 0; k < 4; k++) at[k] = (int)random_below((unsigned)a->n / 8) * 8;
    for (int k = 0; k < 32; k++) entry(a, at[k / 8] + k % 8);
}
static void diagonal(struct matrix *a, int i) { entry(a, i); }
static void few(struct matrix *a, int i) {
    (void)i;
    for (int k = 0; k < 3; k++) entry(a, (int)random_below((unsigned)a->n));
}
static void many(struct matrix *a, int i) {
    (void)i;
    for (int k = 0; k < 1000; k++) entry(a, (int)random_below((unsigned)a->n));
}
static void grid2(struct matrix *a, int i) {
    const int at[] = {0, 1, -1, 500, -500};
    for (int k = 0; k < 5; k++) entry(a, i + at[k]);
}
static void grid3(struct matrix *a, int i) {
    const int at[] = {0, 1, -1, 60, -60, 3600, -3600};
    for (int k = 0; k < 7; k++) entry(a, i + at[k]);
}
static void long_rows(struct matrix *a, int i) {
    if (i % 20000 == 7)
        for (int k = 0; k < 60000; k++) entry(a, (int)random_below((unsigned)a->n));
    else for (int k = 0; k < 2; k++) entry(a, (int)random_below((unsigned)a->n));
}

static const struct {
    const char *name;
    int m, n;
    fill *row;
} structures[] = {
    {"banded", 60000, 60000, banded},   {"uniform", 100000, 100000, uniform}, {"power-law", 100000, 100000, power_law}, {"block", 60000, 60000, blocks},
    {"diagonal", 500000, 500000, diagonal}, {"tall", 500000, 2000, few},      {"wide", 1500, 200000, many},             {"stencil-2d", 250000, 250000, grid2},
    {"stencil-3d", 216000, 216000, grid3},  {"long-rows", 200000, 200000, long_rows},
};
enum { STRUCTURES = sizeof structures / sizeof *structures };

static void make(struct matrix *a, int which) {
    a->m = structures[which].m, a->n = structures[which].n;
    a->offsets = calloc((size_t)a->m + 1, sizeof(int));
    for (int i = 0; i < a->m; i++) structures[which].row(a, i), end_row(a, i);
    a->values = malloc(sizeof(double) * (size_t)a->nnz);
    a->narrow = malloc(sizeof(float) * (size_t)a->nnz);
    for (int k = 0; k < a->nnz; k++) a->narrow[k] = (float)(a->values[k] = random_value());
}

/* The C loop. */
struct piece {
    const struct matrix *a;
    const void *b;
    void *c;
    int wide, columns, begin, end;
};

/* Sums stay in registers: of a row and all columns, in vectors of 32 bytes. */
typedef float vector_f32 __attribute__((vector_size(32), aligned(4)));
typedef double vector_f64 __attribute__((vector_size(32), aligned(8)));

#define LOOPS(T, NAME, VALUES, VECTOR)                                                                                     \
    static void NAME(const struct piece *p) {                                                                              \
        enum { EACH = sizeof(VECTOR) / sizeof(T), N = COLUMNS / EACH };                                                    \
        const int *off = p->a->offsets, *ind = p->a->indices;                                                              \
        const T *val = p->a->VALUES, *b = p->b;                                                                            \
        for (int i = p->begin; i < p->end; i++) {                                                                          \
            if (p->columns == 1) {                                                                                         \
                T s = 0;                                                                                                   \
                for (int k = off[i]; k < off[i + 1]; k++) s += val[k] * b[ind[k]];                                         \
                ((T *)p->c)[i] = s;                                                                                        \
                continue;                                                                                                  \
            }                                                                                                              \
            VECTOR s[N] = {0}, *to = (VECTOR *)((T *)p->c + (size_t)i * COLUMNS);                                          \
            for (int k = off[i]; k < off[i + 1]; k++) {                                                                    \
                const VECTOR *row = (const VECTOR *)(b + (size_t)ind[k] * COLUMNS);                                        \
                _Pragma("GCC unroll 8") for (int j = 0; j < N; j++) s[j] += val[k] * row[j];                               \
            }                                                                                                              \
            _Pragma("GCC unroll 8") for (int j = 0; j < N; j++) to[j] = s[j];                                              \
        }                                                                                                                  \
    }
LOOPS(float, loop_f32, narrow, vector_f32)
LOOPS(double, loop_f64, values, vector_f64)

static void *run_piece(void *v) {
    struct piece *p = v;
    (p->wide ? loop_f64 : loop_f32)(p);
    return 0;
}

static void native(const struct matrix *a, const void *b, void *c, int wide, int columns) {
    struct piece p[MAX_THREADS];
    pthread_t t[MAX_THREADS];
    for (int i = 0, at = 0; i < threads; i++) {
        int begin = at;
        while (at < a->m && (i == threads - 1 || a->offsets[at] + at < (long)(a->nnz + a->m) * (i + 1) / threads)) at++;
        p[i] = (struct piece){a, b, c, wide, columns, begin, at};
        if (i) pthread_create(&t[i], 0, run_piece, &p[i]);
    }
    run_piece(&p[0]);
    for (int i = 1; i < threads; i++) pthread_join(t[i], 0);
}

/* MKL. */
struct mkl_kind { int type, mode, diag; };
static int (*mkl_create[2])(void **, int, int, int, int *, int *, int *, void *);
static void *mkl_mv[2], *mkl_mm[2];
static int (*mkl_optimize)(void *), (*mkl_destroy)(void *), (*mkl_hint_mv)(void *, int, struct mkl_kind, int);
typedef int mv_f32(int, float, void *, struct mkl_kind, const void *, float, void *);
typedef int mv_f64(int, double, void *, struct mkl_kind, const void *, double, void *);
typedef int mm_f32(int, float, void *, struct mkl_kind, int, const void *, int, int, float, void *, int);
typedef int mm_f64(int, double, void *, struct mkl_kind, int, const void *, int, int, double, void *, int);
enum { MKL_PLAIN = 10, MKL_GENERAL = 20, MKL_BY_ROW = 101 };

static int open_mkl(void) {
    void *l = dlopen("libmkl_rt.so.3", RTLD_NOW);
    if (!l) l = dlopen("libmkl_rt.so.2", RTLD_NOW);
    if (!l) return 0;
    ((void (*)(int))dlsym(l, "MKL_Set_Num_Threads"))(threads);
    *(void **)&mkl_create[0] = dlsym(l, "mkl_sparse_s_create_csr"), *(void **)&mkl_create[1] = dlsym(l, "mkl_sparse_d_create_csr");
    mkl_mv[0] = dlsym(l, "mkl_sparse_s_mv"), mkl_mv[1] = dlsym(l, "mkl_sparse_d_mv");
    mkl_mm[0] = dlsym(l, "mkl_sparse_s_mm"), mkl_mm[1] = dlsym(l, "mkl_sparse_d_mm");
    *(void **)&mkl_optimize = dlsym(l, "mkl_sparse_optimize"), *(void **)&mkl_destroy = dlsym(l, "mkl_sparse_destroy");
    *(void **)&mkl_hint_mv = dlsym(l, "mkl_sparse_set_mv_hint");
    return mkl_create[0] && mkl_mm[1] && mkl_optimize && mkl_destroy && mkl_hint_mv;
}

static void mkl(void *h, const void *b, void *c, int wide, int columns) {
    struct mkl_kind k = {MKL_GENERAL, 0, 0};
    if (columns == 1 && wide) ((mv_f64 *)mkl_mv[1])(MKL_PLAIN, 1, h, k, b, 0, c);
    else if (columns == 1) ((mv_f32 *)mkl_mv[0])(MKL_PLAIN, 1, h, k, b, 0, c);
    else if (wide) ((mm_f64 *)mkl_mm[1])(MKL_PLAIN, 1, h, k, MKL_BY_ROW, b, columns, columns, 0, c, columns);
    else ((mm_f32 *)mkl_mm[0])(MKL_PLAIN, 1, h, k, MKL_BY_ROW, b, columns, columns, 0, c, columns);
}

static void must(int status, const char *call) {
    if (status) fprintf(stderr, "%s: %d\n", call, status), exit(1);
}
#define MUST(call) must((int)(call), #call)

static void *upload(const void *from, size_t n) {
    void *p;
    MUST(cudaMalloc(&p, n ? n : 16));
    if (from) MUST(cudaMemcpy(p, from, n, cudaMemcpyHostToDevice));
    return p;
}

static cusparseHandle_t handle;

struct product {
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t x, y;
    cusparseDnMatDescr_t b, c;
    cudaDataType type;
    int columns;
};
static void ours(struct product *p) {
    double one = 1, zero = 0;
    float onef = 1, zerof = 0;
    const void *al = p->type == CUDA_R_64F ? (void *)&one : &onef, *be = p->type == CUDA_R_64F ? (void *)&zero : &zerof;
    if (p->columns == 1) MUST(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, al, p->a, p->x, be, p->y, p->type, CUSPARSE_SPMV_ALG_DEFAULT, 0));
    else MUST(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, al, p->a, p->b, be, p->c, p->type, CUSPARSE_SPMM_ALG_DEFAULT, 0));
    MUST(cudaDeviceSynchronize());
}

static double value(const void *v, size_t i, int wide) { return wide ? ((const double *)v)[i] : ((const float *)v)[i]; }

/* The share of wrong numbers decides nothing but whether the time counts: sums have different orders. */
static int same(const void *got, const void *want, size_t n, int wide) {
    double largest = 0, worst = 0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(value(want, i, wide)));
        worst = fmax(worst, fabs(value(got, i, wide) - value(want, i, wide)));
    }
    return worst <= (wide ? 1e-12 : 1e-4) * largest;
}

static int wrong;
static double sums[2][3];
static int counts[2];

static void least(double *best, double since) {
    double t = now() - since;
    if (t < *best) *best = t;
}

static void measure(const char *name, const struct matrix *a, int wide, int columns, int have_mkl) {
    size_t size = wide ? 8 : 4, nb = (size_t)a->n * (size_t)columns, nc = (size_t)a->m * (size_t)columns;
    void *b = malloc(nb * size), *c = malloc(nc * size), *d = malloc(nc * size);
    for (size_t i = 0; i < nb; i++) wide ? (void)(((double *)b)[i] = random_value()) : (void)(((float *)b)[i] = (float)random_value());
    const void *values = wide ? (void *)a->values : (void *)a->narrow;
    void *at[5] = {upload(a->offsets, ((size_t)a->m + 1) * 4), upload(a->indices, (size_t)a->nnz * 4), upload(values, (size_t)a->nnz * size), upload(b, nb * size), upload(0, nc * size)};
    struct product p = {.type = wide ? CUDA_R_64F : CUDA_R_32F, .columns = columns};
    MUST(cusparseCreateCsr(&p.a, a->m, a->n, a->nnz, at[0], at[1], at[2], CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, p.type));
    if (columns == 1) MUST(cusparseCreateDnVec(&p.x, a->n, at[3], p.type)), MUST(cusparseCreateDnVec(&p.y, a->m, at[4], p.type));
    else MUST(cusparseCreateDnMat(&p.b, a->n, columns, columns, at[3], p.type, CUSPARSE_ORDER_ROW)), MUST(cusparseCreateDnMat(&p.c, a->m, columns, columns, at[4], p.type, CUSPARSE_ORDER_ROW));
    void *h[2] = {0};
    for (int i = 0; i < 2 && have_mkl; i++) MUST(mkl_create[wide](&h[i], 0, a->m, a->n, a->offsets, a->offsets + 1, a->indices, (void *)values));
    if (have_mkl && columns == 1) mkl_hint_mv(h[1], MKL_PLAIN, (struct mkl_kind){MKL_GENERAL, 0, 0}, 1000);
    if (have_mkl) mkl_optimize(h[1]);
    double t[4] = {1e9, 1e9, 1e9, 1e9};
    ours(&p), native(a, b, c, wide, columns);
    MUST(cudaMemcpy(d, at[4], nc * size, cudaMemcpyDeviceToHost));
    int good = same(d, c, nc, wide);
    wrong += !good;
    for (int i = 0; i < reps; i++) {
        double s = now();
        ours(&p), least(&t[0], s);
        s = now(), native(a, b, c, wide, columns), least(&t[1], s);
        for (int q = 0; q < 2 && have_mkl; q++) s = now(), mkl(h[q], b, d, wide, columns), least(&t[2 + q], s);
    }
    double best = fmin(t[1], t[2]);
    int kind = columns > 1;
    sums[kind][0] += log(t[1] / t[0]), sums[kind][1] += log(best / t[0]), sums[kind][2] += log(fmin(best, t[3]) / t[0]), counts[kind]++;
    printf("%s %-10s %s nnz %8d ours %8.3f ms C %8.3f ms", kind ? "SpMM" : "SpMV", name, wide ? "f64" : "f32", a->nnz, t[0] * 1e3, t[1] * 1e3);
    if (have_mkl) printf(" MKL %8.3f ms, inspected %8.3f ms", t[2] * 1e3, t[3] * 1e3);
    printf(" ratio %.2f%s\n", best / t[0], good ? "" : " WRONG");
    for (int i = 0; i < 2 && have_mkl; i++) mkl_destroy(h[i]);
    MUST(cusparseDestroySpMat(p.a));
    if (columns == 1) MUST(cusparseDestroyDnVec(p.x)), MUST(cusparseDestroyDnVec(p.y));
    else MUST(cusparseDestroyDnMat(p.b)), MUST(cusparseDestroyDnMat(p.c));
    for (int i = 0; i < 5; i++) MUST(cudaFree(at[i]));
    free(b), free(c), free(d);
}

int main(int argc, char **argv) {
    const char *only = 0;
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "-reps")) reps = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "-only")) only = argv[i + 1];
        else if (!strcmp(argv[i], "-clock")) timer = CLOCK_PROCESS_CPUTIME_ID;
    const char *n = getenv("KUDZU_THREADS");
    threads = n ? atoi(n) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (threads < 1 || threads > MAX_THREADS) return 2;
    int have_mkl = open_mkl();
    MUST(cusparseCreate(&handle));
    for (int s = 0; s < STRUCTURES; s++) {
        if (only && strcmp(only, structures[s].name)) continue;
        struct matrix a = {0};
        make(&a, s);
        for (int wide = 0; wide < 2; wide++)
            for (int k = 0; k < 2; k++) measure(structures[s].name, &a, wide, k ? COLUMNS : 1, have_mkl);
        free(a.offsets), free(a.indices), free(a.values), free(a.narrow);
    }
    for (int k = 0; k < 2; k++) {
        if (!counts[k]) continue;
        printf("%s geomean of %d: %.2f of C", k ? "SpMM" : "SpMV", counts[k], exp(sums[k][0] / counts[k]));
        if (have_mkl) printf(", %.2f of the better of C and MKL, %.2f with its inspector", exp(sums[k][1] / counts[k]), exp(sums[k][2] / counts[k]));
        puts(have_mkl ? "" : " (no MKL here)");
    }
    if (counts[0] && counts[1] && have_mkl) {
        double both = exp((sums[0][1] + sums[1][1]) / (counts[0] + counts[1]));
        printf("both: %.2f of the better of C and MKL (target 1: %s)\n", both, both >= 1 ? "met" : "MISSED");
    }
    MUST(cusparseDestroy(handle));
    return wrong > 0;
}
