// A program that links nothing but the runtime, by CMake's default the static one.
#include <cstdio>

__global__ void answer(int *x) { *x = 42; }

int main() {
	int *d, x = 0;
	cudaMalloc(&d, sizeof x);
	answer<<<1, 1>>>(d);
	cudaMemcpy(&x, d, sizeof x, cudaMemcpyDeviceToHost);
	printf("alone: %s\n", x == 42 ? "right" : "wrong");
	return x != 42;
}
