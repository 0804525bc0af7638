// Records cuFFT's plans for two devices, which are one device twice where there is no second: a line is what was made | statuses |
// numbers of the results. Work sizes are not compared.
#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static double noise(void) { // 20 bits, exact in every type
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 44) / 524288.0 - 1;
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
static void show(const void *h, int wide, long n) {
    for (long k = 0; k < 16 && k < n; k++) {
        long i = n <= 16 || k < 4 ? k : (long)((uint64_t)k * 2654435761u % (uint64_t)n);
        if (wide) printf(" %.15g", ((const double *)h)[i]);
        else printf(" %.9g", ((const float *)h)[i]);
    }
}

enum { C2C, R2C, C2R, Z2Z, D2Z, Z2D };
static const char *const names[] = {"c2c f32", "r2c f32", "c2r f32", "z2z f64", "d2z f64", "z2d f64"};
static const cufftType types[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R, CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
static int twice[2] = {0, 0};

// One plan, its transform forwards, and for complex numbers backwards.
static void one(int kind, int rank, const int *n, int batch) {
    int wide = kind >= Z2Z, real = kind != C2C && kind != Z2Z, dims[3];
    long whole = batch, half = batch;
    printf("devices %s n", names[kind]);
    for (int i = 0; i < rank; i++) {
        printf(" %d", dims[i] = n[i]);
        whole *= n[i], half *= i == rank - 1 ? n[i] / 2 + 1 : n[i];
    }
    printf(" batch %d |", batch);
    cufftHandle p;
    size_t work[16];
    cufftCreate(&p);
    st(cufftXtSetGPUs(p, 2, twice));
    int made = rank == 1 && batch == 1 ? cufftMakePlan1d(p, n[0], types[kind], 1, work)
               : rank == 2 && batch == 1 ? cufftMakePlan2d(p, n[0], n[1], types[kind], work)
               : rank == 3 && batch == 1 ? cufftMakePlan3d(p, n[0], n[1], n[2], types[kind], work)
                                         : cufftMakePlanMany(p, rank, dims, 0, 1, 0, 0, 1, 0, types[kind], batch, work);
    cudaLibXtDesc *d = 0;
    long numbers = real ? half * 2 : whole * 2;
    void *h = calloc((size_t)numbers + 2, 8);
    state = 7;
    for (long i = 0; i < numbers; i++) {
        double v = noise();
        if (wide) ((double *)h)[i] = v;
        else ((float *)h)[i] = (float)v;
    }
    if (st(made) && kind != C2R && kind != Z2D && st(cufftXtMalloc(p, &d, CUFFT_XT_FORMAT_INPLACE))) {
        printf(" %d", d->subFormat);
        st(cufftXtMemcpy(p, d, h, CUFFT_COPY_HOST_TO_DEVICE));
        int done = kind == C2C   ? cufftXtExecDescriptorC2C(p, d, d, CUFFT_FORWARD)
                   : kind == Z2Z ? cufftXtExecDescriptorZ2Z(p, d, d, CUFFT_FORWARD)
                   : kind == R2C ? cufftXtExecDescriptorR2C(p, d, d)
                                 : cufftXtExecDescriptorD2Z(p, d, d);
        if (st(done)) {
            printf(" %d", d->subFormat);
            memset(h, 0, (size_t)numbers * 8);
            st(cufftXtMemcpy(p, h, d, CUFFT_COPY_DEVICE_TO_HOST));
            if (!real) st(kind == C2C ? cufftXtExecDescriptorC2C(p, d, d, CUFFT_INVERSE) : cufftXtExecDescriptorZ2Z(p, d, d, CUFFT_INVERSE)), printf(" %d", d->subFormat);
            printf(" |");
            show(h, wide, numbers);
            if (!real) st(0), cufftXtMemcpy(p, h, d, CUFFT_COPY_DEVICE_TO_HOST), show(h, wide, numbers);
        }
    }
    if (d) cufftXtFree(d);
    end();
    cufftDestroy(p), free(h);
}

// Wrong calls, each with a plan of its own.
#define TRY(make, ...)                                                                                                                     \
    {                                                                                                                                      \
        cufftHandle p;                                                                                                                     \
        cufftCreate(&p);                                                                                                                   \
        printf("misuse %s %s |", #__VA_ARGS__, #make);                                                                                     \
        st(__VA_ARGS__), st(make);                                                                                                         \
        end();                                                                                                                             \
        cufftDestroy(p);                                                                                                                   \
    }
#define C1 cufftMakePlan1d(p, 1024, CUFFT_C2C, 1, w)
#define S1 cufftMakePlan1d(p, 16, CUFFT_C2C, 1, w)
// A macro: the arguments of a function may be evaluated in any order.
#define then(a, ...)                                                                                                                       \
    ({                                                                                                                                     \
        int first_ = (a);                                                                                                                  \
        first_ ? 1000 + first_ : (__VA_ARGS__);                                                                                            \
    })
static void misuse(void) {
    size_t w[16];
    int d0[17] = {0}, more[2] = {0, 77}, negative[2] = {0, -1}, three[3] = {0, 0, 0};
    cudaLibXtDesc *t = 0;
    void *areas[2] = {0}, *x;
    cudaMalloc(&x, 1 << 20);
    areas[0] = areas[1] = x;
    TRY(C1, cufftXtSetGPUs(p, 1, d0));
    TRY(C1, cufftXtSetGPUs(p, 0, d0));
    TRY(C1, cufftXtSetGPUs(p, -1, d0));
    TRY(C1, cufftXtSetGPUs(p, 2, twice));
    TRY(S1, cufftXtSetGPUs(p, 2, twice));
    TRY(C1, cufftXtSetGPUs(p, 3, three));
    TRY(C1, cufftXtSetGPUs(p, 4, d0));
    TRY(C1, cufftXtSetGPUs(p, 5, d0));
    TRY(C1, cufftXtSetGPUs(p, 8, d0));
    TRY(C1, cufftXtSetGPUs(p, 16, d0));
    TRY(C1, cufftXtSetGPUs(p, 17, d0));
    TRY(C1, cufftXtSetGPUs(p, 2, more));
    TRY(S1, cufftXtSetGPUs(p, 2, more));
    TRY(C1, cufftXtSetGPUs(p, 2, negative));
    TRY(C1, cufftXtSetGPUs(p, 2, 0));
    TRY(C1, cufftXtSetGPUs(p, 1, 0));
    TRY(C1, then(C1, cufftXtSetGPUs(p, 1, d0)));
    TRY(C1, then(C1, cufftXtSetGPUs(p, 2, twice)));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), cufftXtSetGPUs(p, 2, twice)));
    TRY(C1, cufftXtSetWorkArea(p, areas));
    TRY(C1, cufftXtSetWorkArea(p, 0));
    TRY(C1, then(C1, cufftXtSetWorkArea(p, areas)));
    TRY(C1, then(C1, cufftXtSetWorkArea(p, 0)));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), cufftXtSetWorkArea(p, areas)));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), then(C1, cufftXtSetWorkArea(p, areas))));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), then(C1, cufftXtSetWorkArea(p, 0))));
    TRY(C1, cufftXtSetCallbackSharedSize(p, CUFFT_CB_LD_COMPLEX, 64));
    TRY(C1, then(C1, cufftXtSetCallbackSharedSize(p, CUFFT_CB_LD_COMPLEX, 64)));
    TRY(C1, cufftXtMalloc(p, &t, CUFFT_XT_FORMAT_INPLACE));
    TRY(C1, then(C1, cufftXtMalloc(p, &t, CUFFT_XT_FORMAT_INPLACE)));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), cufftXtMalloc(p, &t, CUFFT_XT_FORMAT_INPLACE)));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), then(C1, cufftXtMalloc(p, 0, CUFFT_XT_FORMAT_INPLACE))));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), then(C1, cufftXtMalloc(p, &t, (cufftXtSubFormat)44))));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), then(C1, cufftXtMalloc(p, &t, CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED))));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), then(C1, cufftXtMalloc(p, &t, CUFFT_XT_FORMAT_INPLACE_SHUFFLED))));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), then(C1, cufftExecC2C(p, x, x, CUFFT_FORWARD))));
    TRY(C1, then(cufftXtSetGPUs(p, 2, twice), then(C1, cufftXtExecDescriptorC2C(p, 0, 0, CUFFT_FORWARD))));
    TRY(C1, then(C1, cufftXtExecDescriptorC2C(p, 0, 0, CUFFT_FORWARD)));
    TRY(C1, cufftXtFree(0));
    cudaFree(x);
}

int main(void) {
    static const struct {
        int rank, n[3];
    } shapes[] = {{1, {2}},  {1, {8}},   {1, {16}},  {1, {31}},     {1, {32}},     {1, {64}},      {1, {96}},     {1, {100}},        {1, {127}},       {1, {128}},
                  {1, {250}}, {1, {1024}}, {1, {4096}}, {2, {8, 64}}, {2, {16, 16}}, {2, {32, 32}}, {2, {32, 48}}, {2, {64, 31}}, {2, {100, 60}}, {3, {16, 16, 16}},
                  {3, {32, 32, 32}}, {3, {64, 32, 8}}, {3, {33, 32, 40}}};
    for (int kind = C2C; kind <= Z2D; kind++)
        for (unsigned i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int batch = 1; batch <= 3; batch++) one(kind, shapes[i].rank, shapes[i].n, batch);
    misuse();
    return 0;
}
