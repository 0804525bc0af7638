// test<<<1,32>>>(o[64]u64)
// __nv_atomic_…: each function in each scope and order, by one thread; then by a warp.
#include "check.h"

__device__ u64 cell[2];
struct alignas(16) Wide {
  u64 x, y;
};
struct Small {
  short a, b;
};

template <class T> static __device__ bool same(const T &x, const T &y) {
  u64 a[2] = {}, b[2] = {};
  memcpy(a, &x, sizeof x);
  memcpy(b, &y, sizeof y);
  return a[0] == b[0] && a[1] == b[1];
}

// The functions that end in _n are for integers.
template <class T> constexpr bool integral = false;
template <> constexpr bool integral<unsigned char> = true;
template <> constexpr bool integral<short> = true;
template <> constexpr bool integral<u64> = true;

// The cell holds b.
template <class T, int order, int failure, int scope> static __device__ void swaps(const Checks &check, T a, T b, T c) {
  T *p = (T *)cell, got;
  if constexpr (sizeof(T) > 2) {
    if constexpr (integral<T>)
      TRUE(same(__nv_atomic_exchange_n(p, c, order, scope), b));
    else
      *p = c;
    __nv_atomic_exchange(p, &a, &got, order, scope);
    TRUE(same(got, c));
  } else {
    *p = a;
  }
  got = b;
  if constexpr (integral<T>) {
    TRUE(!__nv_atomic_compare_exchange_n(p, &got, c, false, order, failure, scope));
    TRUE(same(got, a));
    TRUE(same(*p, a));
    TRUE(__nv_atomic_compare_exchange_n(p, &got, c, true, order, failure, scope));
    TRUE(same(*p, c));
  } else {
    *p = c;
  }
  got = c;
  TRUE(__nv_atomic_compare_exchange(p, &got, &b, false, order, failure, scope));
  TRUE(!__nv_atomic_compare_exchange(p, &got, &a, false, order, failure, scope));
  TRUE(same(got, b));
}

// nvcc wants orders that are literals, or parameters of templates.
template <class T, int order, int read, int write, int failure, int scope> static __device__ void bits(const Checks &check, T a, T b, T c) {
  T *p = (T *)cell, got;
  cell[0] = cell[1] = ~0ull;
  if constexpr (integral<T>) {
    __nv_atomic_store_n(p, a, write, scope);
    TRUE(same(__nv_atomic_load_n(p, read, scope), a));
  }
  __nv_atomic_store(p, &b, write, scope);
  __nv_atomic_load(p, &got, read, scope);
  TRUE(same(got, b));
  if constexpr (sizeof(T) > 1) swaps<T, order, failure, scope>(check, a, b, c);
  if (sizeof(T) < 8) EQ(cell[0] >> 32, 0xffffffffull);
}

template <class T, int order, int scope> static __device__ void numbers(const Checks &check, T big) {
  T *p = (T *)cell;
#define FETCH(op, before, v, after)                                                                                   \
  *p = before;                                                                                                        \
  EQ(__nv_atomic_fetch_##op(p, v, order, scope), (T)(before));                                                        \
  EQ(*p, (T)(after));                                                                                                 \
  *p = before;                                                                                                        \
  __nv_atomic_##op(p, v, order, scope);                                                                               \
  EQ(*p, (T)(after))
  if constexpr (sizeof(T) == 4 || (T)-1 > 0 || (T)1 / 2 != 0) { // not for signed ones of 8 bytes
    FETCH(add, big, 3, big + 3);
    FETCH(sub, (T)5, 3, 2);
  }
  if constexpr ((T)1 / 2 == 0) {
    FETCH(and, (T)0x1234, 0xff0, 0x230);
    FETCH(or, (T)0x1234, 0xff0, 0x1ff4);
    FETCH(xor, (T)0x1234, 0xff0, 0x1dc4);
    FETCH(min, big, (T)7, big < (T)7 ? big : (T)7);
    FETCH(max, big, (T)7, big > (T)7 ? big : (T)7);
  }
}

// Every type in one order and scope; the others with two types.
template <int order, int scope> static __device__ void types(const Checks &check) {
  bits<unsigned char, order, order, order, order, scope>(check, 3, 200, 17);
  bits<short, order, order, order, order, scope>(check, -3, 200, 17);
  bits<float, order, order, order, order, scope>(check, -3.5f, 200, 17);
  bits<Small, order, order, order, order, scope>(check, Small{1, -2}, Small{3, 4}, Small{5, -6});
  bits<double, order, order, order, order, scope>(check, -3.5, 200, 17);
  bits<Wide, order, order, order, order, scope>(check, Wide{1, ~2ull}, Wide{3, 4}, Wide{5, ~6ull});
  numbers<u32, order, scope>(check, 0xfffffffbu);
  numbers<long, order, scope>(check, -9);
  numbers<unsigned long, order, scope>(check, ~5ul);
  numbers<long long, order, scope>(check, -9);
  numbers<u64, order, scope>(check, ~5ull);
  numbers<float, order, scope>(check, 1.5f);
  numbers<double, order, scope>(check, 1.5);
}
template <int order, int read, int write, int failure, int scope> static __device__ void all(const Checks &check) {
  bits<u64, order, read, write, failure, scope>(check, ~3ull, 200, 17);
  numbers<int, order, scope>(check, -9);
}

__device__ int counter, most;

TEST() {
  if (threadIdx.x == 0) {
    __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
    __nv_atomic_thread_fence(__NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
    __nv_atomic_thread_fence(__NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
    types<__NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK>(check);
    all<__NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_THREAD>(check);
    all<__NV_ATOMIC_CONSUME, __NV_ATOMIC_CONSUME, __NV_ATOMIC_RELEASE, __NV_ATOMIC_CONSUME, __NV_THREAD_SCOPE_BLOCK>(check);
    all<__NV_ATOMIC_ACQUIRE, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_CLUSTER>(check);
    all<__NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE>(check);
    all<__NV_ATOMIC_ACQ_REL, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_SYSTEM>(check);
    all<__NV_ATOMIC_SEQ_CST, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_SEQ_CST, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE>(check);
  }
  __syncwarp();
  __nv_atomic_fetch_add(&counter, (int)threadIdx.x, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
  __nv_atomic_fetch_max(&most, (int)(threadIdx.x * 7 % 32), __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  unsigned short *halves = (unsigned short *)cell;
  __nv_atomic_store_n(halves + threadIdx.x % 4, (unsigned short)0, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);
  __syncwarp();
  for (unsigned short old = 0; !__nv_atomic_compare_exchange_n(halves + threadIdx.x % 4, &old, (unsigned short)(old + 1), false,
                                                               __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_BLOCK);)
    ;
  __syncwarp();
  EQ(counter, 496);
  EQ(most, 31);
  EQ(cell[0], 0x0008000800080008ull);
}
