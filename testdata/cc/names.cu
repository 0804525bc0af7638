// Headers by the names that programs use for what other headers have.
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
  printf("%g %g %d %g\n", v[0], v[3], cudaCreateChannelDesc<float2>().y, (double)make_cudaExtent(1, 2, 3).depth);
}
