// Texture functions on texture objects: one instruction each, of four elements, of which the result's type takes its own.
#ifndef KUDZU_TEXTURE_H
#define KUDZU_TEXTURE_H
#pragma GCC system_header

#include "vector.h"

#ifdef __CUDACC_RTC__
#include "zruntime_types.h"
#else
#include "cuda_runtime_api.h"
#endif

namespace __kudzu {

// texel<T> says in which type (F) a texture gives the elements of T, and makes a T of them.
template <class T> struct texel;
#define KUDZU_TEXEL(T, Fetch)                                                                                         \
  template <> struct texel<T> {                                                                                       \
    typedef Fetch F;                                                                                                  \
    static __device__ __forceinline__ T of(F x, F, F, F) { return (T)x; }                                             \
  };
#define KUDZU_TEXELS(T, E, Fetch)                                                                                     \
  template <> struct texel<T##1> {                                                                                    \
    typedef Fetch F;                                                                                                  \
    static __device__ __forceinline__ T##1 of(F x, F, F, F) { return T##1{(E)x}; }                                    \
  };                                                                                                                  \
  template <> struct texel<T##2> {                                                                                    \
    typedef Fetch F;                                                                                                  \
    static __device__ __forceinline__ T##2 of(F x, F y, F, F) { return T##2{(E)x, (E)y}; }                            \
  };                                                                                                                  \
  template <> struct texel<T##4> {                                                                                    \
    typedef Fetch F;                                                                                                  \
    static __device__ __forceinline__ T##4 of(F x, F y, F z, F w) { return T##4{(E)x, (E)y, (E)z, (E)w}; }            \
  };
KUDZU_TEXEL(char, int)
KUDZU_TEXEL(signed char, int)
KUDZU_TEXEL(unsigned char, unsigned int)
KUDZU_TEXEL(short, int)
KUDZU_TEXEL(unsigned short, unsigned int)
KUDZU_TEXEL(int, int)
KUDZU_TEXEL(unsigned int, unsigned int)
KUDZU_TEXEL(float, float)
KUDZU_TEXELS(char, signed char, int)
KUDZU_TEXELS(uchar, unsigned char, unsigned int)
KUDZU_TEXELS(short, short, int)
KUDZU_TEXELS(ushort, unsigned short, unsigned int)
KUDZU_TEXELS(int, int, int)
KUDZU_TEXELS(uint, unsigned int, unsigned int)
KUDZU_TEXELS(float, float, float)
#undef KUDZU_TEXEL
#undef KUDZU_TEXELS

// The instruction for each type of elements, chosen by the overload of the fetch: KUDZU_FETCH(function, parameters,
// instruction before the type, after it, coordinates and further operands, their constraints).
struct none {};
#define KUDZU_FETCH_AS(name, F, type, c, params, head, tail, operands, inputs)                                        \
  static __device__ __forceinline__ void name(F &a, F &b, F &d, F &e, cudaTextureObject_t t KUDZU_UNPACK params) {    \
    asm volatile(head ".v4." type tail " {%0, %1, %2, %3}, [%4, " operands ";"                                        \
                 : "=" c(a), "=" c(b), "=" c(d), "=" c(e)                                                             \
                 : "l"(t)KUDZU_UNPACK inputs);                                                                        \
  }
#define KUDZU_UNPACK(...) , ##__VA_ARGS__
#define KUDZU_FETCH(name, params, head, tail, operands, inputs)                                                       \
  KUDZU_FETCH_AS(name, float, "f32", "f", params, head, tail, operands, inputs)                                       \
  KUDZU_FETCH_AS(name, int, "s32", "r", params, head, tail, operands, inputs)                                         \
  KUDZU_FETCH_AS(name, unsigned int, "u32", "r", params, head, tail, operands, inputs)

KUDZU_FETCH(fetch1d, (int x), "tex.1d", ".s32", "{%5}]", ("r"(x)))
KUDZU_FETCH(tex1d, (float x), "tex.1d", ".f32", "{%5}]", ("f"(x)))
KUDZU_FETCH(tex1d_lod, (float x, float l), "tex.level.1d", ".f32", "{%5}], %6", ("f"(x), "f"(l)))
KUDZU_FETCH(tex1d_grad, (float x, float dx, float dy), "tex.grad.1d", ".f32", "{%5}], {%6}, {%7}",
            ("f"(x), "f"(dx), "f"(dy)))
KUDZU_FETCH(tex1dl, (float x, int n), "tex.a1d", ".f32", "{%5, %6}]", ("r"(n), "f"(x)))
KUDZU_FETCH(tex1dl_lod, (float x, int n, float l), "tex.level.a1d", ".f32", "{%5, %6}], %7", ("r"(n), "f"(x), "f"(l)))
KUDZU_FETCH(tex1dl_grad, (float x, int n, float dx, float dy), "tex.grad.a1d", ".f32", "{%5, %6}], {%7}, {%8}",
            ("r"(n), "f"(x), "f"(dx), "f"(dy)))
KUDZU_FETCH(tex2d, (float x, float y), "tex.2d", ".f32", "{%5, %6}]", ("f"(x), "f"(y)))
KUDZU_FETCH(tex2d_lod, (float x, float y, float l), "tex.level.2d", ".f32", "{%5, %6}], %7", ("f"(x), "f"(y), "f"(l)))
KUDZU_FETCH(tex2d_grad, (float x, float y, float2 dx, float2 dy), "tex.grad.2d", ".f32",
            "{%5, %6}], {%7, %8}, {%9, %10}", ("f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
KUDZU_FETCH(tex2dl, (float x, float y, int n), "tex.a2d", ".f32", "{%5, %6, %7, %7}]", ("r"(n), "f"(x), "f"(y)))
KUDZU_FETCH(tex2dl_lod, (float x, float y, int n, float l), "tex.level.a2d", ".f32", "{%5, %6, %7, %7}], %8",
            ("r"(n), "f"(x), "f"(y), "f"(l)))
KUDZU_FETCH(tex2dl_grad, (float x, float y, int n, float2 dx, float2 dy), "tex.grad.a2d", ".f32",
            "{%5, %6, %7, %7}], {%8, %9}, {%10, %11}",
            ("r"(n), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
KUDZU_FETCH(tex3d, (float x, float y, float z), "tex.3d", ".f32", "{%5, %6, %7, %7}]", ("f"(x), "f"(y), "f"(z)))
KUDZU_FETCH(tex3d_lod, (float x, float y, float z, float l), "tex.level.3d", ".f32", "{%5, %6, %7, %7}], %8",
            ("f"(x), "f"(y), "f"(z), "f"(l)))
KUDZU_FETCH(tex3d_grad, (float x, float y, float z, float4 dx, float4 dy), "tex.grad.3d", ".f32",
            "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}",
            ("f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))
KUDZU_FETCH(texcube, (float x, float y, float z), "tex.cube", ".f32", "{%5, %6, %7, %7}]", ("f"(x), "f"(y), "f"(z)))
KUDZU_FETCH(texcube_lod, (float x, float y, float z, float l), "tex.level.cube", ".f32", "{%5, %6, %7, %7}], %8",
            ("f"(x), "f"(y), "f"(z), "f"(l)))
KUDZU_FETCH(texcubel, (float x, float y, float z, int n), "tex.acube", ".f32", "{%5, %6, %7, %8}]",
            ("r"(n), "f"(x), "f"(y), "f"(z)))
KUDZU_FETCH(texcubel_lod, (float x, float y, float z, int n, float l), "tex.level.acube", ".f32",
            "{%5, %6, %7, %8}], %9", ("r"(n), "f"(x), "f"(y), "f"(z), "f"(l)))
KUDZU_FETCH(gather_r, (float x, float y), "tld4.r.2d", ".f32", "{%5, %6}]", ("f"(x), "f"(y)))
KUDZU_FETCH(gather_g, (float x, float y), "tld4.g.2d", ".f32", "{%5, %6}]", ("f"(x), "f"(y)))
KUDZU_FETCH(gather_b, (float x, float y), "tld4.b.2d", ".f32", "{%5, %6}]", ("f"(x), "f"(y)))
KUDZU_FETCH(gather_a, (float x, float y), "tld4.a.2d", ".f32", "{%5, %6}]", ("f"(x), "f"(y)))
#undef KUDZU_FETCH
#undef KUDZU_FETCH_AS

}  // namespace __kudzu

// The public functions, each with the result as value and through a pointer.
#define KUDZU_TEX(name, fetch, params, args)                                                                          \
  template <class T> static __device__ __forceinline__ T name(cudaTextureObject_t t KUDZU_UNPACK params) {            \
    typename __kudzu::texel<T>::F a, b, c, d;                                                                         \
    __kudzu::fetch(a, b, c, d, t KUDZU_UNPACK args);                                                                  \
    return __kudzu::texel<T>::of(a, b, c, d);                                                                         \
  }                                                                                                                   \
  template <class T> static __device__ __forceinline__ void name(T *r, cudaTextureObject_t t KUDZU_UNPACK params) {   \
    *r = name<T>(t KUDZU_UNPACK args);                                                                                \
  }
KUDZU_TEX(tex1Dfetch, fetch1d, (int x), (x))
KUDZU_TEX(tex1D, tex1d, (float x), (x))
KUDZU_TEX(tex1DLod, tex1d_lod, (float x, float level), (x, level))
KUDZU_TEX(tex1DGrad, tex1d_grad, (float x, float dx, float dy), (x, dx, dy))
KUDZU_TEX(tex1DLayered, tex1dl, (float x, int layer), (x, layer))
KUDZU_TEX(tex1DLayeredLod, tex1dl_lod, (float x, int layer, float level), (x, layer, level))
KUDZU_TEX(tex1DLayeredGrad, tex1dl_grad, (float x, int layer, float dx, float dy), (x, layer, dx, dy))
KUDZU_TEX(tex2D, tex2d, (float x, float y), (x, y))
KUDZU_TEX(tex2DLod, tex2d_lod, (float x, float y, float level), (x, y, level))
KUDZU_TEX(tex2DGrad, tex2d_grad, (float x, float y, float2 dx, float2 dy), (x, y, dx, dy))
KUDZU_TEX(tex2DLayered, tex2dl, (float x, float y, int layer), (x, y, layer))
KUDZU_TEX(tex2DLayeredLod, tex2dl_lod, (float x, float y, int layer, float level), (x, y, layer, level))
KUDZU_TEX(tex2DLayeredGrad, tex2dl_grad, (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, dx, dy))
KUDZU_TEX(tex3D, tex3d, (float x, float y, float z), (x, y, z))
KUDZU_TEX(tex3DLod, tex3d_lod, (float x, float y, float z, float level), (x, y, z, level))
KUDZU_TEX(tex3DGrad, tex3d_grad, (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy))
KUDZU_TEX(texCubemap, texcube, (float x, float y, float z), (x, y, z))
KUDZU_TEX(texCubemapLod, texcube_lod, (float x, float y, float z, float level), (x, y, z, level))
KUDZU_TEX(texCubemapLayered, texcubel, (float x, float y, float z, int layer), (x, y, z, layer))
KUDZU_TEX(texCubemapLayeredLod, texcubel_lod, (float x, float y, float z, int layer, float level), (x, y, z, layer, level))
#undef KUDZU_TEX
#undef KUDZU_UNPACK

template <class T>
static __device__ __forceinline__ T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0) {
  typename __kudzu::texel<T>::F a, b, c, d;
  switch (component) {
  case 1: __kudzu::gather_g(a, b, c, d, t, x, y); break;
  case 2: __kudzu::gather_b(a, b, c, d, t, x, y); break;
  case 3: __kudzu::gather_a(a, b, c, d, t, x, y); break;
  default: __kudzu::gather_r(a, b, c, d, t, x, y);
  }
  return __kudzu::texel<T>::of(a, b, c, d);
}
template <class T>
static __device__ __forceinline__ void tex2Dgather(T *r, cudaTextureObject_t t, float x, float y, int component = 0) {
  *r = tex2Dgather<T>(t, x, y, component);
}

#endif
