// Records cuSPARSELt: pruning, and products of a 2:4 matrix. A line is what was called | statuses | numbers of the result. Factors are
// small integers, so that every sum is exact but for what D's type holds.
#include <cuda_runtime_api.h>
#include <cusparseLt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static unsigned bits(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 44);
}
static int failed;
static int st(int s) {
    printf(" %d", s);
    failed |= s != 0;
    return s == 0;
}

enum { F32, F16, BF16, S8, S32, E4M3, E5M2 };
static const char *const names[] = {"f32", "f16", "bf16", "s8", "s32", "e4m3", "e5m2"};
static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_16F, CUDA_R_16BF, CUDA_R_8I, CUDA_R_32I, CUDA_R_8F_E4M3, CUDA_R_8F_E5M2};
static const int sizes[] = {4, 2, 2, 1, 4, 1, 1};
static const struct {
    int exponent, mantissa, bias;
} forms[] = {{8, 23, 127}, {5, 10, 15}, {8, 7, 127}, {0}, {0}, {4, 3, 7}, {5, 2, 15}};

static double decode(int t, const void *at, long i) {
    if (t == S8) return ((const int8_t *)at)[i];
    if (t == S32) return ((const int32_t *)at)[i];
    uint32_t v = sizes[t] == 4 ? ((const uint32_t *)at)[i] : sizes[t] == 2 ? ((const uint16_t *)at)[i] : ((const uint8_t *)at)[i];
    int m = forms[t].mantissa, e = (int)(v >> m) & ((1 << forms[t].exponent) - 1), top = (1 << forms[t].exponent) - 1;
    double part = v & ((1u << m) - 1), sign = v >> (m + forms[t].exponent) & 1 ? -1 : 1;
    if (e == top && t != E4M3) return part != 0 ? NAN : sign * INFINITY;
    if (t == E4M3 && e == top && part == 7) return NAN;
    return sign * (e ? ldexp(1 + ldexp(part, -m), e - forms[t].bias) : ldexp(part, 1 - forms[t].bias - m));
}
// encode takes numbers that the type holds.
static void encode(int t, void *at, long i, double v) {
    if (t == S8) ((int8_t *)at)[i] = (int8_t)v;
    else if (t == S32) ((int32_t *)at)[i] = (int32_t)v;
    else {
        int e = 0, m = forms[t].mantissa;
        double f = frexp(fabs(v), &e);
        uint32_t code = v == 0 ? 0 : (uint32_t)(e - 1 + forms[t].bias) << m | (uint32_t)ldexp(2 * f - 1, m);
        code |= (uint32_t)(v < 0) << (m + forms[t].exponent);
        if (sizes[t] == 4) ((uint32_t *)at)[i] = code;
        else if (sizes[t] == 2) ((uint16_t *)at)[i] = (uint16_t)code;
        else ((uint8_t *)at)[i] = (uint8_t)code;
    }
}
static void show(int t, const void *device, long n) {
    void *h = malloc((size_t)(n * sizes[t]));
    cudaMemcpy(h, device, (size_t)(n * sizes[t]), cudaMemcpyDeviceToHost);
    long zeros = 0;
    for (long i = 0; i < n; i++) zeros += decode(t, h, i) == 0;
    printf(" | %ld", zeros);
    for (long k = 0; k < 20; k++) printf(" %.9g", decode(t, h, k < 4 ? k : (long)((uint64_t)k * 2654435761u % (uint64_t)n)));
    free(h);
}
static void end(void) {
    int e = cudaDeviceSynchronize();
    if (e) printf(" cuda %d", e);
    printf("\n");
    fflush(stdout);
}
static void *upload(const void *from, size_t n) {
    void *p = 0;
    cudaMalloc(&p, n);
    cudaMemcpy(p, from, n, cudaMemcpyHostToDevice);
    return p;
}

static cusparseLtHandle_t handle;
static const char *const orders[] = {"", "col", "row"};

// Pruning of noise: magnitudes that are hardly ever equal.
static void prune(int t, cusparseOrder_t order, cusparseOperation_t op, int first, cusparseLtPruneAlg_t alg) {
    enum { ROWS = 32, COLS = 64 };
    printf("prune %s order %s op %d first %d alg %d |", names[t], orders[order], op, first, alg);
    int count = ROWS * COLS, valid[2] = {0, 0};
    void *flags[2] = {upload(valid, sizeof *valid), upload(valid, sizeof *valid)};
    void *h = calloc((size_t)count, 4);
    state = 11;
    for (int i = 0; i < count; i++) {
        unsigned b = bits();
        double v = t == S8 ? (int)(b % 255) - 127 : t == E4M3 || t == E5M2 ? ldexp(1 + (b & 3) / 4.0, (int)(b >> 2 & 7) - 3) : ldexp(1 + (b & 127) / 128.0, (int)(b >> 7 & 7) - 4);
        encode(t, h, i, t != S8 && b >> 15 & 1 ? -v : v);
    }
    void *in = upload(h, (size_t)(count * sizes[t])), *out = upload(h, (size_t)(count * sizes[t]));
    cusparseLtMatDescriptor_t d;
    failed = 0;
    if (st(cusparseLtStructuredDescriptorInit(&handle, &d, ROWS, COLS, order == CUSPARSE_ORDER_ROW ? COLS : ROWS, 16, types[t], order, CUSPARSELT_SPARSITY_50_PERCENT))) {
        st(cusparseLtSpMMAPruneCheck2(&handle, &d, first, op, in, flags[0], 0));
        st(cusparseLtSpMMAPrune2(&handle, &d, first, op, in, out, alg, 0));
        st(cusparseLtSpMMAPruneCheck2(&handle, &d, first, op, out, flags[1], 0));
        for (int i = 0; i < 2; i++) cudaMemcpy(&valid[i], flags[i], sizeof *valid, cudaMemcpyDeviceToHost), printf(" %d", valid[i]);
        if (!failed) show(t, out, count);
        cusparseLtMatDescriptorDestroy(&d);
    }
    end();
    cudaFree(in), cudaFree(out), cudaFree(flags[0]), cudaFree(flags[1]), free(h);
}

enum { PLAIN, RELU, GELU, BIAS, VECTORS, ACTIVATIONS };

struct product {
    int in, out, m, n, k, batches, action, first;
    cusparseOrder_t a, b, d;
    cusparseOperation_t opa, opb;
};

// factor makes one of both; along k, two of four numbers are zero where it is the structured one, of f32 one of two.
static void *factor(const struct product *p, cusparseLtMatDescriptor_t *d, int is_a, int structured) {
    cusparseOrder_t order = is_a ? p->a : p->b;
    int turned = (is_a ? p->opa : p->opb) != CUSPARSE_OPERATION_NON_TRANSPOSE;
    int rows = is_a != turned ? (is_a ? p->m : p->n) : p->k, cols = is_a != turned ? p->k : (is_a ? p->m : p->n); // turned b is n x k
    if (!is_a && !turned) rows = p->k, cols = p->n;
    if (is_a && turned) rows = p->k, cols = p->m;
    int ld = order == CUSPARSE_ORDER_ROW ? cols : rows, k_is_row = is_a == turned;
    int64_t stride = (int64_t)rows * cols;
    void *h = calloc((size_t)(stride * p->batches), 4);
    for (int q = 0; q < p->batches; q++)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < cols; c++) {
                int k = k_is_row ? r : c, other = k_is_row ? c : r;
                double v = (int)(bits() % 9) - 4;
                if (structured && (p->in == F32 ? k % 2 == (other + k / 2) % 2 : (k % 4 == (other + k / 4) % 4) || (k % 4 == (other + k / 4 + 1 + other / 4 % 3) % 4))) v = 0;
                encode(p->in, h, q * stride + (order == CUSPARSE_ORDER_ROW ? (int64_t)r * ld + c : (int64_t)c * ld + r), v);
            }
    if (structured) st(cusparseLtStructuredDescriptorInit(&handle, d, rows, cols, ld, 16, types[p->in], order, CUSPARSELT_SPARSITY_50_PERCENT));
    else st(cusparseLtDenseDescriptorInit(&handle, d, rows, cols, ld, 16, types[p->in], order));
    if (p->batches > 1) {
        st(cusparseLtMatDescSetAttribute(&handle, d, CUSPARSELT_MAT_NUM_BATCHES, &p->batches, sizeof p->batches));
        st(cusparseLtMatDescSetAttribute(&handle, d, CUSPARSELT_MAT_BATCH_STRIDE, &stride, sizeof stride));
    }
    void *device = upload(h, (size_t)(stride * p->batches * sizes[p->in]));
    free(h);
    return device;
}

static void multiply(const struct product *p) {
    static const char *const actions[] = {"plain", "relu", "gelu", "bias", "vectors"};
    printf("product %s %s %d x %d x %d batches %d %s structured %s orders %s %s %s ops %d %d |", names[p->in], names[p->out], p->m, p->n, p->k, p->batches, actions[p->action],
           p->first ? "a" : "b", orders[p->a], orders[p->b], orders[p->d], p->opa, p->opb);
    cusparseLtMatDescriptor_t a, b, c;
    cusparseLtMatmulDescriptor_t mm;
    cusparseLtMatmulAlgSelection_t alg;
    cusparseLtMatmulPlan_t plan;
    failed = 0, state = 5;
    void *da = factor(p, &a, 1, p->first), *db = factor(p, &b, 0, !p->first);
    int64_t stride = (int64_t)p->m * p->n, numbers = stride * p->batches;
    void *h = calloc((size_t)numbers, 4), *bias = 0;
    for (int64_t i = 0; i < numbers; i++) encode(p->out, h, i, (int)(bits() % 7) - 3);
    void *dc = upload(h, (size_t)(numbers * sizes[p->out])), *dd = upload(h, (size_t)(numbers * sizes[p->out])), *va = 0, *vb = 0, *packed = 0, *room = 0, *work = 0;
    st(cusparseLtDenseDescriptorInit(&handle, &c, p->m, p->n, p->d == CUSPARSE_ORDER_ROW ? p->n : p->m, 16, types[p->out], p->d));
    if (p->batches > 1) {
        st(cusparseLtMatDescSetAttribute(&handle, &c, CUSPARSELT_MAT_NUM_BATCHES, &p->batches, sizeof p->batches));
        st(cusparseLtMatDescSetAttribute(&handle, &c, CUSPARSELT_MAT_BATCH_STRIDE, &stride, sizeof stride));
    }
    if (!failed && st(cusparseLtMatmulDescriptorInit(&handle, &mm, p->opa, p->opb, &a, &b, &c, &c, p->in == S8 ? CUSPARSE_COMPUTE_32I : CUSPARSE_COMPUTE_32F))) {
        int one = 1;
        int most = p->m > p->n ? p->m : p->n;
        float upper = 40, threshold = 2, alpha = 2, beta = -1, *x = malloc((size_t)most * 8), *y = x + most;
        const void *alphas = &alpha, *betas = &beta;
        for (int i = 0; i < most; i++) x[i] = (float)((int)(bits() % 5) - 2), y[i] = (float)((int)(bits() % 5) - 2);
        if (p->action == RELU) {
            st(cusparseLtMatmulDescSetAttribute(&handle, &mm, CUSPARSELT_MATMUL_ACTIVATION_RELU, &one, sizeof one));
            st(cusparseLtMatmulDescSetAttribute(&handle, &mm, CUSPARSELT_MATMUL_ACTIVATION_RELU_UPPERBOUND, &upper, sizeof upper));
            st(cusparseLtMatmulDescSetAttribute(&handle, &mm, CUSPARSELT_MATMUL_ACTIVATION_RELU_THRESHOLD, &threshold, sizeof threshold));
        } else if (p->action == GELU) {
            st(cusparseLtMatmulDescSetAttribute(&handle, &mm, CUSPARSELT_MATMUL_ACTIVATION_GELU, &one, sizeof one));
        } else if (p->action == BIAS) {
            int t = p->out == S8 || p->out == S32 ? F32 : p->out, count = p->first ? p->m : p->n; // of B, a number a column
            void *v = calloc((size_t)count, 4);
            for (int i = 0; i < count; i++) encode(t, v, i, x[i]);
            bias = upload(v, (size_t)(count * sizes[t]));
            st(cusparseLtMatmulDescSetAttribute(&handle, &mm, CUSPARSELT_MATMUL_BIAS_POINTER, &bias, sizeof bias));
            free(v);
        } else if (p->action == VECTORS) {
            alphas = va = upload(x, (size_t)most * 4), betas = vb = upload(y, (size_t)most * 4);
            st(cusparseLtMatmulDescSetAttribute(&handle, &mm, CUSPARSELT_MATMUL_ALPHA_VECTOR_SCALING, &one, sizeof one));
            st(cusparseLtMatmulDescSetAttribute(&handle, &mm, CUSPARSELT_MATMUL_BETA_VECTOR_SCALING, &one, sizeof one));
        }
        free(x);
        if (!failed && st(cusparseLtMatmulAlgSelectionInit(&handle, &alg, &mm, CUSPARSELT_MATMUL_ALG_DEFAULT)) && st(cusparseLtMatmulPlanInit(&handle, &plan, &mm, &alg))) {
            size_t packed_size = 0, room_size = 0, work_size = 0;
            st(cusparseLtSpMMACompressedSize(&handle, &plan, &packed_size, &room_size));
            st(cusparseLtMatmulGetWorkspace(&handle, &plan, &work_size));
            cudaMalloc(&packed, packed_size + 16), cudaMalloc(&room, room_size + 16), cudaMalloc(&work, work_size + 16);
            st(cusparseLtSpMMACompress(&handle, &plan, p->first ? da : db, packed, room, 0));
            if (st(cusparseLtMatmul(&handle, &plan, alphas, p->first ? packed : da, p->first ? db : packed, betas, dc, dd, work, 0, 0))) show(p->out, dd, numbers);
            cusparseLtMatmulPlanDestroy(&plan);
        }
    }
    end();
    cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(dd), cudaFree(va), cudaFree(vb), cudaFree(packed), cudaFree(room), cudaFree(work), cudaFree(bias), free(h);
}

int main(void) {
    if (cusparseLtInit(&handle)) return 1;
    static const int prunes[] = {F32, F16, BF16, S8, E4M3, E5M2};
    for (unsigned t = 0; t < sizeof prunes / sizeof *prunes; t++)
        for (int q = 0; q < 16; q++)
            prune(prunes[t], q & 1 ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL, q & 2 ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE, q >> 2 & 1, (cusparseLtPruneAlg_t)(q >> 3));
    static const int pairs[][2] = {{S8, S8}, {S8, S32}, {S8, F16}, {S8, BF16}, {E4M3, F16}, {E4M3, F32}, {E5M2, BF16}, {E5M2, F32}, {E4M3, BF16}, {F16, F16}, {BF16, BF16}, {F32, F32}};
    for (unsigned t = 0; t < sizeof pairs / sizeof *pairs; t++)
        for (int q = 0; q < 64; q++) {
            if (q % 8 > 1 && q % 7) continue;
            struct product p = {pairs[t][0], pairs[t][1], q & 1 ? 96 : 64, q & 2 ? 32 : 64, q & 4 ? 128 : 64, q % 8 == 5 ? 3 : 1, q / 3 % ACTIVATIONS, q >> 5 ^ 1,
                                q & 8 ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL, q & 16 ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL, q & 2 ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL,
                                q & 4 ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE, q & 1 ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE};
            if (p.in != F32) multiply(&p); // cuSPARSELt 0.8 does not return from the others of f32
            // The form that every type has: both run along k.
            p.a = p.b = p.d = CUSPARSE_ORDER_COL, p.opa = CUSPARSE_OPERATION_TRANSPOSE, p.opb = CUSPARSE_OPERATION_NON_TRANSPOSE;
            if (q % 3 == 0) multiply(&p);
        }
    cusparseLtDestroy(&handle);
    return 0;
}
