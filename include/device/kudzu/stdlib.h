// printf, assert, the heap, and the functions of C on bytes.
#ifndef KUDZU_STDLIB_H
#define KUDZU_STDLIB_H
#pragma GCC system_header

#include "keywords.h"

extern "C" {
__device__ int vprintf(const char *, const char *);
__device__ __attribute__((noreturn)) void __assertfail(const char *condition, const char *file, unsigned int line,
                                                       const char *function, size_t charsize);
__device__ void *malloc(size_t) __attribute__((malloc));
__device__ void free(void *);
__device__ int printf(const char *, ...); // clang packs the arguments and calls vprintf
}

KUDZU_D void *memcpy(void *d, const void *s, size_t n) { return __builtin_memcpy(d, s, n); }
KUDZU_D void *memmove(void *d, const void *s, size_t n) { return __builtin_memmove(d, s, n); }
KUDZU_D void *memset(void *d, int c, size_t n) { return __builtin_memset(d, c, n); }

#ifdef __CUDACC_RTC__
#include "std.h"
// Whether NDEBUG is defined counts where assert stands: a precompiled prelude serves programs with and without it.
#ifndef assert
#define __kudzu_paste_(a, b) a##b
#define __kudzu_paste(a, b) __kudzu_paste_(a, b)
#define __kudzu_assert_NDEBUG(e, text) ((e) ? (void)0 : __assertfail(text, __FILE__, __LINE__, __PRETTY_FUNCTION__, 1))
#define __kudzu_assert_(e, text) ((void)0)
#define __kudzu_assert_0(e, text) ((void)0)
#define __kudzu_assert_1(e, text) ((void)0)
#define assert(e) __kudzu_paste(__kudzu_assert_, NDEBUG)(e, #e)
#endif
// Placement new, and new and delete on the device's heap.
__device__ __inline__ void *operator new(size_t, void *p) noexcept { return p; }
__device__ __inline__ void *operator new[](size_t, void *p) noexcept { return p; }
__device__ __inline__ void operator delete(void *, void *) noexcept {}
__device__ __inline__ void operator delete[](void *, void *) noexcept {}
__device__ __inline__ void *operator new(size_t n) { return malloc(n ? n : 1); }
__device__ __inline__ void *operator new[](size_t n) { return malloc(n ? n : 1); }
__device__ __inline__ void operator delete(void *p) noexcept { free(p); }
__device__ __inline__ void operator delete[](void *p) noexcept { free(p); }
__device__ __inline__ void operator delete(void *p, size_t) noexcept { free(p); }
__device__ __inline__ void operator delete[](void *p, size_t) noexcept { free(p); }
#else
#include <new> // clang's own, which has those of the device
// What <assert.h> calls.
extern "C" __device__ __inline__ __attribute__((noreturn)) void __assert_fail(const char *condition, const char *file,
                                                                              unsigned int line, const char *function) {
  __assertfail(condition, file, line, function, 1);
}
#endif

#if __cplusplus >= 201703L
// The heap's blocks are aligned to 16 bytes. A block for more has the heap's address in front of it.
__device__ __inline__ void *operator new(size_t n, std::align_val_t align) {
  size_t a = (size_t)align < 16 ? 16 : (size_t)align;
  char *block = (char *)malloc(n + a);
  if (!block) return nullptr;
  char *p = (char *)(((size_t)block + a) & ~(a - 1));
  ((char **)p)[-1] = block;
  return p;
}
__device__ __inline__ void operator delete(void *p, std::align_val_t) noexcept {
  if (p) free(((char **)p)[-1]);
}
__device__ __inline__ void *operator new[](size_t n, std::align_val_t a) { return operator new(n, a); }
__device__ __inline__ void operator delete[](void *p, std::align_val_t a) noexcept { operator delete(p, a); }
__device__ __inline__ void operator delete(void *p, size_t, std::align_val_t a) noexcept { operator delete(p, a); }
__device__ __inline__ void operator delete[](void *p, size_t, std::align_val_t a) noexcept { operator delete(p, a); }
#endif

#endif
