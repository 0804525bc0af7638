// Records cuBLAS's functions that blas_levels.c and blas_types.c have not: products of f16 and of types that their names do not say, complex ones
// in three products, lists of lists, matrix times vector of halves, rotations with types, copies between host and device, and what a handle
// keeps. With -DWIDE sizes have 64 bits; lines of functions that have no such form are the same ones. A line is:
// function, types and sizes | statuses | numbers. What a release has not is told as missing.
#include "blas_types.h"
#include <dlfcn.h>

static cublasHandle_t H;
static int ops(int op, int which) { return op == which ? CUBLAS_OP_T : CUBLAS_OP_N; }
static void line(const char *f, int a, int b, int c, int m, int n, int k, int flags) {
    printf("%s %s %s %s %d %d %d %d |", f, T[a].name, T[b].name, T[c].name, m, n, k, flags);
}
static void **lists(int t, void *base, size_t each, int count) {
    char *p[8];
    for (int i = 0; i < count; i++) p[i] = (char *)base + (size_t)i * each * (size_t)T[t].size;
    return up(p, sizeof p);
}
enum { BATCH = 3 };
static void products(const int *side, int op) {
    static const int real[][2] = {{BF16, BF16}, {BF16, F32}, {S8, F32}, {F16, F16}, {F16, F32}, {F32, F32}, {F16, S8}}, cplx[][2] = {{C8, C32}, {C32, C32}, {C64, C64}};
    int m = side[0], n = side[1], k = side[2], ta = ops(op, 1), tb = ops(op, 2), lda = ta ? k : m, ldb = tb ? n : k, s;
    size_t na = (size_t)m * k, nb = (size_t)k * n, nc = (size_t)m * n;
    void *a, *b, *c;
#define FRESH(ab, cc) a = numbers(ab, na * BATCH, m), b = numbers(ab, nb * BATCH, n), c = numbers(cc, nc * BATCH, k)
#define TELL(f, ab, cc, count) line(f, ab, ab, cc, m, n, k, 3 * ta + tb), printf(" %d |", s), list(cc, c, count)
    FRESH(F16, F16);
    s = W(cublasHgemm)(H, ta, tb, m, n, k, factor(F16, 0.5, 0), a, lda, b, ldb, factor(F16, 2, 0), c, m);
    TELL("Hgemm", F16, F16, nc);
    c = numbers(F16, nc * BATCH, k);
    s = W(cublasHgemmStridedBatched)(H, ta, tb, m, n, k, factor(F16, 0.5, 0), a, lda, (long long)na, b, ldb, (long long)nb, factor(F16, 2, 0), c, m, (long long)nc, BATCH);
    TELL("HgemmStridedBatched", F16, F16, nc * BATCH);
    c = numbers(F16, nc * BATCH, k);
    s = W(cublasHgemmBatched)(H, ta, tb, m, n, k, factor(F16, 0.5, 0), (void *)lists(F16, a, na, BATCH), lda, (void *)lists(F16, b, nb, BATCH), ldb, factor(F16, 2, 0), (void *)lists(F16, c, nc, BATCH), m, BATCH);
    TELL("HgemmBatched", F16, F16, nc * BATCH);
    for (int i = 0; i < 7; i++) {
        int t = real[i][0], u = real[i][1];
        FRESH(t, u);
        s = W(cublasSgemmEx)(H, ta, tb, m, n, k, factor(F32, 0.5, 0), a, T[t].type, lda, b, T[t].type, ldb, factor(F32, 2, 0), c, T[u].type, m);
        TELL("SgemmEx", t, u, nc);
    }
    for (int i = 0; i < 3; i++) {
        int t = cplx[i][0], u = cplx[i][1], tc = 2 * (ta > 0), uplo = op % 2;
        void *al = factor(C32, 0.5, 0.25), *be = factor(C32, 2, -1);
#define PRODUCT(f)                                                                                                                         \
    FRESH(t, u), s = W(cublas##f)(H, ta, tb, m, n, k, al, a, T[t].type, lda, b, T[t].type, ldb, be, c, T[u].type, m), TELL(#f, t, u, nc)
        PRODUCT(CgemmEx);
        PRODUCT(Cgemm3mEx);
        size_t ns = (size_t)m * m;
#define SQUARE(f, o, x, y)                                                                                                                 \
    a = numbers(t, na, m), c = numbers(u, ns, k), s = W(cublas##f)(H, uplo, o, m, k, x, a, T[t].type, lda, y, c, T[u].type, m),            \
    line(#f, t, t, u, m, m, k, 3 * o + uplo), printf(" %d |", s), list(u, c, ns)
        SQUARE(CsyrkEx, ta, al, be);
        SQUARE(Csyrk3mEx, ta, al, be);
        SQUARE(CherkEx, tc, factor(F32, 0.5, 0), factor(F32, 2, 0));
        SQUARE(Cherk3mEx, tc, factor(F32, 0.5, 0), factor(F32, 2, 0));
    }
    void *al = factor(C32, 0.5, 0.25), *be = factor(C32, 2, -1);
    FRESH(C32, C32);
    s = W(cublasCgemm3mStridedBatched)(H, ta, tb, m, n, k, al, a, lda, (long long)na, b, ldb, (long long)nb, be, c, m, (long long)nc, BATCH);
    TELL("Cgemm3mStridedBatched", C32, C32, nc * BATCH);
    c = numbers(C32, nc * BATCH, k);
    s = W(cublasCgemm3mBatched)(H, ta, tb, m, n, k, al, (void *)lists(C32, a, na, BATCH), lda, (void *)lists(C32, b, nb, BATCH), ldb, be, (void *)lists(C32, c, nc, BATCH), m, BATCH);
    TELL("Cgemm3mBatched", C32, C32, nc * BATCH);
}
// Two groups of two: the second has half the rows and the other transposes.
static void groups(const int *side, int op) {
    static const int types[][2] = {{F32, CUBLAS_COMPUTE_32F}, {F64, CUBLAS_COMPUTE_64F}, {F16, CUBLAS_COMPUTE_32F}, {BF16, CUBLAS_COMPUTE_32F}, {F32, CUBLAS_COMPUTE_32F_FAST_TF32}, {F16, CUBLAS_COMPUTE_16F}};
    int m = side[0], n = side[1], k = side[2];
    cublasOperation_t ta[] = {ops(op, 1), ops(op, 0)}, tb[] = {ops(op, 2), ops(op, 1)};
    size ms[] = {m, m / 2}, ns[] = {n, n}, ks[] = {k, k}, lda[] = {ta[0] ? k : m, ta[1] ? k : m}, ldb[] = {tb[0] ? n : k, tb[1] ? n : k}, ldc[] = {m, m}, count[] = {2, 2};
    size_t na = (size_t)m * k, nb = (size_t)k * n, nc = (size_t)m * n;
    for (int i = 0; i < 6; i++) {
        int t = types[i][0], compute = types[i][1], scale = t == F64 ? F64 : compute == CUBLAS_COMPUTE_16F ? F16 : F32, s;
        char al[16], be[16];
        for (size_t j = 0; j < 2; j++) lay(scale, al, j, 0.5, 0), lay(scale, be, j, 2, 0);
        void *a = numbers(t, na * 4, m), *b = numbers(t, nb * 4, n), *c = numbers(t, nc * 4, k);
        void *la = lists(t, a, na, 4), *lb = lists(t, b, nb, 4), *lc = lists(t, c, nc, 4);
        s = W(cublasGemmGroupedBatchedEx)(H, ta, tb, ms, ns, ks, al, la, T[t].type, lda, lb, T[t].type, ldb, be, lc, T[t].type, ldc, 2, count, compute);
        line("GemmGroupedBatchedEx", t, t, t, m, n, k, 100 * op + compute), printf(" %d |", s), list(t, c, nc * 4);
        if (i > 1) continue;
        c = numbers(t, nc * 4, k), lc = lists(t, c, nc, 4);
        s = i ? W(cublasDgemmGroupedBatched)(H, ta, tb, ms, ns, ks, (void *)al, la, lda, lb, ldb, (void *)be, lc, ldc, 2, count)
              : W(cublasSgemmGroupedBatched)(H, ta, tb, ms, ns, ks, (void *)al, la, lda, lb, ldb, (void *)be, lc, ldc, 2, count);
        line(i ? "DgemmGroupedBatched" : "SgemmGroupedBatched", t, t, t, m, n, k, op), printf(" %d |", s), list(t, c, nc * 4);
    }
}
static void halves(const int *side, int op) {
    int m = side[0], n = side[1], ta = ops(op, 1), step = 1 + op / 2, s;
    size_t na = (size_t)m * n, v = (size_t)(m > n ? m : n) * 2;
    void *al = factor(F32, 0.5, 0), *be = factor(F32, 2, 0), *a, *x, *y;
#define HALF(p, t, u)                                                                                                                      \
    a = numbers(t, na * BATCH, m), x = numbers(t, v * BATCH, n), y = numbers(u, v * BATCH, 9);                                             \
    s = W(cublas##p##gemvBatched)(H, ta, m, n, al, (void *)lists(t, a, na, BATCH), m, (void *)lists(t, x, v, BATCH), step, be, (void *)lists(u, y, v, BATCH), 1, BATCH); \
    line(#p "gemvBatched", t, t, u, m, n, step, ta), printf(" %d |", s), list(u, y, v * BATCH);                                            \
    y = numbers(u, v * BATCH, 9);                                                                                                          \
    s = W(cublas##p##gemvStridedBatched)(H, ta, m, n, al, a, m, (long long)na, x, step, (long long)v, be, y, 1, (long long)v, BATCH);      \
    line(#p "gemvStridedBatched", t, t, u, m, n, step, ta), printf(" %d |", s), list(u, y, v * BATCH)
    HALF(HSH, F16, F16);
    HALF(HSS, F16, F32);
    HALF(TST, BF16, BF16);
    HALF(TSS, BF16, F32);
}
static void rotations(int n) {
    static const int types[][3] = {{F32, F32, F32}, {F64, F64, F64}, {C32, F32, C32}, {C64, F64, C64}, {F16, F16, F32}, {BF16, BF16, F32}}; // of x, of c, how
    static const double flags[] = {-1, 0, 1, -2};
    int s;
    for (int i = 0; i < 6; i++) {
        int t = types[i][0], c = types[i][1], e = types[i][2];
        void *a = factor(t, 3 + n, 0), *b = factor(t, 4 + n % 5, 0), *co = factor(F64, 0, 0), *si = factor(C64, 0, 0);
        s = cublasRotgEx(H, a, b, T[t].type, co, si, T[t].type, T[e].type);
        line("RotgEx", t, c, e, n, 0, 0, 0), printf(" %d |", s), list(s ? S8 : t, s ? factor(S8, 0, 0) : a, 1);
        if (T[t].cplx) continue;
        char param[40] = {0};
        lay(t, param, 0, flags[n % 4], 0);
        for (size_t j = 1; j < 5; j++) lay(t, param, j, (double)((int)(j + (size_t)n) % 4 - 1) / 2, 0);
        void *x = numbers(t, (size_t)n, 3 + n), *y = numbers(t, (size_t)n, 4 + n);
        s = W(cublasRotmEx)(H, n, x, T[t].type, 1, y, T[t].type, 1, param, T[t].type, T[e].type);
        line("RotmEx", t, c, e, n, 0, 0, 0), printf(" %d |", s), list(t, n % 2 ? x : y, (size_t)n);
        void *d1 = factor(t, 1 + n, 0), *d2 = factor(t, 2 + n % 3, 0), *x1 = factor(t, 2 + n % 2, 0), *y1 = factor(t, 1 + n % 4, 0);
        memset(param, 0, sizeof param);
        s = cublasRotmgEx(H, d1, T[t].type, d2, T[t].type, x1, T[t].type, y1, T[t].type, param, T[t].type, T[e].type);
        line("RotmgEx", t, c, e, n, 0, 0, 0), printf(" %d |", s), list(t, param, 5);
    }
}
// digest of what lies in memory, so that all of it counts.
static void digest(const char *f, int s, const void *p, size_t bytes, int size_of, int n, int i, int j) {
    unsigned char *h = malloc(bytes);
    unsigned long long sum = 14695981039346656037ull;
    cudaDeviceSynchronize(), cudaMemcpy(h, p, bytes, cudaMemcpyDefault);
    for (size_t at = 0; at < bytes; at++) sum = (sum ^ h[at]) * 1099511628211ull;
    printf("%s %d %d %d %d | %d | %llx\n", f, size_of, n, i, j, s, sum & 0xfffffffffff), fflush(stdout);
    free(h);
}
static void copies(int bytes, int n, int i, int j) {
    enum { ROOM = 8192 };
    static unsigned char host[ROOM], back[ROOM];
    state = (unsigned long long)n;
    for (int at = 0; at < ROOM; at++) host[at] = (unsigned char)(int)(next() * 128);
    void *d;
    int s;
#define THERE(f, ...) d = room(ROOM), s = W(f)(__VA_ARGS__), digest(#f + 6, s, d, ROOM, bytes, n, i, j)
#define BACK(f, ...) memset(back, 0, ROOM), s = W(f)(__VA_ARGS__), digest(#f + 6, s, back, ROOM, bytes, n, i, j)
    THERE(cublasSetVector, n, bytes, host, i, d, j);
    THERE(cublasSetVectorAsync, n, bytes, host, j, d, i, 0);
    BACK(cublasGetVector, n, bytes, d, i, back, j);
    BACK(cublasGetVectorAsync, n, bytes, d, j, back, i, 0);
    THERE(cublasSetMatrix, n, 5, bytes, host, n + i - 1, d, n + j - 1);
    THERE(cublasSetMatrixAsync, n, 4, bytes, host, n + j - 1, d, n + i - 1, 0);
    BACK(cublasGetMatrix, n, 3, bytes, d, n + i - 1, back, n + j);
    BACK(cublasGetMatrixAsync, n, 3, bytes, d, n + j, back, n + i - 1, 0);
}
// What a handle keeps: a value after the other, what setting it says, and what is there then. Releases differ in which functions they have.
static void keeps(const char *set, const char *get) {
    char name[2][96];
    int (*f[2])(void *, long);
    int (*g)(void *, void *);
    snprintf(name[0], sizeof name[0], "cublas%s", set), snprintf(name[1], sizeof name[1], "cublas%s", get);
    f[0] = (int (*)(void *, long))dlsym(RTLD_DEFAULT, name[0]), g = (int (*)(void *, void *))dlsym(RTLD_DEFAULT, name[1]);
    cublasHandle_t h;
    cublasCreate(&h);
    for (int v = -3; v <= 22; v++) {
        int there[4] = {-77, -77, -77, -77}, s1 = -1, s2 = -1;
        if (!f[0] || !g) {
            printf("%s %s %d | missing |\n", set, get, v);
            continue;
        }
        if (v > -3) s1 = f[0](h, v); // the first row says what is there before
        s2 = g(h, there);
        printf("%s %s %d | %d %d | %d\n", set, get, v, s1, s2, there[0]);
    }
    cublasDestroy(h);
}
static void handles(void) {
    keeps("SetPointerMode_v2", "GetPointerMode_v2"), keeps("SetAtomicsMode", "GetAtomicsMode"), keeps("SetMathMode", "GetMathMode");
    keeps("SetSmCountTarget", "GetSmCountTarget"), keeps("SetEnvironmentMode", "GetEnvironmentMode"), keeps("SetEmulationStrategy", "GetEmulationStrategy");
    keeps("SetEmulationSpecialValuesSupport", "GetEmulationSpecialValuesSupport");
    keeps("SetFixedPointEmulationMantissaControl", "GetFixedPointEmulationMantissaControl");
    keeps("SetFixedPointEmulationMaxMantissaBitCount", "GetFixedPointEmulationMaxMantissaBitCount");
    keeps("SetFixedPointEmulationMantissaBitOffset", "GetFixedPointEmulationMantissaBitOffset");
    cudaStream_t stream, back;
    cudaStreamCreate(&stream);
    for (int i = 0; i < 20; i++) {
        cublasHandle_t h;
        void *space = room(1 << 20);
        int s[6], version = 0;
        s[0] = cublasCreate(&h), s[1] = cublasSetStream(h, i % 2 ? stream : 0), s[2] = cublasGetStream(h, &back);
        s[3] = cublasSetWorkspace(h, (char *)space + (i % 3 == 2 ? 8 : 0), (size_t)i << 14), s[4] = cublasGetVersion(h, &version);
        printf("Create %d | %d %d %d %d %d |", i, s[0], s[1], s[2], s[3], s[4]);
        printf(" %d %d %d\n", back == (i % 2 ? stream : 0), version >= 130000 && version < 140000, cublasDestroy(h));
        int value = -5, status = cublasGetProperty(i - 1, &value);
        printf("GetProperty %d | %d | %d\n", i - 1, status, i == 1 || status ? value : 0);
        printf("GetStatusName %d | 0 | %s %d\n", i, cublasGetStatusName(i), cublasGetStatusString(i) != 0);
        printf("LoggerConfigure %d | %d |\n", i, cublasLoggerConfigure(i % 2, i / 2 % 2, i / 4 % 2, 0));
        cublasLogCallback called = (cublasLogCallback)&called;
        int set = cublasSetLoggerCallback(0), got = cublasGetLoggerCallback(&called);
        printf("SetLoggerCallback %d | %d %d | %d\n", i, set, got, called == 0);
    }
    cublasLoggerConfigure(0, 0, 0, 0);
}

int main(void) {
    // Sides are multiples of 4, which numbers of 8 bits must have.
    static const int sizes[][3] = {{4, 4, 4}, {8, 4, 12}, {16, 16, 16}, {32, 20, 40}, {64, 48, 64}, {100, 4, 128}, {4, 60, 32}};
    if (cublasCreate(&H)) return 1;
    for (int i = 0; i < 7; i++)
        for (int op = 0; op < 3; op++) products(sizes[i], op), groups(sizes[i], op), halves(sizes[i], op);
    for (int n = 1; n <= 20; n++) rotations(n);
    for (int n = 1; n <= 20; n++) copies(1 << n % 5, n, 1 + n % 3, 1 + n / 3 % 2);
    handles();
    return 0;
}
