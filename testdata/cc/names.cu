// Headers by the names that programs use for what other headers have, and functions of C that come without one.
#include "cc.h"
#include <channel_descriptor.h>
#include <cuda_fp16.h>
#include <cuda_device_runtime_api.h>
#include <driver_functions.h>

__global__ void halve(float *x) { x[threadIdx.x] = __half2float(__float2half(x[threadIdx.x] / 2)); }

int main() {
  Array<float> x(4, 1, 3);
  halve<<<1, 4>>>(x.p);
  OK(cudaGetLastError());
  std::vector<float> v = x.get();
  // No header is named for these.
  double m = ceil(((float)v.size()) / 3) + sqrt(9) + pow(2.0f, 3) + fabs(-1.5) + floorf(1.5f) + clock() * 0;
  if (m != 15.5) printf("%g\n", m);
  printf("%g %g %d %g\n", v[0], v[3], cudaCreateChannelDesc<float2>().y, (double)make_cudaExtent(1, 2, 3).depth);
}
