// Parallel regions in a .cu: loops, reductions, a critical section, tasks, a kernel of every thread.
#include "../cc.h"
#include <omp.h>

__global__ void add(int *x, int n) { atomicAdd(x, n); }

int main() {
  omp_set_num_threads(4);
  int *x;
  cudaMallocManaged(&x, sizeof *x);
  *x = 0;
  int sum = 0, threads = 0, tasks = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for schedule(dynamic, 3)
    for (int i = 0; i < 100; i++) sum += i;
    add<<<1, 32>>>(x, omp_get_thread_num() + 1);
    cudaDeviceSynchronize();
#pragma omp single
    for (int i = 0; i < 10; i++) {
#pragma omp task
      {
#pragma omp critical
        tasks += i;
      }
    }
  }
  printf("sum %d, threads %d, kernels %d, tasks %d\n", sum, threads, *x, tasks);
}
