// A texture over linear memory, and a normalized one of bytes.
#include "cc.h"
__global__ void fetch(cudaTextureObject_t t, cudaTextureObject_t u, int *out, float *f) {
  int4 v = tex1Dfetch<int4>(t, threadIdx.x);
  out[threadIdx.x] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
  f[threadIdx.x] = tex1Dfetch<float>(u, threadIdx.x);
}
int main() {
  Array<int> a(16);
  Array<unsigned char> b(4, 0, 51);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = a.p;
  r.res.linear.desc = cudaCreateChannelDesc<int4>();
  r.res.linear.sizeInBytes = 64;
  cudaTextureDesc t = {};
  cudaTextureObject_t o, u;
  OK(cudaCreateTextureObject(&o, &r, &t, nullptr));
  r.res.linear.devPtr = b.p;
  r.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
  r.res.linear.sizeInBytes = 4;
  t.readMode = cudaReadModeNormalizedFloat;
  OK(cudaCreateTextureObject(&u, &r, &t, nullptr));
  Array<int> out(4);
  Array<float> f(4);
  fetch<<<1, 4>>>(o, u, out, f);
  for (int v : out.get()) printf("%d ", v);
  for (float v : f.get()) printf("%.3f ", v);
  printf("\n");
}
