// Memory of a thread's stack whose size is not known before.
#include "cc.h"
__global__ void reverse(int *out, int n) {
  int *p = (int *)alloca(n * sizeof(int));
  for (int i = 0; i < n; i++) p[i] = i * i + threadIdx.x;
  int s = 0;
  for (int i = n - 1; i >= 0; i--) s = s * 3 + p[i];
  out[threadIdx.x] = s;
}
int main() {
  Array<int> o(4);
  reverse<<<1, 4>>>(o, 7);
  for (int v : o.get()) printf("%d ", v);
  reverse<<<1, 4>>>(o, 3);
  for (int v : o.get()) printf("%d ", v);
  printf("\n");
}
