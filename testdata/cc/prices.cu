// Prices of options by formula in float and double, by a tree in shared memory and by paths; the three agree, and with the host.
#include "cc.h"
#include <cmath>
#include <curand_kernel.h>

template <class T> struct Option { T spot, strike, rate, sigma, years; };

template <class T> __host__ __device__ T price(const Option<T> &o) {
  T s = o.sigma * sqrt(o.years), d1 = (log(o.spot / o.strike) + (o.rate + o.sigma * o.sigma / 2) * o.years) / s, d2 = d1 - s;
  return o.spot * (erfc(-d1 * T(0.70710678118654752)) / 2) - o.strike * exp(-o.rate * o.years) * (erfc(-d2 * T(0.70710678118654752)) / 2);
}
template <class T> __global__ void formula(const Option<T> *o, T *p, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = price(o[i]);
}
__global__ void tree(const Option<double> *o, double *p, int steps) {
  extern __shared__ double v[];
  Option<double> q = o[blockIdx.x];
  double dt = q.years / steps, u = exp(q.sigma * sqrt(dt)), d = 1 / u, up = (exp(q.rate * dt) - d) / (u - d), df = exp(-q.rate * dt);
  for (int i = threadIdx.x; i <= steps; i += blockDim.x) v[i] = fmax(q.spot * pow(u, 2.0 * i - steps) - q.strike, 0.0);
  __syncthreads();
  for (int s = steps; s > 0; s--) {
    double t[4];
    int k = 0;
    for (int i = threadIdx.x; i < s; i += blockDim.x) t[k++] = df * (up * v[i + 1] + (1 - up) * v[i]);
    __syncthreads();
    k = 0;
    for (int i = threadIdx.x; i < s; i += blockDim.x) v[i] = t[k++];
    __syncthreads();
  }
  if (threadIdx.x == 0) p[blockIdx.x] = v[0];
}
__global__ void paths(Option<float> o, double *sum, int each) {
  curandStatePhilox4_32_10_t s;
  curand_init(42, blockIdx.x * blockDim.x + threadIdx.x, 0, &s);
  float drift = (o.rate - o.sigma * o.sigma / 2) * o.years, vol = o.sigma * sqrtf(o.years);
  double mine = 0;
  for (int i = 0; i < each; i += 4) {
    float4 z = curand_normal4(&s);
    for (float g : {z.x, z.y, z.z, z.w})
      mine += fmaxf(o.spot * expf(drift + vol * g) - o.strike, 0) + fmaxf(o.spot * expf(drift - vol * g) - o.strike, 0);
  }
  for (int d = 16; d; d /= 2) mine += __shfl_down_sync(~0u, mine, d);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

template <class T> static double worst(int n) {
  std::vector<Option<T>> o(n);
  for (int i = 0; i < n; i++) o[i] = {T(20 + i % 60), T(25 + i % 50), T(0.01 + i % 5 * 0.01), T(0.1 + i % 7 * 0.05), T(0.25 + i % 9 * 0.5)};
  Option<T> *d;
  T *p;
  OK(cudaMalloc(&d, n * sizeof o[0]));
  OK(cudaMalloc(&p, n * sizeof(T)));
  OK(cudaMemcpy(d, o.data(), n * sizeof o[0], cudaMemcpyHostToDevice));
  formula<<<20, 256>>>(d, p, n);
  std::vector<T> v(n);
  OK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
  double w = 0;
  for (int i = 0; i < n; i++) {
    Option<double> q = {o[i].spot, o[i].strike, o[i].rate, o[i].sigma, o[i].years};
    w = fmax(w, fabs(price(q) - v[i]));
  }
  return w;
}

int main() {
  printf("formula: %d %d\n", worst<float>(10000) < 5e-5, worst<double>(10000) < 1e-12);
  Option<double> o[3] = {{100, 95, 0.03, 0.2, 1}, {40, 42, 0.05, 0.35, 0.5}, {10, 10, 0.01, 0.6, 2}}, *d;
  double *p, v[3], off = 0;
  const int steps = 1000;
  OK(cudaMalloc(&d, sizeof o));
  OK(cudaMalloc(&p, sizeof v));
  OK(cudaMemcpy(d, o, sizeof o, cudaMemcpyHostToDevice));
  tree<<<3, 256, (steps + 1) * sizeof(double)>>>(d, p, steps);
  OK(cudaMemcpy(v, p, sizeof v, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 3; i++) off = fmax(off, fabs(v[i] - price(o[i])) / price(o[i]));
  printf("tree: %d, %.3f %.3f %.3f\n", off < 2e-3, v[0], v[1], v[2]);
  const int blocks = 64, threads = 128, each = 64;
  OK(cudaMemset(p, 0, 8));
  paths<<<blocks, threads>>>({100, 95, 0.03f, 0.2f, 1}, p, each);
  OK(cudaMemcpy(v, p, 8, cudaMemcpyDeviceToHost));
  double mean = v[0] / (2.0 * blocks * threads * each) * exp(-0.03);
  printf("paths: %d, %.2f\n", fabs(mean - price(o[0])) < 0.1, mean);
}
