// The other file: a function, a table, and a variable of its own with the same name as the program's.
#include "rdc.h"
__constant__ int table[4] = {10, 20, 30, 40};
static __device__ int mine = 50;
struct Base { __device__ virtual int f(int x) { return x + mine; } };
struct Derived : Base { __device__ int f(int x) override { return Base::f(x) * 2; } };
__device__ __noinline__ int elsewhere(int x) {
  Derived d;
  Base *b = &d;
  return b->f(x);
}
static __global__ void kernel(int *p) { p[threadIdx.x] = elsewhere(threadIdx.x) + shared_counter; }
void there(int *p) { kernel<<<1, 8>>>(p); }
