#include <cstdio>
#include <cstring>
#include <vector>

#include <cublas_v2.h>

#include "scale.h"
#include "sums.h"

int runtime_major();

int main(int, char **argv) {
	const char *name = strrchr(argv[0], '/');
	std::vector<float> x(100, 1.f);
	scale(x.data(), 3, 100);
	float sum = total(x.data(), 100), dot = 0, *d;
	cublasHandle_t blas;
	cudaMalloc(&d, 400);
	cudaMemcpy(d, x.data(), 400, cudaMemcpyHostToDevice);
	bool ok = cublasCreate(&blas) == CUBLAS_STATUS_SUCCESS && cublasSdot(blas, 100, d, 1, d, 1, &dot) == CUBLAS_STATUS_SUCCESS;
	ok = ok && sum == 300 && dot == 900 && runtime_major() == CUDART_VERSION / 1000;
	printf("%s: %s\n", name ? name + 1 : argv[0], ok ? "right" : "wrong");
	return !ok;
}
