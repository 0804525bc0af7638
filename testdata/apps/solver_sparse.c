// Records results of cuSOLVER's sparse functions, each with four types and many sizes. A line is: function, type and sizes | statuses |
// numbers. Matrices are positive definite, so that solutions do not depend on an order.
#include "solver_record.h"
#include <cusolverSp.h>
#include <cusolverSp_LOWLEVEL_PREVIEW.h>
#include <cusparse.h>

static cusolverSpHandle_t H;
static cusparseMatDescr_t D;
enum { MOST = 48 };
static int n, nnz, row[MOST + 1], col[MOST * MOST], *drow, *dcol;
static void *val, *dval, *rhs, *drhs, *x, *dx;
// A band and some numbers beside it, Hermitian, with a large diagonal.
static void sparse(kind k, int size, int seed) {
    static double re[MOST][MOST], im[MOST][MOST];
    memset(re, 0, sizeof re), memset(im, 0, sizeof im);
    n = size, state = (unsigned long long)seed;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double a = next(), b = next(), c = next();
            if (i - j > 2 && c < 0.8) continue;
            re[i][j] = re[j][i] = i == j ? a + 2 * n : a, im[i][j] = i == j || !k.cplx ? 0 : b, im[j][i] = -im[i][j];
        }
    val = calloc((size_t)n * n, size_of(k)), rhs = calloc((size_t)n * 3, size_of(k)), x = calloc((size_t)n * 3, size_of(k)), nnz = 0;
    for (int i = 0; i < n; i++) {
        row[i] = nnz;
        for (int j = 0; j < n; j++)
            if (re[i][j] != 0) col[nnz] = j, put(k, val, (size_t)nnz++, re[i][j], im[i][j]);
    }
    row[n] = nnz;
    for (int i = 0; i < 3 * n; i++) put(k, rhs, (size_t)i, next(), k.cplx ? next() : 0);
    drow = up(row, 4 * (size_t)(n + 1)), dcol = up(col, 4 * (size_t)nnz), dval = up(val, nnz * size_of(k)), drhs = up(rhs, 3 * (size_t)n * size_of(k)), dx = up(0, 3 * (size_t)n * size_of(k));
}
#define CALL(k, f, ...)                                                                                                                    \
    (!(k).cplx ? (k).dbl ? cusolverSpD##f(H, __VA_ARGS__) : cusolverSpS##f(H, __VA_ARGS__)                                                 \
               : (k).dbl ? cusolverSpZ##f(H, __VA_ARGS__) : cusolverSpC##f(H, __VA_ARGS__))
#define SOLVE(f, v, r, c, b, to, device)                                                                                                   \
    {                                                                                                                                      \
        int singular = -7, s = CALL(k, f, n, nnz, D, v, r, c, b, 1e-6, order, to, &singular);                                              \
        head(#f, k, n, nnz, order), printf(" %d %d |", s, singular), show(to, k.dbl, ((size_t)n) << k.cplx, 0), end();                                               \
    }
static void solvers(kind k, int order) {
    SOLVE(csrlsvqr, dval, drow, dcol, drhs, dx, 1)
    SOLVE(csrlsvchol, dval, drow, dcol, drhs, dx, 1)
    SOLVE(csrlsvqrHost, val, row, col, rhs, x, 0)
    SOLVE(csrlsvcholHost, val, row, col, rhs, x, 0)
    SOLVE(csrlsvluHost, val, row, col, rhs, x, 0)
    int rank = -7, p[MOST];
    double norm[2] = {0, 0};
    int s = CALL(k, csrlsqvqrHost, n, n, nnz, D, val, row, col, rhs, 1e-6, &rank, x, p, (void *)norm);
    head("csrlsqvqrHost", k, n, nnz, 0), printf(" %d %d |", s, rank), show(x, k.dbl, ((size_t)n) << k.cplx, 0), end();
}
static void values(kind k) {
    char start[MOST * 16], mu[16], *dmu = up(0, 16), *dstart;
    for (int i = 0; i < n; i++) put(k, start, (size_t)i, 1, 0);
    dstart = up(start, (size_t)n * size_of(k));
    int s, count = -7, sym = -7;
#define START(T, v) (*(T *)memset(mu, 0, 16), put(k, mu, 0, v, 0), *(T *)mu)
    double at = 0.25; // below all of them: the smallest is found
    if (!k.cplx && !k.dbl) s = cusolverSpScsreigvsi(H, n, nnz, D, dval, drow, dcol, START(float, at), (void *)dstart, 500, 1e-5f, (void *)dmu, dx);
    else if (!k.cplx) s = cusolverSpDcsreigvsi(H, n, nnz, D, dval, drow, dcol, START(double, at), (void *)dstart, 500, 1e-13, (void *)dmu, dx);
    else if (!k.dbl) s = cusolverSpCcsreigvsi(H, n, nnz, D, dval, drow, dcol, START(cuComplex, at), (void *)dstart, 500, 1e-5f, (void *)dmu, dx);
    else s = cusolverSpZcsreigvsi(H, n, nnz, D, dval, drow, dcol, START(cuDoubleComplex, at), (void *)dstart, 500, 1e-13, (void *)dmu, dx);
    head("csreigvsi", k, n, nnz, 0), printf(" %d |", s), show(dmu, k.dbl, 1, 0), end();
    if (!k.dbl) {
        cuComplex lo = {0, -1}, hi = {2.0f * n, 1};
        s = k.cplx ? cusolverSpCcsreigsHost(H, n, nnz, D, val, row, col, lo, hi, &count) : cusolverSpScsreigsHost(H, n, nnz, D, val, row, col, lo, hi, &count);
    } else {
        cuDoubleComplex lo = {0, -1}, hi = {2.0 * n, 1};
        s = k.cplx ? cusolverSpZcsreigsHost(H, n, nnz, D, val, row, col, lo, hi, &count) : cusolverSpDcsreigsHost(H, n, nnz, D, val, row, col, lo, hi, &count);
    }
    head("csreigsHost", k, n, nnz, 0), printf(" %d | %d\n", s, count);
    s = cusolverSpXcsrissymHost(H, n, nnz, D, row, row + 1, col, &sym);
    head("csrissymHost", k, n, nnz, 0), printf(" %d | %d\n", s, sym);
    int p[MOST], found = -7;
    s = CALL(k, csrzfdHost, n, nnz, D, val, row, col, p, &found);
    head("csrzfdHost", k, n, nnz, 0), printf(" %d | %d\n", s, found);
}
static void batch(kind k) {
    csrqrInfo_t info;
    size_t inside = 0, bytes = 0;
    char *three = calloc((size_t)nnz * 3, size_of(k));
    for (int i = 0; i < 3; i++) memcpy(three + (size_t)i * nnz * size_of(k), val, nnz * size_of(k));
    for (int i = 0; i < 3; i++) put(k, three + (size_t)i * nnz * size_of(k), 0, 3 * n + i, 0); // the first number of each differs
    void *d = up(three, (size_t)nnz * 3 * size_of(k));
    cusolverSpCreateCsrqrInfo(&info);
    int s1 = cusolverSpXcsrqrAnalysisBatched(H, n, n, nnz, D, drow, dcol, info);
    int s2 = CALL(k, csrqrBufferInfoBatched, n, n, nnz, D, d, drow, dcol, 3, info, &inside, &bytes);
    int s3 = CALL(k, csrqrsvBatched, n, n, nnz, D, d, drow, dcol, drhs, dx, 3, info, up(0, bytes));
    head("csrqrsvBatched", k, n, nnz, 3), printf(" %d %d %d |", s1, s2, s3), show(dx, k.dbl, ((size_t)n * 3) << k.cplx, 0), end();
    cusolverSpDestroyCsrqrInfo(info);
}
// The interface in steps.
static void steps(kind k) {
    size_t inside = 0, bytes = 0;
    int s, t, u, v, at = -7;
    csrcholInfo_t c;
    cusolverSpCreateCsrcholInfo(&c);
    s = cusolverSpXcsrcholAnalysis(H, n, nnz, D, drow, dcol, c), t = CALL(k, csrcholBufferInfo, n, nnz, D, dval, drow, dcol, c, &inside, &bytes);
    void *w = up(0, bytes);
    u = CALL(k, csrcholFactor, n, nnz, D, dval, drow, dcol, c, w), CALL(k, csrcholZeroPivot, c, 1e-6, &at), v = CALL(k, csrcholSolve, n, drhs, dx, c, w);
    head("csrcholSolve", k, n, nnz, at), printf(" %d %d %d %d |", s, t, u, v), show(dx, k.dbl, ((size_t)n) << k.cplx, 0), end();
    cusolverSpDestroyCsrcholInfo(c);
    csrcholInfoHost_t ch;
    cusolverSpCreateCsrcholInfoHost(&ch);
    s = cusolverSpXcsrcholAnalysisHost(H, n, nnz, D, row, col, ch), t = CALL(k, csrcholBufferInfoHost, n, nnz, D, val, row, col, ch, &inside, &bytes);
    w = malloc(bytes + 64);
    u = CALL(k, csrcholFactorHost, n, nnz, D, val, row, col, ch, w), v = CALL(k, csrcholSolveHost, n, rhs, x, ch, w);
    head("csrcholSolveHost", k, n, nnz, 0), printf(" %d %d %d %d |", s, t, u, v), show(x, k.dbl, ((size_t)n) << k.cplx, 0), end();
    cusolverSpDestroyCsrcholInfoHost(ch);
    csrluInfoHost_t l;
    cusolverSpCreateCsrluInfoHost(&l);
    s = cusolverSpXcsrluAnalysisHost(H, n, nnz, D, row, col, l), t = CALL(k, csrluBufferInfoHost, n, nnz, D, val, row, col, l, &inside, &bytes);
    w = malloc(bytes + 64);
    u = CALL(k, csrluFactorHost, n, nnz, D, val, row, col, l, 1.0, w), v = CALL(k, csrluSolveHost, n, rhs, x, l, w);
    head("csrluSolveHost", k, n, nnz, 0), printf(" %d %d %d %d |", s, t, u, v), show(x, k.dbl, ((size_t)n) << k.cplx, 0), end();
    cusolverSpDestroyCsrluInfoHost(l);
}

int main(void) {
    static const int sizes[] = {3, 5, 8, 16, 31, 48};
    if (cusolverSpCreate(&H)) return 1;
    cusparseCreateMatDescr(&D);
    for (int i = 0; i < 6; i++)
        for (int q = 0; q < 4; q++) sparse(kinds[q], sizes[i], 40 + i), solvers(kinds[q], i % 3), values(kinds[q]), batch(kinds[q]), steps(kinds[q]);
    return 0;
}
