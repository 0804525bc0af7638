// What the recorder of cuSPARSE needs: numbers made by a rule, matrices in every format, and one line a result.
#pragma once
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// small whole numbers: sums of them are exact in every type and every order.
static double number(uint64_t seed, uint64_t k) {
    int v = (int)(mix(seed * 1000003 + k) % 9) - 4;
    return v ? v : 2;
}

static const struct kind {
    const char *name;
    cudaDataType type;
    int size;
} kinds[] = {{"f32", CUDA_R_32F, 4}, {"f64", CUDA_R_64F, 8}, {"c32", CUDA_C_32F, 8}, {"c64", CUDA_C_64F, 16},
             {"f16", CUDA_R_16F, 2}, {"bf16", CUDA_R_16BF, 2}, {"s8", CUDA_R_8I, 1}, {"s32", CUDA_R_32I, 4}};
enum { F32, F64, C32, C64, F16, BF16, S8, S32 };

static uint16_t half_of(double d) {
    float f = (float)d;
    uint32_t u;
    memcpy(&u, &f, 4);
    int e = (int)(u >> 23 & 255) - 127 + 15;
    uint32_t sign = u >> 16 & 0x8000, m = u & 0x7fffff;
    if (e <= 0) return (uint16_t)sign;
    return (uint16_t)(sign | (uint32_t)e << 10 | m >> 13);
}

static double of_half(uint16_t h) {
    int e = h >> 10 & 31, m = h & 1023;
    double v = e == 0 ? m / 16777216.0 : e == 31 ? (m ? 0.0 / 0.0 : 1.0 / 0.0) : (1024 + m) * (double)(1ll << e) / 33554432.0;
    return h & 0x8000 ? -v : v;
}

static void put(void *to, int kind, long i, double re, double im) {
    float f = (float)re;
    uint32_t u;
    switch (kind) {
    case F32: ((float *)to)[i] = f; break;
    case F64: ((double *)to)[i] = re; break;
    case C32: ((float *)to)[2 * i] = f, ((float *)to)[2 * i + 1] = (float)im; break;
    case C64: ((double *)to)[2 * i] = re, ((double *)to)[2 * i + 1] = im; break;
    case F16: ((uint16_t *)to)[i] = half_of(re); break;
    case BF16: memcpy(&u, &f, 4), ((uint16_t *)to)[i] = (uint16_t)(u >> 16); break;
    case S8: ((int8_t *)to)[i] = (int8_t)re; break;
    case S32: ((int32_t *)to)[i] = (int32_t)re; break;
    }
}

// Device memory of a case; all of it is given back after the case.
static void *held[256];
static int holds;

static void *dev(size_t n) {
    void *p = 0;
    if (cudaMalloc(&p, n ? n : 16) != cudaSuccess) exit(fprintf(stderr, "cudaMalloc\n"));
    cudaMemset(p, 0, n ? n : 16);
    held[holds++] = p;
    return p;
}
static void *up(const void *h, size_t n) {
    void *p = dev(n);
    cudaMemcpy(p, h, n, cudaMemcpyHostToDevice);
    return p;
}
static void done(void) {
    cudaDeviceSynchronize();
    while (holds) cudaFree(held[--holds]);
}

// numbers is n of them on the device.
static void *numbers(int kind, long n, uint64_t seed) {
    void *h = calloc((size_t)n + 1, 16);
    for (long i = 0; i < n; i++) put(h, kind, i, number(seed, (uint64_t)i), number(seed + 77, (uint64_t)i));
    void *p = up(h, (size_t)n * (size_t)kinds[kind].size);
    free(h);
    return p;
}
static void *indices(const long *v, long n, int wide, int base) {
    int64_t *h = calloc((size_t)n + 1, 8);
    for (long i = 0; i < n; i++) {
        long x = v[i] < 0 ? v[i] : v[i] + base;
        if (wide) h[i] = x;
        else ((int32_t *)h)[i] = (int32_t)x;
    }
    void *p = up(h, (size_t)n * (wide ? 8u : 4u));
    free(h);
    return p;
}

// show prints what lies on the device.
static void show(const void *p, int kind, long n) {
    void *h = calloc((size_t)n + 1, 16);
    cudaMemcpy(h, p, (size_t)n * (size_t)kinds[kind].size, cudaMemcpyDeviceToHost);
    for (long i = 0; i < n; i++) switch (kind) {
        case F32: printf(" %.9g", ((float *)h)[i]); break;
        case F64: printf(" %.15g", ((double *)h)[i]); break;
        case C32: printf(" %.9g %.9g", ((float *)h)[2 * i], ((float *)h)[2 * i + 1]); break;
        case C64: printf(" %.15g %.15g", ((double *)h)[2 * i], ((double *)h)[2 * i + 1]); break;
        case F16: printf(" %.6g", of_half(((uint16_t *)h)[i])); break;
        case BF16: {
            uint32_t u = (uint32_t)((uint16_t *)h)[i] << 16;
            float f;
            memcpy(&f, &u, 4);
            printf(" %.6g", f);
            break;
        }
        case S8: printf(" %d", ((int8_t *)h)[i]); break;
        case S32: printf(" %d", ((int32_t *)h)[i]); break;
        }
    free(h);
}
static void show_indices(const void *p, long n, int wide) {
    if (!wide) {
        show(p, S32, n);
        return;
    }
    int64_t *h = calloc((size_t)n + 1, 8);
    cudaMemcpy(h, p, (size_t)n * 8, cudaMemcpyDeviceToHost);
    for (long i = 0; i < n; i++) printf(" %ld", (long)h[i]);
    free(h);
}

// A line is: what was called | statuses | what came out.
static int first;
static void begin(const char *fmt, ...) {
    va_list a;
    va_start(a, fmt);
    vprintf(fmt, a);
    va_end(a);
    printf(" |");
    first = 1;
}
static int st(cusparseStatus_t s) {
    printf(" %d", (int)s);
    return s == CUSPARSE_STATUS_SUCCESS;
}
static void results(void) { printf(" |"); }
static void end(void) {
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) printf(" cuda %d", (int)e);
    printf("\n");
    fflush(stdout);
    done();
}

// A matrix is a pattern; its value at (i, j) is a rule.
struct M {
    int m, n, block;
    char on[32 * 32]; // of blocks, if block > 1
    uint64_t seed;
    int diagonal; // large numbers there
};

static struct M pattern(int m, int n, uint64_t seed, int mod) {
    struct M a = {m, n, 1, {0}, seed, 0};
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) a.on[i * 32 + j] = mix(seed * 31 + (uint64_t)(i * 37 + j)) % (uint64_t)mod == 0 && i != 2;
    return a;
}
static double re_of(const struct M *a, int i, int j) {
    if (a->diagonal && i == j) return 16 + i % 3;
    return number(a->seed + 5, (uint64_t)(i * 64 + j));
}
static double im_of(const struct M *a, int i, int j) {
    if (a->diagonal && i == j) return 0;
    return number(a->seed + 9, (uint64_t)(i * 64 + j));
}

// A matrix on the device in some format.
struct D {
    void *off, *ind, *ind2, *val;
    long nnz, lines, noff;
    int kind, wide, base;
};

enum { CSR, CSC, COO, BSR, SELL, BELL };
static const char *formats[] = {"csr", "csc", "coo", "bsr", "sell", "bell"};

// lay puts a matrix of scalars on the device as CSR, CSC or COO.
static struct D lay(const struct M *a, int format, int kind, int wide, int base) {
    struct D d = {0};
    long off[64] = {0}, row[1024], col[1024];
    void *v = calloc(1024, 16);
    int lines = format == CSC ? a->n : a->m, others = format == CSC ? a->m : a->n;
    for (int l = 0; l < lines; l++) {
        off[l] = d.nnz;
        for (int o = 0; o < others; o++) {
            int i = format == CSC ? o : l, j = format == CSC ? l : o;
            if (!a->on[i * 32 + j]) continue;
            row[d.nnz] = i, col[d.nnz] = j;
            put(v, kind, d.nnz++, re_of(a, i, j), im_of(a, i, j));
        }
    }
    off[lines] = d.nnz;
    d.lines = lines, d.kind = kind, d.wide = wide, d.base = base, d.noff = lines + 1;
    d.off = indices(off, lines + 1, wide, base);
    d.ind = indices(format == CSC ? row : col, d.nnz, wide, base);
    d.ind2 = indices(row, d.nnz, wide, base);
    d.val = up(v, (size_t)d.nnz * (size_t)kinds[kind].size);
    free(v);
    return d;
}

// lay_blocks puts blocks of bm × bn on the device: the pattern is of blocks.
static struct D lay_blocks(const struct M *a, int bm, int bn, int by_column, int kind, int wide, int base) {
    struct D d = {0};
    long off[64] = {0}, col[1024], at = 0;
    void *v = calloc(8192, 16);
    for (int i = 0; i < a->m; i++) {
        off[i] = d.nnz;
        for (int j = 0; j < a->n; j++) {
            if (!a->on[i * 32 + j]) continue;
            col[d.nnz++] = j;
            for (int k = 0; k < bm * bn; k++) {
                int r = by_column ? k % bm : k / bn, c = by_column ? k / bm : k % bn;
                put(v, kind, at++, re_of(a, i * bm + r, j * bn + c), im_of(a, i * bm + r, j * bn + c));
            }
        }
    }
    off[a->m] = d.nnz;
    d.lines = a->m, d.kind = kind, d.wide = wide, d.base = base, d.noff = a->m + 1;
    d.off = indices(off, a->m + 1, wide, base);
    d.ind = indices(col, d.nnz, wide, base);
    d.val = up(v, (size_t)at * (size_t)kinds[kind].size);
    free(v);
    return d;
}

// lay_sell puts slices of two rows on the device.
static struct D lay_sell(const struct M *a, int kind, int wide, int base) {
    struct D d = {0};
    long off[64] = {0}, col[2048], at = 0;
    void *v = calloc(2048, 16);
    int slices = (a->m + 1) / 2;
    for (int s = 0; s < slices; s++) {
        off[s] = at;
        int widest = 0, count[2] = {0}, list[2][32];
        for (int r = 0; r < 2 && 2 * s + r < a->m; r++) {
            for (int j = 0; j < a->n; j++)
                if (a->on[(2 * s + r) * 32 + j]) list[r][count[r]++] = j;
            if (count[r] > widest) widest = count[r];
        }
        for (int k = 0; k < widest; k++)
            for (int r = 0; r < 2; r++, at++) {
                col[at] = k < count[r] ? list[r][k] : -1;
                if (k < count[r]) {
                    d.nnz++;
                    put(v, kind, at, re_of(a, 2 * s + r, list[r][k]), im_of(a, 2 * s + r, list[r][k]));
                }
            }
    }
    off[slices] = at;
    d.lines = at, d.kind = kind, d.wide = wide, d.base = base, d.noff = slices + 1;
    d.off = indices(off, slices + 1, wide, base);
    d.ind = indices(col, at, wide, base);
    d.val = up(v, (size_t)at * (size_t)kinds[kind].size);
    free(v);
    return d;
}

static cusparseIndexType_t itype(int wide) { return wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I; }
static cusparseIndexBase_t ibase(int base) { return base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO; }

// sparse describes what lay made.
static cusparseSpMatDescr_t sparse(const struct M *a, const struct D *d, int format) {
    cusparseSpMatDescr_t s = 0;
    cudaDataType t = kinds[d->kind].type;
    cusparseStatus_t r = CUSPARSE_STATUS_SUCCESS;
    switch (format) {
    case CSR: r = cusparseCreateCsr(&s, a->m, a->n, d->nnz, d->off, d->ind, d->val, itype(d->wide), itype(d->wide), ibase(d->base), t); break;
    case CSC: r = cusparseCreateCsc(&s, a->m, a->n, d->nnz, d->off, d->ind, d->val, itype(d->wide), itype(d->wide), ibase(d->base), t); break;
    case COO: r = cusparseCreateCoo(&s, a->m, a->n, d->nnz, d->ind2, d->ind, d->val, itype(d->wide), ibase(d->base), t); break;
    case SELL: r = cusparseCreateSlicedEll(&s, a->m, a->n, d->nnz, d->lines, 2, d->off, d->ind, d->val, itype(d->wide), itype(d->wide), ibase(d->base), t); break;
    }
    if (r) printf(" (descriptor %d)", (int)r);
    return s;
}

// scalar is a number in a type, for alpha and beta.
static const void *scalar(int kind, double re, double im) {
    static char ring[16][16];
    static int at;
    char *p = ring[at++ % 16];
    memset(p, 0, 16);
    put(p, kind, 0, re, im);
    return p;
}

static cusparseHandle_t H;
