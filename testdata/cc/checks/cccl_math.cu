// nvcc: -arch=sm_80 -std=c++17 -I CCCL
// The mathematics of cuda::std, which CCCL writes with the compiler's own functions (__builtin_sinf).
#include "check.h"
#include <cuda/std/cmath>
#include <cuda/std/complex>

#define ONE(X)                                                                                                        \
  X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(atanh) X(exp) X(exp2) X(expm1)       \
  X(log) X(log2) X(log10) X(log1p) X(logb) X(sqrt) X(cbrt) X(erf) X(erfc) X(tgamma) X(lgamma) X(ceil) X(floor)         \
  X(trunc) X(round) X(rint) X(fabs)
#define TWO(X) X(pow) X(atan2) X(hypot) X(fmod) X(remainder) X(fmin) X(fmax) X(fdim) X(copysign) X(nextafter)

#define F1(n) f[i] = cuda::std::n(f[i]), d[i] = cuda::std::n(d[i]), i++;
#define F2(n) f[i] = cuda::std::n(f[i], .75f), d[i] = cuda::std::n(d[i], .75), i++;
__global__ void all(float *f, double *d, cuda::std::complex<double> *z) {
  int i = 0;
  ONE(F1) TWO(F2)
  d[i++] = cuda::std::lround(d[60]) + 100 * cuda::std::ilogb(d[61]);
  d[i++] = cuda::std::modf(-2.75 * d[60], d + 62);
  d[i++] = cuda::std::fma(d[60], d[60], 1.);
  z[0] = cuda::std::exp(z[1]) * cuda::std::sqrt(z[2]) / z[3];
  d[i++] = cuda::std::abs(z[1]);
}

#define H1(n) EXPECT(near(f[i], std::n(.3f), 1e-6) && near(d[i], std::n(.3), 1e-14)), i++;
#define H2(n) EXPECT(near(f[i], std::n(.3f, .75f), 1e-6) && near(d[i], std::n(.3, .75), 1e-14)), i++;
#undef EXPECT
#define EXPECT(c) ((c) ? 0 : (printf("line %d: %d\n", __LINE__, i), exit(1), 0))
int main() {
  float *f = shared<float>(64);
  double *d = shared<double>(64);
  auto *z = shared<cuda::std::complex<double>>(4);
  for (int i = 0; i < 60; i++) f[i] = .3f, d[i] = .3;
  d[60] = 1, d[61] = 20;
  z[1] = {3, 4}, z[2] = {-4, 0}, z[3] = {0, 2};
  all<<<1, 1>>>(f, d, z);
  CK(cudaDeviceSynchronize());
  int i = 0;
  ONE(H1) TWO(H2)
  EXPECT(d[i] == 401), i++;
  EXPECT(d[i] == -.75 && d[62] == -2), i++;
  EXPECT(d[i] == 2), i++;
  EXPECT(near(z[0].real(), exp(3.) * cos(4.), 1e-13) && near(z[0].imag(), exp(3.) * sin(4.), 1e-13));
  EXPECT(d[i] == 5);
  return 0;
}
