// flags: -lcublas -lcufft -lcusolver -lcusparse -lcurand
// One small problem for each library, against the host's own arithmetic: the error is small, or what is drawn has its moments.
#include "cc.h"
#include <cmath>
#include <complex>
#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>

#define IS(call)                                                    \
  do {                                                              \
    int s_ = (int)(call);                                           \
    if (s_) printf("line %d: %d\n", __LINE__, s_);                  \
  } while (0)

template <class T> static T *up(const std::vector<T> &v) {
  T *p;
  OK(cudaMalloc(&p, v.size() * sizeof(T)));
  OK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return p;
}
template <class T> static std::vector<T> down(const T *p, size_t n) {
  std::vector<T> v(n);
  OK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  return v;
}
__global__ void scale(cufftComplex *p, int n, float by) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = make_cuComplex(p[i].x * by, p[i].y * by);
}

int main() {
  const int n = 96;
  std::vector<double> a(n * n), b(n);
  unsigned x = 7;
  auto next = [&] { return (x = x * 1664525u + 1013904223u) / 4294967296.0 - 0.5; };
  for (auto &v : a) v = next();
  for (auto &v : b) v = next();
  for (int i = 0; i < n; i++) a[i * n + i] += n;
  double *da = up(a), *db = up(b), *dy = up(b);
  { // y = A b, C = A A
    cublasHandle_t h;
    IS(cublasCreate(&h));
    double one = 1, zero = 0, err = 0, norm = 0, own = 0, *dc = up(a);
    IS(cublasDgemv(h, CUBLAS_OP_T, n, n, &one, da, n, db, 1, &zero, dy, 1));
    IS(cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, da, n, da, n, &zero, dc, n));
    IS(cublasDnrm2(h, n, db, 1, &norm));
    std::vector<double> y = down(dy, n), c = down(dc, n * n);
    for (int i = 0; i < n; i++) {
      double s = 0;
      for (int k = 0; k < n; k++) s += a[i * n + k] * b[k];
      err = fmax(err, fabs(s - y[i]));
      own += b[i] * b[i];
      for (int j = 0; j < n; j++) {
        s = 0;
        for (int k = 0; k < n; k++) s += a[k * n + i] * a[j * n + k];
        err = fmax(err, fabs(s - c[j * n + i]) / n);
      }
    }
    printf("cublas %d %d\n", err < 1e-11, fabs(norm - sqrt(own)) < 1e-13);
    IS(cublasDestroy(h));
  }
  { // forth and back, and one frequency
    const int m = 1000;
    std::vector<cufftComplex> z(m);
    for (int i = 0; i < m; i++) z[i] = make_cuComplex(cosf(6.2831853071795864f * 5 * i / m), float(i % 3));
    cufftComplex *dz = up(z);
    cufftHandle plan;
    IS(cufftPlan1d(&plan, m, CUFFT_C2C, 1));
    IS(cufftExecC2C(plan, dz, dz, CUFFT_FORWARD));
    std::vector<cufftComplex> f = down(dz, m);
    std::complex<double> five = 0;
    for (int i = 0; i < m; i++) five += std::complex<double>(z[i].x, z[i].y) * std::polar(1.0, -2 * M_PI * 5 * i / m);
    IS(cufftExecC2C(plan, dz, dz, CUFFT_INVERSE));
    scale<<<(m + 255) / 256, 256>>>(dz, m, 1.0f / m);
    std::vector<cufftComplex> w = down(dz, m);
    double err = 0;
    for (int i = 0; i < m; i++) err = fmax(err, hypot(w[i].x - z[i].x, w[i].y - z[i].y));
    printf("cufft %d %d\n", err < 1e-5, std::abs(five - std::complex<double>(f[5].x, f[5].y)) < 1e-3);
    IS(cufftDestroy(plan));
  }
  { // A x = b by factors, and the values of a symmetric matrix
    cusolverDnHandle_t h;
    IS(cusolverDnCreate(&h));
    int work = 0, *pivots, *info, code = -1;
    OK(cudaMalloc(&pivots, n * 4));
    OK(cudaMalloc(&info, 4));
    IS(cusolverDnDgetrf_bufferSize(h, n, n, da, n, &work));
    double *w, *lu = up(a), *dx = up(b), err = 0;
    OK(cudaMalloc(&w, work * sizeof(double) + 8));
    IS(cusolverDnDgetrf(h, n, n, lu, n, w, pivots, info));
    IS(cusolverDnDgetrs(h, CUBLAS_OP_N, n, 1, lu, n, pivots, dx, n, info));
    OK(cudaMemcpy(&code, info, 4, cudaMemcpyDeviceToHost));
    std::vector<double> s = down(dx, n);
    for (int i = 0; i < n; i++) {
      double r = -b[i];
      for (int k = 0; k < n; k++) r += a[k * n + i] * s[k];
      err = fmax(err, fabs(r));
    }
    std::vector<double> sym(n * n);
    double trace = 0, total = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) sym[i * n + j] = a[i * n + j] + a[j * n + i];
    for (int i = 0; i < n; i++) trace += sym[i * n + i];
    double *ds = up(sym), *dw = up(b);
    IS(cusolverDnDsyevd_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, ds, n, dw, &work));
    OK(cudaFree(w));
    OK(cudaMalloc(&w, work * sizeof(double) + 8));
    IS(cusolverDnDsyevd(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, ds, n, dw, w, work, info));
    std::vector<double> values = down(dw, n), vectors = down(ds, n * n);
    double worst = 0;
    for (double v : values) total += v;
    for (int i = 0; i < n; i++) {
      double r = -values[0] * vectors[i];
      for (int k = 0; k < n; k++) r += sym[i * n + k] * vectors[k];
      worst = fmax(worst, fabs(r));
    }
    printf("cusolver %d %d %d %d\n", code, err < 1e-12, fabs(trace - total) < 1e-9, worst < 1e-10);
    IS(cusolverDnDestroy(h));
  }
  { // a band in rows
    std::vector<int> rows = {0}, columns;
    std::vector<float> values, v(n);
    for (int i = 0; i < n; i++) {
      v[i] = float(i % 9);
      for (int j = i - 2; j <= i + 2; j += 2)
        if (j >= 0 && j < n) columns.push_back(j), values.push_back(float(i + 2 * j));
      rows.push_back(columns.size());
    }
    int *dr = up(rows), *dcol = up(columns);
    float *dv = up(values), *dx = up(v), *dy = up(v), one = 1, zero = 0;
    cusparseHandle_t h;
    cusparseSpMatDescr_t m;
    cusparseDnVecDescr_t vx, vy;
    size_t size = 0;
    void *buffer;
    IS(cusparseCreate(&h));
    IS(cusparseCreateCsr(&m, n, n, values.size(), dr, dcol, dv, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    IS(cusparseCreateDnVec(&vx, n, dx, CUDA_R_32F));
    IS(cusparseCreateDnVec(&vy, n, dy, CUDA_R_32F));
    IS(cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m, vx, &zero, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &size));
    OK(cudaMalloc(&buffer, size + 1));
    IS(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m, vx, &zero, vy, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
    std::vector<float> y = down(dy, n);
    int bad = 0;
    for (int i = 0; i < n; i++) {
      float s = 0;
      for (int k = rows[i]; k < rows[i + 1]; k++) s += values[k] * v[columns[k]];
      bad += s != y[i];
    }
    printf("cusparse %d\n", bad);
    IS(cusparseDestroySpMat(m));
    IS(cusparseDestroy(h));
  }
  { // what is drawn, by a generator of the device and one of the host
    const int m = 1 << 16;
    std::vector<float> zero(m), host(m);
    float *d = up(zero);
    curandGenerator_t g, hg;
    IS(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    IS(curandCreateGeneratorHost(&hg, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    IS(curandSetPseudoRandomGeneratorSeed(g, 1234));
    IS(curandSetPseudoRandomGeneratorSeed(hg, 1234));
    IS(curandGenerateUniform(g, d, m));
    IS(curandGenerateUniform(hg, host.data(), m));
    std::vector<float> u = down(d, m);
    IS(curandGenerateNormal(g, d, m, 2, 3));
    std::vector<float> z = down(d, m);
    double mean = 0, square = 0;
    for (float q : z) mean += q / m, square += double(q) * q / m;
    printf("curand %d %.4f %d %d\n", u == host, u[0], fabs(mean - 2) < 0.05, fabs(sqrt(square - mean * mean) - 3) < 0.05);
  }
}
