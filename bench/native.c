/* The examples' algorithms as a person would write them in C for a CPU: range loops split over threads. Built with gcc and
 * with clang, -O3 -march=native -ffast-math; make bench takes the better of the two as the row's native figure. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int threads;
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef void (*range_fn)(int from, int to, int part);
struct part { range_fn fn; int from, to, id; };
static void *call(void *p) {
    struct part *a = p;
    a->fn(a->from, a->to, a->id);
    return 0;
}
/* A fresh thread costs 20 µs; the rows run for milliseconds. */
static void split(range_fn fn, int n) {
    pthread_t t[64];
    struct part a[64];
    for (int i = 0; i < threads; i++) {
        a[i] = (struct part){fn, (int)((int64_t)n * i / threads), (int)((int64_t)n * (i + 1) / threads), i};
        if (i) pthread_create(&t[i], 0, call, &a[i]);
    }
    call(&a[0]);
    for (int i = 1; i < threads; i++) pthread_join(t[i], 0);
}

static int n;
static float *x, *y, *z;
static unsigned char *bytes;
static unsigned *counts;
static double sums[64];
static unsigned bins[64][256];
static volatile double sink;
enum { SIDE = 1024, WIDTH = 1200, HEIGHT = 800, LIMIT = 400 };

static void vecadd(int a, int b, int p) { (void)p; for (int i = a; i < b; i++) z[i] = x[i] + y[i]; }
static void saxpy(int a, int b, int p) { (void)p; for (int i = a; i < b; i++) y[i] = 2.5f * x[i] + y[i]; }
static void reduce(int a, int b, int p) {
    float s = 0;
    for (int i = a; i < b; i++) s += x[i];
    sums[p] = s;
}
static void matmul(int a, int b, int p) {
    (void)p;
    for (int i = a; i < b; i++) {
        float *row = z + (size_t)i * SIDE;
        memset(row, 0, SIDE * sizeof *row);
        for (int k = 0; k < SIDE; k++) {
            float s = x[(size_t)i * SIDE + k];
            for (int j = 0; j < SIDE; j++) row[j] += s * y[(size_t)k * SIDE + j];
        }
    }
}
static void mandelbrot(int a, int b, int p) {
    (void)p;
    float step = 3.0f / WIDTH;
    for (int py = a; py < b; py++)
        for (int px = 0; px < WIDTH; px++) {
            float cx = -2.2f + step * px, cy = step * (py - 0.5f * HEIGHT), u = 0, v = 0;
            int i = 0;
            for (; i < LIMIT; i++) {
                float uu = u * u, vv = v * v;
                if (uu + vv > 4.0f) break;
                v = 2.0f * u * v + cy;
                u = uu - vv + cx;
            }
            counts[py * WIDTH + px] = (unsigned)i;
        }
}
static void histogram(int a, int b, int p) {
    unsigned h[4][256] = {{0}};
    int i = a;
    for (; i + 4 <= b; i += 4) h[0][bytes[i]]++, h[1][bytes[i + 1]]++, h[2][bytes[i + 2]]++, h[3][bytes[i + 3]]++;
    for (; i < b; i++) h[0][bytes[i]]++;
    for (int k = 0; k < 256; k++) bins[p][k] = h[0][k] + h[1][k] + h[2][k] + h[3][k];
}

static void row(const char *name, range_fn fn, int count) {
    double best = 1e30;
    for (int r = 0; r < 7; r++) {
        double t = now();
        split(fn, count);
        t = now() - t;
        if (t < best) best = t;
        for (int p = 0; p < threads; p++) sink += sums[p] + bins[p][1]; /* somebody must read the results */
    }
    printf("%s %.4f\n", name, best * 1e3);
}

int main(int argc, char **argv) {
    threads = argc > 1 ? atoi(argv[1]) : 2;
    if (threads < 1 || threads > 64) return 1;
    n = 16 * 1000 * 1000;
    x = malloc(sizeof(float) * n), y = malloc(sizeof(float) * n), z = malloc(sizeof(float) * n);
    bytes = malloc(n), counts = malloc(sizeof(unsigned) * WIDTH * HEIGHT);
    uint32_t s = 12345;
    for (int i = 0; i < n; i++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        x[i] = (float)(s >> 8) / 16777216.0f, y[i] = x[i] * 0.5f, z[i] = 0, bytes[i] = (s & 127) + (s >> 8 & 127);
    }
    row("vecadd", vecadd, 8 * 1000 * 1000);
    row("saxpy", saxpy, 8 * 1000 * 1000);
    row("reduce", reduce, n);
    row("matmul", matmul, SIDE);
    row("mandelbrot", mandelbrot, HEIGHT);
    row("histogram", histogram, n);
    return 0;
}
