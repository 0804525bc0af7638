// Records what cuSOLVER answers: results with "record", statuses of misuse with "misuse FIRST".
// Inputs come from a generator that internal/shim/cusolver's test has too.
#include "../../../../testdata/apps/generator.h"
#include <cuda_runtime_api.h>
#include <cusolverDn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *up(const void *h, size_t n) {
    void *d = 0;
    cudaMalloc(&d, n ? n : 1);
    if (h) cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);
    else cudaMemset(d, 0, n);
    return d;
}
// matrix: shape 0 any, 1 Hermitian, 2 positive definite; column by column
static void *matrix(kind k, int m, int n, int shape, int seed) {
    char *h = calloc((size_t)m * n, size_of(k));
    state = seed;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double re = next(), im = k.cplx ? next() : 0;
            if (shape && i == j) { im = 0; if (shape == 2) re += 2 * n; }
            if (shape && i < j) continue;
            put(k, h, (size_t)j * m + i, re, im);
            if (shape && i != j) put(k, h, (size_t)i * m + j, re, -im);
        }
    return h;
}
static void show(const char *what, const void *d, int doubles, int n) {
    char *h = malloc(n * 8 + 8);
    cudaMemcpy(h, d, n * (doubles ? 8 : 4), cudaMemcpyDeviceToHost);
    printf(" %s", what);
    for (int i = 0; i < n; i++) if (doubles) printf(" %.17g", ((double *)h)[i]); else printf(" %.9g", ((float *)h)[i]);
    free(h);
}
static void ints(const char *what, const void *d, int n) {
    int *h = malloc(n * 4 + 4);
    cudaMemcpy(h, d, n * 4, cudaMemcpyDeviceToHost);
    printf(" %s", what);
    for (int i = 0; i < n; i++) printf(" %d", h[i]);
    free(h);
}
#define CALL4(k, st, S, D, C, Z) st = !k.cplx ? (k.dbl ? D : S) : (k.dbl ? Z : C)
static cusolverDnHandle_t H;
static void head(const char *f, kind k, int m, int n, int x) { printf("%s %c %d %d %d :", f, !k.cplx ? "SD"[k.dbl] : "CZ"[k.dbl], m, n, x); }

static void potrf(kind k, int n, int uplo, int bad) {
    char *h = matrix(k, n, n, 2, 100 + n);
    if (bad >= 0) put(k, h, (size_t)bad * n + bad, -1, 0);
    void *a = up(h, (size_t)n * n * size_of(k)), *info = up(0, 4), *w;
    int lw = -1, st;
    CALL4(k, st, cusolverDnSpotrf_bufferSize(H, uplo, n, a, n, &lw), cusolverDnDpotrf_bufferSize(H, uplo, n, a, n, &lw), cusolverDnCpotrf_bufferSize(H, uplo, n, a, n, &lw), cusolverDnZpotrf_bufferSize(H, uplo, n, a, n, &lw));
    w = up(0, (size_t)lw * 16);
    CALL4(k, st, cusolverDnSpotrf(H, uplo, n, a, n, w, lw, info), cusolverDnDpotrf(H, uplo, n, a, n, w, lw, info), cusolverDnCpotrf(H, uplo, n, a, n, w, lw, info), cusolverDnZpotrf(H, uplo, n, a, n, w, lw, info));
    cudaDeviceSynchronize();
    head("potrf", k, n, uplo, bad); printf(" status %d lwork %d", st, lw); ints("info", info, 1);
    if (bad < 0) { int at = uplo ? (n - 1) * n : 0; show("a", (char *)a + (size_t)at * size_of(k), k.dbl, (n < 6 ? n : 6) << k.cplx); }
    puts("");
}
static void getrf(kind k, int m, int n, int zero) {
    char *h = matrix(k, m, n, 0, 200 + m * 7 + n);
    if (zero >= 0) for (int i = 0; i < m; i++) put(k, h, (size_t)zero * m + i, 0, 0);
    void *a = up(h, (size_t)m * n * size_of(k)), *info = up(0, 4), *ip = up(0, 4 * (m + n)), *w;
    int lw = -1, st, q = m < n ? m : n;
    CALL4(k, st, cusolverDnSgetrf_bufferSize(H, m, n, a, m, &lw), cusolverDnDgetrf_bufferSize(H, m, n, a, m, &lw), cusolverDnCgetrf_bufferSize(H, m, n, a, m, &lw), cusolverDnZgetrf_bufferSize(H, m, n, a, m, &lw));
    w = up(0, (size_t)lw * 16);
    CALL4(k, st, cusolverDnSgetrf(H, m, n, a, m, w, ip, info), cusolverDnDgetrf(H, m, n, a, m, w, ip, info), cusolverDnCgetrf(H, m, n, a, m, w, ip, info), cusolverDnZgetrf(H, m, n, a, m, w, ip, info));
    cudaDeviceSynchronize();
    head("getrf", k, m, n, zero); printf(" status %d lwork %d", st, lw); ints("info", info, 1); ints("ipiv", ip, q < 10 ? q : 10);
    if (zero < 0) show("a", a, k.dbl, (m < 6 ? m : 6) << k.cplx);
    puts("");
}
static void geqrf(kind k, int m, int n) {
    char *h = matrix(k, m, n, 0, 300 + m * 7 + n);
    int q = m < n ? m : n, lw = -1, st;
    void *a = up(h, (size_t)m * n * size_of(k)), *info = up(0, 4), *t = up(0, (size_t)q * 16), *w;
    CALL4(k, st, cusolverDnSgeqrf_bufferSize(H, m, n, a, m, &lw), cusolverDnDgeqrf_bufferSize(H, m, n, a, m, &lw), cusolverDnCgeqrf_bufferSize(H, m, n, a, m, &lw), cusolverDnZgeqrf_bufferSize(H, m, n, a, m, &lw));
    w = up(0, (size_t)lw * 16);
    CALL4(k, st, cusolverDnSgeqrf(H, m, n, a, m, t, w, lw, info), cusolverDnDgeqrf(H, m, n, a, m, t, w, lw, info), cusolverDnCgeqrf(H, m, n, a, m, t, w, lw, info), cusolverDnZgeqrf(H, m, n, a, m, t, w, lw, info));
    cudaDeviceSynchronize();
    head("geqrf", k, m, n, 0); printf(" status %d lwork %d", st, lw); ints("info", info, 1); show("tau", t, k.dbl, (q < 6 ? q : 6) << k.cplx); show("a", a, k.dbl, (m < 6 ? m : 6) << k.cplx); puts("");
}
static void syevd(kind k, int n, int jobz, int uplo) {
    char *h = matrix(k, n, n, 1, 400 + n);
    int lw = -1, st;
    void *a = up(h, (size_t)n * n * size_of(k)), *info = up(0, 4), *e = up(0, n * 8), *w;
    CALL4(k, st, cusolverDnSsyevd_bufferSize(H, jobz, uplo, n, a, n, e, &lw), cusolverDnDsyevd_bufferSize(H, jobz, uplo, n, a, n, e, &lw), cusolverDnCheevd_bufferSize(H, jobz, uplo, n, a, n, e, &lw), cusolverDnZheevd_bufferSize(H, jobz, uplo, n, a, n, e, &lw));
    w = up(0, (size_t)lw * 16);
    CALL4(k, st, cusolverDnSsyevd(H, jobz, uplo, n, a, n, e, w, lw, info), cusolverDnDsyevd(H, jobz, uplo, n, a, n, e, w, lw, info), cusolverDnCheevd(H, jobz, uplo, n, a, n, e, w, lw, info), cusolverDnZheevd(H, jobz, uplo, n, a, n, e, w, lw, info));
    cudaDeviceSynchronize();
    head("syevd", k, n, jobz, uplo); printf(" status %d lwork %d", st, lw); ints("info", info, 1); show("w", e, k.dbl, n < 12 ? n : 12); puts("");
}
static void gesvd(kind k, int m, int n, int job) {
    char *h = matrix(k, m, n, 0, 500 + m * 7 + n);
    int lw = -1, st, q = m < n ? m : n;
    void *a = up(h, (size_t)m * n * size_of(k)), *info = up(0, 4), *s = up(0, q * 8), *u = up(0, (size_t)m * m * 16), *v = up(0, (size_t)n * n * 16), *r = up(0, q * 8 + 8), *w;
    CALL4(k, st, cusolverDnSgesvd_bufferSize(H, m, n, &lw), cusolverDnDgesvd_bufferSize(H, m, n, &lw), cusolverDnCgesvd_bufferSize(H, m, n, &lw), cusolverDnZgesvd_bufferSize(H, m, n, &lw));
    printf("gesvd_bufferSize %d %d status %d lwork %d\n", m, n, st, lw);
    w = up(0, (size_t)(lw > 0 ? lw : 100000) * 16);
    CALL4(k, st, cusolverDnSgesvd(H, job, job, m, n, a, m, s, u, m, v, n, w, lw, r, info), cusolverDnDgesvd(H, job, job, m, n, a, m, s, u, m, v, n, w, lw, r, info), cusolverDnCgesvd(H, job, job, m, n, a, m, s, u, m, v, n, w, lw, r, info), cusolverDnZgesvd(H, job, job, m, n, a, m, s, u, m, v, n, w, lw, r, info));
    cudaDeviceSynchronize();
    head("gesvd", k, m, n, job); printf(" status %d lwork %d", st, lw); ints("info", info, 1); show("s", s, k.dbl, q < 12 ? q : 12); puts("");
}
static void sytrf(kind k, int n, int uplo) {
    char *h = matrix(k, n, n, 0, 600 + n); // symmetric in what is read: one triangle
    int lw = -1, st;
    void *a = up(h, (size_t)n * n * size_of(k)), *info = up(0, 4), *ip = up(0, n * 4), *w;
    CALL4(k, st, cusolverDnSsytrf_bufferSize(H, n, a, n, &lw), cusolverDnDsytrf_bufferSize(H, n, a, n, &lw), cusolverDnCsytrf_bufferSize(H, n, a, n, &lw), cusolverDnZsytrf_bufferSize(H, n, a, n, &lw));
    w = up(0, (size_t)lw * 16);
    CALL4(k, st, cusolverDnSsytrf(H, uplo, n, a, n, ip, w, lw, info), cusolverDnDsytrf(H, uplo, n, a, n, ip, w, lw, info), cusolverDnCsytrf(H, uplo, n, a, n, ip, w, lw, info), cusolverDnZsytrf(H, uplo, n, a, n, ip, w, lw, info));
    cudaDeviceSynchronize();
    head("sytrf", k, n, uplo, 0); printf(" status %d lwork %d", st, lw); ints("info", info, 1); ints("ipiv", ip, n < 12 ? n : 12); show("a", a, k.dbl, (n < 6 ? n : 6) << k.cplx); puts("");
}
static void record(void) {
    int v = 0, p;
    cusolverGetVersion(&v); printf("version %d", v);
    for (int i = 0; i < 4; i++) { p = -1; int st = cusolverGetProperty(i, &p); printf(" %d:%d", st, p); }
    puts("");
    for (int i = 0; i < 4; i++) {
        kind k = kinds[i];
        int ns[] = {1, 2, 5, 17, 33, 70};
        for (int j = 0; j < 6; j++) for (int u = 0; u < 2; u++) potrf(k, ns[j], u, -1);
        for (int u = 0; u < 2; u++) { potrf(k, 20, u, 0); potrf(k, 20, u, 7); potrf(k, 70, u, 50); }
        int ms[][2] = {{1, 1}, {2, 2}, {5, 5}, {17, 17}, {33, 33}, {70, 70}, {9, 5}, {5, 9}, {40, 20}, {20, 40}};
        for (int j = 0; j < 10; j++) { getrf(k, ms[j][0], ms[j][1], -1); geqrf(k, ms[j][0], ms[j][1]); }
        for (int z = 0; z < 20; z += 3) getrf(k, 20, 20, z);
        for (int j = 0; j < 6; j++) for (int z = 0; z < 2; z++) for (int u = 0; u < 2; u++) syevd(k, ns[j], z, u);
        for (int j = 0; j < 10; j++) { gesvd(k, ms[j][0], ms[j][1], 'A'); gesvd(k, ms[j][0], ms[j][1], 'N'); }
        for (int j = 0; j < 6; j++) for (int u = 0; u < 2; u++) sytrf(k, ns[j], u);
    }
}

static double *A, *B, *W, *X;
static int *I, *P;
static int run(int c) {
    int lw = -7;
    size_t d = 7, ho = 7;
    syevjInfo_t sj = 0; gesvdjInfo_t gj = 0; cusolverDnParams_t pr = 0; cusolverDnIRSParams_t ip = 0; cusolverDnIRSInfos_t ii = 0;
    cusolverDnCreateSyevjInfo(&sj); cusolverDnCreateGesvdjInfo(&gj); cusolverDnCreateParams(&pr); cusolverDnIRSParamsCreate(&ip); cusolverDnIRSInfosCreate(&ii);
    switch (c) {
#define K(e) case __COUNTER__ - first_ - 1: printf("%d %s = ", c, #e); fflush(stdout); return (e);
    enum { first_ = __COUNTER__ };
    K(cusolverDnCreate(0)) K(cusolverDnDestroy(0)) K(cusolverDnSetStream(0, 0)) K(cusolverDnGetStream(H, 0)) K(cusolverDnSetDeterministicMode(H, 0)) K(cusolverDnSetDeterministicMode(H, 3)) K(cusolverDnGetDeterministicMode(H, 0)) K(cusolverDnSetMathMode(H, 0)) K(cusolverDnSetMathMode(H, 3)) K(cusolverDnSetMathMode(H, 6)) K(cusolverDnSetMathMode(H, 99)) K(cusolverGetVersion(0)) K(cusolverGetProperty(9, &lw)) K(cusolverGetProperty(0, 0))
    K(cusolverDnDpotrf_bufferSize(0, 0, 4, A, 4, &lw)) K(cusolverDnDpotrf_bufferSize(H, 5, 4, A, 4, &lw)) K(cusolverDnDpotrf_bufferSize(H, 2, 4, A, 4, &lw)) K(cusolverDnDpotrf_bufferSize(H, 0, -1, A, 4, &lw)) K(cusolverDnDpotrf_bufferSize(H, 0, 0, A, 4, &lw)) K(cusolverDnDpotrf_bufferSize(H, 0, 4, A, 3, &lw)) K(cusolverDnDpotrf_bufferSize(H, 0, 4, 0, 4, &lw)) K(cusolverDnDpotrf_bufferSize(H, 0, 4, A, 4, 0)) K(cusolverDnDpotrf_bufferSize(H, 0, 0, A, 0, &lw))
    K(cusolverDnDpotrf(0, 0, 4, A, 4, W, 90000, I)) K(cusolverDnDpotrf(H, 5, 4, A, 4, W, 90000, I)) K(cusolverDnDpotrf(H, 0, -1, A, 4, W, 90000, I)) K(cusolverDnDpotrf(H, 0, 0, A, 4, W, 90000, I)) K(cusolverDnDpotrf(H, 0, 4, A, 3, W, 90000, I)) K(cusolverDnDpotrf(H, 0, 4, A, 4, W, 0, I)) K(cusolverDnDpotrf(H, 0, 4, A, 4, W, -1, I)) K(cusolverDnDpotrf(H, 0, 100, A, 100, W, 1, I)) K(cusolverDnDpotrf(H, 0, 4, A, 4, 0, 90000, I)) K(cusolverDnDpotrf(H, 0, 4, 0, 4, W, 90000, I)) K(cusolverDnDpotrf(H, 0, 4, A, 4, W, 90000, 0))
    K(cusolverDnDpotrs(H, 0, 4, -1, A, 4, B, 4, I)) K(cusolverDnDpotrs(H, 0, 4, 0, A, 4, B, 4, I)) K(cusolverDnDpotrs(H, 0, 4, 1, A, 4, B, 3, I)) K(cusolverDnDpotrs(H, 7, 4, 1, A, 4, B, 4, I)) K(cusolverDnDpotrs(H, 0, 0, 1, A, 4, B, 4, I)) K(cusolverDnDpotrs(H, 0, 4, 1, A, 4, B, 4, 0))
    K(cusolverDnDpotrfBatched(H, 0, 4, (double **)X, 4, I, -1)) K(cusolverDnDpotrfBatched(H, 0, 4, (double **)X, 4, I, 0)) K(cusolverDnDpotrfBatched(H, 0, 4, 0, 4, I, 0)) K(cusolverDnDpotrsBatched(H, 0, 4, 2, (double **)X, 4, (double **)X, 4, I, 0)) K(cusolverDnDpotrsBatched(H, 0, 4, 2, (double **)X, 4, (double **)X, 4, I, 1)) K(cusolverDnDpotrsBatched(H, 0, 4, 0, (double **)X, 4, (double **)X, 4, I, 1))
    K(cusolverDnDpotri_bufferSize(H, 0, 4, A, 3, &lw)) K(cusolverDnDpotri(H, 0, 4, A, 4, W, 0, I)) K(cusolverDnDpotri(H, 9, 4, A, 4, W, 9000, I))
    K(cusolverDnDgetrf_bufferSize(H, -1, 4, A, 4, &lw)) K(cusolverDnDgetrf_bufferSize(H, 4, -1, A, 4, &lw)) K(cusolverDnDgetrf_bufferSize(H, 4, 4, A, 3, &lw)) K(cusolverDnDgetrf_bufferSize(H, 0, 0, A, 1, &lw)) K(cusolverDnDgetrf(H, -1, 4, A, 4, W, P, I)) K(cusolverDnDgetrf(H, 4, 4, A, 3, W, P, I)) K(cusolverDnDgetrf(H, 0, 4, A, 4, W, P, I)) K(cusolverDnDgetrf(H, 4, 4, A, 4, W, 0, I)) K(cusolverDnDgetrf(H, 4, 4, A, 4, W, P, 0)) K(cusolverDnDgetrf(H, 4, 4, A, 4, 0, P, I))
    K(cusolverDnDgetrs(H, 3, 4, 1, A, 4, P, B, 4, I)) K(cusolverDnDgetrs(H, 0, 4, -1, A, 4, P, B, 4, I)) K(cusolverDnDgetrs(H, 0, 4, 1, A, 3, P, B, 4, I)) K(cusolverDnDgetrs(H, 0, 4, 1, A, 4, P, B, 3, I)) K(cusolverDnDgetrs(H, 0, 4, 0, A, 4, P, B, 4, I)) K(cusolverDnDgetrs(H, 0, 0, 1, A, 4, P, B, 4, I)) K(cusolverDnDlaswp(H, 4, A, 4, 0, 2, P, 1)) K(cusolverDnDlaswp(H, 4, A, 4, 1, 2, P, 0)) K(cusolverDnDlaswp(H, 4, A, 1, 1, 2, P, 1))
    K(cusolverDnDgeqrf_bufferSize(H, -1, 4, A, 4, &lw)) K(cusolverDnDgeqrf_bufferSize(H, 4, 4, A, 3, &lw)) K(cusolverDnDgeqrf_bufferSize(H, 0, 4, A, 1, &lw)) K(cusolverDnDgeqrf(H, 4, 4, A, 4, B, W, 0, I)) K(cusolverDnDgeqrf(H, 4, 4, A, 4, B, W, 1, I)) K(cusolverDnDgeqrf(H, 4, 4, A, 3, B, W, 9000, I)) K(cusolverDnDgeqrf(H, 4, 4, A, 4, B, W, 9000, 0)) K(cusolverDnDgeqrf(H, 0, 4, A, 4, B, W, 9000, I))
    K(cusolverDnDorgqr_bufferSize(H, 4, 5, 4, A, 4, B, &lw)) K(cusolverDnDorgqr_bufferSize(H, 4, 4, 5, A, 4, B, &lw)) K(cusolverDnDorgqr(H, 4, 5, 4, A, 4, B, W, 9000, I)) K(cusolverDnDorgqr(H, 4, 4, 5, A, 4, B, W, 9000, I)) K(cusolverDnDorgqr(H, 4, 4, 4, A, 4, B, W, 0, I)) K(cusolverDnDorgqr(H, 4, 4, -1, A, 4, B, W, 9000, I)) K(cusolverDnDorgqr(H, 4, 4, 0, A, 4, B, W, 9000, I))
    K(cusolverDnDormqr_bufferSize(H, 0, 2, 4, 4, 4, A, 4, B, X, 4, &lw)) K(cusolverDnDormqr_bufferSize(H, 2, 1, 4, 4, 4, A, 4, B, X, 4, &lw)) K(cusolverDnDormqr_bufferSize(H, 0, 3, 4, 4, 4, A, 4, B, X, 4, &lw)) K(cusolverDnDormqr_bufferSize(H, 0, 1, 4, 4, 5, A, 4, B, X, 4, &lw)) K(cusolverDnDormqr(H, 0, 2, 4, 4, 4, A, 4, B, X, 4, W, 9000, I)) K(cusolverDnDormqr(H, 0, 1, 4, 4, 4, A, 4, B, X, 3, W, 9000, I)) K(cusolverDnZunmqr(H, 0, 1, 2, 2, 2, (void *)A, 4, (void *)B, (void *)X, 4, (void *)W, 9000, I))
    K(cusolverDnDsyevd_bufferSize(H, 2, 0, 4, A, 4, B, &lw)) K(cusolverDnDsyevd_bufferSize(H, 1, 2, 4, A, 4, B, &lw)) K(cusolverDnDsyevd_bufferSize(H, 1, 0, 4, A, 3, B, &lw)) K(cusolverDnDsyevd_bufferSize(H, 1, 0, -4, A, 4, B, &lw)) K(cusolverDnDsyevd_bufferSize(H, 1, 0, 0, A, 4, B, &lw)) K(cusolverDnDsyevd(H, 1, 0, 4, A, 4, B, W, 1, I)) K(cusolverDnDsyevd(H, 1, 0, 4, A, 4, B, W, 0, I)) K(cusolverDnDsyevd(H, 1, 0, 0, A, 4, B, W, 9000, I)) K(cusolverDnDsyevd(H, 1, 0, 4, A, 4, B, W, 9000, 0)) K(cusolverDnDsyevd(H, 3, 0, 4, A, 4, B, W, 9000, I))
    K(cusolverDnDsyevj_bufferSize(H, 1, 0, 4, A, 4, B, &lw, 0)) K(cusolverDnDsyevj(H, 1, 0, 4, A, 4, B, W, 9000, I, 0)) K(cusolverDnDsyevj(H, 1, 0, 4, A, 4, B, W, 1, I, sj)) K(cusolverDnDsyevjBatched(H, 1, 0, 4, A, 4, B, W, 9000, I, sj, -1)) K(cusolverDnDsyevjBatched(H, 1, 0, 4, A, 4, B, W, 9000, I, sj, 0)) K(cusolverDnDsyevjBatched(H, 1, 0, 40, A, 40, B, W, 90000, I, sj, 1))
    K(cusolverDnXsyevjSetTolerance(0, 1)) K(cusolverDnXsyevjSetTolerance(sj, -1)) K(cusolverDnXsyevjSetMaxSweeps(sj, 0)) K(cusolverDnXsyevjSetMaxSweeps(sj, -1)) K(cusolverDnXsyevjSetSortEig(sj, 5)) K(cusolverDnXsyevjGetSweeps(H, 0, &lw)) K(cusolverDnXsyevjGetSweeps(H, sj, &lw)) K(cusolverDnXsyevjGetResidual(H, sj, 0)) K(cusolverDnDestroySyevjInfo(0)) K(cusolverDnDestroyGesvdjInfo(0)) K(cusolverDnDestroyParams(0)) K(cusolverDnCreateSyevjInfo(0)) K(cusolverDnCreateParams(0))
    K(cusolverDnDsygvd_bufferSize(H, 0, 1, 0, 4, A, 4, B, 4, X, &lw)) K(cusolverDnDsygvd_bufferSize(H, 4, 1, 0, 4, A, 4, B, 4, X, &lw)) K(cusolverDnDsygvd_bufferSize(H, 1, 1, 0, 4, A, 4, B, 3, X, &lw)) K(cusolverDnDsygvd(H, 0, 1, 0, 4, A, 4, B, 4, X, W, 9000, I)) K(cusolverDnDsygvd(H, 1, 1, 0, 4, A, 4, B, 4, X, W, 1, I))
    K(cusolverDnDgesvd_bufferSize(H, 3, 4, &lw)) K(cusolverDnDgesvd_bufferSize(H, -1, -1, &lw)) K(cusolverDnDgesvd_bufferSize(H, 0, 0, &lw)) K(cusolverDnDgesvd_bufferSize(H, 4, 3, 0)) K(cusolverDnDgesvd(H, 'A', 'A', 3, 4, A, 3, B, X, 3, W, 4, W + 100, 90000, 0, I)) K(cusolverDnDgesvd(H, 'X', 'A', 4, 4, A, 4, B, X, 4, W, 4, W + 100, 90000, 0, I)) K(cusolverDnDgesvd(H, 'O', 'O', 4, 4, A, 4, B, X, 4, W, 4, W + 100, 90000, 0, I)) K(cusolverDnDgesvd(H, 'A', 'A', 4, 4, A, 4, B, X, 3, W, 4, W + 100, 90000, 0, I)) K(cusolverDnDgesvd(H, 'A', 'A', 4, 4, A, 4, B, X, 4, W, 3, W + 100, 90000, 0, I)) K(cusolverDnDgesvd(H, 'A', 'A', 4, 4, A, 3, B, X, 4, W, 4, W + 100, 90000, 0, I)) K(cusolverDnDgesvd(H, 'A', 'A', 4, 4, A, 4, B, X, 4, W, 4, W + 100, 1, 0, I)) K(cusolverDnDgesvd(H, 'A', 'A', 4, 4, A, 4, B, X, 4, W, 4, W + 100, 90000, 0, 0)) K(cusolverDnDgesvd(H, 'N', 'N', 4, 4, A, 4, B, 0, 1, 0, 1, W + 100, 90000, 0, I)) K(cusolverDnDgesvd(H, 'A', 'A', 0, 0, A, 1, B, X, 1, W, 1, W + 100, 90000, 0, I))
    K(cusolverDnDgesvdj_bufferSize(H, 1, 0, 3, 4, A, 3, B, X, 3, W, 4, &lw, gj)) K(cusolverDnDgesvdj_bufferSize(H, 1, 0, 3, 4, A, 3, B, X, 3, W, 4, &lw, 0)) K(cusolverDnDgesvdj_bufferSize(H, 2, 0, 3, 4, A, 3, B, X, 3, W, 4, &lw, gj)) K(cusolverDnDgesvdj_bufferSize(H, 1, 5, 3, 4, A, 3, B, X, 3, W, 4, &lw, gj)) K(cusolverDnDgesvdj_bufferSize(H, 1, 0, 3, 4, A, 2, B, X, 3, W, 4, &lw, gj)) K(cusolverDnDgesvdj_bufferSize(H, 1, 0, 3, 4, A, 3, B, X, 2, W, 4, &lw, gj)) K(cusolverDnDgesvdj(H, 1, 0, 3, 4, A, 3, B, X, 3, W, 4, W + 100, 1, I, gj)) K(cusolverDnDgesvdjBatched_bufferSize(H, 1, 40, 4, A, 40, B, X, 40, W, 4, &lw, gj, 1)) K(cusolverDnDgesvdjBatched_bufferSize(H, 1, 4, 40, A, 4, B, X, 4, W, 40, &lw, gj, 1)) K(cusolverDnDgesvdjBatched_bufferSize(H, 1, 4, 4, A, 4, B, X, 4, W, 4, &lw, gj, -1)) K(cusolverDnDgesvdjBatched_bufferSize(H, 1, 4, 4, A, 4, B, X, 4, W, 4, &lw, gj, 0))
    K(cusolverDnDgesvdaStridedBatched_bufferSize(H, 1, 5, 4, 4, A, 4, 16, B, 4, X, 4, 16, W, 4, 16, &lw, 1)) K(cusolverDnDgesvdaStridedBatched_bufferSize(H, 1, 3, 3, 4, A, 3, 16, B, 4, X, 4, 16, W, 4, 16, &lw, 1)) K(cusolverDnDgesvdaStridedBatched_bufferSize(H, 1, 0, 4, 4, A, 4, 16, B, 4, X, 4, 16, W, 4, 16, &lw, 1)) K(cusolverDnDgesvdaStridedBatched_bufferSize(H, 1, 3, 4, 3, A, 4, 1, B, 4, X, 4, 16, W, 4, 16, &lw, 2))
    K(cusolverDnXpotrf_bufferSize(H, pr, 0, 4, 1, A, 4, 1, &d, &ho)) K(cusolverDnXpotrf_bufferSize(H, 0, 0, 4, 1, A, 4, 1, &d, &ho)) K(cusolverDnXpotrf_bufferSize(H, pr, 0, 4, 1, A, 4, 0, &d, &ho)) K(cusolverDnXpotrf_bufferSize(H, pr, 0, 4, 2, A, 4, 2, &d, &ho)) K(cusolverDnXpotrf_bufferSize(H, pr, 0, 4, 1, A, 4, 1, 0, &ho)) K(cusolverDnXpotrf_bufferSize(H, pr, 0, 4, 1, A, 4, 1, &d, 0)) K(cusolverDnXpotrf(H, 0, 0, 4, 1, A, 4, 1, W, 90000, 0, 0, I)) K(cusolverDnXpotrf(H, pr, 0, 4, 1, A, 4, 1, 0, 0, 0, 0, I)) K(cusolverDnXgetrf_bufferSize(H, pr, 4, 4, 1, A, 4, 0, &d, &ho)) K(cusolverDnXgeqrf_bufferSize(H, pr, 4, 4, 1, A, 4, 0, B, 1, &d, &ho)) K(cusolverDnXsyevd_bufferSize(H, pr, 1, 0, 4, 1, A, 4, 0, B, 1, &d, &ho)) K(cusolverDnXsyevd_bufferSize(H, pr, 1, 0, 4, 5, A, 4, 1, B, 5, &d, &ho)) K(cusolverDnXsyevd_bufferSize(H, pr, 1, 0, 4, 5, A, 4, 5, B, 5, &d, &ho)) K(cusolverDnXtrtri_bufferSize(H, 0, 2, 4, 1, A, 4, &d, &ho)) K(cusolverDnXtrtri_bufferSize(H, 0, 0, 4, 1, A, 3, &d, &ho)) K(cusolverDnSetAdvOptions(pr, 9, 0)) K(cusolverDnSetAdvOptions(pr, 0, 5)) K(cusolverDnSetAdvOptions(0, 0, 0)) K(cusolverDnSetAdvOptions(pr, 1, 1))
    K(cusolverDnIRSParamsSetRefinementSolver(ip, 3)) K(cusolverDnIRSParamsSetRefinementSolver(0, 1101)) K(cusolverDnIRSParamsSetSolverMainPrecision(ip, 3)) K(cusolverDnIRSParamsSetSolverMainPrecision(ip, 1205)) K(cusolverDnIRSParamsSetSolverLowestPrecision(ip, 1201)) K(cusolverDnIRSParamsSetMaxIters(ip, -1)) K(cusolverDnIRSParamsSetMaxIters(ip, 0)) K(cusolverDnIRSParamsSetMaxItersInner(ip, 99999)) K(cusolverDnIRSParamsSetTol(ip, -1)) K((cusolverDnIRSParamsGetMaxIters(ip, &lw), lw)) K(cusolverDnIRSParamsDestroy(0)) K(cusolverDnIRSInfosDestroy(0)) K(cusolverDnIRSInfosGetNiters(ii, &lw)) K((cusolverDnIRSInfosGetNiters(ii, &lw), lw)) K((cusolverDnIRSInfosGetMaxIters(ii, &lw), lw)) K(cusolverDnIRSXgesv_bufferSize(H, ip, 4, 1, &d)) K(cusolverDnDDgesv(H, 4, 1, A, 4, P, B, 4, X, 4, W, 0, &lw, I)) K(cusolverDnDDgesv(H, 4, 1, A, 4, P, B, 4, X, 4, W, 90000, 0, I)) K(cusolverDnDDgels(H, 3, 4, 1, A, 4, B, 4, X, 4, W, 90000, &lw, I))
    K(cusolverDnDsytrf_bufferSize(H, -1, A, 4, &lw)) K(cusolverDnDsytrf_bufferSize(H, 4, A, 3, &lw)) K(cusolverDnDsytrf(H, 0, 4, A, 4, P, W, 0, I)) K(cusolverDnDsytrf(H, 5, 4, A, 4, P, W, 9000, I)) K(cusolverDnDsytrf(H, 0, 4, A, 4, 0, W, 9000, I)) K(cusolverDnDgebrd_bufferSize(H, 3, 4, &lw)) K(cusolverDnDgebrd(H, 3, 4, A, 3, B, B + 10, B + 20, B + 30, W, 9000, I)) K(cusolverDnDsytrd_bufferSize(H, 3, 4, A, 4, B, B + 10, B + 20, &lw)) K(cusolverDnDsytrd(H, 0, 4, A, 4, B, B + 10, B + 20, W, 0, I))
    }
    return -1000;
}
int main(int n, char **v) {
    cusolverDnCreate(&H);
    if (n > 1 && !strcmp(v[1], "record")) { record(); return 0; }
    for (int c = n > 2 ? atoi(v[2]) : 0;; c++) {
        A = up(0, 1 << 20); B = up(0, 1 << 20); W = up(0, 1 << 22); X = up(0, 1 << 20); I = up(0, 4096); P = up(0, 4096);
        double h[10000]; for (int i = 0; i < 10000; i++) h[i] = i % 5 == 0 ? 3 : 0.1;
        cudaMemcpy(A, h, sizeof h, cudaMemcpyHostToDevice); cudaMemcpy(B, h, sizeof h, cudaMemcpyHostToDevice);
        int p[100]; for (int i = 0; i < 100; i++) p[i] = i + 1;
        cudaMemcpy(P, p, sizeof p, cudaMemcpyHostToDevice); cudaMemset(I, 0x77, 64);
        int st = run(c);
        if (st == -1000) return 0;
        int e = cudaDeviceSynchronize(), info = 0;
        cudaMemcpy(&info, I, 4, cudaMemcpyDeviceToHost);
        printf("%d cuda %d info %d\n", st, e, info);
        fflush(stdout);
        if (e) return 3;
        cudaGetLastError();
        cudaFree(A); cudaFree(B); cudaFree(W); cudaFree(X); cudaFree(I); cudaFree(P);
    }
}
