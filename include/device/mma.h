// Warp matrix functions: nvcuda::wmma on clang's builtins, which are PTX's wmma instructions.
#ifndef KUDZU_MMA_H
#define KUDZU_MMA_H
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__
#endif
#pragma GCC system_header

#include "cuda_bf16.h"

#define KUDZU_WMMA static __device__ __forceinline__

namespace nvcuda {
namespace wmma {

struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
struct u4 {};
struct s4 {};
struct b1 {};
}  // namespace precision
namespace experimental {
namespace precision = wmma::precision;
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

namespace kudzu {
template <class L> struct is_col {
  static constexpr int value = 0;
};
template <> struct is_col<col_major> {
  static constexpr int value = 1;
};
// The layouts of a mma's a and b in clang's numbering.
template <class A, class B> struct layouts {
  static constexpr int value = is_col<A>::value * 2 + is_col<B>::value;
};
template <class T, int N> struct elements {
  typedef T element_type;
  typedef T storage_element_type;
  enum { num_elements = N, num_storage_elements = N };
  alignas(sizeof(T) < 4 ? 4 : sizeof(T)) T x[N];
};
template <class T, int N> struct packed {
  typedef T element_type;
  typedef int storage_element_type;
  enum { num_elements = N, num_storage_elements = 1 };
  int x[1];
};
}  // namespace kudzu

template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

#define KUDZU_MATRIX(use, m, n, k, T, S, count, name)                                                                 \
  template <class L> class fragment<use, m, n, k, T, L> : public kudzu::elements<S, count> {};                        \
  template <class L> KUDZU_WMMA void load_matrix_sync(fragment<use, m, n, k, T, L> &f, const S *p, unsigned int ldm) { \
    name((KUDZU_REG *)f.x, (const KUDZU_REG *)p, ldm, kudzu::is_col<L>::value);                                       \
  }
// R is how clang's builtin sees the registers.
#define KUDZU_ACCUMULATOR(m, n, k, T, R, count, load, store)                                                          \
  template <> class fragment<accumulator, m, n, k, T, void> : public kudzu::elements<T, count> {};                    \
  KUDZU_WMMA void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned int ldm, layout_t l) {  \
    if (l == mem_row_major)                                                                                           \
      load((R *)f.x, (const R *)p, ldm, 0);                                                                           \
    else                                                                                                              \
      load((R *)f.x, (const R *)p, ldm, 1);                                                                           \
  }                                                                                                                   \
  KUDZU_WMMA void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned int ldm, layout_t l) { \
    if (l == mem_row_major)                                                                                           \
      store((R *)p, (const R *)f.x, ldm, 0);                                                                          \
    else                                                                                                              \
      store((R *)p, (const R *)f.x, ldm, 1);                                                                          \
  }
#define KUDZU_MULTIPLY(m, n, k, T, D, C, RD, RC, RA, name)                                                            \
  template <class A, class B>                                                                                         \
  KUDZU_WMMA void mma_sync(fragment<accumulator, m, n, k, D> &d, const fragment<matrix_a, m, n, k, T, A> &a,          \
                           const fragment<matrix_b, m, n, k, T, B> &b, const fragment<accumulator, m, n, k, C> &c) {  \
    name((RD *)d.x, (const RA *)a.x, (const RA *)b.x, (const RC *)c.x, kudzu::layouts<A, B>::value KUDZU_SATURATE(0)); \
  }
#define KUDZU_MULTIPLY_INT(m, n, k, T, name)                                                                          \
  template <class A, class B>                                                                                         \
  KUDZU_WMMA void mma_sync(fragment<accumulator, m, n, k, int> &d, const fragment<matrix_a, m, n, k, T, A> &a,        \
                           const fragment<matrix_b, m, n, k, T, B> &b, const fragment<accumulator, m, n, k, int> &c,  \
                           bool saturate = false) {                                                                   \
    if (saturate)                                                                                                     \
      name(d.x, (const int *)a.x, (const int *)b.x, c.x, kudzu::layouts<A, B>::value, 1);                             \
    else                                                                                                              \
      name(d.x, (const int *)a.x, (const int *)b.x, c.x, kudzu::layouts<A, B>::value, 0);                             \
  }
#define KUDZU_SATURATE(s) , s
#define KUDZU_REG int

// Halves, with halves and floats as accumulators.
#define KUDZU_HMMA(m, n, k, s)                                                                                        \
  KUDZU_MATRIX(matrix_a, m, n, k, __half, __half, 16, __hmma_##s##_ld_a)                                              \
  KUDZU_MATRIX(matrix_b, m, n, k, __half, __half, 16, __hmma_##s##_ld_b)                                              \
  KUDZU_ACCUMULATOR(m, n, k, __half, int, 8, __hmma_##s##_ld_c_f16, __hmma_##s##_st_c_f16)                            \
  KUDZU_ACCUMULATOR(m, n, k, float, float, 8, __hmma_##s##_ld_c_f32, __hmma_##s##_st_c_f32)                           \
  KUDZU_MULTIPLY(m, n, k, __half, __half, __half, int, int, int, __hmma_##s##_mma_f16f16)                             \
  KUDZU_MULTIPLY(m, n, k, __half, float, float, float, float, int, __hmma_##s##_mma_f32f32)                           \
  KUDZU_MULTIPLY(m, n, k, __half, float, __half, float, int, int, __hmma_##s##_mma_f32f16)                            \
  KUDZU_MULTIPLY(m, n, k, __half, __half, float, int, float, int, __hmma_##s##_mma_f16f32)
KUDZU_HMMA(16, 16, 16, m16n16k16)
KUDZU_HMMA(32, 8, 16, m32n8k16)
KUDZU_HMMA(8, 32, 16, m8n32k16)
#undef KUDZU_HMMA

// Bytes.
#define KUDZU_IMMA(m, n, k, s, na, nb)                                                                                \
  KUDZU_MATRIX(matrix_a, m, n, k, signed char, signed char, na, __imma_##s##_ld_a_s8)                                 \
  KUDZU_MATRIX(matrix_b, m, n, k, signed char, signed char, nb, __imma_##s##_ld_b_s8)                                 \
  KUDZU_MATRIX(matrix_a, m, n, k, unsigned char, unsigned char, na, __imma_##s##_ld_a_u8)                             \
  KUDZU_MATRIX(matrix_b, m, n, k, unsigned char, unsigned char, nb, __imma_##s##_ld_b_u8)                             \
  KUDZU_ACCUMULATOR(m, n, k, int, int, 8, __imma_##s##_ld_c, __imma_##s##_st_c_i32)                                   \
  KUDZU_MULTIPLY_INT(m, n, k, signed char, __imma_##s##_mma_s8)                                                       \
  KUDZU_MULTIPLY_INT(m, n, k, unsigned char, __imma_##s##_mma_u8)
KUDZU_IMMA(16, 16, 16, m16n16k16, 8, 8)
KUDZU_IMMA(32, 8, 16, m32n8k16, 16, 4)
KUDZU_IMMA(8, 32, 16, m8n32k16, 4, 16)
#undef KUDZU_IMMA

// Numbers of four bits and of one, packed in words: a in rows and b in columns only, the leading dimension in elements.
#define KUDZU_SMALL(use, L, col, k, T, count, name)                                                                   \
  template <> class fragment<use, 8, 8, k, experimental::precision::T, L>                                             \
      : public kudzu::packed<experimental::precision::T, count> {};                                                   \
  KUDZU_WMMA void load_matrix_sync(fragment<use, 8, 8, k, experimental::precision::T, L> &f, const void *p,           \
                                   unsigned int ldm) {                                                                \
    name(f.x, (const int *)p, ldm, col);                                                                              \
  }
KUDZU_SMALL(matrix_a, row_major, 0, 32, s4, 8, __imma_m8n8k32_ld_a_s4)
KUDZU_SMALL(matrix_b, col_major, 1, 32, s4, 8, __imma_m8n8k32_ld_b_s4)
KUDZU_SMALL(matrix_a, row_major, 0, 32, u4, 8, __imma_m8n8k32_ld_a_u4)
KUDZU_SMALL(matrix_b, col_major, 1, 32, u4, 8, __imma_m8n8k32_ld_b_u4)
KUDZU_SMALL(matrix_a, row_major, 0, 128, b1, 32, __bmma_m8n8k128_ld_a_b1)
KUDZU_SMALL(matrix_b, col_major, 1, 128, b1, 32, __bmma_m8n8k128_ld_b_b1)
#undef KUDZU_SMALL
KUDZU_ACCUMULATOR(8, 8, 32, int, int, 2, __imma_m8n8k32_ld_c, __imma_m8n8k32_st_c_i32)
KUDZU_ACCUMULATOR(8, 8, 128, int, int, 2, __bmma_m8n8k128_ld_c, __bmma_m8n8k128_st_c_i32)
#define KUDZU_MULTIPLY_SMALL(T, name)                                                                                 \
  KUDZU_WMMA void mma_sync(fragment<accumulator, 8, 8, 32, int> &d,                                                   \
                           const fragment<matrix_a, 8, 8, 32, experimental::precision::T, row_major> &a,              \
                           const fragment<matrix_b, 8, 8, 32, experimental::precision::T, col_major> &b,              \
                           const fragment<accumulator, 8, 8, 32, int> &c, bool saturate = false) {                    \
    if (saturate)                                                                                                     \
      name(d.x, a.x, b.x, c.x, 1, 1);                                                                                 \
    else                                                                                                              \
      name(d.x, a.x, b.x, c.x, 1, 0);                                                                                 \
  }
KUDZU_MULTIPLY_SMALL(s4, __imma_m8n8k32_mma_s4)
KUDZU_MULTIPLY_SMALL(u4, __imma_m8n8k32_mma_u4)
#undef KUDZU_MULTIPLY_SMALL
KUDZU_WMMA void bmma_sync(fragment<accumulator, 8, 8, 128, int> &d,
                          const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &a,
                          const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &b,
                          const fragment<accumulator, 8, 8, 128, int> &c,
                          experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                          experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
#if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
  if (op == experimental::bmmaBitOpAND) {
    __bmma_m8n8k128_mma_and_popc_b1(d.x, a.x, b.x, c.x, 1);
    return;
  }
#endif
  __bmma_m8n8k128_mma_xor_popc_b1(d.x, a.x, b.x, c.x, 1);
}

#undef KUDZU_SATURATE
#define KUDZU_SATURATE(s) , 0
// bfloat16, on the float accumulators of half.
#define KUDZU_BMMA(m, n, k, s, na, nb)                                                                                \
  KUDZU_MATRIX(matrix_a, m, n, k, __nv_bfloat16, __nv_bfloat16, na, __mma_bf16_##s##_ld_a)                            \
  KUDZU_MATRIX(matrix_b, m, n, k, __nv_bfloat16, __nv_bfloat16, nb, __mma_bf16_##s##_ld_b)                            \
  KUDZU_MULTIPLY(m, n, k, __nv_bfloat16, float, float, float, float, int, __mma_bf16_##s##_mma_f32)
KUDZU_BMMA(16, 16, 16, m16n16k16, 8, 8)
KUDZU_BMMA(32, 8, 16, m32n8k16, 16, 4)
KUDZU_BMMA(8, 32, 16, m8n32k16, 4, 16)
#undef KUDZU_BMMA

// TensorFloat-32, stored as float; __float_to_tf32 rounds.
KUDZU_MATRIX(matrix_a, 16, 16, 8, precision::tf32, float, 4, __mma_tf32_m16n16k8_ld_a)
KUDZU_MATRIX(matrix_b, 16, 16, 8, precision::tf32, float, 4, __mma_tf32_m16n16k8_ld_b)
KUDZU_ACCUMULATOR(16, 16, 8, float, float, 8, __mma_tf32_m16n16k8_ld_c, __mma_m16n16k8_st_c_f32)
KUDZU_MULTIPLY(16, 16, 8, precision::tf32, float, float, float, float, int, __mma_tf32_m16n16k8_mma_f32)
KUDZU_WMMA float __float_to_tf32(float f) {
  unsigned int r;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(f));
  return __uint_as_float(r);
}

#undef KUDZU_REG
#define KUDZU_REG double
KUDZU_MATRIX(matrix_a, 8, 8, 4, double, double, 1, __dmma_m8n8k4_ld_a)
KUDZU_MATRIX(matrix_b, 8, 8, 4, double, double, 1, __dmma_m8n8k4_ld_b)
KUDZU_ACCUMULATOR(8, 8, 4, double, double, 2, __dmma_m8n8k4_ld_c, __dmma_m8n8k4_st_c_f64)
KUDZU_MULTIPLY(8, 8, 4, double, double, double, double, double, double, __dmma_m8n8k4_mma_f64)

#undef KUDZU_REG
#undef KUDZU_SATURATE
#undef KUDZU_MATRIX
#undef KUDZU_ACCUMULATOR
#undef KUDZU_MULTIPLY
#undef KUDZU_MULTIPLY_INT

template <class Use, int m, int n, int k, class T, class L, class V>
KUDZU_WMMA void fill_fragment(fragment<Use, m, n, k, T, L> &f, const V &v) {
#pragma unroll
  for (int i = 0; i < f.num_storage_elements; i++) f.x[i] = v;
}

}  // namespace wmma
}  // namespace nvcuda

#undef KUDZU_WMMA

#endif
