// Records cusparseSpMMOp: products of a sparse and a dense matrix with operators of the program's, in LTO-IR of NVRTC. A line is what was
// called | statuses | numbers of C. Numbers are small integers, so that every sum is exact.
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <math.h>
#include <nvrtc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static int small(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(state >> 44) % 9 - 4;
}
static int st(int s) {
    printf(" %d", s);
    return s == 0;
}
static void end(void) {
    int e = cudaDeviceSynchronize();
    if (e) printf(" cuda %d", e);
    printf("\n");
    fflush(stdout);
}

enum { F32, F64, C32, C64, S32, F16, BF16, S8 };
static const char *const names[] = {"f32", "f64", "c32", "c64", "s32", "f16", "bf16", "s8"};
static const cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F, CUDA_R_32I, CUDA_R_16F, CUDA_R_16BF, CUDA_R_8I};
static const int sizes[] = {4, 8, 8, 16, 4, 2, 2, 1};
static const char *const words[] = {"float", "double", "float2", "double2", "int"};

static void put(int t, void *at, long i, int v, int w) {
    switch (t) {
    case F32: ((float *)at)[i] = (float)v; break;
    case F64: ((double *)at)[i] = v; break;
    case C32: ((float *)at)[2 * i] = (float)v, ((float *)at)[2 * i + 1] = (float)w; break;
    case C64: ((double *)at)[2 * i] = v, ((double *)at)[2 * i + 1] = w; break;
    case S32: ((int *)at)[i] = v; break;
    case S8: ((int8_t *)at)[i] = (int8_t)v; break;
    default: {
        float f = (float)v;
        uint32_t b;
        memcpy(&b, &f, 4);
        ((uint16_t *)at)[i] = (uint16_t)(t == BF16 ? b >> 16 : v == 0 ? 0 : (b >> 16 & 0x8000) | (((b >> 23 & 255) - 112) << 10) | (b >> 13 & 1023));
    }
    }
}
static void show(int t, const void *device, long n) {
    void *h = malloc((size_t)(n * sizes[t]));
    cudaMemcpy(h, device, (size_t)(n * sizes[t]), cudaMemcpyDeviceToHost);
    printf(" |");
    int parts = t == C32 || t == C64 ? 2 : 1;
    for (long k = 0; k < n * parts && k < 60; k++) {
        double v = 0;
        if (t == F32 || t == C32) v = ((float *)h)[k];
        else if (t == F64 || t == C64) v = ((double *)h)[k];
        else if (t == S32) v = ((int *)h)[k];
        else if (t == S8) v = ((int8_t *)h)[k];
        else {
            uint32_t b = ((uint16_t *)h)[k], e = b >> 10 & 31;
            if (t == F16) v = (b >> 15 ? -1 : 1) * (e ? ldexp(1 + (b & 1023) / 1024.0, (int)e - 15) : ldexp(b & 1023, -24));
            else {
                float f;
                b <<= 16;
                memcpy(&f, &b, 4);
                v = f;
            }
        }
        printf(" %.9g", v);
    }
    free(h);
}

static char arch[32];
struct code {
    void *bytes;
    size_t size;
};
static struct code compile(const char *name, const char *word, const char *body) {
    char text[1024];
    const char *options[] = {arch, "-dlto", "-rdc=true"};
    struct code c = {0};
    nvrtcProgram p;
    snprintf(text, sizeof text, "__device__ %s %s(%s value1, %s value2) { %s }\n", word, name, word, word, body);
    nvrtcCreateProgram(&p, text, "op.cu", 0, 0, 0);
    if (!nvrtcCompileProgram(p, 3, options) && !nvrtcGetLTOIRSize(p, &c.size)) c.bytes = malloc(c.size), nvrtcGetLTOIR(p, c.bytes);
    nvrtcDestroyProgram(&p);
    return c;
}

static cusparseHandle_t handle;
static const struct kind {
    const char *name, *add, *mul, *end;
    int complex;
} kinds[] = {
    {"sum", "return value1 + value2;", "return value1 * value2;", "return value1 + value2;", 0},
    {"roles", "return value1 + value2;", "return value1 - 2 * value2;", "return 2 * value1 + 3 * value2;", 0},
    {"largest", "return value1 > value2 ? value1 : value2;", "return value1 + value2 - 100;", "return value1;", 0},
    {"shortest", "return value1 < value2 ? value1 : value2;", "return value1 + value2 + 100;", "return value1 - value2;", 0},
    {"complex", "value1.x += value2.x; value1.y += value2.y; return value1;", "value1.x = value1.x * value2.x - value1.y; value1.y = value2.y + value1.y; return value1;",
     "value1.x += 2 * value2.x; value1.y -= value2.y; return value1;", 1},
};

enum { M = 6, K = 7, N = 5 };

static void product(const struct kind *op, int in, int out, int compute, int wide, int base, int turned, int row_b, int row_c, int misuse) {
    printf("spmmop %s %s %s %s index %d base %d opB %d orders %d %d misuse %d |", op->name, names[in], names[out], names[compute], wide ? 64 : 32, base, turned, row_b, row_c, misuse);
    // The third row is empty, the fifth one has one entry.
    static const char pattern[M][K + 1] = {"1010110", "0111001", "0000000", "1111111", "0001000", "1000001"};
    int64_t rows[M + 1], cols[M * K], nnz = 0;
    int32_t rows4[M + 1], cols4[M * K];
    char a[M * K * 16], b[K * N * 16], c[M * N * 16];
    state = 3;
    for (int i = 0; i < M; i++) {
        rows[i] = nnz + base;
        for (int k = 0; k < K; k++)
            if (pattern[i][k] == '1') {
                int v = small();
                put(in, a, nnz, v, small());
                cols[nnz++] = k + base;
            }
    }
    rows[M] = nnz + base;
    for (int i = 0; i <= M; i++) rows4[i] = (int32_t)rows[i];
    for (int i = 0; i < nnz; i++) cols4[i] = (int32_t)cols[i];
    for (int i = 0; i < K * N; i++) {
        int v = small();
        put(in, b, i, v, small());
    }
    for (int i = 0; i < M * N; i++) {
        int v = small();
        put(out, c, i, v, small());
    }
    void *at[5];
    const void *from[5] = {wide ? (void *)rows : rows4, wide ? (void *)cols : cols4, a, b, c};
    const size_t bytes[5] = {(M + 1) * (wide ? 8 : 4), (size_t)nnz * (wide ? 8 : 4), (size_t)(nnz * sizes[in]), (size_t)(K * N * sizes[in]), (size_t)(M * N * sizes[out])};
    for (int i = 0; i < 5; i++) cudaMalloc(&at[i], bytes[i]), cudaMemcpy(at[i], from[i], bytes[i], cudaMemcpyHostToDevice);
    const cusparseIndexType_t index = wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
    cusparseSpMatDescr_t ma;
    cusparseDnMatDescr_t mb, mc;
    if (misuse == 4) cusparseCreateCoo(&ma, M, K, nnz, at[1], at[1], at[2], index, (cusparseIndexBase_t)base, types[in]);
    else if (misuse == 5) cusparseCreateCsc(&ma, M, K, nnz, at[0], at[1], at[2], index, index, (cusparseIndexBase_t)base, types[in]);
    else cusparseCreateCsr(&ma, M, K, nnz, at[0], at[1], at[2], index, index, (cusparseIndexBase_t)base, types[in]);
    int rb = turned ? N : K, cb = turned ? K : N;
    cusparseCreateDnMat(&mb, rb, cb, row_b ? cb : rb, at[3], types[in], row_b ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    cusparseCreateDnMat(&mc, M, N, row_c ? N : M, at[4], types[out], row_c ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
    const char *word = words[compute];
    struct code add = compile(misuse == 1 ? "plus" : "add_op", word, op->add), mul = compile("mul_op", word, op->mul), ep = compile("epilogue", word, op->end);
    char garbage[64] = "no LTO-IR";
    if (misuse == 2) add.bytes = 0;
    if (misuse == 3) ep.bytes = garbage, ep.size = sizeof garbage;
    if (misuse == 7) mul.size = 0;
    cusparseSpMMOpPlan_t plan = 0;
    size_t size = 0;
    void *work = 0;
    if (st(cusparseSpMMOp_createPlan(misuse == 8 ? 0 : handle, misuse == 9 ? 0 : &plan, misuse == 6 ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE,
                                     turned ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE, ma, mb, mc, types[compute], misuse == 10 ? (cusparseSpMMOpAlg_t)7 : CUSPARSE_SPMM_OP_ALG_DEFAULT,
                                     add.bytes, add.size, mul.bytes, mul.size, ep.bytes, ep.size, &size))) {
        cudaMalloc(&work, size + 16);
        if (st(cusparseSpMMOp(plan, work))) show(out, at[4], M * N);
        cusparseSpMMOp_destroyPlan(plan);
    }
    end();
    cusparseDestroySpMat(ma), cusparseDestroyDnMat(mb), cusparseDestroyDnMat(mc), cudaFree(work);
    for (int i = 0; i < 5; i++) cudaFree(at[i]);
}

int main(void) {
    int major = 8, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    snprintf(arch, sizeof arch, "-arch=sm_%d%d", major, minor);
    if (cusparseCreate(&handle)) return 1;
    static const int triples[][3] = {{F32, F32, F32}, {F64, F64, F64}, {S8, S32, S32}, {S8, F32, F32}, {F16, F32, F32}, {F16, F16, F32}, {BF16, F32, F32}, {BF16, BF16, F32}, {S32, S32, S32}};
    for (unsigned t = 0; t < sizeof triples / sizeof *triples; t++)
        for (int k = 0; k < 4; k++) {
            int q = (int)t + k;
            product(&kinds[k], triples[t][0], triples[t][1], triples[t][2], q & 1, q >> 1 & 1, k & 1, q >> 1 & 1, k >> 1 & 1, 0);
        }
    for (int q = 0; q < 8; q++) product(&kinds[1], F32, F32, F32, 0, 0, q & 1, q >> 1 & 1, q >> 2, 0);
    for (int q = 0; q < 4; q++) product(&kinds[4], q & 1 ? C64 : C32, q & 1 ? C64 : C32, q & 1 ? C64 : C32, q >> 1, q >> 1, q >> 1, 0, 1, 0);
    for (int m = 1; m <= 10; m++) product(&kinds[0], F32, F32, F32, 0, 0, 0, 0, 0, m);
    cusparseDestroy(handle);
    return 0;
}
