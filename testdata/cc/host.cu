// C++ of the host around kernels: exceptions, containers, threads of the standard library, static objects.
#include "cc.h"
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
struct Global {
  int *p = nullptr;
  Global() { cudaMalloc(&p, 64); }
  ~Global() { cudaFree(p); }
} global;
__global__ void k(int *p, int v) { p[threadIdx.x] = v + threadIdx.x; }
static int run(int v) {
  if (v < 0) throw std::invalid_argument("negative " + std::to_string(v));
  k<<<1, 16>>>(global.p, v);
  int h[16];
  OK(cudaMemcpy(h, global.p, sizeof h, cudaMemcpyDeviceToHost));
  return h[15];
}
int main() {
  std::map<std::string, std::unique_ptr<int>> m;
  for (int v : {3, -1, 40}) try {
      m["v" + std::to_string(v)] = std::make_unique<int>(run(v));
    } catch (const std::exception &e) {
      printf("%s\n", e.what());
    }
  int r = 0;
  std::thread([&] { r = run(100); }).join();
  for (auto &[name, v] : m) printf("%s %d\n", name.c_str(), *v);
  printf("%d\n", r);
}
