// What NVRTC has of namespace std without a header: align_val_t, and initializer_list, move and forward as its options
// --builtin-… say. CCCL asks for the macros that say which of them there are.
#ifndef KUDZU_STD_H
#define KUDZU_STD_H
#pragma GCC system_header

#include "keywords.h"

namespace std {

#if __cplusplus >= 201703L
enum class align_val_t : size_t {};
#endif

#ifndef __KUDZU_NO_INITIALIZER_LIST
#define __NV_BUILTIN_INITIALIZER_LIST 1
template <class T> class initializer_list {
  const T *first;
  size_t count;
  __host__ __device__ constexpr initializer_list(const T *p, size_t n) : first(p), count(n) {} // clang calls it

 public:
  typedef T value_type;
  typedef const T &reference;
  typedef const T &const_reference;
  typedef size_t size_type;
  typedef const T *iterator;
  typedef const T *const_iterator;
  __host__ __device__ constexpr initializer_list() noexcept : first(nullptr), count(0) {}
  __host__ __device__ constexpr size_t size() const noexcept { return count; }
  __host__ __device__ constexpr const T *begin() const noexcept { return first; }
  __host__ __device__ constexpr const T *end() const noexcept { return first + count; }
};
#endif

#ifndef __KUDZU_NO_MOVE_FORWARD
#define __NV_BUILTIN_MOVE_FORWARD 1
template <class T> struct __kudzu_plain { typedef T type; };
template <class T> struct __kudzu_plain<T &> { typedef T type; };
template <class T> struct __kudzu_plain<T &&> { typedef T type; };
template <class T> __host__ __device__ constexpr typename __kudzu_plain<T>::type &&move(T &&v) noexcept {
  return static_cast<typename __kudzu_plain<T>::type &&>(v);
}
template <class T> __host__ __device__ constexpr T &&forward(typename __kudzu_plain<T>::type &v) noexcept {
  return static_cast<T &&>(v);
}
template <class T> __host__ __device__ constexpr T &&forward(typename __kudzu_plain<T>::type &&v) noexcept {
  return static_cast<T &&>(v);
}
#endif

}  // namespace std

#endif
