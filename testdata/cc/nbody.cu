// Bodies that attract each other: tiles in shared memory, float4, rsqrtf; against the host in double. And heat in a plate, in two buffers.
#include "cc.h"
#include <cmath>

__device__ __forceinline__ float3 pull(float3 f, float4 at, float4 other) {
  float dx = other.x - at.x, dy = other.y - at.y, dz = other.z - at.z;
  float inv = rsqrtf(fmaf(dx, dx, fmaf(dy, dy, fmaf(dz, dz, 0.01f))));
  float s = other.w * inv * inv * inv;
  return make_float3(fmaf(dx, s, f.x), fmaf(dy, s, f.y), fmaf(dz, s, f.z));
}
template <int B> __global__ void forces(const float4 *__restrict__ p, float3 *f, int n) {
  __shared__ float4 tile[B];
  int i = blockIdx.x * B + threadIdx.x;
  float4 at = i < n ? p[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int k = 0; k < n; k += B) {
    tile[threadIdx.x] = k + threadIdx.x < n ? p[k + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < B; j++) sum = pull(sum, at, tile[j]);
    __syncthreads();
  }
  if (i < n) f[i] = sum;
}
const int W = 130, H = 66;
__global__ void heat(const float *in, float *out) {
  __shared__ float t[18][34];
  int x = blockIdx.x * 32 + threadIdx.x + 1, y = blockIdx.y * 16 + threadIdx.y + 1;
  for (int j = threadIdx.y; j < 18; j += 16)
    for (int i = threadIdx.x; i < 34; i += 32) t[j][i] = in[(blockIdx.y * 16 + j) * W + blockIdx.x * 32 + i];
  __syncthreads();
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  out[y * W + x] = t[j][i] + 0.125f * (t[j - 1][i] + t[j + 1][i] + t[j][i - 1] + t[j][i + 1] - 4 * t[j][i]);
}
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
template <class F> __global__ void reduce(const float *p, int n, float *to, F f) {
  float v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v = f(v, p[i]);
  for (int d = 16; d; d /= 2) v = f(v, __shfl_xor_sync(~0u, v, d));
  __shared__ float w[32];
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < blockDim.x / 32; i++) v = f(v, w[i]);
    *to = v;
  }
}

int main() {
  const int n = 1500;
  std::vector<float4> p(n);
  unsigned x = 99;
  auto next = [&] { return (x = x * 1664525u + 1013904223u) / 4294967296.0f; };
  for (auto &b : p) b.x = next(), b.y = next(), b.z = next(), b.w = next() + 0.5f;
  float4 *dp;
  float3 *df;
  OK(cudaMalloc(&dp, n * sizeof p[0]));
  OK(cudaMalloc(&df, n * sizeof(float3)));
  OK(cudaMemcpy(dp, p.data(), n * sizeof p[0], cudaMemcpyHostToDevice));
  forces<128><<<(n + 127) / 128, 128>>>(dp, df, n);
  std::vector<float3> f(n);
  OK(cudaMemcpy(f.data(), df, n * sizeof f[0], cudaMemcpyDeviceToHost));
  double worst = 0, most = 0;
  for (int i = 0; i < n; i++) {
    double s[3] = {};
    for (int j = 0; j < n; j++) {
      double d[3] = {double(p[j].x) - p[i].x, double(p[j].y) - p[i].y, double(p[j].z) - p[i].z};
      double r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01, k = p[j].w / (r * sqrt(r));
      for (int c = 0; c < 3; c++) s[c] += d[c] * k;
    }
    worst = fmax(worst, fabs(s[0] - f[i].x) + fabs(s[1] - f[i].y) + fabs(s[2] - f[i].z));
    most = fmax(most, fabs(s[0]));
  }
  printf("bodies: %d\n", worst < 1e-5 * most);

  std::vector<float> a(W * H), b(W * H);
  for (int i = 0; i < W * H; i++) a[i] = b[i] = i / W == 0 ? 256.0f : i % W == 7 ? 64.0f : 0.0f;
  float *d[2], *hottest, h;
  for (auto &q : d) {
    OK(cudaMalloc(&q, W * H * 4));
    OK(cudaMemcpy(q, a.data(), W * H * 4, cudaMemcpyHostToDevice));
  }
  OK(cudaMalloc(&hottest, 4));
  for (int s = 0; s < 20; s++) {
    heat<<<dim3(4, 4), dim3(32, 16)>>>(d[s & 1], d[~s & 1]);
    for (int y = 1; y < H - 1; y++)
      for (int i = 1; i < W - 1; i++) {
        float *q = &a[y * W + i];
        b[y * W + i] = q[0] + 0.125f * (q[-W] + q[W] + q[-1] + q[1] - 4 * q[0]);
      }
    std::swap(a, b);
  }
  reduce<<<1, 256>>>(d[0] + W, W * (H - 1), hottest, Max());
  std::vector<float> v(W * H);
  OK(cudaMemcpy(v.data(), d[0], W * H * 4, cudaMemcpyDeviceToHost));
  OK(cudaMemcpy(&h, hottest, 4, cudaMemcpyDeviceToHost));
  double off = 0;
  float top = 0;
  for (int i = 0; i < W * H; i++) off = fmax(off, fabs(v[i] - a[i]));
  for (int i = W; i < W * H; i++) top = fmaxf(top, v[i]);
  printf("heat: %d %d\n", off < 1e-3, top == h);
}
