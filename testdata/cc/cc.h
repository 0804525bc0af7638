// What the programs of this folder share. They print the same wherever they run.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <vector>

#define OK(call)                                                                                                      \
  do {                                                                                                                \
    cudaError_t e_ = (call);                                                                                          \
    if (e_ != cudaSuccess) {                                                                                          \
      printf("line %d: %s\n", __LINE__, cudaGetErrorName(e_));                                                        \
      exit(1);                                                                                                        \
    }                                                                                                                 \
  } while (0)

// An array on the device, filled with a sequence.
template <class T> struct Array {
  T *p;
  int n;
  explicit Array(int n, int from = 0, int step = 1) : n(n) {
    std::vector<T> v(n);
    for (int i = 0; i < n; i++) v[i] = (T)(from + i * step);
    OK(cudaMalloc(&p, n * sizeof(T)));
    OK(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Array() { cudaFree(p); }
  operator T *() { return p; }
  std::vector<T> get() {
    std::vector<T> v(n);
    OK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};

// A sum that depends on the order.
template <class T> unsigned long long sum(const std::vector<T> &v) {
  unsigned long long h = 1469598103934665603ull;
  for (const T &x : v) h = (h ^ (unsigned long long)(long long)x) * 1099511628211ull;
  return h;
}
