// flags: -default-stream per-thread
// Every thread with a default stream of its own.
#include "cc.h"
#include <thread>
__global__ void k(int *p, int a) { p[threadIdx.x] = p[threadIdx.x] * 3 + a; }
static void work(int *p, int a) {
  for (int i = 0; i < 10; i++) k<<<1, 32>>>(p, a);
  OK(cudaStreamSynchronize(cudaStreamPerThread));
}
int main() {
  Array<int> a(32), b(32);
  std::thread t(work, a.p, 1), u(work, b.p, 2);
  t.join();
  u.join();
  printf("%llx %llx\n", sum(a.get()), sum(b.get()));
}
