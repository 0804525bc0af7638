// What the programs share. Each prints what it computed, the same on every device and with every compiler, and exits 0.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

// OK stops at a call that fails: the line says which.
#define OK(call)                                                                                         \
	do {                                                                                                 \
		cudaError_t e_ = (call);                                                                         \
		if (e_ != cudaSuccess) {                                                                         \
			printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(e_));                          \
			fflush(stdout);                                                                              \
			exit(1);                                                                                     \
		}                                                                                                \
	} while (0)

// SAY prints the answer of a call that may fail, and clears it.
#define SAY(call)                                                                                        \
	do {                                                                                                 \
		cudaError_t e_ = (call);                                                                         \
		printf("%s: %s\n", #call, cudaGetErrorName(e_));                                                 \
		cudaGetLastError();                                                                              \
	} while (0)

// sum is a checksum that depends on order.
template <class T> unsigned long long sum(const T *p, size_t n) {
	unsigned long long h = 1469598103934665603ull;
	const unsigned char *b = (const unsigned char *)p;
	for (size_t i = 0; i < n * sizeof(T); i++)
		h = (h ^ b[i]) * 1099511628211ull;
	return h;
}
