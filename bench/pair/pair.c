/* Two sets of the bench kernels' PTX on one real driver: pair LIBCUDA FIRST-DIR SECOND-DIR [ROW,..]. Each row's launches are timed by
 * events, the two sets in turn, and their results compared bit for bit. It answers what our compiler costs on NVIDIA's own
 * hardware: the first set is the committed PTX, the second what `kudzu compile --target sm_90 --emit ptx` made of it. */
#include <math.h>
#include "../harness/driver.h"

struct side {
    const char *dir;
    struct loaded row;
    int regs, local;
} sides[2];
static struct side *now_side;
static const struct row *now_row;

static void launch(struct dev *d, const char *kernel, struct dim g, struct dim b, const struct arg *args, int n) {
    (void)d;
    struct side *s = now_side;
    int fresh, v = 0;
    CUfunction f = driver_kernel(&s->row, kernel, &fresh);
    if (fresh) {
        CHECK(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_NUM_REGS, f));
        if (v > s->regs) s->regs = v;
        CHECK(cuFuncGetAttribute(&v, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, f));
        if (v > s->local) s->local = v;
    }
    driver_launch(&s->row, f, kernel, g, b, args, n);
}
static void zero(struct dev *d, int buf) {
    (void)d;
    CHECK(cuMemsetD8Async(now_side->row.bufs[buf], 0, buf_bytes(&now_row->bufs[buf]), 0));
}
static struct dev dev = {.name = "pair", .launch = launch, .zero = zero};

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
        driver_load(&now_side->row, now_side->dir, r);
        now_side->regs = now_side->local = 0;
        for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) driver_upload(&now_side->row, r, i, first[i]);
        r->run(r, &dev);
        check(fn.cuCtxSynchronize(), r->name);
    }
    size_t bad = 0, all = 0;
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) {
        size_t n = buf_bytes(&r->bufs[i]);
        if (r->bufs[i].role != OUT && r->bufs[i].role != INOUT) continue;
        for (int s = 0; s < 2; s++) got[s] = malloc(n), CHECK(cuMemcpyDtoH(got[s], sides[s].row.bufs[i], n));
        for (size_t j = 0; j < n; j++) bad += ((char *)got[0])[j] != ((char *)got[1])[j];
        all += n;
        free(got[0]), free(got[1]);
    }
    int times[2];
    double t[2][REPS], ms[2];
    for (int s = 0; s < 2; s++) {
        now_side = &sides[s];
        double one = sample(r, 3);
        times[s] = one > 4 ? 1 : one < 0.004 ? 1000 : (int)(4 / one) + 1;
    }
    for (int i = 0; i < REPS; i++)
        for (int s = 0; s < 2; s++) now_side = &sides[s], t[s][i] = sample(r, times[s]);
    for (int s = 0; s < 2; s++) {
        ms[s] = median(t[s], REPS);
        driver_unload(&sides[s].row, r);
    }
    for (int i = 0; i < MAX_BUFS && r->bufs[i].name; i++) free(first[i]);
    double ratio = ms[0] / ms[1];
    printf("%-20s %9.4f %9.4f ms  ratio %.3f  registers %3d %3d  local %3d %3d  %s\n", r->name, ms[0], ms[1], ratio, sides[0].regs,
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
    char name[128];
    const char *why;
    if (!driver_open(argv[1], name, sizeof name, &why)) die("%s", why);
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
