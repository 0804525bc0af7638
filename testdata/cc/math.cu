// Functions of mathematics, to the digits that every implementation has.
#include "cc.h"
#include <cmath>
__global__ void k(double *o) {
  int t = threadIdx.x;
  double x = 0.3 + t * 0.7;
  float f = (float)x;
  o[t] = sin(x) + cos(x) * 2 + exp(-x) + log(x) * 3 + sqrt(x) + pow(x, 1.5) + atan2(x, 2.0) + erf(x) + tgamma(x + 1) + cbrt(x) + hypot(x, 3.0) + fmod(x, 0.4) + floor(x) + rint(x * 3);
  o[t + 8] = sinf(f) + expf(-f) + logf(f) + sqrtf(f) + powf(f, 1.5f) + fabsf(-f) + fminf(f, 1) + rsqrtf(f) + normcdff(f) + j0f(f);
}
int main() {
  Array<double> o(16);
  k<<<1, 8>>>(o);
  std::vector<double> v = o.get();
  for (int i = 0; i < 16; i++) printf("%.*f ", i < 8 ? 9 : 4, v[i]);
  printf("\n");
}
