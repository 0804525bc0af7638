// Thrust on the device: sort by key, scan, reduction, transformation and removal, each against the host's own library.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <vector>

#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/remove.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct Odd {
  __host__ __device__ bool operator()(int n) const { return n % 2 != 0; }
};
struct Twice {
  __host__ __device__ int operator()(int n) const { return 2 * n; }
};

int main() {
  std::vector<int> numbers(10007);
  unsigned seed = 1;
  for (int &n : numbers) n = (seed = seed * 1664525u + 1013904223u) >> 12;

  thrust::device_vector<int> d(numbers.begin(), numbers.end());
  thrust::sort(d.begin(), d.end(), thrust::greater<int>());
  std::vector<int> sorted = numbers;
  std::sort(sorted.begin(), sorted.end(), std::greater<int>());
  thrust::host_vector<int> h = d;
  std::printf("sort %d\n", std::equal(sorted.begin(), sorted.end(), h.begin()));

  thrust::device_vector<int> keys(numbers.begin(), numbers.end()), values(numbers.size());
  thrust::transform(keys.begin(), keys.end(), values.begin(), Twice());
  thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
  thrust::host_vector<int> k = keys, v = values;
  bool paired = std::is_sorted(k.begin(), k.end());
  for (size_t i = 0; i < k.size(); i++) paired &= v[i] == 2 * k[i];
  std::printf("sort_by_key %d\n", paired);

  std::printf("reduce %d\n", thrust::reduce(d.begin(), d.end(), 0LL) == std::accumulate(numbers.begin(), numbers.end(), 0LL));

  thrust::device_vector<unsigned> sums(numbers.size());
  thrust::exclusive_scan(d.begin(), d.end(), sums.begin(), 7u);
  thrust::host_vector<unsigned> s = sums;
  bool scanned = true;
  unsigned sum = 7;
  for (size_t i = 0; i < s.size(); sum += sorted[i++]) scanned &= s[i] == sum;
  std::printf("exclusive_scan %d\n", scanned);

  auto end = thrust::remove_if(d.begin(), d.end(), Odd());
  sorted.erase(std::remove_if(sorted.begin(), sorted.end(), Odd()), sorted.end());
  h.assign(d.begin(), end);
  std::printf("remove_if %d\n", h.size() == sorted.size() && std::equal(sorted.begin(), sorted.end(), h.begin()));
}
