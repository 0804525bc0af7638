// Records products of every combination of types: cublasGemmEx and its batches, the level 1 functions with types of their own, and cublasLtMatmul
// with epilogues. With -DWIDE the functions of cuBLAS are those whose sizes have 64 bits; the lines are the same.
// A line is: function, types, combination and sizes | statuses | numbers.
#include "blas_types.h"

static cublasHandle_t H;
static cublasLtHandle_t LT;

// Combinations: of A and B, of C, how it is computed, and the type of alpha and beta.
static const struct combination {
    int a, b, c, compute, scale;
} ex[] = {
    {F16, F16, F16, CUBLAS_COMPUTE_16F, F16},           {F16, F16, F16, CUBLAS_COMPUTE_16F_PEDANTIC, F16},
    {S8, S8, S32, CUBLAS_COMPUTE_32I, S32},             {S8, S8, S32, CUBLAS_COMPUTE_32I_PEDANTIC, S32},
    {F16, F16, F16, CUBLAS_COMPUTE_32F, F32},           {F16, F16, F32, CUBLAS_COMPUTE_32F, F32},
    {BF16, BF16, BF16, CUBLAS_COMPUTE_32F, F32},        {BF16, BF16, F32, CUBLAS_COMPUTE_32F, F32},
    {S8, S8, F32, CUBLAS_COMPUTE_32F, F32},             {F32, F32, F32, CUBLAS_COMPUTE_32F, F32},
    {C8, C8, C32, CUBLAS_COMPUTE_32F, C32},             {C32, C32, C32, CUBLAS_COMPUTE_32F, C32},
    {F16, F16, F16, CUBLAS_COMPUTE_32F_PEDANTIC, F32},  {BF16, BF16, BF16, CUBLAS_COMPUTE_32F_PEDANTIC, F32},
    {F32, F32, F32, CUBLAS_COMPUTE_32F_PEDANTIC, F32},  {C32, C32, C32, CUBLAS_COMPUTE_32F_PEDANTIC, C32},
    {F32, F32, F32, CUBLAS_COMPUTE_32F_FAST_16F, F32},  {C32, C32, C32, CUBLAS_COMPUTE_32F_FAST_16F, C32},
    {F32, F32, F32, CUBLAS_COMPUTE_32F_FAST_16BF, F32}, {C32, C32, C32, CUBLAS_COMPUTE_32F_FAST_16BF, C32},
    {F32, F32, F32, CUBLAS_COMPUTE_32F_FAST_TF32, F32}, {C32, C32, C32, CUBLAS_COMPUTE_32F_FAST_TF32, C32},
    {F64, F64, F64, CUBLAS_COMPUTE_64F, F64},           {C64, C64, C64, CUBLAS_COMPUTE_64F, C64},
    {F64, F64, F64, CUBLAS_COMPUTE_64F_PEDANTIC, F64},  {C64, C64, C64, CUBLAS_COMPUTE_64F_PEDANTIC, C64},
    {F16, F16, F64, CUBLAS_COMPUTE_32F, F32},           {F16, BF16, F32, CUBLAS_COMPUTE_32F, F32}, // what there is not
    {F32, F32, F16, CUBLAS_COMPUTE_32F, F32},           {F64, F64, F64, CUBLAS_COMPUTE_32F, F32},
    {S8, S8, S8, CUBLAS_COMPUTE_32I, S32},              {F16, F16, F32, CUBLAS_COMPUTE_16F, F16},
};
// Sides are multiples of 4, which numbers of 8 bits must have.
static const int sizes[][3] = {{4, 4, 4}, {8, 4, 12}, {16, 16, 16}, {32, 20, 40}, {64, 48, 64}, {100, 4, 128}, {4, 60, 32}};
static void line(const char *f, const struct combination *x, int compute, int m, int n, int k, int flags) {
    printf("%s %s %s %s %d %d %d %d %d |", f, T[x->a].name, T[x->b].name, T[x->c].name, compute, m, n, k, flags);
}
static void gemm(const struct combination *x, const int *side, int ta, int tb) {
    int m = side[0], n = side[1], k = side[2], lda = ta ? k : m, ldb = tb ? n : k, s;
    int whole_factors = x->scale == S32;
    void *al = factor(x->scale, whole_factors ? 1 : 0.5, 0), *be = factor(x->scale, whole_factors ? 1 : 2, 0);
    void *a = numbers(x->a, (size_t)m * k * 3, m), *b = numbers(x->b, (size_t)k * n * 3, n), *c = numbers(x->c, (size_t)m * n * 3, k);
    s = W(cublasGemmEx)(H, ta, tb, m, n, k, al, a, T[x->a].type, lda, b, T[x->b].type, ldb, be, c, T[x->c].type, m, x->compute, CUBLAS_GEMM_DEFAULT);
    line("GemmEx", x, x->compute, m, n, k, 3 * ta + tb), printf(" %d |", s), list(x->c, c, (size_t)m * n);
    c = numbers(x->c, (size_t)m * n * 3, k);
    s = W(cublasGemmStridedBatchedEx)(H, ta, tb, m, n, k, al, a, T[x->a].type, lda, (long long)m * k, b, T[x->b].type, ldb, (long long)k * n, be, c, T[x->c].type, m, (long long)m * n, 3, x->compute, CUBLAS_GEMM_DEFAULT);
    line("GemmStridedBatchedEx", x, x->compute, m, n, k, 3 * ta + tb), printf(" %d |", s), list(x->c, c, (size_t)m * n * 3);
    c = numbers(x->c, (size_t)m * n * 3, k);
    char *pa[3], *pb[3], *pc[3];
    for (int i = 0; i < 3; i++) pa[i] = (char *)a + (size_t)i * m * k * T[x->a].size, pb[i] = (char *)b + (size_t)i * k * n * T[x->b].size, pc[i] = (char *)c + (size_t)i * m * n * T[x->c].size;
    s = W(cublasGemmBatchedEx)(H, ta, tb, m, n, k, al, up(pa, sizeof pa), T[x->a].type, lda, up(pb, sizeof pb), T[x->b].type, ldb, be, up(pc, sizeof pc), T[x->c].type, m, 3, x->compute, CUBLAS_GEMM_DEFAULT);
    line("GemmBatchedEx", x, x->compute, m, n, k, 3 * ta + tb), printf(" %d |", s), list(x->c, c, (size_t)m * n * 3);
}
// Level 1 with types of their own: of alpha, of x, of y or the result, and how it is computed.
static void vectors(int n) {
    static const int rows[][4] = {{F32, F16, F16, F32}, {F32, BF16, BF16, F32}, {F32, F32, F32, F32}, {F64, F64, F64, F64}, {C32, C32, C32, C32}, {C64, C64, C64, C64}};
    for (int r = 0; r < 6; r++)
        for (int i = 1; i <= 2; i++) {
            int ta = rows[r][0], tx = rows[r][1], ty = rows[r][2], te = rows[r][3], s;
            int real = T[tx].cplx ? (tx == C32 ? F32 : F64) : tx;
            struct combination x = {ta, tx, ty, 0, 0};
            void *v = numbers(tx, (size_t)n * i, 3 + n), *w = numbers(ty, (size_t)n * i, 5 + n), *res = factor(F64, 0, 0);
            s = W(cublasAxpyEx)(H, n, factor(ta, 0.5, 0.25), T[ta].type, v, T[tx].type, i, w, T[ty].type, i, T[te].type);
            line("AxpyEx", &x, te, n, i, 0, 0), printf(" %d |", s), list(ty, w, (size_t)n * i);
            s = W(cublasScalEx)(H, n, factor(ta, 0.5, 0.25), T[ta].type, w, T[ty].type, i, T[te].type);
            line("ScalEx", &x, te, n, i, 0, 0), printf(" %d |", s), list(ty, w, (size_t)n * i);
            w = numbers(ty, (size_t)n * i, 7 + n);
            s = W(cublasDotEx)(H, n, v, T[tx].type, i, w, T[ty].type, i, res, T[tx].type, T[te].type);
            line("DotEx", &x, te, n, i, 0, 0), printf(" %d |", s), list(tx, res, 1);
            s = W(cublasDotcEx)(H, n, v, T[tx].type, i, w, T[ty].type, i, res, T[tx].type, T[te].type);
            line("DotcEx", &x, te, n, i, 0, 0), printf(" %d |", s), list(tx, res, 1);
            s = W(cublasNrm2Ex)(H, n, v, T[tx].type, i, res, T[real].type, T[te == C32 ? F32 : te == C64 ? F64 : te].type);
            line("Nrm2Ex", &x, te, n, i, 0, 0), printf(" %d |", s), list(real, res, 1);
            s = W(cublasAsumEx)(H, n, v, T[tx].type, i, res, T[real].type, T[te == C32 ? F32 : te == C64 ? F64 : te].type);
            line("AsumEx", &x, te, n, i, 0, 0), printf(" %d |", s), list(real, res, 1);
            size at = -9;
            s = W(cublasIamaxEx)(H, n, v, T[tx].type, i, &at);
            line("IamaxEx", &x, te, n, i, 0, 0), printf(" %d | %d\n", s, (int)at);
            s = W(cublasIaminEx)(H, n, v, T[tx].type, i, &at);
            line("IaminEx", &x, te, n, i, 0, 0), printf(" %d | %d\n", s, (int)at);
            s = W(cublasSwapEx)(H, n, v, T[tx].type, i, w, T[ty].type, i);
            line("SwapEx", &x, te, n, i, 0, 0), printf(" %d |", s), list(ty, w, (size_t)n * i);
            s = W(cublasCopyEx)(H, n, v, T[tx].type, i, w, T[ty].type, i);
            line("CopyEx", &x, te, n, i, 0, 0), printf(" %d |", s), list(ty, w, (size_t)n * i);
            int tc = T[tx].cplx ? real : tx;
            v = numbers(tx, (size_t)n * i, 9 + n), w = numbers(ty, (size_t)n * i, 11 + n);
            s = W(cublasRotEx)(H, n, v, T[tx].type, i, w, T[ty].type, i, factor(tc, 0.5, 0), factor(tc, 0.25, 0), T[tc].type, T[te].type);
            line("RotEx", &x, te, n, i, 0, 0), printf(" %d |", s), list(ty, w, (size_t)n * i);
        }
}
// cublasLtMatmul: the combinations above, and those of its own; epilogues with a bias.
static const struct combination lt[] = {
    {S8, S8, S8, CUBLAS_COMPUTE_32I, F32},       {S8, S8, S32, CUBLAS_COMPUTE_32I, S32},
    {E4M3, E4M3, BF16, CUBLAS_COMPUTE_32F, F32}, {E4M3, E4M3, F16, CUBLAS_COMPUTE_32F, F32},  {E4M3, E4M3, F32, CUBLAS_COMPUTE_32F, F32},
    {E4M3, E5M2, BF16, CUBLAS_COMPUTE_32F, F32}, {E5M2, E4M3, F32, CUBLAS_COMPUTE_32F, F32},  {E4M3, E5M2, F16, CUBLAS_COMPUTE_32F, F32},
    {F16, F16, F16, CUBLAS_COMPUTE_16F, F16},    {F16, F16, F16, CUBLAS_COMPUTE_32F, F32},    {F16, F16, F32, CUBLAS_COMPUTE_32F, F32},
    {BF16, BF16, BF16, CUBLAS_COMPUTE_32F, F32}, {BF16, BF16, F32, CUBLAS_COMPUTE_32F, F32},  {F32, F32, F32, CUBLAS_COMPUTE_32F, F32},
    {F32, F32, F32, CUBLAS_COMPUTE_32F_FAST_TF32, F32}, {F32, F32, F32, CUBLAS_COMPUTE_32F_FAST_16BF, F32}, {F64, F64, F64, CUBLAS_COMPUTE_64F, F64},
    {C32, C32, C32, CUBLAS_COMPUTE_32F, C32},    {C64, C64, C64, CUBLAS_COMPUTE_64F, C64},
};
static void matmul(const struct combination *x, int m, int n, int k, int ta, int tb, int epilogue) {
    cublasLtMatmulDesc_t d;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulPreference_t pref;
    cublasLtMatmulHeuristicResult_t best;
    size_t bytes = 8 << 20;
    int found = 0, s1, s2 = -1, lda = ta ? k : m, ldb = tb ? n : k;
    memset(&best, 0, sizeof best);
    void *a = numbers(x->a, (size_t)m * k, m), *b = numbers(x->b, (size_t)k * n, n + 1), *c = numbers(x->c, (size_t)m * n, k + 2), *bias = numbers(x->c, (size_t)m, 77);
    cublasLtMatmulDescCreate(&d, x->compute, T[x->scale].type);
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &ta, 4), cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSB, &tb, 4);
    cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4);
    if (epilogue & CUBLASLT_EPILOGUE_BIAS) cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, 8);
    cublasLtMatrixLayoutCreate(&la, T[x->a].type, ta ? k : m, ta ? m : k, lda), cublasLtMatrixLayoutCreate(&lb, T[x->b].type, tb ? n : k, tb ? k : n, ldb);
    cublasLtMatrixLayoutCreate(&lc, T[x->c].type, m, n, m);
    cublasLtMatmulPreferenceCreate(&pref), cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, 8);
    s1 = cublasLtMatmulAlgoGetHeuristic(LT, d, la, lb, lc, lc, pref, 1, &best, &found);
    int integer = x->scale == S32;
    void *al = factor(x->scale, integer ? 1 : 0.25, 0), *be = factor(x->scale, x->c == S8 ? 0 : integer ? 1 : 2, 0);
    if (!s1 && found) s2 = cublasLtMatmul(LT, d, al, a, la, b, lb, be, c, lc, c, lc, &best.algo, room(bytes), bytes, 0);
    line(epilogue == 1 ? "LtMatmul" : epilogue & 32 ? "LtMatmul.gelu" : "LtMatmul.epilogue", x, x->compute, m, n, k, 100 * epilogue + 3 * ta + tb), printf(" %d %d %d |", s1, found, s2), list(x->c, c, (size_t)m * n);
    cublasLtMatmulPreferenceDestroy(pref), cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(lc), cublasLtMatmulDescDestroy(d);
}

int main(void) {
    if (cublasCreate(&H) || cublasLtCreate(&LT)) return 1;
    for (size_t i = 0; i < sizeof ex / sizeof *ex; i++)
        for (int j = 0; j < 7; j++)
            for (int op = 0; op < 3; op++) gemm(&ex[i], sizes[j], op == 1, op == 2);
    for (int n = 1; n <= 19; n += 2) vectors(n);
    for (size_t i = 0; i < sizeof lt / sizeof *lt; i++)
        for (int j = 1; j <= 7; j++)
            for (int op = 0; op < 3; op++) {
                int turned = i < 8 || op == 1; // of 8 bits: A transposed only
                matmul(&lt[i], 16 * j, 16 * (1 + op), 32 * (1 + (j + op) % 4), turned, !turned && op == 2, CUBLASLT_EPILOGUE_DEFAULT);
            }
    static const int epilogues[] = {CUBLASLT_EPILOGUE_RELU, CUBLASLT_EPILOGUE_BIAS, CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU, CUBLASLT_EPILOGUE_GELU_BIAS};
    for (int e = 0; e < 5; e++)
        for (size_t i = 9; i < 14; i++)
            for (int j = 1; j <= 10; j++) matmul(&lt[i], 16 * j, 32, 64, j % 2, 0, epilogues[e]);
    return 0;
}
