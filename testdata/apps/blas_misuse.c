// Records the statuses of calls of cuBLAS that make no sense: every function below with one argument changed after the other. All arguments are
// whole numbers or addresses, so that a row says what they are and one pointer type calls all functions. A child process makes the calls of a
// row; where it dies, the next one goes on behind. A line is: function, argument, its value | status, what the device says afterwards.
// With "64" the functions are those whose sizes have 64 bits.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// h handle, o operation, u triangle, d side, g diagonal, i size, k diagonals of a band, l leading dimension, v increment, s scalar, r result on the
// host, A matrix, P list of matrices, b count of a batch, t stride, p pivots, f infos, F info on the host, T type, C how it is computed, E algorithm.
static const struct row {
    const char *name, *arguments;
} rows[] = {
    {"Isamax", "hiAvr"}, {"Izamin", "hiAvr"}, {"Sasum", "hiAvr"}, {"Dznrm2", "hiAvr"}, {"Sdot", "hiAvAvr"}, {"Zdotc", "hiAvAvr"}, {"Saxpy", "hisAvAv"},
    {"Dscal", "hisAv"}, {"Zdscal", "hisAv"}, {"Scopy", "hiAvAv"}, {"Cswap", "hiAvAv"}, {"Srot", "hiAvAvss"}, {"Drotm", "hiAvAvs"}, {"Srotg!", "hrrrr"},
    {"Drotmg!", "hrrrsr"}, {"Sgemv", "hoiisAlAvsAv"}, {"Zgemv", "hoiisAlAvsAv"}, {"Dgbmv", "hoiikksAlAvsAv"}, {"Ssymv", "huisAlAvsAv"},
    {"Chemv", "huisAlAvsAv"}, {"Dsbmv", "huiksAlAvsAv"}, {"Zhbmv", "huiksAlAvsAv"}, {"Sspmv", "huisAAvsAv"}, {"Chpmv", "huisAAvsAv"}, {"Dger", "hiisAvAvAl"},
    {"Cgeru", "hiisAvAvAl"}, {"Zgerc", "hiisAvAvAl"}, {"Ssyr", "huisAvAl"}, {"Cher", "huisAvAl"}, {"Dsyr2", "huisAvAvAl"}, {"Zher2", "huisAvAvAl"},
    {"Sspr", "huisAvA"}, {"Chpr", "huisAvA"}, {"Dspr2", "huisAvAvA"}, {"Zhpr2", "huisAvAvA"}, {"Strmv", "huogiAlAv"}, {"Ctbmv", "huogikAlAv"},
    {"Dtpmv", "huogiAAv"}, {"Ztrsv", "huogiAlAv"}, {"Stbsv", "huogikAlAv"}, {"Ctpsv", "huogiAAv"}, {"Sgemm", "hooiiisAlAlsAl"}, {"Hgemm", "hooiiisAlAlsAl"},
    {"Zgemm", "hooiiisAlAlsAl"}, {"Cgemm3m", "hooiiisAlAlsAl"}, {"Dsymm", "hduiisAlAlsAl"}, {"Chemm", "hduiisAlAlsAl"}, {"Ssyrk", "huoiisAlsAl"},
    {"Zherk", "huoiisAlsAl"}, {"Csyrk", "huoiisAlsAl"}, {"Dsyr2k", "huoiisAlAlsAl"}, {"Cher2k", "huoiisAlAlsAl"}, {"Ssyrkx", "huoiisAlAlsAl"},
    {"Zherkx", "huoiisAlAlsAl"}, {"Dtrmm", "hduogiisAlAlAl"}, {"Ctrsm", "hduogiisAlAl"}, {"Sgeam", "hooiisAlsAlAl"}, {"Zdgmm", "hdiiAlAvAl"},
    {"SgemmBatched", "hooiiisPlPlsPlb"}, {"ZgemmStridedBatched", "hooiiisAltAltsAltb"}, {"DgemvBatched", "hoiisPlPvsPvb"},
    {"CgemvStridedBatched", "hoiisAltAvtsAvtb"}, {"HSHgemvBatched", "hoiisPlPvsPvb"}, {"StrsmBatched", "hduogiisPlPlb"}, {"DgetrfBatched!", "hiPlpfb"},
    {"SgetrsBatched!", "hoiiPlpPlFb"}, {"CgetriBatched!", "hiPlpPlfb"}, {"ZmatinvBatched!", "hiPlPlfb"}, {"SgeqrfBatched!", "hiiPlPFb"},
    {"DgelsBatched!", "hoiiiPlPlFfb"}, {"Ctpttr!", "huiAAl"}, {"Ztrttp!", "huiAlA"}, {"GemmEx", "hooiiisATlATlsATlCE"},
    {"GemmStridedBatchedEx", "hooiiisATltATltsATltbCE"}, {"GemmBatchedEx", "hooiiisPTlPTlsPTlbCE"}, {"SgemmEx", "hooiiisATlATlsATl"},
    {"AxpyEx", "hisTATvATvT"}, {"ScalEx", "hisTATvT"}, {"DotEx", "hiATvATvrTT"}, {"Nrm2Ex", "hiATvrTT"},
};
enum { COUNT = sizeof rows / sizeof *rows, MOST = 24, NIL = -99 };

// changes are the values that an argument of a kind gets; NIL is no address, and none at all ends the list.
static const long *changes(char kind) {
    enum { END = -1000 };
    static const long handle[] = {NIL, END}, op[] = {-1, 3, 4, 9, END}, two[] = {-1, 2, 3, 9, END}, size[] = {-1, 0, END}, band[] = {-1, 4, END}, ld[] = {3, 0, -1, END},
                      inc[] = {0, END}, type[] = {1, 2, 3, 4, 14, 28, -1, 99, END}, compute[] = {64, 65, 70, 72, 74, 77, -1, 99, END}, algorithm[] = {-2, 23, 24, 99, 115, 200, END},
                      nothing[] = {END};
    switch (kind) {
    case 'h':
    case 's':
    case 'r':
    case 'F': return handle;
    case 'o': return op;
    case 'u':
    case 'd':
    case 'g': return two;
    case 'i':
    case 'b': return size;
    case 'k': return band;
    case 'l': return ld;
    case 'v': return inc;
    case 'T': return type;
    case 'C': return compute;
    case 'E': return algorithm;
    }
    return nothing;
}
static long usual(char kind, void *handle, char *matrix, void *list, void *pivots, void *infos, char *host) {
    switch (kind) {
    case 'h': return (long)handle;
    case 'i':
    case 'l': return 4;
    case 'k':
    case 'v': return 1;
    case 'b': return 2;
    case 't': return 16;
    case 's': return (long)host;
    case 'r':
    case 'F': return (long)(host + 64);
    case 'A': return (long)matrix;
    case 'P': return (long)list;
    case 'p': return (long)pivots;
    case 'f': return (long)infos;
    case 'C': return 68; // CUBLAS_COMPUTE_32F
    case 'E': return -1;
    }
    return 0;
}
typedef int call(long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long, long);

static void child(const struct row *r, int wide, int from) {
    void *library = dlopen("libcublas.so.13", RTLD_NOW | RTLD_GLOBAL), *handle = 0, *matrix, *list, *pivots, *infos;
    char name[64], host[128] = {0};
    int (*create)(void **) = (int (*)(void **))dlsym(library, "cublasCreate_v2");
    if (!create || create(&handle)) exit(9);
    int ones[16] = {1, 2, 3, 4, 1, 2, 3, 4};
    cudaMalloc(&matrix, 1 << 16), cudaMalloc(&list, 64), cudaMalloc(&pivots, 64), cudaMalloc(&infos, 64);
    void *two[] = {matrix, (char *)matrix + 4096};
    cudaMemset(matrix, 0, 1 << 16), cudaMemcpy(list, two, sizeof two, cudaMemcpyDefault), cudaMemcpy(pivots, ones, sizeof ones, cudaMemcpyDefault);
    int length = (int)strcspn(r->name, "!"), number = 0;
    snprintf(name, sizeof name, "cublas%.*s_v2%s", length, r->name, wide ? "_64" : "");
    call *f = (call *)dlsym(library, name);
    if (!f) snprintf(name, sizeof name, "cublas%.*s%s", length, r->name, wide ? "_64" : ""), f = (call *)dlsym(library, name);
    if (!f) printf("%s missing\n", name), exit(0);
    for (int i = 0; r->arguments[i]; i++)
        for (const long *c = changes(r->arguments[i]); *c != -1000; c++) {
            if (number++ < from) continue;
            long a[MOST] = {0};
            for (int j = 0; r->arguments[j]; j++) a[j] = usual(r->arguments[j], handle, matrix, list, pivots, infos, host);
            a[i] = *c == NIL ? 0 : *c;
            printf("%s %d %c %ld |", name, i, r->arguments[i], *c == NIL ? 0 : *c), fflush(stdout);
            int s = f(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23]);
            int after = cudaDeviceSynchronize();
            printf(" %d %d\n", s, after), fflush(stdout);
            if (after) exit(2);
        }
    exit(0);
}

int main(int argc, char **argv) {
    int wide = argc > 1 && !strcmp(argv[1], "64");
    for (int i = 0; i < COUNT; i++) {
        int all = 0;
        if (wide && strchr(rows[i].name, '!')) continue;
        for (const char *a = rows[i].arguments; *a; a++)
            for (const long *c = changes(*a); *c != -1000; c++) all++;
        for (int from = 0; from < all;) {
            int out[2], state;
            char text[8192];
            size_t n = 0;
            fflush(stdout);
            if (pipe(out)) return 1;
            pid_t p = fork();
            if (!p) dup2(out[1], 1), close(out[0]), close(out[1]), child(&rows[i], wide, from);
            close(out[1]);
            for (ssize_t got; n < sizeof text - 1 && (got = read(out[0], text + n, sizeof text - 1 - n)) > 0;) n += (size_t)got;
            text[n] = 0;
            close(out[0]), waitpid(p, &state, 0);
            fputs(text, stdout);
            if (WIFEXITED(state) && !WEXITSTATUS(state)) break;
            int lines = 0; // what the library itself says is others
            for (char *c = text; *c; c++) lines += (c == text || c[-1] == '\n') && !strncmp(c, "cublas", 6);
            if (n && text[n - 1] != '\n') puts(" dies");
            if (!lines) return 3;
            from += lines;
        }
    }
    return 0;
}
