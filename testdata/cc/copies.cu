// Copies in three dimensions, to and from symbols and arrays, and memset in two.
#include "cc.h"
__device__ int window[4][4];
__global__ void fill(cudaPitchedPtr p, int n) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  ((int *)((char *)p.ptr + (z * n + y) * p.pitch))[x] = x + 10 * y + 100 * z;
}
int main() {
  const int n = 6;
  cudaPitchedPtr p;
  cudaExtent e = make_cudaExtent(n * 4, n, n);
  OK(cudaMalloc3D(&p, e));
  fill<<<1, dim3(n, n, n)>>>(p, n);
  std::vector<int> h(n * n * n);
  cudaMemcpy3DParms m = {};
  m.srcPtr = p;
  m.dstPtr = make_cudaPitchedPtr(h.data(), n * 4, n, n);
  m.extent = make_cudaExtent(4 * 4, 3, 2);
  m.srcPos = make_cudaPos(4, 2, 1);
  m.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&m));
  printf("%d %d %d %llx ", h[0], h[n], h[n * n + 3], sum(h));
  void *w;
  OK(cudaGetSymbolAddress(&w, window));
  OK(cudaMemset2D(w, 16, 1, 8, 3));
  int back[16];
  OK(cudaMemcpyFromSymbol(back, window, sizeof back));
  printf("%x %x %x %x\n", back[0], back[1], back[2], back[12]);
}
