// The vector types, their make_ functions, and dim3.
#ifndef KUDZU_VECTOR_H
#define KUDZU_VECTOR_H
#pragma GCC system_header

#include "keywords.h"

// What a type of N elements is aligned to: its size for 1, 2 and 4 elements, at most 16; its element's for 3.
#define KUDZU_VECTOR(name, T, a2, a4)                                                                                 \
  struct name##1 {                                                                                                    \
    T x;                                                                                                              \
  };                                                                                                                  \
  struct __align__(a2) name##2 {                                                                                      \
    T x, y;                                                                                                           \
  };                                                                                                                  \
  struct name##3 {                                                                                                    \
    T x, y, z;                                                                                                        \
  };                                                                                                                  \
  struct __align__(a4) name##4 {                                                                                      \
    T x, y, z, w;                                                                                                     \
  };                                                                                                                  \
  KUDZU_HD name##1 make_##name##1(T x) { return {x}; }                                                                \
  KUDZU_HD name##2 make_##name##2(T x, T y) { return {x, y}; }                                                        \
  KUDZU_HD name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                                                \
  KUDZU_HD name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

KUDZU_VECTOR(char, signed char, 2, 4)
KUDZU_VECTOR(uchar, unsigned char, 2, 4)
KUDZU_VECTOR(short, short, 4, 8)
KUDZU_VECTOR(ushort, unsigned short, 4, 8)
KUDZU_VECTOR(int, int, 8, 16)
KUDZU_VECTOR(uint, unsigned int, 8, 16)
KUDZU_VECTOR(long, long, 16, 16)
KUDZU_VECTOR(ulong, unsigned long, 16, 16)
KUDZU_VECTOR(longlong, long long, 16, 16)
KUDZU_VECTOR(ulonglong, unsigned long long, 16, 16)
KUDZU_VECTOR(float, float, 8, 16)
KUDZU_VECTOR(double, double, 16, 16)

#undef KUDZU_VECTOR

// Since CUDA 13: the types of 32 bytes with their alignment in the name.
#define KUDZU_VECTOR4(name, T, n)                                                                                     \
  struct __align__(n) name##4_##n##a {                                                                                \
    T x, y, z, w;                                                                                                     \
  };                                                                                                                  \
  KUDZU_HD name##4_##n##a make_##name##4_##n##a(T x, T y, T z, T w) { return {x, y, z, w}; }

KUDZU_VECTOR4(long, long, 16)
KUDZU_VECTOR4(long, long, 32)
KUDZU_VECTOR4(ulong, unsigned long, 16)
KUDZU_VECTOR4(ulong, unsigned long, 32)
KUDZU_VECTOR4(longlong, long long, 16)
KUDZU_VECTOR4(longlong, long long, 32)
KUDZU_VECTOR4(ulonglong, unsigned long long, 16)
KUDZU_VECTOR4(ulonglong, unsigned long long, 32)
KUDZU_VECTOR4(double, double, 16)
KUDZU_VECTOR4(double, double, 32)

#undef KUDZU_VECTOR4

struct dim3 {
  unsigned int x, y, z;
  __host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};

#endif
