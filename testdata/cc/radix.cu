// A radix sort of keys with values, by ranks within warps (ballot, match_any), scans and scatters; and a merge of two halves.
#include "cc.h"
#include <algorithm>

const int threads = 256, each = 4, tile = threads * each;

__global__ void count(const unsigned *keys, int n, int shift, unsigned *bins, int blocks) {
  __shared__ unsigned c[16];
  if (threadIdx.x < 16) c[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < each; k++) {
    int i = blockIdx.x * tile + k * threads + threadIdx.x;
    unsigned d = i < n ? keys[i] >> shift & 15 : 99;
    unsigned peers = __match_any_sync(~0u, d);
    if (i < n && (int)(threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&c[d], __popc(peers));
  }
  __syncthreads();
  if (threadIdx.x < 16) bins[threadIdx.x * blocks + blockIdx.x] = c[threadIdx.x];
}
__global__ void scan(unsigned *bins, int n) { // exclusive, by one warp
  unsigned carry = 0;
  for (int at = 0; at < n; at += 32) {
    int i = at + threadIdx.x;
    unsigned v = i < n ? bins[i] : 0, s = v;
    for (int d = 1; d < 32; d *= 2) {
      unsigned up = __shfl_up_sync(~0u, s, d);
      if (threadIdx.x >= d) s += up;
    }
    if (i < n) bins[i] = carry + s - v;
    carry += __shfl_sync(~0u, s, 31);
  }
}
__global__ void scatter(const unsigned *keys, const unsigned *values, unsigned *ok, unsigned *ov, int n, int shift, unsigned *bins, int blocks) {
  __shared__ unsigned base[16], warps[threads / 32][16];
  if (threadIdx.x < 16) base[threadIdx.x] = bins[threadIdx.x * blocks + blockIdx.x];
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  for (int k = 0; k < each; k++) {
    int i = blockIdx.x * tile + k * threads + threadIdx.x;
    unsigned d = i < n ? keys[i] >> shift & 15 : 99, rank = 0;
    if (lane < 16) warps[warp][lane] = 0;
    __syncwarp();
    unsigned peers = __match_any_sync(~0u, d);
    rank = __popc(peers & ((1u << lane) - 1));
    if (d < 16 && rank == 0) warps[warp][d] = __popc(peers);
    __syncthreads();
    if (i < n) {
      unsigned at = base[d] + rank;
      for (int w = 0; w < warp; w++) at += warps[w][d];
      ok[at] = keys[i];
      ov[at] = values[i];
    }
    __syncthreads();
    if (threadIdx.x < 16)
      for (int w = 0; w < threads / 32; w++) base[threadIdx.x] += warps[w][threadIdx.x];
    __syncthreads();
  }
}
__global__ void merge(const unsigned *a, int na, const unsigned *b, int nb, unsigned *o) { // the path of each result
  int d = blockIdx.x * blockDim.x + threadIdx.x;
  if (d >= na + nb) return;
  int lo = max(0, d - nb), hi = min(d, na);
  while (lo < hi) {
    int m = (lo + hi) / 2;
    if (__ldg(a + m) <= __ldg(b + d - 1 - m)) lo = m + 1; else hi = m;
  }
  int i = lo, j = d - lo;
  o[d] = j >= nb || (i < na && a[i] <= b[j]) ? a[i] : b[j];
}

int main() {
  const int n = 50001, blocks = (n + tile - 1) / tile;
  std::vector<unsigned> keys(n), values(n), sorted, gv(n), gk(n);
  unsigned x = 12345;
  for (int i = 0; i < n; i++) keys[i] = (x = x * 1664525u + 1013904223u) >> (i % 3 * 8), values[i] = i;
  unsigned *k[2], *v[2], *bins, *m;
  for (int i = 0; i < 2; i++) {
    OK(cudaMalloc(&k[i], n * 4));
    OK(cudaMalloc(&v[i], n * 4));
  }
  OK(cudaMalloc(&bins, 16 * blocks * 4));
  OK(cudaMalloc(&m, n * 4));
  OK(cudaMemcpy(k[0], keys.data(), n * 4, cudaMemcpyHostToDevice));
  OK(cudaMemcpy(v[0], values.data(), n * 4, cudaMemcpyHostToDevice));
  for (int pass = 0; pass < 8; pass++) {
    int from = pass & 1;
    count<<<blocks, threads>>>(k[from], n, pass * 4, bins, blocks);
    scan<<<1, 32>>>(bins, 16 * blocks);
    scatter<<<blocks, threads>>>(k[from], v[from], k[!from], v[!from], n, pass * 4, bins, blocks);
  }
  OK(cudaMemcpy(gk.data(), k[0], n * 4, cudaMemcpyDeviceToHost));
  OK(cudaMemcpy(gv.data(), v[0], n * 4, cudaMemcpyDeviceToHost));
  std::stable_sort(values.begin(), values.end(), [&](unsigned a, unsigned b) { return keys[a] < keys[b]; });
  int bad = 0;
  for (int i = 0; i < n; i++) bad += gv[i] != values[i] || gk[i] != keys[values[i]];
  printf("radix: %d wrong, %llx\n", bad, sum(gk));
  std::vector<unsigned> halves = keys;
  std::sort(halves.begin(), halves.begin() + n / 3);
  std::sort(halves.begin() + n / 3, halves.end());
  OK(cudaMemcpy(k[1], halves.data(), n * 4, cudaMemcpyHostToDevice));
  merge<<<(n + 127) / 128, 128>>>(k[1], n / 3, k[1] + n / 3, n - n / 3, m);
  std::vector<unsigned> merged(n);
  OK(cudaMemcpy(merged.data(), m, n * 4, cudaMemcpyDeviceToHost));
  printf("merge: %d\n", merged == gk);
}
