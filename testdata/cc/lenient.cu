// What nvcc takes with a warning, or without one: narrowing in braces, register, a macro behind a literal, template before a name
// without arguments, launches with spaces, GNU's typeof and macros, intrinsics that the program defines itself.
#include "cc.h"
#include <cinttypes>
struct Twice {
  template <class T> __host__ __device__ int of(T x) { return 2 * x; }
};
__device__ __inline__ int __float_as_int(float f) { // as Blender's Cycles has it
  union {
    int i;
    float f;
  } u;
  u.f = f;
  return u.i;
}
template <class F> __global__ void k(F f, int *p, unsigned n) {
  register int t = threadIdx.x;
  typeof(n) m = n + t;
  int2 v = {n, m};
  float a[2] = {v.y, 1.5};
  p[t] = f.template of(v.x) + (int)a[0] + __float_as_int(0.0f);
}
int main(int argc, char **) {
  Array<int> o(4);
  int blocks = argc, threads = 4 * argc * unix;
  dim3 grid{blocks, blocks}, block = {threads, 1, 1};
  k << <grid, block >> >(Twice(), o.p, 5);
  OK(cudaGetLastError());
  std::vector<int> v = o.get();
  printf("%d %d %"PRId64"\n", v[0], v[3], (int64_t)v[2]);
}
