/* Transforms of cuFFT on real hardware: one line a case, what was asked and some numbers of the result, as bits. The input is made by
 * noise() of rig_test.go. fft_record FILE writes the cases of one storage type. */
#include <cuda_runtime.h>
#include <cufft.h>
#include <cufftXt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static double noise(void) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)((int64_t)state >> 11) * 0x1p-52;
}

static uint16_t half(double v) { /* round to nearest even; no subnormals matter here */
    float f = (float)v;
    uint32_t b;
    memcpy(&b, &f, 4);
    int e = (int)(b >> 23 & 255) - 127 + 15;
    uint32_t m = b & 0x7fffff, s = b >> 16 & 0x8000;
    if (e <= 0) {
        if (e < -10) return s;
        m |= 0x800000;
        int sh = 14 - e;
        uint32_t r = m >> sh, rest = m & ((1u << sh) - 1), h = 1u << (sh - 1);
        return s | (r + (rest > h || (rest == h && (r & 1))));
    }
    uint32_t r = m >> 13, rest = m & 0x1fff;
    return s | ((e << 10 | r) + (rest > 0x1000 || (rest == 0x1000 && (r & 1))));
}
static uint16_t bfloat(double v) {
    float f = (float)v;
    uint32_t b;
    memcpy(&b, &f, 4);
    return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

enum { F16, BF16, F32, F64 };
enum { CC, RC, CR };
static const int bytes[] = {2, 2, 4, 8};
static const cudaDataType reals[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F};
static const cudaDataType complexes[] = {CUDA_C_16F, CUDA_C_16BF, CUDA_C_32F, CUDA_C_64F};

static void put(char *p, int storage, double v) {
    uint16_t h;
    float f = (float)v;
    switch (storage) {
    case F16: h = half(v), memcpy(p, &h, 2); break;
    case BF16: h = bfloat(v), memcpy(p, &h, 2); break;
    case F32: memcpy(p, &f, 4); break;
    default: memcpy(p, &v, 8);
    }
}

/* One case. adv: the layouts are given; otherwise packed. */
static void one(int storage, int kind, int rank, const long long *n, long long batch, int adv, long long is, long long id, long long os,
                long long od, const long long *ie, const long long *oe, int place, int sign, int by) {
    long long dn[3] = {1, 1, 1}, di[3] = {1, 1, 1}, dd[3] = {1, 1, 1};
    for (int i = 0; i < rank; i++) dn[i] = n[i], di[i] = ie ? ie[i] : 1, dd[i] = oe ? oe[i] : 1;
    size_t big = 1;
    for (int i = 0; i < rank; i++) big *= n[i] + 2;
    big *= batch * 2;
    if (adv) {
        size_t a = is, b = os;
        for (int i = rank - 1; i >= 0; i--) a *= ie[i], b *= oe[i];
        a += batch * id, b += batch * od;
        if (a * 2 > big) big = a * 2;
        if (b * 2 > big) big = b * 2;
    }
    char *h = malloc(big * bytes[storage]), *o = malloc(big * bytes[storage]);
    state = 1;
    for (size_t i = 0; i < big; i++) put(h + i * bytes[storage], storage, noise());
    void *in, *out;
    cudaMalloc(&in, big * bytes[storage]), cudaMalloc(&out, big * bytes[storage]);
    cudaMemcpy(in, h, big * bytes[storage], cudaMemcpyHostToDevice);
    cudaMemset(out, 0, big * bytes[storage]);
    if (place) cudaFree(out), out = in;
    cufftHandle p;
    size_t size = 0;
    cudaDataType it = kind == RC ? reals[storage] : complexes[storage], ot = kind == CR ? reals[storage] : complexes[storage];
    static const cufftType t32[] = {CUFFT_C2C, CUFFT_R2C, CUFFT_C2R}, t64[] = {CUFFT_Z2Z, CUFFT_D2Z, CUFFT_Z2D};
    int s = cufftCreate(&p);
    long long nn[3] = {dn[0], dn[1], dn[2]};
    int n32[3] = {(int)dn[0], (int)dn[1], (int)dn[2]}, ie32[3] = {(int)di[0], (int)di[1], (int)di[2]}, oe32[3] = {(int)dd[0], (int)dd[1], (int)dd[2]};
    cufftType ty = storage == F64 ? t64[kind] : t32[kind];
    if (by == 0)
        s = cufftXtMakePlanMany(p, rank, nn, adv ? di : 0, is, id, it, adv ? dd : 0, os, od, ot, batch, &size, complexes[storage]);
    else if (by == 1)
        s = cufftMakePlanMany(p, rank, n32, adv ? ie32 : 0, is, id, adv ? oe32 : 0, os, od, ty, batch, &size);
    else if (by == 2)
        s = cufftMakePlanMany64(p, rank, nn, adv ? di : 0, is, id, adv ? dd : 0, os, od, ty, batch, &size);
    else if (rank == 1)
        s = cufftMakePlan1d(p, n32[0], ty, batch, &size);
    else if (rank == 2)
        s = cufftMakePlan2d(p, n32[0], n32[1], ty, &size);
    else
        s = cufftMakePlan3d(p, n32[0], n32[1], n32[2], ty, &size);
    int e = -1;
    if (!s) {
        if (by == 0)
            e = cufftXtExec(p, in, out, sign);
        else if (storage == F32)
            e = kind == CC ? cufftExecC2C(p, in, out, sign) : kind == RC ? cufftExecR2C(p, in, out) : cufftExecC2R(p, in, out);
        else
            e = kind == CC ? cufftExecZ2Z(p, in, out, sign) : kind == RC ? cufftExecD2Z(p, in, out) : cufftExecZ2D(p, in, out);
    }
    int sync = cudaDeviceSynchronize();
    cudaMemcpy(o, out, big * bytes[storage], cudaMemcpyDeviceToHost);
    printf("%d %d %d %lld %lld %lld %lld %d %lld %lld %lld %lld %lld %lld %lld %lld %d %d %d %zu | %d %d %d |", storage, kind, rank, dn[0], dn[1],
           dn[2], batch, adv, is, id, os, od, di[1], di[2], dd[1], dd[2], place, sign, by, big, s, e, sync);
    if (!s && !e) { /* some numbers, spread over the whole */
        for (int k = 0; k < 24; k++) {
            size_t i = k < 8 ? k : (size_t)k * 2654435761u % big;
            uint64_t v = 0;
            memcpy(&v, o + i * bytes[storage], bytes[storage]);
            printf(" %zu:%llx", i, (unsigned long long)v);
        }
    }
    printf("\n");
    fflush(stdout);
    cufftDestroy(p);
    cudaFree(in);
    if (!place) cudaFree(out);
    free(h), free(o);
}

int main(int argc, char **argv) {
    static const long long lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 21, 26, 31, 32, 49, 60, 64, 81, 97, 100, 121, 127, 128, 169, 210, 243, 255, 256, 257, 343, 512, 625, 720, 1000, 1009, 1024, 2048, 2187, 2310, 4096, 4099, 8192, 10007, 14641, 16384, 30030, 65536, 65537, 131072};
    static const long long batches[] = {1, 3, 33};
    static const long long two[][3] = {{4, 4, 1}, {5, 7, 1}, {8, 16, 1}, {16, 8, 1}, {32, 48, 1}, {17, 20, 1}, {20, 17, 1}, {100, 64, 1}, {128, 129, 1}, {1, 32, 1}, {32, 1, 1}, {600, 12, 1}};
    static const long long three[][3] = {{2, 3, 4}, {4, 4, 4}, {8, 9, 10}, {16, 32, 8}, {7, 11, 13}, {1, 8, 16}, {32, 32, 32}, {5, 17, 6}};
    for (int storage = F16; storage <= F64; storage++) {
        int narrow = storage < F32;
        for (int kind = CC; kind <= CR; kind++) {
            int signs = kind == CC ? 2 : 1;
            for (int sg = 0; sg < signs; sg++) {
                int sign = kind == CR || sg ? 1 : -1;
                for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
                    if (narrow && i > 20 && lengths[i] & (lengths[i] - 1)) continue;
                    for (unsigned b = 0; b < 3; b++) {
                        if (lengths[i] > 5000 && b) continue;
                        if (b == 1 && i % 2) continue;
                        one(storage, kind, 1, lengths + i, batches[b], 0, 1, 0, 1, 0, 0, 0, (i + b) % 3 == 1, sign, narrow ? 0 : (i + b) % 4);
                    }
                }
                for (unsigned i = 0; i < sizeof two / sizeof *two; i++)
                    for (int b = 1; b <= 3; b += 2)
                        one(storage, kind, 2, two[i], b, 0, 1, 0, 1, 0, 0, 0, (i + b) % 3 == 1, sign, narrow ? 0 : b > 1 ? i % 3 : i % 4);
                for (unsigned i = 0; i < sizeof three / sizeof *three; i++)
                    for (int b = 1; b <= 2; b++)
                        one(storage, kind, 3, three[i], b, 0, 1, 0, 1, 0, 0, 0, (i + b) % 3 == 1, sign, narrow ? 0 : b > 1 ? i % 3 : i % 4);
                /* Layouts of the program's own. */
                static const struct {
                    int rank;
                    long long n[3], batch, is, id, os, od, ie[3], oe[3];
                } lay[] = {
                    {1, {16}, 5, 2, 40, 3, 60, {20}, {20}},
                    {1, {16}, 5, 5, 1, 5, 1, {16}, {16}},
                    {1, {12}, 40, 40, 1, 40, 1, {12}, {12}},
                    {1, {100}, 33, 1, 128, 1, 120, {128}, {120}},
                    {1, {64}, 3, 1, 101, 1, 99, {101}, {99}},
                    {1, {31}, 4, 3, 100, 2, 70, {33}, {33}},
                    {1, {1024}, 2, 2, 2050, 1, 1030, {1024}, {1024}},
                    {2, {8, 6}, 3, 1, 90, 1, 80, {9, 9}, {8, 8}},
                    {2, {8, 6}, 2, 2, 200, 3, 300, {9, 9}, {10, 8}},
                    {2, {32, 16}, 4, 4, 1, 4, 1, {32, 18}, {32, 17}},
                    {2, {600, 20}, 1, 1, 20000, 1, 20000, {600, 24}, {600, 22}},
                    {3, {4, 6, 8}, 2, 1, 400, 1, 420, {5, 7, 10}, {4, 7, 12}},
                    {3, {8, 8, 8}, 2, 2, 1600, 1, 800, {8, 8, 10}, {8, 9, 10}},
                };
                for (unsigned i = 0; i < sizeof lay / sizeof *lay; i++) {
                    if (narrow && lay[i].n[0] & (lay[i].n[0] - 1)) continue;
                    one(storage, kind, lay[i].rank, lay[i].n, lay[i].batch, 1, lay[i].is, lay[i].id, lay[i].os, lay[i].od, lay[i].ie, lay[i].oe, 0, sign, narrow ? 0 : i % 3);
                }
            }
        }
    }
    return 0;
}
