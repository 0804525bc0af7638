// Every texture and surface function, for the instruction that it must be; internal/testkit/cudacc has the list.
template <class T> static __device__ void textures(T *p, cudaTextureObject_t t, float x) {
  float2 d = make_float2(x, 1);
  float4 e = make_float4(x, x, x, x);
  *p++ = tex1Dfetch<T>(t, 3);
  *p++ = tex1D<T>(t, x);
  *p++ = tex1DLod<T>(t, x, x);
  *p++ = tex1DGrad<T>(t, x, x, x);
  *p++ = tex1DLayered<T>(t, x, 3);
  *p++ = tex1DLayeredLod<T>(t, x, 3, x);
  *p++ = tex1DLayeredGrad<T>(t, x, 3, x, x);
  *p++ = tex2D<T>(t, x, x);
  *p++ = tex2DLod<T>(t, x, x, x);
  *p++ = tex2DGrad<T>(t, x, x, d, d);
  *p++ = tex2DLayered<T>(t, x, x, 3);
  *p++ = tex2DLayeredLod<T>(t, x, x, 3, x);
  *p++ = tex2DLayeredGrad<T>(t, x, x, 3, d, d);
  *p++ = tex3D<T>(t, x, x, x);
  *p++ = tex3DLod<T>(t, x, x, x, x);
  *p++ = tex3DGrad<T>(t, x, x, x, e, e);
  *p++ = texCubemap<T>(t, x, x, x);
  *p++ = texCubemapLod<T>(t, x, x, x, x);
  *p++ = texCubemapLayered<T>(t, x, x, x, 3);
  *p++ = texCubemapLayeredLod<T>(t, x, x, x, 3, x);
  *p++ = tex2Dgather<T>(t, x, x, 0);
  *p++ = tex2Dgather<T>(t, x, x, 1);
  *p++ = tex2Dgather<T>(t, x, x, 2);
  *p++ = tex2Dgather<T>(t, x, x, 3);
  tex2D(p++, t, x, x);
}
template <class T> static __device__ void surfaces(T *p, cudaSurfaceObject_t t, int x) {
  *p++ = surf1Dread<T>(t, x);
  *p++ = surf2Dread<T>(t, x, x);
  *p++ = surf3Dread<T>(t, x, x, x, cudaBoundaryModeZero);
  *p++ = surf1DLayeredread<T>(t, x, 3);
  *p++ = surf2DLayeredread<T>(t, x, x, 3, cudaBoundaryModeClamp);
  *p++ = surfCubemapread<T>(t, x, x, 3);
  *p++ = surfCubemapLayeredread<T>(t, x, x, 3);
  surf2Dread(p, t, x, x);
  T v = *p;
  surf1Dwrite(v, t, x);
  surf2Dwrite(v, t, x, x, cudaBoundaryModeClamp);
  surf3Dwrite(v, t, x, x, x);
  surf1DLayeredwrite(v, t, x, 3);
  surf2DLayeredwrite(v, t, x, x, 3, cudaBoundaryModeZero);
  surfCubemapwrite(v, t, x, x, 3);
  surfCubemapLayeredwrite(v, t, x, x, 3);
}
#define KERNELS(T)                                                                                                    \
  extern "C" __global__ void textures_##T(T *p, cudaTextureObject_t t, float x) { textures(p, t, x); }                \
  extern "C" __global__ void surfaces_##T(T *p, cudaSurfaceObject_t t, int x) { surfaces(p, t, x); }
KERNELS(float4)
KERNELS(char)
KERNELS(ushort2)
KERNELS(int)
extern "C" __global__ void surfaces_longlong2(longlong2 *p, cudaSurfaceObject_t t, int x) { surfaces(p, t, x); }
