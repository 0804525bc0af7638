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

TEST() {
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
