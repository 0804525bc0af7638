// A program without device code, which links CUDA's libraries.
#include <cstdio>

#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <nvml.h>
#include <nvrtc.h>

int main() {
	int version = 0, minor = 0;
	curandGenerator_t random;
	cusolverDnHandle_t solver;
	cusparseHandle_t sparse;
	bool ok = cufftGetVersion(&version) == CUFFT_SUCCESS && version > 0 && nvrtcVersion(&version, &minor) == NVRTC_SUCCESS &&
		curandCreateGenerator(&random, CURAND_RNG_PSEUDO_DEFAULT) == CURAND_STATUS_SUCCESS &&
		cusolverDnCreate(&solver) == CUSOLVER_STATUS_SUCCESS && cusparseCreate(&sparse) == CUSPARSE_STATUS_SUCCESS &&
		nvmlInit() == NVML_SUCCESS;
	printf("host: %s\n", ok ? "right" : "wrong");
	return !ok;
}
