// Records gradients of fp8 products and the answers to every epilogue, as gradients.txt has them: gcc -O1 -w record_gradients.c -ldl -lm. No
// headers of CUDA.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
typedef int (*F)();
static void *rt, *lt;
#define R(n) ((F)dlsym(rt, #n))
#define L(n) ((F)dlsym(lt, #n))
static void *h;
static void *dev(size_t n) { void *p = 0; if (R(cudaMalloc)(&p, n)) exit(9); R(cudaMemset)(p, 0, n); return p; }
static void up(void *d, const void *s, size_t n) { R(cudaMemcpy)(d, s, n, 1); }
static void down(void *d, const void *s, size_t n) { R(cudaDeviceSynchronize)(); R(cudaMemcpy)(d, s, n, 2); }
static int (*LayoutCreate)(void **, int, uint64_t, uint64_t, int64_t);
static int (*Set)(void *, int, const void *, size_t);
static void *layout(int type, int rows, int cols, int64_t ld, int order) {
    void *l; LayoutCreate(&l, type, rows, cols, ld);
    L(cublasLtMatrixLayoutSetAttribute)(l, 1, &order, (size_t)4);
    return l;
}
static float BETA = 0;
static int matmul(void *desc, void *a, void *la, void *b, void *lb, void *c, void *lc, void *d, void *ld_) {
    char heur[128]; int found = 0; void *pref; size_t ws = 32 << 20; static void *work;
    if (!work) work = dev(ws);
    L(cublasLtMatmulPreferenceCreate)(&pref); L(cublasLtMatmulPreferenceSetAttribute)(pref, 1, &ws, (size_t)8);
    int s = ((int (*)(void *, void *, void *, void *, void *, void *, void *, int, void *, int *))L(cublasLtMatmulAlgoGetHeuristic))(h, desc, la, lb, lc, ld_, pref, 1, heur, &found);
    if (s || !found) return 1000 + s;
    float one = 1, zero = BETA;
    return ((int (*)(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, void *, size_t, void *))L(cublasLtMatmul))(
        h, desc, &one, a, la, b, lb, &zero, c, lc, d, ld_, heur, work, ws, 0);
}


static unsigned seed = 1;
static unsigned next(void) { seed = seed * 1664525u + 1013904223u; return seed >> 16; }
// Small numbers of e4m3, sums are exact: D and the bias's sums as bits.
static void grad(int dtype, int epilogue, int biasType) {
    enum { m = 128, n = 64, k = 64 };
    unsigned char ha[m * k], hb[n * k]; static unsigned short hx[m * n], hd[m * n]; static unsigned hbias[m];
    static const unsigned char few[] = {0x00, 0x30, 0x38, 0x3c, 0x40, 0xb0, 0xb8, 0xc0};
    seed = 1;
    for (int i = 0; i < m * k; i++) ha[i] = few[next() % 8];
    for (int i = 0; i < n * k; i++) hb[i] = few[next() % 8];
    for (int i = 0; i < m * n; i++) { int q = (int)(next() % 129) - 64; float f = q / 16.0f; unsigned u; memcpy(&u, &f, 4); hx[i] = dtype == 14 ? u >> 16 : 0;
        if (dtype == 2) { _Float16 h16 = f; memcpy(&hx[i], &h16, 2); } }
    if (epilogue & 8) for (int i = 0; i < m * n; i++) hx[i] = next();
    void *a = dev(m * k), *b = dev(n * k), *d = dev(m * n * 2), *x = dev(m * n * 2), *bias = dev(m * 4), *desc; int t = 1; int64_t ld = m;
    up(a, ha, m * k); up(b, hb, n * k); up(x, hx, m * n * 2);
    L(cublasLtMatmulDescCreate)(&desc, 68, 0);
    Set(desc, 3, &t, 4); Set(desc, 7, &epilogue, 4); if (epilogue & 16) Set(desc, 8, &bias, 8); Set(desc, 11, &x, 8); Set(desc, 12, &ld, 8);
    if (biasType >= 0) Set(desc, 26, &biasType, 4);
    int s = matmul(desc, a, layout(28, k, m, k, 0), b, layout(28, k, n, k, 0), d, layout(dtype, m, n, m, 0), d, layout(dtype, m, n, m, 0));
    down(hd, d, m * n * 2); down(hbias, bias, m * 4);
    printf("gradient D %d epilogue %d bias %d status %d\n", dtype, epilogue, biasType, s);
    if (s) return;
    printf("D"); for (int i = 0; i < m * n; i += 61) printf(" %04x", hd[i]); printf("\n");
    if (epilogue & 16) { printf("bias"); for (int i = 0; i < 16; i++) if (biasType == 0) printf(" %08x", hbias[i]); else printf(" %04x", ((unsigned short *)hbias)[i]); printf("\n"); }
}
static void status(int dtype, int epilogue, int withBias, int withAux, int auxType) {
    int m = 256, n = 384, k = 640, ctype = dtype == 28 ? 14 : dtype; void *desc, *a = dev(m * k), *b = dev(n * k), *c = dev(m * n * 4), *d = dev(m * n * 4), *bias = dev(4096), *aux = dev(m * n * 4); int t = 1; int64_t ld = 256;
    L(cublasLtMatmulDescCreate)(&desc, 68, 0);
    Set(desc, 3, &t, 4); Set(desc, 7, &epilogue, 4); if (withBias) Set(desc, 8, &bias, 8); if (withAux) { Set(desc, 11, &aux, 8); Set(desc, 12, &ld, 8); }
    if (auxType >= 0) Set(desc, 22, &auxType, 4);
    int s = matmul(desc, a, layout(28, k, m, k, 0), b, layout(28, k, n, k, 0), c, layout(ctype, m, n, m, 0), d, layout(dtype, m, n, m, 0));
    R(cudaDeviceSynchronize)();
    printf("status D %d epilogue %d bias %d aux %d %d: %d\n", dtype, epilogue, withBias, withAux, auxType, s);
    R(cudaFree)(a); R(cudaFree)(b); R(cudaFree)(c); R(cudaFree)(d); R(cudaFree)(bias); R(cudaFree)(aux);
}
int main(void) {
    rt = dlopen("libcudart.so.13", RTLD_NOW | RTLD_GLOBAL); lt = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_GLOBAL);
    if (!rt || !lt) { printf("%s\n", dlerror()); return 1; }
    LayoutCreate = (void *)L(cublasLtMatrixLayoutCreate); Set = (void *)L(cublasLtMatmulDescSetAttribute);
    printf("create %d, version %zu\n", L(cublasLtCreate)(&h), ((size_t (*)(void))L(cublasLtGetVersion))());
    int ds[] = {14, 2};
    for (int i = 0; i < 2; i++) { grad(ds[i], 136, -1); grad(ds[i], 152, -1); grad(ds[i], 152, 0); grad(ds[i], 192, -1); grad(ds[i], 208, -1); grad(ds[i], 208, 0); }
    int all[] = {14, 2, 0, 28};
    for (int i = 0; i < 4; i++) {
        static const int es[] = {1, 2, 4, 6, 32, 36, 130, 134, 160, 164, 136, 152, 192, 208, 256, 512};
        for (int j = 0; j < 16; j++) status(all[i], es[j], (es[j] & (4 | 16 | 256 | 512)) != 0, (es[j] & (128 | 64 | 8)) != 0, -1);
        status(all[i], 4, 0, 0, -1); status(all[i], 2, 1, 0, -1); status(all[i], 2, 0, 1, -1); status(all[i], 164, 1, 1, 28); status(all[i], 164, 1, 1, 14); status(all[i], 164, 1, 1, 2);
    }
    return 0;
}
