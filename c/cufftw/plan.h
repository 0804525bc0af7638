// Plans of libcufftw.
#ifndef KZ_CUFFTW_PLAN_H
#define KZ_CUFFTW_PLAN_H

#include <stddef.h>

enum kz_fftw_kind { KZ_C2C, KZ_R2C, KZ_C2R };

#define KZ_FFTW_RANK 3  // what cuFFT has plans for
#define KZ_FFTW_BATCH 8 // dimensions of a batch

// kz_dim is one dimension: its length, and the distance of its elements on both sides, in elements.
struct kz_dim {
	ptrdiff_t n, in, out;
};

// kz_shape is a transform as the guru interface describes it.
struct kz_shape {
	int rank, batches;
	struct kz_dim dims[KZ_FFTW_RANK], batch[KZ_FFTW_BATCH];
};

struct kz_plan;

// kz_plan_make is NULL for what makes no sense or has no memory. The arrays are what kz_execute transforms without others.
struct kz_plan *kz_plan_make(const struct kz_shape *shape, enum kz_fftw_kind kind, int wide, int sign, void *in, void *out);
void kz_plan_end(struct kz_plan *p);
void kz_execute(struct kz_plan *p);
void kz_execute_on(struct kz_plan *p, const void *in, void *out);

// kz_operations estimates additions and multiplications.
void kz_operations(const struct kz_plan *p, double *add, double *mul);
void kz_print(const struct kz_plan *p);

// kz_many fills a shape from FFTW's advanced interface. The embeds may be NULL: arrays are dense then, except that the rows of
// real numbers have room for the complex ones where both share memory.
int kz_many(struct kz_shape *s, enum kz_fftw_kind kind, int in_place, int rank, const int *n, int batch, const int *inembed,
            int istride, int idist, const int *onembed, int ostride, int odist);

#endif
