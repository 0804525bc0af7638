#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdio>
namespace cg = cooperative_groups;
__global__ void k(const int *in, int *out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  __shared__ alignas(16) int buf[128];
  auto b = cg::this_thread_block();
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  b.sync();
  cuda::memcpy_async(b, buf, in, cuda::aligned_size_t<16>(sizeof(int) * 128), bar);
  bar.arrive_and_wait();
  int v = buf[127 - threadIdx.x];
  auto t = bar.arrive();
  bar.wait(std::move(t));
  out[threadIdx.x] = v;
}
__global__ void p(const int *in, int *out, int n) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
  __shared__ int buf[2][128];
  auto b = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(b, &st);
  int sum = 0;
  pipe.producer_acquire();
  cuda::memcpy_async(b, buf[0], in, sizeof(int) * 128, pipe);
  pipe.producer_commit();
  for (int i = 0; i < n; i++) {
    if (i + 1 < n) {
      pipe.producer_acquire();
      cuda::memcpy_async(b, buf[(i + 1) & 1], in + (i + 1) * 128, sizeof(int) * 128, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += buf[i & 1][127 - threadIdx.x] * (i + 1);
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}
__global__ void t(const int *in, int *out) {
  __shared__ int buf[128];
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&buf[threadIdx.x], &in[threadIdx.x], sizeof(int), pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  out[threadIdx.x] = buf[threadIdx.x] + 1;
  pipe.consumer_release();
}
__device__ int counter;
__global__ void sem(int *out) {
  __shared__ cuda::binary_semaphore<cuda::thread_scope_block> s;
  if (threadIdx.x == 0) { new (&s) cuda::binary_semaphore<cuda::thread_scope_block>(1); }
  __syncthreads();
  s.acquire(); out[0] = out[0] + 1; __threadfence_block(); s.release();
  __syncthreads();
  if (threadIdx.x == 0) out[1] = out[0];
}
int main() {
  int h[512], *in, *out;
  for (int i = 0; i < 512; i++) h[i] = i * i % 1009;
  cudaMalloc(&in, sizeof h); cudaMalloc(&out, sizeof h);
  cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
  auto show = [&](const char *n) { int g[128]; cudaMemcpy(g, out, sizeof g, cudaMemcpyDeviceToHost); unsigned s = 0; for (int v : g) s = s * 31 + v; printf("%s %s %u %d %d\n", n, cudaGetErrorName(cudaGetLastError()), s, g[0], g[1]); };
  k<<<1, 128>>>(in, out); show("barrier");
  p<<<1, 128>>>(in, out, 4); show("pipeline");
  t<<<1, 128>>>(in, out); show("thread");
  cudaMemset(out, 0, sizeof h); sem<<<1, 64>>>(out); show("semaphore");
}
