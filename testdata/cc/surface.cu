// A surface that one kernel writes and another reads.
#include "cc.h"
__global__ void put(cudaSurfaceObject_t s) { surf2Dwrite(make_int2(threadIdx.x, blockIdx.x * 10), s, threadIdx.x * 8, blockIdx.x); }
__global__ void get(cudaSurfaceObject_t s, int *out) {
  int2 v = surf2Dread<int2>(s, threadIdx.x * 8, blockIdx.x);
  out[blockIdx.x * 4 + threadIdx.x] = v.x + v.y;
}
int main() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<int2>();
  cudaArray_t a;
  OK(cudaMallocArray(&a, &d, 4, 3, cudaArraySurfaceLoadStore));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaSurfaceObject_t s;
  OK(cudaCreateSurfaceObject(&s, &r));
  Array<int> out(12);
  put<<<3, 4>>>(s);
  get<<<3, 4>>>(s, out);
  for (int v : out.get()) printf("%d ", v);
  printf("\n");
}
