// Loads and stores with a cache hint, address spaces, memory functions.
#ifndef KUDZU_MEMORY_H
#define KUDZU_MEMORY_H
#pragma GCC system_header

#include "vector.h"

#define KUDZU_LOAD1(name, insn, T, bits, c, R)                                                                        \
  KUDZU_D T name(const T *p) {                                                                                        \
    R r;                                                                                                              \
    asm KUDZU_ASM(insn "." bits " %0, [%1];" : "=" c(r) : "l"(p) KUDZU_CLOBBER);                                      \
    return (T)r;                                                                                                      \
  }
#define KUDZU_LOAD2(name, insn, T, E, bits, c, R)                                                                     \
  KUDZU_D T name(const T *p) {                                                                                        \
    R a, b;                                                                                                           \
    asm KUDZU_ASM(insn ".v2." bits " {%0, %1}, [%2];" : "=" c(a), "=" c(b) : "l"(p) KUDZU_CLOBBER);                   \
    return T{(E)a, (E)b};                                                                                             \
  }
#define KUDZU_LOAD4(name, insn, T, E, bits, c, R)                                                                     \
  KUDZU_D T name(const T *p) {                                                                                        \
    R a, b, d, e;                                                                                                     \
    asm KUDZU_ASM(insn ".v4." bits " {%0, %1, %2, %3}, [%4];"                                                         \
                  : "=" c(a), "=" c(b), "=" c(d), "=" c(e)                                                            \
                  : "l"(p) KUDZU_CLOBBER);                                                                            \
    return T{(E)a, (E)b, (E)d, (E)e};                                                                                 \
  }
// Every type that the manual lists.
#define KUDZU_LOADS(name, insn)                                                                                       \
  KUDZU_LOAD1(name, insn, char, "s8", "r", int)                                                                       \
  KUDZU_LOAD1(name, insn, signed char, "s8", "r", int)                                                                \
  KUDZU_LOAD1(name, insn, unsigned char, "u8", "r", unsigned int)                                                     \
  KUDZU_LOAD1(name, insn, short, "s16", "h", short)                                                                   \
  KUDZU_LOAD1(name, insn, unsigned short, "u16", "h", unsigned short)                                                 \
  KUDZU_LOAD1(name, insn, int, "s32", "r", int)                                                                       \
  KUDZU_LOAD1(name, insn, unsigned int, "u32", "r", unsigned int)                                                     \
  KUDZU_LOAD1(name, insn, long, "s64", "l", long)                                                                     \
  KUDZU_LOAD1(name, insn, unsigned long, "u64", "l", unsigned long)                                                   \
  KUDZU_LOAD1(name, insn, long long, "s64", "l", long long)                                                           \
  KUDZU_LOAD1(name, insn, unsigned long long, "u64", "l", unsigned long long)                                         \
  KUDZU_LOAD1(name, insn, float, "f32", "f", float)                                                                   \
  KUDZU_LOAD1(name, insn, double, "f64", "d", double)                                                                 \
  KUDZU_LOAD2(name, insn, char2, signed char, "s8", "r", int)                                                         \
  KUDZU_LOAD4(name, insn, char4, signed char, "s8", "r", int)                                                         \
  KUDZU_LOAD2(name, insn, uchar2, unsigned char, "u8", "r", unsigned int)                                             \
  KUDZU_LOAD4(name, insn, uchar4, unsigned char, "u8", "r", unsigned int)                                             \
  KUDZU_LOAD2(name, insn, short2, short, "s16", "h", short)                                                           \
  KUDZU_LOAD4(name, insn, short4, short, "s16", "h", short)                                                           \
  KUDZU_LOAD2(name, insn, ushort2, unsigned short, "u16", "h", unsigned short)                                        \
  KUDZU_LOAD4(name, insn, ushort4, unsigned short, "u16", "h", unsigned short)                                        \
  KUDZU_LOAD2(name, insn, int2, int, "s32", "r", int)                                                                 \
  KUDZU_LOAD4(name, insn, int4, int, "s32", "r", int)                                                                 \
  KUDZU_LOAD2(name, insn, uint2, unsigned int, "u32", "r", unsigned int)                                              \
  KUDZU_LOAD4(name, insn, uint4, unsigned int, "u32", "r", unsigned int)                                              \
  KUDZU_LOAD2(name, insn, long2, long, "s64", "l", long)                                                              \
  KUDZU_LOAD2(name, insn, ulong2, unsigned long, "u64", "l", unsigned long)                                           \
  KUDZU_LOAD2(name, insn, longlong2, long long, "s64", "l", long long)                                                \
  KUDZU_LOAD2(name, insn, ulonglong2, unsigned long long, "u64", "l", unsigned long long)                             \
  KUDZU_LOAD2(name, insn, float2, float, "f32", "f", float)                                                           \
  KUDZU_LOAD4(name, insn, float4, float, "f32", "f", float)                                                           \
  KUDZU_LOAD2(name, insn, double2, double, "f64", "d", double)

// Memory behind __ldg does not change while the kernel runs, so equal loads are one.
#define KUDZU_ASM
#define KUDZU_CLOBBER
KUDZU_LOADS(__ldg, "ld.global.nc")
#undef KUDZU_ASM
#undef KUDZU_CLOBBER
#define KUDZU_ASM volatile
#define KUDZU_CLOBBER : "memory"
KUDZU_LOADS(__ldca, "ld.global.ca")
KUDZU_LOADS(__ldcg, "ld.global.cg")
KUDZU_LOADS(__ldcs, "ld.global.cs")
KUDZU_LOADS(__ldlu, "ld.global.lu")
KUDZU_LOADS(__ldcv, "ld.global.cv")
#undef KUDZU_LOADS
#undef KUDZU_LOAD1
#undef KUDZU_LOAD2
#undef KUDZU_LOAD4
#undef KUDZU_ASM
#undef KUDZU_CLOBBER

#define KUDZU_STORE1(name, insn, T, bits, c, R)                                                                       \
  KUDZU_D void name(T *p, T v) { asm volatile(insn "." bits " [%0], %1;" ::"l"(p), c((R)v) : "memory"); }
#define KUDZU_STORE2(name, insn, T, bits, c, R)                                                                       \
  KUDZU_D void name(T *p, T v) {                                                                                      \
    asm volatile(insn ".v2." bits " [%0], {%1, %2};" ::"l"(p), c((R)v.x), c((R)v.y) : "memory");                      \
  }
#define KUDZU_STORE4(name, insn, T, bits, c, R)                                                                       \
  KUDZU_D void name(T *p, T v) {                                                                                      \
    asm volatile(insn ".v4." bits " [%0], {%1, %2, %3, %4};" ::"l"(p), c((R)v.x), c((R)v.y), c((R)v.z), c((R)v.w)     \
                 : "memory");                                                                                         \
  }
#define KUDZU_STORES(name, insn)                                                                                      \
  KUDZU_STORE1(name, insn, char, "s8", "r", int)                                                                      \
  KUDZU_STORE1(name, insn, signed char, "s8", "r", int)                                                               \
  KUDZU_STORE1(name, insn, unsigned char, "u8", "r", unsigned int)                                                    \
  KUDZU_STORE1(name, insn, short, "s16", "h", short)                                                                  \
  KUDZU_STORE1(name, insn, unsigned short, "u16", "h", unsigned short)                                                \
  KUDZU_STORE1(name, insn, int, "s32", "r", int)                                                                      \
  KUDZU_STORE1(name, insn, unsigned int, "u32", "r", unsigned int)                                                    \
  KUDZU_STORE1(name, insn, long, "s64", "l", long)                                                                    \
  KUDZU_STORE1(name, insn, unsigned long, "u64", "l", unsigned long)                                                  \
  KUDZU_STORE1(name, insn, long long, "s64", "l", long long)                                                          \
  KUDZU_STORE1(name, insn, unsigned long long, "u64", "l", unsigned long long)                                        \
  KUDZU_STORE1(name, insn, float, "f32", "f", float)                                                                  \
  KUDZU_STORE1(name, insn, double, "f64", "d", double)                                                                \
  KUDZU_STORE2(name, insn, char2, "s8", "r", int)                                                                     \
  KUDZU_STORE4(name, insn, char4, "s8", "r", int)                                                                     \
  KUDZU_STORE2(name, insn, uchar2, "u8", "r", unsigned int)                                                           \
  KUDZU_STORE4(name, insn, uchar4, "u8", "r", unsigned int)                                                           \
  KUDZU_STORE2(name, insn, short2, "s16", "h", short)                                                                 \
  KUDZU_STORE4(name, insn, short4, "s16", "h", short)                                                                 \
  KUDZU_STORE2(name, insn, ushort2, "u16", "h", unsigned short)                                                       \
  KUDZU_STORE4(name, insn, ushort4, "u16", "h", unsigned short)                                                       \
  KUDZU_STORE2(name, insn, int2, "s32", "r", int)                                                                     \
  KUDZU_STORE4(name, insn, int4, "s32", "r", int)                                                                     \
  KUDZU_STORE2(name, insn, uint2, "u32", "r", unsigned int)                                                           \
  KUDZU_STORE4(name, insn, uint4, "u32", "r", unsigned int)                                                           \
  KUDZU_STORE2(name, insn, long2, "s64", "l", long)                                                                   \
  KUDZU_STORE2(name, insn, ulong2, "u64", "l", unsigned long)                                                         \
  KUDZU_STORE2(name, insn, longlong2, "s64", "l", long long)                                                          \
  KUDZU_STORE2(name, insn, ulonglong2, "u64", "l", unsigned long long)                                                \
  KUDZU_STORE2(name, insn, float2, "f32", "f", float)                                                                 \
  KUDZU_STORE4(name, insn, float4, "f32", "f", float)                                                                 \
  KUDZU_STORE2(name, insn, double2, "f64", "d", double)
KUDZU_STORES(__stwb, "st.global.wb")
KUDZU_STORES(__stcg, "st.global.cg")
KUDZU_STORES(__stcs, "st.global.cs")
KUDZU_STORES(__stwt, "st.global.wt")
#undef KUDZU_STORES
#undef KUDZU_STORE1
#undef KUDZU_STORE2
#undef KUDZU_STORE4

#define KUDZU_ISSPACE(name, space)                                                                                    \
  KUDZU_D unsigned int name(const void *p) {                                                                          \
    unsigned int r;                                                                                                   \
    asm("{.reg .pred p; isspacep." space " p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(r) : "l"(p));                        \
    return r;                                                                                                         \
  }
KUDZU_ISSPACE(__isGlobal, "global")
KUDZU_ISSPACE(__isShared, "shared")
KUDZU_ISSPACE(__isConstant, "const")
KUDZU_ISSPACE(__isLocal, "local")
KUDZU_ISSPACE(__isClusterShared, "shared::cluster")
KUDZU_ISSPACE(__isGridConstant, "param")
#undef KUDZU_ISSPACE

#define KUDZU_CVTA(space)                                                                                             \
  KUDZU_D size_t __cvta_generic_to_##space(const void *p) {                                                           \
    size_t r;                                                                                                         \
    asm("cvta.to." KUDZU_SPACE ".u64 %0, %1;" : "=l"(r) : "l"(p));                                                    \
    return r;                                                                                                         \
  }                                                                                                                   \
  KUDZU_D void *__cvta_##space##_to_generic(size_t a) {                                                               \
    void *p;                                                                                                          \
    asm("cvta." KUDZU_SPACE ".u64 %0, %1;" : "=l"(p) : "l"(a));                                                       \
    return p;                                                                                                         \
  }
#define KUDZU_SPACE "global"
KUDZU_CVTA(global)
#undef KUDZU_SPACE
#define KUDZU_SPACE "shared"
KUDZU_CVTA(shared)
#undef KUDZU_SPACE
#define KUDZU_SPACE "const"
KUDZU_CVTA(constant)
#undef KUDZU_SPACE
#define KUDZU_SPACE "local"
KUDZU_CVTA(local)
#undef KUDZU_SPACE
#define KUDZU_SPACE "param"
KUDZU_CVTA(grid_constant)
#undef KUDZU_SPACE
#undef KUDZU_CVTA

#endif
