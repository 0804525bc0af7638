// Functors and a small vector class with operators for both sides.
#include "cc.h"
struct V3 {
  float x, y, z;
  __host__ __device__ V3(float x = 0, float y = 0, float z = 0) : x(x), y(y), z(z) {}
  __host__ __device__ V3 operator+(const V3 &o) const { return V3(x + o.x, y + o.y, z + o.z); }
  __host__ __device__ V3 operator*(float f) const { return V3(x * f, y * f, z * f); }
  __host__ __device__ friend float dot(const V3 &a, const V3 &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
};
struct Scale {
  float f;
  __host__ __device__ V3 operator()(const V3 &v) const { return v * f + V3(1, 1, 1); }
};
template <class F, class G> struct Compose {
  F f;
  G g;
  __host__ __device__ V3 operator()(const V3 &v) const { return f(g(v)); }
};
template <class F> __global__ void map(const V3 *in, float *out, F f) { out[threadIdx.x] = dot(f(in[threadIdx.x]), V3(1, 2, 4)); }
int main() {
  std::vector<V3> h;
  for (int i = 0; i < 8; i++) h.push_back(V3(i, i * 2, -i));
  V3 *d;
  OK(cudaMalloc(&d, 8 * sizeof(V3)));
  OK(cudaMemcpy(d, h.data(), 8 * sizeof(V3), cudaMemcpyHostToDevice));
  Compose<Scale, Scale> c{{2}, {0.5f}};
  Array<float> o(8);
  map<<<1, 8>>>(d, o, c);
  float diff = 0;
  std::vector<float> v = o.get();
  for (int i = 0; i < 8; i++) diff += v[i] - dot(c(h[i]), V3(1, 2, 4)), printf("%g ", v[i]);
  printf("%g\n", diff);
}
