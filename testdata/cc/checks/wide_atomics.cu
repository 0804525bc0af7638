// nvcc: -arch=sm_90
// atomicCAS and atomicExch of 16 bytes.
#include "check.h"

struct alignas(16) Pair {
  unsigned long long a, b;
};

__global__ void count(Pair *p, Pair *last) {
  Pair old = *p, want;
  do {
    want = old;
    old = atomicCAS(p, want, Pair{want.a + 1, want.b + 2});
  } while (old.a != want.a || old.b != want.b);
  atomicExch_block(last + blockIdx.x, Pair{threadIdx.x, 7});
}

int main() {
  Pair *p = shared<Pair>(5);
  count<<<4, 64>>>(p, p + 1);
  CK(cudaDeviceSynchronize());
  EXPECT(p->a == 256 && p->b == 512);
  for (int i = 1; i < 5; i++) EXPECT(p[i].a < 64 && p[i].b == 7);
  return 0;
}
