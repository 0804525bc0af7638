// Records results of cuSOLVER's functions that solver_more.c and solver_sparse.c have not: inverses of indefinite matrices, generalized values
// in a range, the expert interface of refinement, randomized singular values, reflections in blocks, polar decomposition, the tridiagonal
// problem, refactorization, QR of a sparse matrix in steps, and orderings. A line is: function, type and sizes
// | statuses | numbers. What a release has not is told as missing.
#include "solver_record.h"
#include <cusolverDn.h>
#include <cusolverRf.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <cusparse.h>
#include <dlfcn.h>

static cusolverDnHandle_t H;
static cusolverDnParams_t P;
static cusolverSpHandle_t SP;
static cusparseMatDescr_t D;
static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
#define TYPE(k) types[kind_at(k)]
#define CALL(k, f, ...)                                                                                                                    \
    (!(k).cplx ? (k).dbl ? cusolverDnD##f(H, __VA_ARGS__) : cusolverDnS##f(H, __VA_ARGS__)                                                 \
               : (k).dbl ? cusolverDnZ##f(H, __VA_ARGS__) : cusolverDnC##f(H, __VA_ARGS__))
#define CALLN(k, r, c, ...)                                                                                                                \
    (!(k).cplx ? (k).dbl ? cusolverDnD##r(H, __VA_ARGS__) : cusolverDnS##r(H, __VA_ARGS__)                                                 \
               : (k).dbl ? cusolverDnZ##c(H, __VA_ARGS__) : cusolverDnC##c(H, __VA_ARGS__))
static void *work(kind k, int lw) { return room((size_t)(lw > 0 ? lw : 0) * size_of(k) + 65536); }
static void missing(const char *f, kind k, int m, int n, int x) { head(f, k, m, n, x), printf(" missing |"), end(); }
static void *function(const char *name) { return dlsym(RTLD_DEFAULT, name); }

// tri shows the triangle of an n × n matrix that a function writes.
static void tri(const void *d, kind k, int n, int ld, int uplo) {
    char *h = malloc((size_t)ld * n * size_of(k) + 16), *t = calloc((size_t)n * n + 1, size_of(k));
    size_t c = 0, s = size_of(k);
    cudaDeviceSynchronize();
    cudaMemcpy(h, d, (size_t)ld * n * s, cudaMemcpyDeviceToHost);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            if (uplo == CUBLAS_FILL_MODE_LOWER ? i >= j : i <= j) memcpy(t + c++ * s, h + ((size_t)j * ld + i) * s, s);
    show(t, k.dbl, c << k.cplx, 0), end();
    free(h), free(t);
}

static void indefinite(kind k, int n, int uplo) {
    int lw = 0, s;
    void *a = matrix(k, n, n, SYMMETRIC, 2000 + n), *w;
    int *ip = room(4 * (size_t)n);
    CALL(k, sytrf_bufferSize, n, a, n, &lw);
    w = work(k, lw);
    CALL(k, sytrf, uplo, n, a, n, ip, w, lw, info);
    CALL(k, sytri_bufferSize, uplo, n, a, n, ip, &lw);
    w = work(k, lw);
    s = CALL(k, sytri, uplo, n, a, n, ip, w, lw, info);
    head("sytri", k, n, n, uplo), status(s), tri(a, k, n, n, uplo);
    a = matrix(k, n, n, HEAVY, 2010 + n);
    CALL(k, lauum_bufferSize, uplo, n, a, n, &lw);
    w = work(k, lw);
    s = CALL(k, lauum, uplo, n, a, n, w, lw, info);
    head("lauum", k, n, n, uplo), status(s), tri(a, k, n, n, uplo);
}
static void generalized(kind k, int n, int uplo) {
    int lw = 0, s, found = -1, type = 1 + n % 3;
    void *a = matrix(k, n, n, HERMITIAN, 2020 + n), *b = matrix(k, n, n, POSITIVE, 2030 + n), *v = room((size_t)n * 8), *w;
#define GVDX(T, c, vl, vu)                                                                                                                 \
    cusolverDn##c##gvdx_bufferSize(H, type, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, uplo, n, a, n, b, n, vl, vu, 1, (n + 1) / 2, &found, v, &lw), \
        w = work(k, lw),                                                                                                                   \
        s = cusolverDn##c##gvdx(H, type, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, uplo, n, a, n, b, n, vl, vu, 1, (n + 1) / 2, &found, v, w, lw, info)
    if (!k.cplx && !k.dbl) GVDX(float, Ssy, 0, 0);
    else if (!k.cplx) GVDX(double, Dsy, 0, 0);
    else if (!k.dbl) GVDX(float, Che, 0, 0);
    else GVDX(double, Zhe, 0, 0);
    head("sygvdx", k, n, found, type), status(s), show(v, k.dbl, (size_t)(found > 0 ? found : 0), 0), end();
}
// The expert interface: main and lowest precision, and three methods.
static void expert(int main_at, int n) {
    static const int mains[] = {CUSOLVER_R_64F, CUSOLVER_R_32F, CUSOLVER_C_64F, CUSOLVER_C_32F};
    static const int lows[4][5] = {{CUSOLVER_R_64F, CUSOLVER_R_32F, CUSOLVER_R_16F, CUSOLVER_R_16BF, CUSOLVER_R_TF32},
                                   {CUSOLVER_R_32F, CUSOLVER_R_16F, CUSOLVER_R_16BF, CUSOLVER_R_TF32, CUSOLVER_R_32F},
                                   {CUSOLVER_C_64F, CUSOLVER_C_32F, CUSOLVER_C_16F, CUSOLVER_C_16BF, CUSOLVER_C_TF32},
                                   {CUSOLVER_C_32F, CUSOLVER_C_16F, CUSOLVER_C_16BF, CUSOLVER_C_TF32, CUSOLVER_C_32F}};
    static const int solvers[] = {CUSOLVER_IRS_REFINE_CLASSICAL, CUSOLVER_IRS_REFINE_GMRES, CUSOLVER_IRS_REFINE_CLASSICAL_GMRES, CUSOLVER_IRS_REFINE_GMRES_GMRES};
    kind k = {main_at >= 2, main_at % 2 == 0};
    for (int i = 0; i < 10; i++) {
        int l = i / 2, count = 1 + i % 2; // refinement by GMRES takes one right-hand side
        cusolverDnIRSParams_t p;
        cusolverDnIRSInfos_t o;
        size_t bytes = 0;
        int it = -99, m = n + 4, most = -99, s1, s2;
        cusolverDnIRSParamsCreate(&p), cusolverDnIRSInfosCreate(&o);
        s1 = cusolverDnIRSParamsSetSolverPrecisions(p, mains[main_at], lows[main_at][l]);
        s2 = cusolverDnIRSParamsSetRefinementSolver(p, solvers[(l + n) % 4]);
        cusolverDnIRSParamsSetMaxIters(p, 30), cusolverDnIRSParamsGetMaxIters(p, &most);
        void *a = matrix(k, n, n, HEAVY, 2100 + n), *b = matrix(k, n, 2, ANY, 2110 + n), *x = room((size_t)n * 2 * 16);
        int s3 = cusolverDnIRSXgesv_bufferSize(H, p, n, count, &bytes);
        int s = cusolverDnIRSXgesv(H, p, o, n, count, a, n, b, n, x, n, room(bytes), bytes, &it, info);
        head("IRSXgesv", k, n, count, l), printf(" %d %d %d %d", s1, s2, s3, most), status(s), show(x, k.dbl, (size_t)n * count << k.cplx, 0), end();
        a = matrix(k, m, n, HEAVY, 2120 + n), b = matrix(k, m, 2, ANY, 2130 + n), x = room((size_t)n * 2 * 16);
        cusolverDnIRSInfosDestroy(o), cusolverDnIRSInfosCreate(&o);
        s3 = cusolverDnIRSXgels_bufferSize(H, p, m, n, count, &bytes);
        s = cusolverDnIRSXgels(H, p, o, m, n, count, a, m, b, m, x, n, room(bytes), bytes, &it, info);
        head("IRSXgels", k, m, n, 10 * count + l), printf(" %d", s3), status(s), show(x, k.dbl, (size_t)n * count << k.cplx, 0), end();
        cusolverDnIRSInfosDestroy(o), cusolverDnIRSParamsDestroy(p);
    }
}
// A matrix of rank 4, whose values fall by 8: a random method finds them as exactly as any.
static void randomized(kind k, int m, int n) {
    enum { RANK = 4 };
    char *h = calloc((size_t)m * n, size_of(k));
    double u[RANK][64], v[RANK][64];
    state = 2200 + m;
    for (int r = 0; r < RANK; r++) {
        for (int i = 0; i < m; i++) u[r][i] = next();
        for (int j = 0; j < n; j++) v[r][j] = next();
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double re = 0, im = 0;
            for (int r = 0; r < RANK; r++) *(r % 2 && k.cplx ? &im : &re) += u[r][i] * v[r][j] / (1 << 3 * r);
            put(k, h, (size_t)j * m + i, re, im);
        }
    void *a = up(h, (size_t)m * n * size_of(k)), *s = room((size_t)n * 8), *U = room((size_t)m * m * 16), *V = room((size_t)n * n * 16);
    size_t dw = 0, hw = 0;
    int s1 = cusolverDnXgesvdr_bufferSize(H, P, 'S', 'S', m, n, RANK, 2, 2, TYPE(k), a, m, types[k.dbl], s, TYPE(k), U, m, TYPE(k), V, n, TYPE(k), &dw, &hw);
    int s2 = cusolverDnXgesvdr(H, P, 'S', 'S', m, n, RANK, 2, 2, TYPE(k), a, m, types[k.dbl], s, TYPE(k), U, m, TYPE(k), V, n, TYPE(k), room(dw), dw, malloc(hw + 8), hw, info);
    head("Xgesvdr", k, m, n, RANK), printf(" %d", s1), status(s2), show(s, k.dbl, RANK, 0), end();
    free(h);
}
static void blocks(kind k, int n, int c) {
    if (!function("cusolverDnXlarft")) {
        missing("Xlarft", k, n, c, 0);
        return;
    }
    void *v = matrix(k, n, c, ANY, 2300 + n), *tau = matrix(k, c, 1, ANY, 2310 + n), *t = room((size_t)c * c * 16);
    size_t dw = 0, hw = 0;
    int s1 = cusolverDnXlarft_bufferSize(H, P, 0, 0, n, c, TYPE(k), v, n, TYPE(k), tau, TYPE(k), t, c, TYPE(k), &dw, &hw);
    int s2 = cusolverDnXlarft(H, P, 0, 0, n, c, TYPE(k), v, n, TYPE(k), tau, TYPE(k), t, c, TYPE(k), room(dw), dw, malloc(hw + 8), hw);
    head("Xlarft", k, n, c, 0), printf(" %d", s1), status(s2), tri(t, k, c, c, CUBLAS_FILL_MODE_UPPER);
}
static void polar(kind k, int m, int n, int uplo) {
    typedef int (*size)(cusolverDnHandle_t, cusolverDnParams_t, int, int64_t, int64_t, int, const void *, int64_t, int, const void *, int64_t, int, size_t *, size_t *);
    typedef int (*call)(cusolverDnHandle_t, cusolverDnParams_t, int, int64_t, int64_t, int, void *, int64_t, int, void *, int64_t, int, void *, size_t, void *, size_t, double *, double *, double *, int *);
    size f = (size)function("cusolverDnXpolar_bufferSize");
    call g = (call)function("cusolverDnXpolar");
    if (!f || !g) {
        missing("Xpolar", k, m, n, uplo), missing("Xpolar.H", k, m, n, uplo);
        return;
    }
    void *a = matrix(k, m, n, HEAVY, 2400 + m), *h = room((size_t)n * n * 16);
    double *norms = room(64);
    size_t dw = 0, hw = 0;
    int s1 = f(H, P, uplo, m, n, TYPE(k), a, m, TYPE(k), h, n, TYPE(k), &dw, &hw);
    int s2 = g(H, P, uplo, m, n, TYPE(k), a, m, TYPE(k), h, n, TYPE(k), room(dw), dw, malloc(hw + 8), hw, norms, norms + 1, norms + 2, info);
    head("Xpolar", k, m, n, uplo), printf(" %d", s1), status(s2), show(a, k.dbl, (size_t)m * n << k.cplx, 0), end();
    head("Xpolar.H", k, m, n, uplo), printf(" %d | 0 0 |", s1), tri(h, k, n, n, uplo);
}
static void tridiagonal(kind k, int n, int comp) {
    typedef int (*size)(cusolverDnHandle_t, cusolverDnParams_t, int, int64_t, int, const void *, const void *, int, const void *, int64_t, int, size_t *, size_t *);
    typedef int (*call)(cusolverDnHandle_t, cusolverDnParams_t, int, int64_t, int, void *, void *, int, void *, int64_t, int, void *, size_t, void *, size_t, int *);
    size f = (size)function("cusolverDnXstedc_bufferSize");
    call g = (call)function("cusolverDnXstedc");
    if (!f || !g) {
        missing("Xstedc", k, n, n, comp);
        return;
    }
    kind r = {0, k.dbl};
    void *d = matrix(r, n, 1, ANY, 2500 + n), *e = matrix(r, n, 1, ANY, 2510 + n), *z = matrix(k, n, n, ANY, 2520 + n);
    size_t dw = 0, hw = 0;
    int s1 = f(H, P, comp, n, TYPE(r), d, e, TYPE(k), z, n, TYPE(k), &dw, &hw);
    int s2 = g(H, P, comp, n, TYPE(r), d, e, TYPE(k), z, n, TYPE(k), room(dw), dw, malloc(hw + 8), hw, info);
    head("Xstedc", k, n, n, comp), printf(" %d", s1), status(s2), show(d, k.dbl, (size_t)n, 0), end();
}
static void hermitian(kind k, int n, int uplo) {
    typedef int (*size)(cusolverDnHandle_t, cusolverDnParams_t, int, int64_t, int, const void *, int64_t, const int64_t *, int, size_t *, size_t *);
    typedef int (*call)(cusolverDnHandle_t, cusolverDnParams_t, int, int64_t, int, void *, int64_t, int64_t *, int, void *, size_t, void *, size_t, int *);
    if (!function("cusolverDnXhetrf")) {
        missing("Xhetrf", k, n, n, uplo);
        return;
    }
    void *a = matrix(k, n, n, POSITIVE, 2530 + n);
    int64_t *ip = room(8 * (size_t)n);
    size_t dw = 0, hw = 0;
    int s1 = ((size)function("cusolverDnXhetrf_bufferSize"))(H, P, uplo, n, TYPE(k), a, n, ip, TYPE(k), &dw, &hw);
    int s2 = ((call)function("cusolverDnXhetrf"))(H, P, uplo, n, TYPE(k), a, n, ip, TYPE(k), room(dw), dw, malloc(hw + 8), hw, info);
    head("Xhetrf", k, n, n, uplo), printf(" %d", s1), status(s2), show(a, k.dbl, (size_t)1 << k.cplx, 0), end();
}
// A sparse matrix with a large diagonal, in rows; what elimination makes of it is where `fill` is.
enum { MOST = 40, BATCH = 3 };
static int n, nnz, row[MOST + 1], col[MOST * MOST], nl, lrow[MOST + 1], lcol[MOST * MOST], nu, urow[MOST + 1], ucol[MOST * MOST], p[MOST], q[MOST];
static double val[MOST * MOST], lval[MOST * MOST], uval[MOST * MOST], rhs[MOST * BATCH];
static void pattern(int size, int seed, int turned) {
    static double a[MOST][MOST];
    static char fill[MOST][MOST];
    memset(a, 0, sizeof a), memset(fill, 0, sizeof fill);
    n = size, state = (unsigned long long)seed, nnz = nl = nu = 0;
    for (int i = 0; i < n; i++) p[i] = turned ? (i + 3) % n : i, q[i] = turned ? (i + 1) % n : i;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double v = next(), w = next();
            if (i == j || w > 0.6) a[p[i]][q[j]] = i == j ? v + 2 * n : v, fill[i][j] = 1;
        }
    for (int k = 0; k < n; k++)
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) fill[i][j] |= fill[i][k] && fill[k][j];
    for (int i = 0; i < n; i++) {
        row[i] = nnz, lrow[i] = nl, urow[i] = nu;
        for (int j = 0; j < n; j++) {
            if (a[i][j] != 0) col[nnz] = j, val[nnz++] = a[i][j];
            if (j < i && fill[i][j]) lcol[nl] = j, lval[nl++] = 0;
            if (j >= i && fill[i][j]) ucol[nu] = j, uval[nu++] = i == j;
        }
    }
    row[n] = nnz, lrow[n] = nl, urow[n] = nu;
    for (int i = 0; i < n * BATCH; i++) rhs[i] = next();
}
static const kind F64 = {0, 1};
static void refactor(int size, int turned) {
    cusolverRfHandle_t h;
    pattern(size, 2700 + size, turned);
    int *drow = up(row, 4 * (size_t)(n + 1)), *dcol = up(col, 4 * (size_t)nnz), *dp = up(p, 4 * (size_t)n), *dq = up(q, 4 * (size_t)n), m = 0, *mp, *mi;
    double *dval = up(val, 8 * (size_t)nnz), *x = up(rhs, 8 * (size_t)n), *temp = room(8 * (size_t)n * 2 * BATCH), *mx;
    int s[8];
    cusolverRfCreate(&h);
    cusolverRfSetAlgs(h, size % 2 ? CUSOLVERRF_FACTORIZATION_ALG0 : CUSOLVERRF_FACTORIZATION_ALG2, CUSOLVERRF_TRIANGULAR_SOLVE_ALG1);
    cusolverRfSetMatrixFormat(h, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L);
    s[0] = cusolverRfSetupHost(n, nnz, row, col, val, nl, lrow, lcol, lval, nu, urow, ucol, uval, p, q, h);
    s[1] = cusolverRfAnalyze(h);
    s[2] = cusolverRfResetValues(n, nnz, drow, dcol, dval, dp, dq, h);
    s[3] = cusolverRfRefactor(h);
    s[4] = cusolverRfSolve(h, dp, dq, 1, temp, n, x, n);
    head("RfSolve", F64, n, nnz, turned), printf(" %d %d %d %d %d |", s[0], s[1], s[2], s[3], s[4]), show(x, 1, (size_t)n, 0), end();
    s[0] = cusolverRfExtractBundledFactorsHost(h, &m, &mp, &mi, &mx);
    head("RfExtractBundledFactorsHost", F64, n, m, turned), printf(" %d |", s[0]), show(mx, 1, s[0] ? 0 : (size_t)m, 0), end();
    int cl = 0, cu = 0, *lp, *li, *uq, *ui;
    double *lx, *ux;
    s[0] = cusolverRfExtractSplitFactorsHost(h, &cl, &lp, &li, &lx, &cu, &uq, &ui, &ux);
    head("RfExtractSplitFactorsHost", F64, n, cu, cl), printf(" %d |", s[0]), show(ux, 1, s[0] ? 0 : (size_t)cu, 0), end();
    s[0] = cusolverRfAccessBundledFactorsDevice(h, &m, &mp, &mi, &mx);
    head("RfAccessBundledFactorsDevice", F64, n, m, turned), printf(" %d |", s[0]), show(mx, 1, s[0] ? 0 : (size_t)m, 0), end();
}
#define SPCALL(k, f, ...)                                                                                                                  \
    (!(k).cplx ? (k).dbl ? cusolverSpD##f(SP, __VA_ARGS__) : cusolverSpS##f(SP, __VA_ARGS__)                                               \
               : (k).dbl ? cusolverSpZ##f(SP, __VA_ARGS__) : cusolverSpC##f(SP, __VA_ARGS__))
// QR in steps, on the device and the host; the diagonal of Cholesky is in an order of its own, and its product is not.
static void steps(kind k, int size) {
    pattern(size, 2800 + size, 0);
    char *v = calloc((size_t)nnz, size_of(k)), *b = calloc((size_t)n, size_of(k)), *x = calloc((size_t)n, size_of(k));
    for (int i = 0; i < nnz; i++) put(k, v, (size_t)i, val[i], 0);
    for (int i = 0; i < n; i++) put(k, b, (size_t)i, rhs[i], rhs[n + i]);
    int *drow = up(row, 4 * (size_t)(n + 1)), *dcol = up(col, 4 * (size_t)nnz), s1, s2, s3, s4, s5, at = -7;
    void *dv = up(v, nnz * size_of(k)), *db = up(b, n * size_of(k)), *dx = room(n * size_of(k)), *w;
    size_t inside = 0, bytes = 0;
    csrqrInfo_t o;
    cusolverSpCreateCsrqrInfo(&o);
    s1 = cusolverSpXcsrqrAnalysis(SP, n, n, nnz, D, drow, dcol, o);
    s2 = SPCALL(k, csrqrBufferInfo, n, n, nnz, D, dv, drow, dcol, o, &inside, &bytes);
    w = room(bytes);
    if (!k.cplx && !k.dbl) s3 = cusolverSpScsrqrSetup(SP, n, n, nnz, D, dv, drow, dcol, 0, o);
    else if (!k.cplx) s3 = cusolverSpDcsrqrSetup(SP, n, n, nnz, D, dv, drow, dcol, 0, o);
    else if (!k.dbl) s3 = cusolverSpCcsrqrSetup(SP, n, n, nnz, D, dv, drow, dcol, (cuComplex){0, 0}, o);
    else s3 = cusolverSpZcsrqrSetup(SP, n, n, nnz, D, dv, drow, dcol, (cuDoubleComplex){0, 0}, o);
    s4 = SPCALL(k, csrqrFactor, n, n, nnz, 0, 0, o, w), SPCALL(k, csrqrZeroPivot, o, 1e-6, &at);
    s5 = SPCALL(k, csrqrSolve, n, n, db, dx, o, w);
    head("csrqrSolve", k, n, nnz, at), printf(" %d %d %d %d %d |", s1, s2, s3, s4, s5), show(dx, k.dbl, (size_t)n << k.cplx, 0), end();
    cusolverSpDestroyCsrqrInfo(o);
    csrqrInfoHost_t oh;
    cusolverSpCreateCsrqrInfoHost(&oh);
    s1 = cusolverSpXcsrqrAnalysisHost(SP, n, n, nnz, D, row, col, oh);
    s2 = SPCALL(k, csrqrBufferInfoHost, n, n, nnz, D, (void *)v, row, col, oh, &inside, &bytes);
    w = malloc(bytes + 64);
    if (!k.cplx && !k.dbl) s3 = cusolverSpScsrqrSetupHost(SP, n, n, nnz, D, (void *)v, row, col, 0, oh);
    else if (!k.cplx) s3 = cusolverSpDcsrqrSetupHost(SP, n, n, nnz, D, (void *)v, row, col, 0, oh);
    else if (!k.dbl) s3 = cusolverSpCcsrqrSetupHost(SP, n, n, nnz, D, (void *)v, row, col, (cuComplex){0, 0}, oh);
    else s3 = cusolverSpZcsrqrSetupHost(SP, n, n, nnz, D, (void *)v, row, col, (cuDoubleComplex){0, 0}, oh);
    s4 = SPCALL(k, csrqrFactorHost, n, n, nnz, 0, 0, oh, w);
    s5 = SPCALL(k, csrqrSolveHost, n, n, (void *)b, (void *)x, oh, w);
    head("csrqrSolveHost", k, n, nnz, 0), printf(" %d %d %d %d %d |", s1, s2, s3, s4, s5), show(x, k.dbl, (size_t)n << k.cplx, 0), end();
    cusolverSpDestroyCsrqrInfoHost(oh);
}
// Orders are an algorithm's own: that they are permutations is told. What a permutation makes of a matrix is not.
static void orders(int size) {
    int got[MOST], s, all[4];
    pattern(size, 2900 + size, 0);
    for (int i = 0; i < n; i++) // a symmetric pattern: a band
        for (row[i] = i ? row[i] : 0, row[i + 1] = row[i]; row[i + 1] < row[i] + (i ? 1 : 0) + 1 + (i + 1 < n ? 1 : 0); row[i + 1]++)
            col[row[i + 1]] = (i ? i - 1 : 0) + row[i + 1] - row[i];
    nnz = row[n];
    static const char *names[] = {"csrsymrcmHost", "csrsymmdqHost", "csrsymamdHost", "csrmetisndHost"};
    for (int a = 0; a < 4; a++) {
        int seen[MOST] = {0}, right = 1;
        memset(got, -1, sizeof got);
        s = a == 0   ? cusolverSpXcsrsymrcmHost(SP, n, nnz, D, row, col, got)
            : a == 1 ? cusolverSpXcsrsymmdqHost(SP, n, nnz, D, row, col, got)
            : a == 2 ? cusolverSpXcsrsymamdHost(SP, n, nnz, D, row, col, got)
                     : cusolverSpXcsrmetisndHost(SP, n, nnz, D, row, col, 0, got);
        for (int i = 0; i < n; i++) right &= got[i] >= 0 && got[i] < n && !seen[got[i]]++;
        head(names[a], F64, n, nnz, 0), printf(" %d | %d", s, right), end();
    }
    int map[MOST * MOST], r[MOST + 1], c[MOST * MOST];
    size_t bytes = 0;
    for (int i = 0; i < nnz; i++) map[i] = i;
    for (int i = 0; i < n; i++) p[i] = (i + 3) % n, q[i] = n - 1 - i;
    memcpy(r, row, sizeof r), memcpy(c, col, 4 * (size_t)nnz);
    all[0] = cusolverSpXcsrperm_bufferSizeHost(SP, n, n, nnz, D, r, c, p, q, &bytes);
    all[1] = cusolverSpXcsrpermHost(SP, n, n, nnz, D, r, c, p, q, map, malloc(bytes + 64));
    head("csrpermHost", F64, n, nnz, 0), printf(" %d %d |", all[0], all[1]);
    for (int i = 0; i <= n; i++) printf(" %d", r[i]);
    for (int i = 0; i < nnz; i++) printf(" %d %d", c[i], map[i]);
    end();
}

int main(void) {
    static const int sizes[] = {1, 2, 3, 5, 16, 24, 33, 48};
    if (cusolverDnCreate(&H) || cusolverSpCreate(&SP)) return 1;
    cusolverDnCreateParams(&P), cusparseCreateMatDescr(&D);
    info = room(64);
    for (int i = 0; i < 8; i++)
        for (int a = 0; a < 4; a++) {
            kind k = kinds[a];
            int m = sizes[i], uplo = i % 2;
            indefinite(k, m, uplo), generalized(k, m, uplo), blocks(k, m + 5, m < 20 ? m : 20), polar(k, m + 2 * uplo, m, uplo), tridiagonal(k, m, 10 + i % 3), hermitian(k, m, uplo);
        }
    for (int i = 8; i <= 48; i += 8)
        for (int a = 0; a < 4; a++) randomized(kinds[a], i + 4, i), expert(a, i / 2);
    for (int i = 4; i <= 40; i += 3) refactor(i, 0), refactor(i, 1);
    for (int i = 4; i <= 40; i += 6)
        for (int a = 0; a < 4; a++) steps(kinds[a], i);
    for (int i = 3; i <= 24; i++) orders(i);
    return 0;
}
