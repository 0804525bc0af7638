// SIMD within words, dot products, funnel shifts, bytes.
#include "cc.h"
__global__ void k(unsigned *o) {
  unsigned t = threadIdx.x, a = 0x01f2a380u + t * 0x01020304u, b = 0x7f80ff01u - t;
  o[t] = __vadd4(a, b) ^ __vmaxs4(a, b) * 3 ^ __vabsdiffu4(a, b) ^ __vcmpgtu2(a, b) ^ __byte_perm(a, b, 0x5140) ^ __funnelshift_l(a, b, 7) ^ (unsigned)__dp4a((int)a, (int)b, (int)t) ^ __umulhi(a, b) ^ (unsigned)__mul24((int)a, 3) ^ __usad(a, b, 1) ^ __popc(a) << 8 ^ (unsigned)__vimax3_s32(a, b, t);
}
int main() {
  Array<unsigned> o(8);
  k<<<1, 8>>>(o);
  for (unsigned v : o.get()) printf("%x ", v);
  printf("\n");
}
