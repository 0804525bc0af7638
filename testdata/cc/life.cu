// The game of life, with double buffers.
#include "cc.h"
__global__ void step(const unsigned char *a, unsigned char *b, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  int c = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) c += (dx || dy) && a[(y + dy + n) % n * n + (x + dx + n) % n];
  b[y * n + x] = c == 3 || (c == 2 && a[y * n + x]);
}
int main() {
  const int n = 50;
  std::vector<unsigned char> h(n * n);
  for (int i = 0; i < n * n; i++) h[i] = i * 7 % 11 < 4;
  Array<unsigned char> a(n * n), b(n * n);
  OK(cudaMemcpy(a, h.data(), n * n, cudaMemcpyHostToDevice));
  for (int i = 0; i < 20; i++) {
    step<<<dim3(4, 4), dim3(16, 16)>>>(a, b, n);
    std::swap(a.p, b.p);
  }
  std::vector<unsigned char> v = a.get();
  int alive = 0;
  for (int c : v) alive += c;
  printf("%d %llx\n", alive, sum(v));
}
