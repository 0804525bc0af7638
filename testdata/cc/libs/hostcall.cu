// Functions for both sides that call host functions: nvcc warns, and device code must not come there. The kernels of what only the host
// calls are in the program all the same.
#include <cstdio>

__host__ int plain(int x) { return 10 * x; }
struct Box {
  int v;
  __host__ int get() const { return v; }
};
template <class T> __global__ void fill(T *p, T v) { *p = v; }
template <class T> __host__ cudaError_t launch(T *p, T v) {
  fill<T><<<1, 1>>>(p, v);
  return cudaDeviceSynchronize();
}
template <class T> __host__ __device__ cudaError_t store(T *p, T v) {
  if (v > T(1000)) return launch<T>(p, v);
#ifdef __CUDA_ARCH__
  if (false) return launch(p, T(1));
  *p = v + 1;
  return cudaSuccess;
#else
  return launch(p, v);
#endif
}
__host__ __device__ int either(Box b) { return b.v > 1000 ? b.get() + plain(b.v) : b.v; }
__global__ void k(int *p, float *q) {
  store(p, 5);
  store(q, 6.5f);
  p[1] = either(Box{7});
}

int main() {
  int *p;
  float *q;
  cudaMallocManaged(&p, 8);
  cudaMallocManaged(&q, 8);
  k<<<1, 1>>>(p, q);
  cudaError_t e = cudaDeviceSynchronize();
  std::printf("%s %d %g %d\n", cudaGetErrorName(e), p[0], q[0], p[1]);
  e = store(p, 8);
  std::printf("%s %d %d\n", cudaGetErrorName(e), p[0], either(Box{2000}));
}
