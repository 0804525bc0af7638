// printf on the device, one thread at a time.
#include "cc.h"
__global__ void say(int n) {
  for (int i = 0; i < n; i++)
    if (threadIdx.x == i) {
      printf("%d %u %5.2f %s %c %lld %x %%\n", i, i * 3u, i * 1.5, i & 1 ? "odd" : "even", 'a' + i, -(1ll << (40 + i)), 255 - i);
      __syncwarp(1u << i);
    }
}
int main() {
  for (int i = 1; i <= 3; i++) {
    say<<<1, 1>>>(i);
    OK(cudaDeviceSynchronize());
  }
}
