// Surface functions on surface objects. x counts bytes.
#ifndef KUDZU_SURFACE_H
#define KUDZU_SURFACE_H
#pragma GCC system_header

#include "texture.h"

namespace __kudzu {

// How many elements a type has; each moves as bits.
template <class T> struct elements {
  static constexpr int count = 1;
};
#define KUDZU_ELEMENTS(T, n)                                                                                          \
  template <> struct elements<T> {                                                                                    \
    static constexpr int count = n;                                                                                   \
  };
KUDZU_ELEMENTS(char2, 2)
KUDZU_ELEMENTS(uchar2, 2)
KUDZU_ELEMENTS(short2, 2)
KUDZU_ELEMENTS(ushort2, 2)
KUDZU_ELEMENTS(int2, 2)
KUDZU_ELEMENTS(uint2, 2)
KUDZU_ELEMENTS(float2, 2)
KUDZU_ELEMENTS(longlong2, 2)
KUDZU_ELEMENTS(ulonglong2, 2)
KUDZU_ELEMENTS(char4, 4)
KUDZU_ELEMENTS(uchar4, 4)
KUDZU_ELEMENTS(short4, 4)
KUDZU_ELEMENTS(ushort4, 4)
KUDZU_ELEMENTS(int4, 4)
KUDZU_ELEMENTS(uint4, 4)
KUDZU_ELEMENTS(float4, 4)
#undef KUDZU_ELEMENTS

template <int bytes> struct bits_of;
template <> struct bits_of<1> {
  typedef unsigned char type;
};
template <> struct bits_of<2> {
  typedef unsigned short type;
};
template <> struct bits_of<4> {
  typedef unsigned int type;
};
template <> struct bits_of<8> {
  typedef unsigned long long type;
};
template <int count, class W> struct pack {
  W v[count];
};
template <class T> using pack_of = pack<elements<T>::count, typename bits_of<sizeof(T) / elements<T>::count>::type>;

#define KUDZU_UNPACK(...) , ##__VA_ARGS__
// The accesses of words of B bits in geometry G: W is the word, R the type of its register, c asm's letter.
#define KUDZU_SURF(name, params, G, coords, inputs)                                                                   \
  KUDZU_SURF_SIZE(name, params, G, coords, inputs, "b8", unsigned char, unsigned short, "h")                          \
  KUDZU_SURF_SIZE(name, params, G, coords, inputs, "b16", unsigned short, unsigned short, "h")                        \
  KUDZU_SURF_SIZE(name, params, G, coords, inputs, "b32", unsigned int, unsigned int, "r")                            \
  KUDZU_SURF_SIZE(name, params, G, coords, inputs, "b64", unsigned long long, unsigned long long, "l")
#define KUDZU_SURF_SIZE(name, params, G, coords, inputs, B, W, R, c)                                                  \
  KUDZU_SURF_MODE(name, _trap, params, G, coords, inputs, B ".trap", W, R, c)                                         \
  KUDZU_SURF_MODE(name, _clamp, params, G, coords, inputs, B ".clamp", W, R, c)                                       \
  KUDZU_SURF_MODE(name, _zero, params, G, coords, inputs, B ".zero", W, R, c)
#define KUDZU_SURF_MODE(name, m, params, G, coords, inputs, B, W, R, c)                                               \
  static __device__ __forceinline__ void name##_load##m(pack<1, W> &p, cudaSurfaceObject_t o KUDZU_UNPACK params) {   \
    R a;                                                                                                              \
    asm volatile("suld.b." G "." B " {%0}, [%[o], " coords "];"                                                       \
                 : "=" c(a)                                                                                           \
                 : [o] "l"(o)KUDZU_UNPACK inputs                                                                      \
                 : "memory");                                                                                         \
    p.v[0] = (W)a;                                                                                                    \
  }                                                                                                                   \
  static __device__ __forceinline__ void name##_store##m(const pack<1, W> &p,                                         \
                                                         cudaSurfaceObject_t o KUDZU_UNPACK params) {                 \
    asm volatile("sust.b." G "." B " [%[o], " coords "], {%[a]};" ::[a] c((R)p.v[0]),                                 \
                 [o] "l"(o)KUDZU_UNPACK inputs                                                                        \
                 : "memory");                                                                                         \
  }                                                                                                                   \
  static __device__ __forceinline__ void name##_load##m(pack<2, W> &p, cudaSurfaceObject_t o KUDZU_UNPACK params) {   \
    R a, b;                                                                                                           \
    asm volatile("suld.b." G ".v2." B " {%0, %1}, [%[o], " coords "];"                                                \
                 : "=" c(a), "=" c(b)                                                                                 \
                 : [o] "l"(o)KUDZU_UNPACK inputs                                                                      \
                 : "memory");                                                                                         \
    p.v[0] = (W)a;                                                                                                    \
    p.v[1] = (W)b;                                                                                                    \
  }                                                                                                                   \
  static __device__ __forceinline__ void name##_store##m(const pack<2, W> &p,                                         \
                                                         cudaSurfaceObject_t o KUDZU_UNPACK params) {                 \
    asm volatile("sust.b." G ".v2." B " [%[o], " coords "], {%[a], %[b]};" ::[a] c((R)p.v[0]),                        \
                 [b] c((R)p.v[1]), [o] "l"(o)KUDZU_UNPACK inputs                                                      \
                 : "memory");                                                                                         \
  }                                                                                                                   \
  static __device__ __forceinline__ void name##_load##m(pack<4, W> &p, cudaSurfaceObject_t o KUDZU_UNPACK params) {   \
    R a, b, d, e;                                                                                                     \
    asm volatile("suld.b." G ".v4." B " {%0, %1, %2, %3}, [%[o], " coords "];"                                        \
                 : "=" c(a), "=" c(b), "=" c(d), "=" c(e)                                                             \
                 : [o] "l"(o)KUDZU_UNPACK inputs                                                                      \
                 : "memory");                                                                                         \
    p.v[0] = (W)a;                                                                                                    \
    p.v[1] = (W)b;                                                                                                    \
    p.v[2] = (W)d;                                                                                                    \
    p.v[3] = (W)e;                                                                                                    \
  }                                                                                                                   \
  static __device__ __forceinline__ void name##_store##m(const pack<4, W> &p,                                         \
                                                         cudaSurfaceObject_t o KUDZU_UNPACK params) {                 \
    asm volatile("sust.b." G ".v4." B " [%[o], " coords "], {%[a], %[b], %[d], %[e]};" ::[a] c((R)p.v[0]),            \
                 [b] c((R)p.v[1]), [d] c((R)p.v[2]), [e] c((R)p.v[3]), [o] "l"(o)KUDZU_UNPACK inputs                  \
                 : "memory");                                                                                         \
  }
KUDZU_SURF(surf1d, (int x), "1d", "{%[x]}", ([x] "r"(x)))
KUDZU_SURF(surf2d, (int x, int y), "2d", "{%[x], %[y]}", ([x] "r"(x), [y] "r"(y)))
KUDZU_SURF(surf3d, (int x, int y, int z), "3d", "{%[x], %[y], %[z], %[z]}", ([x] "r"(x), [y] "r"(y), [z] "r"(z)))
KUDZU_SURF(surf1dl, (int x, int n), "a1d", "{%[n], %[x]}", ([x] "r"(x), [n] "r"(n)))
KUDZU_SURF(surf2dl, (int x, int y, int n), "a2d", "{%[n], %[x], %[y], %[y]}", ([x] "r"(x), [y] "r"(y), [n] "r"(n)))
#undef KUDZU_SURF
#undef KUDZU_SURF_SIZE
#undef KUDZU_SURF_MODE

}  // namespace __kudzu

// The public functions; both forms of read.
#define KUDZU_SURFACE(name, access, params, args)                                                                     \
  template <class T>                                                                                                  \
  static __device__ __forceinline__ T name##read(cudaSurfaceObject_t o KUDZU_UNPACK params,                           \
                                                 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {               \
    __kudzu::pack_of<T> p;                                                                                            \
    if (mode == cudaBoundaryModeClamp)                                                                                \
      __kudzu::access##_load_clamp(p, o KUDZU_UNPACK args);                                                           \
    else if (mode == cudaBoundaryModeZero)                                                                            \
      __kudzu::access##_load_zero(p, o KUDZU_UNPACK args);                                                            \
    else                                                                                                              \
      __kudzu::access##_load_trap(p, o KUDZU_UNPACK args);                                                            \
    return __builtin_bit_cast(T, p);                                                                                  \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  static __device__ __forceinline__ void name##read(T *r, cudaSurfaceObject_t o KUDZU_UNPACK params,                  \
                                                    cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {            \
    *r = name##read<T>(o KUDZU_UNPACK args, mode);                                                                    \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  static __device__ __forceinline__ void name##write(T v, cudaSurfaceObject_t o KUDZU_UNPACK params,                  \
                                                     cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
    __kudzu::pack_of<T> p = __builtin_bit_cast(__kudzu::pack_of<T>, v);                                               \
    if (mode == cudaBoundaryModeClamp)                                                                                \
      __kudzu::access##_store_clamp(p, o KUDZU_UNPACK args);                                                          \
    else if (mode == cudaBoundaryModeZero)                                                                            \
      __kudzu::access##_store_zero(p, o KUDZU_UNPACK args);                                                           \
    else                                                                                                              \
      __kudzu::access##_store_trap(p, o KUDZU_UNPACK args);                                                           \
  }
KUDZU_SURFACE(surf1D, surf1d, (int x), (x))
KUDZU_SURFACE(surf2D, surf2d, (int x, int y), (x, y))
KUDZU_SURFACE(surf3D, surf3d, (int x, int y, int z), (x, y, z))
KUDZU_SURFACE(surf1DLayered, surf1dl, (int x, int layer), (x, layer))
KUDZU_SURFACE(surf2DLayered, surf2dl, (int x, int y, int layer), (x, y, layer))
KUDZU_SURFACE(surfCubemap, surf2dl, (int x, int y, int face), (x, y, face))
KUDZU_SURFACE(surfCubemapLayered, surf2dl, (int x, int y, int layer_face), (x, y, layer_face))
#undef KUDZU_SURFACE
#undef KUDZU_UNPACK

#endif
