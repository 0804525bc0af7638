// Shared variables of classes with constructors and destructors: neither runs. extern "C" without a space.
#include "cc.h"

struct Pair {
  int first, second;
  __host__ __device__ Pair() : first(-1), second(-2) {}
  __host__ __device__ Pair(int a, int b) : first(a), second(b) {}
  __host__ __device__ ~Pair() { first = second = -9; }
};

template <class T, int N> __global__ void rotate(int *out) {
  __shared__ T one /* the block's */, all[N];
  const unsigned i = threadIdx.x;
  if (i == 0) {
    one.first = 100;
    one.second = 7;
  }
  auto put = [=](unsigned at) { // captures nothing of the shared ones
    all[at].first = int(at) * 3;
    all[at].second = int(at) + 1;
  };
  put(i);
  __syncthreads();
  out[i] = all[(i + 1) % N].first * all[(i + 2) % N].second + one.first * one.second + int(sizeof all / sizeof one);
}

__device__ int sum(int v) {
  static __shared__ struct Box {
    Pair p;
  } box;
  if (threadIdx.x == 0) box.p.first = 0;
  __syncthreads();
  atomicAdd(&box.p.first, v);
  __syncthreads();
  return box.p.first;
}

extern "C"__global__ void total(int *out) { out[threadIdx.x] = sum(int(threadIdx.x)); }

int main() {
  int *out, got[64];
  OK(cudaMalloc(&out, sizeof got));
  rotate<Pair, 64><<<1, 64>>>(out);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; i += 21) printf("rotate %d %d\n", i, got[i]);
  total<<<1, 64>>>(out);
  OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
  printf("total %d %d\n", got[0], got[63]);
}
