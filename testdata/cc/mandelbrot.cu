// Loops of very different lengths in one warp, in fixed point.
#include "cc.h"
__global__ void k(int *o, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  long long cr = (x * 3ll << 16) / w - (2 << 16), ci = (y * 2ll << 16) / h - (1 << 16), r = 0, i = 0;
  int n = 0;
  while (n < 200 && (r * r + i * i >> 16) < 4 << 16) {
    long long t = (r * r - i * i >> 16) + cr;
    i = (2 * r * i >> 16) + ci;
    r = t;
    n++;
  }
  o[y * w + x] = n;
}
int main() {
  Array<int> o(70 * 20);
  k<<<dim3(3, 20), 32>>>(o, 70, 20);
  std::vector<int> v = o.get();
  for (int y = 0; y < 20; y += 4) {
    for (int x = 0; x < 70; x += 2) putchar(" .:-=+*#%@"[v[y * 70 + x] * 9 / 200]);
    putchar('\n');
  }
  printf("%llx\n", sum(v));
}
