// Every texture and surface function of every shape, on levels and layers that each have one value: what is printed is the number of
// wrong reads.
#include "cc.h"

// Values of a level and a slice: a layer, a face, or a depth.
__host__ __device__ inline float value(int level, int slice) { return 100.0f * level + slice; }

enum { tex1, tex1l, tex2, tex2l, tex3, cube, cubel, shapes };
const char *names[] = {"1D", "1DLayered", "2D", "2DLayered", "3D", "Cubemap", "CubemapLayered"};
const int size = 8, levels = 3, layers = 3, faces = 6;

template <class T> __device__ T at(int shape, int how, cudaTextureObject_t t, int slice, int level) {
  const float c = 0.5f, step = float(1 << level) / size, z = (slice + 0.5f) / (size >> level);
  const float fx = slice % 6 == 0 ? 1 : slice % 6 == 1 ? -1 : 0, fy = slice % 6 == 2 ? 1 : slice % 6 == 3 ? -1 : 0, fz = slice % 6 == 4 ? 1 : slice % 6 == 5 ? -1 : 0;
  const float2 dx = {step, 0}, dy = {0, step};
  const float4 dx3 = {step, 0, 0, 0}, dy3 = {0, step, 0, 0};
  T r{};
  switch (shape * 4 + how) {
  case tex1 * 4 + 0: return tex1D<T>(t, c);
  case tex1 * 4 + 1: return tex1DLod<T>(t, c, level);
  case tex1 * 4 + 2: return tex1DGrad<T>(t, c, step, step);
  case tex1 * 4 + 3: tex1DLod(&r, t, c, float(level)); return r;
  case tex1l * 4 + 0: return tex1DLayered<T>(t, c, slice);
  case tex1l * 4 + 1: return tex1DLayeredLod<T>(t, c, slice, level);
  case tex1l * 4 + 2: return tex1DLayeredGrad<T>(t, c, slice, step, step);
  case tex1l * 4 + 3: tex1DLayeredLod(&r, t, c, slice, float(level)); return r;
  case tex2 * 4 + 0: return tex2D<T>(t, c, c);
  case tex2 * 4 + 1: return tex2DLod<T>(t, c, c, level);
  case tex2 * 4 + 2: return tex2DGrad<T>(t, c, c, dx, dy);
  case tex2 * 4 + 3: tex2DLod(&r, t, c, c, float(level)); return r;
  case tex2l * 4 + 0: return tex2DLayered<T>(t, c, c, slice);
  case tex2l * 4 + 1: return tex2DLayeredLod<T>(t, c, c, slice, level);
  case tex2l * 4 + 2: return tex2DLayeredGrad<T>(t, c, c, slice, dx, dy);
  case tex2l * 4 + 3: tex2DLayeredLod(&r, t, c, c, slice, float(level)); return r;
  case tex3 * 4 + 0: return tex3D<T>(t, c, c, z);
  case tex3 * 4 + 1: return tex3DLod<T>(t, c, c, z, level);
  case tex3 * 4 + 2: return tex3DGrad<T>(t, c, c, z, dx3, dy3);
  case tex3 * 4 + 3: tex3DLod(&r, t, c, c, z, float(level)); return r;
  case cube * 4 + 0: return texCubemap<T>(t, fx, fy, fz);
  case cube * 4 + 1: return texCubemapLod<T>(t, fx, fy, fz, level);
  case cube * 4 + 3: texCubemapLod(&r, t, fx, fy, fz, float(level)); return r;
  case cubel * 4 + 0: return texCubemapLayered<T>(t, fx, fy, fz, slice / 6);
  case cubel * 4 + 1: return texCubemapLayeredLod<T>(t, fx, fy, fz, slice / 6, level);
  case cubel * 4 + 3: texCubemapLayeredLod(&r, t, fx, fy, fz, slice / 6, float(level)); return r;
  }
  return r;
}

__global__ void reads(int shape, cudaTextureObject_t t, int slices, int *wrong) {
  for (int level = 0; level < levels; level++)
    for (int slice = 0; slice < (shape == tex3 ? size >> level : slices); slice++)
      for (int how = 0; how < 4; how++) {
        if ((how == 0 && level > 0) || (how == 2 && shape >= cube)) continue;
        float got = at<float>(shape, how, t, slice, level);
        if (got != value(level, slice)) atomicAdd(wrong, 1);
      }
}

__global__ void gathers(cudaTextureObject_t t, float *out) {
  float4 r;
  tex2Dgather(&r, t, 2.0f, 2.0f, 0);
  float4 g = tex2Dgather<float4>(t, 2.0f, 2.0f, 1);
  float *p = (float *)&r, *q = (float *)&g;
  for (int i = 0; i < 4; i++) out[i] = p[i], out[4 + i] = q[i];
}

__global__ void writes(int shape, cudaSurfaceObject_t s, int slices) {
  int x = threadIdx.x, y = threadIdx.y;
  for (int k = 0; k < slices; k++) {
    float v = x + 10 * y + 100 * k;
    switch (shape) {
    case tex1: if (y == 0) surf1Dwrite(v, s, x * 4); break;
    case tex1l: if (y == 0) surf1DLayeredwrite(v, s, x * 4, k); break;
    case tex2: surf2Dwrite(v, s, x * 4, y); break;
    case tex2l: surf2DLayeredwrite(v, s, x * 4, y, k); break;
    case tex3: surf3Dwrite(v, s, x * 4, y, k); break;
    case cube: surfCubemapwrite(v, s, x * 4, y, k); break;
    case cubel: surfCubemapLayeredwrite(v, s, x * 4, y, k); break;
    }
  }
}

__global__ void surfaces(int shape, cudaSurfaceObject_t s, int slices, int *wrong) {
  int x = threadIdx.x, y = threadIdx.y;
  for (int k = 0; k < slices; k++) {
    float want = x + 10 * (shape == tex1 || shape == tex1l ? 0 : y) + 100 * k, got = -1, again = want;
    switch (shape) {
    case tex1: got = surf1Dread<float>(s, x * 4); surf1Dread(&again, s, x * 4); break;
    case tex1l: got = surf1DLayeredread<float>(s, x * 4, k); surf1DLayeredread(&again, s, x * 4, k); break;
    case tex2: got = surf2Dread<float>(s, x * 4, y); surf2Dread(&again, s, x * 4, y); break;
    case tex2l: got = surf2DLayeredread<float>(s, x * 4, y, k); surf2DLayeredread(&again, s, x * 4, y, k); break;
    case tex3: got = surf3Dread<float>(s, x * 4, y, k); surf3Dread(&again, s, x * 4, y, k); break;
    case cube: got = surfCubemapread<float>(s, x * 4, y, k); surfCubemapread(&again, s, x * 4, y, k); break;
    case cubel: got = surfCubemapLayeredread<float>(s, x * 4, y, k); surfCubemapLayeredread(&again, s, x * 4, y, k); break;
    }
    if (got != want || again != want) atomicAdd(wrong, 1);
  }
}

struct Shape {
  cudaExtent extent;
  unsigned int flags;
  int slices;
};

Shape of(int shape) {
  switch (shape) {
  case tex1: return {{size, 0, 0}, 0, 1};
  case tex1l: return {{size, 0, layers}, cudaArrayLayered, layers};
  case tex2: return {{size, size, 0}, 0, 1};
  case tex2l: return {{size, size, layers}, cudaArrayLayered, layers};
  case tex3: return {{size, size, size}, 0, size};
  case cube: return {{size, size, faces}, cudaArrayCubemap, faces};
  }
  return {{size, size, 2 * faces}, cudaArrayCubemap | cudaArrayLayered, 2 * faces};
}

int main() {
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  for (int shape = 0; shape < shapes; shape++) {
    Shape s = of(shape);
    cudaMipmappedArray_t m;
    OK(cudaMallocMipmappedArray(&m, &d, s.extent, levels, s.flags));
    for (int l = 0; l < levels; l++) {
      cudaArray_t a;
      OK(cudaGetMipmappedArrayLevel(&a, m, l));
      size_t w = size >> l, h = s.extent.height ? size >> l : 1, n = shape == tex3 ? size >> l : s.slices;
      std::vector<float> v(w * h * n);
      for (size_t i = 0; i < v.size(); i++) v[i] = value(l, i / (w * h));
      cudaMemcpy3DParms c = {};
      c.srcPtr = make_cudaPitchedPtr(v.data(), w * 4, w, h);
      c.dstArray = a;
      c.extent = make_cudaExtent(w, h, n);
      c.kind = cudaMemcpyHostToDevice;
      OK(cudaMemcpy3D(&c));
    }
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    cudaTextureDesc t = {};
    t.addressMode[0] = t.addressMode[1] = t.addressMode[2] = cudaAddressModeClamp;
    t.filterMode = t.mipmapFilterMode = cudaFilterModePoint;
    t.normalizedCoords = 1;
    t.maxMipmapLevelClamp = levels - 1;
    cudaTextureObject_t o;
    OK(cudaCreateTextureObject(&o, &r, &t, nullptr));
    Array<int> wrong(2, 0, 0);
    reads<<<1, 1>>>(shape, o, s.slices, wrong);
    OK(cudaDeviceSynchronize());
    OK(cudaDestroyTextureObject(o));
    OK(cudaFreeMipmappedArray(m));

    cudaArray_t a;
    OK(cudaMalloc3DArray(&a, &d, s.extent, s.flags | cudaArraySurfaceLoadStore));
    r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t u;
    OK(cudaCreateSurfaceObject(&u, &r));
    writes<<<1, dim3(size, size)>>>(shape, u, s.slices);
    surfaces<<<1, dim3(size, size)>>>(shape, u, s.slices, (int *)wrong + 1);
    OK(cudaDeviceSynchronize());
    printf("%s: textures %d, surfaces %d\n", names[shape], wrong.get()[0], wrong.get()[1]);
    OK(cudaDestroySurfaceObject(u));
    OK(cudaFreeArray(a));
  }
  d = cudaCreateChannelDesc<float2>();
  cudaArray_t a;
  OK(cudaMallocArray(&a, &d, 4, 4, cudaArrayTextureGather));
  float2 v[16];
  for (int i = 0; i < 16; i++) v[i] = make_float2(i % 4 + 10 * (i / 4), -(i % 4) - 10 * (i / 4));
  OK(cudaMemcpy2DToArray(a, 0, 0, v, 4 * 8, 4 * 8, 4, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaTextureDesc t = {};
  t.addressMode[0] = t.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t o;
  OK(cudaCreateTextureObject(&o, &r, &t, nullptr));
  Array<float> out(8);
  gathers<<<1, 1>>>(o, out);
  printf("gather");
  for (float f : out.get()) printf(" %g", f);
  printf("\n");
}
