/* cuSOLVER's factorisations and cuBLAS's products against OpenBLAS: one process, interleaved, the lower quartile of
 * many runs. The least is no figure on a virtual machine, whose clock of processor time takes stolen time off late.
 *   KUDZU_THREADS=N linear [-clock cpu] [-ms N] [-only PREFIX] [-type NAME] [-sizes N,N,..]
 * Both use N threads, or one. OpenBLAS is the loader's libopenblas.so.0. The clock is the wall's, or the processor time
 * of all threads, for a machine that others use. A run of a small matrix is up to 32 calls, each with a matrix of its
 * own, and ours are waited for after the last. */
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include "bench.h"

enum { COPIES = 32, RUNS = 20000 };

#define MUST(call) check((int)(call), #call)

static cublasHandle_t blas;
static cusolverDnHandle_t solver;
static cusolverDnParams_t params;
static double sample = 100; /* milliseconds for each row */
static const char *only = "", *of_type = "";
static void *library;

static void *symbol(const char *name) {
    void *p = dlsym(library, name);
    if (!p) fprintf(stderr, "OpenBLAS has no %s\n", name), exit(1);
    return p;
}

/* The types of factorisations. real is the size of a norm's. */
static const struct type {
    const char *name;
    char letter;
    size_t size, real;
    cudaDataType data, values;
    double eps;
} types[] = {
    {"f32", 's', 4, 4, CUDA_R_32F, CUDA_C_32F, 0x1p-24}, {"f64", 'd', 8, 8, CUDA_R_64F, CUDA_C_64F, 0x1p-53},
    {"c32", 'c', 8, 4, CUDA_C_32F, CUDA_C_32F, 0x1p-24}, {"c64", 'z', 16, 8, CUDA_C_64F, CUDA_C_64F, 0x1p-53},
};
enum { TYPES = sizeof types / sizeof *types };

/* What a row has: memory of both sides. Ours is the device's, which the host reads and writes here by copies. */
struct arena {
    int n;
    const struct type *type;
    void *start;                                 /* the matrix */
    void *a, *values, *u, *v, *work, *rwork;     /* OpenBLAS's, COPIES of a */
    int *pivots;
    void *da, *dvalues, *du, *dv, *dwork;
    int *dpivots, *dinfo;
    size_t work_size, host_size;                 /* elements, and bytes */
    void *host;
};

typedef void side(struct arena *x, int copy);

static size_t bytes(const struct arena *x) { return (size_t)x->n * (size_t)x->n * x->type->size; }
static void *mine(struct arena *x, int copy) { return (char *)x->a + (size_t)copy * bytes(x); }
static void *ours(struct arena *x, int copy) { return (char *)x->da + (size_t)copy * bytes(x); }
static int complex_type(const struct arena *x) { return x->type->size != x->type->real; }

static int info, lwork;
typedef void lapack();
static lapack *potrf, *getrf, *geqrf, *orgqr, *syevd, *gesvd, *geev; /* of the row's type */

/* OF calls the function of cuSOLVER for a row's type; complex ones may have another name. */
#define OF(x, real, complex, ...)                                                  \
    MUST((x)->type->letter == 's'   ? (int)cusolverDnS##real(solver, __VA_ARGS__)  \
         : (x)->type->letter == 'd' ? (int)cusolverDnD##real(solver, __VA_ARGS__)  \
         : (x)->type->letter == 'c' ? (int)cusolverDnC##complex(solver, __VA_ARGS__) \
                                    : (int)cusolverDnZ##complex(solver, __VA_ARGS__))

static void potrf_ref(struct arena *x, int c) { potrf("L", &x->n, mine(x, c), &x->n, &info); }
static void potrf_our(struct arena *x, int c) { OF(x, potrf, potrf, CUBLAS_FILL_MODE_LOWER, x->n, ours(x, c), x->n, x->dwork, (int)x->work_size, x->dinfo); }
static void getrf_ref(struct arena *x, int c) { getrf(&x->n, &x->n, mine(x, c), &x->n, x->pivots, &info); }
static void getrf_our(struct arena *x, int c) { OF(x, getrf, getrf, x->n, x->n, ours(x, c), x->n, x->dwork, x->dpivots, x->dinfo); }
static void geqrf_ref(struct arena *x, int c) { geqrf(&x->n, &x->n, mine(x, c), &x->n, x->values, x->work, &lwork, &info); }
static void geqrf_our(struct arena *x, int c) { OF(x, geqrf, geqrf, x->n, x->n, ours(x, c), x->n, x->dvalues, x->dwork, (int)x->work_size, x->dinfo); }
static void orgqr_ref(struct arena *x, int c) { orgqr(&x->n, &x->n, &x->n, mine(x, c), &x->n, x->values, x->work, &lwork, &info); }
static void orgqr_our(struct arena *x, int c) { OF(x, orgqr, ungqr, x->n, x->n, x->n, ours(x, c), x->n, x->dvalues, x->dwork, (int)x->work_size, x->dinfo); }
static void syevd_ref(struct arena *x, int c) {
    int li = 10 * x->n + 100;
    if (complex_type(x)) syevd("V", "L", &x->n, mine(x, c), &x->n, x->values, x->work, &lwork, x->rwork, &lwork, x->pivots, &li, &info);
    else syevd("V", "L", &x->n, mine(x, c), &x->n, x->values, x->work, &lwork, x->pivots, &li, &info);
}
static void syevd_our(struct arena *x, int c) {
    OF(x, syevd, heevd, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, x->n, ours(x, c), x->n, x->dvalues, x->dwork, (int)x->work_size, x->dinfo);
}
static void gesvd_ref(struct arena *x, int c) {
    if (complex_type(x)) gesvd("S", "S", &x->n, &x->n, mine(x, c), &x->n, x->values, x->u, &x->n, x->v, &x->n, x->work, &lwork, x->rwork, &info);
    else gesvd("S", "S", &x->n, &x->n, mine(x, c), &x->n, x->values, x->u, &x->n, x->v, &x->n, x->work, &lwork, &info);
}
static void gesvd_our(struct arena *x, int c) {
    OF(x, gesvd, gesvd, 'S', 'S', x->n, x->n, ours(x, c), x->n, x->dvalues, x->du, x->n, x->dv, x->n, x->dwork, (int)x->work_size, 0, x->dinfo);
}
static void geev_ref(struct arena *x, int c) {
    if (complex_type(x)) geev("N", "V", &x->n, mine(x, c), &x->n, x->values, x->u, &x->n, x->v, &x->n, x->work, &lwork, x->rwork, &info);
    else geev("N", "V", &x->n, mine(x, c), &x->n, x->values, (char *)x->values + (size_t)x->n * x->type->real, x->u, &x->n, x->v, &x->n, x->work, &lwork, &info);
}
static void geev_our(struct arena *x, int c) {
    cudaDataType t = x->type->data;
    MUST(cusolverDnXgeev(solver, params, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, x->n, t, ours(x, c), x->n, x->type->values, x->dvalues,
                         t, 0, 1, t, x->dv, x->n, t, x->dwork, x->work_size * x->type->size, x->host, x->host_size, x->dinfo));
}

static const struct routine {
    const char *name, *real, *complex; /* LAPACK's names behind the letter */
    side *ref, *our;
    lapack **is;
    int definite, factors;
} routines[] = {
    {"potrf", "potrf_", "potrf_", potrf_ref, potrf_our, &potrf, 1, 1}, {"getrf", "getrf_", "getrf_", getrf_ref, getrf_our, &getrf, 0, 1},
    {"geqrf", "geqrf_", "geqrf_", geqrf_ref, geqrf_our, &geqrf, 0, 1}, {"orgqr", "orgqr_", "ungqr_", orgqr_ref, orgqr_our, &orgqr, 0, 1},
    {"syevd", "syevd_", "heevd_", syevd_ref, syevd_our, &syevd, 0, 0}, {"gesvd", "gesvd_", "gesvd_", gesvd_ref, gesvd_our, &gesvd, 0, 0},
    {"geev", "geev_", "geev_", geev_ref, geev_our, &geev, 0, 0},
};
enum { ROUTINES = sizeof routines / sizeof *routines };

static double value(void) { return (double)rand() / RAND_MAX - 0.5; }

/* part is a real number of an array: of complex ones there are two each. */
static double part(const struct type *t, const void *p, size_t i) { return t->real == 4 ? (double)((const float *)p)[i] : ((const double *)p)[i]; }
static void set_part(const struct type *t, void *p, size_t i, double v) {
    if (t->real == 4) ((float *)p)[i] = (float)v;
    else ((double *)p)[i] = v;
}

static void *device(size_t bytes) {
    void *p;
    MUST(cudaMalloc(&p, bytes));
    return p;
}

struct times {
    double at[RUNS];
    int n;
};
static void note(struct times *t, double s) { t->at[t->n++] = s; }
static int ascending(const void *a, const void *b) { return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b); }
static double quartile(struct times *t) {
    qsort(t->at, (size_t)t->n, sizeof *t->at, ascending);
    return t->at[t->n / 4];
}

/* run measures `calls` calls after their matrices are put back, in seconds a call. */
static double run(const struct routine *r, struct arena *x, int ref, int calls) {
    for (int c = 0; c < calls; c++)
        if (ref) memcpy(mine(x, c), x->start, bytes(x));
        else MUST(cudaMemcpy(ours(x, c), x->start, bytes(x), cudaMemcpyHostToDevice));
    MUST(cudaDeviceSynchronize());
    double t = now();
    for (int c = 0; c < calls; c++) (ref ? r->ref : r->our)(x, c);
    if (!ref) MUST(cudaDeviceSynchronize());
    return (now() - t) / calls;
}

/* differs compares the last results: matrices of factorisations, and values of the others but for their order. */
static int differs(const struct routine *r, struct arena *x) {
    int each = complex_type(x) ? 2 : 1;
    size_t n = (size_t)x->n, parts = r->factors ? n * n * (size_t)each : r->ref == geev_ref ? 2 * n : n;
    void *got = malloc(parts * x->type->real), *want = r->factors ? mine(x, 0) : x->values;
    double worst = 0, largest = 0, sum[2] = {0};
    MUST(cudaMemcpy(got, r->factors ? ours(x, 0) : x->dvalues, parts * x->type->real, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < parts; i++) {
        size_t at = i / (size_t)each;
        if (r->ref == potrf_ref && at % n < at / n) continue;
        double a = part(x->type, got, i), b = part(x->type, want, i);
        worst = fmax(worst, fabs(a - b)), largest = fmax(largest, fabs(b));
        sum[0] += a, sum[1] += b;
    }
    free(got);
    if (r->ref == geev_ref) worst = fabs(sum[0] - sum[1]);
    return !(worst <= 1e6 * x->type->eps * (double)n * largest);
}

static void solve(const struct routine *r, const struct type *t, int n) {
    size_t count = (size_t)n * (size_t)n, size = count * t->size, line = (size_t)n * t->size * 2 + 16;
    struct arena x = {.n = n, .type = t, .work_size = 20 * count + 100000};
    int each = complex_type(&x) ? 2 : 1;
    lwork = (int)x.work_size;
    int copies = size * COPIES > 4 << 20 ? 1 : COPIES;
    x.start = malloc(size), x.a = malloc(size * COPIES), x.values = malloc(line), x.u = malloc(size), x.v = malloc(size);
    x.work = malloc(x.work_size * t->size), x.rwork = malloc(x.work_size * t->size), x.pivots = malloc((size_t)n * 80 + 1000);
    x.da = device(size * COPIES), x.dvalues = device(line), x.du = device(size), x.dv = device(size), x.dwork = device(x.work_size * t->size);
    x.dpivots = device((size_t)n * 4), x.dinfo = device(4);
    for (size_t i = 0; i < ROUTINES; i++) {
        char name[16];
        snprintf(name, sizeof name, "%c%s", t->letter, each == 2 ? routines[i].complex : routines[i].real);
        *routines[i].is = symbol(name);
    }
    if (r->our == geev_our) {
        size_t d;
        MUST(cusolverDnXgeev_bufferSize(solver, params, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n, t->data, x.da, n, t->values, x.dvalues,
                                        t->data, 0, 1, t->data, x.dv, n, t->data, &d, &x.host_size));
        x.host = malloc(x.host_size + 16);
    }
    for (size_t i = 0; i < count * (size_t)each; i++) { /* a Hermitian matrix has a real diagonal */
        size_t at = i / (size_t)each;
        int diagonal = at % (size_t)(n + 1) == 0;
        set_part(t, x.start, i, diagonal && i % (size_t)each ? 0 : value() + (r->definite && diagonal ? 2 * n : 0));
    }
    if (r->ref == orgqr_ref) {
        geqrf(&n, &n, x.start, &n, x.values, x.work, &lwork, &info);
        MUST(cudaMemcpy(x.dvalues, x.values, (size_t)n * t->size, cudaMemcpyHostToDevice));
    }
    double spent = 0;
    static struct times took[2];
    took[0].n = took[1].n = 0;
    run(r, &x, 0, 1), run(r, &x, 1, 1);
    int calls = copies == 1 ? 1 : (int)fmin(copies, fmax(1, 1e-4 / run(r, &x, 1, 1)));
    for (int i = 0; (i < 3 || spent < sample * 1e-3) && i < RUNS; i++)
        for (int ref = 0; ref < 2; ref++) {
            double s = run(r, &x, ref, calls);
            spent += s * calls;
            note(&took[ref], s);
        }
    double best[2] = {quartile(&took[0]), quartile(&took[1])};
    printf("%s %s %d: %.2f us, OpenBLAS %.2f us, %.2f%s\n", r->name, t->name, n, best[0] * 1e6, best[1] * 1e6, best[1] / best[0], differs(r, &x) ? " WRONG" : "");
    fflush(stdout);
    void *hosts[] = {x.start, x.a, x.values, x.u, x.v, x.work, x.rwork, x.pivots, x.host};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) free(hosts[i]);
    void *all[] = {x.da, x.dvalues, x.du, x.dv, x.dwork, x.dpivots, x.dinfo};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) MUST(cudaFree(all[i]));
}

/* every solves with every size of a list. */
static void every(const struct routine *r, const struct type *t, const char *sizes) {
    for (const char *p = sizes; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : 0) solve(r, t, atoi(p));
}

/* Products. */
static const struct shape {
    const char *name, *ops;
    int m, n, k, batch;
} shapes[] = {
    {"square", "NN", 32, 32, 32, 1},       {"square", "NN", 64, 64, 64, 1},       {"square", "TN", 64, 64, 64, 1},      {"square", "NT", 64, 64, 64, 1},
    {"square", "NN", 128, 128, 128, 1},    {"square", "NN", 512, 512, 512, 1},    {"square", "TN", 512, 512, 512, 1},   {"square", "NT", 512, 512, 512, 1},
    {"square", "NN", 1024, 1024, 1024, 1}, {"skinny", "NN", 1024, 1, 1024, 1},    {"skinny", "NN", 1024, 4, 1024, 1},   {"skinny", "NN", 1024, 8, 1024, 1},
    {"skinny", "NN", 1024, 16, 1024, 1},   {"skinny", "NN", 1, 1024, 1024, 1},    {"skinny", "NN", 4, 1024, 1024, 1},   {"skinny", "NN", 8, 1024, 1024, 1},
    {"skinny", "NN", 16, 1024, 1024, 1},   {"skinny", "TN", 1024, 4, 1024, 1},    {"skinny", "TN", 1024, 16, 1024, 1},  {"skinny", "TN", 16, 1024, 1024, 1},
    {"skinny", "NT", 1024, 1024, 16, 1},   {"skinny", "TN", 16, 16, 4096, 1},     {"batched", "NN", 8, 8, 8, 256},      {"batched", "NN", 16, 16, 16, 256},
    {"batched", "NN", 32, 32, 32, 64},     {"batched", "NN", 64, 64, 64, 32},     {"batched", "TN", 64, 64, 64, 32},    {"batched", "NN", 128, 128, 128, 8},
    {"batched", "NN", 256, 256, 256, 4},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static lapack *gemm;

/* OF_BLAS calls a product of cuBLAS for a row's type. */
#define OF_BLAS(t, name, ...)                                     \
    MUST((t)->letter == 's'   ? cublasS##name(blas, __VA_ARGS__)  \
         : (t)->letter == 'd' ? cublasD##name(blas, __VA_ARGS__)  \
         : (t)->letter == 'c' ? cublasC##name(blas, __VA_ARGS__)  \
                              : cublasZ##name(blas, __VA_ARGS__))

static void product(const struct shape *s, const struct type *t) {
    size_t size = t->size, na = (size_t)s->m * (size_t)s->k, nb = (size_t)s->k * (size_t)s->n, nc = (size_t)s->m * (size_t)s->n;
    size_t each = t->size / t->real;
    char *host[3], name[16];
    void *dev[3];
    size_t count[3] = {na * (size_t)s->batch, nb * (size_t)s->batch, nc * (size_t)s->batch};
    for (int i = 0; i < 3; i++) {
        host[i] = malloc(count[i] * size), dev[i] = device(count[i] * size);
        for (size_t k = 0; k < count[i] * each; k++) set_part(t, host[i], k, value());
        MUST(cudaMemcpy(dev[i], host[i], count[i] * size, cudaMemcpyHostToDevice));
    }
    snprintf(name, sizeof name, "%cgemm_", t->letter);
    gemm = symbol(name);
    int lda = s->ops[0] == 'N' ? s->m : s->k, ldb = s->ops[1] == 'N' ? s->k : s->n;
    cublasOperation_t oa = s->ops[0] == 'N' ? CUBLAS_OP_N : CUBLAS_OP_T, ob = s->ops[1] == 'N' ? CUBLAS_OP_N : CUBLAS_OP_T;
    double spent = 0, scalars[2][2] = {{0}};
    static struct times all[2];
    all[0].n = all[1].n = 0;
    set_part(t, scalars[0], 0, 1);
    const void *al = scalars[0], *be = scalars[1];
    double work = 2.0 * s->m * s->n * s->k * s->batch * (double)(each * each);
    int calls = (int)fmax(1, fmin(200, 5e6 / work));
    for (int i = 0; (i < 4 || spent < sample * 1e-3) && i < RUNS; i++)
        for (int ref = 0; ref < 2; ref++) {
            double from = now();
            for (int c = 0; c < calls; c++)
                if (ref)
                    for (int b = 0; b < s->batch; b++)
                        gemm(&s->ops[0], &s->ops[1], &s->m, &s->n, &s->k, al, host[0] + na * size * (size_t)b, &lda, host[1] + nb * size * (size_t)b, &ldb, be,
                             host[2] + nc * size * (size_t)b, &s->m);
                else if (s->batch > 1)
                    OF_BLAS(t, gemmStridedBatched, oa, ob, s->m, s->n, s->k, al, dev[0], lda, (long long)na, dev[1], ldb, (long long)nb, be, dev[2], s->m, (long long)nc, s->batch);
                else
                    OF_BLAS(t, gemm, oa, ob, s->m, s->n, s->k, al, dev[0], lda, dev[1], ldb, be, dev[2], s->m);
            if (!ref) MUST(cudaDeviceSynchronize());
            double took = now() - from;
            spent += took;
            if (i) note(&all[ref], took / calls);
        }
    double best[2] = {quartile(&all[0]), quartile(&all[1])};
    printf("gemm %s %s %s %dx%dx%d x%d: %.2f us (%.1f GF/s), OpenBLAS %.2f us, %.2f\n", s->name, t->name, s->ops, s->m, s->n, s->k, s->batch, best[0] * 1e6,
           work / best[0] * 1e-9, best[1] * 1e6, best[1] / best[0]);
    fflush(stdout);
    for (int i = 0; i < 3; i++) free(host[i]), MUST(cudaFree(dev[i]));
}

int main(int argc, char **argv) {
    const char *sizes = NULL;
    for (int i = 1; i + 1 < argc; i += 2)
        if (!strcmp(argv[i], "-ms")) sample = atof(argv[i + 1]);
        else if (!strcmp(argv[i], "-only")) only = argv[i + 1];
        else if (!strcmp(argv[i], "-type")) of_type = argv[i + 1];
        else if (!strcmp(argv[i], "-sizes")) sizes = argv[i + 1];
        else if (!strcmp(argv[i], "-clock")) timer = CLOCK_PROCESS_CPUTIME_ID;
    library = dlopen("libopenblas.so.0", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "no OpenBLAS here: %s\n", dlerror());
        return 0;
    }
    const char *threads = getenv("KUDZU_THREADS");
    ((void (*)(int))symbol("openblas_set_num_threads"))(threads ? atoi(threads) : 1);
    printf("%s\n", ((char *(*)(void))symbol("openblas_get_config"))());
    MUST(cublasCreate(&blas));
    MUST(cusolverDnCreate(&solver));
    MUST(cusolverDnCreateParams(&params));
    for (size_t i = 0; i < ROUTINES; i++)
        for (size_t t = 0; t < TYPES; t++)
            if (!strncmp(routines[i].name, only, strlen(only)) && !strncmp(types[t].name, of_type, strlen(of_type)))
                every(&routines[i], &types[t], sizes ? sizes : routines[i].factors ? "4,8,16,32,64,128,256,512,1024" : "8,32,128,512");
    for (size_t t = 0; t < TYPES; t++)
        for (size_t i = 0; i < SHAPES && !strncmp("gemm", only, strlen(only)) && !strncmp(types[t].name, of_type, strlen(of_type)); i++)
            product(&shapes[i], &types[t]);
    return 0;
}
