// Cooperative groups: tiles, coalesced and labelled groups, reduce and scan, copies in stages; and half2 and bfloat16 sums beside floats.
#include "cc.h"
#include <cmath>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

__global__ void tiles(const int *in, int *sums, int *scans, int *most, int n) {
  auto block = cg::this_thread_block();
  auto t = cg::tiled_partition<16>(block);
  int i = block.group_index().x * block.size() + block.thread_rank(), v = in[i];
  sums[i] = cg::reduce(t, v, cg::plus<int>());
  scans[i] = cg::exclusive_scan(t, v, cg::plus<int>());
  most[i] = cg::reduce(t, v, cg::greater<int>());
}
__global__ void odd(const int *in, int *o, int *labels) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i];
  o[i] = -1;
  if (v % 2) {
    auto g = cg::coalesced_threads();
    o[i] = g.thread_rank() * 100 + g.size() + (g.shfl(v, 0) == v ? 10000 : 0);
  }
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto l = cg::labeled_partition(warp, v % 3);
  labels[i] = cg::reduce(l, v, cg::plus<int>());
}
template <int Stages> __global__ void staged(const float *in, float *out, int tilesEach) { // sums of neighbours, tile by tile
  __shared__ float t[Stages][128];
  auto block = cg::this_thread_block();
  const float *from = in + blockIdx.x * tilesEach * 128;
  float s = 0;
  cg::memcpy_async(block, t[0], from, sizeof t[0]);
  for (int k = 0; k < tilesEach; k++) {
    if (k + 1 < tilesEach) {
      cg::memcpy_async(block, t[(k + 1) % Stages], from + (k + 1) * 128, sizeof t[0]);
      cg::wait_prior<1>(block);
    } else
      cg::wait(block);
    s += t[k % Stages][block.thread_rank()] * t[k % Stages][127 - block.thread_rank()];
    block.sync();
  }
  out[blockIdx.x * 128 + block.thread_rank()] = s;
}
__global__ void narrow(const float *a, const float *b, float *o, int n) {
  __half2 h = __float2half2_rn(0);
  __nv_bfloat162 g = __float2bfloat162_rn(0);
  for (int i = 0; i < n; i += 2) {
    h = __hfma2(__floats2half2_rn(a[i], a[i + 1]), __floats2half2_rn(b[i], b[i + 1]), h);
    g = __hfma2(__floats2bfloat162_rn(a[i], a[i + 1]), __floats2bfloat162_rn(b[i], b[i + 1]), g);
  }
  o[0] = __low2float(h) + __high2float(h);
  o[1] = __low2float(g) + __high2float(g);
  o[2] = __half2float(hsqrt(__hmax(__low2half(h), __float2half(4))));
  o[3] = __hgt(__low2half(h), __high2half(h)) + 2 * __hbeq2(h, h);
}

int main() {
  const int n = 1024;
  Array<int> in(n), sums(n), scans(n), most(n), o(n), labels(n);
  std::vector<int> v(n);
  for (int i = 0; i < n; i++) v[i] = i * 7919 % 1009;
  OK(cudaMemcpy(in, v.data(), n * 4, cudaMemcpyHostToDevice));
  tiles<<<n / 256, 256>>>(in, sums, scans, most, n);
  odd<<<n / 256, 256>>>(in, o, labels);
  std::vector<int> s = sums.get(), e = scans.get(), m = most.get(), c = o.get(), l = labels.get();
  int bad[3] = {};
  for (int i = 0; i < n; i++) {
    int total = 0, before = 0, top = 0, rank = 0, size = 0, first = -1, same = 0;
    for (int j = i / 16 * 16; j < i / 16 * 16 + 16; j++) total += v[j], before += j < i ? v[j] : 0, top = std::max(top, v[j]);
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; j++) {
      if (v[j] % 2) size++, rank += j < i, first = first < 0 ? j : first;
      same += v[j] % 3 == v[i] % 3 ? v[j] : 0;
    }
    bad[0] += s[i] != total || e[i] != before || m[i] != top;
    bad[1] += c[i] != (v[i] % 2 ? rank * 100 + size + (v[first] == v[i] ? 10000 : 0) : -1);
    bad[2] += l[i] != same;
  }
  printf("tiles %d, coalesced %d, labelled %d wrong\n", bad[0], bad[1], bad[2]);
  const int each = 5, blocks = 6;
  Array<float> f(blocks * each * 128, 1, 1), out(blocks * 128);
  std::vector<float> host = f.get();
  for (auto &x : host) x = float(int(x) % 31 - 15);
  OK(cudaMemcpy(f, host.data(), host.size() * 4, cudaMemcpyHostToDevice));
  staged<2><<<blocks, 128>>>(f, out, each);
  std::vector<float> got = out.get();
  int wrong = 0;
  for (int b = 0; b < blocks; b++)
    for (int t = 0; t < 128; t++) {
      float want = 0;
      for (int k = 0; k < each; k++) want += host[(b * each + k) * 128 + t] * host[(b * each + k) * 128 + 127 - t];
      wrong += want != got[b * 128 + t];
    }
  printf("staged %d wrong\n", wrong);
  Array<float> a(64, 1), b(64, -20), r(4);
  narrow<<<1, 1>>>(a, b, r, 64);
  std::vector<float> q = r.get();
  printf("narrow %g %g %g %g\n", q[0], q[1], q[2], q[3]);
}
