// Several processes on one device, each with its part of a sum; and threads of one process, each with a device and a stream.
#include "cc.h"
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void dot(const float *a, const float *b, int n, double *to) {
  __shared__ double part[8];
  double s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += double(a[i]) * b[i];
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; i++) part[0] += part[i];
    atomicAdd(to, part[0]);
  }
}
static double compute(int from, int to, cudaStream_t s) {
  int n = to - from;
  std::vector<float> a(n), b(n);
  for (int i = 0; i < n; i++) a[i] = float((from + i) % 17), b[i] = float((from + i) % 23);
  float *da, *db;
  double *d, r = -1;
  OK(cudaMalloc(&da, n * 4));
  OK(cudaMalloc(&db, n * 4));
  OK(cudaMalloc(&d, 8));
  OK(cudaMemcpyAsync(da, a.data(), n * 4, cudaMemcpyHostToDevice, s));
  OK(cudaMemcpyAsync(db, b.data(), n * 4, cudaMemcpyHostToDevice, s));
  OK(cudaMemsetAsync(d, 0, 8, s));
  dot<<<16, 256, 0, s>>>(da, db, n, d);
  OK(cudaMemcpyAsync(&r, d, 8, cudaMemcpyDeviceToHost, s));
  OK(cudaStreamSynchronize(s));
  OK(cudaFree(da));
  OK(cudaFree(db));
  OK(cudaFree(d));
  return r;
}

int main() {
  const int n = 400000, parts = 4;
  double want = 0, got = 0;
  for (int i = 0; i < n; i++) want += double(i % 17) * (i % 23);
  int pipes[parts][2], ended = 0;
  for (int i = 0; i < parts; i++) {
    if (pipe(pipes[i])) return 1;
    if (fork() == 0) { // before this process has used the device
      double r = compute(n / parts * i, n / parts * (i + 1), 0);
      _exit(write(pipes[i][1], &r, sizeof r) == sizeof r ? 0 : 1);
    }
  }
  for (int i = 0; i < parts; i++) {
    double r = 0;
    int status;
    if (read(pipes[i][0], &r, sizeof r) == sizeof r) got += r;
    wait(&status);
    ended += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  printf("processes: %d ended, %d\n", ended, got == want);
  int devices = 0;
  OK(cudaGetDeviceCount(&devices));
  std::vector<double> results(parts);
  std::vector<std::thread> threads;
  for (int i = 0; i < parts; i++)
    threads.emplace_back([&, i] {
      OK(cudaSetDevice(i % devices));
      cudaStream_t s;
      OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
      for (int round = 0; round < 5; round++) results[i] = compute(n / parts * i, n / parts * (i + 1), s);
      OK(cudaStreamDestroy(s));
    });
  for (auto &t : threads) t.join();
  got = 0;
  for (double r : results) got += r;
  printf("threads: %d\n", got == want);
  // every pair of devices that may reach each other, and a device with itself
  int bad = 0;
  for (int i = 0; i < devices; i++)
    for (int j = 0; j < devices; j++) {
      int can = 0, *p, *q, v = -1;
      OK(cudaDeviceCanAccessPeer(&can, i, j));
      OK(cudaSetDevice(i));
      if (i != j && can) OK(cudaDeviceEnablePeerAccess(j, 0));
      OK(cudaMalloc(&p, 4));
      OK(cudaMemset(p, 0x11, 4));
      OK(cudaSetDevice(j));
      OK(cudaMalloc(&q, 4));
      OK(cudaMemcpyPeer(q, j, p, i, 4));
      OK(cudaMemcpy(&v, q, 4, cudaMemcpyDefault));
      bad += v != 0x11111111 || (i == j && can);
    }
  OK(cudaSetDevice(0));
  printf("peers: %d wrong, itself %s\n", bad, cudaGetErrorName(cudaDeviceEnablePeerAccess(0, 0)));
}
