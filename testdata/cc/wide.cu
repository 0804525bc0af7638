// Integers of 128 bits, bit fields, unions, enums, arrays in structs as parameters.
#include "cc.h"
enum class Kind : unsigned char { a = 3, b };
struct Bits { unsigned x : 5, y : 11; int z : 16; };
union U { float f; unsigned u; };
struct Big { int v[40]; Kind k; Bits b; };
__global__ void k(Big big, unsigned long long *o) {
  int t = threadIdx.x;
  unsigned __int128 p = (unsigned __int128)0x123456789abcdefull * (0xfedcba987ull + t);
  U u;
  u.f = 1.5f + t;
  big.b.x += t;
  o[t] = (unsigned long long)(p >> 64) ^ (unsigned long long)p ^ u.u ^ ((unsigned long long)big.v[t * 5] << 20) ^ (unsigned)big.k ^ ((unsigned long long)big.b.x << 50) ^ (unsigned long long)(big.b.z * 3);
}
int main() {
  Big b;
  for (int i = 0; i < 40; i++) b.v[i] = i * i;
  b.k = Kind::b;
  b.b = Bits{30, 5, -7};
  Array<unsigned long long> o(8);
  k<<<1, 8>>>(b, o);
  for (unsigned long long v : o.get()) printf("%llx ", v);
  printf("\n");
}
