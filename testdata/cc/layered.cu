// Layered, cubemap and mipmapped textures, and surfaces that write them; every value against the host's.
#include "cc.h"
#include <cmath>

__global__ void fill(cudaSurfaceObject_t s, int w, int h, int layers) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h)
    for (int l = 0; l < layers; l++) surf2DLayeredwrite(float(x + 10 * y + 1000 * l), s, x * 4, y, l);
}
__global__ void layers(cudaTextureObject_t t, float *o, int w, int h, int n) {
  int x = threadIdx.x, y = threadIdx.y, l = blockIdx.x;
  o[(l * h + y) * w + x] = tex2DLayered<float>(t, x + 0.5f, y + 0.5f, l) + tex2DLayered<float>(t, x + 1.0f, y + 0.5f, l) * 0.5f;
}
__global__ void cube(cudaTextureObject_t t, float4 *o, const float3 *d, int n) {
  int i = threadIdx.x;
  if (i < n) o[i] = texCubemap<float4>(t, d[i].x, d[i].y, d[i].z);
}
__global__ void mips(cudaTextureObject_t t, float *o) {
  int l = threadIdx.x;
  o[l] = tex2DLod<float>(t, 0.5f, 0.5f, float(l));
  o[8 + l] = tex2DLod<float>(t, 0.5f, 0.5f, l + 0.5f);
}
__global__ void volume(cudaTextureObject_t t, float *o) {
  o[threadIdx.x] = tex3D<float>(t, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 % 4 + 1.0f, threadIdx.x / 16 + 0.5f);
}

static cudaTextureObject_t texture(cudaArray_t a, cudaMipmappedArray_t m, cudaTextureFilterMode filter, bool normal) {
  cudaResourceDesc r = {};
  cudaTextureDesc d = {};
  r.resType = m ? cudaResourceTypeMipmappedArray : cudaResourceTypeArray;
  if (m) r.res.mipmap.mipmap = m; else r.res.array.array = a;
  for (auto &mode : d.addressMode) mode = cudaAddressModeClamp;
  d.filterMode = filter;
  d.mipmapFilterMode = cudaFilterModeLinear;
  d.maxMipmapLevelClamp = 16;
  d.normalizedCoords = normal;
  cudaTextureObject_t t;
  OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}

int main() {
  { // layers, written by a surface and read with a filter
    const int w = 8, h = 4, n = 3;
    auto f = cudaCreateChannelDesc<float>();
    cudaArray_t a;
    OK(cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, n), cudaArrayLayered | cudaArraySurfaceLoadStore));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s;
    OK(cudaCreateSurfaceObject(&s, &r));
    fill<<<dim3(1, 1), dim3(8, 4)>>>(s, w, h, n);
    cudaTextureObject_t t = texture(a, nullptr, cudaFilterModeLinear, false);
    Array<float> o(w * h * n);
    layers<<<n, dim3(w, h)>>>(t, o, w, h, n);
    int bad = 0;
    std::vector<float> v = o.get();
    for (int l = 0; l < n; l++)
      for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
          float here = x + 10 * y + 1000 * l, next = fminf(x + 1, w - 1) + 10 * y + 1000 * l;
          bad += v[(l * h + y) * w + x] != here + (here + next) * 0.25f;
        }
    cudaExtent e;
    unsigned flags;
    OK(cudaArrayGetInfo(&f, &e, &flags, a));
    printf("layers: %d wrong, %zu %zu %zu, flags %u\n", bad, e.width, e.height, e.depth, flags);
    OK(cudaDestroyTextureObject(t));
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(a));
  }
  { // a cube: the face that a direction means
    const int w = 4;
    auto f = cudaCreateChannelDesc<float4>();
    cudaArray_t a;
    OK(cudaMalloc3DArray(&a, &f, make_cudaExtent(w, w, 6), cudaArrayCubemap));
    std::vector<float4> host(w * w * 6);
    for (int i = 0; i < w * w * 6; i++) host[i] = make_float4(i / (w * w), i % w, i / w % w, i);
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(host.data(), w * sizeof(float4), w, w);
    p.dstArray = a;
    p.extent = make_cudaExtent(w, w, 6);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    cudaTextureObject_t t = texture(a, nullptr, cudaFilterModePoint, true);
    std::vector<float3> d = {{1, 0.1f, 0.2f}, {-1, 0.1f, 0.2f}, {0.1f, 1, 0.2f}, {0.1f, -1, 0.2f}, {0.1f, 0.2f, 1}, {0.1f, 0.2f, -1}, {2, 1.9f, -1.9f}, {-3, -2.9f, 2.9f}};
    float3 *dd;
    float4 *o;
    OK(cudaMalloc(&dd, d.size() * sizeof d[0]));
    OK(cudaMalloc(&o, d.size() * sizeof(float4)));
    OK(cudaMemcpy(dd, d.data(), d.size() * sizeof d[0], cudaMemcpyHostToDevice));
    cube<<<1, 32>>>(t, o, dd, d.size());
    std::vector<float4> v(d.size());
    OK(cudaMemcpy(v.data(), o, v.size() * sizeof v[0], cudaMemcpyDeviceToHost));
    printf("cube:");
    for (auto &q : v) printf(" %g(%g,%g)", q.x, q.y, q.z);
    printf("\n");
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
  }
  { // levels, and between two
    const int w = 16;
    auto f = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t m;
    OK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(w, w, 0), 5));
    for (int l = 0, n = w; l < 5; l++, n /= 2) {
      cudaArray_t a;
      OK(cudaGetMipmappedArrayLevel(&a, m, l));
      std::vector<float> host(n * n, float(l * l + 1));
      OK(cudaMemcpy2DToArray(a, 0, 0, host.data(), n * 4, n * 4, n, cudaMemcpyHostToDevice));
    }
    cudaTextureObject_t t = texture(nullptr, m, cudaFilterModeLinear, true);
    Array<float> o(16);
    mips<<<1, 5>>>(t, o);
    std::vector<float> v = o.get();
    printf("levels: %g %g %g %g %g, between: %g %g %g %g\n", v[0], v[1], v[2], v[3], v[4], v[8], v[9], v[10], v[11]);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeMipmappedArray(m));
  }
  { // a volume
    auto f = cudaCreateChannelDesc<float>();
    cudaArray_t a;
    OK(cudaMalloc3DArray(&a, &f, make_cudaExtent(4, 4, 4)));
    std::vector<float> host(64);
    for (int i = 0; i < 64; i++) host[i] = i * i;
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(host.data(), 16, 4, 4);
    p.dstArray = a;
    p.extent = make_cudaExtent(4, 4, 4);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    cudaTextureObject_t t = texture(a, nullptr, cudaFilterModeLinear, false);
    Array<float> o(64);
    volume<<<1, 64>>>(t, o);
    std::vector<float> v = o.get();
    int bad = 0;
    for (int i = 0; i < 64; i++) {
      int y = i / 4 % 4, up = i + (y < 3 ? 4 : 0);
      bad += v[i] != (host[i] + host[up]) * 0.5f;
    }
    printf("volume: %d wrong\n", bad);
  }
}
