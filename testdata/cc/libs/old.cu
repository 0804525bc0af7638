// cuBLAS without handles, as programs of its first years use it.
#include <cstdio>
#include <cublas.h>

int main() {
  float x[4] = {1, 2, 3, 4}, y[4] = {10, 20, 30, 40}, c[4], *dx, *dy, *dc;
  cublasStatus s = cublasInit();
  cublasAlloc(4, sizeof(float), (void **)&dx);
  cublasAlloc(4, sizeof(float), (void **)&dy);
  cublasAlloc(4, sizeof(float), (void **)&dc);
  cublasSetVector(4, sizeof(float), x, 1, dx, 1);
  cublasSetMatrix(2, 2, sizeof(float), y, 2, dy, 2);
  float dot = cublasSdot(4, dx, 1, dy, 1);
  cublasSaxpy(4, 0.5f, dx, 1, dy, 1);
  cublasSgemm('n', 't', 2, 2, 2, 1.0f, dx, 2, dy, 2, 0.0f, dc, 2);
  cublasGetMatrix(2, 2, sizeof(float), dc, 2, c, 2);
  printf("%d %d: %g | %g %g %g %g\n", s, cublasGetError(), dot, c[0], c[1], c[2], c[3]);
  cublasFree(dx);
  cublasFree(dy);
  cublasFree(dc);
  return cublasShutdown();
}
