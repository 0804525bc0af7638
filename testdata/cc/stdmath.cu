// flags: --expt-relaxed-constexpr
// Functions of namespace std on the device, and constexpr functions of the host.
#include "cc.h"
#include <algorithm>
#include <cmath>
#include <limits>
constexpr int cube(int x) { return x * x * x; }
__global__ void k(double *o) {
  int t = threadIdx.x;
  float f = t * 0.5f - 1;
  double d = f;
  o[t] = std::abs(f) + std::max(t, 3) + std::min(d, 0.25) + cube(t) + std::sqrt(f + 1) + std::floor(d * 1.5) + std::fabs(d) + std::isnan(f) + std::numeric_limits<int>::max() % 1000 + std::pow(2.0, t) + std::fma(d, d, 1.0) + std::abs(-t);
}
int main() {
  Array<double> o(6);
  k<<<1, 6>>>(o);
  for (double v : o.get()) printf("%.6f ", v);
  printf("%d\n", cube(3));
}
