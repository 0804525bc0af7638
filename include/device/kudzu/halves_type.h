// The types of half and bfloat16; the same parameters as kudzu/halves.h, KUDZU_RAW and KUDZU_RAW2, and no guard.
#pragma GCC system_header

struct __align__(2) KUDZU_RAW {
  unsigned short x;
};
struct __align__(4) KUDZU_RAW2 {
  unsigned short x, y;
};

struct __align__(2) KUDZU_H {
 protected:
  unsigned short __x;

#ifdef __CUDA_ARCH__
  static __device__ __forceinline__ unsigned short of(float f) { return __builtin_bit_cast(unsigned short, (KUDZU_F)f); }
  static __device__ __forceinline__ unsigned short of(double d) { return KUDZU_OF_DOUBLE(d); }
  __device__ __forceinline__ float value() const { return KUDZU_VALUE(__x); }
#else
  static __host__ __device__ __forceinline__ unsigned short of(float f) { return KUDZU_NARROW((double)f, __kudzu::nearest); }
  static __host__ __device__ __forceinline__ unsigned short of(double d) { return KUDZU_NARROW(d, __kudzu::nearest); }
  __host__ __device__ __forceinline__ float value() const { return KUDZU_WIDEN(__x); }
#endif
  static __host__ __device__ __forceinline__ unsigned short of(long long i) {
    return KUDZU_NARROW(__kudzu::sticky(i), __kudzu::nearest);
  }
  static __host__ __device__ __forceinline__ unsigned short of(unsigned long long i) {
    return KUDZU_NARROW(__kudzu::sticky(i), __kudzu::nearest);
  }

 public:
  KUDZU_H() = default;
  __host__ __device__ constexpr KUDZU_H(const KUDZU_RAW &r) : __x(r.x) {}
  __host__ __device__ KUDZU_H(float f) : __x(of(f)) {}
  __host__ __device__ KUDZU_H(double d) : __x(of(d)) {}
  __host__ __device__ KUDZU_H(short i) : __x(of((float)i)) {}
  __host__ __device__ KUDZU_H(unsigned short i) : __x(of((float)i)) {}
  __host__ __device__ KUDZU_H(int i) : __x(of((long long)i)) {}
  __host__ __device__ KUDZU_H(unsigned int i) : __x(of((unsigned long long)i)) {}
  __host__ __device__ KUDZU_H(long i) : __x(of((long long)i)) {}
  __host__ __device__ KUDZU_H(unsigned long i) : __x(of((unsigned long long)i)) {}
  __host__ __device__ KUDZU_H(long long i) : __x(of(i)) {}
  __host__ __device__ KUDZU_H(unsigned long long i) : __x(of(i)) {}
#ifdef KUDZU_FROM_OTHER
  explicit __host__ __device__ KUDZU_H(const KUDZU_FROM_OTHER &h) : __x(of((float)h)) {}
#endif
  __host__ __device__ constexpr operator KUDZU_RAW() const { return KUDZU_RAW{__x}; }
  __host__ __device__ operator KUDZU_RAW() const volatile { return KUDZU_RAW{__x}; }
  __host__ __device__ KUDZU_H &operator=(const KUDZU_RAW &r) {
    __x = r.x;
    return *this;
  }
  __host__ __device__ volatile KUDZU_H &operator=(const KUDZU_RAW &r) volatile {
    __x = r.x;
    return *this;
  }
#define KUDZU_ASSIGN(T)                                                                                               \
  __host__ __device__ KUDZU_H &operator=(T v) {                                                                       \
    __x = KUDZU_H(v).__x;                                                                                             \
    return *this;                                                                                                     \
  }
  KUDZU_ASSIGN(float)
  KUDZU_ASSIGN(double)
  KUDZU_ASSIGN(short)
  KUDZU_ASSIGN(unsigned short)
  KUDZU_ASSIGN(int)
  KUDZU_ASSIGN(unsigned int)
  KUDZU_ASSIGN(long long)
  KUDZU_ASSIGN(unsigned long long)
#undef KUDZU_ASSIGN
  __host__ __device__ operator float() const { return value(); }
#define KUDZU_CONVERT(T) \
  __host__ __device__ operator T() const { return __kudzu::to_integer<T, __kudzu::zero>(value()); }
  KUDZU_CONVERT(signed char)
  KUDZU_CONVERT(unsigned char)
  KUDZU_CONVERT(char)
  KUDZU_CONVERT(short)
  KUDZU_CONVERT(unsigned short)
  KUDZU_CONVERT(int)
  KUDZU_CONVERT(unsigned int)
  KUDZU_CONVERT(long)
  KUDZU_CONVERT(unsigned long)
  KUDZU_CONVERT(long long)
  KUDZU_CONVERT(unsigned long long)
#undef KUDZU_CONVERT
  __host__ __device__ constexpr operator bool() const { return (__x & 0x7fff) != 0; }
};

struct __align__(4) KUDZU_H2 {
  KUDZU_H x, y;

  KUDZU_H2() = default;
  __host__ __device__ constexpr KUDZU_H2(const KUDZU_H &a, const KUDZU_H &b) : x(a), y(b) {}
  __host__ __device__ KUDZU_H2(const KUDZU_RAW2 &r) : x(KUDZU_RAW{r.x}), y(KUDZU_RAW{r.y}) {}
  KUDZU_H2(const KUDZU_H2 &) = default;
  KUDZU_H2 &operator=(const KUDZU_H2 &) = default;
  __host__ __device__ KUDZU_H2 &operator=(const KUDZU_RAW2 &r) {
    x = KUDZU_RAW{r.x};
    y = KUDZU_RAW{r.y};
    return *this;
  }
  __host__ __device__ operator KUDZU_RAW2() const { return KUDZU_RAW2{KUDZU_RAW(x).x, KUDZU_RAW(y).x}; }
};

#undef KUDZU_OF_DOUBLE
#undef KUDZU_WIDEN
#undef KUDZU_VALUE
#undef KUDZU_RAW
#undef KUDZU_RAW2
#undef KUDZU_FROM_OTHER
