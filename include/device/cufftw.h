// FFTW's interface as libcufftw offers it: transforms of arrays in the program's memory.
#ifndef KUDZU_CUFFTW_H
#define KUDZU_CUFFTW_H
#ifndef _CUFFTW_H_
#define _CUFFTW_H_
#endif

#include <stddef.h>
#include <stdio.h>

#include "cufft.h"

#define FFTW_FORWARD (-1)
#define FFTW_INVERSE 1
#define FFTW_BACKWARD 1

#define FFTW_ESTIMATE 0x01
#define FFTW_MEASURE 0x02
#define FFTW_PATIENT 0x03
#define FFTW_EXHAUSTIVE 0x04
#define FFTW_WISDOM_ONLY 0x05
#define FFTW_DESTROY_INPUT 0x08
#define FFTW_PRESERVE_INPUT 0x0c
#define FFTW_UNALIGNED 0x10

#if !defined(FFTW_NO_Complex) && defined(_Complex_I) && defined(complex) // after complex.h
typedef double _Complex fftw_complex;
typedef float _Complex fftwf_complex;
#else
typedef double fftw_complex[2];
typedef float fftwf_complex[2];
#endif

typedef void *fftw_plan;
typedef void *fftwf_plan;

typedef struct {
	int n, is, os;
} fftw_iodim;
typedef struct {
	ptrdiff_t n, is, os;
} fftw_iodim64;
typedef fftw_iodim fftwf_iodim;
typedef fftw_iodim64 fftwf_iodim64;

#ifdef __cplusplus
extern "C" {
#endif

// The functions of one precision: p is what their names begin with, R a real number, C a complex one.
#define KUDZU_FFTW(p, R, C)                                                                                                       \
	void *p##_plan_dft_1d(int n, C *in, C *out, int sign, unsigned flags);                                                        \
	void *p##_plan_dft_2d(int n0, int n1, C *in, C *out, int sign, unsigned flags);                                               \
	void *p##_plan_dft_3d(int n0, int n1, int n2, C *in, C *out, int sign, unsigned flags);                                       \
	void *p##_plan_dft(int rank, const int *n, C *in, C *out, int sign, unsigned flags);                                          \
	void *p##_plan_dft_r2c_1d(int n, R *in, C *out, unsigned flags);                                                              \
	void *p##_plan_dft_r2c_2d(int n0, int n1, R *in, C *out, unsigned flags);                                                     \
	void *p##_plan_dft_r2c_3d(int n0, int n1, int n2, R *in, C *out, unsigned flags);                                             \
	void *p##_plan_dft_r2c(int rank, const int *n, R *in, C *out, unsigned flags);                                                \
	void *p##_plan_dft_c2r_1d(int n, C *in, R *out, unsigned flags);                                                              \
	void *p##_plan_dft_c2r_2d(int n0, int n1, C *in, R *out, unsigned flags);                                                     \
	void *p##_plan_dft_c2r_3d(int n0, int n1, int n2, C *in, R *out, unsigned flags);                                             \
	void *p##_plan_dft_c2r(int rank, const int *n, C *in, R *out, unsigned flags);                                                \
	void *p##_plan_many_dft(int rank, const int *n, int batch, C *in, const int *inembed, int istride, int idist, C *out,         \
	                        const int *onembed, int ostride, int odist, int sign, unsigned flags);                                \
	void *p##_plan_many_dft_r2c(int rank, const int *n, int batch, R *in, const int *inembed, int istride, int idist, C *out,     \
	                            const int *onembed, int ostride, int odist, unsigned flags);                                      \
	void *p##_plan_many_dft_c2r(int rank, const int *n, int batch, C *in, const int *inembed, int istride, int idist, R *out,     \
	                            const int *onembed, int ostride, int odist, unsigned flags);                                      \
	void *p##_plan_guru_dft(int rank, const fftw_iodim *dims, int batch_rank, const fftw_iodim *batch_dims, C *in, C *out,        \
	                        int sign, unsigned flags);                                                                            \
	void *p##_plan_guru_dft_r2c(int rank, const fftw_iodim *dims, int batch_rank, const fftw_iodim *batch_dims, R *in, C *out,    \
	                            unsigned flags);                                                                                  \
	void *p##_plan_guru_dft_c2r(int rank, const fftw_iodim *dims, int batch_rank, const fftw_iodim *batch_dims, C *in, R *out,    \
	                            unsigned flags);                                                                                  \
	void *p##_plan_guru64_dft(int rank, const fftw_iodim64 *dims, int batch_rank, const fftw_iodim64 *batch_dims, C *in, C *out,  \
	                          int sign, unsigned flags);                                                                          \
	void *p##_plan_guru64_dft_r2c(int rank, const fftw_iodim64 *dims, int batch_rank, const fftw_iodim64 *batch_dims, R *in,      \
	                              C *out, unsigned flags);                                                                        \
	void *p##_plan_guru64_dft_c2r(int rank, const fftw_iodim64 *dims, int batch_rank, const fftw_iodim64 *batch_dims, C *in,      \
	                              R *out, unsigned flags);                                                                        \
	void p##_execute(const p##_plan plan);                                                                                        \
	void p##_execute_dft(const p##_plan plan, C *in, C *out);                                                                     \
	void p##_execute_dft_r2c(const p##_plan plan, R *in, C *out);                                                                 \
	void p##_execute_dft_c2r(const p##_plan plan, C *in, R *out);                                                                 \
	void *p##_malloc(size_t n);                                                                                                   \
	void p##_free(void *pointer);                                                                                                 \
	void p##_export_wisdom_to_file(FILE *file);                                                                                   \
	int p##_import_wisdom_from_file(FILE *file);                                                                                  \
	void p##_print_plan(const p##_plan plan);                                                                                     \
	void p##_set_timelimit(double seconds);                                                                                       \
	double p##_cost(const p##_plan plan);                                                                                         \
	void p##_flops(const p##_plan plan, double *add, double *mul, double *fma);                                                   \
	void p##_destroy_plan(p##_plan plan);                                                                                         \
	void p##_cleanup(void);

KUDZU_FFTW(fftw, double, fftw_complex)
KUDZU_FFTW(fftwf, float, fftwf_complex)
#undef KUDZU_FFTW

#ifdef __cplusplus
}
#endif

#endif
