/* Runs the rows: checks every implementation against the native one, then times them in turn, one sample of each after
 * the other, and reports the median. Prints a table for people and writes JSON for internal/testkit/bench. */
#define _GNU_SOURCE
#include <sched.h>
#include <dlfcn.h>
#include <math.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "bench.h"
#include "../threadclock.h"

/* Two groups, which the report keeps apart: the classics that the suite began with, and what real programs' kernels do. */
static const char core[] = "core", programs[] = "programs";
static const struct table { const char *group; const struct row *rows; } tables[] = {
    {core, stream_rows}, {core, gemm_rows}, {core, compute_rows}, {core, atomic_rows}, {core, sort_rows}, {core, nn_rows}, {core, mma_rows},
    {programs, convert_rows}, {programs, local_rows}, {programs, torch_rows}, {programs, primitives_rows}, {programs, cipher_rows}, {programs, linalg_rows}, {programs, image_rows},
};

static struct {
    const char *rows, *json, *library, *kernels, *natives, *child, *tier;
    int reps, threads, list, pocl, compute, launch, alone;
    double sample; /* seconds a sample lasts at least */
} opt = {.library = "dist/lib/libcuda.so.1", .kernels = "bench/kernels", .natives = ".build/bench", .tier = "optimised", .reps = 7, .pocl = 1, .sample = 0.005};

/* A variant is one implementation of the row being run. */
enum { GCC, CLANG, KUDZU, POCL, VARIANTS };
static const char *const variant_names[VARIANTS] = {"gcc", "clang", "kudzu", "pocl"};
static void *native_libs[2];
static struct dev *devs[VARIANTS];
static const char *group; /* of the row being run */
static int failures;

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Processor time of all threads: what a run costs whoever else uses the machine. */
static double spent_cpu(void) {
    struct timespec t;
    count_threads();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { HUGE_PAGE = 2 << 20 };
static size_t round_huge(size_t n) { return (n + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1); }
/* Kudzu's device memory lies on huge pages; so does everybody's, or the row would measure the TLB. */
void *huge_alloc(size_t bytes) {
    void *p = aligned_alloc(HUGE_PAGE, round_huge(bytes));
    if (!p) die("%zu bytes: out of memory", bytes);
    madvise(p, round_huge(bytes), MADV_HUGEPAGE);
    memset(p, 0, round_huge(bytes));
    return p;
}
void huge_free(void *p, size_t bytes) {
    (void)bytes;
    free(p);
}

/* ---- checks ---- */

static double element(const struct buf *b, const void *p, size_t i) {
    switch (b->type) {
    case F32: return ((const float *)p)[i];
    case I32: return ((const int32_t *)p)[i];
    case U32: return ((const uint32_t *)p)[i];
    case U8: return ((const uint8_t *)p)[i];
    case I8: return ((const int8_t *)p)[i];
    case F16: return (double)((const _Float16 *)p)[i];
    }
    return 0;
}

/* compare returns the largest error relative to max(|want|, rms of want), or infinity; it counts what is outside. */
static double compare(const struct row *r, const struct buf *b, const void *got, const void *want, const char *who) {
    double sum = 0, worst = 0;
    size_t bad = 0, first = 0, nonzero = 0;
    for (size_t i = 0; i < b->count; i++) {
        double w = element(b, want, i);
        sum += w * w;
        nonzero += w != 0;
    }
    if (!nonzero || !isfinite(sum)) {
        printf("FAIL %s: the native %s is %s\n", r->name, b->name, nonzero ? "not finite" : "all zero");
        return INFINITY;
    }
    double rms = sqrt(sum / (double)b->count);
    for (size_t i = 0; i < b->count; i++) {
        double w = element(b, want, i), g = element(b, got, i), size = fabs(w) > rms ? fabs(w) : rms;
        double e = fabs(g - w) / size;
        if (!(e <= r->tolerance)) {
            if (!bad++) first = i;
            if (!(e == e)) e = INFINITY;
        }
        if (e > worst) worst = e;
    }
    if ((double)bad <= r->outliers * (double)b->count) return worst < 1 ? worst : 1;
    if (bad)
        printf("FAIL %s: %s: %zu of %zu values of %s differ by more than %g (worst %g); the first at %zu: %.9g, want %.9g\n", r->name,
               who, bad, b->count, b->name, r->tolerance, worst, first, element(b, got, first), element(b, want, first));
    return bad ? INFINITY : worst;
}

/* ---- one row ---- */

struct session {
    const struct row *row;
    void *first[MAX_BUFS];   /* the inputs as filled */
    void *native[MAX_BUFS];  /* the native variants' buffers */
    void *want[MAX_BUFS];    /* results of the first native variant */
    void *scratch;
    double error[VARIANTS], seconds[VARIANTS], best[VARIANTS], cpu[VARIANTS], spread[VARIANTS];
    int ok[VARIANTS];
};

typedef void (*native_fn)(struct job *);

static void native_run(struct session *s, int v) {
    const struct row *r = s->row;
    const char *name = r->native ? r->native : r->name;
    native_fn f = (native_fn)dlsym(native_libs[v], name);
    if (!f) die("%s: %s has no native function %s", r->name, variant_names[v], name);
    struct job job = {s->native, r->p, pool_env()};
    f(&job);
}

static void run_times(struct session *s, int v, int times) {
    for (int i = 0; i < times; i++) {
        if (v <= CLANG) native_run(s, v);
        else s->row->run(s->row, devs[v]);
    }
    if (v > CLANG) devs[v]->wait(devs[v]);
}

static int present(int v) { return v <= CLANG ? native_libs[v] != 0 : devs[v] != 0; }
/* With -kudzu-only native code computes what is right, and nobody times it. */
static int timed(int v) { return present(v) && (!opt.alone || v == KUDZU); }

static void open_session(struct session *s, const struct row *r) {
    memset(s, 0, sizeof *s);
    s->row = r;
    size_t largest = 0;
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
        size_t n = buf_bytes(&r->bufs[i]);
        if (n > largest) largest = n;
        s->first[i] = huge_alloc(n);
        s->native[i] = r->bufs[i].role == IN ? s->first[i] : huge_alloc(n);
        if (r->bufs[i].role == OUT || r->bufs[i].role == INOUT) s->want[i] = malloc(n);
    }
    s->scratch = malloc(largest);
    rng_seed(12345);
    r->fill(r, s->first);
    for (int v = KUDZU; v <= POCL; v++) {
        if (!devs[v]) continue;
        devs[v]->open_row(devs[v], r);
        for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) devs[v]->upload(devs[v], i, s->first[i]);
    }
}

static void close_session(struct session *s) {
    const struct row *r = s->row;
    for (int v = KUDZU; v <= POCL; v++)
        if (devs[v]) devs[v]->close_row(devs[v], r);
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
        if (s->native[i] != s->first[i]) huge_free(s->native[i], buf_bytes(&r->bufs[i]));
        huge_free(s->first[i], buf_bytes(&r->bufs[i]));
        free(s->want[i]);
    }
    free(s->scratch);
}

/* verify runs every variant once on fresh buffers; the first native one's results are what the others must have. */
static void verify(struct session *s) {
    const struct row *r = s->row;
    int have = 0;
    for (int v = 0; v < VARIANTS; v++) {
        if (!present(v)) continue;
        for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
            if (r->bufs[i].role == IN) continue;
            if (v <= CLANG) memcpy(s->native[i], s->first[i], buf_bytes(&r->bufs[i]));
            else devs[v]->upload(devs[v], i, s->first[i]);
        }
        run_times(s, v, 1);
        s->ok[v] = 1;
        for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
            if (!s->want[i]) continue;
            if (v <= CLANG) memcpy(s->scratch, s->native[i], buf_bytes(&r->bufs[i]));
            else devs[v]->download(devs[v], i, s->scratch);
            if (!have) {
                memcpy(s->want[i], s->scratch, buf_bytes(&r->bufs[i]));
                continue;
            }
            double e = compare(r, &r->bufs[i], s->scratch, s->want[i], variant_names[v]);
            if (!(e < INFINITY)) s->ok[v] = 0, failures++;
            if (e > s->error[v]) s->error[v] = e;
        }
        have = 1;
    }
}

/* Seconds after which an implementation of a row is not sampled again: one that is a hundred times slower would make
 * everybody wait. On a quiet machine nothing gets there. */
enum { PATIENCE = 12 };

static void measure(struct session *s) {
    int times[VARIANTS], taken[VARIANTS] = {0};
    double samples[VARIANTS][64], cpu[VARIANTS][64], spent[VARIANTS] = {0};
    for (int v = 0; v < VARIANTS; v++) {
        if (!timed(v)) continue;
        double t = now();
        run_times(s, v, 1);
        t = now() - t;
        double want = opt.sample / (t > 1e-7 ? t : 1e-7);
        times[v] = want < 1 ? 1 : want > 10000 ? 10000 : (int)want + 1;
    }
    for (int rep = 0; rep < opt.reps; rep++)
        for (int v = 0; v < VARIANTS; v++) {
            if (!timed(v) || (spent[v] > PATIENCE && taken[v])) continue;
            /* The one before may still have threads that spin before they sleep. */
            usleep(300);
            /* Last-level caches of hundreds of megabytes still hold what the one before worked on: gcc's and clang's memory is one, so
             * that clang's samples would begin warm and nobody else's. */
            if (times[v] > 1) run_times(s, v, times[v]);
            double t = now(), c = spent_cpu();
            run_times(s, v, times[v]);
            t = now() - t, c = spent_cpu() - c;
            spent[v] += t;
            cpu[v][taken[v]] = c / times[v];
            samples[v][taken[v]++] = t / times[v];
        }
    for (int v = 0; v < VARIANTS; v++) {
        if (!timed(v)) continue;
        s->seconds[v] = median(samples[v], taken[v]);
        s->best[v] = samples[v][0];
        s->cpu[v] = median(cpu[v], taken[v]);
        s->spread[v] = (samples[v][taken[v] - 1] - samples[v][0]) / s->seconds[v];
    }
}

/* totals are what the rows so far add up to. */
struct totals { FILE *json; double log_native, log_pocl; int n, npocl, written; };

static void report(struct totals *t, const struct session *s) {
    const struct row *r = s->row;
    double best = INFINITY, least = INFINITY, work = INFINITY;
    for (int v = GCC; v <= CLANG; v++) {
        if (timed(v) && s->seconds[v] < best) best = s->seconds[v];
        if (timed(v) && s->best[v] < least) least = s->best[v];
        if (timed(v) && s->cpu[v] < work) work = s->cpu[v];
    }
    double ratio = opt.alone ? 0 : best / s->seconds[KUDZU], pocl = devs[POCL] ? s->seconds[POCL] / s->seconds[KUDZU] : 0;
    printf("%-18s", r->name);
    for (int v = 0; v < VARIANTS; v++) printf(timed(v) ? " %9.3f" : "         -", s->seconds[v] * 1e3);
    if (opt.alone) printf("       -      -      -");
    else printf("  %6.2f %6.2f %6.2f", ratio, least / s->best[KUDZU], work / s->cpu[KUDZU]);
    if (pocl > 0) printf(" %7.2f", pocl);
    else printf("       -");
    if (r->ops > 0 && r->compute) printf("  %7.1f Gop/s", r->ops / s->seconds[KUDZU] * 1e-9);
    else if (r->bytes > 0) printf("  %7.1f GB/s", r->bytes / s->seconds[KUDZU] * 1e-9);
    int ok = 1;
    for (int v = 0; v < VARIANTS; v++) ok &= !present(v) || s->ok[v];
    printf("%s\n", ok ? "" : "  WRONG RESULT");
    fflush(stdout);
    if (!opt.alone && s->ok[KUDZU]) t->log_native += log(ratio), t->n++;
    if (pocl > 0 && s->ok[POCL] && s->ok[KUDZU]) t->log_pocl += log(pocl), t->npocl++;
    FILE *json = t->json;
    if (!json) return;
    fprintf(json, "%s\n    {\"row\": \"%s\", \"group\": \"%s\", \"what\": \"%s\", \"module\": \"%s\", \"tolerance\": %g, \"bytes\": %.0f, \"ops\": %.0f, \"compute\": %s, \"mma\": %s",
            t->written++ ? "," : "", r->name, group, r->what, r->module, r->tolerance, r->bytes, r->ops,
            r->compute ? "true" : "false", r->mma ? "true" : "false");
    for (int v = 0; v < VARIANTS; v++)
        if (timed(v))
            fprintf(json, ", \"%s_ms\": %.5f, \"%s_best_ms\": %.5f, \"%s_cpu_ms\": %.5f, \"%s_spread\": %.3f, \"%s_error\": %.3g, \"%s_ok\": %s", variant_names[v], s->seconds[v] * 1e3,
                    variant_names[v], s->best[v] * 1e3, variant_names[v], s->cpu[v] * 1e3, variant_names[v], s->spread[v], variant_names[v], s->error[v], variant_names[v], s->ok[v] ? "true" : "false");
    fprintf(json, "}");
}

/* ---- choosing rows ---- */

static void dry_launch(struct dev *d, const char *kernel, struct dim g, struct dim b, const struct arg *args, int n) {
    (void)args, (void)n;
    const struct row *r = (const struct row *)d->name;
    printf("%s %s %s %u,%u,%u %u,%u,%u\n", r->name, r->module, kernel, b.x, b.y, b.z, g.x, g.y, g.z);
}
static void dry_zero(struct dev *d, int buf) { (void)d, (void)buf; }

static int chosen(const struct row *r) {
    if (opt.compute && !r->compute && strcmp(r->name, "saxpy") && strcmp(r->name, "triad")) return 0;
    if (!opt.rows || !*opt.rows) return 1;
    size_t n = strlen(r->name);
    for (const char *p = opt.rows; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : 0) {
        size_t len = strcspn(p, ",");
        if (len == n && !strncmp(p, r->name, n)) return 1;
        if (len && len == strlen(r->module) && !strncmp(p, r->module, len)) return 1;
        if (len > 1 && p[len - 1] == '*' && !strncmp(p, r->name, len - 1)) return 1;
    }
    return 0;
}

static void each(void (*f)(const struct row *r, void *ctx), void *ctx) {
    int found = 0;
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (const struct row *r = tables[t].rows; r->name; r++)
            if (chosen(r)) group = tables[t].group, f(r, ctx), found++;
    if (!found) die("no row is called %s; -list names them", opt.rows);
}


static void list_row(const struct row *r, void *ctx) {
    (void)ctx;
    struct dev dry = {(const char *)r, dry_launch, dry_zero, 0, 0, 0, 0, 0};
    r->run(r, &dry);
}
static void do_row(const struct row *r, void *ctx) {
    struct totals *t = ctx;
    struct session s;
    open_session(&s, r);
    verify(&s);
    measure(&s);
    report(t, &s);
    close_session(&s);
}

static void options(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : 0;
        if (!strcmp(a, "-list")) opt.list = 1;
        else if (!strcmp(a, "-no-pocl")) opt.pocl = 0;
        else if (!strcmp(a, "-compute")) opt.compute = 1;
        else if (!strcmp(a, "-kudzu-only")) opt.alone = 1, opt.pocl = 0;
        else if (!strcmp(a, "-launch")) opt.launch = 1;
        else if (!v) die("unknown option, or one without its value: %s", a);
        else if (i++, !strcmp(a, "-row")) opt.rows = v;
        else if (!strcmp(a, "-json")) opt.json = v;
        else if (!strcmp(a, "-child")) opt.child = v;
        else if (!strcmp(a, "-lib")) opt.library = v;
        else if (!strcmp(a, "-kernels")) opt.kernels = v;
        else if (!strcmp(a, "-native")) opt.natives = v;
        else if (!strcmp(a, "-tier")) opt.tier = v;
        else if (!strcmp(a, "-reps")) opt.reps = atoi(v);
        else if (!strcmp(a, "-threads")) opt.threads = atoi(v);
        else if (!strcmp(a, "-sample-ms")) opt.sample = atof(v) * 1e-3;
        else die("unknown option %s", a);
    }
    if (opt.reps < 1 || opt.reps > 64) die("-reps: 1 to 64");
    if (!opt.threads) opt.threads = (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Everybody has as many processors as threads: a thread that synchronises with Kudzu works too, and would be one more. */
static void set_threads(void) {
    char text[16];
    cpu_set_t allowed, some;
    CPU_ZERO(&some);
    if (!sched_getaffinity(0, sizeof allowed, &allowed)) {
        for (int i = 0, n = 0; i < CPU_SETSIZE && n < opt.threads; i++)
            if (CPU_ISSET(i, &allowed)) CPU_SET(i, &some), n++;
        sched_setaffinity(0, sizeof some, &some);
    }
    snprintf(text, sizeof text, "%d", opt.threads);
    setenv("KUDZU_THREADS", text, 1);
}

static void open_all(void) {
    char path[512];
    const char *why = "not asked for";
    pool_start(opt.threads);
    setenv("KUDZU_COMPUTE_CAPABILITY", "9.0", 0); /* wgmma is of no other */
    setenv("KUDZU_TIER", opt.tier, 1); /* what is timed is one tier's code */
    for (int v = GCC; v <= CLANG; v++) {
        snprintf(path, sizeof path, "%s/native-%s.so", opt.natives, variant_names[v]);
        native_libs[v] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!native_libs[v]) fprintf(stderr, "bench: without native code of %s: %s\n", variant_names[v], dlerror());
    }
    if (!native_libs[GCC] && !native_libs[CLANG]) die("no native code to compare with");
    devs[KUDZU] = open_cuda(opt.library, opt.kernels, &why);
    if (!devs[KUDZU]) die("%s", why);
    if (opt.pocl && !(devs[POCL] = open_opencl(opt.kernels, opt.threads, &why))) fprintf(stderr, "bench: without PoCL: %s\n", why);
}

static int launch_main(const char *self) {
    FILE *json = 0;
    if (opt.json && !(json = fopen(opt.json, "w"))) die("%s cannot be written", opt.json);
    if (json) fprintf(json, "{\"threads\": %d, \"launch\": [", opt.threads);
    launch_bench(json, opt.library, opt.kernels, self);
    if (json) fprintf(json, "\n]}\n");
    if (json && fclose(json)) die("%s cannot be written", opt.json);
    return 0;
}

int main(int argc, char **argv) {
    options(argc, argv);
    if (opt.list) {
        each(list_row, 0);
        return 0;
    }
    if (opt.child) return launch_child(opt.child, opt.library, opt.kernels);
    set_threads();
    if (opt.launch) return launch_main(argv[0]);
    open_all();
    struct totals t = {0};
    if (opt.json && !(t.json = fopen(opt.json, "w"))) die("%s cannot be written", opt.json);
    printf("%d threads, medians of %d; ms; ratios above 1: Kudzu is faster\n", opt.threads, opt.reps);
    printf("%-18s %9s %9s %9s %9s  %6s %6s %6s %7s\n", "row", "gcc", "clang", "kudzu", "pocl", "native", "(best)", "(cpu)", "pocl");
    if (t.json)
        fprintf(t.json, "{\"threads\": %d, \"reps\": %d, \"device\": \"%s\", \"pocl\": \"%s\", \"rows\": [", opt.threads, opt.reps, cuda_name(),
                devs[POCL] ? opencl_name() : "");
    each(do_row, &t);
    if (t.json) {
        fprintf(t.json, "\n]}\n");
        if (fclose(t.json)) die("%s cannot be written", opt.json);
    }
    if (t.n > 1) printf("geomean of %d: %.3f of native", t.n, exp(t.log_native / t.n));
    if (t.n > 1 && t.npocl) printf(", %.2f of PoCL (%d rows)", exp(t.log_pocl / t.npocl), t.npocl);
    if (t.n > 1) printf("\n");
    if (failures) printf("%d results are WRONG\n", failures);
    return failures ? 1 : 0;
}
