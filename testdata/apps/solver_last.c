// Records results of cuSOLVER's functions that the other recorders have not: matrices on several devices (cuSolverMg on one), lists of
// refactorizations, generalized values and indefinite systems with sizes of 64 bits, parts of the sparse factors, and what handles and
// descriptors keep. Functions that not every release has are looked up. A line is: function, type and sizes | statuses | numbers.
#include "solver_record.h"
#include <cusolverDn.h>
#include <cusolverMg.h>
#include <cusolverRf.h>
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <cusparse.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

static cusolverDnHandle_t H;
static cusolverDnParams_t P;
static cusolverSpHandle_t SP;
static cusparseMatDescr_t D;
static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
#define TYPE(k) types[kind_at(k)]
typedef int function();
static function *find(const char *name) { return (function *)dlsym(RTLD_DEFAULT, name); }
static void missing(const char *f, kind k, int m, int n, int x) { head(f, k, m, n, x), printf(" missing |"), end(); }
static const kind F64 = {0, 1};

// cuSolverMg: all columns lie on one device, in blocks.
enum { BLOCK = 8, RHS = 3 };
static cusolverMgHandle_t MG;
static cudaLibMgGrid_t G;
static cudaLibMgMatrixDesc_t described(kind k, int m, int n) {
    cudaLibMgMatrixDesc_t d = 0;
    cusolverMgCreateMatrixDesc(&d, m, n, m, BLOCK, TYPE(k), G);
    return d;
}
static void **laid(kind k, int m, int n, int shape, int seed) {
    void *h = host_matrix(k, m, n, shape, seed), **list = malloc(sizeof *list);
    int columns = (n + BLOCK - 1) / BLOCK * BLOCK;
    list[0] = room((size_t)m * columns * size_of(k)), cudaMemcpy(list[0], h, (size_t)m * n * size_of(k), cudaMemcpyHostToDevice);
    free(h);
    return list;
}
static void several(kind k, int n, int x) {
    static const int ops[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    cudaLibMgMatrixDesc_t da = described(k, n, n), db = described(k, n, RHS);
    int64_t lw = 0;
    int s1, s2, at = -9, uplo = x % 4 == 3, op = ops[x % 3 == 2 && !k.cplx ? 1 : x % 3]; // the upper triangle is a release's own choice
    void *w[1];
#define WORK w[0] = room((size_t)(lw > 0 ? lw : 0) * size_of(k) + 65536)
#define TOLD(f, xx) cudaDeviceSynchronize(), head(f, k, n, RHS, xx), printf(" %d %d %d |", s1, s2, at)
    void **a = laid(k, n, n, POSITIVE, 3000 + n), **b = laid(k, n, RHS, ANY, 3010 + n);
    s1 = cusolverMgPotrf_bufferSize(MG, uplo, n, a, 1, 1, da, TYPE(k), &lw), WORK;
    s2 = cusolverMgPotrf(MG, uplo, n, a, 1, 1, da, TYPE(k), w, lw, &at);
    TOLD("MgPotrf", uplo), show(a[0], k.dbl, (size_t)1 << k.cplx, 0), end();
    s1 = cusolverMgPotrs_bufferSize(MG, uplo, n, RHS, a, 1, 1, da, b, 1, 1, db, TYPE(k), &lw), WORK;
    s2 = cusolverMgPotrs(MG, uplo, n, RHS, a, 1, 1, da, b, 1, 1, db, TYPE(k), w, lw, &at);
    TOLD("MgPotrs", uplo), show(b[0], k.dbl, (size_t)n * RHS << k.cplx, 0), end();
    s1 = cusolverMgPotri_bufferSize(MG, uplo, n, a, 1, 1, da, TYPE(k), &lw), WORK;
    s2 = cusolverMgPotri(MG, uplo, n, a, 1, 1, da, TYPE(k), w, lw, &at);
    TOLD("MgPotri", uplo), show(a[0], k.dbl, (size_t)1 << k.cplx, 0), end(); // of the triangle's first element
    a = laid(k, n, n, HEAVY, 3020 + n), b = laid(k, n, RHS, ANY, 3030 + n);
    int *pivots[1] = {room(4 * (size_t)(n + BLOCK) * 2)}, p[64] = {0};
    s1 = cusolverMgGetrf_bufferSize(MG, n, n, a, 1, 1, da, pivots, TYPE(k), &lw), WORK;
    s2 = cusolverMgGetrf(MG, n, n, a, 1, 1, da, pivots, TYPE(k), w, lw, &at);
    TOLD("MgGetrf", 0), show(a[0], k.dbl, (size_t)n * n << k.cplx, 0), cudaMemcpy(p, pivots[0], 4 * (size_t)n, cudaMemcpyDeviceToHost), printf(" %d %d", p[0], p[n - 1]), end();
    s1 = cusolverMgGetrs_bufferSize(MG, op, n, RHS, a, 1, 1, da, pivots, b, 1, 1, db, TYPE(k), &lw), WORK;
    s2 = cusolverMgGetrs(MG, op, n, RHS, a, 1, 1, da, pivots, b, 1, 1, db, TYPE(k), w, lw, &at);
    TOLD("MgGetrs", op), show(b[0], k.dbl, (size_t)n * RHS << k.cplx, 0), end();
    a = laid(k, n, n, HERMITIAN, 3040 + n);
    double values[64] = {0};
    s1 = cusolverMgSyevd_bufferSize(MG, CUSOLVER_EIG_MODE_VECTOR, uplo, n, a, 1, 1, da, values, types[k.dbl], TYPE(k), &lw), WORK;
    s2 = cusolverMgSyevd(MG, CUSOLVER_EIG_MODE_VECTOR, uplo, n, a, 1, 1, da, values, types[k.dbl], TYPE(k), w, lw, &at);
    TOLD("MgSyevd", uplo), show(values, k.dbl, (size_t)n, 0), end();
    s1 = cusolverMgDestroyMatrixDesc(da), s2 = cusolverMgDestroyMatrixDesc(db), at = 0;
    TOLD("MgDestroyMatrixDesc", 0), end();
}
static void grids(int i) {
    int list[] = {0}, s[5];
    s[0] = cusolverMgCreate(&MG), s[1] = cusolverMgDeviceSelect(MG, 1, list), s[2] = cusolverMgCreateDeviceGrid(&G, 1, 1, list, i % 2 ? CUDALIBMG_GRID_MAPPING_ROW_MAJOR : CUDALIBMG_GRID_MAPPING_COL_MAJOR);
    s[3] = cusolverMgDestroyGrid(G), s[4] = cusolverMgDestroy(MG);
    printf("MgCreate %d | %d %d %d %d %d |\n", i, s[0], s[1], s[2], s[3], s[4]);
}
static void devices(int i) {
    static const int sizes[] = {13, 8, 16, 24, 32, 40};
    int list[] = {0};
    for (int j = 0; i == 0 && j < 20; j++) grids(j);
    cusolverMgCreate(&MG), cusolverMgDeviceSelect(MG, 1, list), cusolverMgCreateDeviceGrid(&G, 1, 1, list, CUDALIBMG_GRID_MAPPING_COL_MAJOR);
    several(kinds[i % 4], sizes[i / 4], i / 4);
}

// A dense matrix as a sparse one: refactorization of three with the same pattern.
enum { MOST = 24, BATCH = 3 };
static void refactors(int n, int fast) {
    static double values[BATCH][MOST * MOST], rhs[BATCH][MOST], zero[MOST * MOST], one[MOST * MOST];
    static int row[MOST + 1], col[MOST * MOST], lrow[MOST + 1], lcol[MOST * MOST], urow[MOST + 1], ucol[MOST * MOST], same[MOST];
    int nl = 0, nu = 0, s[8], at = -9;
    state = 3100 + (unsigned)n;
    for (int i = 0; i < n; i++) {
        row[i] = i * n, lrow[i] = nl, urow[i] = nu, same[i] = i;
        for (int j = 0; j < n; j++) {
            for (int b = 0; b < BATCH; b++) values[b][i * n + j] = next() + (i == j ? 2 * n : 0), rhs[b][i] = next();
            col[i * n + j] = j;
            if (j < i) lcol[nl++] = j;
            else one[nu] = i == j, ucol[nu++] = j;
        }
    }
    row[n] = n * n, lrow[n] = nl, urow[n] = nu;
    cusolverRfHandle_t h;
    cusolverRfMatrixFormat_t format;
    cusolverRfUnitDiagonal_t diagonal;
    cusolverRfFactorization_t f;
    cusolverRfTriangularSolve_t t;
    cusolverRfResetValuesFastMode_t mode;
    cusolverRfNumericBoostReport_t report;
    double least = -9, boost = -9, *lists[BATCH], *xs[BATCH], *temp = room(8 * MOST * 2 * BATCH);
    s[0] = cusolverRfCreate(&h), s[1] = cusolverRfSetResetValuesFastMode(h, fast ? CUSOLVERRF_RESET_VALUES_FAST_MODE_ON : CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF), s[2] = cusolverRfGetResetValuesFastMode(h, &mode);
    head("RfSetResetValuesFastMode", F64, n, fast, 0), printf(" %d %d %d | %d", s[0], s[1], s[2], mode), end();
    s[0] = cusolverRfSetNumericProperties(h, n % 2 ? 0.001 * n : 0, n % 3 ? 0.01 : 0), s[1] = cusolverRfGetNumericProperties(h, &least, &boost), s[2] = cusolverRfGetNumericBoostReport(h, &report);
    head("RfSetNumericProperties", F64, n, fast, 0), printf(" %d %d %d | %.9g %.9g %d", s[0], s[1], s[2], least, boost, report), end();
    s[0] = cusolverRfSetAlgs(h, CUSOLVERRF_FACTORIZATION_ALG0, CUSOLVERRF_TRIANGULAR_SOLVE_ALG1), s[1] = cusolverRfGetAlgs(h, &f, &t);
    head("RfGetAlgs", F64, n, fast, 0), printf(" %d %d | %d %d", s[0], s[1], f, t), end();
    s[0] = cusolverRfSetMatrixFormat(h, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L), s[1] = cusolverRfGetMatrixFormat(h, &format, &diagonal);
    head("RfGetMatrixFormat", F64, n, fast, 0), printf(" %d %d | %d %d", s[0], s[1], format, diagonal), end();
    int *drow = up(row, sizeof row), *dcol = up(col, sizeof col), *dsame = up(same, sizeof same);
    for (int b = 0; b < BATCH; b++) lists[b] = values[b], xs[b] = up(rhs[b], sizeof rhs[b]);
    s[0] = cusolverRfBatchSetupHost(BATCH, n, n * n, row, col, lists, nl, lrow, lcol, zero, nu, urow, ucol, one, same, same, h);
    s[1] = cusolverRfBatchAnalyze(h);
    for (int b = 0; b < BATCH; b++) lists[b] = up(values[b], sizeof values[b]);
    double **dlists = up(lists, sizeof lists), **dxs = up(xs, sizeof xs);
    s[2] = cusolverRfBatchResetValues(BATCH, n, n * n, drow, dcol, dlists, dsame, dsame, h), s[3] = cusolverRfBatchRefactor(h), s[4] = cusolverRfBatchSolve(h, dsame, dsame, 1, temp, n, dxs, n);
    head("RfBatchSolve", F64, n, fast, 0), printf(" %d %d %d %d %d |", s[0], s[1], s[2], s[3], s[4]), show(xs[2], 1, (size_t)n, 0), end();
    int where[BATCH] = {-9, -9, -9};
    s[0] = cusolverRfBatchZeroPivot(h, where);
    head("RfBatchZeroPivot", F64, n, fast, 0), printf(" %d | %d %d %d", s[0], where[0], where[1], where[2]), end();
    s[0] = cusolverRfDestroy(h), s[1] = cusolverRfCreate(&h), cusolverRfSetMatrixFormat(h, CUSOLVERRF_MATRIX_FORMAT_CSR, CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_L);
    double *x = up(rhs[0], sizeof rhs[0]), *dv = up(values[0], sizeof values[0]);
    s[2] = cusolverRfSetupDevice(n, n * n, drow, dcol, dv, nl, up(lrow, sizeof lrow), up(lcol, sizeof lcol), up(zero, sizeof zero), nu, up(urow, sizeof urow), up(ucol, sizeof ucol), up(one, sizeof one), dsame, dsame, h);
    s[3] = cusolverRfAnalyze(h), s[4] = cusolverRfResetValues(n, n * n, drow, dcol, dv, dsame, dsame, h), s[5] = cusolverRfRefactor(h), s[6] = cusolverRfSolve(h, dsame, dsame, 1, temp, n, x, n), s[7] = cusolverRfDestroy(h);
    head("RfSetupDevice", F64, n, fast, 0), printf(" %d %d %d %d %d %d %d %d |", s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]), show(x, 1, (size_t)n, 0), end();
    (void)at;
}

// The 64-bit interface: generalized values, all and a range, and indefinite systems.
static void wide(kind k, int n, int uplo) {
    size_t dw = 0, hw = 0;
    int s1, s2, type = 1 + n % 3;
    int64_t found = -9;
    void *a = matrix(k, n, n, HERMITIAN, 3200 + n), *b = matrix(k, n, n, POSITIVE, 3210 + n), *v = room((size_t)n * 8);
    int tk = TYPE(k), tv = types[k.dbl];
    int64_t n64 = n, low = 1, high = (n + 1) / 2;
    function *f = find("cusolverDnXsygvd_bufferSize"), *g = find("cusolverDnXsygvd");
    if (!f || !g) missing("Xsygvd", k, n, uplo, type);
    else {
        s1 = f(H, P, type, 1, uplo, n64, tk, a, n64, tk, b, n64, tv, v, tk, &dw, &hw);
        s2 = g(H, P, type, 1, uplo, n64, tk, a, n64, tk, b, n64, tv, v, tk, room(dw), dw, malloc(hw + 8), hw, info);
        head("Xsygvd", k, n, uplo, type), printf(" %d", s1), status(s2), show(v, k.dbl, (size_t)n, 0), end();
    }
    a = matrix(k, n, n, HERMITIAN, 3220 + n), b = matrix(k, n, n, POSITIVE, 3230 + n), v = room((size_t)n * 8);
    f = find("cusolverDnXsygvdx_bufferSize"), g = find("cusolverDnXsygvdx");
    double vl = 0, vu = 1;
    if (!f || !g) missing("Xsygvdx", k, n, uplo, type);
    else {
        s1 = f(H, P, type, 1, uplo, n64, tk, a, n64, tk, b, n64, &vl, &vu, low, high, &found, tv, v, tk, &dw, &hw);
        s2 = g(H, P, type, 1, CUSOLVER_EIG_RANGE_I, uplo, n64, tk, a, n64, tk, b, n64, &vl, &vu, low, high, &found, tv, v, tk, room(dw), dw, malloc(hw + 8), hw, info);
        head("Xsygvdx", k, n, (int)found, type), printf(" %d", s1), status(s2), show(v, k.dbl, (size_t)(found > 0 ? found : 0), 0), end();
    }
    static const char *const names[2][2] = {{"cusolverDnXsytrf", "cusolverDnXsytrs"}, {"cusolverDnXhetrf", "cusolverDnXhetrs"}};
    for (int i = 0; i < 2; i++) {
        char name[64];
        function *factor[2], *solve[2];
        factor[1] = find(names[i][0]), solve[1] = find(names[i][1]);
        snprintf(name, sizeof name, "%s_bufferSize", names[i][0]), factor[0] = find(name);
        snprintf(name, sizeof name, "%s_bufferSize", names[i][1]), solve[0] = find(name);
        if (!factor[0] || !factor[1] || !solve[0] || !solve[1]) {
            missing(names[i][1] + 10, k, n, 2, uplo);
            continue;
        }
        a = matrix(k, n, n, i ? HERMITIAN : SYMMETRIC, 3240 + n), b = matrix(k, n, 2, ANY, 3250 + n);
        int64_t *ip = room(8 * (size_t)n), two = 2;
        s1 = factor[0](H, P, uplo, n64, tk, a, n64, ip, tk, &dw, &hw);
        s2 = factor[1](H, P, uplo, n64, tk, a, n64, ip, tk, room(dw), dw, malloc(hw + 8), hw, info);
        head(names[i][0] + 10, k, n, 2, uplo), printf(" %d", s1), status(s2), end();
        s1 = solve[0](H, P, uplo, n64, two, tk, a, n64, ip, tk, b, n64, &dw, &hw);
        s2 = solve[1](H, P, uplo, n64, two, tk, a, n64, ip, tk, b, n64, room(dw), dw, malloc(hw + 8), hw, info);
        head(names[i][1] + 10, k, n, 2, uplo), printf(" %d", s1), status(s2), show(b, k.dbl, (size_t)n * 2 << k.cplx, 0), end();
    }
}

// A band of three diagonals: factors in steps, and what can be asked of them.
#define SPCALL(k, f, ...)                                                                                                                  \
    (!(k).cplx ? (k).dbl ? cusolverSpD##f(SP, __VA_ARGS__) : cusolverSpS##f(SP, __VA_ARGS__)                                               \
               : (k).dbl ? cusolverSpZ##f(SP, __VA_ARGS__) : cusolverSpC##f(SP, __VA_ARGS__))
static void sparse(kind k, int n) {
    int row[MOST + 1], col[MOST * 3], nnz = 0, s1, s2, s3, s4, at = -9, at2 = -9, nl = -9, nu = -9;
    char val[MOST * 3 * 16], x[MOST * 16], mu[16] = {0}, start[16] = {0};
    void *v = val;
    state = 3300 + (unsigned)n;
    for (int i = 0; i < n; i++) {
        row[i] = nnz;
        for (int j = i ? i - 1 : 0; j <= i + 1 && j < n; j++) put(k, val, (size_t)nnz, i == j ? 4 + i % 5 : 1, 0), col[nnz++] = j;
    }
    row[n] = nnz;
    int *drow = up(row, sizeof row), *dcol = up(col, sizeof col);
    void *dval = up(val, sizeof val), *w;
    size_t inside = 0, bytes = 0;
    csrcholInfo_t c;
    cusolverSpCreateCsrcholInfo(&c);
    s1 = cusolverSpXcsrcholAnalysis(SP, n, nnz, D, drow, dcol, c), s2 = SPCALL(k, csrcholBufferInfo, n, nnz, D, dval, drow, dcol, c, &inside, &bytes);
    s3 = SPCALL(k, csrcholFactor, n, nnz, D, dval, drow, dcol, c, room(bytes));
    void *diagonal = room((size_t)n * 8);
    s4 = SPCALL(k, csrcholDiag, c, diagonal);
    char h[MOST * 8];
    cudaDeviceSynchronize(), cudaMemcpy(h, diagonal, (size_t)n * (k.dbl ? 8 : 4), cudaMemcpyDeviceToHost);
    double product = 1; // the order of elimination is a library's own, the determinant is not
    for (int i = 0; i < n; i++) product *= k.dbl ? ((double *)h)[i] : ((float *)h)[i];
    head("csrcholDiag", k, n, nnz, 0), printf(" %d %d %d %d |", s1, s2, s3, s4), printf(k.dbl ? " %.15g" : " %.8g", log(product)), end();
    cusolverSpDestroyCsrcholInfo(c);
    csrcholInfoHost_t ch;
    cusolverSpCreateCsrcholInfoHost(&ch);
    s1 = cusolverSpXcsrcholAnalysisHost(SP, n, nnz, D, row, col, ch), s2 = SPCALL(k, csrcholBufferInfoHost, n, nnz, D, v, row, col, ch, &inside, &bytes);
    w = malloc(bytes + 64);
    s3 = SPCALL(k, csrcholFactorHost, n, nnz, D, v, row, col, ch, w), s4 = SPCALL(k, csrcholZeroPivotHost, ch, 1e-6, &at);
    head("csrcholZeroPivotHost", k, n, nnz, 0), printf(" %d %d %d %d | %d", s1, s2, s3, s4, at), end();
    cusolverSpDestroyCsrcholInfoHost(ch), free(w);
    csrluInfoHost_t l;
    cusolverSpCreateCsrluInfoHost(&l);
    s1 = cusolverSpXcsrluAnalysisHost(SP, n, nnz, D, row, col, l), s2 = SPCALL(k, csrluBufferInfoHost, n, nnz, D, v, row, col, l, &inside, &bytes);
    w = malloc(bytes + 64);
    s3 = SPCALL(k, csrluFactorHost, n, nnz, D, v, row, col, l, 1.0, w), s4 = SPCALL(k, csrluZeroPivotHost, l, 1e-6, &at);
    head("csrluZeroPivotHost", k, n, nnz, 0), printf(" %d %d %d %d | %d", s1, s2, s3, s4, at), end();
    s1 = cusolverSpXcsrluNnzHost(SP, &nl, &nu, l);
    head("csrluNnzHost", k, n, nnz, 0), printf(" %d | %d", s1, nl >= n && nu >= n), end();
    int p[MOST], q[MOST], lrow[MOST + 1], urow[MOST + 1], *lcol = malloc(4 * (size_t)(nl + 1)), *ucol = malloc(4 * (size_t)(nu + 1)), right = 1;
    char *lval = malloc(16 * (size_t)(nl + 1)), *uval = malloc(16 * (size_t)(nu + 1));
    s1 = SPCALL(k, csrluExtractHost, p, q, D, (void *)lval, lrow, lcol, D, (void *)uval, urow, ucol, l, w);
    double most = 0; // P A Q is L U: how far it is from that
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0, a = 0;
#define AT(m, e) (k.dbl ? ((double *)m)[(e) << k.cplx] : ((float *)m)[(e) << k.cplx])
            for (int e = lrow[i]; e < lrow[i + 1]; e++)
                for (int g = urow[lcol[e]]; g < urow[lcol[e] + 1]; g++)
                    if (ucol[g] == j) sum += AT(lval, e) * AT(uval, g);
            for (int e = row[p[i]]; e < row[p[i] + 1]; e++)
                if (col[e] == q[j]) a = AT(val, e);
            most = fmax(most, fabs(sum - a));
        }
    right = most < (k.dbl ? 1e-12 : 1e-4);
    head("csrluExtractHost", k, n, nnz, 0), printf(" %d | %d", s1, right), end();
    cusolverSpDestroyCsrluInfoHost(l), free(w), free(lcol), free(ucol), free(lval), free(uval);
    csrqrInfoHost_t o;
    cusolverSpCreateCsrqrInfoHost(&o);
    s1 = cusolverSpXcsrqrAnalysisHost(SP, n, n, nnz, D, row, col, o), s2 = SPCALL(k, csrqrBufferInfoHost, n, n, nnz, D, v, row, col, o, &inside, &bytes);
    w = malloc(bytes + 64);
    if (!k.cplx && !k.dbl) s3 = cusolverSpScsrqrSetupHost(SP, n, n, nnz, D, v, row, col, 0, o);
    else if (!k.cplx) s3 = cusolverSpDcsrqrSetupHost(SP, n, n, nnz, D, v, row, col, 0, o);
    else if (!k.dbl) s3 = cusolverSpCcsrqrSetupHost(SP, n, n, nnz, D, v, row, col, (cuComplex){0, 0}, o);
    else s3 = cusolverSpZcsrqrSetupHost(SP, n, n, nnz, D, v, row, col, (cuDoubleComplex){0, 0}, o);
    s3 |= SPCALL(k, csrqrFactorHost, n, n, nnz, 0, 0, o, w), s4 = SPCALL(k, csrqrZeroPivotHost, o, 1e-6, &at2);
    head("csrqrZeroPivotHost", k, n, nnz, 0), printf(" %d %d %d %d | %d", s1, s2, s3, s4, at2), end();
    cusolverSpDestroyCsrqrInfoHost(o), free(w);
    for (int i = 0; i < n; i++) put(k, x, (size_t)i, 1 + i % 3, 0);
    static char eigen[MOST * 16];
#define START(T) (*(T *)start)
    put(k, start, 0, 0.25, 0);
    if (!k.cplx && !k.dbl) s1 = cusolverSpScsreigvsiHost(SP, n, nnz, D, v, row, col, START(float), (void *)x, 500, 1e-5f, (void *)mu, (void *)eigen);
    else if (!k.cplx) s1 = cusolverSpDcsreigvsiHost(SP, n, nnz, D, v, row, col, START(double), (void *)x, 500, 1e-13, (void *)mu, (void *)eigen);
    else if (!k.dbl) s1 = cusolverSpCcsreigvsiHost(SP, n, nnz, D, v, row, col, START(cuComplex), (void *)x, 500, 1e-5f, (void *)mu, (void *)eigen);
    else s1 = cusolverSpZcsreigvsiHost(SP, n, nnz, D, v, row, col, START(cuDoubleComplex), (void *)x, 500, 1e-13, (void *)mu, (void *)eigen);
    head("csreigvsiHost", k, n, nnz, 0), printf(" %d |", s1), show(mu, k.dbl, 1, 0), end();
    cudaStream_t stream, back = 0;
    cudaStreamCreate(&stream);
    s1 = cusolverSpSetStream(SP, n % 2 ? stream : 0), s2 = cusolverSpGetStream(SP, &back), cusolverSpSetStream(SP, 0);
    head("SpSetStream", k, n, nnz, 0), printf(" %d %d | %d", s1, s2, back == (n % 2 ? stream : 0)), end();
    cudaStreamDestroy(stream);
}

// What handles and descriptors keep; the first row of a pair says what is there before.
static void keeps(const char *set, const char *get) {
    char name[96];
    snprintf(name, sizeof name, "cusolverDn%s", set);
    function *f = find(name);
    snprintf(name, sizeof name, "cusolverDn%s", get);
    function *g = find(name);
    cusolverDnHandle_t h;
    cusolverDnCreate(&h);
    for (int v = -3; v <= 20; v++) {
        int there[4] = {-77, -77, -77, -77}, s1 = -1, s2;
        if (!f || !g) {
            printf("%s %s %d | missing |\n", set, get, v);
            continue;
        }
        if (v > -3) s1 = f(h, v);
        s2 = g(h, there);
        printf("%s %s %d | %d %d | %d\n", set, get, v, s1, s2, there[0]);
    }
    cusolverDnDestroy(h);
}
static void kept(void) {
    keeps("SetMathMode", "GetMathMode"), keeps("SetEmulationStrategy", "GetEmulationStrategy"), keeps("SetEmulationSpecialValuesSupport", "GetEmulationSpecialValuesSupport");
    keeps("SetFixedPointEmulationMantissaControl", "GetFixedPointEmulationMantissaControl"), keeps("SetFixedPointEmulationMaxMantissaBitCount", "GetFixedPointEmulationMaxMantissaBitCount");
    keeps("SetFixedPointEmulationMantissaBitOffset", "GetFixedPointEmulationMantissaBitOffset"), keeps("SetDeterministicMode", "GetDeterministicMode");
    for (int n = 1; n <= 20; n++) {
        cusolverDnIRSParams_t p;
        cusolverDnIRSInfos_t o;
        size_t bytes = 0;
        int it = -99, outer = -99, most = -99, inner = -99, s[8];
        void *history = 0;
        cusolverDnIRSParamsCreate(&p), cusolverDnIRSInfosCreate(&o);
        cusolverDnIRSParamsSetSolverPrecisions(p, CUSOLVER_R_64F, CUSOLVER_R_64F), cusolverDnIRSParamsSetRefinementSolver(p, CUSOLVER_IRS_REFINE_NONE);
        s[0] = cusolverDnIRSParamsSetTolInner(p, 1e-6 * n), s[1] = n % 2 ? cusolverDnIRSParamsEnableFallback(p) : cusolverDnIRSParamsDisableFallback(p), s[2] = cusolverDnIRSInfosRequestResidual(o);
        void *a = matrix(F64, n, n, HEAVY, 3400 + n), *b = matrix(F64, n, 1, ANY, 3410 + n), *x = room(8 * (size_t)n);
        cusolverDnIRSXgesv_bufferSize(H, p, n, 1, &bytes);
        s[3] = cusolverDnIRSXgesv(H, p, o, n, 1, a, n, b, n, x, n, room(bytes), bytes, &it, info);
        s[4] = cusolverDnIRSInfosGetOuterNiters(o, &outer), s[5] = cusolverDnIRSInfosGetNiters(o, &inner), s[6] = cusolverDnIRSInfosGetMaxIters(o, &most), s[7] = cusolverDnIRSInfosGetResidualHistory(o, &history);
        head("IRSInfos", F64, n, 1, 0), printf(" %d %d %d %d %d %d %d %d |", s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]), show(x, 1, (size_t)n, 0), end();
        head("IRSInfosGetOuterNiters", F64, n, 1, 0), printf(" %d | %d %d", s[4], outer, inner), end();
        cusolverDnIRSInfosDestroy(o), cusolverDnIRSParamsDestroy(p);
        gesvdjInfo_t j;
        double residual = -9;
        int sweeps = -9, lw = 0, m = n + 2;
        cusolverDnCreateGesvdjInfo(&j);
        s[0] = cusolverDnXgesvdjSetTolerance(j, 1e-12), s[1] = cusolverDnXgesvdjSetMaxSweeps(j, 30), s[2] = cusolverDnXgesvdjSetSortEig(j, 1);
        void *v = room(8 * (size_t)n), *u = room(8 * (size_t)m * m), *vt = room(8 * (size_t)n * n);
        a = matrix(F64, m, n, ANY, 3420 + n);
        cusolverDnDgesvdj_bufferSize(H, CUSOLVER_EIG_MODE_VECTOR, 1, m, n, a, m, v, u, m, vt, n, &lw, j);
        s[3] = cusolverDnDgesvdj(H, CUSOLVER_EIG_MODE_VECTOR, 1, m, n, a, m, v, u, m, vt, n, room(8 * (size_t)lw + 64), lw, info, j);
        cudaDeviceSynchronize();
        s[4] = cusolverDnXgesvdjGetResidual(H, j, &residual), s[5] = cusolverDnXgesvdjGetSweeps(H, j, &sweeps);
        head("XgesvdjSetTolerance", F64, m, n, 0), printf(" %d %d %d %d %d %d | %d %d |", s[0], s[1], s[2], s[3], s[4], s[5], residual >= 0 && residual < 1e-10, sweeps >= 0), show(v, 1, (size_t)n, 0), end();
        cusolverDnDestroyGesvdjInfo(j);
    }
}

static void batches(int i) { refactors(i + 3, i % 2); }
static void others(int i) {
    static const int sizes[] = {1, 2, 3, 5, 16, 24};
    int n = sizes[i / 4];
    wide(kinds[i % 4], n, i / 4 % 2), sparse(kinds[i % 4], n + 1 < MOST ? n + 1 : MOST);
}
static void settings(int i) {
    (void)i;
    kept();
}
// Each part is so many processes, so that none suffers from what another did to the device.
int main(void) {
    static const struct part {
        void (*run)(int);
        int count;
    } parts[] = {{devices, 24}, {batches, 20}, {others, 24}, {settings, 1}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < parts[i].count; j++) {
            int state;
            fflush(stdout);
            pid_t p = fork();
            if (!p) {
                if (cusolverDnCreate(&H) || cusolverSpCreate(&SP)) exit(1);
                cusolverDnCreateParams(&P), cusparseCreateMatDescr(&D), info = room(64);
                parts[i].run(j);
                int s = cusolverSpDestroy(SP);
                printf("SpDestroy %d %d | %d |\n", i, j, s);
                exit(0);
            }
            waitpid(p, &state, 0);
            if (state) printf("part %d %d dies\n", i, j);
        }
    return 0;
}
