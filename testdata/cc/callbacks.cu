// Streams that call the host, priorities, events that order streams: a diamond of work, repeated.
#include "cc.h"
#include <atomic>
#include <string>

__global__ void add(int *p, int n, int v) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] += v;
}
__global__ void join(int *o, const int *a, const int *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = a[i] * b[i];
}
struct Note {
  std::string text;
  int *pinned;
  std::atomic<int> seen{0};
};
static void CUDART_CB hostFunction(void *p) {
  Note *n = (Note *)p;
  n->text += "host " + std::to_string(n->pinned[0]) + " ";
  n->pinned[1] = n->pinned[0] + 1;
  n->seen++;
}
static void CUDART_CB callback(cudaStream_t, cudaError_t e, void *p) {
  Note *n = (Note *)p;
  n->text += std::string("callback ") + cudaGetErrorName(e) + " ";
  n->seen++;
}

int main() {
  const int n = 1 << 16;
  int low, high, *a, *b, *o, *pinned;
  OK(cudaDeviceGetStreamPriorityRange(&low, &high));
  cudaStream_t s[3];
  for (int i = 0; i < 3; i++) OK(cudaStreamCreateWithPriority(&s[i], cudaStreamNonBlocking, i == 0 ? high : low));
  int p0, p1;
  unsigned flags;
  OK(cudaStreamGetPriority(s[0], &p0));
  OK(cudaStreamGetPriority(s[1], &p1));
  OK(cudaStreamGetFlags(s[0], &flags));
  printf("priorities %d %d, flags %u\n", p0 == high, p1 == low, flags);
  OK(cudaMalloc(&a, n * 4));
  OK(cudaMalloc(&b, n * 4));
  OK(cudaMalloc(&o, n * 4));
  OK(cudaMallocHost(&pinned, n * 4));
  OK(cudaMemset(a, 0, n * 4));
  OK(cudaMemset(b, 0, n * 4));
  OK(cudaDeviceSynchronize());
  cudaEvent_t fork, done[2], begin, end;
  OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  for (auto &e : done) OK(cudaEventCreateWithFlags(&e, cudaEventDisableTiming | cudaEventBlockingSync));
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  Note note;
  note.pinned = pinned;
  OK(cudaEventRecord(begin, s[0]));
  int bad = 0;
  for (int round = 1; round <= 4; round++) {
    OK(cudaEventRecord(fork, s[0]));
    for (int i = 0; i < 2; i++) {
      OK(cudaStreamWaitEvent(s[i + 1], fork, 0));
      add<<<n / 256, 256, 0, s[i + 1]>>>(i ? b : a, n, round * (i + 1));
      OK(cudaEventRecord(done[i], s[i + 1]));
      OK(cudaStreamWaitEvent(s[0], done[i], 0));
    }
    join<<<n / 256, 256, 0, s[0]>>>(o, a, b, n);
    OK(cudaMemcpyAsync(pinned, o, n * 4, cudaMemcpyDeviceToHost, s[0]));
    OK(cudaLaunchHostFunc(s[0], hostFunction, &note));
    OK(cudaStreamAddCallback(s[0], callback, &note, 0));
    OK(cudaMemcpyAsync(o, pinned, 8, cudaMemcpyHostToDevice, s[0])); // what the host has written
    OK(cudaStreamSynchronize(s[0]));
    int want = round * (round + 1) / 2, second;
    OK(cudaMemcpy(&second, o + 1, 4, cudaMemcpyDeviceToHost));
    bad += second != want * want * 2 + 1;
    for (int i = 2; i < n; i++) bad += pinned[i] != want * want * 2;
  }
  OK(cudaEventRecord(end, s[0]));
  OK(cudaEventSynchronize(end));
  float ms = -1, more = -1;
  OK(cudaEventElapsedTime(&ms, begin, end));
  printf("%s\n%d wrong, %d calls, time %d, %s\n", note.text.c_str(), bad, note.seen.load(), ms > 0, cudaGetErrorName(cudaEventElapsedTime(&more, fork, end)));
  printf("%s %s\n", cudaGetErrorName(cudaStreamQuery(s[0])), cudaGetErrorName(cudaEventQuery(done[1])));
}
