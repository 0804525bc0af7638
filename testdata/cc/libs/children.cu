// Kernels that launch kernels, compiled by NVRTC and linked by the driver with the file that NVIDIA has the device runtime in.
#include "../cc.h"
#include <cuda.h>
#include <nvrtc.h>
#include <string>

static const char *source = R"(
extern "C" __global__ void inner(int *p, int n) { atomicAdd(p + threadIdx.x, n); }
extern "C" __global__ void last(int *p) { p[1] = p[0] * 2; }
extern "C" __global__ void outer(int *p, int n) {
  inner<<<1, 1>>>(p, n);
  cudaStream_t s;
  int *m, device = -1;
  if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) != cudaSuccess || cudaMalloc(&m, 4) != cudaSuccess) return;
  inner<<<1, 1, 0, s>>>(p, n);
  cudaStreamDestroy(s);
  cudaMemsetAsync(m, 1, 4, 0);
  p[2] = *m;
  cudaFree(m);
  if (threadIdx.x == 0) last<<<1, 1, 0, cudaStreamTailLaunch>>>(p);
  inner<<<1, 2048>>>(p, n); // too many
  p[3] = cudaGetLastError();
  p[4] = cudaGetDevice(&device) + device;
})";

int main() {
  nvrtcProgram program;
  const char *plain[] = {"-arch=compute_80"}, *linked[] = {"-arch=compute_80", "-dc"};
  if (nvrtcCreateProgram(&program, source, "children.cu", 0, nullptr, nullptr)) return 1;
  int r = nvrtcCompileProgram(program, 1, plain);
  size_t n = 0;
  nvrtcGetProgramLogSize(program, &n);
  std::string log(n, 0), code;
  nvrtcGetProgramLog(program, &log[0]);
  printf("%d %s\n", r, log.substr(0, log.find('\n')).c_str());
  printf("%d\n", nvrtcCompileProgram(program, 2, linked));
  nvrtcGetPTXSize(program, &n);
  code.resize(n);
  nvrtcGetPTX(program, &code[0]);
  OK(cudaFree(nullptr));
  CUlinkState link;
  void *cubin;
  CUmodule module;
  CUfunction outer;
  int a = cuLinkCreate(0, nullptr, nullptr, &link), b = cuLinkAddData(link, CU_JIT_INPUT_PTX, &code[0], n, "ptx", 0, nullptr, nullptr),
      c = cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, DEVRT, 0, nullptr, nullptr), d = cuLinkComplete(link, &cubin, &n);
  printf("%d %d %d %d %d %d\n", a, b, c, d, cuModuleLoadData(&module, cubin), cuModuleGetFunction(&outer, module, "outer"));
  int *p, add = 5, v[5];
  OK(cudaMalloc(&p, sizeof v));
  OK(cudaMemset(p, 0, sizeof v));
  void *args[] = {&p, &add};
  r = cuLaunchKernel(outer, 1, 1, 1, 4, 1, 1, 0, 0, args, nullptr);
  OK(cudaMemcpy(v, p, sizeof v, cudaMemcpyDeviceToHost));
  printf("%d: %d %d %x %d %d\n", r, v[0], v[1], v[2], v[3], v[4]);
}
