// A launch by its attributes, and one by a pointer to the kernel.
#include "cc.h"
template <class T> __global__ void k(T *o, T a, int b) { o[threadIdx.x + blockIdx.x * blockDim.x] = a * threadIdx.x + b; }
int main() {
  Array<float> o(8);
  cudaLaunchConfig_t c = {};
  c.gridDim = dim3(2);
  c.blockDim = dim3(4);
  OK(cudaLaunchKernelEx(&c, k<float>, o.p, 1.5f, 3));
  for (float v : o.get()) printf("%g ", v);
  void (*f)(float *, float, int) = k<float>;
  f<<<1, 4>>>(o, 2.5f, 1);
  float *p = o, a = 0.5f;
  int b = 9;
  void *args[] = {&p, &a, &b};
  OK(cudaLaunchKernel((const void *)f, dim3(1), dim3(2), args, 0, 0));
  for (float v : o.get()) printf("%g ", v);
  printf("\n");
}
