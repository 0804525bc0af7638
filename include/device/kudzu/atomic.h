// Atomic functions: relaxed, at the scope of the device; _block and _system name another one.
// At device scope they are atomics of clang's, so that the address space is known where it can be known.
#ifndef KUDZU_ATOMIC_H
#define KUDZU_ATOMIC_H
#pragma GCC system_header

#include "intrinsics.h"

#define KUDZU_ATOMIC_FETCH(name, op, T)                                                                               \
  KUDZU_D T name(T *p, T v) { return __scoped_atomic_##op(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE); }
#define KUDZU_ATOMIC_ASM(name, insn, T, c)                                                                            \
  KUDZU_D T name(T *p, T v) {                                                                                         \
    T r;                                                                                                              \
    asm volatile("atom." insn " %0, [%1], %2;" : "=" c(r) : "l"(p), c(v) : "memory");                                 \
    return r;                                                                                                         \
  }
// insn has the form op.type
#define KUDZU_ATOMIC_SCOPES(name, insn, T, c)                                                                         \
  KUDZU_ATOMIC_ASM(name##_block, "relaxed.cta." insn, T, c)                                                           \
  KUDZU_ATOMIC_ASM(name##_system, "relaxed.sys." insn, T, c)
#define KUDZU_ATOMIC(name, op, insn, T, c)                                                                            \
  KUDZU_ATOMIC_FETCH(name, op, T)                                                                                     \
  KUDZU_ATOMIC_SCOPES(name, insn, T, c)

typedef unsigned long long __kudzu_ull;

KUDZU_ATOMIC(atomicAdd, fetch_add, "add.u32", int, "r")
KUDZU_ATOMIC(atomicAdd, fetch_add, "add.u32", unsigned int, "r")
KUDZU_ATOMIC(atomicAdd, fetch_add, "add.u64", __kudzu_ull, "l")
KUDZU_ATOMIC_SCOPES(atomicAdd, "add.f32", float, "f")
KUDZU_ATOMIC_SCOPES(atomicAdd, "add.f64", double, "d")
KUDZU_D float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
KUDZU_D double atomicAdd(double *p, double v) {
  return __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

KUDZU_ATOMIC_FETCH(atomicSub, fetch_sub, int)
KUDZU_ATOMIC_FETCH(atomicSub, fetch_sub, unsigned int)
KUDZU_D int atomicSub_block(int *p, int v) { return atomicAdd_block(p, (int)-(unsigned int)v); }
KUDZU_D int atomicSub_system(int *p, int v) { return atomicAdd_system(p, (int)-(unsigned int)v); }
KUDZU_D unsigned int atomicSub_block(unsigned int *p, unsigned int v) { return atomicAdd_block(p, -v); }
KUDZU_D unsigned int atomicSub_system(unsigned int *p, unsigned int v) { return atomicAdd_system(p, -v); }

KUDZU_ATOMIC(atomicExch, exchange_n, "exch.b32", int, "r")
KUDZU_ATOMIC(atomicExch, exchange_n, "exch.b32", unsigned int, "r")
KUDZU_ATOMIC(atomicExch, exchange_n, "exch.b64", __kudzu_ull, "l")
KUDZU_ATOMIC_SCOPES(atomicExch, "exch.b32", float, "f")
KUDZU_D float atomicExch(float *p, float v) {
  return __int_as_float(atomicExch((int *)p, __float_as_int(v)));
}

KUDZU_ATOMIC(atomicMin, fetch_min, "min.s32", int, "r")
KUDZU_ATOMIC(atomicMin, fetch_min, "min.u32", unsigned int, "r")
KUDZU_ATOMIC(atomicMin, fetch_min, "min.s64", long long, "l")
KUDZU_ATOMIC(atomicMin, fetch_min, "min.u64", __kudzu_ull, "l")
KUDZU_ATOMIC(atomicMax, fetch_max, "max.s32", int, "r")
KUDZU_ATOMIC(atomicMax, fetch_max, "max.u32", unsigned int, "r")
KUDZU_ATOMIC(atomicMax, fetch_max, "max.s64", long long, "l")
KUDZU_ATOMIC(atomicMax, fetch_max, "max.u64", __kudzu_ull, "l")

KUDZU_ATOMIC_SCOPES(atomicInc, "inc.u32", unsigned int, "r")
KUDZU_ATOMIC_SCOPES(atomicDec, "dec.u32", unsigned int, "r")
KUDZU_D unsigned int atomicInc(unsigned int *p, unsigned int v) { return __nvvm_atom_inc_gen_ui(p, v); }
KUDZU_D unsigned int atomicDec(unsigned int *p, unsigned int v) { return __nvvm_atom_dec_gen_ui(p, v); }

#define KUDZU_ATOMIC_BITS(name, op, insn)                                                                             \
  KUDZU_ATOMIC(name, op, insn ".b32", int, "r")                                                                       \
  KUDZU_ATOMIC(name, op, insn ".b32", unsigned int, "r")                                                              \
  KUDZU_ATOMIC(name, op, insn ".b64", __kudzu_ull, "l")
KUDZU_ATOMIC_BITS(atomicAnd, fetch_and, "and")
KUDZU_ATOMIC_BITS(atomicOr, fetch_or, "or")
KUDZU_ATOMIC_BITS(atomicXor, fetch_xor, "xor")

#define KUDZU_ATOMIC_CAS(name, scope, T, bits, c)                                                                     \
  KUDZU_D T name(T *p, T compare, T v) {                                                                              \
    T r;                                                                                                              \
    asm volatile("atom.relaxed." scope ".cas." bits " %0, [%1], %2, %3;"                                              \
                 : "=" c(r)                                                                                           \
                 : "l"(p), c(compare), c(v)                                                                           \
                 : "memory");                                                                                         \
    return r;                                                                                                         \
  }
#define KUDZU_ATOMIC_CASES(T, bits, c)                                                                                \
  KUDZU_D T atomicCAS(T *p, T compare, T v) {                                                                         \
    __scoped_atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED,                     \
                                       __MEMORY_SCOPE_DEVICE);                                                        \
    return compare;                                                                                                   \
  }                                                                                                                   \
  KUDZU_ATOMIC_CAS(atomicCAS_block, "cta", T, bits, c)                                                                \
  KUDZU_ATOMIC_CAS(atomicCAS_system, "sys", T, bits, c)
KUDZU_ATOMIC_CASES(int, "b32", "r")
KUDZU_ATOMIC_CASES(unsigned int, "b32", "r")
KUDZU_ATOMIC_CASES(__kudzu_ull, "b64", "l")
KUDZU_ATOMIC_CAS(atomicCAS, "gpu", unsigned short, "b16", "h")
KUDZU_ATOMIC_CAS(atomicCAS_block, "cta", unsigned short, "b16", "h")
KUDZU_ATOMIC_CAS(atomicCAS_system, "sys", unsigned short, "b16", "h")

// Any 16 bytes, capability 9.0 and newer.
template <class T, bool is> struct __kudzu_16_bytes {};
template <class T> struct __kudzu_16_bytes<T, true> {
  typedef T type;
};
#define KUDZU_ATOMIC_16(suffix, scope)                                                                                \
  template <class T>                                                                                                  \
  KUDZU_D typename __kudzu_16_bytes<T, sizeof(T) == 16 && alignof(T) >= 16>::type atomicCAS##suffix(T *p, T compare,  \
                                                                                                    T v) {            \
    __kudzu_ull r[2], c[2], w[2];                                                                                     \
    __builtin_memcpy(c, &compare, 16);                                                                                \
    __builtin_memcpy(w, &v, 16);                                                                                      \
    asm volatile("{.reg .b128 r, c, v; mov.b128 c, {%3, %4}; mov.b128 v, {%5, %6};"                                   \
                 " atom.relaxed." scope ".cas.b128 r, [%2], c, v; mov.b128 {%0, %1}, r;}"                             \
                 : "=l"(r[0]), "=l"(r[1])                                                                             \
                 : "l"(p), "l"(c[0]), "l"(c[1]), "l"(w[0]), "l"(w[1])                                                 \
                 : "memory");                                                                                         \
    __builtin_memcpy(&v, r, 16);                                                                                      \
    return v;                                                                                                         \
  }                                                                                                                   \
  template <class T>                                                                                                  \
  KUDZU_D typename __kudzu_16_bytes<T, sizeof(T) == 16 && alignof(T) >= 16>::type atomicExch##suffix(T *p, T v) {     \
    __kudzu_ull r[2], w[2];                                                                                           \
    __builtin_memcpy(w, &v, 16);                                                                                      \
    asm volatile("{.reg .b128 r, v; mov.b128 v, {%3, %4};"                                                            \
                 " atom.relaxed." scope ".exch.b128 r, [%2], v; mov.b128 {%0, %1}, r;}"                               \
                 : "=l"(r[0]), "=l"(r[1])                                                                             \
                 : "l"(p), "l"(w[0]), "l"(w[1])                                                                       \
                 : "memory");                                                                                         \
    __builtin_memcpy(&v, r, 16);                                                                                      \
    return v;                                                                                                         \
  }
KUDZU_ATOMIC_16(, "gpu")
KUDZU_ATOMIC_16(_block, "cta")
KUDZU_ATOMIC_16(_system, "sys")
#undef KUDZU_ATOMIC_16

// Vectors of floats, capability 9.0 and newer, in global memory only.
#define KUDZU_ATOMIC_FLOAT2(name, scope)                                                                              \
  KUDZU_D float2 name(float2 *p, float2 v) {                                                                          \
    float2 r;                                                                                                         \
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %2; atom.global." scope ".add.v2.f32 {%0, %1}, [a], {%3, %4};}" \
                 : "=f"(r.x), "=f"(r.y)                                                                               \
                 : "l"(p), "f"(v.x), "f"(v.y)                                                                         \
                 : "memory");                                                                                         \
    return r;                                                                                                         \
  }
#define KUDZU_ATOMIC_FLOAT4(name, scope)                                                                              \
  KUDZU_D float4 name(float4 *p, float4 v) {                                                                          \
    float4 r;                                                                                                         \
    asm volatile("{.reg .u64 a; cvta.to.global.u64 a, %4;"                                                            \
                 " atom.global." scope ".add.v4.f32 {%0, %1, %2, %3}, [a], {%5, %6, %7, %8};}"                        \
                 : "=f"(r.x), "=f"(r.y), "=f"(r.z), "=f"(r.w)                                                         \
                 : "l"(p), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)                                                     \
                 : "memory");                                                                                         \
    return r;                                                                                                         \
  }
#define KUDZU_ATOMIC_VECTOR(make)                                                                                     \
  make(atomicAdd, "relaxed.gpu") make(atomicAdd_block, "relaxed.cta") make(atomicAdd_system, "relaxed.sys")
KUDZU_ATOMIC_VECTOR(KUDZU_ATOMIC_FLOAT2)
KUDZU_ATOMIC_VECTOR(KUDZU_ATOMIC_FLOAT4)

#undef KUDZU_ATOMIC_VECTOR
#undef KUDZU_ATOMIC_FLOAT2
#undef KUDZU_ATOMIC_FLOAT4
#undef KUDZU_ATOMIC_CASES
#undef KUDZU_ATOMIC_CAS
#undef KUDZU_ATOMIC_BITS
#undef KUDZU_ATOMIC
#undef KUDZU_ATOMIC_SCOPES
#undef KUDZU_ATOMIC_ASM
#undef KUDZU_ATOMIC_FETCH

#endif
