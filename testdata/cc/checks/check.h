// What the programs of this folder share.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CK(call)                                                                                                      \
  do {                                                                                                                \
    int e_ = (int)(call);                                                                                             \
    if (e_ != 0) {                                                                                                    \
      printf("line %d: %s: %d\n", __LINE__, #call, e_);                                                               \
      exit(1);                                                                                                        \
    }                                                                                                                 \
  } while (0)

#define EXPECT(condition)                                                                                             \
  do {                                                                                                                \
    if (!(condition)) {                                                                                               \
      printf("line %d: not %s\n", __LINE__, #condition);                                                              \
      exit(1);                                                                                                        \
    }                                                                                                                 \
  } while (0)

inline bool near(double a, double b, double tolerance) { return fabs(a - b) <= tolerance * (1 + fabs(b)); }

// An array that both sides see.
template <class T> T *shared(size_t n) {
  T *p;
  CK(cudaMallocManaged(&p, n * sizeof(T)));
  memset((void *)p, 0, n * sizeof(T));
  return p;
}
