// nvcc: -std=c++17 --extended-lambda
// nvstd::function on both sides.
#include "check.h"
#include <nvfunctional>

__device__ int twice(int x) { return 2 * x; }
struct Large {
  int v[100];
  __host__ __device__ int operator()(int i) const { return v[i]; }
};

__global__ void use(int *out, int c) {
  nvstd::function<int(int)> f = [=](int x) { return x + c; };
  out[0] = f(1);
  f = twice;
  out[1] = f(4);
  nvstd::function<int(int)> g;
  out[2] = g ? 1 : 0;
  g = f;
  f = nullptr;
  out[3] = g(5) + (f == nullptr);
  Large large;
  for (int i = 0; i < 100; i++) large.v[i] = i * c;
  f = large;
  f.swap(g);
  out[4] = g(7) + f(1);
}

int main() {
  int *out = shared<int>(5);
  use<<<1, 1>>>(out, 10);
  CK(cudaDeviceSynchronize());
  EXPECT(out[0] == 11 && out[1] == 8 && out[2] == 0 && out[3] == 11 && out[4] == 72);
  int k = 3;
  nvstd::function<int(int)> h = [k](int x) { return x * k; };
  EXPECT(h(3) == 9);
  return 0;
}
