// C++ without CUDA, which calls the runtime.
#include <cuda_runtime.h>
#include <numeric>
#include <vector>
int cpp(const std::vector<int> &v) {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess && n > 0 ? std::accumulate(v.begin(), v.end(), 0) : -1;
}
