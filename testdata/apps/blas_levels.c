// Records results of cuBLAS's levels 1, 2 and 3 and of its batched factorizations, each with all its types and many sizes and flags. A line is:
// function, type and sizes | status | numbers.
//   blas_levels        eight sizes, scalars and results on the host
//   blas_levels more   fourteen others, five numbers a line, every second size with scalars and results on the device
// With -DWIDE it calls the functions whose sizes have 64 bits, where there are such, and prints the same lines.
#include "solver_record.h"
#include <cublas_v2.h>
#ifdef WIDE
#define W(f) f##_64
typedef int64_t size;
#else
#define W(f) f
typedef int size;
#endif

static cublasHandle_t H;
static void told(int s) { printf(" %d |", s); }
#define EACH(k, s, d, c, z, ...) (!(k).cplx ? (k).dbl ? d(H, __VA_ARGS__) : s(H, __VA_ARGS__) : (k).dbl ? z(H, __VA_ARGS__) : c(H, __VA_ARGS__))
#define CALL(k, f, ...) EACH(k, W(cublasS##f), W(cublasD##f), W(cublasC##f), W(cublasZ##f), __VA_ARGS__)
#define CALLN(k, r, c, ...) EACH(k, W(cublasS##r), W(cublasD##r), W(cublasC##c), W(cublasZ##c), __VA_ARGS__)
#define I(k, f, ...) EACH(k, W(cublasIs##f), W(cublasId##f), W(cublasIc##f), W(cublasIz##f), __VA_ARGS__)
#define OFREAL(k, f, ...) EACH(k, W(cublasS##f), W(cublasD##f), W(cublasSc##f), W(cublasDz##f), __VA_ARGS__)
#define SHORT(k, f, ...) EACH(k, cublasS##f, cublasD##f, cublasC##f, cublasZ##f, __VA_ARGS__) // there is no other

// spot is memory for few numbers that host and device have.
static void *spot(void) {
    enum { COUNT = 16, BYTES = 64 };
    static char *ring;
    static int at;
    if (!ring) cudaMallocManaged((void **)&ring, COUNT * BYTES, cudaMemAttachGlobal);
    char *p = ring + at++ % COUNT * BYTES;
    memset(p, 0, BYTES);
    return p;
}
static void *scalar(kind k, double re, double im) {
    char *p = spot();
    put(k, p, 0, re, im);
    return p;
}
static kind real_of(kind k) { return (kind){0, k.dbl}; }
static void all(const void *p, kind k, size_t n) { show(p, k.dbl, n << k.cplx, 0), end(); }

static void index_at(const size *at) { cudaDeviceSynchronize(), printf(" %d", (int)*at), end(); }
static void level1(kind k, int n, int x) {
    static const int steps[] = {1, 2, -1, 1, 3, -2, 1, 2};
    int ix = steps[x % 8], iy = steps[(x + 3) % 8], s;
    size *at = spot();
    size_t nx = (size_t)n * (size_t)abs(ix), ny = (size_t)n * (size_t)abs(iy);
    void *a = matrix(k, (int)nx, 1, ANY, 10 + n), *b = matrix(k, (int)ny, 1, ANY, 20 + n), *r = scalar(k, 0, 0);
    s = I(k, amax, n, a, abs(ix), at);
    head("amax", k, n, ix, 0), told(s), index_at(at);
    s = I(k, amin, n, a, abs(ix), at);
    head("amin", k, n, ix, 0), told(s), index_at(at);
    s = OFREAL(k, asum, n, a, abs(ix), r);
    head("asum", k, n, ix, 0), told(s), all(r, real_of(k), 1);
    s = OFREAL(k, nrm2, n, a, abs(ix), r);
    head("nrm2", k, n, ix, 0), told(s), all(r, real_of(k), 1);
    s = CALLN(k, dot, dotu, n, a, ix, b, iy, r);
    head("dot", k, n, ix, iy), told(s), all(r, k, 1);
    if (k.cplx) {
        s = k.dbl ? W(cublasZdotc)(H, n, a, ix, b, iy, r) : W(cublasCdotc)(H, n, a, ix, b, iy, r);
        head("dotc", k, n, ix, iy), told(s), all(r, k, 1);
        s = k.dbl ? W(cublasZdotc)(H, n, b, iy, a, ix, r) : W(cublasCdotc)(H, n, b, iy, a, ix, r);
        head("dotc", k, n, iy, ix), told(s), all(r, k, 1);
    }
    s = CALL(k, axpy, n, scalar(k, 0.75, -0.5), a, ix, b, iy);
    head("axpy", k, n, ix, iy), told(s), all(b, k, ny);
    s = CALL(k, scal, n, scalar(k, -1.25, 0.5), b, abs(iy));
    head("scal", k, n, iy, 0), told(s), all(b, k, ny);
    s = CALL(k, swap, n, a, ix, b, iy);
    head("swap", k, n, ix, iy), told(s), all(b, k, ny);
    s = CALL(k, copy, n, b, iy, a, ix);
    head("copy", k, n, iy, ix), told(s), all(a, k, nx);
    a = matrix(k, (int)nx, 1, ANY, 30 + n), b = matrix(k, (int)ny, 1, ANY, 40 + n);
    s = CALL(k, rot, n, a, ix, b, iy, scalar(real_of(k), 0.8, 0), scalar(k, 0.6, 0));
    head("rot", k, n, ix, iy), told(s), all(b, k, ny);
    state = 50 + n + x;
    void *ra = scalar(k, next(), next()), *rb = scalar(k, next(), next()), *c = scalar(real_of(k), 0, 0), *z = scalar(k, 0, 0);
    s = SHORT(k, rotg, ra, rb, c, z);
    head("rotg", k, n, x, 0), told(s), show(ra, k.dbl, (size_t)1 << k.cplx, 0), show(c, k.dbl, 1, 0), show(z, k.dbl, (size_t)1 << k.cplx, 0), end();
    if (!k.cplx)
        for (int i = 0; i < 3; i++) {
            double flags[] = {-1, 0, 1};
            char *param = spot();
            put(k, param, 0, flags[i], 0);
            for (int j = 1; j < 5; j++) put(k, param, (size_t)j, next(), 0);
            s = k.dbl ? W(cublasDrotm)(H, n, a, ix, b, iy, (void *)param) : W(cublasSrotm)(H, n, a, ix, b, iy, (void *)param);
            head("rotm", k, n, ix, i), told(s), all(b, k, ny);
            void *d1 = scalar(k, 1 + next(), 0), *d2 = scalar(k, 1 + next(), 0), *x1 = scalar(k, next(), 0), *y1 = scalar(k, next(), 0);
            param = spot();
            s = k.dbl ? cublasDrotmg(H, d1, d2, x1, y1, (void *)param) : cublasSrotmg(H, d1, d2, x1, y1, (void *)param);
            head("rotmg", k, n, x, i), told(s), show(param, k.dbl, 5, 0), show(x1, k.dbl, 1, 0), end();
        }
    else {
        s = k.dbl ? W(cublasZdrot)(H, n, a, ix, b, iy, (void *)scalar(real_of(k), 0.8, 0), (void *)scalar(real_of(k), -0.6, 0)) : W(cublasCsrot)(H, n, a, ix, b, iy, (void *)scalar(real_of(k), 0.8, 0), (void *)scalar(real_of(k), -0.6, 0));
        for (int i = 0; i < 2; i++) head("drot", k, n, ix, iy), told(s), all(i ? a : b, k, i ? nx : ny);
        for (int i = 0; i < 2; i++) {
            void *f = scalar(real_of(k), 1.5 - 2 * i, 0);
            s = k.dbl ? W(cublasZdscal)(H, n, f, a, abs(ix)) : W(cublasCsscal)(H, n, f, a, abs(ix));
            head("dscal", k, n, ix, i), told(s), all(a, k, nx);
        }
    }
}
static void level2(kind k, int m, int n, int x) {
    static const int steps[] = {1, -1, 2, 1, 1, -2, 3, 1};
    int ix = steps[x % 8], iy = steps[(x + 3) % 8], uplo = x % 2, op = x % 3, diag = x / 2 % 2, s;
    if (op == 2 && !k.cplx) op = 1;
    int longest = m > n ? m : n, ld = longest + 1, w = longest < 3 ? longest - 1 : 2;
    size_t ny = (size_t)longest * 3;
    void *a = matrix(k, ld, longest, HEAVY, 100 + m + n), *v = matrix(k, (int)ny, 1, ANY, 110 + n), *y = matrix(k, (int)ny, 1, ANY, 120 + n), *p = matrix(k, longest * (longest + 1) / 2, 1, ANY, 130 + n);
    void *al = scalar(k, 0.75, -0.5), *be = scalar(k, -0.25, 0.125), *ra = scalar(real_of(k), 0.75, 0);
#define Y(name, mm, nn, xx, ...) s = __VA_ARGS__, head(name, k, mm, nn, xx), told(s), all(y, k, ny), y = matrix(k, (int)ny, 1, ANY, 120 + n)
#define X(name, mm, nn, xx, ...) s = __VA_ARGS__, head(name, k, mm, nn, xx), told(s), all(v, k, ny), v = matrix(k, (int)ny, 1, ANY, 110 + n)
#define A(name, mm, nn, xx, ...) s = __VA_ARGS__, head(name, k, mm, nn, xx), told(s), all(a, k, (size_t)ld *longest), a = matrix(k, ld, longest, HEAVY, 100 + m + n)
#define AP(name, mm, nn, xx, ...) s = __VA_ARGS__, head(name, k, mm, nn, xx), told(s), all(p, k, (size_t)longest *(longest + 1) / 2), p = matrix(k, longest * (longest + 1) / 2, 1, ANY, 130 + n)
    Y("gemv", m, n, op, CALL(k, gemv, op, m, n, al, a, ld, v, ix, be, y, iy));
    Y("gbmv", m, n, op, CALL(k, gbmv, op, m, n, w, w, al, a, ld, v, ix, be, y, iy));
    A("ger", m, n, x, CALLN(k, ger, geru, m, n, al, v, ix, y, iy, a, ld));
    if (k.cplx) {
        A("gerc", m, n, x, k.dbl ? W(cublasZgerc)(H, m, n, al, v, ix, y, iy, a, ld) : W(cublasCgerc)(H, m, n, al, v, ix, y, iy, a, ld));
        A("gerc", m, n, -x, k.dbl ? W(cublasZgerc)(H, m, n, be, v, ix, y, iy, a, ld) : W(cublasCgerc)(H, m, n, be, v, ix, y, iy, a, ld));
    }
    Y("symv", n, n, uplo, CALL(k, symv, uplo, n, al, a, ld, v, ix, be, y, iy));
    Y("hemv", n, n, uplo, CALLN(k, symv, hemv, uplo, n, al, a, ld, v, ix, be, y, iy));
    Y("hbmv", n, w, uplo, CALLN(k, sbmv, hbmv, uplo, n, w, al, a, ld, v, ix, be, y, iy));
    Y("hpmv", n, n, uplo, CALLN(k, spmv, hpmv, uplo, n, al, p, v, ix, be, y, iy));
    A("syr", n, n, uplo, CALL(k, syr, uplo, n, al, v, ix, a, ld));
    A("syr2", n, n, uplo, CALL(k, syr2, uplo, n, al, v, ix, y, iy, a, ld));
    A("her", n, n, uplo, CALLN(k, syr, her, uplo, n, ra, v, ix, a, ld));
    A("her2", n, n, uplo, CALLN(k, syr2, her2, uplo, n, al, v, ix, y, iy, a, ld));
    AP("hpr", n, n, uplo, CALLN(k, spr, hpr, uplo, n, ra, v, ix, p));
    AP("hpr2", n, n, uplo, CALLN(k, spr2, hpr2, uplo, n, al, v, ix, y, iy, p));
    X("trmv", n, op, uplo, CALL(k, trmv, uplo, op, diag, n, a, ld, v, ix));
    X("tbmv", n, op, uplo, CALL(k, tbmv, uplo, op, diag, n, w, a, ld, v, ix));
    X("tpmv", n, op, uplo, CALL(k, tpmv, uplo, op, diag, n, p, v, ix));
    X("trsv", n, op, uplo, CALL(k, trsv, uplo, op, 0, n, a, ld, v, ix));
    // A triangle in a band or packed, of a large diagonal.
    char *band = host_matrix(k, w + 1, n, ANY, 140 + n), *packed = host_matrix(k, n * (n + 1) / 2, 1, ANY, 150 + n);
    for (int j = 0; j < n; j++) {
        put(k, band, (size_t)j * (w + 1) + (uplo ? w : 0), 8 + j % 3, 0);
        put(k, packed, uplo ? (size_t)j * (j + 1) / 2 + j : (size_t)j * (2 * n - j + 1) / 2, 4 * n + j % 3, 0);
    }
    void *db = up(band, (size_t)(w + 1) * n * size_of(k)), *dp = up(packed, (size_t)n * (n + 1) / 2 * size_of(k));
    X("tbsv", n, op, uplo, CALL(k, tbsv, uplo, op, 0, n, w, db, w + 1, v, ix));
    X("tpsv", n, op, uplo, CALL(k, tpsv, uplo, op, 0, n, dp, v, ix));
    free(band), free(packed);
}
static void level3(kind k, int m, int n, int d, int x) {
    int uplo = x % 2, side = x / 2 % 2, ta = x % 3, tb = (x + x / 3) % 3, diag = x / 3 % 2, s;
    if (!k.cplx) ta %= 2, tb %= 2;
    int most = (m > n ? m : n) > d ? (m > n ? m : n) : d, ld = most + 2, tk = k.cplx ? 2 * (x % 2) : x % 2, ts = x % 2;
    void *a = matrix(k, ld, most, HEAVY, 200 + m), *b = matrix(k, ld, most, ANY, 210 + n), *c;
    void *al = scalar(k, 0.75, -0.5), *be = scalar(k, -0.25, 0.125), *ra = scalar(real_of(k), 0.75, 0), *rb = scalar(real_of(k), -0.5, 0);
    size_t each = (size_t)ld * most;
#define C(name, mm, nn, xx, ...) c = matrix(k, ld, most, ANY, 220 + d), s = __VA_ARGS__, head(name, k, mm, nn, xx), told(s), all(c, k, each)
    C("gemm", m, n, 3 * ta + tb, CALL(k, gemm, ta, tb, m, n, d, al, a, ld, b, ld, be, c, ld));
    if (k.cplx) {
        C("gemm3m", m, n, 3 * ta + tb, k.dbl ? W(cublasZgemm3m)(H, ta, tb, m, n, d, al, a, ld, b, ld, be, c, ld) : W(cublasCgemm3m)(H, ta, tb, m, n, d, al, a, ld, b, ld, be, c, ld));
        C("gemm3m", m, d, 3 * tb + ta, k.dbl ? W(cublasZgemm3m)(H, tb, ta, m, d, n, al, a, ld, b, ld, be, c, ld) : W(cublasCgemm3m)(H, tb, ta, m, d, n, al, a, ld, b, ld, be, c, ld));
    }
    C("symm", m, n, 2 * side + uplo, CALL(k, symm, side, uplo, m, n, al, a, ld, b, ld, be, c, ld));
    C("hemm", m, n, 2 * side + uplo, CALLN(k, symm, hemm, side, uplo, m, n, al, a, ld, b, ld, be, c, ld));
    C("syrk", n, d, 2 * ts + uplo, CALL(k, syrk, uplo, ts, n, d, al, a, ld, be, c, ld));
    C("syr2k", n, d, 2 * ts + uplo, CALL(k, syr2k, uplo, ts, n, d, al, a, ld, b, ld, be, c, ld));
    C("syrkx", n, d, 2 * ts + uplo, CALL(k, syrkx, uplo, ts, n, d, al, a, ld, b, ld, be, c, ld));
    C("herk", n, d, 2 * tk + uplo, CALLN(k, syrk, herk, uplo, tk, n, d, ra, a, ld, rb, c, ld));
    C("her2k", n, d, 2 * tk + uplo, CALLN(k, syr2k, her2k, uplo, tk, n, d, al, a, ld, b, ld, rb, c, ld));
    C("herkx", n, d, 2 * tk + uplo, CALLN(k, syrkx, herkx, uplo, tk, n, d, al, a, ld, b, ld, rb, c, ld));
    C("trmm", m, n, 4 * ta + 2 * side + uplo, CALL(k, trmm, side, uplo, ta, diag, m, n, al, a, ld, b, ld, c, ld));
    C("trsm", m, n, 4 * ta + 2 * side + uplo, CALL(k, trsm, side, uplo, ta, 0, m, n, al, a, ld, c, ld));
    C("geam", m, n, 3 * ta + tb, CALL(k, geam, ta, tb, m, n, al, a, ld, be, b, ld, c, ld));
    C("dgmm", m, n, side, CALL(k, dgmm, side, m, n, a, ld, b, 1, c, ld));
    void *packed = room((size_t)n * (n + 1) / 2 * size_of(k));
    s = SHORT(k, trttp, uplo, n, a, ld, packed);
    head("trttp", k, n, n, uplo), told(s), all(packed, k, (size_t)n * (n + 1) / 2);
    C("tpttr", n, n, uplo, SHORT(k, tpttr, uplo, n, packed, c, ld));
}
enum { BATCH = 3 };
static void batches(kind k, int n, int x) {
    int s, ta = x % 3, tb = (x + 1) % 3, uplo = x % 2, side = x / 2 % 2, m = n + 2, one = -9, lda = m + 1;
    if (!k.cplx) ta %= 2, tb %= 2;
    void *al = scalar(k, 0.75, -0.5), *be = scalar(k, -0.25, 0.125);
    void *a[BATCH], *b[BATCH], *c[BATCH], **da, **db, **dc;
    int *ip = room(4 * (size_t)n * BATCH), *infos = room(4 * BATCH), host[BATCH];
#define FRESH(shape)                                                                                                                       \
    for (int i = 0; i < BATCH; i++) a[i] = matrix(k, lda, m, shape, 300 + n + 10 * i), b[i] = matrix(k, lda, m, ANY, 310 + n + 10 * i), c[i] = matrix(k, lda, m, ANY, 320 + n + 10 * i); \
    da = up(a, sizeof a), db = up(b, sizeof b), dc = up(c, sizeof c)
#define LINE(name, xx, of, count) head(name, k, n, BATCH, xx), told(s), all(of, k, count)
    size_t whole = (size_t)lda * m;
    FRESH(HEAVY);
    s = CALL(k, gemmBatched, ta, tb, m, n, n, al, (void *)da, lda, (void *)db, lda, be, (void *)dc, lda, BATCH);
    LINE("gemmBatched", 3 * ta + tb, c[2], whole);
    s = CALL(k, trsmBatched, side, uplo, ta, 0, n, n, al, (void *)da, lda, (void *)db, lda, BATCH);
    LINE("trsmBatched", 4 * ta + 2 * side + uplo, b[1], whole);
    void *sa = matrix(k, lda, m * BATCH, ANY, 330 + n), *sb = matrix(k, lda, m * BATCH, ANY, 340 + n), *sc = matrix(k, lda, m * BATCH, ANY, 350 + n);
    s = CALL(k, gemmStridedBatched, ta, tb, m, n, n, al, sa, lda, (long long)whole, sb, lda, (long long)whole, be, sc, lda, (long long)whole, BATCH);
    LINE("gemmStridedBatched", 3 * ta + tb, sc, whole * BATCH);
    void *vx = matrix(k, m * BATCH, 1, ANY, 360 + n), *vy = matrix(k, m * BATCH, 1, ANY, 370 + n);
    s = CALL(k, gemvStridedBatched, ta, m, n, al, sa, lda, (long long)whole, vx, 1, m, be, vy, 1, m, BATCH);
    LINE("gemvStridedBatched", ta, vy, (size_t)m * BATCH);
    s = CALL(k, gemvBatched, ta, m, n, al, (void *)da, lda, (void *)db, 1, be, (void *)dc, 1, BATCH);
    LINE("gemvBatched", ta, c[1], (size_t)m);
    FRESH(HEAVY);
    s = SHORT(k, getrfBatched, n, (void *)da, lda, ip, infos, BATCH);
    LINE("getrfBatched", 0, a[1], whole);
    s = SHORT(k, getrsBatched, ta, n, 2, (void *)da, lda, ip, (void *)db, lda, &one, BATCH);
    LINE("getrsBatched", ta, b[2], (size_t)lda * 2);
    s = SHORT(k, getriBatched, n, (void *)da, lda, ip, (void *)dc, lda, infos, BATCH);
    LINE("getriBatched", 0, c[0], whole);
    if (n <= 32) {
        FRESH(HEAVY);
        s = SHORT(k, matinvBatched, n, (void *)da, lda, (void *)dc, lda, infos, BATCH);
        LINE("matinvBatched", 0, c[1], whole);
    }
    FRESH(HEAVY);
    s = SHORT(k, geqrfBatched, m, n, (void *)da, lda, (void *)dc, host, BATCH);
    head("geqrfBatched", k, m, n, host[0]), told(s), show(a[1], k.dbl, (size_t)n << k.cplx, 1), end();
    FRESH(HEAVY);
    s = SHORT(k, gelsBatched, CUBLAS_OP_N, m, n, 1, (void *)da, lda, (void *)db, lda, host, infos, BATCH);
    LINE("gelsBatched", host[0], b[1], (size_t)n);
}

int main(int argc, char **argv) {
    static const int first[] = {1, 2, 5, 8, 17, 33, 40, 64}, rest[] = {3, 4, 6, 7, 9, 10, 12, 15, 16, 20, 24, 28, 31, 32};
    int more = argc > 1, count = more ? 14 : 8;
    const int *sizes = more ? rest : first;
    (void)argv;
    if (cublasCreate(&H)) return 1;
    if (more) shown = 5;
    for (int i = 0; i < count; i++)
        for (int a = 0; a < 4; a++) {
            kind k = kinds[a];
            int n = sizes[i];
            cublasSetPointerMode(H, more && i % 2 ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST);
            level1(k, n, i), level2(k, sizes[(i + 3) % count], n, i), level3(k, n, sizes[(i + 1) % count], sizes[(i + 5) % count], i), batches(k, n > 40 ? 24 : n, i);
        }
    return 0;
}
