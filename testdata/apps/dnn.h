// What the dnn_ programs share. Each prints lines "what: status ~bound values"; the same program ran on an H200, and its
// lines are in dnn.want.gz. Inputs are multiples of 1/64 between -1 and 1, which every type of floating point has exactly.
#ifndef DNN_H
#define DNN_H
#include <cuda_runtime_api.h>
#include <cudnn.h>
#include <cudnn_backend.h>
#include <math.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dnn_types.h"

static cudnnHandle_t H;
static uint64_t state;
static double next(void) {
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (double)((int)(state >> 57) - 64) / 64;
}

// The bound of a type, as a part of the largest magnitude of a line.
static double bound(int type) {
	switch (type) {
	case CUDNN_DATA_DOUBLE: return 1e-12;
	case CUDNN_DATA_HALF: return 4e-3;
	case CUDNN_DATA_BFLOAT16: return 3e-2;
	case CUDNN_DATA_FLOAT: return 2e-5;
	default: return 0;
	}
}
typedef struct {
	int type;
	size_t n; // elements, those between rows too
	void *p;
	cudnnTensorDescriptor_t d;
} ten;
static void *space(size_t n) {
	void *p = 0;
	cudaMalloc(&p, n + 256);
	cudaMemset(p, 0, n + 256);
	return p;
}
// block is memory of n elements, from the generator, or all 0 for the seed 0.
static ten block(int type, size_t n, int seed) {
	ten t = {type, n, space(n * 8), 0};
	char *h = calloc(n + 1, 8);
	state = seed;
	for (int i = 0; i < 4; i++) next();
	for (size_t i = 0; seed && i < n; i++) put(type, h, i, next());
	cudaMemcpy(t.p, h, n * width(type), cudaMemcpyHostToDevice);
	free(h);
	return t;
}
enum { PACKED, LAST, GAPS }; // channels second, channels last, rows with two more elements than they show
static ten tensor(int type, int layout, int nd, const int *dim, int seed) {
	int s[8], step = 1;
	size_t n = 1;
	for (int i = nd - 1; i >= 0; i--) {
		if (layout == LAST && i == 1) continue;
		if (layout == LAST && i == nd - 1) { s[1] = 1; step = dim[1]; }
		if (layout == LAST && i == 0) { s[0] = step; step *= dim[0]; continue; }
		s[i] = step;
		step *= dim[i] + (layout == GAPS && i == nd - 1 ? 2 : 0);
	}
	n = step;
	ten t = block(type, n, seed);
	cudnnCreateTensorDescriptor(&t.d);
	int st = cudnnSetTensorNdDescriptor(t.d, type, nd, dim, s);
	if (st) printf("tensor: %d\n", st);
	return t;
}
static ten t4(int type, int layout, int n, int c, int h, int w, int seed) { return tensor(type, layout, 4, (int[]){n, c, h, w}, seed); }
static void drop(ten t) {
	cudaFree(t.p);
	if (t.d) cudnnDestroyTensorDescriptor(t.d);
}
// A factor of alpha or beta, as a type wants it.
static const void *scale(int type, double v) {
	static union { float f; double d; } ring[8];
	static int at;
	at = (at + 1) % 8;
	if (type == CUDNN_DATA_DOUBLE) ring[at].d = v; else ring[at].f = (float)v;
	return &ring[at];
}
static char label[256];
static void begin(const char *f, ...) {
	va_list a;
	va_start(a, f);
	vsnprintf(label, sizeof label, f, a);
	va_end(a);
}
__attribute__((unused)) static int coprime(size_t a, size_t b) {
	while (b) {
		size_t r = a % b;
		a = b, b = r;
	}
	return a == 1;
}
// show prints up to 24 values, spread over all of them. What a failed call left is not shown.
static void shown(const char *what, int status, ten t, double tolerance) {
	int e = cudaDeviceSynchronize();
	printf("%s %s: %d", label, what, status);
	if (e) printf(" cuda %d", e);
	if (!status) {
		char *h = malloc(t.n * 8 + 8);
		cudaMemcpy(h, t.p, t.n * width(t.type), cudaMemcpyDeviceToHost);
		size_t step = t.n <= 24 ? 1 : (t.n + 23) / 24;
		while (!coprime(step, t.n)) step++; // not the same channel every time
		printf(" ~%g", tolerance);
		for (size_t i = 0; i < t.n; i += step) printf(t.type == CUDNN_DATA_DOUBLE ? " %.15g" : " %.8g", get(t.type, h, i));
		free(h);
	}
	printf("\n");
}
static void show(const char *what, int status, ten t) { shown(what, status, t, bound(t.type)); }
// none is no dropout.
__attribute__((unused)) static cudnnDropoutDescriptor_t none(void) {
	cudnnDropoutDescriptor_t d;
	size_t n = 0;
	cudnnCreateDropoutDescriptor(&d);
	cudnnDropoutGetStatesSize(H, &n);
	cudnnSetDropoutDescriptor(d, H, 0, space(n), n, 1);
	return d;
}
static const int floats[] = {CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE, CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16};
static int start(void) {
	int st = cudnnCreate(&H);
	if (st) printf("cudnnCreate: %d\n", st);
	return st;
}
#endif
