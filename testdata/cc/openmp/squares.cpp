#include <omp.h>

int squares(int n, int *threads) {
  int sum = 0;
#pragma omp parallel reduction(+ : sum)
  {
#pragma omp single
    *threads = omp_get_num_threads();
#pragma omp for
    for (int i = 0; i < n; i++) sum += i * i;
  }
  return sum;
}
