// A two-dimensional texture: points, clamped and linear.
#include "cc.h"
__global__ void read(cudaTextureObject_t t, float *out, float dx) {
  out[threadIdx.x] = tex2D<float>(t, threadIdx.x + dx, threadIdx.x / 2 + dx);
}
int main() {
  const int w = 8, h = 4;
  float v[w * h];
  for (int i = 0; i < w * h; i++) v[i] = (float)i;
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaArray_t a;
  OK(cudaMallocArray(&a, &d, w, h));
  OK(cudaMemcpy2DToArray(a, 0, 0, v, w * 4, w * 4, h, cudaMemcpyHostToDevice));
  for (int linear = 0; linear < 2; linear++) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc t = {};
    t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
    t.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    t.readMode = cudaReadModeElementType;
    cudaTextureObject_t o;
    OK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    Array<float> out(10);
    read<<<1, 10>>>(o, out, linear ? 0.75f : 0.5f);
    for (float f : out.get()) printf("%g ", f);
    OK(cudaDestroyTextureObject(o));
  }
  printf("\n");
}
