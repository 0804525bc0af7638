// Records what cublasLtMatmul makes of orders, batches, ways to give alpha and beta, every epilogue with what it writes beside D, compute types,
// scales and largest values; transforms of plain orders; and what descriptors hold. A line is: what is tried, types, how it is computed, sizes
// and flags | statuses | numbers. What a release has not is told as missing.
#include "blas_types.h"
#include <sys/wait.h>
#include <unistd.h>

static cublasLtHandle_t LT;
enum { BATCH_MODE = 8, POINTER_ARRAY = 1 }; // not in every header
struct combination {
    int a, b, c, d, compute, scale;
};
static const struct combination usual[] = {
    {F16, F16, F16, F16, CUBLAS_COMPUTE_32F, F32},   {BF16, BF16, BF16, BF16, CUBLAS_COMPUTE_32F, F32}, {F16, F16, F32, F32, CUBLAS_COMPUTE_32F, F32},
    {F32, F32, F32, F32, CUBLAS_COMPUTE_32F, F32},   {F64, F64, F64, F64, CUBLAS_COMPUTE_64F, F64},     {C32, C32, C32, C32, CUBLAS_COMPUTE_32F, C32},
    {S8, S8, S32, S32, CUBLAS_COMPUTE_32I, S32},     {BF16, BF16, F32, F32, CUBLAS_COMPUTE_32F, F32},   {F16, F16, F16, F16, CUBLAS_COMPUTE_16F, F16},
    {C64, C64, C64, C64, CUBLAS_COMPUTE_64F, C64},   {S8, S8, S8, S8, CUBLAS_COMPUTE_32I, F32},
    {E4M3, E4M3, BF16, BF16, CUBLAS_COMPUTE_32F, F32}, {E4M3, E5M2, F16, E4M3, CUBLAS_COMPUTE_32F, F32}, {E5M2, E4M3, BF16, E5M2, CUBLAS_COMPUTE_32F, F32},
};
enum { PLAIN = 11, ALL = 14, SPECIAL = 12 }; // of them without and with 8-bit floats

// job is a product: what is not zero is set.
struct job {
    const char *name;
    const struct combination *x;
    int m, n, k, ta, tb, order[4], batch, lists, flat, mode, epilogue, bias, scales, most, fill, apart, zero, flags;
};
static void set(cublasLtMatmulDesc_t d, int attr, const void *p, size_t n) { cublasLtMatmulDescSetAttribute(d, attr, p, n); }
static cublasLtMatrixLayout_t layout(int t, int rows, int cols, int order, int batch, long stride, int lists) {
    cublasLtMatrixLayout_t l;
    int64_t ld = order == CUBLASLT_ORDER_ROW ? cols : rows, step = stride;
    cublasLtMatrixLayoutCreate(&l, T[t].type, (uint64_t)rows, (uint64_t)cols, ld);
    cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_ORDER, &order, 4);
    cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, 4);
    if (lists) cublasLtMatrixLayoutSetAttribute(l, BATCH_MODE, &lists, 4);
    else cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step, 8);
    return l;
}
static void *pointers(int t, void *base, size_t each, int count) {
    char *p[8];
    for (int i = 0; i < count; i++) p[i] = (char *)base + (size_t)i * each * (size_t)T[t].size;
    return up(p, sizeof p);
}
static void line(const struct job *j, int s1, int found, int s2) {
    printf("%s %s %s %s %s %d %d %d %d %d %d | %d %d %d |", j->name, T[j->x->a].name, T[j->x->b].name, T[j->x->c].name, T[j->x->d].name, j->x->compute, j->m, j->n, j->k, j->epilogue, j->flags, s1, found, s2);
}
static void run(struct job j) {
    static void *space;
    if (!space) space = room(8 << 20);
    unsigned since = made_count;
    const struct combination *x = j.x;
    int batch = j.batch ? j.batch : 1, found = 0, s1, s2 = -1, epilogue = j.epilogue ? j.epilogue : CUBLASLT_EPILOGUE_DEFAULT, order[4];
    size_t na = (size_t)j.m * j.k, nb = (size_t)j.k * j.n, nc = (size_t)j.m * j.n, bytes = 8 << 20;
    for (int i = 0; i < 4; i++) order[i] = j.order[i] ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
    void *a = numbers(x->a, na * batch, j.m + 1), *b = numbers(x->b, nb * batch, j.n + 2), *c = numbers(x->c, nc * batch, j.k + 3), *d = x->c != x->d || j.apart ? room(nc * batch * 16) : c;
    int bt = j.bias ? j.bias - 1 : x->d == E4M3 || x->d == E5M2 ? x->c : x->c, sums = epilogue & (16 | 256 | 512);
    void *bias = sums ? room(8192) : numbers(bt, 512, 77), *aux = 0, *large = room(64);
    int64_t auxld = (j.m + 127) / 128 * 128;
    int bits = epilogue == CUBLASLT_EPILOGUE_DRELU || epilogue == CUBLASLT_EPILOGUE_DRELU_BGRAD || epilogue == CUBLASLT_EPILOGUE_RELU_AUX || epilogue == CUBLASLT_EPILOGUE_RELU_AUX_BIAS;
    cublasLtMatmulDesc_t desc;
    cublasLtMatmulDescCreate(&desc, x->compute, T[x->scale].type);
    set(desc, CUBLASLT_MATMUL_DESC_TRANSA, &j.ta, 4), set(desc, CUBLASLT_MATMUL_DESC_TRANSB, &j.tb, 4);
    set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, 4);
    if (j.mode) set(desc, CUBLASLT_MATMUL_DESC_POINTER_MODE, &j.mode, 4);
    if (epilogue & (4 | 16 | 256 | 512)) set(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, 8);
    if (j.bias) set(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &T[bt].type, 4);
    if (epilogue & 128) {
        aux = bits ? numbers(S8, (size_t)auxld * j.n, 31) : numbers(x->c, (size_t)auxld * j.n, 31);
        set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, 8), set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &auxld, 8);
    }
    float two = 2, half = 0.5, start = 0;
    void *fa = up(&two, 4), *fb = up(&half, 4), *fd = up(&two, 4);
    if (j.scales & 1) set(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &fa, 8);
    if (j.scales & 2) set(desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &fb, 8);
    if (j.scales & 4) set(desc, CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, &fb, 8);
    if (j.scales & 8) set(desc, CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, &fd, 8);
    cudaMemcpy(large, &start, 4, cudaMemcpyHostToDevice);
    char *larger = (char *)large + 16;
    if (j.most & 1) set(desc, CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, &large, 8);
    if (j.most & 2) set(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, &larger, 8);
    if (j.fill) j.fill--, set(desc, CUBLASLT_MATMUL_DESC_FILL_MODE, &j.fill, 4);
    cublasLtMatrixLayout_t la = layout(x->a, j.ta ? j.k : j.m, j.ta ? j.m : j.k, order[0], batch, (long)na, j.lists), lb = layout(x->b, j.tb ? j.n : j.k, j.tb ? j.k : j.n, order[1], batch, j.flat ? 0 : (long)nb, j.lists);
    cublasLtMatrixLayout_t lc = layout(x->c, j.m, j.n, order[2], batch, (long)nc, j.lists), ld = layout(x->d, j.m, j.n, order[3], batch, (long)nc, j.lists);
    cublasLtMatmulPreference_t pref;
    cublasLtMatmulHeuristicResult_t best;
    memset(&best, 0, sizeof best);
    cublasLtMatmulPreferenceCreate(&pref), cublasLtMatmulPreferenceSetAttribute(pref, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes, 8);
    s1 = cublasLtMatmulAlgoGetHeuristic(LT, desc, la, lb, lc, ld, pref, 1, &best, &found);
    int integer = x->scale == S32, vector = j.mode >= CUBLASLT_POINTER_MODE_DEVICE_VECTOR;
    void *al = factor(x->scale, integer ? 1 : 0.25, 0), *be = factor(x->scale, j.zero || x->c == S8 ? 0 : integer ? 1 : 2, 0), *pa = a, *pb = b, *pc = c, *pd = d;
    if (j.mode) {
        char many[2][256 * 16];
        for (size_t i = 0; i < 256; i++) lay(x->scale, many[0], i, integer ? (double)(i % 3) : (double)(i % 4) / 4, 0), lay(x->scale, many[1], i, j.zero || x->c == S8 ? 0 : (double)(i % 2 + 1), 0);
        al = vector ? up(many[0], sizeof many[0]) : up(al, 16);
        if (j.mode != CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST) be = vector ? up(many[1], sizeof many[1]) : up(be, 16);
        if (j.mode == CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO) be = 0;
    }
    if (j.lists) pa = pointers(x->a, a, na, batch), pb = pointers(x->b, b, nb, batch), pc = pointers(x->c, c, nc, batch), pd = pointers(x->d, d, nc, batch);
    if (!s1 && found) s2 = cublasLtMatmul(LT, desc, al, pa, la, pb, lb, be, pc, lc, pd, ld, &best.algo, space, bytes, 0);
    line(&j, s1, found, s2), list(x->d, d, nc * batch);
    char name[64];
    struct job k = j;
    snprintf(name, sizeof name, "%s.beside", j.name), k.name = name;
    if (!s2 && sums) line(&k, s1, found, s2), list(bt, bias, (size_t)(epilogue == CUBLASLT_EPILOGUE_BGRADB ? j.n : j.m));
    if (!s2 && aux && !(epilogue & (8 | 64))) {
        line(&k, s1, found, s2);
        if (bits) {
            unsigned char h[1024];
            cudaMemcpy(h, aux, sizeof h, cudaMemcpyDeviceToHost);
            for (int i = 0; i < j.n && i < 20; i++) printf(" %d", h[i * auxld / 8]); // of the first rows
            puts("");
        } else {
            char *h = malloc(nc * 16);
            for (int i = 0; i < j.n; i++) cudaMemcpy(h + (size_t)i * j.m * T[x->c].size, (char *)aux + (size_t)i * auxld * T[x->c].size, (size_t)j.m * T[x->c].size, cudaMemcpyDeviceToHost);
            list(x->c, h, nc), free(h);
        }
    }
    if (!s2 && j.most) line(&k, s1, found, s2), list(F32, large, 1);
    cublasLtMatmulPreferenceDestroy(pref), cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(lc), cublasLtMatrixLayoutDestroy(ld), cublasLtMatmulDescDestroy(desc), forget(since);
}
static void orders(void) {
    static const int sides[][3] = {{32, 16, 48}, {64, 80, 32}};
    for (int c = 0; c < PLAIN; c++)
        for (int i = 0; i < 2; i++)
            for (int f = 0; f < 24; f++) // orders of A, B and D; transposes
                run((struct job){.name = "order", .x = &usual[c], .m = sides[i][0], .n = sides[i][1], .k = sides[i][2], .ta = f / 8 == 1, .tb = f / 8 == 2, .order = {f & 1, f >> 1 & 1, f >> 2 & 1, f >> 2 & 1}, .flags = f});
}
static void batches(void) {
    for (int c = 0; c < ALL; c++)
        for (int f = 0; f < 6; f++) {
            int ta = c >= SPECIAL - 1 || c == 6 || c == 10 || f % 2;
            struct job j = {.name = "batch", .x = &usual[c], .m = 32, .n = 48, .k = 64, .ta = ta, .batch = 3, .flags = f};
            j.lists = f >= 4 ? POINTER_ARRAY : 0, j.flat = f == 2 || f == 3, j.apart = f > 2;
            run(j);
            j = (struct job){.name = "mode", .x = &usual[c], .m = 32, .n = 48, .k = 64, .ta = ta, .mode = f % 5, .zero = f == 3, .apart = f == 5, .flags = f};
            run(j);
            j = (struct job){.name = "side", .x = &usual[c], .m = 16, .n = 32, .k = 64, .ta = ta, .apart = 1, .zero = f % 2, .order = {0, 0, f / 2 % 2, f / 4}, .fill = f == 5 ? 1 + CUBLAS_FILL_MODE_LOWER : 0, .flags = f};
            run(j);
        }
}
static void scales(void) { // of A, B, C and D, and the largest values
    for (int c = 0; c < ALL; c++)
        for (int f = 0; f < 16; f++) {
            run((struct job){.name = "scales", .x = &usual[c], .m = 32, .n = 48, .k = 64, .ta = 1, .scales = f, .flags = f});
            if (f < 12) run((struct job){.name = "largest", .x = &usual[c], .m = 16 + 16 * (f % 3), .n = 48, .k = 64, .ta = 1, .most = 1 + f % 3, .epilogue = f / 3 == 0 ? 0 : f / 3 == 1 ? CUBLASLT_EPILOGUE_RELU : f / 3 == 2 ? CUBLASLT_EPILOGUE_RELU_AUX : CUBLASLT_EPILOGUE_BIAS, .flags = f});
        }
}
static void epilogues(void) {
    static const int all[] = {2, 130, 4, 6, 134, 136, 152, 32, 160, 36, 164, 192, 208, 256, 512, 3, 8, 1024};
    static const int biases[] = {0, 1 + F16, 1 + BF16, 1 + F32};
    for (int c = 0; c < ALL; c++)
        for (int e = 0; e < 18; e++) {
            int gelu = all[e] & (32 | 64), shapes = gelu ? 2 : 3;
            for (int i = 0; i < shapes; i++) {
                struct job j = {.name = gelu ? "epilogue.gelu" : "epilogue", .x = &usual[c], .m = 128 * (1 + (i == 2)), .n = 16 + 16 * i, .k = 32 + 32 * (i == 1), .ta = c >= SPECIAL - 1 || c == 6 || c == 10 || i == 1, .epilogue = all[e], .zero = 1, .flags = i};
                run(j);
                if (all[e] != 4 && all[e] != 152) continue;
                for (int b = 1; b < 4; b++) j.bias = biases[b], j.flags = 10 * b + i, run(j);
            }
            if (c > 3) continue;
            run((struct job){.name = gelu ? "epilogue.gelu" : "epilogue", .x = &usual[c], .m = 64, .n = 32, .k = 32, .epilogue = all[e], .order = {0, 0, 1, 1}, .flags = 50});
        }
}
static void computes(void) {
    static const int types[][2] = {{F16, F16}, {F16, F32}, {BF16, BF16}, {BF16, F32}, {F32, F32}, {F64, F64}, {C32, C32}, {C64, C64}, {S8, S8}, {S8, S32}, {S8, F32}, {F32, F16}, {F32, BF16}, {C8, C32}},
                     scales[] = {F16, F32, F64, C32, S32};
    for (int t = 0; t < 14; t++)
        for (int compute = 64; compute <= 79; compute++)
            for (int s = 0; s < 5; s++) {
                struct combination x = {types[t][0], types[t][0], types[t][1], types[t][1], compute, scales[s]};
                run((struct job){.name = "compute", .x = &x, .m = 16, .n = 16, .k = 32, .ta = 1, .flags = s});
            }
}
static void transforms(void) {
    static const int types[][2] = {{F32, F32}, {F16, F32}, {BF16, F32}, {F64, F64}, {S8, F32}, {S32, S32}, {C32, C32}, {C64, C64}, {F16, F16}, {S8, S32}, {F32, F64}};
    for (int t = 0; t < 11; t++)
        for (int f = 0; f < 16; f++) {
            int ta = f & 1, tb = f >> 1 & 1, m = 24, n = 40, type = types[t][0], scale = types[t][1], integer = scale == S32, s;
            int oa = f & 4 ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL, oc = f & 8 ? CUBLASLT_ORDER_ROW : CUBLASLT_ORDER_COL;
            cublasLtMatrixTransformDesc_t d;
            cublasLtMatrixTransformDescCreate(&d, T[scale].type);
            cublasLtMatrixTransformDescSetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, &ta, 4), cublasLtMatrixTransformDescSetAttribute(d, CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, &tb, 4);
            void *a = numbers(type, (size_t)m * n, 5), *b = numbers(type, (size_t)m * n, 6), *c = room((size_t)m * n * 16);
            cublasLtMatrixLayout_t la = layout(type, ta ? n : m, ta ? m : n, oa, 1, 0, 0), lb = layout(type, tb ? n : m, tb ? m : n, oc, 1, 0, 0), lc = layout(type, m, n, oc, 1, 0, 0);
            s = cublasLtMatrixTransform(LT, d, factor(scale, integer ? 1 : 2, 0), a, la, factor(scale, integer ? 2 : 0.5, 0), b, lb, c, lc, 0);
            struct combination x = {type, type, type, type, scale, scale};
            struct job j = {.name = "transform", .x = &x, .m = m, .n = n, .flags = f};
            line(&j, 0, 0, s), list(type, c, (size_t)m * n);
            cublasLtMatrixTransformDescDestroy(d), cublasLtMatrixLayoutDestroy(la), cublasLtMatrixLayoutDestroy(lb), cublasLtMatrixLayoutDestroy(lc);
        }
}
// What descriptors hold: for each attribute the size that it says, what is there at first, and what too small a place and a change answer.
typedef cublasStatus_t getter(void *, int, void *, size_t, size_t *);
typedef cublasStatus_t setter(void *, int, const void *, size_t);
static void attributes(const char *name, void *d, void *get, void *put, int count) {
    for (int a = -1; a < count; a++) {
        unsigned char first[64] = {0}, then[64] = {0}, change[64] = {1};
        size_t n = 777, m = 0;
        int s[6];
        s[0] = ((getter *)get)(d, a, 0, 0, &n);
        if (s[0] || n > 64) {
            printf("%s %d | %d |\n", name, a, s[0]);
            continue;
        }
        s[1] = ((getter *)get)(d, a, first, n, &m), s[2] = ((getter *)get)(d, a, then, n - 1, &m), s[3] = ((setter *)put)(d, a, change, n), s[4] = ((setter *)put)(d, a, change, n + 1), s[5] = ((getter *)get)(d, a, then, n, 0);
        printf("%s %d | %d %d %d %d %d %d | %zu", name, a, s[0], s[1], s[2], s[3], s[4], s[5], n);
        for (size_t i = 0; i < n; i++) printf(" %d", first[i]);
        for (size_t i = 0; i < n; i++) printf(" %d", then[i]);
        puts("");
        ((setter *)put)(d, a, first, n);
    }
}
static void descriptors(void) {
    cublasLtMatmulDesc_t d;
    cublasLtMatrixLayout_t l;
    cublasLtMatmulPreference_t p;
    cublasLtMatrixTransformDesc_t t;
    for (int compute = 60; compute < 80; compute++) {
        int s = cublasLtMatmulDescCreate(&d, compute, CUDA_R_32F), end = s ? 0 : cublasLtMatmulDescDestroy(d);
        printf("MatmulDescCreate %d | %d %d |\n", compute, s, end);
    }
    for (int i = 0; i < 20; i++) {
        int s = cublasLtMatrixLayoutCreate(&l, i % 7, (uint64_t)(i % 3 * 8), (uint64_t)(i % 5 * 8), i * 4), end = s ? 0 : cublasLtMatrixLayoutDestroy(l);
        printf("MatrixLayoutCreate %d | %d %d |\n", i, s, end);
        s = cublasLtMatrixTransformDescCreate(&t, i), end = s ? 0 : cublasLtMatrixTransformDescDestroy(t);
        printf("MatrixTransformDescCreate %d | %d %d |\n", i, s, end);
        size_t capacity = 99;
        int s1 = cublasLtHeuristicsCacheGetCapacity(&capacity), s2 = cublasLtHeuristicsCacheSetCapacity((size_t)i * 1000), value = -5, s3;
        printf("HeuristicsCacheSetCapacity %d | %d %d |", i, s1, s2);
        s1 = cublasLtHeuristicsCacheGetCapacity(&capacity), printf(" %d %zu\n", s1, capacity);
        s3 = cublasLtGetProperty(i - 1, &value), printf("LtGetProperty %d | %d | %d\n", i - 1, s3, i == 1 || s3 ? value : 0);
        printf("LtGetStatusName %d | 0 | %s %d\n", i, cublasLtGetStatusName(i), cublasLtGetStatusString(i) != 0);
        printf("LtLoggerSetLevel %d | %d |\n", i - 2, cublasLtLoggerSetLevel(i - 2));
        printf("LtLoggerSetMask %d | %d |\n", i - 2, cublasLtLoggerSetMask(i - 2));
        cublasLtLoggerSetMask(0), cublasLtLoggerSetLevel(0);
    }
    cublasLtMatmulDescCreate(&d, CUBLAS_COMPUTE_32F, CUDA_R_32F), attributes("MatmulDesc", d, (void *)cublasLtMatmulDescGetAttribute, (void *)cublasLtMatmulDescSetAttribute, 42);
    cublasLtMatrixLayoutCreate(&l, CUDA_R_16F, 32, 48, 64), attributes("MatrixLayout", l, (void *)cublasLtMatrixLayoutGetAttribute, (void *)cublasLtMatrixLayoutSetAttribute, 20);
    cublasLtMatmulPreferenceCreate(&p), attributes("MatmulPreference", p, (void *)cublasLtMatmulPreferenceGetAttribute, (void *)cublasLtMatmulPreferenceSetAttribute, 20);
    cublasLtMatrixTransformDescCreate(&t, CUDA_R_32F), attributes("MatrixTransformDesc", t, (void *)cublasLtMatrixTransformDescGetAttribute, (void *)cublasLtMatrixTransformDescSetAttribute, 20);
    // Algorithms are a library's own: what can be said of the first one of each pair of types.
    static const int types[] = {F16, BF16, F32, F64, C32, C64};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 4; j++) {
            int compute = types[i] == F64 || types[i] == C64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, scale = i < 2 ? F32 : types[i], ids[8] = {0}, found = 0, s[8], type = T[types[i]].type, got = 0;
            cublasLtMatmulAlgo_t algo;
            cublasLtMatmulHeuristicResult_t r;
            cublasLtMatmulDesc_t e;
            cublasLtMatrixLayout_t m = layout(types[i], 32 + 16 * j, 32 + 16 * j, CUBLASLT_ORDER_COL, 1, 0, 0);
            size_t written = 0;
            memset(&r, 0, sizeof r);
            cublasLtMatmulDescCreate(&e, compute, T[scale].type);
            s[0] = cublasLtMatmulAlgoGetIds(LT, compute, T[scale].type, type, type, type, type, 1 + j, ids, &found);
            s[1] = cublasLtMatmulAlgoInit(LT, compute, T[scale].type, type, type, type, type, ids[0], &algo);
            s[2] = cublasLtMatmulAlgoGetHeuristic(LT, e, m, m, m, m, p, 1, &r, &got);
            s[3] = cublasLtMatmulAlgoCheck(LT, e, m, m, m, m, &r.algo, &r);
            s[4] = cublasLtMatmulAlgoCapGetAttribute(&r.algo, 0, &got, 4, &written);
            s[5] = cublasLtMatmulAlgoConfigGetAttribute(&r.algo, CUBLASLT_ALGO_CONFIG_ID, &got, 4, &written);
            s[6] = cublasLtMatmulAlgoConfigSetAttribute(&r.algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, (int[]){1}, 4);
            s[7] = cublasLtMatmulAlgoInit(LT, compute, T[scale].type, type, type, type, type, 9999, &algo);
            printf("MatmulAlgo %s %d | %d %d %d %d %d %d %d %d | %d\n", T[types[i]].name, j, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], found > 0);
        }
}

// Each part is a process, so that none suffers from what another did to the device.
int main(void) {
    static void (*const parts[])(void) = {orders, batches, scales, epilogues, computes, transforms, descriptors};
    for (int i = 0; i < 7; i++) {
        int state;
        pid_t p = fork();
        if (!p) {
            if (cublasLtCreate(&LT)) exit(1);
            parts[i]();
            int s1 = cudaDeviceSynchronize(), s2 = cublasLtDestroy(LT);
            printf("LtDestroy %d | %d %d |\n", i, s1, s2);
            exit(0);
        }
        waitpid(p, &state, 0);
        if (state) printf("part %d dies\n", i);
        fflush(stdout);
    }
    return 0;
}
