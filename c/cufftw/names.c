// FFTW's names, as NVIDIA's libcufftw exports them.
#include <stdlib.h>
#include <string.h>

#include "cufftw.h"
#include "plan.h"

// guru and guru64 fill a shape from dimensions of either width.
#define FILL(name, dim)                                                                                                    \
	static int name(struct kz_shape *s, int rank, const dim *dims, int batch_rank, const dim *batch_dims) {                \
		if (rank < 1 || rank > KZ_FFTW_RANK || batch_rank < 0 || batch_rank > KZ_FFTW_BATCH || !dims ||                    \
		    (batch_rank && !batch_dims))                                                                                   \
			return 0;                                                                                                      \
		memset(s, 0, sizeof *s);                                                                                           \
		s->rank = rank, s->batches = batch_rank;                                                                           \
		for (int i = 0; i < rank; i++)                                                                                     \
			s->dims[i] = (struct kz_dim){dims[i].n, dims[i].is, dims[i].os};                                               \
		for (int i = 0; i < batch_rank; i++)                                                                               \
			s->batch[i] = (struct kz_dim){batch_dims[i].n, batch_dims[i].is, batch_dims[i].os};                            \
		return 1;                                                                                                          \
	}
FILL(guru, fftw_iodim)
FILL(guru64, fftw_iodim64)

#define P(x) fftw_##x
#define R double
#define C fftw_complex
#define WIDE 1
#include "names.h"

#define P(x) fftwf_##x
#define R float
#define C fftwf_complex
#define WIDE 0
#include "names.h"
