// Atomic functions with an order and a scope: __nv_atomic_load and its like. Orders and scopes are constants, as nvcc wants them. An
// order is made by fences around a relaxed operation; that of the cluster's scope before capability 9.0 is the device's.
#ifndef KUDZU_SCOPED_H
#define KUDZU_SCOPED_H
#pragma GCC system_header

#include "atomic.h"

enum {
  __NV_ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 900
#define KUDZU_CLUSTER "gpu"
#else
#define KUDZU_CLUSTER "cluster"
#endif
// One statement for each scope: insn is its text before and after the scope, the rest are operands.
#define KUDZU_BY_SCOPE(before, after, ...)                                                                            \
  switch (scope) {                                                                                                    \
  case __NV_THREAD_SCOPE_THREAD:                                                                                      \
  case __NV_THREAD_SCOPE_BLOCK: asm volatile(before "cta" after : __VA_ARGS__ : "memory"); break;                     \
  case __NV_THREAD_SCOPE_CLUSTER: asm volatile(before KUDZU_CLUSTER after : __VA_ARGS__ : "memory"); break;           \
  case __NV_THREAD_SCOPE_DEVICE: asm volatile(before "gpu" after : __VA_ARGS__ : "memory"); break;                    \
  default: asm volatile(before "sys" after : __VA_ARGS__ : "memory");                                                 \
  }

KUDZU_D void __nv_atomic_thread_fence(int order, int scope) {
  if (order == __NV_ATOMIC_RELAXED || scope == __NV_THREAD_SCOPE_THREAD) return;
  if (order == __NV_ATOMIC_SEQ_CST)
    KUDZU_BY_SCOPE("fence.sc.", ";", :)
  else
    KUDZU_BY_SCOPE("fence.acq_rel.", ";", :)
}
KUDZU_D void __kudzu_order_before(int order, int scope) {
  if (order == __NV_ATOMIC_RELEASE || order == __NV_ATOMIC_ACQ_REL || order == __NV_ATOMIC_SEQ_CST)
    __nv_atomic_thread_fence(order, scope);
}
KUDZU_D void __kudzu_order_after(int order, int scope) {
  if (order != __NV_ATOMIC_RELAXED && order != __NV_ATOMIC_RELEASE) __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, scope);
}

#ifdef __cplusplus
// Loads, stores, exchanges of bits, by their number: a byte has no exchange, two have no plain one. Registers have 16 bits at least.
template <int bytes> struct __kudzu_bits;
#define KUDZU_BITS(bytes, R, type, c)                                                                                 \
  template <> struct __kudzu_bits<bytes> {                                                                            \
    typedef R reg;                                                                                                    \
    static __device__ __forceinline__ R load(const void *p, int scope) {                                              \
      R r;                                                                                                            \
      KUDZU_BY_SCOPE("ld.relaxed.", "." type " %0, [%1];", "=" c(r) : "l"(p))                                         \
      return r;                                                                                                       \
    }                                                                                                                 \
    static __device__ __forceinline__ void store(void *p, R v, int scope) {                                           \
      KUDZU_BY_SCOPE("st.relaxed.", "." type " [%0], %1;", : "l"(p), c(v))                                            \
    }
#define KUDZU_BITS_CAS(R, type, c)                                                                                    \
  static __device__ __forceinline__ R cas(void *p, R compare, R v, int scope) {                                       \
    R r;                                                                                                              \
    KUDZU_BY_SCOPE("atom.relaxed.", ".cas." type " %0, [%1], %2, %3;", "=" c(r) : "l"(p), c(compare), c(v))           \
    return r;                                                                                                         \
  }
#define KUDZU_BITS_EXCH(R, type, c)                                                                                   \
  static __device__ __forceinline__ R exchange(void *p, R v, int scope) {                                             \
    R r;                                                                                                              \
    KUDZU_BY_SCOPE("atom.relaxed.", ".exch." type " %0, [%1], %2;", "=" c(r) : "l"(p), c(v))                          \
    return r;                                                                                                         \
  }
KUDZU_BITS(4, unsigned int, "b32", "r") KUDZU_BITS_CAS(unsigned int, "b32", "r") KUDZU_BITS_EXCH(unsigned int, "b32", "r") };
KUDZU_BITS(8, __kudzu_ull, "b64", "l") KUDZU_BITS_CAS(__kudzu_ull, "b64", "l") KUDZU_BITS_EXCH(__kudzu_ull, "b64", "l") };
KUDZU_BITS(1, unsigned short, "b8", "h") };
KUDZU_BITS(2, unsigned short, "b16", "h") KUDZU_BITS_CAS(unsigned short, "b16", "h") };
#undef KUDZU_BITS
#undef KUDZU_BITS_CAS
#undef KUDZU_BITS_EXCH
// Sixteen bytes as two halves.
template <> struct __kudzu_bits<16> {
  struct alignas(16) reg {
    __kudzu_ull x, y;
    __device__ __forceinline__ bool operator!=(const reg &o) const { return x != o.x || y != o.y; }
  };
#define KUDZU_WIDE(name, after, ...)                                                                                  \
  KUDZU_BY_SCOPE("{.reg .b128 %%a, %%b, %%c; mov.b128 %%a, {%3, %4}; mov.b128 %%b, {%5, %6}; " name, after            \
                 " mov.b128 {%0, %1}, %%c;}", "=l"(r.x), "=l"(r.y) : "l"(p), "l"(v.x), "l"(v.y), "l"(c.x), "l"(c.y))
  static __device__ __forceinline__ reg load(const void *p, int scope) {
    reg r;
    KUDZU_BY_SCOPE("{.reg .b128 %%a; ld.relaxed.", ".b128 %%a, [%2]; mov.b128 {%0, %1}, %%a;}", "=l"(r.x), "=l"(r.y) : "l"(p))
    return r;
  }
  static __device__ __forceinline__ void store(void *p, reg v, int scope) {
    KUDZU_BY_SCOPE("{.reg .b128 %%a; mov.b128 %%a, {%1, %2}; st.relaxed.", ".b128 [%0], %%a;}", : "l"(p), "l"(v.x), "l"(v.y))
  }
  static __device__ __forceinline__ reg cas(void *p, reg c, reg v, int scope) {
    reg r;
    KUDZU_WIDE("atom.relaxed.", ".cas.b128 %%c, [%2], %%b, %%a;")
    return r;
  }
  static __device__ __forceinline__ reg exchange(void *p, reg v, int scope) {
    reg r, c = v;
    KUDZU_WIDE("atom.relaxed.", ".exch.b128 %%c, [%2], %%a;")
    return r;
  }
#undef KUDZU_WIDE
};

template <class To, class From> KUDZU_D To __kudzu_same_bits(const From &from) {
  To to = To();
  __builtin_memcpy(&to, &from, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
  return to;
}
template <class T> struct __kudzu_plain {
  typedef T type;
};
template <class T> struct __kudzu_plain<const T> : __kudzu_plain<T> {};
template <class T> struct __kudzu_plain<volatile T> : __kudzu_plain<T> {};
template <class T> struct __kudzu_plain<const volatile T> : __kudzu_plain<T> {};
#define KUDZU_PLAIN typename __kudzu_plain<T>::type
#define KUDZU_BITS_OF __kudzu_bits<sizeof(T)>
#define KUDZU_REG typename KUDZU_BITS_OF::reg

template <class T> KUDZU_D KUDZU_PLAIN __nv_atomic_load_n(T *p, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  if (order == __NV_ATOMIC_SEQ_CST) __nv_atomic_thread_fence(order, scope);
  KUDZU_REG r = KUDZU_BITS_OF::load((const void *)p, scope);
  __kudzu_order_after(order, scope);
  return __kudzu_same_bits<KUDZU_PLAIN>(r);
}
template <class T> KUDZU_D void __nv_atomic_load(T *p, KUDZU_PLAIN *to, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *to = __nv_atomic_load_n(p, order, scope);
}
template <class T, class V> KUDZU_D void __nv_atomic_store_n(T *p, V v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __kudzu_order_before(order, scope);
  KUDZU_BITS_OF::store((void *)p, __kudzu_same_bits<KUDZU_REG>((KUDZU_PLAIN)v), scope);
}
template <class T> KUDZU_D void __nv_atomic_store(T *p, const KUDZU_PLAIN *v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __nv_atomic_store_n(p, *v, order, scope);
}
template <class T, class V> KUDZU_D KUDZU_PLAIN __nv_atomic_exchange_n(T *p, V v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __kudzu_order_before(order, scope);
  KUDZU_REG r = KUDZU_BITS_OF::exchange((void *)p, __kudzu_same_bits<KUDZU_REG>((KUDZU_PLAIN)v), scope);
  __kudzu_order_after(order, scope);
  return __kudzu_same_bits<KUDZU_PLAIN>(r);
}
template <class T>
KUDZU_D void __nv_atomic_exchange(T *p, const KUDZU_PLAIN *v, KUDZU_PLAIN *old, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {
  *old = __nv_atomic_exchange_n(p, *v, order, scope);
}
template <class T, class V>
KUDZU_D bool __nv_atomic_compare_exchange_n(T *p, KUDZU_PLAIN *expected, V v, bool, int success, int failure,
                                            int scope = __NV_THREAD_SCOPE_SYSTEM) {
  __kudzu_order_before(success, scope);
  KUDZU_REG want = __kudzu_same_bits<KUDZU_REG>(*expected);
  KUDZU_REG r = KUDZU_BITS_OF::cas((void *)p, want, __kudzu_same_bits<KUDZU_REG>((KUDZU_PLAIN)v), scope);
  __kudzu_order_after(success == __NV_ATOMIC_RELAXED || success == __NV_ATOMIC_RELEASE ? failure : success, scope);
  if (r != want) {
    *expected = __kudzu_same_bits<KUDZU_PLAIN>(r);
    return false;
  }
  return true;
}
template <class T>
KUDZU_D bool __nv_atomic_compare_exchange(T *p, KUDZU_PLAIN *expected, const KUDZU_PLAIN *v, bool weak, int success, int failure,
                                          int scope = __NV_THREAD_SCOPE_SYSTEM) {
  return __nv_atomic_compare_exchange_n(p, expected, *v, weak, success, failure, scope);
}

// Operations on numbers: by the type that has the instruction.
#define KUDZU_NUMBER(name, T, R, insn, c)                                                                             \
  KUDZU_D T __kudzu_##name(T *p, T v, int scope) {                                                                    \
    R r;                                                                                                              \
    KUDZU_BY_SCOPE("atom.relaxed.", "." insn " %0, [%1], %2;", "=" c(r) : "l"(p), c((R)v))                            \
    return (T)r;                                                                                                      \
  }
#define KUDZU_NUMBERS(name, s32, u32, s64, u64)                                                                       \
  KUDZU_NUMBER(name, int, int, s32, "r")                                                                              \
  KUDZU_NUMBER(name, unsigned int, unsigned int, u32, "r")                                                            \
  KUDZU_NUMBER(name, long, long, s64, "l")                                                                            \
  KUDZU_NUMBER(name, unsigned long, unsigned long, u64, "l")                                                          \
  KUDZU_NUMBER(name, long long, long long, s64, "l")                                                                  \
  KUDZU_NUMBER(name, __kudzu_ull, __kudzu_ull, u64, "l")
KUDZU_NUMBERS(fetch_add, "add.u32", "add.u32", "add.u64", "add.u64")
KUDZU_NUMBER(fetch_add, float, float, "add.f32", "f")
KUDZU_NUMBER(fetch_add, double, double, "add.f64", "d")
KUDZU_NUMBERS(fetch_and, "and.b32", "and.b32", "and.b64", "and.b64")
KUDZU_NUMBERS(fetch_or, "or.b32", "or.b32", "or.b64", "or.b64")
KUDZU_NUMBERS(fetch_xor, "xor.b32", "xor.b32", "xor.b64", "xor.b64")
KUDZU_NUMBERS(fetch_min, "min.s32", "min.u32", "min.s64", "min.u64")
KUDZU_NUMBERS(fetch_max, "max.s32", "max.u32", "max.s64", "max.u64")
template <class T> KUDZU_D T __kudzu_fetch_sub(T *p, T v, int scope) { return __kudzu_fetch_add(p, (T)(T(0) - v), scope); }
#define KUDZU_FETCH(op)                                                                                               \
  template <class T, class V>                                                                                         \
  KUDZU_D KUDZU_PLAIN __nv_atomic_fetch_##op(T *p, V v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {            \
    __kudzu_order_before(order, scope);                                                                               \
    KUDZU_PLAIN r = __kudzu_fetch_##op((KUDZU_PLAIN *)p, (KUDZU_PLAIN)v, scope);                                      \
    __kudzu_order_after(order, scope);                                                                                \
    return r;                                                                                                         \
  }                                                                                                                   \
  template <class T, class V>                                                                                         \
  KUDZU_D void __nv_atomic_##op(T *p, V v, int order, int scope = __NV_THREAD_SCOPE_SYSTEM) {                         \
    __nv_atomic_fetch_##op(p, v, order, scope);                                                                       \
  }
KUDZU_FETCH(add)
KUDZU_FETCH(sub)
KUDZU_FETCH(and)
KUDZU_FETCH(or)
KUDZU_FETCH(xor)
KUDZU_FETCH(min)
KUDZU_FETCH(max)
#undef KUDZU_FETCH
#undef KUDZU_NUMBERS
#undef KUDZU_NUMBER
#undef KUDZU_REG
#undef KUDZU_BITS_OF
#undef KUDZU_PLAIN
#endif

#undef KUDZU_BY_SCOPE
#undef KUDZU_CLUSTER

#endif
