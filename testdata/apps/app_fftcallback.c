/* Callbacks of cuFFT in LTO-IR, compiled by NVRTC: a window on load, a scale on store. */
#include <cuda_runtime_api.h>
#include <cufftXt.h>
#include <math.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>

static const char source[] =
	"struct scale { float by; int shift; };\n"
	"__device__ float2 window(void *in, unsigned long long i, void *info, void *) {\n"
	"  float2 v = ((float2 *)in)[i];\n"
	"  float w = sinf(3.14159265f * (i % 64) / 64) * ((scale *)info)->by;\n"
	"  return make_float2(v.x * w, v.y * w);\n"
	"}\n"
	"extern \"C\" __device__ void scaled(void *out, unsigned long long i, float2 v, void *info, void *) {\n"
	"  ((float2 *)out)[i ^ ((scale *)info)->shift] = make_float2(v.x / 64, v.y / 64);\n"
	"}\n";

static void check(int status, const char *what) {
	if (status)
		printf("%s: %d\n", what, status), exit(1);
}

int main(void) {
	enum { N = 64, BATCH = 3 };
	nvrtcProgram p;
	const char *options[] = {"-dlto", "-arch=compute_80"};
	size_t size, work;
	check(nvrtcCreateProgram(&p, source, "callbacks.cu", 0, 0, 0), "program");
	if (nvrtcCompileProgram(p, 2, options)) {
		char log[4096];
		nvrtcGetProgramLog(p, log);
		printf("%s\n", log);
		return 1;
	}
	check(nvrtcGetLTOIRSize(p, &size), "size");
	char *ir = malloc(size);
	check(nvrtcGetLTOIR(p, ir), "LTO-IR");

	struct { float by; int shift; } info = {2, 1};
	void *device;
	float *a, *b, in[2 * N * BATCH], out[2 * N * BATCH];
	check(cudaMalloc(&device, sizeof info), "memory"), check(cudaMalloc((void **)&a, sizeof in), "memory"), check(cudaMalloc((void **)&b, sizeof in), "memory");
	check(cudaMemcpy(device, &info, sizeof info, cudaMemcpyHostToDevice), "copy");
	for (int i = 0; i < 2 * N * BATCH; i++)
		in[i] = (i * 37 % 101) / 50.0f - 1;
	check(cudaMemcpy(a, in, sizeof in, cudaMemcpyHostToDevice), "copy");
	cufftHandle plan;
	check(cufftCreate(&plan), "plan");
	check(cufftXtSetJITCallback(plan, "window", ir, size, CUFFT_CB_LD_COMPLEX, &device), "load");
	check(cufftXtSetJITCallback(plan, "scaled", ir, size, CUFFT_CB_ST_COMPLEX, &device), "store");
	check(cufftMakePlan1d(plan, N, CUFFT_C2C, BATCH, &work), "make");
	check(cufftExecC2C(plan, (cufftComplex *)a, (cufftComplex *)b, CUFFT_FORWARD), "exec");
	check(cudaMemcpy(out, b, sizeof out, cudaMemcpyDeviceToHost), "copy");
	int wrong = 0;
	for (int t = 0; t < BATCH; t++)
		for (int k = 0; k < N; k++) {
			double re = 0, im = 0;
			for (int j = 0; j < N; j++) {
				double w = 2 * sin(M_PI * j / N), x = in[2 * (t * N + j)] * w, y = in[2 * (t * N + j) + 1] * w, c = cos(2 * M_PI * j * k / N), s = -sin(2 * M_PI * j * k / N);
				re += x * c - y * s, im += x * s + y * c;
			}
			int at = 2 * (t * N + (k ^ 1));
			wrong += fabs(out[at] - re / N) > 1e-5 || fabs(out[at + 1] - im / N) > 1e-5;
		}
	check(cufftDestroy(plan), "destroy");
	printf("%d wrong\n", wrong);
	check(nvrtcDestroyProgram(&p), "program");
	return wrong != 0;
}
