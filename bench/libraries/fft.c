/* Transforms of libcufft beside FFTW's (FFTW_MEASURE) on one thread each, in turn: fft [-cpu] [-long] [-alone] [-pocketfft FILE] [PREFIX].
 * FFTW is opened when it is there; without it, or with -alone, its times are missing. Times are the least of the samples; -cpu takes
 * processor time, for a busy machine. -long adds the rows whose plans FFTW measures for minutes; PREFIX is that of a row's name. FILE has
 * the times of SciPy's pocketfft (pocketfft.py), which reads what -rows prints. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "cuda_runtime_api.h"
#include "cufft.h"

enum kind { C2C, R2C, C2R, Z2Z, D2Z };
static struct row {
    const char *name;
    enum kind kind;
    int rank, n[3], batch, slow;
    double pocketfft; /* seconds */
} rows[] = {
    {"c2c 2^8 x 4096", C2C, 1, {1 << 8}, 4096},
    {"c2c 2^10 x 1024", C2C, 1, {1 << 10}, 1024},
    {"c2c 2^12 x 64", C2C, 1, {1 << 12}, 64},
    {"c2c 2^14", C2C, 1, {1 << 14}, 1},
    {"c2c 2^16", C2C, 1, {1 << 16}, 1},
    {"c2c 2^18", C2C, 1, {1 << 18}, 1, 1},
    {"c2c 2^20", C2C, 1, {1 << 20}, 1, 1},
    {"c2c 2^22", C2C, 1, {1 << 22}, 1, 1},
    {"c2c 2^24", C2C, 1, {1 << 24}, 1, 1},
    {"z2z 2^10 x 256", Z2Z, 1, {1 << 10}, 256},
    {"z2z 2^16", Z2Z, 1, {1 << 16}, 1},
    {"z2z 2^20", Z2Z, 1, {1 << 20}, 1, 1},
    {"r2c 2^12 x 128", R2C, 1, {1 << 12}, 128},
    {"r2c 2^20", R2C, 1, {1 << 20}, 1, 1},
    {"c2r 2^20", C2R, 1, {1 << 20}, 1, 1},
    {"c2c 3^7 x 128", C2C, 1, {2187}, 128},
    {"c2c 3^11", C2C, 1, {177147}, 1, 1},
    {"c2c 1000 x 256", C2C, 1, {1000}, 256},
    {"c2c 10007 prime x 16", C2C, 1, {10007}, 16},
    {"c2c 512 x 512", C2C, 2, {512, 512}, 1},
    {"r2c 1024 x 1024", R2C, 2, {1024, 1024}, 1, 1},
    {"z2z 300 x 400", Z2Z, 2, {300, 400}, 1},
    {"c2c 64 x 64 x 64", C2C, 3, {64, 64, 64}, 1},
    {"d2z 128 x 128 x 128", D2Z, 3, {128, 128, 128}, 1, 1},
};

static struct fftw {
    void *(*many)(int, const int *, int, void *, const int *, int, int, void *, const int *, int, int, int, unsigned);
    void *(*real)(int, const int *, int, void *, const int *, int, int, void *, const int *, int, int, unsigned);
    void *(*back)(int, const int *, int, void *, const int *, int, int, void *, const int *, int, int, unsigned);
    void (*execute)(void *);
    void (*destroy)(void *);
} fftw[2];

static void *entry(void *lib, const char *prefix, const char *name) {
    char full[80];
    snprintf(full, sizeof full, "%s_%s", prefix, name);
    return dlsym(lib, full);
}

static void open_fftw(struct fftw *f, const char *lib, const char *prefix) {
    void *h = dlopen(lib, RTLD_NOW);
    if (!h)
        return;
    *(void **)&f->many = entry(h, prefix, "plan_many_dft");
    *(void **)&f->real = entry(h, prefix, "plan_many_dft_r2c");
    *(void **)&f->back = entry(h, prefix, "plan_many_dft_c2r");
    *(void **)&f->execute = entry(h, prefix, "execute");
    *(void **)&f->destroy = entry(h, prefix, "destroy_plan");
}

/* One row on both sides. */
struct job {
    const struct row *row;
    void *plan;
    cufftHandle ours;
    void *in, *out; /* device */
};

static void ours(struct job *j) {
    switch (j->row->kind) {
    case C2C: check(cufftExecC2C(j->ours, j->in, j->out, CUFFT_FORWARD), "exec"); break;
    case R2C: check(cufftExecR2C(j->ours, j->in, j->out), "exec"); break;
    case C2R: check(cufftExecC2R(j->ours, j->in, j->out), "exec"); break;
    case Z2Z: check(cufftExecZ2Z(j->ours, j->in, j->out, CUFFT_FORWARD), "exec"); break;
    case D2Z: check(cufftExecD2Z(j->ours, j->in, j->out), "exec"); break;
    }
}

static int is_double(const struct row *r) { return r->kind == Z2Z || r->kind == D2Z; }
static void theirs(struct job *j) { fftw[is_double(j->row)].execute(j->plan); }

static double sample(struct job *j, void (*run)(struct job *), int times, int synchronize) {
    double t = now();
    for (int i = 0; i < times; i++)
        run(j);
    if (synchronize)
        check(cudaDeviceSynchronize(), "synchronize");
    return (now() - t) / times;
}

/* The number of runs that take about 10 ms. */
static int enough(double one) { return one > 0.01 ? 1 : (int)(0.01 / one) + 1; }

enum { REPS = 7 };
static double sum_log, pocket_log, lowest = 1e9;
static int counted, pocket_counted;

static void measure(const struct row *r) {
    struct job j = {.row = r};
    struct fftw *f = &fftw[is_double(r)];
    size_t part = is_double(r) ? 8 : 4, all = r->batch, half = r->batch;
    for (int i = 0; i < r->rank; i++)
        all *= r->n[i], half *= i == r->rank - 1 ? r->n[i] / 2 + 1 : r->n[i];
    int real_in = r->kind == R2C || r->kind == D2Z, real_out = r->kind == C2R;
    size_t in = part * (real_in ? all : real_out ? 2 * half : 2 * all), out = part * (real_out ? all : real_in ? 2 * half : 2 * all);
    void *a = aligned_alloc(64, (in + 63) & ~63ul), *b = aligned_alloc(64, (out + 63) & ~63ul);
    int one = all / r->batch, half_one = half / r->batch;
    if (f->many) {
        if (real_in)
            j.plan = f->real(r->rank, r->n, r->batch, a, NULL, 1, one, b, NULL, 1, half_one, 0);
        else if (real_out)
            j.plan = f->back(r->rank, r->n, r->batch, a, NULL, 1, half_one, b, NULL, 1, one, 0);
        else
            j.plan = f->many(r->rank, r->n, r->batch, a, NULL, 1, one, b, NULL, 1, one, -1, 0);
    }
    for (size_t i = 0; i < in / part; i++) {
        double v = (double)(i * 2654435761u % 1000003) / 1000003 - 0.5;
        if (part == 8)
            ((double *)a)[i] = v;
        else
            ((float *)a)[i] = (float)v;
    }
    memset(b, 0, out);
    static const cufftType types[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z};
    int lengths[3];
    memcpy(lengths, r->n, sizeof lengths);
    check(cufftPlanMany(&j.ours, r->rank, lengths, NULL, 1, 0, NULL, 1, 0, types[r->kind], r->batch), "plan");
    check(cudaMalloc(&j.in, in), "memory"), check(cudaMalloc(&j.out, out), "memory");
    check(cudaMemcpy(j.in, a, in, cudaMemcpyHostToDevice), "copy");
    double least[2] = {1e9, 1e9};
    sample(&j, ours, 1, 1); /* compiles */
    int times[2] = {enough(sample(&j, ours, 1, 1)), 0};
    /* FFTW may write over what it is given, so that results are compared first. */
    double difference = 0, size = 0;
    if (j.plan) {
        void *got = malloc(out);
        check(cudaMemcpy(got, j.out, out, cudaMemcpyDeviceToHost), "copy");
        times[1] = enough(sample(&j, theirs, 1, 0));
        for (size_t i = 0; i < out / part; i++) {
            double x = part == 8 ? ((double *)got)[i] : ((float *)got)[i], y = part == 8 ? ((double *)b)[i] : ((float *)b)[i];
            difference += (x - y) * (x - y), size += y * y;
        }
        free(got);
    }
    for (int i = 0; i < REPS; i++) {
        least[0] = fmin(least[0], sample(&j, ours, times[0], 1));
        if (j.plan)
            least[1] = fmin(least[1], sample(&j, theirs, times[1], 0));
    }
    printf("%-24s kudzu %9.1f us  ", r->name, least[0] * 1e6);
    if (j.plan) {
        double ratio = least[1] / least[0];
        sum_log += log(ratio), counted++, lowest = fmin(lowest, ratio);
        printf("FFTW %9.1f us  ratio %5.2f  difference %.1e", least[1] * 1e6, ratio, sqrt(difference / size));
        f->destroy(j.plan);
    } else
        printf("FFTW missing");
    if (r->pocketfft) {
        pocket_log += log(r->pocketfft / least[0]), pocket_counted++;
        printf("  pocketfft %9.1f us  ratio %5.2f", r->pocketfft * 1e6, r->pocketfft / least[0]);
    }
    puts("");
    fflush(stdout);
    check(cufftDestroy(j.ours), "destroy");
    cudaFree(j.in), cudaFree(j.out), free(a), free(b);
}

/* What SciPy took: a name, a tab, seconds. */
static void read_pocketfft(const char *path) {
    char line[200], *tab;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if ((tab = strchr(line, '\t'))) {
            *tab = 0;
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
                if (!strcmp(rows[i].name, line))
                    rows[i].pocketfft = atof(tab + 1);
        }
    if (f)
        fclose(f);
}

static const char *met(int yes) { return yes ? "met" : "MISSED"; }

int main(int argc, char **argv) {
    const char *only = "";
    int slow = 0, alone = 0, list = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "-cpu"))
            timer = CLOCK_PROCESS_CPUTIME_ID;
        else if (!strcmp(argv[i], "-long"))
            slow = 1;
        else if (!strcmp(argv[i], "-alone"))
            alone = 1;
        else if (!strcmp(argv[i], "-rows"))
            list = 1;
        else if (!strcmp(argv[i], "-pocketfft") && i + 1 < argc)
            read_pocketfft(argv[++i]);
        else
            only = argv[i];
    if (!alone && !list)
        open_fftw(&fftw[0], "libfftw3f.so.3", "fftwf"), open_fftw(&fftw[1], "libfftw3.so.3", "fftw");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct row *r = &rows[i];
        static const char *kinds[] = {"c2c", "r2c", "c2r", "z2z", "d2z"};
        if (strncmp(r->name, only, strlen(only)) || r->slow > slow)
            continue;
        if (!list) {
            measure(r);
            continue;
        }
        printf("%s\t%s\t%d\t", r->name, kinds[r->kind], r->batch);
        for (int k = 0; k < r->rank; k++)
            printf("%d ", r->n[k]);
        puts("");
    }
    if (counted)
        printf("geometric mean of %d: %.2f of FFTW (target 0.8: %s), least %.2f (0.4: %s)\n", counted, exp(sum_log / counted), met(exp(sum_log / counted) >= 0.8), lowest, met(lowest >= 0.4));
    if (pocket_counted)
        printf("geometric mean of %d: %.2f of pocketfft (target 2: %s)\n", pocket_counted, exp(pocket_log / pocket_counted), met(exp(pocket_log / pocket_counted) >= 2));
    return 0;
}
