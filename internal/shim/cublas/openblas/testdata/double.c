// The double of OpenBLAS that the tests build: the four Fortran products, one obvious loop each, and how often they were called.
#include <complex.h>

static int calls, threads;

int double_calls(void) { return calls; }
int double_threads(void) { return threads; }
void openblas_set_num_threads(int n) { threads = n; }

#define GEMM(name, T, CONJ)                                                                                                    \
	void name(const char *ta, const char *tb, const int *m, const int *n, const int *k, const T *alpha, const T *a,            \
	          const int *lda, const T *b, const int *ldb, const T *beta, T *c, const int *ldc, long la, long lb) {             \
		calls += la == 1 && lb == 1;                                                                                           \
		for (int j = 0; j < *n; j++)                                                                                           \
			for (int i = 0; i < *m; i++) {                                                                                     \
				T s = 0;                                                                                                       \
				for (int l = 0; l < *k; l++) {                                                                                 \
					T x = *ta == 'N' ? a[i + (long)l * *lda] : a[l + (long)i * *lda];                                          \
					T y = *tb == 'N' ? b[l + (long)j * *ldb] : b[j + (long)l * *ldb];                                          \
					s += (*ta == 'C' ? CONJ(x) : x) * (*tb == 'C' ? CONJ(y) : y);                                              \
				}                                                                                                              \
				T *p = c + i + (long)j * *ldc;                                                                                 \
				*p = *beta == 0 ? *alpha * s : *alpha * s + *beta * *p;                                                        \
			}                                                                                                                  \
	}
GEMM(sgemm_, float, )
GEMM(dgemm_, double, )
GEMM(cgemm_, float complex, conjf)
GEMM(zgemm_, double complex, conj)
