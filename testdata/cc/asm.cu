// PTX in the source.
#include "cc.h"
__device__ int lane() {
  int l;
  asm("mov.u32 %0, %%laneid;" : "=r"(l));
  return l;
}
__global__ void k(unsigned *o, unsigned long long *l) {
  unsigned a = threadIdx.x * 77 + 5, b, c;
  asm volatile("{\n\t.reg .pred p;\n\tsetp.gt.u32 p, %2, 100;\n\tselp.u32 %0, 1, 2, p;\n\tbfe.u32 %1, %2, 2, 5;\n\t}" : "=r"(b), "=r"(c) : "r"(a));
  unsigned long long w;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(w) : "r"(a), "n"(100000));
  float f;
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(f) : "f"(2.0f), "f"((float)a), "f"(0.5f));
  o[threadIdx.x] = b * 1000 + c + lane() * 10000 + (unsigned)f;
  l[threadIdx.x] = w;
}
int main() {
  Array<unsigned> o(8);
  Array<unsigned long long> l(8);
  k<<<1, 8>>>(o, l);
  for (unsigned v : o.get()) printf("%u ", v);
  printf("%llx\n", sum(l.get()));
}
