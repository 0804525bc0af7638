// test<<<1,32>>>(o[64]u64)
// mma.h: products of small integers, exact in every format, in every shape and layout.
#include <mma.h>
#include "check.h"

using namespace nvcuda;

alignas(128) __shared__ unsigned char memory_a[4096], memory_b[4096], memory_c[8192];

template <class T> static __device__ T number(int i) { return (T)(float)i; }

// Element (row, column) of a matrix with a leading dimension in one of the layouts.
template <class L> struct place;
template <> struct place<wmma::row_major> {
  static __device__ int at(int r, int c, int rows, int cols) { return r * cols + c; }
  static __device__ int stride(int rows, int cols) { return cols; }
};
template <> struct place<wmma::col_major> {
  static __device__ int at(int r, int c, int rows, int cols) { return c * rows + r; }
  static __device__ int stride(int rows, int cols) { return rows; }
};

static __device__ int value_a(int r, int c) { return (r * 3 + c * 5) % 7; }
static __device__ int value_b(int r, int c) { return (r * 2 + c) % 5; }
static __device__ int value_c(int r, int c) { return (r + c) % 4; }

template <int M, int N, int K, class T, class S, class D, class C, class A, class B>
static __device__ void product(const Checks &check, wmma::layout_t layout) {
  S *a = (S *)memory_a, *b = (S *)memory_b;
  C *c = (C *)memory_c;
  D *d = (D *)memory_c;
  __syncwarp();
  for (int i = threadIdx.x; i < M * K; i += 32) a[place<A>::at(i / K, i % K, M, K)] = number<S>(value_a(i / K, i % K));
  for (int i = threadIdx.x; i < K * N; i += 32) b[place<B>::at(i / N, i % N, K, N)] = number<S>(value_b(i / N, i % N));
  bool rows = layout == wmma::mem_row_major;
  for (int i = threadIdx.x; i < M * N; i += 32)
    c[rows ? i : i % N * M + i / N] = number<C>(value_c(i / N, i % N));
  __syncwarp();
  wmma::fragment<wmma::matrix_a, M, N, K, T, A> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, T, B> fb;
  wmma::fragment<wmma::accumulator, M, N, K, C> fc;
  wmma::fragment<wmma::accumulator, M, N, K, D> fd;
  wmma::load_matrix_sync(fa, a, place<A>::stride(M, K));
  wmma::load_matrix_sync(fb, b, place<B>::stride(K, N));
  wmma::load_matrix_sync(fc, c, rows ? N : M, layout);
  wmma::mma_sync(fd, fa, fb, fc);
  __syncwarp();
  wmma::store_matrix_sync(d, fd, rows ? N : M, layout);
  __syncwarp();
  for (int i = threadIdx.x; i < M * N; i += 32) {
    int want = value_c(i / N, i % N);
    for (int k = 0; k < K; k++) want += value_a(i / N, k) * value_b(k, i % N);
    EQ((int)(float)d[rows ? i : i % N * M + i / N], want);
  }
}

template <int M, int N, int K, class T, class S, class D, class C> static __device__ void layouts(const Checks &check) {
  product<M, N, K, T, S, D, C, wmma::row_major, wmma::col_major>(check, wmma::mem_row_major);
  product<M, N, K, T, S, D, C, wmma::col_major, wmma::row_major>(check, wmma::mem_col_major);
}
template <int M, int N, int K> static __device__ void shapes(const Checks &check) {
  layouts<M, N, K, __half, __half, float, float>(check);
  layouts<M, N, K, __half, __half, __half, __half>(check);
  layouts<M, N, K, __nv_bfloat16, __nv_bfloat16, float, float>(check);
  layouts<M, N, K, signed char, signed char, int, int>(check);
  layouts<M, N, K, unsigned char, unsigned char, int, int>(check);
}

// Elements of 4 bits, the lowest first; those of s4 go from -8 to 7.
template <class T, bool neg> static __device__ void fours(const Checks &check, wmma::layout_t layout, bool saturate) {
  u32 *a = (u32 *)memory_a, *b = (u32 *)memory_b;
  int *c = (int *)memory_c;
  auto va = [](int r, int k) { return (r * 5 + k * 3) % 16 - (neg ? 8 : 0); };
  auto vb = [](int k, int n) { return (k * 7 + n * 2) % 16 - (neg ? 8 : 0); };
  auto vc = [=](int r, int n) { return saturate ? (r == n ? 0x7fffffff : -100) : r * 8 + n - 30; };
  const bool rows = layout == wmma::mem_row_major;
  __syncwarp();
  a[threadIdx.x] = b[threadIdx.x] = 0;
  for (int i = 0; i < 8; i++) {
    int major = threadIdx.x / 4, k = threadIdx.x % 4 * 8 + i;
    a[threadIdx.x] |= (u32)(va(major, k) & 15) << 4 * i;
    b[threadIdx.x] |= (u32)(vb(k, major) & 15) << 4 * i;
  }
  for (int i = threadIdx.x; i < 64; i += 32) c[rows ? i : i % 8 * 8 + i / 8] = vc(i / 8, i % 8);
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 8, 8, 32, T, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 32, T, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
  wmma::load_matrix_sync(fa, a, 32);
  wmma::load_matrix_sync(fb, b, 32);
  wmma::load_matrix_sync(fc, c, 8, layout);
  if (saturate)
    wmma::mma_sync(fc, fa, fb, fc, true);
  else
    wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, layout);
  __syncwarp();
  for (int i = threadIdx.x; i < 64; i += 32) {
    long long want = vc(i / 8, i % 8);
    for (int k = 0; k < 32; k++) want += va(i / 8, k) * vb(k, i % 8);
    if (want > 0x7fffffff) want = 0x7fffffff;
    EQ(c[rows ? i : i % 8 * 8 + i / 8], (int)want);
  }
}

// Single bits: the number of those that differ, or that both have.
static __device__ void ones(const Checks &check, wmma::experimental::bmmaBitOp op) {
  using namespace wmma::experimental;
  u32 *a = (u32 *)memory_a, *b = (u32 *)memory_b;
  int *c = (int *)memory_c;
  __syncwarp();
  a[threadIdx.x] = threadIdx.x * 0x9e3779b9u;
  b[threadIdx.x] = (threadIdx.x + 77) * 0x85ebca6bu;
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
  wmma::load_matrix_sync(fa, a, 128);
  wmma::load_matrix_sync(fb, b, 128);
  wmma::fill_fragment(fc, 1000);
  if (op == bmmaBitOpAND)
    wmma::bmma_sync(fc, fa, fb, fc, bmmaBitOpAND, bmmaAccumulateOpPOPC);
  else
    wmma::bmma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 64; i += 32) {
    int want = 1000;
    for (int w = 0; w < 4; w++) {
      u32 x = a[i / 8 * 4 + w], y = b[i % 8 * 4 + w];
      want += __popc(op == bmmaBitOpAND ? x & y : x ^ y);
    }
    EQ(c[i], want);
  }
}

TEST() {
  using namespace wmma::experimental;
  for (wmma::layout_t l : {wmma::mem_row_major, wmma::mem_col_major}) {
    fours<precision::s4, true>(check, l, false);
    fours<precision::u4, false>(check, l, false);
    fours<precision::s4, true>(check, l, true);
    fours<precision::u4, false>(check, l, true);
  }
  ones(check, bmmaBitOpXOR);
  ones(check, bmmaBitOpAND);
  shapes<16, 16, 16>(check);
  shapes<32, 8, 16>(check);
  shapes<8, 32, 16>(check);
  layouts<16, 16, 16, __half, __half, float, __half>(check);
  layouts<16, 16, 16, __half, __half, __half, float>(check);
  layouts<16, 16, 8, wmma::precision::tf32, float, float, float>(check);
  layouts<8, 8, 4, double, double, double, double>(check);
  product<16, 16, 16, __half, __half, float, float, wmma::row_major, wmma::row_major>(check, wmma::mem_row_major);
  product<16, 16, 16, __half, __half, float, float, wmma::col_major, wmma::col_major>(check, wmma::mem_row_major);
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
  wmma::fill_fragment(f, 1.5f);
  EQ((int)f.num_elements, 8);
  EQ(f.x[7], 1.5f);
  EQ(__float_as_uint(wmma::__float_to_tf32(1.0f + 1e-3f * (float)blockDim.x / 32)), 0x3f802000u);
}
