// flags: --extended-lambda
// Extended lambdas: of the device, and of both sides.
#include "cc.h"
template <class F> __global__ void apply(int n, F f) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i);
}
template <class F> struct Lambda { // as Thrust asks
  static constexpr bool is = __nv_is_extended_device_lambda_closure_type(F) || __nv_is_extended_host_device_lambda_closure_type(F) ||
                             __nv_is_extended_device_lambda_with_preserved_return_type(F);
};
static_assert(!Lambda<int>::is, "");
template <class F> void each(int n, F f) { apply<<<(n + 31) / 32, 32>>>(n, f); }
struct S {
  int k = 4;
  void run(int *p, int n) {
    int c = k;
    each(n, [=] __device__(int i) { p[i] += c; });
  }
};
int main() {
  Array<int> a(40);
  int *p = a, factor = 3;
  each(40, [=] __device__(int i) { p[i] = p[i] * factor + (i & 1); });
  auto both = [=] __host__ __device__(int x) { return x * x - factor; };
  each(40, [=] __device__(int i) { p[i] += both(i); });
  S().run(p, 20);
  std::vector<int> v = a.get();
  printf("%d %d %d %llx | %d\n", v[0], v[19], v[39], sum(v), both(9));
}
