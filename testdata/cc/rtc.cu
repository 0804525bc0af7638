// flags: -lnvrtc -lcuda
// NVRTC, the driver API and the runtime in one program: templates by name expressions, headers in memory, constants and globals of
// the module, and kernels of both sides on the same memory.
#include "cc.h"
#include <cstddef>
#include <cuda.h>
#include <nvrtc.h>
#include <string>

static const char *header = "#pragma once\ntemplate <class T> struct Pair { T a, b; };\n#define SCALE 3\n";
static const char *source = R"(
#include "pair.h"
#include "more/twice.h"
__constant__ int bias[4];
__device__ unsigned int calls = 40;
namespace ns {
template <class T, int N> __global__ void axpy(Pair<T> p, const T *x, T *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = p.a * x[i] + p.b * y[i] + T(bias[i % N] * SCALE) + T(twice(i & 1));
  if (i == 0) atomicAdd(&calls, 2u);
}
}
extern "C" __global__ void __launch_bounds__(128) plain(float *p) { p[threadIdx.x] = threadIdx.x * FACTOR; }
)";
__global__ void half(float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= 0.5f;
}

int main() {
  nvrtcProgram p;
  const char *texts[] = {header, "inline __device__ int twice(int i) { return 2 * i; }"}, *names[] = {"pair.h", "more/twice.h"};
  const char *options[] = {"--gpu-architecture=compute_80", "-std=c++17", "-DFACTOR=1.5f", "--fmad=false", "-lineinfo"};
  const char *exprs[] = {"ns::axpy<float, 4>", "ns::axpy<double, 2>", "&bias", "&calls"};
  printf("%d", nvrtcCreateProgram(&p, source, "program.cu", 2, texts, names));
  for (const char *e : exprs) printf(" %d", nvrtcAddNameExpression(p, e));
  printf(" %d", nvrtcCompileProgram(p, 5, options));
  size_t n = 0;
  nvrtcGetProgramLogSize(p, &n);
  std::string said(n, 0);
  nvrtcGetProgramLog(p, &said[0]);
  printf(" %d [%s]\n", nvrtcGetPTXSize(p, &n), said.c_str());
  fflush(stdout);
  std::string ptx(n, 0);
  nvrtcGetPTX(p, &ptx[0]);
  const char *low[4] = {"", "", "", ""};
  for (int i = 0; i < 4; i++) {
    int r = nvrtcGetLoweredName(p, exprs[i], &low[i]);
    printf("%d %s\n", r, low[i]);
  }
  fflush(stdout);
  OK(cudaSetDevice(0));
  OK(cudaFree(nullptr));
  CUmodule m;
  CUfunction f, d, plain;
  CUdeviceptr bias, calls;
  size_t size;
  char log[256] = "";
  CUjit_option jo[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
  void *jv[] = {log, (void *)sizeof log, (void *)3};
  printf("%d", cuModuleLoadDataEx(&m, ptx.c_str(), 3, jo, jv)); // one after the other: arguments have no order
  printf(" %d", cuModuleGetFunction(&f, m, low[0]));
  printf(" %d", cuModuleGetFunction(&d, m, low[1]));
  printf(" %d", cuModuleGetFunction(&plain, m, "plain"));
  printf(" %d", cuModuleGetGlobal(&bias, &size, m, low[2]));
  printf(" %zu", size);
  printf(" %d", cuModuleGetGlobal(&calls, &size, m, low[3]));
  printf(" %zu\n", size);
  int b[4] = {1, 20, 300, 4000}, count = 1000, threads = 0;
  cuMemcpyHtoD(bias, b, sizeof b);
  cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, plain);
  Array<float> x(count), y(count, 5, 2);
  struct { float a, b; } pair = {2, 0.5f};
  CUdeviceptr px = (CUdeviceptr)x.p, py = (CUdeviceptr)y.p;
  void *args[] = {&pair, &px, &py, &count};
  int r = cuLaunchKernel(f, 8, 1, 1, 128, 1, 1, 0, nullptr, args, nullptr);
  half<<<8, 128>>>(y, count);
  std::vector<float> v = y.get();
  int bad = 0;
  for (int i = 0; i < count; i++) bad += v[i] != 0.5f * (2 * i + 0.5f * (5 + 2 * i) + b[i % 4] * 3 + 2 * (i & 1));
  unsigned c = 0;
  cuMemcpyDtoH(&c, calls, 4);
  printf("%d: %d wrong, calls %u, threads %d\n", r, bad, c, threads);
  Array<double> dx(count), dy(count, 5, 2);
  size_t bytes;
  struct { double a, b; CUdeviceptr x, y; int n; } packed = {-1, 4, (CUdeviceptr)dx.p, (CUdeviceptr)dy.p, count};
  bytes = offsetof(decltype(packed), n) + sizeof packed.n; // without what is behind it
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  r = cuLaunchKernel(d, 8, 1, 1, 128, 1, 1, 0, nullptr, nullptr, extra);
  std::vector<double> w = dy.get();
  bad = 0;
  for (int i = 0; i < count; i++) bad += w[i] != -i + 4.0 * (5 + 2 * i) + b[i % 2] * 3 + 2 * (i & 1);
  printf("%d: %d wrong\n", r, bad);
  CUlaunchConfig config = {};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 128;
  void *pargs[] = {&px};
  r = cuLaunchKernelEx(&config, plain, pargs, nullptr);
  v = x.get();
  printf("%d: %g %g; %d\n", r, v[127], v[128], cuModuleUnload(m));
  nvrtcDestroyProgram(&p);
}
