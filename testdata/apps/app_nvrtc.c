// A program that compiles CUDA C++ at run time, with NVRTC, and runs it.
#include "app.h"
#include <nvrtc.h>
#include <string.h>

static const char source[] =
	"#include \"scale.h\"\n"
	"template<class T> __global__ void add(const T *a, const T *b, T *c, int n) {\n"
	"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
	"  if (i < n) c[i] = scale(a[i]) + b[i];\n"
	"}\n"
	"namespace N { __constant__ int order[4]; __device__ int calls; }\n"
	"extern \"C\" __global__ void turn(int *p) {\n"
	"  __shared__ int s[64];\n"
	"  s[threadIdx.x] = p[threadIdx.x];\n"
	"  __syncthreads();\n"
	"  p[threadIdx.x] = s[63 - threadIdx.x] * N::order[threadIdx.x & 3];\n"
	"  atomicAdd(&N::calls, 1);\n"
	"  if (threadIdx.x == 0) printf(\"turned by %d, %s\\n\", blockDim.x, WHO);\n"
	"}\n";

static nvrtcProgram compile(const char *text, int n, const char **options, int *code) {
	const char *headers[] = {"template<class T> __device__ T scale(T x) { return 2 * x; }\n"}, *names[] = {"scale.h"};
	nvrtcProgram p = 0;
	OK(nvrtcCreateProgram(&p, text, "app.cu", 1, headers, names));
	if (text == source) {
		OK(nvrtcAddNameExpression(p, "add<float>"));
		OK(nvrtcAddNameExpression(p, "&N::order"));
		OK(nvrtcAddNameExpression(p, "&N::calls"));
	}
	*code = nvrtcCompileProgram(p, n, options);
	return p;
}

static void failure(const char *text, int n, const char **options) {
	int code;
	char log[2000] = "";
	nvrtcProgram p = compile(text, n, options, &code);
	OK(nvrtcGetProgramLog(p, log));
	printf("%d %s\n%s", code, nvrtcGetErrorString(code), log);
	OK(nvrtcDestroyProgram(&p));
}

int main(void) {
	enum { n = 1000 };
	int code, major, minor;
	const char *options[] = {"--gpu-architecture=sm_80", "--std=c++17", "-DWHO=\"us\"", "-default-device"};
	OK(nvrtcVersion(&major, &minor));
	printf("version %d.%d\n", major, minor);
	nvrtcProgram p = compile(source, 4, options, &code);
	char log[2000] = "";
	OK(nvrtcGetProgramLog(p, log));
	printf("compiled %d %s\n", code, log);
	size_t size = 0;
	OK(nvrtcGetCUBINSize(p, &size));
	char *cubin = malloc(size);
	OK(nvrtcGetCUBIN(p, cubin));
	const char *add = 0, *order = 0, *calls = 0;
	OK(nvrtcGetLoweredName(p, "add<float>", &add));
	OK(nvrtcGetLoweredName(p, "&N::order", &order));
	OK(nvrtcGetLoweredName(p, "&N::calls", &calls));
	printf("%s %s %s\n", add, order, calls);

	CUcontext c;
	CUmodule m;
	CUfunction f;
	CUdeviceptr d[3], v;
	float h[3][n];
	int back[64], orders[4] = {1, 10, 100, 1000}, count = n, wrong = 0, called = 0;
	size_t bytes;
	OK(cuInit(0));
	OK(cuCtxCreate(&c, 0, 0, 0));
	OK(cuModuleLoadData(&m, cubin));
	OK(cuModuleGetFunction(&f, m, add));
	for (int i = 0; i < n; i++) h[0][i] = i, h[1][i] = 3 * i;
	for (int i = 0; i < 3; i++) {
		OK(cuMemAlloc(&d[i], sizeof h[i]));
		OK(cuMemcpyHtoD(d[i], h[i], sizeof h[i]));
	}
	void *args[] = {&d[0], &d[1], &d[2], &count};
	OK(cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, 0, args, 0));
	OK(cuMemcpyDtoH(h[2], d[2], sizeof h[2]));
	for (int i = 0; i < n; i++) wrong += h[2][i] != 5 * i;
	OK(cuModuleGetGlobal(&v, &bytes, m, order));
	OK(cuMemcpyHtoD(v, orders, sizeof orders));
	for (int i = 0; i < 64; i++) back[i] = i;
	OK(cuMemcpyHtoD(d[0], back, sizeof back));
	OK(cuModuleGetFunction(&f, m, "turn"));
	OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, 0, args, 0));
	OK(cuCtxSynchronize());
	OK(cuMemcpyDtoH(back, d[0], sizeof back));
	for (int i = 0; i < 64; i++) wrong += back[i] != (63 - i) * orders[i & 3];
	OK(cuModuleGetGlobal(&v, &bytes, m, calls));
	OK(cuMemcpyDtoH(&called, v, sizeof called));
	printf("%d wrong, %d calls\n", wrong, called);
	OK(nvrtcDestroyProgram(&p));

	const char *bad[] = {"-arch=sm_10"};
	failure(source, 1, bad);
	failure("__global__ void k(int *p) {\n  *p = q;\n}\n", 0, 0);
	failure("#include <nowhere.h>\n", 0, 0);
	return 0;
}
