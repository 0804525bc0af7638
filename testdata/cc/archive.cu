// flags: -rdc=true
// parts: lib:parts/rdc.cu
// Device code of a library: what the program needs of it comes out of the archive.
#include "cc.h"
#include "parts/rdc.h"
__device__ int shared_counter = 5;
int main() {
  Array<int> o(8);
  there(o);
  for (int v : o.get()) printf("%d ", v);
  printf("\n");
}
