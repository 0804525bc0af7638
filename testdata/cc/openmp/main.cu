// OpenMP on the host's side: the functions of omp.h in a .cu, parallel regions in a .cpp.
#include "../cc.h"
#include <omp.h>

int squares(int n, int *threads);

__global__ void twice(int *x) { *x *= 2; }

int main() {
  omp_set_num_threads(3);
  int threads = 0, sum = squares(100, &threads);
  int *x;
  cudaMallocManaged(&x, sizeof *x);
  *x = sum;
  twice<<<1, 1>>>(x);
  cudaDeviceSynchronize();
  printf("sum %d %d, threads %d, most %d, outside %d\n", sum, *x, threads, omp_get_max_threads(), omp_in_parallel());
}
