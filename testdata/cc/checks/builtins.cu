// nvcc: -std=c++17 --expt-relaxed-constexpr -arch=sm_60
// The compiler's own functions in device code, by themselves and in functions of the C++ library for both sides; for an architecture
// that CUDA 13 has given up.
#include "check.h"

__global__ void all(float *f, double *d, const char *s) {
  f[0] = __builtin_sinf(f[1]) + __builtin_hypotf(f[1], f[2]) + __builtin_sqrtf(f[2]) + __builtin_fmaf(f[1], f[2], f[1]);
  d[0] = __builtin_pow(d[1], d[2]) + __builtin_tgamma(d[2]) + __builtin_remainder(d[2], d[1]) + __builtin_lround(d[2]);
  int e;
  double i;
  d[3] = __builtin_frexp(d[2], &e) + e;
  d[4] = __builtin_modf(d[2], &i) + 10 * i;
  d[5] = __builtin_strlen(s) + 100 * (__builtin_memcmp(s, "kudzv", 5) < 0);
  d[6] = std::hypot(d[1], d[2]) + std::fma(d[1], d[1], 1.) + std::lgamma(d[2]);
#if __CUDA_ARCH__ != 600
  d[0] = 0;
#endif
}

int main() {
  float *f = shared<float>(3);
  double *d = shared<double>(8);
  char *s = shared<char>(8);
  f[1] = .5f, f[2] = 2.25f, d[1] = 1.5, d[2] = 2.75;
  strcpy(s, "kudzu");
  all<<<1, 1>>>(f, d, s);
  CK(cudaDeviceSynchronize());
  EXPECT(near(f[0], sinf(.5f) + hypotf(.5f, 2.25f) + 1.5f + 1.625f, 1e-6));
  EXPECT(near(d[0], pow(1.5, 2.75) + tgamma(2.75) + remainder(2.75, 1.5) + 3, 1e-14));
  EXPECT(d[3] == 2.75 / 4 + 2);
  EXPECT(d[4] == 20.75);
  EXPECT(d[5] == 105);
  EXPECT(near(d[6], hypot(1.5, 2.75) + 3.25 + lgamma(2.75), 1e-14));
  return 0;
}
