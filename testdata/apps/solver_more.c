// Records results of cuSOLVER's dense functions, each with all its types and many sizes. A line is: function, type and sizes | statuses
// | numbers. Matrices are far from singular, and results are those that do not depend on an algorithm: solutions, inverses, values, and
// absolute values of what has a sign of its own.
#include "solver_record.h"
#include <cusolverDn.h>

static cusolverDnHandle_t H;
static cusolverDnParams_t P;

#define CALL(k, f, ...)                                                                                                                    \
    (!(k).cplx ? (k).dbl ? cusolverDnD##f(H, __VA_ARGS__) : cusolverDnS##f(H, __VA_ARGS__)                                                 \
               : (k).dbl ? cusolverDnZ##f(H, __VA_ARGS__) : cusolverDnC##f(H, __VA_ARGS__))
#define CALLN(k, r, c, ...)                                                                                                                \
    (!(k).cplx ? (k).dbl ? cusolverDnD##r(H, __VA_ARGS__) : cusolverDnS##r(H, __VA_ARGS__)                                                 \
               : (k).dbl ? cusolverDnZ##c(H, __VA_ARGS__) : cusolverDnC##c(H, __VA_ARGS__))
static void *work(kind k, int lw) { return room((size_t)(lw > 0 ? lw : 0) * size_of(k) + 65536); }

static void cholesky(kind k, int n, int uplo) {
    int lw = 0, nrhs = 3, s;
    void *a = matrix(k, n, n, POSITIVE, 100 + n), *b = matrix(k, n, nrhs, ANY, 300 + n), *w;
    CALL(k, potrf_bufferSize, uplo, n, a, n, &lw);
    w = work(k, lw);
    CALL(k, potrf, uplo, n, a, n, w, lw, info);
    s = CALL(k, potrs, uplo, n, nrhs, a, n, b, n, info);
    head("potrs", k, n, nrhs, uplo), status(s), show(b, k.dbl, (size_t)n * nrhs << k.cplx, 0), end();
    CALL(k, potri_bufferSize, uplo, n, a, n, &lw);
    w = work(k, lw);
    s = CALL(k, potri, uplo, n, a, n, w, lw, info);
    head("potri", k, n, n, uplo), status(s), show((char *)a + (uplo ? (size_t)(n - 1) * n : 0) * size_of(k), k.dbl, (size_t)n << k.cplx, 0), end();
}
static void lu(kind k, int n, int op) {
    if (op == 2 && !k.cplx) op = 1;
    int lw = 0, nrhs = 2;
    void *a = matrix(k, n, n, HEAVY, 200 + n), *b = matrix(k, n, nrhs, ANY, 310 + n), *w;
    int *ip = room(4 * (size_t)n);
    CALL(k, getrf_bufferSize, n, n, a, n, &lw);
    w = work(k, lw);
    CALL(k, getrf, n, n, a, n, w, ip, info);
    int s = CALL(k, getrs, op, n, nrhs, a, n, ip, b, n, info);
    head("getrs", k, n, nrhs, op), status(s), show(b, k.dbl, (size_t)n * nrhs << k.cplx, 0), end();
    a = matrix(k, n, 4, ANY, 320 + n);
    int rows[64];
    for (int i = 0; i < n && i < 64; i++) rows[i] = 1 + i + (i * 7 + 3) % (n - i);
    cudaMemcpy(ip, rows, 4 * (size_t)(n < 64 ? n : 64), cudaMemcpyHostToDevice);
    s = CALL(k, laswp, 4, a, n, 1, n < 64 ? n : 64, ip, 1);
    head("laswp", k, n, 4, 1), status(s), show(a, k.dbl, (size_t)n * 4 << k.cplx, 0), end();
}
static void qr(kind k, int m, int n) {
    int lw = 0, l2 = 0, s;
    void *a = matrix(k, m, n, HEAVY, 400 + m * 7 + n), *tau = room((size_t)n * size_of(k)), *c = matrix(k, m, 2, ANY, 410 + m), *w;
    CALL(k, geqrf_bufferSize, m, n, a, m, &lw);
    w = work(k, lw);
    s = CALL(k, geqrf, m, n, a, m, tau, w, lw, info);
    head("geqrf", k, m, n, 0), status(s), show(a, k.dbl, (size_t)m * n << k.cplx, 1), end();
    int op = k.cplx ? CUBLAS_OP_C : CUBLAS_OP_T;
    CALLN(k, ormqr_bufferSize, unmqr_bufferSize, CUBLAS_SIDE_LEFT, op, m, 2, n, a, m, tau, c, m, &l2);
    w = work(k, l2);
    s = CALLN(k, ormqr, unmqr, CUBLAS_SIDE_LEFT, op, m, 2, n, a, m, tau, c, m, w, l2, info);
    head("ormqr", k, m, n, op), status(s), show(c, k.dbl, (size_t)n << k.cplx, 1), end();
    CALLN(k, orgqr_bufferSize, ungqr_bufferSize, m, n, n, a, m, tau, &l2);
    w = work(k, l2);
    s = CALLN(k, orgqr, ungqr, m, n, n, a, m, tau, w, l2, info);
    head("orgqr", k, m, n, n), status(s), show(a, k.dbl, (size_t)m * n << k.cplx, 1), end();
}
static void values(kind k, int n, int uplo) {
    int lw = 0, s, found = -1;
    void *w, *v = room((size_t)n * 8), *a = matrix(k, n, n, HERMITIAN, 500 + n);
    CALLN(k, syevd_bufferSize, heevd_bufferSize, CUSOLVER_EIG_MODE_VECTOR, uplo, n, a, n, v, &lw);
    w = work(k, lw);
    s = CALLN(k, syevd, heevd, CUSOLVER_EIG_MODE_VECTOR, uplo, n, a, n, v, w, lw, info);
    head("syevd", k, n, n, uplo), status(s), show(v, k.dbl, n, 0), end();
    a = matrix(k, n, n, HERMITIAN, 510 + n);
    syevjInfo_t j;
    cusolverDnCreateSyevjInfo(&j);
    CALLN(k, syevj_bufferSize, heevj_bufferSize, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, a, n, v, &lw, j);
    w = work(k, lw);
    s = CALLN(k, syevj, heevj, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, a, n, v, w, lw, info, j);
    head("syevj", k, n, n, uplo), status(s), show(v, k.dbl, n, 0), end();
    a = matrix(k, n, n, HERMITIAN, 520 + n);
    CALLN(k, syevdx_bufferSize, heevdx_bufferSize, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_RANGE_I, uplo, n, a, n, -1, 1, 1, (n + 1) / 2, &found, v, &lw);
    w = work(k, lw);
    s = CALLN(k, syevdx, heevdx, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_RANGE_I, uplo, n, a, n, -1, 1, 1, (n + 1) / 2, &found, v, w, lw, info);
    head("syevdx", k, n, found, uplo), status(s), show(v, k.dbl, (size_t)((n + 1) / 2), 0), end();
    void *b = matrix(k, n, n, POSITIVE, 530 + n);
    a = matrix(k, n, n, HERMITIAN, 540 + n);
    CALLN(k, sygvd_bufferSize, hegvd_bufferSize, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, a, n, b, n, v, &lw);
    w = work(k, lw);
    s = CALLN(k, sygvd, hegvd, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, a, n, b, n, v, w, lw, info);
    head("sygvd", k, n, n, uplo), status(s), show(v, k.dbl, n, 0), end();
    a = matrix(k, n, n, HERMITIAN, 550 + n), b = matrix(k, n, n, POSITIVE, 530 + n);
    CALLN(k, sygvj_bufferSize, hegvj_bufferSize, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, a, n, b, n, v, &lw, j);
    w = work(k, lw);
    s = CALLN(k, sygvj, hegvj, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, a, n, b, n, v, w, lw, info, j);
    head("sygvj", k, n, n, uplo), status(s), show(v, k.dbl, n, 0), end();
    cusolverDnDestroySyevjInfo(j);
}
static void reductions(kind k, int n, int uplo) {
    int lw = 0, s;
    void *a = matrix(k, n, n, HERMITIAN, 600 + n), *d = room((size_t)n * 8), *e = room((size_t)n * 8), *t = room((size_t)n * 16), *t2 = room((size_t)n * 16), *w;
    CALLN(k, sytrd_bufferSize, hetrd_bufferSize, uplo, n, a, n, d, e, t, &lw);
    w = work(k, lw);
    s = CALLN(k, sytrd, hetrd, uplo, n, a, n, d, e, t, w, lw, info);
    head("sytrd", k, n, n, uplo), status(s), show(d, k.dbl, n, 0), end();
    void *c = matrix(k, n, 2, ANY, 620 + n);
    CALLN(k, ormtr_bufferSize, unmtr_bufferSize, CUBLAS_SIDE_LEFT, uplo, CUBLAS_OP_N, n, 2, a, n, t, c, n, &lw);
    w = work(k, lw);
    s = CALLN(k, ormtr, unmtr, CUBLAS_SIDE_LEFT, uplo, CUBLAS_OP_N, n, 2, a, n, t, c, n, w, lw, info);
    head("ormtr", k, n, 2, uplo), status(s), show(c, k.dbl, (size_t)n * 2 << k.cplx, 1), end();
    CALLN(k, orgtr_bufferSize, ungtr_bufferSize, uplo, n, a, n, t, &lw);
    w = work(k, lw);
    s = CALLN(k, orgtr, ungtr, uplo, n, a, n, t, w, lw, info);
    head("orgtr", k, n, n, uplo), status(s), show(a, k.dbl, (size_t)n * n << k.cplx, 1), end();
    int m = n + 3;
    a = matrix(k, m, n, ANY, 610 + n);
    CALL(k, gebrd_bufferSize, m, n, &lw);
    w = work(k, lw);
    s = CALL(k, gebrd, m, n, a, m, d, e, t, t2, w, lw, info);
    head("gebrd", k, m, n, 0), status(s), show(d, k.dbl, n, 1), end();
    CALLN(k, orgbr_bufferSize, ungbr_bufferSize, CUBLAS_SIDE_LEFT, m, n, n, a, m, t, &lw);
    w = work(k, lw);
    s = CALLN(k, orgbr, ungbr, CUBLAS_SIDE_LEFT, m, n, n, a, m, t, w, lw, info);
    head("orgbr", k, m, n, n), status(s), show(a, k.dbl, (size_t)m * n << k.cplx, 1), end();
}
static void singular(kind k, int m, int n) {
    int lw = 0, s;
    void *a = matrix(k, m, n, ANY, 700 + m * 5 + n), *v = room((size_t)n * 8), *u = room((size_t)m * m * 16), *vt = room((size_t)n * n * 16), *rw = room((size_t)n * 64), *w;
    CALL(k, gesvd_bufferSize, m, n, &lw);
    w = work(k, lw);
    s = CALL(k, gesvd, 'N', 'N', m, n, a, m, v, u, m, vt, n, w, lw, rw, info);
    head("gesvd", k, m, n, 0), status(s), show(v, k.dbl, n, 0), end();
    a = matrix(k, m, n, ANY, 710 + m * 5 + n);
    gesvdjInfo_t j;
    cusolverDnCreateGesvdjInfo(&j);
    CALL(k, gesvdj_bufferSize, CUSOLVER_EIG_MODE_NOVECTOR, 0, m, n, a, m, v, u, m, vt, n, &lw, j);
    w = work(k, lw);
    s = CALL(k, gesvdj, CUSOLVER_EIG_MODE_NOVECTOR, 0, m, n, a, m, v, u, m, vt, n, w, lw, info, j);
    head("gesvdj", k, m, n, 0), status(s), show(v, k.dbl, n, 0), end();
    cusolverDnDestroyGesvdjInfo(j);
}
static void indefinite(kind k, int n, int uplo) {
    int lw = 0, s;
    size_t dw = 0, hw = 0;
    void *a = matrix(k, n, n, SYMMETRIC, 800 + n), *w;
    int *ip = room(4 * (size_t)n);
    CALL(k, sytrf_bufferSize, n, a, n, &lw);
    w = work(k, lw);
    s = CALL(k, sytrf, uplo, n, a, n, ip, w, lw, info);
    head("sytrf", k, n, n, uplo), status(s), show(a, k.dbl, (size_t)1 << k.cplx, 0), end();
    long long *ip64 = room(8 * (size_t)n), wide[64];
    int narrow[64];
    cudaMemcpy(narrow, ip, 4 * (size_t)n, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) wide[i] = narrow[i];
    cudaMemcpy(ip64, wide, 8 * (size_t)n, cudaMemcpyHostToDevice);
    void *b = matrix(k, n, 2, ANY, 810 + n);
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    cudaDataType t = types[2 * k.cplx + k.dbl];
    cusolverDnXsytrs_bufferSize(H, uplo, n, 2, t, a, n, (const int64_t *)ip64, t, b, n, &dw, &hw);
    void *d = room(dw), *h = malloc(hw + 8);
    s = cusolverDnXsytrs(H, uplo, n, 2, t, a, n, (const int64_t *)ip64, t, b, n, d, dw, h, hw, info);
    head("Xsytrs", k, n, 2, uplo), status(s), show(b, k.dbl, (size_t)n * 2 << k.cplx, 0), end();
}
static void batched(kind k, int n, int uplo) {
    enum { COUNT = 3 };
    void *a[COUNT], *b[COUNT], **da = room(64), **db = room(64), *w;
    int lw = 0, s;
    for (int i = 0; i < COUNT; i++) a[i] = matrix(k, n, n, POSITIVE, 900 + 10 * n + i), b[i] = matrix(k, n, 1, ANY, 950 + 10 * n + i);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice), cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
    int *all = room(64);
    s = CALL(k, potrfBatched, uplo, n, (void *)da, n, all, COUNT);
    head("potrfBatched", k, n, COUNT, uplo), status(s), show((char *)a[2] + (uplo ? (size_t)(n - 1) * n : 0) * size_of(k), k.dbl, (size_t)n << k.cplx, 0), end();
    s = CALL(k, potrsBatched, uplo, n, 1, (void *)da, n, (void *)db, n, info, COUNT);
    head("potrsBatched", k, n, COUNT, uplo), status(s), show(b[1], k.dbl, (size_t)n << k.cplx, 0), end();
    if (n > 32) return;
    void *block = room((size_t)n * n * COUNT * 16), *v = room((size_t)n * COUNT * 8), *u = room((size_t)n * n * COUNT * 16), *vt = room((size_t)n * n * COUNT * 16);
    for (int i = 0; i < COUNT; i++) cudaMemcpy((char *)block + i * n * n * size_of(k), matrix(k, n, n, HERMITIAN, 960 + 10 * n + i), n * n * size_of(k), cudaMemcpyDeviceToDevice);
    syevjInfo_t j;
    cusolverDnCreateSyevjInfo(&j);
    CALLN(k, syevjBatched_bufferSize, heevjBatched_bufferSize, CUSOLVER_EIG_MODE_VECTOR, uplo, n, block, n, v, &lw, j, COUNT);
    w = work(k, lw);
    s = CALLN(k, syevjBatched, heevjBatched, CUSOLVER_EIG_MODE_VECTOR, uplo, n, block, n, v, w, lw, all, j, COUNT);
    head("syevjBatched", k, n, COUNT, uplo), status(s), show(v, k.dbl, (size_t)n * COUNT, 0), end();
    cusolverDnDestroySyevjInfo(j);
    for (int i = 0; i < COUNT; i++) cudaMemcpy((char *)block + i * n * n * size_of(k), matrix(k, n, n, ANY, 970 + 10 * n + i), n * n * size_of(k), cudaMemcpyDeviceToDevice);
    gesvdjInfo_t g;
    cusolverDnCreateGesvdjInfo(&g);
    CALL(k, gesvdjBatched_bufferSize, CUSOLVER_EIG_MODE_VECTOR, n, n, block, n, v, u, n, vt, n, &lw, g, COUNT);
    w = work(k, lw);
    s = CALL(k, gesvdjBatched, CUSOLVER_EIG_MODE_VECTOR, n, n, block, n, v, u, n, vt, n, w, lw, all, g, COUNT);
    head("gesvdjBatched", k, n, COUNT, 0), status(s), show(v, k.dbl, (size_t)n * COUNT, 0), end();
    cusolverDnDestroyGesvdjInfo(g);
    double norms[COUNT];
    for (int i = 0; i < COUNT; i++) cudaMemcpy((char *)block + i * n * n * size_of(k), matrix(k, n, n, ANY, 980 + 10 * n + i), n * n * size_of(k), cudaMemcpyDeviceToDevice);
    CALL(k, gesvdaStridedBatched_bufferSize, CUSOLVER_EIG_MODE_VECTOR, n, n, n, block, n, n * n, v, n, u, n, n * n, vt, n, n * n, &lw, COUNT);
    w = work(k, lw);
    s = CALL(k, gesvdaStridedBatched, CUSOLVER_EIG_MODE_VECTOR, n, n, n, block, n, n * n, v, n, u, n, n * n, vt, n, n * n, w, lw, all, norms, COUNT);
    head("gesvdaStridedBatched", k, n, COUNT, n), status(s), show(v, k.dbl, (size_t)n * COUNT, 0), end();
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    cudaDataType t = types[2 * k.cplx + k.dbl], r = types[k.dbl];
    size_t dw = 0, hw = 0;
    for (int i = 0; i < COUNT; i++) cudaMemcpy((char *)block + i * n * n * size_of(k), matrix(k, n, n, HERMITIAN, 990 + 10 * n + i), n * n * size_of(k), cudaMemcpyDeviceToDevice);
    cusolverDnXsyevBatched_bufferSize(H, P, CUSOLVER_EIG_MODE_VECTOR, uplo, n, t, block, n, r, v, t, &dw, &hw, COUNT);
    s = cusolverDnXsyevBatched(H, P, CUSOLVER_EIG_MODE_VECTOR, uplo, n, t, block, n, r, v, t, room(dw), dw, malloc(hw + 8), hw, all, COUNT);
    head("XsyevBatched", k, n, COUNT, uplo), status(s), show(v, k.dbl, (size_t)n * COUNT, 0), end();
}
// The 64-bit interface.
static void wide(kind k, int n, int uplo) {
    static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
    cudaDataType t = types[2 * k.cplx + k.dbl], r = types[k.dbl];
    size_t dw = 0, hw = 0;
    void *a = matrix(k, n, n, POSITIVE, 1000 + n), *b = matrix(k, n, 2, ANY, 1010 + n), *d, *h;
    int s;
#define X(size, ...) (size, d = room(dw), h = malloc(hw + 8), s = (int)(__VA_ARGS__))
    X(cusolverDnXpotrf_bufferSize(H, P, uplo, n, t, a, n, t, &dw, &hw), cusolverDnXpotrf(H, P, uplo, n, t, a, n, t, d, dw, h, hw, info));
    head("Xpotrf", k, n, n, uplo), status(s), show((char *)a + (uplo ? (size_t)(n - 1) * n : 0) * size_of(k), k.dbl, (size_t)n << k.cplx, 0), end();
    s = cusolverDnXpotrs(H, P, uplo, n, 2, t, a, n, t, b, n, info);
    head("Xpotrs", k, n, 2, uplo), status(s), show(b, k.dbl, (size_t)n * 2 << k.cplx, 0), end();
    int64_t *ip = room(8 * (size_t)n);
    a = matrix(k, n, n, HEAVY, 1020 + n), b = matrix(k, n, 2, ANY, 1030 + n);
    X(cusolverDnXgetrf_bufferSize(H, P, n, n, t, a, n, t, &dw, &hw), cusolverDnXgetrf(H, P, n, n, t, a, n, ip, t, d, dw, h, hw, info));
    head("Xgetrf", k, n, n, 0), status(s), show(a, k.dbl, (size_t)n * n << k.cplx, 0), end();
    s = cusolverDnXgetrs(H, P, CUBLAS_OP_T, n, 2, t, a, n, ip, t, b, n, info);
    head("Xgetrs", k, n, 2, 1), status(s), show(b, k.dbl, (size_t)n * 2 << k.cplx, 0), end();
    void *tau = room((size_t)n * 16), *v = room((size_t)n * 16), *u = room((size_t)n * n * 16), *vt = room((size_t)n * n * 16);
    a = matrix(k, n, n, HEAVY, 1040 + n);
    X(cusolverDnXgeqrf_bufferSize(H, P, n, n, t, a, n, t, tau, t, &dw, &hw), cusolverDnXgeqrf(H, P, n, n, t, a, n, t, tau, t, d, dw, h, hw, info));
    head("Xgeqrf", k, n, n, 0), status(s), show(a, k.dbl, (size_t)n * n << k.cplx, 1), end();
    a = matrix(k, n, n, HERMITIAN, 1050 + n);
    X(cusolverDnXsyevd_bufferSize(H, P, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, t, a, n, r, v, t, &dw, &hw),
      cusolverDnXsyevd(H, P, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, t, a, n, r, v, t, d, dw, h, hw, info));
    head("Xsyevd", k, n, n, uplo), status(s), show(v, k.dbl, n, 0), end();
    a = matrix(k, n, n, HERMITIAN, 1060 + n);
    int64_t found = 0;
    double vl = -0.5, vu = 3.25;
    float fl = -0.5f, fu = 3.25f;
    void *lo = k.dbl ? (void *)&vl : &fl, *hi = k.dbl ? (void *)&vu : &fu;
    X(cusolverDnXsyevdx_bufferSize(H, P, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_RANGE_V, uplo, n, t, a, n, lo, hi, 0, 0, &found, r, v, t, &dw, &hw),
      cusolverDnXsyevdx(H, P, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_RANGE_V, uplo, n, t, a, n, lo, hi, 0, 0, &found, r, v, t, d, dw, h, hw, info));
    head("Xsyevdx", k, n, (int)found, uplo), status(s), show(v, k.dbl, (size_t)found, 0), end();
    a = matrix(k, n, n, ANY, 1070 + n);
    X(cusolverDnXgesvd_bufferSize(H, P, 'N', 'N', n, n, t, a, n, r, v, t, u, n, t, vt, n, t, &dw, &hw),
      cusolverDnXgesvd(H, P, 'N', 'N', n, n, t, a, n, r, v, t, u, n, t, vt, n, t, d, dw, h, hw, info));
    head("Xgesvd", k, n, n, 0), status(s), show(v, k.dbl, n, 0), end();
    double off = 0;
    a = matrix(k, n, n, ANY, 1080 + n);
    X(cusolverDnXgesvdp_bufferSize(H, P, CUSOLVER_EIG_MODE_NOVECTOR, 0, n, n, t, a, n, r, v, t, u, n, t, vt, n, t, &dw, &hw),
      cusolverDnXgesvdp(H, P, CUSOLVER_EIG_MODE_NOVECTOR, 0, n, n, t, a, n, r, v, t, u, n, t, vt, n, t, d, dw, h, hw, info, &off));
    head("Xgesvdp", k, n, n, 0), status(s), show(v, k.dbl, n, 0), end();
    // A triangle, so that its values are known and stand in their order.
    a = matrix(k, n, n, ANY, 1085 + n);
    for (int i = 0; i + 1 < n; i++) cudaMemset((char *)a + ((size_t)i * n + i + 1) * size_of(k), 0, (size_t)(n - i - 1) * size_of(k));
    cudaDataType tw = types[2 + k.dbl];
    X(cusolverDnXgeev_bufferSize(H, P, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_NOVECTOR, n, t, a, n, tw, v, t, u, n, t, vt, n, t, &dw, &hw),
      cusolverDnXgeev(H, P, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_NOVECTOR, n, t, a, n, tw, v, t, u, n, t, vt, n, t, d, dw, h, hw, info));
    head("Xgeev", k, n, n, 0), status(s), show(v, k.dbl, (size_t)n * 2, 0), end();
    a = matrix(k, n, n, HEAVY, 1090 + n);
    X(cusolverDnXtrtri_bufferSize(H, uplo, CUBLAS_DIAG_NON_UNIT, n, t, a, n, &dw, &hw), cusolverDnXtrtri(H, uplo, CUBLAS_DIAG_NON_UNIT, n, t, a, n, d, dw, h, hw, info));
    head("Xtrtri", k, n, n, uplo), status(s), show((char *)a + (uplo ? (size_t)(n - 1) * n : 0) * size_of(k), k.dbl, (size_t)n << k.cplx, 0), end();
}
// Solutions with refinement, by the type they are refined in.
static void refined(int n) {
    int it = 0, s;
    size_t bytes = 0;
    void *w;
#define REFINED(f, K)                                                                                                                      \
    {                                                                                                                                      \
        kind k = K;                                                                                                                        \
        void *a = matrix(k, n, n, HEAVY, 1100 + n), *b = matrix(k, n, 1, ANY, 1110 + n), *x = room((size_t)n * 16);                         \
        int *ip = room(4 * (size_t)n);                                                                                                     \
        cusolverDn##f##gesv_bufferSize(H, n, 1, a, n, ip, b, n, x, n, 0, &bytes);                                                          \
        w = room(bytes);                                                                                                                   \
        s = cusolverDn##f##gesv(H, n, 1, a, n, ip, b, n, x, n, w, bytes, &it, info);                                                       \
        head(#f "gesv", k, n, 1, 0), status(s), show(x, k.dbl, (size_t)n << k.cplx, 0), end();                                             \
        int m = n + 4;                                                                                                                     \
        a = matrix(k, m, n, HEAVY, 1120 + n), b = matrix(k, m, 1, ANY, 1130 + n);                                                          \
        cusolverDn##f##gels_bufferSize(H, m, n, 1, a, m, b, m, x, n, 0, &bytes);                                                           \
        w = room(bytes);                                                                                                                   \
        s = cusolverDn##f##gels(H, m, n, 1, a, m, b, m, x, n, w, bytes, &it, info);                                                        \
        head(#f "gels", k, m, n, 0), status(s), show(x, k.dbl, (size_t)n << k.cplx, 0), end();                                             \
    }
#define F32 ((kind){0, 0})
#define F64 ((kind){0, 1})
#define C32 ((kind){1, 0})
#define C64 ((kind){1, 1})
    REFINED(ZZ, C64) REFINED(ZC, C64) REFINED(ZK, C64) REFINED(ZE, C64) REFINED(ZY, C64) REFINED(CC, C32) REFINED(CE, C32) REFINED(CK, C32) REFINED(CY, C32)
    REFINED(DD, F64) REFINED(DS, F64) REFINED(DH, F64) REFINED(DB, F64) REFINED(DX, F64) REFINED(SS, F32) REFINED(SH, F32) REFINED(SB, F32) REFINED(SX, F32)
}

int main(void) {
    static const int sizes[] = {1, 2, 3, 5, 16, 24, 33, 48};
    if (cusolverDnCreate(&H)) return 1;
    cusolverDnCreateParams(&P);
    info = room(64);
    for (int i = 0; i < 8; i++) {
        int n = sizes[i], uplo = i % 2;
        for (int q = 0; q < 4; q++) {
            kind k = kinds[q];
            cholesky(k, n, uplo), lu(k, n, i % 3), qr(k, n + 2, n), values(k, n, uplo), reductions(k, n, uplo), singular(k, n + 1, n), indefinite(k, n, uplo), batched(k, n, uplo), wide(k, n, uplo);
        }
    }
    for (int n = 1; n <= 39; n += 2) refined(n);
    return 0;
}
