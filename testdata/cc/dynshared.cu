// More shared memory than a kernel has by itself, asked for by cudaFuncSetAttribute; occupancy and attributes of functions.
#include "cc.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// A transposed product in tiles as large as the memory allows.
template <int T> __global__ void product(const float *a, const float *b, float *c, int n) {
  extern __shared__ __align__(16) float memory[];
  float *as = memory, *bs = memory + T * T;
  for (int part = threadIdx.x; part < T * T; part += blockDim.x) c[(blockIdx.y * T + part / T) * n + blockIdx.x * T + part % T] = 0;
  for (int k = 0; k < n; k += T) {
    for (int i = threadIdx.x; i < T * T; i += blockDim.x) {
      as[i] = a[(blockIdx.y * T + i / T) * n + k + i % T];
      bs[i] = b[(blockIdx.x * T + i / T) * n + k + i % T];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < T * T; i += blockDim.x) {
      float s = 0;
      for (int j = 0; j < T; j++) s += as[i / T * T + j] * bs[i % T * T + j];
      c[(blockIdx.y * T + i / T) * n + blockIdx.x * T + i % T] += s;
    }
    __syncthreads();
  }
}
__global__ void __launch_bounds__(256, 2) grid(int *p, int rounds) { // every round reads what another block wrote
  cg::grid_group g = cg::this_grid();
  for (int r = 0; r < rounds; r++) {
    int i = g.thread_rank(), n = g.size();
    int v = p[(r & 1) * n + (i + 257) % n];
    g.sync();
    p[(~r & 1) * n + i] = v + 1;
    g.sync();
  }
}

int main() {
  const int n = 256, T = 128, bytes = 2 * T * T * 4;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; i++) a[i] = float(i % 13 - 6), b[i] = float(i % 11 - 5);
  float *da, *db, *dc;
  OK(cudaMalloc(&da, n * n * 4));
  OK(cudaMalloc(&db, n * n * 4));
  OK(cudaMalloc(&dc, n * n * 4));
  OK(cudaMemcpy(da, a.data(), n * n * 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(db, b.data(), n * n * 4, cudaMemcpyHostToDevice));
  product<T><<<dim3(n / T, n / T), 256, bytes>>>(da, db, dc, n);
  printf("before: %s\n", cudaGetErrorName(cudaGetLastError()));
  OK(cudaFuncSetAttribute(product<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  OK(cudaFuncSetAttribute(product<T>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  cudaFuncAttributes at;
  OK(cudaFuncGetAttributes(&at, product<T>));
  int blocks = -1;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, product<T>, 256, bytes));
  product<T><<<dim3(n / T, n / T), 256, bytes>>>(da, db, dc, n);
  OK(cudaMemcpy(c.data(), dc, n * n * 4, cudaMemcpyDeviceToHost));
  int bad = 0;
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      float s = 0;
      for (int k = 0; k < n; k++) s += a[y * n + k] * b[x * n + k];
      bad += s != c[y * n + x];
    }
  printf("after: %d wrong, at most %d, fits %d\n", bad, at.maxDynamicSharedSizeBytes, blocks);
  printf("too much: %s\n", cudaGetErrorName(cudaFuncSetAttribute(product<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20)));
  (void)cudaGetLastError();

  // as many blocks as run at a time, or 8
  cudaDeviceProp d;
  OK(cudaGetDeviceProperties(&d, 0));
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, grid, 256, 0));
  int count = blocks * d.multiProcessorCount < 8 ? blocks * d.multiProcessorCount : 8, threads = count * 256, rounds = 5, *p;
  OK(cudaMalloc(&p, 2 * threads * 4));
  std::vector<int> v(2 * threads), w(threads);
  for (int i = 0; i < threads; i++) v[i] = w[i] = i * 7 % 101;
  OK(cudaMemcpy(p, v.data(), v.size() * 4, cudaMemcpyHostToDevice));
  void *args[] = {&p, &rounds};
  OK(cudaLaunchCooperativeKernel(grid, dim3(count), dim3(256), args, 0, 0));
  OK(cudaMemcpy(v.data(), p, v.size() * 4, cudaMemcpyDeviceToHost));
  bad = 0;
  for (int i = 0; i < threads; i++) bad += v[threads + i] != (i + 257 * rounds) % threads * 7 % 101 + rounds;
  int least, size;
  OK(cudaOccupancyMaxPotentialBlockSize(&least, &size, grid, 0, 256));
  printf("grid: %d wrong, block %d, cooperative %d\n", bad, size, d.cooperativeLaunch);
}
