// Host code in C++, compiled by the host's compiler.
#include <cuda_runtime.h>

int runtime_major() {
	int version = 0;
	return cudaRuntimeGetVersion(&version) == cudaSuccess ? version / 1000 : 0;
}
